"""`fibsbot table`: what it says when it cannot serve a page."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from pathlib import Path
from random import Random

import aiohttp
import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, main
from fibsbot.cli import table as command
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.strategies import loader
from fibsbot.table.bot_match import BotMatch
from tests.patience import SOON


def table(folder: Path, *options: str) -> tuple[int, str]:
    """Run the command; return its status and what it says."""
    result = CliRunner().invoke(main, ["table", "--no-browser", "--output", str(folder), *options])
    return result.exit_code, result.output


def test_a_bot_that_cannot_be_loaded_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def load(name: str) -> None:
        raise loader.StrategyError(f"strategy {name!r} cannot be imported: no machine code")

    monkeypatch.setattr(loader, "load", load)
    status, output = table(tmp_path)
    assert (status, output) == (EXIT_USAGE, "Error: strategy 'engine:0' cannot be imported: no machine code\n")


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, output = table(tmp_path, "--port", str(port))
    assert status == EXIT_USAGE
    assert output.startswith(f"Error: cannot listen on 127.0.0.1:{port}: ")
    assert len(output.splitlines()) == 1


async def test_the_board_is_there_before_the_bot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The very first start of an engine may compile for half a minute."""
    monkeypatch.setattr(command, "PATIENCE", 0.0)
    compiled = threading.Event()

    def load() -> object:
        assert compiled.wait(SOON)
        return loader.load("pips")

    matches = (BotMatch(BACKGAMMON, BACKGAMMON.laws, 1, ("you", "bot"), Random(seed)) for seed in range(100))
    match = next(begun for begun in matches if begun.question is not None)
    async with asyncio.timeout(SOON), aiohttp.ClientSession() as session:
        serving = asyncio.create_task(command._serve(match, load, 0, tmp_path / "match.json", browse=False))
        said = ""
        while "\n" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().out
        state = await (await session.get(f"{said.split()[0]}state")).json()
        assert "<svg" in state["board"]
        assert state["text"] == "bot is thinking."
        compiled.set()
        while match.question is not None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        await serving
