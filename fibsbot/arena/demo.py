"""`fibsbot demo`: the display of a whole match, in the order in which things happened, and its score sheet."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Final, Self, TypeAlias

from attrs import define, evolve, field, frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.drawing import draw
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.draw.coloured_board import styled_board
from fibsbot.draw.markup import clean
from fibsbot.fibs_numbering import cells_from_position, play_from_fibs
from fibsbot.notation import format_play
from fibsbot.position import Position
from fibsbot.text import plural

Handler: TypeAlias = Callable[[], None]


class _Step(enum.Enum):
    """What a message means for the order."""

    ACTION = "the player's own play, or the rest of a turn left, which the other side's connection reports"
    REPORT = "the opponent's play, or the rest of a turn that the opponent leaves"
    END = "the end of a game, which both sides hear"
    OTHER = "anything else"


_ENDS: Final = (m.GameWon, m.GaveUp, m.ResignAccepted, m.GameWonBy, m.GameDrawn)


def _step(message: Message) -> _Step:
    if isinstance(message, _ENDS):
        return _Step.END
    if isinstance(message, m.CannotMove | m.RestLeft) and message.player == YOU:
        return _Step.ACTION
    return _Step.REPORT if isinstance(message, m.Moves | m.CannotMove | m.RestLeft) else _Step.OTHER


@define
class _Side:
    held: deque[tuple[_Step, Handler]] = field(factory=deque)
    reports: int = 0
    """Plays of the opponent that were handled, less those for which the opponent's side has waited."""


@define
class BothSides:
    """Handles the messages of both players in the order in which things happened.

    Each player hears only the opponent's plays, by a connection of its own, so that the answer to a play may arrive
    before the play. What follows a play waits until the other side has reported it, and the end of a game until both
    have heard of it.
    """

    _sides: tuple[_Side, _Side] = field(factory=lambda: (_Side(), _Side()))

    def handle(self, message: Message, handler: Handler, *, leads: bool) -> None:
        """Call the handler of a message of the side that leads or of the other one, at once unless it has to wait."""
        self._take(_step(message), handler, leads=leads)

    def played(self, *, leads: bool) -> None:
        """Note that a player has sent a play."""
        self._take(_Step.ACTION, lambda: None, leads=leads)

    def flush(self) -> None:
        """Call all handlers that still wait: nothing more comes."""
        for side in self._sides:
            while side.held:
                side.held.popleft()[1]()

    def _take(self, step: _Step, handler: Handler, *, leads: bool) -> None:
        self._sides[0 if leads else 1].held.append((step, handler))
        while self._handle_one():
            pass

    def _handle_one(self) -> bool:
        """Handle what can be handled next; return whether there was anything."""
        for side, other in (self._sides, self._sides[::-1]):
            if not side.held:
                continue
            step, handler = side.held[0]
            if step is _Step.ACTION:
                if not other.reports:
                    continue
                other.reports -= 1
            elif step is _Step.REPORT:
                side.reports += 1
            elif step is _Step.END and not (other.held and other.held[0][0] is _Step.END):
                continue
            side.held.popleft()
            handler()
            if step is _Step.END:
                other.held.popleft()[1]()
            return True
        return False


LONGEST_REASON: Final = 200
"""Characters of the reason why a strategy had no answer."""


LAST_LINES: Final = 6
"""Number of lines below a board that is redrawn."""


class LiveDisplay(ABC):
    """Shows a match by the messages of both players: in a terminal a board that is redrawn, else lines and boards."""

    def __init__(self, console: Console, player: str) -> None:
        """Show the match from this player's side."""
        self.player = player
        self.both_sides = BothSides()
        self._console = console
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._live = Live(console=console, auto_refresh=False, transient=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.both_sides.flush()
        if self._live:
            self._live.stop()

    @abstractmethod
    def _drawing(self) -> list[str]:
        """Return the lines of the present board, none before the first one."""

    def print(self, line: str, *, with_board: bool = False) -> None:
        """Print what happened; with `with_board` the board as well, if it is not redrawn anyway."""
        self._last.append(line)
        if self._live:
            self.refresh()
            return
        self._console.print(line, markup=False, highlight=False)
        if with_board:
            self.print_board()

    def print_board(self) -> None:
        """Print the present board, if there is one and it is not redrawn anyway."""
        drawing = self._drawing()
        if drawing and not self._live:
            self._console.print(Text("\n".join(["", *drawing, ""])))

    def refresh(self) -> None:
        """Redraw the present board, in a terminal."""
        drawing = self._drawing() if self._live else []
        if self._live and drawing:
            lines = Text("\n".join(self._last), style="dim")
            self._live.update(Group(Padding(styled_board(drawing), (1, 0)), lines), refresh=True)


class PlayerCommentator(Observer):
    """Tells a display what one player does; the subclasses tell what the messages to the player mean."""

    display: LiveDisplay
    leads: bool
    """Whether the match is shown from this player's side."""

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Note a play of the player, which the opponent's commentator prints."""
        if isinstance(command, c.Move):
            self.display.both_sides.played(leads=self.leads)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Print that the player's strategy had no answer."""
        if record.name == "fallback":
            reason = clean(str(record.fields.get("reason")), LONGEST_REASON)
            self.display.print(f"{reason}; the fallback decides")


_LEVELS: Final = {1: "single", 2: "gammon", 3: "backgammon"}


@frozen
class GameResult:
    """The result of a game."""

    winner: str
    points: int
    cube: int
    """The cube's value at the end; a double that was passed does not raise it."""
    ending: str
    """`single`, `gammon`, `backgammon`, `resigned` with the level, or `passed`."""
    turns: int
    """Of both players."""
    score: tuple[int, int]
    """Afterwards."""


@define
class ScoreSheet:
    """The score sheet of a match, built from the messages of one player's side."""

    player: str
    opponent: str = "?"
    games: list[GameResult] = field(factory=list)
    winner: str | None = None
    """Of the match, once it is over."""
    _turns: int = 0

    def note(self, message: Message, before: TrackedMatch, after: TrackedMatch) -> None:
        """Update the sheet by a message of the server; the match is given before and after it."""
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

    def _note_game(
        self, message: m.GameWon | m.GaveUp | m.ResignAccepted, before: TrackedMatch, after: TrackedMatch
    ) -> None:
        if before.state is None or after.state is None:
            return
        cube = before.state.cube
        if isinstance(message, m.GaveUp):
            ending = "passed"
        else:
            point_game = before.laws is not None and before.laws.point_game
            points = f"scores {message.points // cube}"
            level = points if point_game else _LEVELS.get(message.points // cube, f"{message.points} points")
            ending = (
                level
                if isinstance(message, m.GameWon)
                else "resigned"
                if message.points == cube
                else f"resigned {level}"
            )
        winner = self.player if before.side_of(message.winner) is PlayerSide.PLAYER else self.opponent
        self.games.append(GameResult(winner, message.points, cube, ending, self._turns, after.state.score))

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


class MatchDisplay(LiveDisplay):
    """Shows a match of backgammon."""

    def __init__(self, console: Console, player: str) -> None:
        """Show the match from this player's side."""
        super().__init__(console, player)
        self.sheet = ScoreSheet(player)
        self._board: BoardState | None = None

    def show_board(self, board: BoardState) -> None:
        """Show the present board."""
        self._board = board
        self.refresh()

    def show_final_position(self, position: Position, score: tuple[int, int]) -> None:
        """Show the position in which a game has ended, and the score after it, both seen by the player.

        The server sends no board for it.
        """
        board = self._board
        if board is not None:
            self.show_board(
                evolve(
                    board,
                    score=score[0],
                    opponent_score=score[1],
                    points=cells_from_position(position, board.colour, board.direction),
                    turn=None,
                    dice=(0, 0),
                    opponent_dice=(0, 0),
                    off=position.off,
                    opponent_off=position.opponent_off,
                    on_bar=position.bar,
                    opponent_on_bar=position.opponent_bar,
                )
            )

    def _drawing(self) -> list[str]:
        board = self._board
        if board is None:
            return []
        return draw(board, own_name=self.player if board.player == YOU else board.player)


@frozen
class Commentator(PlayerCommentator):
    """Prints what the opponent of one player does; with one for each player the whole match is printed.

    The server sends a player only the opponent's moves.
    """

    display: MatchDisplay
    opponent: str
    leads: bool
    """Whether the match is shown from this player's side."""
    _tracks: list[TrackedMatch] = field(factory=lambda: [TrackedMatch("")])
    """The match before the next message."""

    def on_message(self, message: Message, agent: Agent) -> None:
        """Print the meaning of a message."""
        before, after = self._tracks[0], agent.tracked
        self._tracks[0] = after
        self.display.both_sides.handle(message, partial(self._take, message, before, after), leads=self.leads)

    def _take(self, message: Message, before: TrackedMatch, after: TrackedMatch) -> None:
        if self.leads:
            self.display.sheet.note(message, before, after)
            self._show(message, after)
        text = self._action_text(message, before)
        if text:
            self.display.print(f"{self.opponent} {text}", with_board=isinstance(message, m.OpponentDoubles))

    def _show(self, message: Message, after: TrackedMatch) -> None:
        """Print what belongs to neither player; `after` is the match after the message."""
        show = self.display
        match message:
            case m.Board(state):
                show.show_board(state)
            case m.GameStarts():
                show.print(f"Game {len(show.sheet.games) + 1}")
            case m.MatchLaws(text=text) if after.laws is not None and not after.game:
                show.print(f"The match is played by {text}.")
            case m.CubeRaised(cube) if after.opening:
                show.print(f"Both roll {next(iter(after.opening.values()))}: the cube shows {cube}.")
            case m.FirstMove(player):
                name = show.sheet.player if player == YOU else player
                show.print(f"{name} has the first move.")  # the last board is still that of the game before
            case m.GameWon() | m.GaveUp() | m.ResignAccepted():
                game = show.sheet.games[-1]
                if after.state is not None:
                    show.show_final_position(after.state.position, game.score)
                show.print(f"{game.winner} wins {plural(game.points, 'point')} ({game.ending}).", with_board=True)
            case m.Score(length=length):
                game = show.sheet.games[-1]
                score = f"{show.sheet.player} {game.score[0]}, {show.sheet.opponent} {game.score[1]}"
                show.print(f"Score in the match to {length}: {score}\n")

    def _action_text(self, message: Message, before: TrackedMatch) -> str | None:
        """Return the opponent's action as text, without the name."""
        if getattr(message, "player", getattr(message, "loser", None)) != self.opponent:
            return None
        match message:
            case m.Moves(moves=moves) if before.state and before.direction and before.dice:
                play = play_from_fibs(moves, -before.direction)
                return f"{dice_text(before.dice)} {format_play(play, before.state.position.swapped())}"
            case m.CannotMove() if before.dice:
                return f"{dice_text(before.dice)} cannot move"
            case m.RollRejected(cube=cube) if before.dice:
                return f"{dice_text(before.dice)} rejects the roll, the cube shows {cube}"
            case m.OpponentDoubles() if before.state:
                return f"doubles to {2 * before.state.cube}"
        return _ACTIONS.get(type(message))


_ACTIONS: Final = {
    m.DoubleAccepted: "takes",
    m.GaveUp: "passes",
    m.ResignOffer: "wants to resign",
    m.ResignRejected: "rejects the resignation",
}


def dice_text(dice: tuple[int, ...]) -> str:
    """Return a roll as it stands before a play."""
    high, low = sorted(dice, reverse=True)
    return f"{high}{low}:"
