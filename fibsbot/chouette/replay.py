"""The games of a chouette at which the user sits, each built as an unlimited match of one game.

Seat A is the user's side and seat B the other one: the box, or the team under the name of the captain with whom the
game began. The game is the one in which the user has points: for a member of the team it ends when the member passes
or drops out, even if others play on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from attrs import define, evolve

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU
from fibsbot.fibs_numbering import play_of_server_moves
from fibsbot.replay.board_view import BoardView
from fibsbot.replay.events import ChouetteGame, DifferenceFound, EntryAdded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.game_messages import END_HANDLERS, ENDINGS, ENTRY_HANDLERS, GameEnd, Time, acting_seat
from fibsbot.replay.match_builder import MatchBuilder
from fibsbot.replay.session_tracker import SessionTracker
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Cube, Player, Step

LAWS: Final = evolve(FIBS, crawford=False)
"""A chouette has neither the Jacoby rule nor instant redoubles, as FIBS without beavers."""
_DISCONNECTED: Final = frozenset([m.LoginPrompt, m.Goodbye, m.ConnectionTimedOut])
_OF_THE_SESSION: Final = frozenset([m.Welcome, m.OwnInfo, m.WhoInfo])
"""Messages that say something about the user or the players, whatever is played."""
_INTRODUCTIONS: Final = frozenset([m.YouJoined, m.OpponentJoined, m.YouResumed, m.OpponentResumed])
"""Messages that give box and captain each other's name, also in the middle of a game."""


@define(eq=False)
class _SeatedGame:
    """A game in which the user has points."""

    user: str
    table: m.ChouetteTable
    match: MatchBuilder
    tracker: SessionTracker
    captain: str
    lines: list[str]
    """What the table has said about it."""
    out: bool = False
    """Whether the user has dropped out of it."""
    settled: bool = False
    """Whether its result has come; the ledger follows."""

    @property
    def acts(self) -> bool:
        """Whether the user is box or captain, and moves the checkers."""
        return self.user in {self.table.box, self.captain}

    @property
    def running_game(self) -> GameBuilder | None:
        """The game that messages are about."""
        game = None if self.out else self.match.current_game()
        return None if game is None or game.over else game

    @property
    def chouette(self) -> ChouetteGame:
        """Which game it is."""
        return ChouetteGame(self.table.host, self.table.game, self.user)

    @property
    def tags(self) -> dict[str, str]:
        """What a file says of the game."""
        comment = "\n".join(line.removeprefix("chouette: ") for line in self.lines)
        return {"Event": str(self.chouette).capitalize(), "Comment": comment}

    def seat_of(self, name: str) -> Seat | None:
        """Return the side of a player by the name in a message."""
        box = Seat.A if self.user == self.table.box else Seat.B
        if name == YOU:
            return Seat.A
        return box if name == self.table.box else box.other if name in self.table.team else None

    def is_own(self, step: Step) -> bool:
        """Whether the decisions of seat A in an entry are the user's: for a member only the answers to doubles."""
        return self.acts or (isinstance(step.entry, Cube) and step.before.stage is Stage.DOUBLED)

    def track(self) -> None:
        """Start to track the game afresh, as after a login or with another captain."""
        tracker = SessionTracker(self.user)
        tracker.sees_own_moves = self.tracker.sees_own_moves
        self.tracker = tracker

    # -- messages -----------------------------------------------------------------------------------------------------

    def receive(self, message: Message, at: Time, offset: int) -> DifferenceFound | None:
        """Process a message; return how it contradicts the game as tracked, or None."""
        handler = self._handlers.get(type(message))
        if self.out and not isinstance(message, m.ChouetteResult):
            return None
        if isinstance(message, m.Board) and message.state.player == YOU and not self.acts:  # drawn, which names nobody
            message = evolve(message, state=evolve(message.state, player=self.captain))
        differences = None if type(message) in _INTRODUCTIONS else self.tracker.receive(message)
        if handler is not None:
            self.match.touch(at)
            handler(self, message, at)
        elif isinstance(message, Refusal) and (game := self.running_game) is not None:
            game.drop_sent_play()
        return DifferenceFound(self.match.number, *self.match.place, differences, offset, at) if differences else None

    def _on_game_starts(self, _: m.GameStarts, at: Time) -> None:
        self.match.begin_game(at)

    def _on_opening_roll(self, message: m.OpeningRoll, at: Time) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self.match.roll_opening({seat: message.player_die, seat.other: message.opponent_die}, at)

    def _on_first_move(self, message: m.FirstMove, at: Time) -> None:
        seat = self.seat_of(message.player)
        if seat is not None:
            self.match.first_move(seat, at)

    def _on_board(self, message: m.Board, at: Time) -> None:
        board, seat = message.state, self.seat_of(message.state.player)
        if (
            seat is not None
            and self.seat_of(board.opponent) is seat.other
            and not self.match.matches_board(board, seat, at)
        ):
            self.match.apply_board(BoardView.from_board(board, seat), at)

    def _on_game_message(self, message: Message, at: Time) -> None:
        game = self.running_game
        if game is None:
            return
        seat = acting_seat(message, game, self.seat_of)
        if seat is not None:
            ENTRY_HANDLERS[type(message)](game, seat, message, at)

    def _on_game_end(self, message: GameEnd, at: Time) -> None:
        winner, game = self.seat_of(message.winner), self.running_game
        if winner is None:
            return
        if game is None:
            self.match.note_unseen_game(winner, message.points, ENDINGS[type(message)])
        else:
            END_HANDLERS[type(message)](game, winner, message.points, at)
            self.match.end_game()

    def _on_score(self, message: m.Score, _: Time) -> None:
        if (seat := self.seat_of(message.player1)) is not None:
            scores = (message.points1, message.points2)
            self.match.apply_score(scores if seat is Seat.A else scores[::-1])

    # -- lines of the table -------------------------------------------------------------------------------------------

    def _note(self, message: Message) -> None:
        self.lines.append(write(message))

    def _on_pass(self, message: m.ChouettePass, at: Time) -> None:
        self._note(message)
        if message.name == self.user:
            self._drop_out(GameBuilder.passed, message.points, at)

    def _on_dropout(self, message: m.ChouetteDropout, at: Time) -> None:
        self._note(message)
        if message.name == self.user != self.table.box:
            self._drop_out(GameBuilder.resigned, message.points, at)

    def _drop_out(self, end: Callable[[GameBuilder, Seat, int, Time], None], points: int, at: Time) -> None:
        """End the game for the user, whatever the others do."""
        game = self.running_game
        if game is not None:
            end(game, Seat.B, points, at)
            self.match.end_game()
        self.out = True

    def _on_captain(self, message: m.ChouetteCaptain, _: Time) -> None:
        self._note(message)
        self.captain = message.name
        self.track()

    def _on_result(self, message: m.ChouetteResult, _: Time) -> None:
        self._note(message)
        self.settled = True

    _handlers: ClassVar[Mapping[type[Message], Callable[[_SeatedGame, Any, Time], None]]] = {
        m.GameStarts: _on_game_starts,
        m.OpeningRoll: _on_opening_roll,
        m.FirstMove: _on_first_move,
        m.Board: _on_board,
        m.Score: _on_score,
        m.ChouettePass: _on_pass,
        m.ChouetteDropout: _on_dropout,
        m.ChouetteCaptain: _on_captain,
        m.ChouetteResult: _on_result,
        **dict.fromkeys(END_HANDLERS, _on_game_end),
        **dict.fromkeys(ENTRY_HANDLERS, _on_game_message),
    }


class ChouetteGames:
    """The games of the chouettes of one or more sessions."""

    def __init__(self, emit: Callable[[MatchEvent], None], next_number: Callable[[], int]) -> None:
        """Start without games; `next_number` counts the matches of all games."""
        self._emit = emit
        self._next_number = next_number
        self.seated = False
        """Whether the user has a seat at a table."""
        self._game: _SeatedGame | None = None
        self._interrupted = False
        """Whether the connection has ended since the game was last seen."""

    # -- input --------------------------------------------------------------------------------------------------------

    def receive(self, message: Message, at: Time, offset: int, user: str, site: str) -> bool:
        """Process a message; return whether it belongs to a chouette.

        All do from the line that gives a seat to the one that takes it away, except those about the session.
        """
        kind = type(message)
        if kind is m.ChouetteSeat:
            self.seated = True
        elif kind in _DISCONNECTED:
            self.interrupt()
        elif kind is m.ChouetteNoSeat:
            self.close()
        if not self.seated or kind in _OF_THE_SESSION:
            return False
        if isinstance(message, m.ChouetteTable):
            self._on_table(message, user, site)
        game = self._game
        if game is None:
            return True
        if game.settled and isinstance(message, m.ChouetteLedger):
            game.lines.append(write(message))
            self._end_game()
        elif (difference := game.receive(message, at, offset)) is not None:
            self._emit(difference)
        return True

    def send(self, command: Command, at: Time) -> None:
        """Process a command of the user's."""
        seated = self._game
        if seated is None or not isinstance(command, c.Move):
            return
        seated.tracker.send(command)
        game = seated.running_game
        if game is not None and seated.acts:
            game.note_sent_play(play_of_server_moves(command.moves), at)

    def log_decision(self, fields: Mapping[str, Any]) -> None:
        """Process a decision in a session log."""
        if self._game is not None and (game := self._game.running_game) is not None:
            game.decision_logs[str(fields.get("phase", ""))] = fields

    def interrupt(self) -> None:
        """Note that the connection has ended; the server may keep the seat."""
        self.seated = False
        if self._game is not None:
            self._interrupted = True
            self._game.match.interrupt()

    def close(self) -> None:
        """Finish the game, as nothing more will come of it."""
        self.seated = False
        self._end_game()

    # -- games --------------------------------------------------------------------------------------------------------

    def _on_table(self, table: m.ChouetteTable, user: str, site: str) -> None:
        """Begin the game that a line names, or go on with it; one in which the user has no points is left out."""
        game, captain, opponent = self._game, table.captain, table.opponent_of(user)
        if game is not None and (game.table.host, game.table.game) == (table.host, table.game):
            if self._interrupted:
                self._interrupted = False
                game.captain, game.out = captain, game.out or opponent is None
                game.track()
                game.match.resume()
            return
        self._end_game()
        if opponent is not None and captain:
            a, b = Player(user if user == table.box else captain), Player(opponent)
            match = MatchBuilder(self._next_number, (a, b), self._emit_marked, own=True, site=site)
            match.length, match.laws, match.is_new = 0, LAWS, True
            self._game = _SeatedGame(user, table, match, SessionTracker(user), captain, [write(table)])

    def _end_game(self) -> None:
        if self._game is not None:
            self._game.match.close()
        self._game, self._interrupted = None, False

    def _emit_marked(self, event: MatchEvent) -> None:
        """Emit an event of the current game, which is one of a chouette."""
        game = self._game
        if game is None:
            return

        match event:
            case MatchBegan():
                event = evolve(event, chouette=game.chouette)
            case MatchEnded(transcript=transcript):
                user = transcript.user if transcript.players[Seat.A].name == game.user else None  # the captain
                event = evolve(event, transcript=evolve(transcript, user=user, tags=game.tags))
            case EntryAdded(step=step):
                event = evolve(event, own=game.is_own(step))
        self._emit(event)
