"""Ours as gnubg's external player: gnubg plays whole matches against it, and nothing that is sent harms it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, main
from fibsbot.external import ADDRESS, MAX_CONNECTIONS, Answerer, ExternalPlayer, listen_locally
from fibsbot.rules.state import Ending, Seat
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.transcript import Throw, walk
from tests.formats.gnubg import GNUBG, requires_gnubg
from tests.formats.one_match import read_mat
from tests.patience import SOON

MOVE: Final = (
    b"board:gnubg:root:7:2:5:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    b":1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1\n\0"
)


@asynccontextmanager
async def playing() -> AsyncIterator[int]:
    """Run a player; give its port."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        ExternalPlayer(Answerer([RandomStrategy(1)])).serve(listen_locally(0), port.set_result)
    )
    try:
        yield await port
    finally:
        serving.cancel()
        await asyncio.wait([serving])


async def told(port: int, *lines: bytes) -> list[bytes]:
    """Send lines on a connection of their own, one after the other is answered; return the answers."""
    reader, writer = await asyncio.open_connection(ADDRESS, port)
    answers = []
    for line in lines:
        writer.write(line)
        answers.append(await asyncio.wait_for(reader.readline(), SOON))
    writer.close()
    await writer.wait_closed()
    return answers


async def test_connections_one_after_the_other_are_served() -> None:
    async with playing() as port:
        for _ in range(3):
            first, second = await told(port, MOVE, MOVE)
            assert re.fullmatch(rb"\d+/\d+ \d+/\d+\n", first)
            assert re.fullmatch(rb"\d+/\d+ \d+/\d+\n", second)


@pytest.mark.parametrize("line", [b"hello\n", b"board:x\n", b"\xff\xfe\n", MOVE.replace(b":3:1:", b":9:1:")])
async def test_a_bad_line_is_answered_by_an_error_and_the_next_one_is_served(line: bytes) -> None:
    async with playing() as port:
        error, play = await told(port, line, MOVE)
        assert error.startswith(b"Error: expected ")
        assert b"/" in play


async def test_a_line_without_end_ends_its_connection_and_no_other() -> None:
    async with playing() as port:
        assert [b"Error: expected a shorter line\n"] == await told(port, b"x" * 100_000)
        (play,) = await told(port, MOVE)
        assert b"/" in play


@asynccontextmanager
async def silent(port: int, count: int) -> AsyncIterator[None]:
    """Open connections on which nothing is said."""
    writers = [(await asyncio.open_connection(ADDRESS, port))[1] for _ in range(count)]
    yield
    for it in writers:
        it.close()
        await it.wait_closed()


async def test_who_connects_and_says_nothing_holds_up_nobody() -> None:
    async with playing() as port, silent(port, MAX_CONNECTIONS - 1):
        (play,) = await told(port, MOVE)
        assert b"/" in play


async def test_more_connections_than_anybody_needs_are_refused() -> None:
    async with playing() as port, silent(port, MAX_CONNECTIONS):
        reader, writer = await asyncio.open_connection(ADDRESS, port)
        assert b"" == await asyncio.wait_for(reader.read(), SOON)
        writer.close()
        await writer.wait_closed()


def listening(port: int) -> set[str]:
    """Return the addresses at which somebody listens on a port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"}


async def test_nobody_elsewhere_can_connect() -> None:
    async with playing() as port:
        assert {"0100007F"} == listening(port)


@contextmanager
def command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `fibsbot external`; give the process and its port."""
    run = [sys.executable, "-m", "fibsbot", "external", "--port", "0", *arguments]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"set player 1 external localhost:(\d+)$", line)
        assert found, line
        try:
            yield process, int(found[1])
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_even_with_gnubg_connected(number: signal.Signals) -> None:
    with command("--strategy", "random") as (process, port), socket.create_connection((ADDRESS, port)) as gnubg:
        gnubg.sendall(MOVE)
        assert b"/" in gnubg.recv(100)
        process.send_signal(number)
        assert 0 == process.wait(SOON)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_port_that_is_taken_is_one_line_before_a_strategy_is_made() -> None:
    with socket.create_server((ADDRESS, 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["external", "--strategy", "nobody", "--port", str(port)])
    told = f"Error: cannot listen on {ADDRESS}:{port}: Address already in use; use --port to choose another one\n"
    assert (EXIT_USAGE, "", told) == (done.exit_code, done.stdout, done.stderr)


@requires_gnubg
@pytest.mark.slow
def test_gnubg_plays_whole_matches_against_it_from_either_side(tmp_path: Path) -> None:
    assert GNUBG is not None
    with command("--strategy", "heuristic") as (process, port):
        for side, names in enumerate((("fibsbot", "gnubg"), ("gnubg", "fibsbot"))):
            commands = [
                f"set player {1 - side} gnubg",
                f"set player {1 - side} chequerplay evaluation plies 0",
                f"set player {1 - side} cubedecision evaluation plies 0",
                f"set player {side} external localhost:{port}",
                f"set defaultnames {' '.join(names)}",
                "set display off",
                "set automatic roll on",
                "set automatic game on",
                f"set seed {7 + side}",
                "new match 3",
                f'export match mat "{side}.mat"',
            ]
            subprocess.run(
                [GNUBG, "-t", "-q", "-r"],
                cwd=tmp_path,
                env={**os.environ, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
                input="\n".join([*commands, ""]).encode(),
                stdout=subprocess.PIPE,
                timeout=SOON,
                check=True,
            )
            match = read_mat((tmp_path / f"{side}.mat").read_text())
            assert (3, names) == (match.length, tuple(it.name for it in match.players))
            assert match.winner is not None
            assert Ending.BORNE_OFF in {game.result.how for game in match.games if game.result}
            assert not [game.number for game in match.games if not game.result]
            steps = [step for game in match.games for step in walk(game)]  # an illegal play would raise
            plays = {seat: sum(isinstance(it.entry, Throw) and it.entry.seat is seat for it in steps) for seat in Seat}
            assert min(plays.values()) > 5
        process.send_signal(signal.SIGINT)
        assert 0 == process.wait(SOON)
        assert process.stderr is not None
        told = process.stderr.read()
    assert 2 == told.count("disconnected")
    assert "no answer" not in told
    assert "strategy failed" not in told
