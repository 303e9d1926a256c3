"""Shared by tests of engines: a match between two strategies without a fallback, and engines that fail."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from fibsbot.arena.duel.games import GameDice, Games, play_match, play_out
from fibsbot.rules.laws import MODERN
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.questions import PlayQuestion, Question, RollQuestion, StrategyAnswer, TakeQuestion
from fibsbot.strategies.random_play import RandomStrategy
from tests.patience import SOON

FAKE: Final = '''
"""An engine for tests: does as its first argument says."""

import os, subprocess, sys, time

mode = sys.argv[1]


def say(text):
    print(text, flush=True)


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.005)


def greet():
    assert sys.stdin.readline() == "ubgi\\n"
    say("id name fake")
    say("readyok")


if mode == "dies-at-start":
    sys.exit("no network found")
if mode == "hangs-at-start":
    time.sleep(3600)
if mode == "starts-slowly":
    wait_for(sys.argv[2])
if mode == "floods-at-start":
    while True:
        print("info string loading", flush=True)
if mode == "greets-without-end":
    print("id name " + "x" * 10_000_000, end="", flush=True)
    time.sleep(3600)
if mode == "dies-when-greeted":
    sys.stdin.readline()
    sys.exit(3)
if mode == "leaves-a-child":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    open(sys.argv[2], "w").write(f"{os.getpid()} {child.pid}")
greet()
if mode == "dies-when-ready":
    sys.exit(4)
if mode == "chatters":
    say("info string I was not asked")
    sys.stderr.write("and complain" * 100_000)
if mode == "starts-slowly":
    sys.stdin.readline()
    wait_for(sys.argv[3])
    say("double")
for line in sys.stdin:
    if line in ("stop\\n", "quit\\n") and mode != "ignores-quit":
        if line == "quit\\n":
            break
    elif mode == "dies-when-asked":
        sys.stderr.write("out of memory\\n")
        sys.exit(5)
    elif mode == "hangs-when-asked":
        time.sleep(3600)
    elif mode == "floods-when-asked":
        while True:
            print("info depth 1", flush=True)
    elif mode == "writes-without-end":
        sys.stdout.write("8/5 " * 5_000_000)
        time.sleep(3600)
    elif mode == "closes-its-output":
        os.close(1)
        time.sleep(3600)
    elif mode == "answers-garbage":
        os.write(1, b"\\xff\\x00 bestmove e2e4\\n")
    elif mode == "is-sorry":
        say("sorry")
    elif mode == "reads-boards-only" and not line.startswith("board:"):
        say("sorry")
    elif mode == "once" and os.path.exists(sys.argv[2]):
        say("roll")
    elif mode == "once":
        open(sys.argv[2], "w").close()
        sys.exit(6)
    else:
        say("roll")
'''


def executable(path: Path, text: str) -> str:
    """Write a program; return its path."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def fake(folder: Path, mode: str, *arguments: object) -> str:
    """Return the command of an engine that fails in this way."""
    path = folder / "fake engine.py"
    path.write_text(FAKE)
    return " ".join([sys.executable, f"'{path}'", mode, *map(str, arguments)])


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(*pids: int) -> bool:
    """Wait for processes to end; return whether they did."""
    deadline = time.monotonic() + SOON
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, pids))


def descendants() -> set[int]:
    """Return the processes that this one has started, those that they have started, and so on."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def play_through(strategies: Sequence[Strategy], length: int, seed: int) -> tuple[Games, Counter[type[Question]]]:
    """Play a match, or one money game for the length 0; return its games and how often each question was asked.

    Raises the errors of a strategy, and InvalidAnswerError for an impossible answer.
    """
    asked: Counter[type[Question]] = Counter()

    def put(strategy: Strategy, question: Question) -> StrategyAnswer:
        asked[type(question)] += 1
        return question.put_to(strategy)

    match = play_match(MODERN, length, partial(GameDice, seed, 0))
    return play_out(match, [partial(put, strategy) for strategy in strategies]), asked


def play_whole_matches(strategy: Strategy, length: int, count: int) -> None:
    """Play matches against random plays, in which every kind of decision must come up."""
    total: Counter[type[Question]] = Counter()
    for seed in range(count):
        games, asked = play_through([strategy, RandomStrategy(seed)], length, seed)
        assert games
        total += asked
    assert {PlayQuestion, RollQuestion, TakeQuestion} <= set(total)
