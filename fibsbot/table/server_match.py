"""A person's match on a server: its state by what the server says, and the command for each decision.

Which decision is open follows from the agent's tracking of the match, so nothing is sent that the server does not wait
for. Who watches a match has the same model, in which nothing can be done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command, ResignLevel
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import YOU
from fibsbot.bot.decisions import open_key
from fibsbot.bot.events_and_actions import DecisionKey
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import play_from_fibs, play_to_fibs
from fibsbot.match import Phase
from fibsbot.position import Play
from fibsbot.rules.errors import RollFirstError, RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.table.model import Action, TableModel
from fibsbot.table_lines import moves_to_fibs, play_of_moves
from fibsbot.text import plural

_COMMANDS: Final[dict[Action, Command]] = {
    Action.ROLL: c.Roll(),
    Action.DOUBLE: c.Double(),
    Action.TAKE: c.Accept(),
    Action.PASS: c.Reject(),
    Action.BEAVER: c.Redouble(),
    Action.ACCEPT: c.Accept(),
    Action.REJECT: c.Reject(),
    Action.REJECT_ROLL: c.Rethrow(),
    Action.NEXT: c.Join(),
}
_STAGES: Final = {
    Phase.ROLL: (Stage.ROLL,),
    Phase.MOVE: (Stage.MOVE, Stage.NAME),
    Phase.NAME: (Stage.NAME,),
    Phase.DOUBLED: (Stage.DOUBLED,),
}
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


class ServerMatch(TableModel):
    """A match on a server, with the player at seat A: the person, or whoever is watched."""

    def __init__(self, user: str, tracked: TrackedMatch, send: Callable[[Command], None]) -> None:
        """Show a match as it is tracked; `send` gets the commands of what the person decides."""
        self.watched = tracked.player != YOU
        """Whether the match is one of others."""
        names = (tracked.player if self.watched else user, tracked.opponent or "")
        super().__init__(names, Seat.A, game_of(tracked) or start_match(FIBS, 0))
        self.number = tracked.match
        """The number of the match on this connection and those before."""
        self.ended = ""
        """Why the match is not played on at the moment: a sentence; empty while it is."""
        self._send = send
        self._tracked = tracked
        self._key: DecisionKey | None = None
        self._sent_for: DecisionKey | None = None
        """The decision that was sent, until something else is to be decided or a board shows that it is still open."""
        self._between_games = False
        self._joined = False
        """Whether the person has joined the next game."""
        self._result: Result | None = None

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether the opponent or the server has to do something."""
        if self.watched or self.ended:
            return True
        if self.state.stage is Stage.OVER:
            return not self._between_games or self._joined
        return self._key is None or self._key == self._sent_for

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the person may do now; the next game begins only when the server asks for it."""
        over_and_waiting = self.state.stage is Stage.OVER and self.waiting
        return () if over_and_waiting else super().actions

    @property
    def sentence(self) -> str:
        """Whose turn it is and what is to be decided, or how it ended."""
        if self.ended:
            return self.ended
        if self.watched and self.state.stage is not Stage.OVER:
            return f"You watch {self.names[0]}; {self.names[self.state.decides or Seat.A]} is on turn."
        if self.state.stage is Stage.OVER and self._joined:
            return f"Waiting for {self.opponent} to join the next game."
        return super().sentence

    @property
    def open_decision(self) -> bool:
        """Whether the person has a decision to make or to be confirmed."""
        return self._key is not None

    # -- what the server says -----------------------------------------------------------------------------------

    def follow(self, message: Message, tracked: TrackedMatch, state: State) -> None:
        """Show the match after a message."""
        self._note(message, tracked)
        key = None if self.watched else open_key(tracked, state, 1, resignation_pending=False)
        between = state is State.BETWEEN_GAMES
        self._joined = self._joined and between
        self._between_games = between
        shown = game_of(tracked, self._result)
        if key is not None and (shown is None or not _is_open(key.phase, shown)):
            key = None  # a line says whose turn it is, and the one that shows the board is still to come
        changed = shown is not None and (shown != self.state or key != self._key)
        self._tracked, self._key = tracked, key
        if key != self._sent_for:
            self._sent_for = None
        if tracked.opponent:
            self.names = (self.names[0], tracked.opponent)
        if shown is not None and changed:
            self.take_over(shown)

    def reopen(self) -> None:
        """Let the person decide again: a board has shown that what was sent has changed nothing."""
        if self._sent_for is not None:
            self._sent_for = None
            self.take_over(self.state)

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
                self._note_play(seat, play, write(message))
            case m.ResignOffer(points=points) if seat is not None:
                self.note(seat, f"wants to resign for {plural(points, 'point')}")
            case m.NumberNamed(number=number) if seat is not None:
                self.note(seat, f"names {number}")
            case m.GameStarts():
                self._result, self.last_play = None, None
                self.sheet.clear()
            case m.WaitForJoin():
                self._joined = True
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

    def _note_play(self, seat: Seat, play: Play, line: str) -> None:
        """Note a play in usual notation; as the server has it where it does not belong to the state that is known."""
        try:
            if self.state.turn is not seat:
                raise RollFirstError("it is the other player's turn")
            self.note_play(seat, play)
        except RuleError:
            self.last = line

    # -- what the person decides --------------------------------------------------------------------------------

    def carry_out(self, action: Action, number: int = 0) -> None:
        """Send the command of a decision."""
        if action is Action.RESIGN:
            command: Command = c.Resign(ResignLevel.of(number))
        elif action is Action.NAME:
            command = c.Name(str(number))
        else:
            command = _COMMANDS[action]
        if action is Action.NEXT:
            self._joined = True
        self._sent_for = self._key
        self._send(command)

    def make_play(self, play: Play) -> None:
        """Send a play."""
        self._note_play(Seat.A, play, "")
        self._sent_for = self._key
        tracked = self._tracked
        moves = moves_to_fibs(play) if tracked.shown_whole else play_to_fibs(play, tracked.direction or -1)
        self._send(c.Move(moves))


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


def _is_open(phase: Phase, state: GameState) -> bool:
    """Whether a state shows the player's decision in a phase."""
    if state.decides is not Seat.A:
        return False
    if phase is Phase.RESIGNED or state.resignation is not None:
        return phase is Phase.RESIGNED and state.resignation is not None
    return state.stage in _STAGES[phase]


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
