"""A match as a client plays it: which decision is open, and what has to be sent for it to go on. No I/O.

`Connection.play` uses it; docs/reference/protocol.md, "A client that plays", says what it answers by itself.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState, fibs_moves
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError, RemoteProtocolError
from fibs_protocol.grammar import write
from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages import Message
from fibs_protocol.session import IN_MATCH, Session, State
from fibs_protocol.words import UNLIMITED, YOU, Setting, Toggle

OWN_PATIENCE: Final = 5.0
"""Seconds without a line while we have to act, after which the board is asked for: a line was lost."""
OTHER_PATIENCE: Final = 60.0
"""The same while the opponent has to act."""
INVITATION_PATIENCE: Final = 1.0
"""Seconds without a line after an invitation until it is accepted: the warning about a saved match comes last."""
TOGGLES: Final = {
    Toggle.READY: True,
    Toggle.AUTOBOARD: True,
    Toggle.MOREBOARDS: True,
    Toggle.DOUBLE: True,
    Toggle.AUTODOUBLE: False,
    Toggle.AUTOMOVE: False,
    Toggle.GREEDY: False,
}
"""The values that a client needs to be asked for each decision, and to be sent the board before it."""

_STEP: Final = re.compile(r"(bar|[0-9]{1,2})[/-](off|[0-9]{1,2})\*?(?:\(([2-4])\))?")
_MOVE_REFUSALS: Final = (
    *(m.IllegalMove, m.MoveWords, m.TooFewMoves, m.TooManyMoves, m.CantMoveFrom, m.CantMovePoints, m.CantMoveTo),
    *(m.BarFirst, m.CantBearOff, m.CantMoveHome, m.OffNotPossible, m.CrawfordForbids, m.NotYourDouble),
)
"""Answers to a command of ours that come again each time that it is sent."""
_INVITATION_REFUSALS: Final = (
    *(m.NoSuchUser, m.RefusesGames, m.AlreadyPlayingOther, m.NotExperienced, m.NoSavedMatch, m.InviteSelf),
    *(m.InvitationPending, m.NotReady, m.DidntInvite, m.CantFindPlayer, m.SavedMatchCorrupt, m.UserNotPlaying),
    *(m.UnknownGame, m.KnowsNoLaws),
)
_ENDS: Final = (m.MatchWon, m.YouLeft, m.OpponentGone, m.YourGameSaved)


class CommandRefusedError(RemoteProtocolError):
    """The server refuses a move, a double or an invitation; the text has its answer."""


class DecisionKind(enum.Enum):
    """What a player has to decide; the value says which commands answer."""

    ROLL = "Roll, or Double"
    MOVE = "Move"
    DOUBLE = "Accept or Reject: the opponent has doubled"
    RESIGNATION = "Accept or Reject: the opponent wants to resign"


@frozen
class OpenDecision:
    """A decision that the server waits for."""

    kind: DecisionKind
    board: BoardState
    """The last board; its turn and dice are those of this decision, unless it is about an offer."""
    points: int = 0
    """What we would win by accepting the resignation."""

    def move(self, steps: str | Iterable[tuple[int, int]]) -> c.Move:
        """Return the command for a play in our own numbering, in which we move from 24 to 1.

        `steps` is `"bar/22 13/10"`, or pairs such as `[(25, 22), (6, 0)]`: 25 is the bar, 0 off the board. Each is the
        step of one checker by one number. Raises LocalProtocolError if it is neither.
        """
        pairs = _pairs(steps) if isinstance(steps, str) else list(steps)
        return c.Move(fibs_moves(pairs, self.board.direction))


def _pairs(text: str) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for word in text.split():
        found = _STEP.fullmatch(word)
        if found is None:
            raise LocalProtocolError(f"expected a step such as 13/10, bar/22 or 6/off, got {word!r}")
        source, target, times = found.groups()
        pair = (25 if source == "bar" else int(source), 0 if target == "off" else int(target))
        pairs += [pair] * int(times or 1)
    return pairs


class MatchFlow:
    """Follows one match by the server's messages: `hear` returns decisions, `commands` is what has to be sent."""

    def __init__(self, session: Session, opponent: str | None = None, length: int | None = None) -> None:
        """Begin to wait for a match.

        Args:
            session: The state of the connection, which has taken each message before `hear` does.
            opponent: Whom to invite; None to accept the first invitation.
            length: Points of the match; None to resume a saved match, or to accept any length but unlimited.
        """
        self.commands: list[Command] = []
        """What has to be sent now; the caller sends it and empties the list."""
        self.ended: Message | None = None
        """The message that ended the match: MatchWon, or how it was broken off."""
        self._session = session
        self._opponent = opponent
        self._length = length
        self._invitation: str | None = None
        """Whose invitation is accepted as soon as the server has said all about it."""
        self._board: BoardState | None = None
        """The current board; None if something has happened since the last one."""
        self._is_prompted = False
        """Whether the server has asked for what our state says."""
        self._is_requested = False
        """Whether we have asked for a board, which then counts as the server's question."""
        self._points = 0
        self._in_match = False

    @property
    def patience(self) -> float:
        """Seconds of silence after which `on_silence` is to be called."""
        if self._invitation:
            return INVITATION_PATIENCE
        return OWN_PATIENCE if self._kind() or self._session.state is State.UNCLEAR else OTHER_PATIENCE

    def start(self, settings: m.OwnInfo) -> None:
        """Set the toggles, of which the server has shown the values, and invite the opponent."""
        self.commands.append(c.SetCommand(Setting.BOARDSTYLE, "3"))
        wrong = [toggle for toggle, value in TOGGLES.items() if getattr(settings, toggle.value) != value]
        self.commands += map(c.ToggleCommand, wrong)
        if self._session.state not in {State.LOBBY, State.WATCHING}:
            self._in_match = self._session.state in IN_MATCH
            self._request_board()
        elif self._opponent is None:
            self._request_board()  # a login may lead into a running game, of which nothing else tells
        else:
            self.commands.append(c.Invite(self._opponent, self._length))

    def hear(self, message: Message) -> OpenDecision | None:
        """Take the server's next message; return the decision that is open now, once for each time it is asked.

        Raises CommandRefusedError if the server refuses a move, a double or the invitation.
        """
        in_match = self._session.state in IN_MATCH
        if isinstance(message, _ENDS) and self._in_match and not in_match:
            self.ended = message
            return None
        if isinstance(message, _MOVE_REFUSALS) or (
            isinstance(message, _INVITATION_REFUSALS) and self._opponent and not in_match
        ):
            raise CommandRefusedError(f"expected a command that the server accepts, got {write(message)!r}")
        self._in_match = self._in_match or in_match
        self._consider_invitation(message, in_match=in_match)
        self._note(message)
        return self._decision(asks_for_board=not isinstance(message, m.FirstMove))  # after that one comes anyway

    def on_silence(self) -> None:
        """Do what helps when the server has said nothing for a while: accept an invitation, or ask for the board."""
        if self._invitation:
            self._accept()
        else:
            self._request_board()

    def _consider_invitation(self, message: Message, *, in_match: bool) -> None:
        if in_match or self._opponent is not None:
            self._invitation = None
            return
        match message:
            case m.Invitation(name, length) if length == self._length or (self._length is None and length != UNLIMITED):
                self._invitation = name
            case m.ResumeInvitation(name):
                self._invitation = name
            case m.SavedMatchWarning() | m.MatchLaws():
                self._invitation = None  # it would discard a match, or is played by other rules
            case m.JoinHint():
                pass
            case _ if self._invitation:
                self._accept()

    def _accept(self) -> None:
        self.commands.append(c.Join(self._invitation))
        self._invitation = None

    def _note(self, message: Message) -> None:
        """Note what the server asks for, and whether the board is current."""
        match message:
            case m.Board(state) if state.player == YOU:
                self._board = state
                self._is_prompted = self._is_prompted or self._is_requested
                self._is_requested = False
            case m.RollOrDouble() | m.MovePrompt() | m.OpponentDoubles() | m.OpponentRedoubles():
                self._is_prompted = True
            case m.FirstMove(player):
                self._board, self._is_prompted = None, player == YOU
            case m.ResignOffer(player, _, points) if player != YOU:
                self._points, self._is_prompted = points, True
            case m.JoinNextGame():
                self.commands.append(c.Join())
            case m.OpponentResumed() | m.YouResumed() | m.ResignRejected():
                self._board = None
                self._request_board()
            case m.NotPlaying():
                self._is_requested = False
            case m.Moves() | m.CannotMove() | m.Rolls() | m.DoubleAccepted() | m.RedoubleAccepted() | m.GameStarts():
                self._board, self._is_prompted = None, False

    def _kind(self) -> DecisionKind | None:
        return {
            State.MY_ROLL: DecisionKind.ROLL,
            State.MY_MOVE: DecisionKind.MOVE,
            State.THEY_DOUBLED: DecisionKind.DOUBLE,
            State.THEY_RESIGNED: DecisionKind.RESIGNATION,
        }.get(self._session.state)

    def _decision(self, *, asks_for_board: bool) -> OpenDecision | None:
        kind = self._kind()
        if kind is None or not self._is_prompted:
            return None
        if self._board is None:
            if asks_for_board and not self._is_requested:
                self._request_board()
            return None
        if kind is DecisionKind.MOVE and self._board.dice == (0, 0):
            return None
        self._is_prompted = False
        return OpenDecision(kind, self._board, self._points if kind is DecisionKind.RESIGNATION else 0)

    def _request_board(self) -> None:
        if self._session.state in IN_MATCH or self._session.state is State.LOBBY:
            self.commands.append(c.ShowBoard())
            self._is_requested = True
