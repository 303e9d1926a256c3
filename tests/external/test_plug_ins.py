"""Ours as an engine for others, with a plug-in that hangs, prints or cannot be closed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from fibsbot.external import ADDRESS
from tests.external.test_ubgi import OPENING
from tests.patience import SOON

BOARD: Final = (
    b"board:gnubg:root:7:2:5:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    b":1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1\n\0"
)
PLUG_IN: Final = """
import os, sys, time
from fibsbot.strategies.random_play import RandomStrategy


class Hanging(RandomStrategy):
    def choose_play(self, state, plays):
        time.sleep(3600)

    def close(self):
        raise RuntimeError("cannot be closed")


class Talking(RandomStrategy):
    def choose_play(self, state, plays):
        print("thinking", flush=True)
        os.write(1, b"hard\\n")
        sys.stdin.readline()
        os.read(0, 1000)
        return super().choose_play(state, plays)
"""


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Install the plug-in; return the environment in which it is found."""
    (tmp_path / "plug_in.py").write_text(PLUG_IN)
    about = tmp_path / "plug_in-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[fibsbot.strategies]\nhanging = plug_in:Hanging\ntalking = plug_in:Talking\n"
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_external_player_while_its_strategy_hangs(
    environment: Mapping[str, str], number: signal.Signals
) -> None:
    run = [sys.executable, "-m", "fibsbot", "external", "--port", "0", "--strategy", "hanging"]
    with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            port = int(process.stdout.readline().rpartition(":")[2])
            with socket.create_connection((ADDRESS, port)) as gnubg, socket.create_connection((ADDRESS, port)) as other:
                gnubg.sendall(BOARD)
                time.sleep(0.2)
                other.sendall(b"hello\n")
                process.send_signal(number)
                assert 0 == process.wait(SOON)
            told = process.stderr.read()
        finally:
            process.kill()
    assert "Traceback" not in told
    assert "strategy cannot be closed" in told


@pytest.mark.slow
def test_what_a_strategy_prints_and_reads_is_no_part_of_the_protocol(environment: Mapping[str, str]) -> None:
    run = [sys.executable, "-m", "fibsbot", "ubgi", "--strategy", "talking"]
    done = subprocess.run(
        run,
        env=environment,
        input=f"ubgi\n{OPENING}\nhello\n{OPENING}\nquit\n",
        capture_output=True,
        text=True,
        timeout=SOON,
        check=True,
    )
    *_, ready, play, sorry, last = done.stdout.splitlines()
    assert ("readyok", "sorry") == (ready, sorry)
    assert "/" in play
    assert "/" in last
    assert ["thinking", "hard"] * 2 == done.stderr.splitlines()


@pytest.mark.slow
def test_a_full_disk_is_one_line() -> None:
    run = [sys.executable, "-m", "fibsbot", "ubgi", "--strategy", "random"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            run, input="ubgi\n", stdout=full, stderr=subprocess.PIPE, text=True, timeout=SOON, check=False
        )
    assert (1, "fibsbot: cannot write the output: No space left on device\n") == (done.returncode, done.stderr)
