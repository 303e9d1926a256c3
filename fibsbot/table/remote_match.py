"""A match on a server: its state by what the server says, in the agent's tracking of it (`bot/tracked_match.py`).

Nothing can be decided in a match that is followed: one that others play, or a bot. A person's own is in `own_match.py`.
"""

from __future__ import annotations

from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import play_from_fibs
from fibsbot.position import Play
from fibsbot.rules.errors import RollFirstError, RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.table.model import Action, TableModel
from fibsbot.table_lines import play_of_moves
from fibsbot.text import plural

_SEATS: Final = {PlayerSide.PLAYER: Seat.A, PlayerSide.OPPONENT: Seat.B}
_WORDS: Final[dict[type[Message], str]] = {
    m.OpponentDoubles: "doubles",
    m.WatchedDouble: "doubles",
    m.YouDouble: "doubles",
    m.OpponentRedoubles: "redoubles",
    m.WatchedRedouble: "redoubles",
    m.YouRedouble: "redoubles",
    m.DoubleAccepted: "takes",
    m.RedoubleAccepted: "takes",
    m.CannotMove: "cannot move",
    m.ResignRejected: "rejects the resignation",
    m.RollRejected: "rejects the roll",
}
"""What a player has done, by the message that says it."""


class RemoteMatch(TableModel):
    """A match on a server, with the player who is followed at seat A: the person, a bot, or whoever is watched."""

    def __init__(self, user: str, tracked: TrackedMatch) -> None:
        """Show a match as it is tracked on the account `user`."""
        self.watched = tracked.player != YOU
        """Whether the match is one of others."""
        names = (tracked.player if self.watched else user, tracked.opponent or "")
        super().__init__(names, Seat.A, game_of(tracked) or start_match(FIBS, 0))
        self.number = tracked.match
        """The number of the match on this connection and those before."""
        self.ended = ""
        """Why the match is not played on at the moment: a sentence; empty while it is."""
        self._result: Result | None = None

    # -- what the server says -----------------------------------------------------------------------------------

    def follow(self, message: Message, tracked: TrackedMatch) -> None:
        """Show the match after a message."""
        self._note(message, tracked)
        if tracked.opponent:
            self.names = (self.names[0], tracked.opponent)
        self.show_tracked(game_of(tracked, self._result))

    def show_tracked(self, shown: GameState | None) -> None:
        """Show what is known after a message; None while that is too little."""
        if shown is not None and shown != self.state:
            self.take_over(shown)

    def break_off(self, why: str) -> None:
        """Show that the match is not played on at the moment."""
        if not self.match_over:
            self.ended, self.play = why, None

    def _note(self, message: Message, tracked: TrackedMatch) -> None:
        """Note what a message says that a player has done, and how a game has ended."""
        name = getattr(message, "player", YOU if isinstance(message, m.YouDouble | m.YouRedouble) else None)
        side = None if name is None else tracked.side_of(name)
        seat = None if side is None else _SEATS[side]
        match message:
            case m.Moves(moves=moves) if side is not None and seat is not None:
                if tracked.shown_whole or tracked.direction is None:
                    play = play_of_moves(moves)
                else:
                    play = play_from_fibs(moves, tracked.direction * side.value)
                self.note_or_quote(seat, play, write(message))
            case m.ResignOffer(points=points) if seat is not None:
                self.note(seat, f"wants to resign for {plural(points, 'point')}")
            case m.NumberNamed(number=number) if seat is not None:
                self.note(seat, f"names {number}")
            case m.GameStarts():
                self._result, self.last_play = None, None
                self.sheet.clear()
            case m.GameWon() | m.GaveUp() | m.ResignAccepted() | m.GameWonBy():
                self._note_result(message, tracked)
            case _ if type(message) in _WORDS and seat is not None:
                self.note(seat, _WORDS[type(message)])

    def _note_result(
        self, message: m.GameWon | m.GaveUp | m.ResignAccepted | m.GameWonBy, tracked: TrackedMatch
    ) -> None:
        winner = tracked.side_of(message.winner)
        if winner is not None:
            self._result = Result(_SEATS[winner], message.points, Level.SINGLE, Ending.OTHER)
            self.note(_SEATS[winner], f"wins {plural(message.points, 'point')}")

    def note_or_quote(self, seat: Seat, play: Play, line: str) -> None:
        """Note a play in usual notation; as the server has it where it does not belong to the state that is known."""
        try:
            if self.state.turn is not seat:
                raise RollFirstError("it is the other player's turn")
            self.note_play(seat, play)
        except RuleError:
            self.last = line


class FollowedMatch(RemoteMatch):
    """A match in which nothing can be decided."""

    @property
    def waiting(self) -> bool:
        """True: somebody else decides."""
        return True

    @property
    def actions(self) -> tuple[Action, ...]:
        """None."""
        return ()

    @property
    def sentence(self) -> str:
        """Whose turn it is, or how it ended."""
        if self.ended:
            return self.ended
        if self.state.stage is not Stage.OVER:
            return f"You watch {self.names[0]}; {self.names[self.state.decides or Seat.A]} is on turn."
        return super().sentence

    # -- decisions ----------------------------------------------------------------------------------------------

    def show_decision(self, state: GameState) -> None:
        """Show a new state; no play is made here."""
        self.state = state

    def carry_out(self, action: Action, number: int = 0) -> None:
        """Refuse: `actions` offers nothing."""
        raise RuleError(f"expected a match of one's own, got {action.value} {number} in one that is followed")

    def make_play(self, play: Play) -> None:
        """Refuse, likewise."""
        raise RuleError(f"expected a match of one's own, got {play} in one that is followed")


# -- the state --------------------------------------------------------------------------------------------------------


def game_of(tracked: TrackedMatch, result: Result | None = None) -> GameState | None:
    """Return the game as it is tracked, with its player at seat A; None while too little of it is known.

    `result` is what is known of the last game's end.
    """
    state = tracked.game_state
    if state is None:
        return None
    if not tracked.shown_whole:
        state = _by_its_laws(tracked, state)
    if tracked.running:
        return state
    stage = Stage.OVER if tracked.game or result is not None else Stage.OPENING
    return fast_evolve(state, stage=stage, result=result, resignation=None, offered=0, answering=None)


def _by_its_laws(tracked: TrackedMatch, state: GameState) -> GameState:
    """Return a game of backgammon by the laws of the match, and with what may be done in it by other lines."""
    laws = tracked.laws or FIBS
    if tracked.doubled_by is not None:
        laws = fast_evolve(laws, redoubles=int(tracked.may_redouble))
    return fast_evolve(
        state,
        laws=laws,
        crawford=state.crawford and laws.crawford,
        post_crawford=state.post_crawford and laws.crawford,
        rejected=state.stage is Stage.MOVE and not tracked.may_reject,
    )
