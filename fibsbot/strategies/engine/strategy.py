"""The strategy `engine`: every decision follows from our own engine. It is a judge as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.engine.options import EngineOptions
from fibsbot.strategies.judge import CubeValues, PlayValue, PositionValue

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine


class EngineStrategy:
    """Play by our own engine; `engine:2` looks 2 plies ahead, `engine:time=1.5` as far as that many seconds allow."""

    def __init__(self, options: str = "", *, engine: Engine | None = None) -> None:
        """Load the engine.

        Args:
            options: see `EngineOptions.parse`.
            engine: the engine, if it is another one than what comes along.

        Raises:
            ValueError: options that are none.
            NetworkError: the networks are missing or damaged.
        """
        self.name = f"engine:{options}" if options else "engine"
        parsed = EngineOptions.parse(options)
        # Who only asks which strategies there are need not wait for a compiler to be imported.
        from fibsbot.engine.engine import Engine  # noqa: PLC0415
        from fibsbot.strategies.engine.deciding import Mind  # noqa: PLC0415

        self._mind = Mind.of(engine or (Engine.load(parsed.networks) if parsed.networks else Engine.load()), parsed)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play that is worth most."""
        return self._mind.choose_play(state, plays)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double where that gains."""
        return self._mind.offer_double(state)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take what loses less than a pass, and beaver what wins."""
        return self._mind.answer_double(state)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept what is worth as much as playing on, even if it is our turn."""
        return self._mind.accept_resignation(state)

    def resign(self, state: MatchState) -> int:
        """Resign what is lost for certain."""
        return self._mind.resign(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody at any length that the policy allows."""
        return None

    def close(self) -> None:
        """Nothing is held."""

    @property
    def details(self) -> str:
        """Version, plies and networks."""
        return self._mind.details

    # -- as a judge -----------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return what the position is worth to the player on roll, who doubles where that gains."""
        return self._mind.value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return what the position is worth to the player on roll, with plies and chances."""
        return self._mind.value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return what each play is worth, none more than the one that the strategy would choose."""
        return self._mind.value_plays(state, plays)

    def value_rolls(self, state: MatchState) -> Sequence[float]:
        """Return what each of the 21 rolls is worth, played best."""
        return self._mind.value_rolls(state)

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return what each play is worth; the one that was made and those that come close are looked at as far."""
        return self._mind.compare_plays(state, plays, made)

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what doubling and not doubling is worth."""
        return self._mind.value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return how likely the match is won once this game has ended with so many points."""
        return self._mind.match_chance(state, points)
