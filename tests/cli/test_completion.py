"""Completion in a shell: names of commands, options, games and files; the lines of docs/how-to/install.md work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from click.shell_completion import ShellComplete

from fibsbot.cli import COMMANDS, main

INSTALL: Final = (Path(__file__).parents[2] / "docs/how-to/install.md").read_text("utf-8")
COMPLETE: Final = {
    "bash": "COMP_WORDS=(fibsbot rep); COMP_CWORD=1; _fibsbot_completion fibsbot; printf '%s\\n' \"${COMPREPLY[@]}\"",
    # What zsh's own functions would show is printed instead.
    "zsh": "_describe() { print -l -- ${(P)3} }; words=(fibsbot rep); CURRENT=2; _fibsbot_completion",
}
"""What each shell does at a tab."""


def completed(*words: str) -> list[str]:
    """Return the completions of the last word."""
    items = ShellComplete(main, {}, "fibsbot", "_FIBSBOT_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in items]


def test_commands_options_and_games_are_completed() -> None:
    assert sorted(COMMANDS) == completed("")
    assert ["replay", "report"] == completed("rep")
    assert ["--game", "--games"] == completed("demo", "--ga")
    assert ["plakoto", "portes"] == completed("demo", "--game", "p")


def test_names_of_commands_are_completed_without_importing_them() -> None:
    code = (
        "import sys; from fibsbot.cli import main; from click.shell_completion import ShellComplete as Complete; "
        "print(len(Complete(main, {}, 'fibsbot', '').get_completions([], '')), 'fibsbot.cli.run' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{len(COMMANDS)} False\n" == found.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", COMPLETE)
def test_the_documented_line_completes_in_the_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    (line,) = re.findall(rf"^ *(eval .*{shell}_source.*\)\")", INSTALL, re.MULTILINE) or [""]
    assert line, "the page has no line for this shell"
    setup = "autoload -U compinit; compinit -u -D; " if shell == "zsh" else ""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = [shell, *(["--no-rcs"] if shell == "zsh" else ["--norc"]), "-c", f"{setup}{line}\n{COMPLETE[shell]}"]
    found = subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert "" == found.stderr
    assert ["replay", "report"] == re.findall(r"^(\w+)(?::.*)?$", found.stdout, re.MULTILINE)
