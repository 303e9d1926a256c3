"""Progress bars appear in time, even if the first step takes long."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, UserError, main, output, terminal
from fibsbot.cli.output import check_writable, typed_name
from tests.patience import SOON


class Terminal(io.StringIO):
    """A terminal that records when something is written."""

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        """Claim to be a terminal."""
        return True

    def write(self, text: str) -> int:
        """Record the time."""
        if "decisions" in text:
            self.written.set()
        return super().write(text)


def test_progress_is_shown_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "PROGRESS_DELAY", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    with output.progress_bar("decisions"):
        assert screen.written.wait(SOON)


MATCH = Path(__file__).parent.parent / "data/formats/mat/match.mat"


def refuse(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_a_file_or_folder_that_can_be_made_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "page.html")
    check_writable(tmp_path / "new" / "pages", parents=True)
    check_writable(tmp_path, parents=True)
    assert [] == list(tmp_path.iterdir())


def test_a_folder_that_is_missing_or_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(UserError, match=f"there is no folder {folder} for page.html"):
            check_writable(folder / "page.html")
    with pytest.raises(UserError, match=r"cannot write .*: Not a directory"):
        check_writable(tmp_path / "file" / "pages", parents=True)


@pytest.mark.parametrize(
    "command",
    [
        ["report", str(MATCH), "-o", "page.html"],
        ["report", str(MATCH), "-o", "pages"],
        ["stats", "--luck", "--plot", "rating.svg"],
    ],
    ids=" ".join,
)
def test_an_unwritable_path_is_reported_at_once(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No position is evaluated, no store is opened (there is none), and no match is played."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr("fibsbot.cli.report.engine_name", lambda *_: pytest.fail("a judge is looked for"))
    result = CliRunner().invoke(main, command)
    assert (EXIT_USAGE, f"Error: cannot write {command[-1]}: Permission denied\n") == (result.exit_code, result.stderr)


@pytest.mark.parametrize(
    ("run", "path", "typed"),
    [
        (".venv/bin/fibsbot", "", ".venv/bin/fibsbot"),
        ("a b/fibsbot", "", "'a b/fibsbot'"),
        ("/usr/lib/python3/site-packages/x.py", "", "fibsbot"),
        ("PATH/fibsbot", "PATH", "fibsbot"),
    ],
)
def test_commands_to_type_are_named_as_this_one_was(
    run: str, path: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fibsbot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", path.replace("PATH", str(tmp_path)))
    monkeypatch.setattr("sys.argv", [run.replace("PATH", str(tmp_path))])
    assert typed == typed_name()


def test_strategies_are_listed_as_a_table_without_tabs() -> None:
    lines = CliRunner().invoke(main, ["strategies"]).output.splitlines()
    assert lines[0].split()[0] == "name"
    assert "\t" not in "".join(lines)
    begins = lines[0].index("what it does")
    assert any(line.startswith("random ") and line[begins:].startswith("Decide everything") for line in lines)


def test_the_folder_of_a_demos_logs_is_not_writable_for_others(tmp_path: Path) -> None:
    folder, before = tmp_path / "logs", os.umask(0)
    try:
        words = ["--strategy", "random", "--opponent-strategy", "random", "--length", "1", "--seed", "1"]
        assert 0 == CliRunner().invoke(main, ["demo", "--log-dir", str(folder), *words]).exit_code
    finally:
        os.umask(before)
    assert 0 == folder.stat().st_mode & 0o022
