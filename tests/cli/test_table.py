"""`fibsbot table`: what it says when it cannot serve a page."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_CONFIG, EXIT_USAGE, main


def table(folder: Path, *options: str) -> tuple[int, str]:
    """Run the command; return its status and what it says."""
    result = CliRunner().invoke(main, ["table", "--no-browser", "--output", str(folder), *options])
    return result.exit_code, result.output


def test_a_missing_web_server_is_named_with_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "fibsbot.table.page_server", raising=False)
    monkeypatch.delitem(sys.modules, "fibsbot.service.request_guards", raising=False)
    status, output = table(tmp_path)
    assert (status, output) == (EXIT_CONFIG, "Error: the page needs aiohttp (pip install 'fibsbot[web]'), found none\n")


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, output = table(tmp_path, "--port", str(port))
    assert status == EXIT_USAGE
    assert output.startswith(f"Error: cannot listen on 127.0.0.1:{port}: ")
    assert len(output.splitlines()) == 1
