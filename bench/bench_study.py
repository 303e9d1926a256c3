"""How fast matches are studied, with and without the luck of every throw.

Usage: bench_study.py [MATCHES [LENGTH [STRATEGY]]]

The matches are played by the strategy itself, from seed 1 on; times are those of one processor.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import load
from fibsbot.study.analysis import study
from fibsbot.transcript import Throw

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.study.playing import play_match

MATCHES: Final = 3
LENGTH: Final = 5


def main() -> None:
    """Print decisions and throws per second."""
    arguments = sys.argv[1:]
    matches, length, name = (*arguments, *(str(MATCHES), str(LENGTH), "handmade")[len(arguments) :])
    strategy = load(name)
    assert isinstance(strategy, Judge)
    played = [play_match(strategy, seed, int(length)) for seed in range(1, int(matches) + 1)]
    throws = sum(isinstance(entry, Throw) for match in played for game in match.games for entry in game.entries)
    for luck in (False, True):
        started = time.process_time()
        studies = [study(match, strategy, luck=luck) for match in played]
        seconds = time.process_time() - started
        decisions = sum(len(game.judged) for found in studies for game in found.games)
        print(f"{'with' if luck else 'without'} luck: {decisions} decisions, {throws} throws in {seconds:.1f} s")
        each = seconds / int(matches)
        print(f"  {decisions / seconds:.0f} decisions/s, {throws / seconds:.1f} throws/s, {each:.1f} s a match")


if __name__ == "__main__":
    main()
