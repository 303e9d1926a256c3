"""`fibsbot table --terminal` in a real terminal, against the bot and on a server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Final

import pytest

from fibsbot.server.server import Server
from tests.bot.live_bots import CHEAP
from tests.cli.test_server_table import files_with
from tests.table.people import at_table, is_playing, login, until
from tests.terminal import Terminal

OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"

pytestmark = pytest.mark.slow


def test_plays_are_kept_and_the_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    table = ("table", "--terminal", "--level", "casual", "--output", str(tmp_path), "--position", OPENING)
    with Terminal(table, (24, 80)) as terminal:
        terminal.expect("Your move.")
        terminal.press("/8/5 6/5\r")
        terminal.expect("Done?")
        terminal.press(" ")
        terminal.expect("31: 8/5 6/5", "Your turn.")
        terminal.press("q")
        terminal.expect("Leave the match?")
        terminal.press("y")
        assert terminal.end() == 0
        assert "The match is in" in terminal.text
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text("utf-8"))["games"]


async def test_a_person_logs_in_is_invited_and_leaves_by_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIBSBOT_PASSWORD", "secret_of_ann")
    async with Server(seed=5, limits=CHEAP) as server, at_table(login(server.port, "ben")) as ben:
        await server.register("ann", "secret_of_ann")
        files = ("--output", str(tmp_path), "--store", str(tmp_path / "store.db"))
        words = ("table", "--terminal", "--server", f"127.0.0.1:{server.port}", "--user", "ann", *files)
        with Terminal(words, (24, 80)) as terminal:
            await asyncio.to_thread(terminal.expect, "ann: logged in", "► ben")
            terminal.press("i")
            await asyncio.to_thread(terminal.expect, "Invite ben", "Cancel")
            terminal.press("\r")
            await until(ben, lambda: "ann" in ben.session.lobby.invitations)
            ben.request("join", {"name": "ann"})
            await asyncio.to_thread(terminal.expect, "leave match", "ben")
            terminal.press("q")
            await asyncio.to_thread(terminal.expect, "Leave the table?")
            terminal.press("y")
            assert await asyncio.to_thread(terminal.end) == 0
            assert "Session log:" in terminal.text
        await until(ben, lambda: not is_playing(ben))
    assert files_with(tmp_path, "secret_of_ann") == []
