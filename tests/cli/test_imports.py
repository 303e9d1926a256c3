"""Imports of each command and of light packages: what needs no engine starts quickly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from fibsbot.cli import COMMANDS
from tests.patience import SOON

ROOT: Final = Path(__file__).parent.parent.parent
HEAVY: Final = (
    "aiohttp",
    "asyncio",
    "distributed",
    "llvmlite",
    "numba",
    "numpy",
    "prometheus_client",
    "fibs_protocol.messages",
    "sqlalchemy",
    "structlog",
    "telnetlib3",
)
"""Modules that take long to import; the messages of the protocol are more than a hundred classes."""
IMPORTED: Final = {
    "analyse --help": "",
    "archive --help": "",
    "bearoff --help": "numpy",
    "best --help": "",
    "check-config --help": "",
    "convert --help": "",
    "cube --help": "",
    "db --help": "",
    "demo --help": "",
    "duel --help": "",
    "eval --help": "",
    "explain-invite --help": "",
    "export --help": "",
    "external --help": "",
    "legal --help": "",
    "new --help": "",
    "order --help": "",
    "parse --help": "",
    "perft --help": "",
    "play --help": "",
    "practice --help": "",
    "report --help": "",
    "replay --help": "",
    "rollout --help": "",
    "rules --help": "",
    "run --help": "",
    "serve --help": "",
    "show --help": "",
    "soak --help": "",
    "stats --help": "",
    "status --help": "",
    "strategies --help": "",
    "table --help": "",
    "train --help": "",
    "ubgi --help": "",
    "worker --help": "",
    "analyse match.mat --evaluator random": "",
    "analyse match.mat --evaluator heuristic --no-luck": "",
    "archive query nothing": "",
    "bearoff": "numpy",
    "best nothing": "",
    "check-config nothing.toml": "",
    "convert nothing.mat out.sgf": "",
    "cube nothing": "",
    "eval nothing": "",
    "explain-invite ford 5": "",
    "order pause": "",
    "rollout nothing": "",
    "status": "",
}
"""Each command line, and what it imports of that."""
SCRIPT: Final = """
import os, sys
import attrs, cattrs, click, rich.console, rich.progress, rich.table
from fibsbot.cli import main

*heavy, mark = sys.argv[1 : sys.argv.index("--") + 1]
nowhere, told = os.open(os.devnull, os.O_WRONLY), os.dup(1)
for lines in sys.argv[sys.argv.index("--") + 1 :]:
    if not (child := os.fork()):
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        for line in lines.splitlines():
            try:
                main(line.split())
            except SystemExit:
                imported = " ".join(it for it in heavy if it in sys.modules)
                os.write(told, f"{line}: {imported}\\n".encode())
        os._exit(0)
    os.waitpid(child, 0)
"""
"""The lines of each argument in a process of its own, which begins where all of them do."""


@pytest.mark.slow
def test_nothing_slow_is_imported_that_is_not_in_the_table(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "data" / "formats" / "mat" / "one_point.mat", tmp_path / "match.mat")
    # Those with the same imports in one process: faster, and none of them can import more unseen.
    together = ["\n".join(line for line in IMPORTED if IMPORTED[line] == it) for it in sorted({*IMPORTED.values()})]
    command = [sys.executable, "-c", SCRIPT, *HEAVY, "--", *together]
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        timeout=SOON,
    )
    assert {f"{line}: {imported}" for line, imported in IMPORTED.items()} == set(done.stdout.splitlines())


def test_the_table_has_every_command() -> None:
    assert COMMANDS.keys() == {line.removesuffix(" --help") for line in IMPORTED if line.endswith(" --help")}


LIGHT: Final = (
    "fibs_protocol",
    "fibsbot.rules",
    "fibsbot.games",
    "fibsbot.notation",
    "fibsbot.formats",
    "fibsbot.drawing",
)
"""Packages that other programs import, and that need attrs alone."""
COLOURS: Final = "fibsbot.drawing.coloured_board"
VALUES: Final = "fibsbot.formats.transcript_values"
LIGHT_SCRIPT: Final = """
import importlib, pkgutil, sys

heavier, packages, left_out = (words.split() for words in sys.argv[1:])
for package in map(importlib.import_module, packages):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in left_out:
            importlib.import_module(module.name)
            found = [name for name in heavier if name in sys.modules]
            assert not found, f"{module.name} imports {found}"
"""


@pytest.mark.slow
def test_rules_notation_formats_drawing_and_protocol_need_attrs_alone() -> None:
    """The modules that need rich and cattrs are imported where they are used."""
    heavier = "aiohttp cattrs click llvmlite numba numpy prometheus_client rich sqlalchemy structlog telnetlib3"
    command: list[str] = [sys.executable, "-c", LIGHT_SCRIPT, heavier, " ".join(LIGHT), f"{COLOURS} {VALUES}"]
    path = os.pathsep.join((str(ROOT), str(ROOT / "protocol")))
    done = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": path}, text=True, timeout=120
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.slow
def test_a_help_text_needs_neither_rich_nor_cattrs(tmp_path: Path) -> None:
    lines = ["demo --help", "legal --help", "play --help", "replay --help", "run --help", "show --help", f"show {XGID}"]
    script = SCRIPT.replace("import attrs, cattrs, click, rich.console, rich.progress, rich.table", "import click")
    command: list[str] = [sys.executable, "-c", script, "cattrs", "rich", "--", *lines]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, check=True, cwd=tmp_path, env=environment, text=True, timeout=120
    )
    assert [f"{line}: " for line in lines] == done.stdout.splitlines()


XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
