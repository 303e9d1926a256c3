"""The score sheet of a match: what each game came to."""

from __future__ import annotations

from typing import Final

from attrs import define, field, frozen
from rich.box import SIMPLE_HEAD
from rich.table import Table

from fibsbot.bot.track import Side, Track
from protocol import messages as m
from protocol.messages import Message

_LEVELS: Final = {1: "single", 2: "gammon", 3: "backgammon"}


@frozen
class GameLine:
    """One game."""

    winner: str
    points: int
    cube: int
    """The cube's value at the end; a double that was refused does not raise it."""
    ending: str
    """`single`, `gammon` or `backgammon`, `resigned` and how much, or `passed` for a double."""
    turns: int
    """Of both players."""
    score: tuple[int, int]
    """Afterwards."""


@define
class Sheet:
    """The score sheet, kept by whoever follows one player's side of the match."""

    player: str
    opponent: str = "?"
    games: list[GameLine] = field(factory=list)
    winner: str | None = None
    """Of the match, once it is over."""
    _turns: int = 0

    def note(self, message: Message, before: Track, after: Track) -> None:
        """Take in a message of the server, with the match before and after it."""
        match message:
            case m.OpponentJoined(name=name) | m.YouJoined(name=name):
                self.opponent = name
            case m.GameStarts():
                self._turns = 0
            case m.FirstMove() | m.Rolls():
                self._turns += 1
            case m.GameWon() | m.GaveUp() | m.ResignAccepted():
                self._note_game(message, before, after)
            case m.MatchWon():
                self.winner = self._name(message.winner)

    def _note_game(self, message: m.GameWon | m.GaveUp | m.ResignAccepted, before: Track, after: Track) -> None:
        if before.state is None or after.state is None:
            return
        cube = before.state.cube
        if isinstance(message, m.GaveUp):
            ending = "passed"
        else:
            level = _LEVELS.get(message.points // cube, f"{message.points} points")
            ending = (
                level
                if isinstance(message, m.GameWon)
                else "resigned"
                if message.points == cube
                else f"resigned {level}"
            )
        winner = self.player if before.side_of(message.winner) is Side.PLAYER else self.opponent
        self.games.append(GameLine(winner, message.points, cube, ending, self._turns, after.state.score))

    def _name(self, name: str) -> str:
        return self.opponent if name == self.opponent else self.player

    def table(self) -> Table:
        """Return the sheet as a table."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        for name in ("game", "winner", "ending", "cube", "points", "turns", self.player, self.opponent):
            table.add_column(name, no_wrap=True)
        for column in (table.columns[0], *table.columns[3:]):
            column.justify = "right"
        for number, game in enumerate(self.games, 1):
            row = (number, game.winner, game.ending, game.cube, game.points, game.turns, *game.score)
            table.add_row(*map(str, row))
        return table
