"""`fibsbot table`: what it says when it cannot serve a page."""

from __future__ import annotations

import socket
from pathlib import Path

from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, main


def table(folder: Path, *options: str) -> tuple[int, str]:
    """Run the command; return its status and what it says."""
    result = CliRunner().invoke(main, ["table", "--no-browser", "--output", str(folder), *options])
    return result.exit_code, result.output


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, output = table(tmp_path, "--port", str(port))
    assert status == EXIT_USAGE
    assert output.startswith(f"Error: cannot listen on 127.0.0.1:{port}: ")
    assert len(output.splitlines()) == 1
