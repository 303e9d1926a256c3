"""`fibsbot demo --game chouette`: players at one table of the embedded server, and what is shown of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field
from rich.box import SIMPLE_HEAD
from rich.table import Table

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, Dice, FibsMove
from fibsbot.arena.chouette_player import NEXT_GAME, ChouetteObserver, ChouettePlayer, play_chouette
from fibsbot.arena.demo import MatchDisplay
from fibsbot.fibs_numbering import play_from_fibs, player_position
from fibsbot.notation import format_play
from fibsbot.rules.chouette import BOX, Chouette
from fibsbot.rules.laws import Level
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy

NAMES: Final = ("alice", "bob", "carol", "dave", "erin", "frank")
"""The players of the demo; the first one opens the table, and the table is shown from this player's side."""


@define
class ChouetteSheet:
    """The games of a chouette and the ledger after each of them."""

    games: list[Chouette] = field(factory=list)
    """Each as it was when it ended."""

    def table(self) -> Table:
        """Return the sheet as a table."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))  # narrow: six players fit into 80 columns
        names = list(self.games[-1].ledger)
        for name in ("game", "box", "captain", "winner", "cube", "points", *names):
            table.add_column(name, no_wrap=True)
        for column in (table.columns[0], *table.columns[4:]):
            column.justify = "right"
        for number, game in enumerate(self.games, 1):
            result = game.game.result
            points = 0 if result is None or not game.in_game else result.points
            winner = "box" if result is not None and result.winner is BOX else "team"
            ledger = (f"{game.ledger[name]:+d}" if game.ledger[name] else "0" for name in names)
            table.add_row(str(number), game.box, game.captain, winner, str(game.game.cube), str(points), *ledger)
        return table


@define(eq=False)
class ChouetteCommentator(ChouetteObserver):
    """Prints a chouette as one of its players sees it, and fills the sheet."""

    display: MatchDisplay
    sheet: ChouetteSheet
    player: str
    state: Callable[[], Chouette]
    """Returns the state of the table, which does not change before this player has acted or joined the next game."""
    _board: BoardState | None = None
    _dice: Dice = (0, 0)
    _doubled: bool = False
    """Whether the double that waits has been printed."""
    _doubler: str = ""
    """Who has doubled last."""

    def on_message(self, message: Message) -> None:
        """Print the meaning of a message."""
        match message:
            case m.ChouetteNews() | m.ChouetteTable() | m.ChouettePass() | m.ChouetteDropout() | m.ChouetteCaptain():
                self._print_news(write(message).removeprefix("chouette: "))
            case m.ChouetteResult(text=text):
                self.display.print(text)
            case m.ChouetteLedger(text):
                self.display.print(f"Ledger: {text}")
            case m.Board(state):
                self._board = state
                self.display.show_board(state)
            case m.FirstMove(player):
                self.display.print(f"{self._name(player)} has the first move.")
            case m.Rolls(player, dice):
                self._dice = dice
            case m.Moves(player, moves):
                self._print_play(player, moves)
            case m.CannotMove(player):
                self.display.print(f"{self._name(player)} {_dice_text(self._dice)} cannot move")
            case m.GameWon(winner, points):
                self.display.print(f"{self._name(winner)} bears off and wins a {self._level(points)}.")
            case _:
                self._note_double(message)

    def _note_double(self, message: Message) -> None:
        """Print a double, and the answer of the box; those of the members are news of the table."""
        match message:
            case m.OpponentDoubles(player) | m.WatchedDouble(player):
                self._print_double(player)
            case m.DoubleAccepted() | m.GaveUp() if self._doubled:
                self._doubled = False
                if self._doubler != self.state().box:
                    answer = "takes" if isinstance(message, m.DoubleAccepted) else "passes"
                    self.display.print(f"{self.state().box} {answer}.")

    def on_command(self, command: Command, board: BoardState) -> None:
        """Print what the player does, which the server does not repeat; members' answers are news of the table."""
        if isinstance(command, c.Move):
            self._dice = board.dice
            self._board = board
            self._print_play(YOU, command.moves)
        elif isinstance(command, c.Double):
            self._print_double(YOU)

    def _print_news(self, text: str) -> None:
        if text.startswith(NEXT_GAME):
            self.sheet.games.append(self.state())
            self.display.print(text[:1].upper() + text[1:] + "\n")
        else:
            self.display.print(text)

    def _print_play(self, player: str, moves: tuple[FibsMove, ...]) -> None:
        board = self._board
        if board is None:
            return
        own = player == board.player
        direction = board.direction if own else -board.direction
        position = player_position(board) if own else player_position(board).swapped()
        dice = self._dice if any(self._dice) else board.dice if any(board.dice) else board.opponent_dice
        play = play_from_fibs(moves, direction)
        self.display.print(f"{self._name(player)} {_dice_text(dice)} {format_play(play, position)}")
        self._dice = (0, 0)

    def _print_double(self, player: str) -> None:
        if not self._doubled:
            self._doubled = True
            self._doubler = self._name(player)
            value = 2 * self.state().game.cube
            self.display.print(f"{self._doubler} doubles to {value}.", with_board=True)

    def _level(self, points: int) -> str:
        level = Level(points // self.state().game.cube)
        return "single game" if level is Level.SINGLE else level.name.lower()

    def _name(self, player: str) -> str:
        return self.player if player == YOU else player


def _dice_text(dice: Dice) -> str:
    high, low = sorted(dice, reverse=True)
    return f"{high}{low}:"


async def play(  # noqa: PLR0913 - what the command was given
    display: MatchDisplay,
    strategies: Sequence[tuple[Strategy, Strategy]],
    *,
    games: int,
    seed: int | None,
    pause: float,
    log_path: Path | None,
) -> ChouetteSheet:
    """Play games of a chouette over TCP and show them; each player has a strategy and its fallback.

    Raises the errors of a ChouettePlayer in an ExceptionGroup.
    """
    sheet = ChouetteSheet()
    names = NAMES[: len(strategies)]
    async with Server(seed=seed, limits=SHORT_LIVED) as server:

        def state() -> Chouette:
            (table,) = server.world.tables
            if table.state is None:
                raise AssertionError("a game has begun")
            return table.state

        players = [
            ChouettePlayer(name, secrets.token_urlsafe(16), *pair, games=games, host=names[0], pause=pause)
            for name, pair in zip(names, strategies, strict=True)
        ]
        first = players[0]
        first.host, first.log_path = None, log_path
        first.observer = ChouetteCommentator(display, sheet, first.name, state)
        with display:
            await play_chouette(server, players)
    return sheet
