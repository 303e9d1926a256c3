"""Commands run in this process as the shell would run them: with their exit status and both streams apart.

Starting a process takes most of a second of the processor, so that only those tests start one that are about processes.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from attrs import frozen

from fibsbot import cli


@frozen
class Finished:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def fibsbot(*arguments: object, cwd: Path | None = None, **environment: str) -> Finished:
    """Run a command, in another working directory if one is named, with these variables besides the present ones."""
    out_bytes, err_bytes = io.BytesIO(), io.BytesIO()
    out = io.TextIOWrapper(out_bytes, encoding="utf-8")
    err = io.TextIOWrapper(err_bytes, encoding="utf-8", errors="backslashreplace")  # as Python's own
    with (
        mock.patch.object(sys, "argv", ["fibsbot", *map(str, arguments)]),
        mock.patch.dict("os.environ", {"COLUMNS": "80", **environment}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or Path.cwd()),
    ):
        try:
            status = cli._status() or 0
        except SystemExit as end:
            status = int(end.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    return Finished(status, out_bytes.getvalue().decode(errors="surrogateescape"), err_bytes.getvalue().decode())


def fibsbot_process(*arguments: object, **environment: str) -> Finished:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "fibsbot", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80", **environment},
    )
    return Finished(done.returncode, done.stdout, done.stderr)
