"""The strategy `engine`, which plays by our own engine. It is an evaluator as well.

The engine itself is imported when a strategy is made, not before: listing strategies must be quick.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from attrs import frozen

from fibsbot.engine import DEFAULT_TRIALS, MAX_PLIES, MAX_TRIALS
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.evaluator import CubeValues, PlayValue, PositionValue

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine

__all__ = ["EngineStrategy"]


_PLIES: Final = ("plies", "chequer", "cube")
_ROLLING: Final = {"trials": range(1, MAX_TRIALS + 1), "seed": range(1_000_000), "threads": range(1, 1_000_000)}
"""The values of each option of rollouts."""


@frozen
class EngineOptions:
    """How far the engine looks ahead. Plies are counted as by GNU Backgammon: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    time: float | None = None
    """Seconds for a decision, in which it looks as many of these plies ahead as it can."""
    networks: Path | None = None
    """Folder of networks to use instead of the bundled ones."""
    rollout: bool = False
    """Whether close decisions are rolled out."""
    trials: int = DEFAULT_TRIALS
    """The maximum number of games of a candidate."""
    seed: int = 1
    """The random seed of the dice of rollouts."""
    threads: int = 1
    """How many candidates are rolled out at the same time."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=3`, `chequer=2`, `cube=1`, `time=0.5` and `networks=FOLDER` with commas between them.

        With a time and no plies it looks ahead as far as the time allows. With `rollout` it rolls out close decisions,
        as long as the time allows if there is one; `trials=144`, `seed=1` and `threads=2` belong to that. Raises
        ValueError.
        """
        values: dict[str, float] = {}
        rolling: dict[str, int] = {}
        networks, rollout = None, False
        for part in filter(None, text.split(",")):
            name, equals, number = part.partition("=")
            if part.strip() == "rollout":
                rollout = True
                continue
            if not equals:
                name, number = "plies", part
            name = name.strip()
            if name == "networks" and number.strip():
                networks = Path(number.strip())
            elif name == "time" and re.fullmatch(r" *[0-9]{1,5}(\.[0-9]{1,3})? *", number) and float(number) > 0:
                values[name] = float(number)
            elif name in _ROLLING and re.fullmatch(r" *[0-9]{1,7} *", number) and int(number) in _ROLLING[name]:
                rolling[name] = int(number)
            elif name in _PLIES and re.fullmatch(rf" *[0-{MAX_PLIES}] *", number):
                values |= dict.fromkeys(("chequer", "cube") if name == "plies" else (name,), int(number))
            else:
                raise ValueError(
                    f"expected plies from 0 to {MAX_PLIES}, or plies=, chequer=, cube=, time=, networks=, rollout, "
                    f"trials=, seed= and threads= with commas between them, got {part!r}"
                )
        if rolling and not rollout:
            raise ValueError(f"expected {next(iter(rolling))}= with rollout, got it without")
        time = values.get("time")
        default = cls() if time is None or rollout else cls(MAX_PLIES, MAX_PLIES)
        chequer, cube = (int(values.get(name, getattr(default, name))) for name in ("chequer", "cube"))
        return cls(chequer, cube, time, networks, rollout, **rolling)


class EngineStrategy:
    """Play by our own engine; `engine:2` looks 2 plies ahead, `engine:time=1.5` as far as that many seconds allow.

    `engine:rollout` rolls out close decisions, `engine:rollout,time=3` as long as that many seconds allow.
    """

    def __init__(self, options: str = "", *, engine: Engine | None = None) -> None:
        """Load the engine.

        Args:
            options: see `EngineOptions.parse`.
            engine: the engine to use instead of the bundled one.

        Raises:
            ValueError: the options are invalid.
            NetworkError: the networks are missing or damaged.
        """
        self.name = f"engine:{options}" if options else "engine"
        parsed = EngineOptions.parse(options)
        # Listing the strategies must not import the compiler.
        from fibsbot.engine.engine import Engine  # noqa: PLC0415
        from fibsbot.strategies.engine_decisions import EngineDecisions  # noqa: PLC0415

        self._decisions = EngineDecisions.of(
            engine or (Engine.load(parsed.networks) if parsed.networks else Engine.load()), parsed
        )

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the best play."""
        return self._decisions.choose_play(state, plays)

    def reject_roll(self, state: MatchState) -> bool:
        """Reject the roll if a new one at twice the cube is worth more."""
        return self._decisions.reject_roll(state)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if that gains."""
        return self._decisions.offer_double(state)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take if that loses less than a pass, and beaver if it wins."""
        return self._decisions.answer_double(state)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is worth as much as playing on, even with the roll."""
        return self._decisions.accept_resignation(state)

    def resign(self, state: MatchState) -> int:
        """Resign a game that is certainly lost."""
        return self._decisions.resign(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept every opponent and length that the policy accepts."""
        return None

    def forget(self) -> None:
        """Forget evaluated positions: it then answers as a new strategy, to the last digit."""
        self._decisions.engine.forget()

    def close(self) -> None:
        """Release nothing."""

    @property
    def details(self) -> str:
        """Version, plies and networks."""
        return self._decisions.details

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return self._decisions.value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        return self._decisions.value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return the value of each play, none higher than that of the strategy's choice."""
        return self._decisions.value_plays(state, plays)

    def value_rolls(self, state: MatchState) -> Sequence[float]:
        """Return the value of the best play of each of the 21 rolls."""
        return self._decisions.value_rolls(state)

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return the value of each play; the one that was made is searched as deep as the best ones."""
        return self._decisions.compare_plays(state, plays, made)

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        return self._decisions.value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost."""
        return self._decisions.match_chance(state, points)
