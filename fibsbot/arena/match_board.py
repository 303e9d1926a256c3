"""The board of a match in the demo, and whatever else there depends on the lines by which a server shows a game.

Backgammon comes in `board:` lines, every other game in `table:` lines (docs/reference/protocol.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.drawing import draw
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, FibsMove
from fibsbot.arena.score_sheet import COLUMNS, COLUMNS_WITH_REASONS, Column
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.drawing.board_text import draw_game
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import cells_from_position, play_from_fibs
from fibsbot.notation.play_notation import format_play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.general_plays import check_play
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import game_from_state, play_of_moves


class MatchBoard(ABC):
    """The present board of a match, seen by one player; it is kept from the messages to both."""

    columns: ClassVar[tuple[Column, ...]]
    """The columns of the score sheet."""
    shows_setup: ClassVar[bool]
    """Whether the first board of a match is worth printing."""

    def __init__(self, player: str, opponent: str) -> None:
        """Take the names of the player who sees the board and of the other one."""
        self.player = player
        self.opponent = opponent

    @abstractmethod
    def draw(self) -> list[str]:
        """Return the lines of the present board, none before the first one."""

    @abstractmethod
    def take(self, message: Message) -> None:
        """Take over the board that a message to the player shows."""

    @abstractmethod
    def take_end(self, after: TrackedMatch) -> None:
        """Show how a game has ended, and the score after it; the server sends no board for it."""

    @abstractmethod
    def beginning(self, message: Message) -> str | None:
        """Return what a message says of how a game begins, or None."""

    @abstractmethod
    def numbers(self, numbers: tuple[int, ...]) -> str:
        """Return what was rolled, as it stands before a play."""

    @abstractmethod
    def play(self, moves: tuple[FibsMove, ...], before: TrackedMatch, *, to_player: bool) -> str | None:
        """Return the numbers and the play of a message to the player, or else to the opponent.

        Where no board comes after a play, it is made on the present one. None: it is not known what was played.
        """

    def _name(self, name: str) -> str:
        return self.player if name == YOU else name


class BackgammonBoard(MatchBoard):
    """The board of a match that `board:` lines show."""

    columns = COLUMNS
    shows_setup = False
    _board: BoardState | None = None

    def draw(self) -> list[str]:
        """Return the lines of the present board, none before the first one."""
        return [] if self._board is None else draw(self._board, own_name=self._name(self._board.player))

    def take(self, message: Message) -> None:
        """Take over the board of a `board:` line."""
        if isinstance(message, m.Board):
            self._board = message.state

    def take_end(self, after: TrackedMatch) -> None:
        """Show the position in which a game has ended, and the score after it."""
        board, state = self._board, after.state
        if board is None or state is None:
            return
        position = state.position
        self._board = evolve(
            board,
            score=state.score[0],
            opponent_score=state.score[1],
            points=cells_from_position(position, board.colour, board.direction),
            turn=None,
            dice=(0, 0),
            opponent_dice=(0, 0),
            off=position.off,
            opponent_off=position.opponent_off,
            on_bar=position.bar,
            opponent_on_bar=position.opponent_bar,
        )

    def beginning(self, message: Message) -> str | None:
        """Return who has the first move; the last board is still that of the game before."""
        return f"{self._name(message.player)} has the first move." if isinstance(message, m.FirstMove) else None

    def numbers(self, numbers: tuple[int, ...]) -> str:
        """Return a roll, the higher die first."""
        return roll_text(numbers)

    def play(self, moves: tuple[FibsMove, ...], before: TrackedMatch, *, to_player: bool) -> str | None:  # noqa: ARG002 - a board comes
        """Return the roll and the play; its board comes."""
        if before.state is None or before.direction is None or before.dice is None:
            return None
        play = play_from_fibs(moves, -before.direction)
        return f"{roll_text(before.dice)} {format_play(play, before.state.position.swapped())}"


class RulesetBoard(MatchBoard):
    """The board of a match that `table:` lines show."""

    columns = COLUMNS_WITH_REASONS
    shows_setup = True
    _game: GameState | None = None
    _seat: Seat = Seat.A
    """The player's seat in the game: A by lines to the player, B by those to the opponent."""

    def draw(self) -> list[str]:
        """Return the lines of the present board, none before the first one."""
        if self._game is None:
            return []
        names = (self.player, self.opponent)
        return draw_game(self._game, self._seat, names if self._seat is Seat.A else names[::-1])

    def take(self, message: Message) -> None:
        """Take over the board of a `table:` line."""
        if isinstance(message, m.TableBoard):
            self._game, self._seat = game_from_state(message.state), Seat.A

    def take_end(self, after: TrackedMatch) -> None:
        """Show that a game is over, and the score after it; its last play has been made."""
        if self._game is not None and after.state is not None:
            score = after.state.score
            self._game = fast_evolve(
                self._game,
                scores=score if self._seat is Seat.A else score[::-1],
                stage=Stage.OVER,
                dice=None,
                todo=(),
                resignation=None,
            )

    def beginning(self, message: Message) -> str | None:
        """Return the opening roll."""
        if not isinstance(message, m.OpeningRoll):
            return None
        return f"{self.player} rolls {message.player_die}, {self.opponent} {message.opponent_die}."

    def numbers(self, numbers: tuple[int, ...]) -> str:
        """Return numbers in the order in which they may have to be played."""
        return "-".join(map(str, numbers))

    def play(self, moves: tuple[FibsMove, ...], before: TrackedMatch, *, to_player: bool) -> str | None:
        """Return the numbers and the play, and make it: the next line may belong to the next game."""
        game = before.game_state
        if game is None:
            return None
        play = play_of_moves(moves)
        text = " ".join(map(str, play.moves))
        if game.stage is Stage.MOVE:
            try:
                made, sides = check_play(game.rules, game.sides, game.part, play)
            except PlayError:
                pass
            else:
                text = f"{self.numbers(game.part.numbers)}: {format_play(made, game)}"
                game = fast_evolve(game, board=sides, stage=Stage.OVER, dice=None, todo=())
        self._game, self._seat = game, Seat.A if to_player else Seat.B
        return text


def roll_text(dice: tuple[int, ...]) -> str:
    """Return a roll of two dice as it stands before a play."""
    high, low = sorted(dice, reverse=True)
    return f"{high}{low}:"
