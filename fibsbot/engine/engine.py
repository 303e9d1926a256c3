"""The engine: what positions, plays and cube actions are worth, by networks, bear-off tables and lookahead.

One engine serves any number of threads. It compiles what it needs when it is first asked, which takes seconds where
nothing has been compiled before: `Engine.warm_up` does that beforehand. On the first start of all, two processes
compile side by side; later starts load what is cached.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import numpy as np
from attrs import evolve, field, frozen

from fibsbot.engine.arrays import OUTCOMES, Boards, Outcomes, boards_of
from fibsbot.engine.bearoff import NO_TABLES, load_tables
from fibsbot.engine.bundled_networks import NETWORKS_FOLDER, load_networks
from fibsbot.engine.evaluator import Evaluator, NetworkEvaluator
from fibsbot.engine.network import Network
from fibsbot.engine.pruner import PlayFilter, Pruner, expand, pruner_of, raw_columns
from fibsbot.engine.search import CubeAnalysis, PlayComparison, Ranking, Searcher, SearchLimits
from fibsbot.engine.search.cube_lines import DecisionCubes
from fibsbot.engine.search.lookahead import Lookahead, SearchFilters, argmin_of_slots
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays

_SECOND: Final = f"import gc; gc.disable(); from {__name__} import compile_lookahead; compile_lookahead(); gc.freeze()"
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


class _NullEvaluator:
    """Values every position alike, without anything that would have to be compiled."""

    name = "nobody"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return no chances, shape (n, 6)."""
        return np.zeros((len(boards), OUTCOMES), np.float32)


def compile_lookahead() -> None:
    """Compile what looking ahead needs, as the second process."""
    boards = boards_of([Position.start()])
    pruner = pruner_of(Network.new((8,), 1, len(raw_columns())))
    lookahead = Lookahead(_NullEvaluator(), pruner, SearchFilters(), 64)
    lookahead.expand(boards, PlayFilter())
    cubes = DecisionCubes.of(MatchState(Position.start(), length=7), NO_TABLES)
    cubes.values(0, (cubes.start,), boards, np.zeros((1, OUTCOMES), np.float32))


DEFAULT_LIMITS: Final = SearchLimits()
_OPENING: Final = MatchState(Position.start(), length=7)


@frozen(eq=False)
class Engine:
    """Values positions, ranks plays, reads cubes."""

    evaluator: Evaluator
    pruner: Pruner
    _of_thread: threading.local = field(factory=threading.local, init=False, repr=False)

    @classmethod
    def load(cls, folder: Path = NETWORKS_FOLDER, *, tables: bool = True, compute: bool = True) -> Self:
        """Return the engine with the networks of a folder, if no other the ones that come along.

        Args:
            folder: Where the networks are.
            tables: Whether to use bear-off tables.
            compute: Whether to compute them where there are none, which takes a few seconds, once.

        Raises:
            NetworkError: Networks are missing or damaged; one line.
        """
        networks = load_networks(folder)
        cold = is_cold()
        with compiled_by_two() if cold else contextlib.nullcontext():
            known = load_tables(compute=compute) if tables else None
            name = networks.name if known else f"{networks.name}, no bear-off tables"
            columns = known.columns if known else NO_TABLES
            evaluator = NetworkEvaluator(name, networks.contact, columns, networks.race)
            engine = cls(evaluator, networks.pruner)
            if cold:
                boards, lookahead = boards_of([_OPENING.position]), engine.searcher.lookahead
                lookahead.evaluate(boards)
                lookahead.distinct(boards)
                argmin_of_slots(np.zeros((1, 1)), np.zeros(1, np.int32), 1)
        return engine

    @property
    def name(self) -> str:
        """What makes the figures."""
        return self.evaluator.name

    def evaluate(self, positions: Iterable[Position] | Boards) -> Outcomes:
        """Return the chances of who is on roll without looking ahead, shape (n, 6); see `engine.arrays`.

        Positions may be given as boards, shape (n, 26).
        """
        boards = positions if isinstance(positions, np.ndarray) else boards_of(positions)
        return self.evaluator.evaluate(boards)

    def rank(
        self,
        state: MatchState,
        plays: Sequence[Play] | None = None,
        limits: SearchLimits = DEFAULT_LIMITS,
        compared: PlayComparison | None = None,
    ) -> Ranking:
        """Return the plays of a throw, all legal ones unless some are given, the best first; phase MOVE.

        `compared` says which of them are looked at as deep as the best one; without it, what falls behind is not.
        Raises ValueError where the position cannot be, the state has no dice, or there is no play to rank.
        """
        _check(state.position)
        if plays is None:
            if state.dice is None:
                raise ValueError("expected a state with dice, got none")
            plays = legal_plays(state.position, state.dice) or (Play(),)
        return self.searcher.rank(state, plays, limits, compared)

    def analyse_cube(self, state: MatchState, limits: SearchLimits = DEFAULT_LIMITS) -> CubeAnalysis:
        """Return what the position is worth before the throw and what to do with the cube; phase ROLL.

        Raises ValueError where the position cannot be.
        """
        _check(state.position)
        return self.searcher.analyse_cube(state, limits)

    def equities_by_roll(self, state: MatchState) -> list[float]:
        """Return what each roll is worth with its best play, without looking ahead, in the order of `match.ROLLS`.

        The dice of the state do not count. Raises ValueError where the position cannot be.
        """
        _check(state.position)
        return self.searcher.equities_by_roll(state)

    def warm_up(self) -> None:
        """Compile whatever decisions need."""
        self.analyse_cube(_OPENING, SearchLimits(plies=1))
        self.rank(evolve(_OPENING, phase=Phase.MOVE, dice=(3, 1)), limits=SearchLimits(plies=1))

    @property
    def searcher(self) -> Searcher:
        """What looks ahead in this thread."""
        searcher: Searcher | None = getattr(self._of_thread, "searcher", None)
        if searcher is None:
            searcher = self._of_thread.searcher = Searcher(self.evaluator, self.pruner)
        return searcher


def _check(position: Position) -> None:
    """Raise ValueError for a position that cannot be: compiled functions look up tables by what they are told."""
    flaws = position.status()
    if flaws:
        raise ValueError(f"expected a position that can be, got one with {flaws.name}: {position.points}")
