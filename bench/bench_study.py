"""Speed of match analysis, with and without the luck of every roll, and compared with gnubg's own analysis.

Usage: bench_study.py [MATCHES [LENGTH [STRATEGY]]]
       bench_study.py --gnubg [FILE.mat]

The matches are played by the strategy itself, from seed 1 on; times are those of one processor. With --gnubg our engine
and gnubg's `analyse match`, on one thread, study the same match 2 plies deep with luck (at 0-ply, as gnubg does), one
after the other; ours once more while every core has something else to do. Both are measured as commands, with their
start, once all is compiled (`fibsbot analyse`: processor time of all its processes, and time on the clock); ours also
without it, in a process that has loaded the engine. Without a file it is a match to one point that the engine plays.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from fibsbot.analysis.match_analysis import MatchAnalyser, analyse_match
from fibsbot.formats.mat import write_mat
from fibsbot.formats.mat_reader import read_mats
from fibsbot.strategies.base import Evaluator
from fibsbot.strategies.loader import load
from fibsbot.transcript import Throw

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.analysis.random_matches import play_match

MATCHES: Final = 3
LENGTH: Final = 5
SEED: Final = 3
GNUBG: Final = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
COMMANDS: Final = """set threads 1
set analysis chequerplay evaluation plies 2
set analysis cubedecision evaluation plies 2
set analysis luck on
import mat "{file}"
analyse match
quit
"""


def judge_of(name: str) -> Evaluator:
    """Return a strategy that evaluates positions."""
    strategy = load(name)
    assert isinstance(strategy, Evaluator)
    return strategy


def command_seconds(command: list[str], commands: str = "") -> tuple[float, float]:
    """Return the processor time of a command and its child processes, and its elapsed time."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=commands, capture_output=True, text=True, check=True)  # noqa: S603 - our own words
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def our_seconds(file: Path) -> float:
    """Return our processor time for the same matches, with empty caches."""
    (match,) = read_mats(file.read_text())
    desk = MatchAnalyser(judge_of("engine:2"), judge_of("engine:0"))
    started = time.process_time()
    desk.analyse(match, luck=True)
    return time.process_time() - started


def spin() -> None:
    """Keep a core busy until killed."""
    while True:
        pass


def beside_gnubg(file: Path) -> None:
    """Print both times, and ours on a busy machine."""
    our_seconds(file)  # compiles what is not compiled yet
    alone = our_seconds(file)
    assert GNUBG is not None, "gnubg is not installed"
    theirs, theirs_elapsed = command_seconds([GNUBG, "-t", "-q"], COMMANDS.format(file=file))
    command, elapsed = command_seconds([sys.executable, "-m", "fibsbot", "analyse", "--plies", "2", str(file)])
    others = [
        multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(os.cpu_count() or 1)
    ]
    for other in others:
        other.start()
    busy = our_seconds(file)
    for other in others:
        other.kill()
    print(f"gnubg, analyse match: {theirs:.1f} s, {theirs_elapsed:.1f} s on the clock")
    clock = f"{elapsed:.1f} s on the clock, {elapsed / theirs_elapsed:.2f} of gnubg's"
    print(f"fibsbot analyse: {command:.1f} s, {command / theirs:.2f} of gnubg's; {clock}")
    print(f"ours without the start: {alone:.1f} s, {alone / theirs:.2f} of gnubg's")
    print(f"the same with all cores busy: {busy:.1f} s, {busy / alone:.2f} times as much")


def speed(arguments: list[str]) -> None:
    """Print decisions and rolls per second."""
    matches, length, name = (*arguments, *(str(MATCHES), str(LENGTH), "heuristic")[len(arguments) :])
    strategy = judge_of(name)
    played = [play_match(load(name), seed, int(length)) for seed in range(1, int(matches) + 1)]
    throws = sum(isinstance(entry, Throw) for match in played for game in match.games for entry in game.entries)
    for luck in (False, True):
        started = time.process_time()
        studies = [analyse_match(match, strategy, luck=luck) for match in played]
        seconds = time.process_time() - started
        decisions = sum(len(game.decisions) for found in studies for game in found.games)
        print(f"{'with' if luck else 'without'} luck: {decisions} decisions, {throws} throws in {seconds:.1f} s")
        each = seconds / int(matches)
        print(f"  {decisions / seconds:.0f} decisions/s, {throws / seconds:.1f} throws/s, {each:.1f} s a match")


def main() -> None:
    """Parse the arguments and measure."""
    if sys.argv[1:2] != ["--gnubg"]:
        speed(sys.argv[1:])
    elif len(sys.argv) > 2:
        beside_gnubg(Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "match.mat"
            file.write_text(write_mat(play_match(load("engine:0"), SEED, 1)))
            beside_gnubg(file)


if __name__ == "__main__":
    main()
