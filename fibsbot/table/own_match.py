"""A person's match on a server: which decision is open, and the command for each decision.

Which decision is open follows from the agent's tracking of the match, so nothing is sent that the server does not wait
for. Who watches a match has the model without decisions (`remote_match.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command, ResignLevel
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibsbot.bot.decisions import open_key
from fibsbot.bot.events_and_actions import DecisionKey
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.match import Phase
from fibsbot.position import Play
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table.model import Action
from fibsbot.table.remote_match import RemoteMatch
from fibsbot.table_lines import moves_to_fibs

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


class OwnMatch(RemoteMatch):
    """A person's match on a server, with the person at seat A."""

    def __init__(
        self, user: str, tracked: TrackedMatch, send: Callable[[Command], None], session: Callable[[], State]
    ) -> None:
        """Show a match as it is tracked.

        Args:
            user: the person's account.
            tracked: the match.
            send: gets the commands of what the person decides.
            session: returns the state of the connection.
        """
        super().__init__(user, tracked)
        self._send = send
        self._session = session
        self._tracked = tracked
        self._key: DecisionKey | None = None
        self._sent_for: DecisionKey | None = None
        """The decision that was sent, until something else is to be decided or a board shows that it is still open."""
        self._between_games = False
        self._joined = False
        """Whether the person has joined the next game."""

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether the opponent or the server has to do something."""
        if self.ended:
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
        if self.state.stage is Stage.OVER and self._joined:
            return f"Waiting for {self.opponent} to join the next game."
        return super().sentence

    # -- what the server says -----------------------------------------------------------------------------------

    def follow(self, message: Message, tracked: TrackedMatch) -> None:
        """Show the match after a message."""
        state = self._session()
        self._between_games = state is State.BETWEEN_GAMES
        self._joined = (self._joined or isinstance(message, m.WaitForJoin)) and self._between_games
        self._tracked = tracked
        super().follow(message, tracked)

    def show_tracked(self, shown: GameState | None) -> None:
        """Show what is known after a message, and open the decision that the server waits for."""
        key = open_key(self._tracked, self._session(), 1, resignation_pending=False)
        if key is not None and (shown is None or not _is_open(key.phase, shown)):
            key = None  # a line says whose turn it is, and the one that shows the board is still to come
        changed = shown is not None and (shown != self.state or key != self._key)
        self._key = key
        if key != self._sent_for:
            self._sent_for = None
        if shown is not None and changed:
            self.take_over(shown)

    def reopen(self) -> None:
        """Let the person decide again: a board has shown that what was sent has changed nothing."""
        if self._sent_for is not None:
            self._sent_for = None
            self.take_over(self.state)

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
        self.note_or_quote(Seat.A, play, "")
        self._sent_for = self._key
        tracked = self._tracked
        moves = moves_to_fibs(play) if tracked.shown_whole else play_to_fibs(play, tracked.direction or -1)
        self._send(c.Move(moves))


def _is_open(phase: Phase, state: GameState) -> bool:
    """Whether a state shows the player's decision in a phase."""
    if state.decides is not Seat.A:
        return False
    if phase is Phase.RESIGNED or state.resignation is not None:
        return phase is Phase.RESIGNED and state.resignation is not None
    return state.stage in _STAGES[phase]
