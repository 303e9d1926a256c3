"""The settings of a duel (strategies, rules, length, seed), and the dice that follow from the seed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from attrs import asdict, evolve, field, frozen
from attrs.validators import ge, gt

from fibsbot.games import load_ruleset
from fibsbot.games.backgammons import position_of
from fibsbot.match import Dice
from fibsbot.position import Position
from fibsbot.rules.law_words import parse_law_words
from fibsbot.rules.laws import FIBS, Laws
from fibsbot.workers.processes import WorkerLostError

MONEY_CUBE_LIMIT: Final = 4096
"""Limit of the cube in money games: strategies that always double and take could make one game outweigh all others."""
DEFAULT_DEADLINE: Final = 60.0
"""Default seconds for a decision."""


class DuelError(Exception):
    """A duel cannot be played, or not to its end; the text is one line and says why."""


@contextlib.contextmanager
def lost_worker_named() -> Iterator[None]:
    """Turn the error of a lost worker into one that says which pair it was playing."""
    try:
        yield
    except WorkerLostError as error:
        raise DuelError(f"a process that played {error.item.key} {error}") from None


@frozen
class DuelPlan:
    """The settings of a duel, without the number of games: a duel may be continued."""

    strategies: tuple[str, str]
    """The names of A and B, as `--strategy` takes them."""
    length: int = field(default=0, validator=ge(0))
    """Points of a match; 0: single money games."""
    seed: int = 1
    cube: bool = True
    jacoby: bool = False
    """Money games: whether gammons count only after a double was taken."""
    beavers: bool = False
    """Money games: whether a player who is doubled may redouble at once."""
    judge: str | None = None
    """Name of the strategy that evaluates luck and errors; None leaves them out."""
    deadline: float = field(default=DEFAULT_DEADLINE, validator=gt(0))
    """Seconds for a decision, after which a fallback decides."""
    other_laws: str = ""
    """The words of other laws than those of FIBS; whether there is a cube is in `cube`."""
    game: str = ""
    """The tables game that is played, one for which `is_another_set_up` is true; empty for backgammon."""

    @property
    def start(self) -> Position:
        """The position before the first roll."""
        return position_of(load_ruleset(self.game).start()) if self.game else Position.start()

    @property
    def laws(self) -> Laws:
        """The laws of these games."""
        laws = parse_law_words(self.other_laws) if self.other_laws else FIBS
        return evolve(
            laws,
            cube=self.cube,
            cube_limit=None if self.length else MONEY_CUBE_LIMIT,
            jacoby=self.jacoby or laws.jacoby,
            redoubles=max(int(self.beavers), laws.redoubles),
        )

    @property
    def labels(self) -> tuple[str, str]:
        """The names of A and B, with a letter if they are the same."""
        a, b = self.strategies
        return (a, b) if a != b else (f"{a} A", f"{b} B")

    def settings(self) -> dict[str, Any]:
        """Return everything that the results depend on, in JSON types."""
        settings = {**asdict(self), "strategies": list(self.strategies)}
        return {key: value for key, value in settings.items() if value or key not in {"other_laws", "game"}}


OPENINGS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7) if a != b)
"""The 30 rolls of one die per player that do not tie."""
ROLLS: Final[tuple[Dice, ...]] = tuple((a, b) for a in range(1, 7) for b in range(1, 7))
"""The 36 rolls of two dice."""
BLOCK: Final = len(OPENINGS) * len(ROLLS)
"""Number of pairs that begin with every opening followed by every roll, each once."""


class GameDice:
    """The dice of one game of a pair.

    The first two rolls of a pair's first game are stratified: in a whole BLOCK of pairs none is more frequent than
    another, and every 30 pairs have every opening. Each is still as likely as any other, since their order is random.
    """

    def __init__(self, seed: int, pair: int, game: int) -> None:
        """Start the dice of a game of a pair, both counted from 0."""
        self._random = Random(f"{seed} {pair} {game}")  # a string is hashed, so neighbouring seeds are unrelated
        self._planned = list(_planned(seed, pair)) if game == 0 else []

    def opening(self) -> Dice:
        """Return the die of seat A and that of seat B, which differ."""
        return self._planned.pop(0) if self._planned else self._random_of(OPENINGS)

    def tie(self) -> bool:
        """Return whether the opening roll ties, for laws by which that raises the cube."""
        return self._random.random() < 1 / 6

    def roll(self) -> Dice:
        """Return the next roll, the higher die first."""
        dice = self._planned.pop(0) if self._planned else self._random_of(ROLLS)
        return max(dice), min(dice)

    def _random_of(self, ways: tuple[Dice, ...]) -> Dice:
        # Only random() is guaranteed to return the same numbers in every version of Python.
        return ways[int(len(ways) * self._random.random())]


def _planned(seed: int, pair: int) -> tuple[Dice, Dice]:
    block, index = divmod(pair, BLOCK)
    random = Random(f"{seed} block {block}")
    openings, rolls = _shuffled(random, OPENINGS), _shuffled(random, ROLLS)
    row, column = divmod(index, len(OPENINGS))
    return openings[column], rolls[(row + index) % len(ROLLS)]


def _shuffled(random: Random, ways: tuple[Dice, ...]) -> list[Dice]:
    keys = {way: random.random() for way in ways}
    return sorted(ways, key=lambda way: keys[way])
