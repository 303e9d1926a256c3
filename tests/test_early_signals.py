"""SIGTERM in the first second of a service: it ends in order, without playing, as it does later on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.early_signals import note_early_signals, take_early_signals

CODE = """
import os, signal, sys
import fibsbot.__main__ as entry
sys.argv = ["fibsbot", *{arguments!r}]
before = entry.note_early_signals
def note():
    before()
    for _ in range({count}):
        os.kill(os.getpid(), signal.SIGTERM)
entry.note_early_signals = note
sys.exit(entry.main())
"""
"""Runs a command that gets SIGTERM as the first thing of all."""


def run(*arguments: str, count: int = 1) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    code = CODE.format(arguments=arguments, count=count)
    environment = {**os.environ, "FIBSBOT_PASSWORD": "secret"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


@pytest.mark.slow
def test_a_server_that_is_ended_while_it_starts_ends_in_order() -> None:
    done = run("serve", "--port", "0")
    assert 0 == done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_a_bot_that_is_ended_while_it_starts_ends_without_connecting(tmp_path: Path, count: int) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text(
        '[server]\nport = 1\n[account]\nname = "marvin"\n[bot]\nstrategy = "random"\n'
        f'[log]\ndirectory = "{tmp_path}"\n[service]\nstore = "{tmp_path}/a.db"\ncontrol = "{tmp_path}/socket"\n',
        "utf-8",
    )
    done = run("run", "--config", str(config), count=count)
    assert 0 == done.returncode, done.stderr
    assert done.stdout.startswith("marvin: 0 matches played")


@pytest.mark.slow
def test_a_third_signal_kills_and_other_commands_are_killed_by_the_first() -> None:
    assert -signal.SIGTERM == run("serve", "--port", "0", count=3).returncode
    assert -signal.SIGTERM == run("rules").returncode


def test_nothing_is_noted_for_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fibsbot", "rules", "run"])
    before = signal.getsignal(signal.SIGTERM)
    note_early_signals()
    assert before == signal.getsignal(signal.SIGTERM)
    assert () == take_early_signals()
