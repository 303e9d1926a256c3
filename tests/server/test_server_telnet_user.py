"""A person with a telnet program registers, reads the help and plays by hand.

The transcript in tests/data/server/person.txt is the person's screen, with every typed line marked by `<<`. To write it
again after an intended change, run this file: `python -m tests.server.test_server_telnet_user`.
"""

from __future__ import annotations

import asyncio
import os
import pty
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from fibsbot.server.server import Server
from tests.patience import SOON
from tests.server.simulated_world import NOON, ListedDice
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw

TRANSCRIPT: Final = Path(__file__).parent.parent / "data" / "server" / "person.txt"

SCRIPT: Final = (
    ("guest", "> "),
    ("name ann", "password: "),
    ("four five", "password: "),
    ("four five", "> "),
    ("help beginner", "> "),
    ("toggle ready", "> "),
    ("who", "> "),
    ("invite robot 1", "> "),
    ("@ join ann", "> "),
    ("move 8-3 6-3", "> "),
    ("@ double", "> "),
    ("roll", "> "),
    ("accept", "> "),
    ("@ move 1-7 7-12", "> "),
    ("roll", "> "),
    ("move 8-4", "> "),
    ("8-4 6-4", "> "),
    ("@ kibitz well played", "> "),
    ("kibitz thank you", "> "),
    ("pip", "> "),
    ("oldmoves robot", "> "),
    ("set boardstyle 2", "> "),
    ("board", "> "),
    ("resign normal", "> "),
    ("@ accept", "> "),
    ("whois ann", "> "),
    ("bye", None),
)
"""The lines that the person types, with the prompt to wait for; `@` begins a line of the opponent's program."""


@asynccontextmanager
async def match() -> AsyncIterator[tuple[Server, Raw]]:
    """Run a server with known dice and an opponent who waits for an invitation."""
    dice = ListedDice((5, 3), (6, 5), (4, 2), coin=True)
    async with Server(limits=CHEAP, dice=dice, clock=lambda: NOON, timer=lambda: NOON) as server:
        await server.register("robot", PASSWORD)
        robot = await Raw.log_in(server.port, "robot")
        robot.send("set boardstyle 3")
        await robot.ask("toggle ready", "ready to invite or join someone.")
        yield server, robot


async def transcript() -> str:
    """Play the script; return the person's screen."""
    async with match() as (server, robot):
        person = Raw(*await asyncio.open_connection("127.0.0.1", server.port))
        shown = await person.until("login: ")
        for line, prompt in SCRIPT:
            if line.startswith("@ "):
                robot.send(line.removeprefix("@ "))
            else:
                shown += f"<< {line}\r\n"
                person.send(line)
            shown += await person.rest() if prompt is None else await person.until(prompt)
        person.writer.close()
        robot.writer.close()
    hidden = shown.replace("\xff\xfb\x01", "{echo off}").replace("\xff\xfc\x01", "{echo on}")
    return "".join(line.rstrip() + "\n" for line in hidden.split("\r\n"))


async def test_the_session_of_a_person_is_as_recorded() -> None:
    assert TRANSCRIPT.read_text().splitlines() == (await transcript()).splitlines()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("telnet") is None, reason="needs the telnet program")
async def test_the_telnet_program_plays_the_same_script_and_hides_the_password() -> None:
    async with match() as (server, robot):
        master, slave = pty.openpty()
        telnet = await asyncio.create_subprocess_exec(
            "telnet", "127.0.0.1", str(server.port), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        shown = bytearray()
        come = asyncio.Event()

        def read() -> None:
            try:
                shown.extend(os.read(master, 4096))
            except OSError:
                asyncio.get_running_loop().remove_reader(master)
            come.set()

        asyncio.get_running_loop().add_reader(master, read)

        async def until(text: bytes, begin: int) -> None:
            async with asyncio.timeout(SOON):
                while text not in shown[begin:]:
                    come.clear()
                    await come.wait()

        await until(b"login: ", 0)
        for line, prompt in SCRIPT:
            begin = len(shown)
            if line.startswith("@ "):
                robot.send(line.removeprefix("@ "))
            else:
                os.write(master, line.encode() + b"\r")
            await until(b"Connection closed by foreign host." if prompt is None else prompt.encode(), begin)
        await telnet.wait()
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)
    text = shown.decode("latin-1").replace("\r", "")
    assert "You are registered." in text
    assert "toggle ready" in text, "what is typed is shown by the telnet program itself"
    assert "four five" not in text, "but not the password"
    assert "+13-14-15-16-17-18-------19-20-21-22-23-24-+ X: robot - score: 0" in text
    assert "robot wins the 1 point match 2-0 ." in text


if __name__ == "__main__":
    TRANSCRIPT.write_text(asyncio.run(transcript()))
