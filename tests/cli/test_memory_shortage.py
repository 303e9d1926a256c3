"""A command that gets too little memory says so in one line."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import click
import pytest

from fibsbot import cli
from fibsbot.cli import memory_shortage
from tests.patience import SOON


def chained() -> ImportError:
    """Return an error that came of a lack of memory, as numpy's import raises it."""
    error = ImportError("Unable to import required dependencies: numpy")
    error.__cause__ = ImportError("libopenblas.so: failed to map segment from shared object")
    return error


SHORTAGES = (
    MemoryError(),
    RuntimeError("can't start new thread"),
    OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    chained(),
)


@pytest.mark.parametrize("error", SHORTAGES, ids=lambda error: type(error).__name__)
def test_a_shortage_is_one_line_and_status_1(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(cli, "main", broken)
    monkeypatch.setattr(sys, "argv", ["fibsbot"])
    assert 1 == cli._run()
    told = capsys.readouterr().err
    assert told.startswith("fibsbot: expected enough memory and threads")
    assert 1 == told.count("\n")


@pytest.mark.parametrize("error", [RuntimeError("a bug"), OSError(errno.EIO, "broken"), ImportError("no module")])
def test_other_errors_are_not_taken_for_a_shortage(error: Exception) -> None:
    assert memory_shortage(error) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["serve --port x", "best 4HPwATDgc/ABMA --dice 31"])
def test_too_little_memory_makes_no_traceback(arguments: str) -> None:
    command = f"ulimit -v 300000; exec {sys.executable} -m fibsbot {arguments}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=SOON)
    assert ended.returncode in (1, 2), ended
    assert "Traceback" not in ended.stderr
