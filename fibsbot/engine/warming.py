"""The first start of all: what the engine needs is compiled by two processes, and what one compiles the other finds.

Later starts load what was kept, and do nothing of this.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import numpy as np

from fibsbot.engine.bearoff import NO_COLUMNS
from fibsbot.engine.boards import Boards, boards_of
from fibsbot.engine.expanding import Filter, expand
from fibsbot.engine.network import Network
from fibsbot.engine.outcomes import OUTCOMES, Outcomes
from fibsbot.engine.pruner import pruner_of, raw_columns
from fibsbot.engine.search.filters import Filters
from fibsbot.engine.search.lines import Cubes
from fibsbot.engine.search.looking import Looker
from fibsbot.match import MatchState
from fibsbot.position import Position

_SECOND: Final = f"import gc; gc.disable(); from {__name__} import compile_looking; compile_looking(); gc.freeze()"
"""What the second process does. The compiler leaves little garbage, and the search for it is an eighth of its time."""


def is_cold() -> bool:
    """Whether nothing has been compiled yet, and what will be can be kept."""
    return expand.is_missing()


@contextlib.contextmanager
def compiled_by_two() -> Iterator[None]:
    """Have another process compile what looking ahead needs; it is there at the end. Whatever fails is done later."""
    with contextlib.ExitStack() as held:
        held.enter_context(_nothing_collected())
        with contextlib.suppress(OSError):
            held.enter_context(
                subprocess.Popen(  # noqa: S603 - ourselves
                    [sys.executable, "-c", _SECOND],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        yield


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """Keep what nobody needs; see `_SECOND`."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Nobody:
    """Values every position alike, without anything that would have to be compiled."""

    name = "nobody"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return no chances, shape (n, 6)."""
        return np.zeros((len(boards), OUTCOMES), np.float32)


def compile_looking() -> None:
    """Compile what looking ahead needs, as the second process."""
    boards = boards_of([Position.start()])
    pruner = pruner_of(Network.new((8,), 1, len(raw_columns())))
    looker = Looker(_Nobody(), pruner, Filters(), 64)
    looker.expand(boards, Filter())
    cubes = Cubes.of(MatchState(Position.start(), length=7), NO_COLUMNS)
    cubes.values(0, (cubes.start,), boards, np.zeros((1, OUTCOMES), np.float32))
