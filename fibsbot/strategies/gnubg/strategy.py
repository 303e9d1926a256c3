"""The strategy `gnubg`, which asks GNU Backgammon in its external mode. It is an evaluator as well."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from attrs import evolve

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.child_process.engine_process import RestartingEngine
from fibsbot.strategies.child_process.wire_format import AnswerT, TextStrategy, parse_word
from fibsbot.strategies.evaluator import CubeValues, PlayValue, PositionValue
from fibsbot.strategies.gnubg.external_mode import Evaluation, GnubgOptions, GnubgProcess
from fibsbot.strategies.gnubg.values import GnubgValues
from fibsbot.strategies.heuristic.strategy import is_beavered

RESPONSES: Final = {"take": CubeAction.TAKE, "drop": CubeAction.PASS, "beaver": CubeAction.BEAVER}
RESIGNATION_ANSWERS: Final = {"accept": True, "reject": False}
_EXTRA_PATH: Final = "/usr/games:/usr/local/games"
"""Searched after PATH: that of daemons seldom has the folders of games."""


class GnubgStrategy(TextStrategy):
    """Ask GNU Backgammon, which must be installed; `gnubg:2` looks 2 plies ahead."""

    def __init__(self, options: str = "", *, program: str = "gnubg") -> None:
        """Start nothing yet.

        Args:
            options: see `GnubgOptions.parse`.
            program: the program, by name or path.

        Raises:
            ValueError: the options are invalid.
            FileNotFoundError: gnubg is not installed.
        """
        super().__init__()
        self.name = f"gnubg:{options}" if options else "gnubg"
        self._options = GnubgOptions.parse(options)
        path = shutil.which(program) or shutil.which(program, path=_EXTRA_PATH)
        if path is None:
            raise FileNotFoundError(f"there is no program called {program!r}: is GNU Backgammon installed?")
        # The evaluation of plays is set when gnubg starts, so matches without a cube need another process.
        self._engines = {
            cubeful: RestartingEngine(partial(GnubgProcess, path, self._options, cubeful=cubeful))
            for cubeful in (True, False)
        }
        self._values = GnubgValues(path, self._options)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take, pass or beaver."""
        if is_beavered(state):
            return self._answer_beaver(state)
        action = self._decide(state, partial(parse_word, RESPONSES))
        return CubeAnswer(CubeAction.TAKE if action is CubeAction.BEAVER and not state.redoubles else action)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is enough."""
        return self._decide(state, partial(parse_word, RESIGNATION_ANSWERS))

    def close(self) -> None:
        """End all processes."""
        for engine in self._engines.values():
            engine.close()
        self._values.close()

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return self._values.value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        return self._values.value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return the value of each play."""
        return [it.equity for it in self.compare_plays(state, plays, plays[0])] if plays else []

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:  # noqa: ARG002
        """Return the value of each play, all searched equally deep."""
        return self._values.value_plays(state, plays, partial(self._evaluate, plies=self._options.chequer))

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        return self._values.value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost."""
        return self._values.match_chance(state, points)

    # -- asking ---------------------------------------------------------------------------------------------------

    def _answer_beaver(self, state: MatchState) -> CubeAnswer:
        """Answer a beaver of our own double: a pass loses half of the new stake, so a take may lose as much."""
        rolling = evolve(state, phase=Phase.ROLL, cube=2 * state.cube, owner=Owner.OPPONENT)
        equity = 2 * self._evaluate(rolling, self._options.cube).value
        return CubeAnswer(CubeAction.TAKE if equity >= -1 else CubeAction.PASS, max(equity, -1.0))

    def _decide(self, state: MatchState, parse: Callable[[str], AnswerT]) -> AnswerT:
        return self._ask(lambda process, deadline: parse(process.decide(state, deadline)), cubeful=not state.cubeless)

    def _evaluate(self, state: MatchState, plies: int) -> Evaluation:
        return self._ask(lambda process, deadline: process.evaluate(state, plies, deadline))

    def _ask(self, ask: Callable[[GnubgProcess, float], AnswerT], *, cubeful: bool = True) -> AnswerT:
        deadline = time.monotonic() + self._options.deadline
        return self._engines[cubeful].ask(lambda process: ask(process, deadline), deadline)
