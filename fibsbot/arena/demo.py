"""`fibsbot demo`: the display of a whole match of any game, and the commentators who say what both players do."""

from __future__ import annotations

from collections import deque
from functools import partial
from types import TracebackType
from typing import Final, Self

from attrs import define, field
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.arena.both_sides import BothSides
from fibsbot.arena.match_board import MatchBoard
from fibsbot.arena.score_sheet import GameResult, ScoreSheet
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.drawing.coloured_board import styled_board
from fibsbot.drawing.markup import clean
from fibsbot.text import plural

LONGEST_REASON: Final = 200
"""Characters of the reason why a strategy had no answer."""
LAST_LINES: Final = 6
"""Number of lines below a board that is redrawn."""


class Display:
    """Shows a match by the messages of both players: in a terminal a board that is redrawn, else lines and boards."""

    def __init__(self, console: Console, board: MatchBoard) -> None:
        """Show a match on a console; `board` is its board."""
        self.board = board
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
        drawing = self.board.draw()
        if drawing and not self._live:
            self._console.print(Text("\n".join(["", *drawing, ""])))

    def show_board(self, message: m.Board | m.TableBoard) -> None:
        """Take over the board of a message; print it if it is the first one and shows a set-up that few know."""
        is_first = not self.board.draw()
        self.board.take(message)
        self.refresh()
        if is_first and self.board.shows_setup:
            self.print_board()

    def refresh(self) -> None:
        """Redraw the present board, in a terminal."""
        drawing = self.board.draw() if self._live else []
        if self._live and drawing:
            lines = Text("\n".join(self._last), style="dim")
            self._live.update(Group(Padding(styled_board(drawing), (1, 0)), lines), refresh=True)


@define
class Commentator(Observer):
    """Prints what the opponent of one player does; with one for each player the whole match is printed.

    The server sends a player only the opponent's plays.
    """

    display: Display
    sheet: ScoreSheet
    leads: bool
    """Whether the match is shown from this player's side."""
    _before: TrackedMatch = field(factory=lambda: TrackedMatch(""))
    """The match before the next message."""
    _numbers: tuple[int, ...] = ()
    """What the opponent has to play: the last roll, or the part of a turn that came last."""

    @property
    def player(self) -> str:
        """The player whose messages these are."""
        return self.sheet.player if self.leads else self.sheet.opponent

    @property
    def opponent(self) -> str:
        """The player whose actions are printed."""
        return self.sheet.opponent if self.leads else self.sheet.player

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Note a play of the player, which the opponent's commentator prints."""
        if isinstance(command, c.Move):
            self.display.both_sides.played(leads=self.leads)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Print that the player's strategy had no answer."""
        if record.name == "fallback":
            reason = clean(str(record.fields.get("reason")), LONGEST_REASON)
            self.display.print(f"{reason}; the fallback decides")

    def on_message(self, message: Message, agent: Agent) -> None:
        """Print the meaning of a message."""
        before, self._before = self._before, agent.tracked
        handler = partial(self._handle, message, before, agent.tracked)
        self.display.both_sides.handle(message, handler, leads=self.leads)

    def _handle(self, message: Message, before: TrackedMatch, after: TrackedMatch) -> None:
        if self.leads:
            self._show(message, after)
            result = self.sheet.note(message, before, after)
            if result is not None:
                self._show_result(message, result, after)
        self._note_numbers(message)
        text = self._action_text(message, before)
        if text:
            self.display.print(f"{self.opponent} {text}", with_board=isinstance(message, m.OpponentDoubles))

    def _show(self, message: Message, after: TrackedMatch) -> None:
        """Print what belongs to neither player; `after` is the match after the message."""
        show = self.display
        match message:
            case m.Board() | m.TableBoard():
                show.show_board(message)
            case m.GameStarts():
                show.print(f"Game {len(self.sheet.games) + 1}")
            case m.MatchLaws(text=text) if after.laws is not None and not after.game:
                show.print(f"The match is played by {text}.")
            case m.CubeRaised(cube) if after.opening:
                show.print(f"Both roll {next(iter(after.opening.values()))}: the cube shows {cube}.")
            case m.OpeningRoll() | m.FirstMove():
                beginning = show.board.beginning(message)
                if beginning:
                    show.print(beginning)
            case m.Score(length=length) if self.sheet.games:
                own, theirs = self.sheet.games[-1].score
                score = f"{self.sheet.player} {own}, {self.sheet.opponent} {theirs}"
                show.print(f"Score in the match to {length}: {score}\n")

    def _show_result(self, message: Message, game: GameResult, after: TrackedMatch) -> None:
        """Print how a game has ended, with its last board."""
        self.display.board.take_end(after)
        points = plural(game.points, "point")
        match message:
            case m.GameDrawn():
                text = f"Nobody wins: {game.ending}."
            case m.GameWonBy():
                text = f"{game.winner} wins {points}, having {game.ending}."
            case _:
                text = f"{game.winner} wins {points} ({game.ending})."
        self.display.print(text, with_board=True)

    def _note_numbers(self, message: Message) -> None:
        match message:
            case m.OpeningRoll(player_die=own, opponent_die=other):
                self._numbers = (other, own)
            case m.Rolls(player=self.opponent, dice=numbers) | m.RollsThree(player=self.opponent, dice=numbers):
                self._numbers = numbers
            case m.NextPart(player=self.opponent, numbers=numbers):
                self._numbers = numbers

    def _action_text(self, message: Message, before: TrackedMatch) -> str | None:
        """Return what the opponent did as text, without the name."""
        if getattr(message, "player", getattr(message, "loser", None)) != self.opponent:
            return None
        board, text = self.display.board, _ACTIONS.get(type(message))
        match message:
            case m.Moves(moves=moves):
                self.sheet.count_turn()
                text = board.play(moves, before, to_player=self.leads)
            case m.CannotMove():
                self.sheet.count_turn()
                text = f"{board.numbers(self._numbers)} cannot move"
            case m.RollRejected(cube=cube):
                text = f"{board.numbers(self._numbers)} rejects the roll, the cube shows {cube}"
            case m.OpponentDoubles() if before.state:
                text = f"doubles to {2 * before.state.cube}"
            case m.NumberNamed(naming=naming, number=number):
                text = f"names the {naming.value} {number}"
            case m.RestLeft():
                text = f"leaves the rest of the turn to {self.player}"
        return text


_ACTIONS: Final = {
    m.DoubleAccepted: "takes",
    m.GaveUp: "passes",
    m.ResignOffer: "wants to resign",
    m.ResignRejected: "rejects the resignation",
    m.RollsAgain: "rolls again",
}
