"""The score sheet of a match in the demo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attrs import define, field, frozen
from rich.box import SIMPLE_HEAD
from rich.table import Table

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch

NOBODY: Final = "nobody"
"""The winner of a game that was drawn."""
_LEVELS: Final = {1: "single", 2: "gammon", 3: "backgammon"}


@frozen
class GameResult:
    """The result of a game."""

    number: int
    winner: str
    points: int
    cube: int
    """The cube's value at the end; a double that was passed does not raise it."""
    ending: str
    """`single`, `gammon`, `backgammon`, `resigned` with the level, `passed`, or what the winner has done."""
    turns: int
    """Of both players."""
    score: tuple[int, int]
    """Afterwards."""


@frozen
class Column:
    """A column of a score sheet."""

    heading: str
    """`{player}` and `{opponent}` stand for names."""
    value: Callable[[GameResult], object]
    right: bool = False
    wraps: bool = False


_WINNER: Final = Column("winner", lambda game: game.winner)
_POINTS: Final = Column("points", lambda game: game.points, right=True)
_TURNS: Final = Column("turns", lambda game: game.turns, right=True)
COLUMNS: Final = (
    Column("game", lambda game: game.number, right=True),
    _WINNER,
    Column("ending", lambda game: game.ending),
    Column("cube", lambda game: game.cube, right=True),
    _POINTS,
    _TURNS,
    Column("{player}", lambda game: game.score[0], right=True),
    Column("{opponent}", lambda game: game.score[1], right=True),
)
"""The columns where a word says how a game ends."""
COLUMNS_WITH_REASONS: Final = (
    Column("game", lambda game: game.number),
    _WINNER,
    _POINTS,
    _TURNS,
    Column("how", lambda game: game.ending, wraps=True),
)
"""The columns where a part of a sentence says it."""


@define
class ScoreSheet:
    """The score sheet of a match, built from the messages to one player."""

    player: str
    opponent: str
    games: list[GameResult] = field(factory=list)
    winner: str | None = None
    """Of the match, once it is over."""
    _turns: int = 0

    def count_turn(self) -> None:
        """Count a play of the current game, or a part of one."""
        self._turns += 1

    def note(self, message: Message, before: TrackedMatch, after: TrackedMatch) -> GameResult | None:
        """Update the sheet by a message; return the result of the game that it ends, or None.

        The match is given before and after the message.
        """
        match message:
            case m.GameWon() | m.GameWonBy() | m.GaveUp() | m.ResignAccepted():
                winner = self._name(message.winner, before)
                return self._end_game(winner, message.points, _ending(message, before), after)
            case m.GameDrawn(reason=reason):
                return self._end_game(NOBODY, 0, reason, after)
            case m.MatchWon():
                self.winner = self._name(message.winner, before)
        return None

    def _name(self, name: str, tracked: TrackedMatch) -> str:
        return self.player if tracked.side_of(name) is PlayerSide.PLAYER else self.opponent

    def _end_game(self, winner: str, points: int, ending: str, after: TrackedMatch) -> GameResult | None:
        turns, self._turns = self._turns, 0
        if after.known is None:
            return None
        result = GameResult(
            number=len(self.games) + 1,
            winner=winner,
            points=points,
            cube=after.known.cube,
            ending=ending,
            turns=turns,
            score=after.known.score,
        )
        self.games.append(result)
        return result

    def table(self, columns: tuple[Column, ...]) -> Table:
        """Return the sheet as a table."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        for column in columns:
            heading = column.heading.format(player=self.player, opponent=self.opponent)
            table.add_column(heading, no_wrap=not column.wraps, justify="right" if column.right else "left")
        for game in self.games:
            table.add_row(*(str(column.value(game)) for column in columns))
        return table


def _ending(message: m.GameWon | m.GameWonBy | m.GaveUp | m.ResignAccepted, before: TrackedMatch) -> str:
    """Return how a game was won, in the words of `GameResult.ending`."""
    if isinstance(message, m.GameWonBy):
        return message.reason
    if isinstance(message, m.GaveUp):
        return "passed"
    cube = 1 if before.known is None else before.known.cube
    point_game = before.laws is not None and before.laws.point_game
    count = message.points // cube
    level = f"scores {count}" if point_game else _LEVELS.get(count, f"{message.points} points")
    if isinstance(message, m.GameWon):
        return level
    return "resigned" if message.points == cube else f"resigned {level}"
