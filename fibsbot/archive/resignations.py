"""Judging resignations: the game is put together from a row of `decisions`, and analysed as `analyse` does.

They are few, so that each is analysed by itself.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.model import AnalysedDecision
from fibsbot.analysis.selection import ACCEPT, RESIGN
from fibsbot.archive.tracking import BEAVER, STAGES
from fibsbot.engine.engine import Engine
from fibsbot.match import Dice, MatchState, Owner
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.transcript import Decision, Resign, Step

KINDS: Final = (RESIGN, ACCEPT)
ACCEPTED: Final = "accept"
"""What is decided where a resignation is accepted."""

_STAGES: Final = {word: stage for stage, word in STAGES.items()} | {BEAVER: Stage.DOUBLED}


class OfferedResignation(NamedTuple):
    """A resignation, or the answer to one, seen by the player who decided."""

    kind: str
    action: str
    level: Level
    stage: str
    own_move: bool
    dice: Dice | None
    state: MatchState
    """The position and what it depends on besides; the phase does not matter."""

    @property
    def game(self) -> GameState:
        """The game before the resignation; the player who decided has seat A."""
        state, stage = self.state, _STAGES[self.stage]
        mover = Seat.A if self.own_move else Seat.B
        turn, answering = mover, None
        if stage is Stage.DOUBLED:
            turn, answering = (mover if self.stage == BEAVER else mover.other), mover
        laws = Laws(
            "",
            cube=not state.cubeless,
            jacoby=state.jacoby,
            redoubles=state.redoubles,
            triple=state.triple,
            point_game=state.point_game,
        )
        return GameState(
            laws=laws,
            length=state.length,
            scores=state.score,
            crawford=state.crawford,
            post_crawford=state.post_crawford,
            board=state.position if turn is Seat.A else state.position.swapped(),
            turn=turn,
            stage=stage,
            dice=self.dice if stage is Stage.MOVE else None,
            cube=state.cube,
            owner={Owner.CENTRED: None, Owner.PLAYER: Seat.A, Owner.OPPONENT: Seat.B}[state.owner],
            offered=2 * state.cube if stage is Stage.DOUBLED else 0,
            answering=answering,
        )

    @property
    def decision(self) -> Decision:
        """The decision of the player."""
        accepted = self.action == ACCEPTED
        offers = self.kind == RESIGN
        before = self.game
        entry = Resign(seat=Seat.A if offers else Seat.B, level=self.level, accepted=accepted)
        return Decision(Step(1, 0, before, entry, before), Seat.A, self.state, self.level if offers else accepted)


class ResignationJudge:
    """Judges the resignations of one match."""

    def __init__(self, engine: Engine, plies: int) -> None:
        self._analyser = DecisionAnalyser(EngineStrategy(str(plies), engine=engine))

    def judge(self, offered: OfferedResignation) -> AnalysedDecision:
        """Return what a resignation, or the answer to one, was worth."""
        return self._analyser.analyse(offered.decision)
