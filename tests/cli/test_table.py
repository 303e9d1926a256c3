"""`fibsbot table`: what it says when it cannot serve a page."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, main
from fibsbot.strategies import loader


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
