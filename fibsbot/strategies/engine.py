"""The strategy `engine`: every decision follows from our own engine. It is an evaluator as well.

The engine itself is imported when a strategy is made, not before: listing strategies must stay quick.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from attrs import frozen

from fibsbot.engine import MAX_PLIES
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.evaluator import CubeValues, PlayValue, PositionValue

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine

__all__ = ["EngineStrategy"]


_PLIES: Final = ("plies", "chequer", "cube")


@frozen
class EngineOptions:
    """How far the engine looks. Plies are counted as GNU Backgammon does: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    time: float | None = None
    """Seconds for a decision, within which it looks as many of these plies ahead as it can."""
    networks: Path | None = None
    """The folder of other networks than those that come along."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=3`, `chequer=2`, `cube=1`, `time=0.5` and `networks=FOLDER` with commas between them.

        With a time and no plies it looks as far as there is time. Raises ValueError.
        """
        values: dict[str, float] = {}
        networks = None
        for part in filter(None, text.split(",")):
            name, equals, number = part.partition("=")
            if not equals:
                name, number = "plies", part
            name = name.strip()
            if name == "networks" and number.strip():
                networks = Path(number.strip())
            elif name == "time" and re.fullmatch(r" *[0-9]{1,5}(\.[0-9]{1,3})? *", number) and float(number) > 0:
                values[name] = float(number)
            elif name in _PLIES and re.fullmatch(rf" *[0-{MAX_PLIES}] *", number):
                values |= dict.fromkeys(("chequer", "cube") if name == "plies" else (name,), int(number))
            else:
                raise ValueError(
                    f"expected plies from 0 to {MAX_PLIES}, or plies=, chequer=, cube=, time= and networks= with "
                    f"commas between them, got {part!r}"
                )
        time = values.get("time")
        default = cls() if time is None else cls(MAX_PLIES, MAX_PLIES)
        chequer, cube = (int(values.get(name, getattr(default, name))) for name in ("chequer", "cube"))
        return cls(chequer, cube, time, networks)


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
        from fibsbot.strategies.engine_decisions import EngineDecisions  # noqa: PLC0415

        self._mind = EngineDecisions.of(
            engine or (Engine.load(parsed.networks) if parsed.networks else Engine.load()), parsed
        )

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
