"""The state table of a connection: the messages and commands allowed in each state, and the next state.

`TABLE[role][state][trigger]` is the next state. The client's part is complete: a command that is not in it is not sent.
The server's part contains only what changes the state: most messages of a server do not, and a message that is not in
the table leaves the state unchanged, because lines get lost, are duplicated or come unexpectedly
(docs/reference/protocol.md, pitfalls 5, 9, 10). For the same reason every message of a game leads to the same state
from every state of a match.

This module depends on the kinds of messages and commands only.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.messages import Message
from fibs_protocol.table_state import TablePlayer, TableStage, TableState
from fibs_protocol.words import YOU


class Role(enum.Enum):
    """The two ends of a connection."""

    CLIENT = "client"
    SERVER = "server"


class State(enum.Enum):
    """The states of a connection, named as the client sees them."""

    __hash__ = object.__hash__  # faster than that of Enum; a state is looked up several times with each message

    CONNECTING = "connecting"
    """Connected; the banner is sent, but no prompt yet."""
    LOGIN = "login"
    """`login: ` waits for an answer."""
    AUTHENTICATING = "authenticating"
    """Name and password have been sent."""
    REFUSED = "refused"
    """A second `login: `: wrong name or password. Such a connection is of no further use (pitfall 3)."""
    REGISTERING = "registering"
    """Logged in as guest, who can only choose a name."""
    LOBBY = "lobby"
    """Logged in, without a match."""
    WATCHING = "watching"
    """Watching a match of others."""
    SEATED = "seated"
    """At a chouette (our own server's). What is said there of its games is not said of a match of ours."""
    BETWEEN_GAMES = "between games"
    """In a match, between two games."""
    UNCLEAR = "unclear"
    """In a game, not knowing whose turn it is until a board shows it (after a resume or a rejected resignation)."""
    MY_ROLL = "my roll"
    """Our turn, dice not rolled."""
    MY_MOVE = "my move"
    """Our turn, dice rolled."""
    MY_NAMING = "my naming"
    """In games other than backgammon: we have to name a double or a point."""
    THEIR_TURN = "their turn"
    I_DOUBLED = "I doubled"
    THEY_DOUBLED = "they doubled"
    I_RESIGNED = "I resigned"
    """Our offer to resign waits for an answer."""
    THEY_RESIGNED = "they resigned"
    CLOSED = "closed"
    """Logged out, or disconnected by the server."""


class TriggerCase(enum.Enum):
    """The case that distinguishes two messages of one kind."""

    YOU = "you"
    OTHER = "other"
    YOUR_ROLL = "your roll"
    YOUR_MOVE = "your move"
    YOUR_NAMING = "your naming"
    THEIR_TURN = "their turn"
    DOUBLED = "you were doubled"
    THEIR_ANSWER = "you doubled"
    RESIGNED = "they resigned"
    YOUR_RESIGNATION = "you resigned"
    OVER = "game over"


@frozen
class Trigger:
    """What can change the state: a kind of message or command, for some messages with a case."""

    kind: type[Message | Command]
    case: TriggerCase | None = None

    def __str__(self) -> str:
        return self.kind.__name__ + (f"({self.case.value})" if self.case else "")


PENDING: Final = frozenset({State.I_DOUBLED, State.THEY_DOUBLED, State.I_RESIGNED, State.THEY_RESIGNED})
"""The states in which an offer waits for its answer.

Boards are no help here: a pending double flips their turn (docs/reference/protocol.md, token 32), and they do not show
a pending resignation.
"""
IN_GAME: Final[frozenset[State]] = PENDING | {
    State.UNCLEAR,
    State.MY_ROLL,
    State.MY_MOVE,
    State.MY_NAMING,
    State.THEIR_TURN,
}
IN_MATCH: Final[frozenset[State]] = IN_GAME | {State.BETWEEN_GAMES}
LOGGED_IN: Final[frozenset[State]] = IN_MATCH | {State.LOBBY, State.WATCHING, State.SEATED}
_NOT_SEATED: Final[frozenset[State]] = LOGGED_IN - {State.SEATED}

_WHOSE: Final[Mapping[type[Message], str]] = {
    m.FirstMove: "player",
    m.Rolls: "player",
    m.CannotMove: "player",
    m.Moves: "player",
    m.DoubleAccepted: "player",
    m.RedoubleAccepted: "player",
    m.ResignOffer: "player",
}
"""The kinds of messages that name the player concerned, with the name of that field."""


def trigger_of(message: Message) -> Trigger:
    """Return the trigger of a message; that of a command is its class alone."""
    kind, case = type(message), None
    if isinstance(message, m.Board):
        board = message.state
        if board.player != YOU:
            case = None  # we only watch
        elif board.double_pending:
            case = TriggerCase.DOUBLED
        elif board.turn is None:
            case = TriggerCase.OVER
        elif board.turn != board.colour:
            case = TriggerCase.THEIR_TURN
        else:
            case = TriggerCase.YOUR_ROLL if board.dice == (0, 0) else TriggerCase.YOUR_MOVE
    elif isinstance(message, m.TableBoard):
        case = _table_case(message.state)
    elif name := _WHOSE.get(kind):
        case = TriggerCase.YOU if getattr(message, name) == YOU else TriggerCase.OTHER
    return Trigger(kind, case)


_CASES_OF_STAGES: Final = {
    TableStage.ROLL: TriggerCase.YOUR_ROLL,
    TableStage.MOVE: TriggerCase.YOUR_MOVE,
    TableStage.NAME: TriggerCase.YOUR_NAMING,
    TableStage.DOUBLED: TriggerCase.DOUBLED,
}
"""The case of a table of our match in which we decide."""


def _table_case(table: TableState) -> TriggerCase | None:
    """Return the case of a table of our match; None if we only watch, or if the server goes on by itself."""
    if table.player != YOU:
        return None
    if table.stage is TableStage.OVER:
        return TriggerCase.OVER
    if table.decides is None:
        return None
    own = table.decides is TablePlayer.PLAYER
    if table.resignation:
        return TriggerCase.RESIGNED if own else TriggerCase.YOUR_RESIGNATION
    if own:
        return _CASES_OF_STAGES.get(table.stage)
    return TriggerCase.THEIR_ANSWER if table.stage is TableStage.DOUBLED else TriggerCase.THEIR_TURN


# -- the table ------------------------------------------------------------------------------------------------------

_ANYTIME_COMMANDS: Final = (
    *(c.Shout, c.Kibitz, c.Say, c.Whisper, c.Tell, c.Tellx, c.AlertCommand, c.Mail, c.Waitfor),
    *(c.Gag, c.Blind, c.Away, c.Back, c.Wave),
    *(c.ToggleCommand, c.SetCommand, c.Save, c.Address, c.Password),
    *(c.Who, c.Rawwho, c.Show, c.Whois, c.Where, c.Ratings, c.Last, c.Time, c.Help, c.Motd, c.About, c.Average),
    *(c.Dicetest, c.Version, c.Stat, c.Port, c.Clear, c.Oldboard, c.Oldmoves, c.Look, c.ShowLaws),
    c.Chouette,
)

_CLIENT: Final[tuple[tuple[Iterable[State], tuple[type[Command], ...], State | None], ...]] = (
    ((State.LOGIN,), (c.Login,), State.AUTHENTICATING),
    ((State.REGISTERING,), (c.Name,), None),
    (LOGGED_IN, _ANYTIME_COMMANDS, None),
    ((State.LOBBY, State.WATCHING), (c.Invite, c.InviteToGame, c.InviteByLaws, c.Join, c.Watch), None),
    # `board` in the lobby finds out whether we are in a match: the line that announced it may have been lost.
    ((State.LOBBY,), (c.ShowBoard,), None),
    ((State.WATCHING,), (c.Unwatch, c.ShowBoard, c.Pip), None),
    (IN_MATCH, (c.ShowBoard, c.Pip, c.Leave, c.Panic), None),
    ((State.BETWEEN_GAMES,), (c.Join,), None),
    ((State.MY_ROLL,), (c.Roll, c.Double, c.Resign), None),
    ((State.MY_MOVE,), (c.Move, c.EmptyMove, c.Off, c.Rethrow, c.Resign), None),
    ((State.MY_NAMING,), (c.Name, c.Resign), None),
    ((State.THEIR_TURN,), (c.Resign,), None),
    ((State.THEY_DOUBLED,), (c.Accept, c.Reject, c.Redouble, c.Beaver, c.Raccoon, c.Otter), None),
    ((State.THEY_RESIGNED,), (c.Accept, c.Reject), None),
    # Who has to decide at a chouette is for the server to say.
    ((State.SEATED,), (c.ShowBoard, c.Pip, c.Join, c.Leave, c.Roll, c.Move, c.EmptyMove, c.Off), None),
    ((State.SEATED,), (c.Double, c.Accept, c.Reject, c.Resign), None),
    # A player who offers to resign may play on before the answer.
    ((State.MY_ROLL, State.MY_MOVE, State.THEIR_TURN), (c.Accept, c.Reject), None),
    ((State.LOGIN, State.REGISTERING, *LOGGED_IN), (c.Bye,), None),
)
"""States, the commands that the client may send in them, and the next state; None: the server's answer decides it."""

_you, _other = TriggerCase.YOU, TriggerCase.OTHER
_SERVER: Final[
    tuple[tuple[Iterable[State], State, tuple[type[Message] | tuple[type[Message], TriggerCase], ...]], ...]
] = (
    ((State.CONNECTING,), State.LOGIN, (m.LoginPrompt,)),
    # The login has succeeded even if the server's first line is unknown, provided that the next ones are not.
    ((State.AUTHENTICATING,), State.LOBBY, (m.Welcome, m.OwnInfo, m.MotdStart, m.WhoInfo)),
    ((State.AUTHENTICATING, State.REFUSED), State.REFUSED, (m.LoginPrompt,)),
    ((State.LOGIN,), State.REGISTERING, (m.GuestWelcome,)),
    # A user who watches can be invited, and messages about the user's own match can still arrive.
    (_NOT_SEATED, State.BETWEEN_GAMES, (m.OpponentJoined, m.YouJoined)),
    (_NOT_SEATED, State.BETWEEN_GAMES, (m.OpponentJoinedGame, m.YouJoinedGame)),
    (_NOT_SEATED, State.UNCLEAR, (m.OpponentResumed, m.YouResumed)),
    (_NOT_SEATED, State.SEATED, (m.ChouetteSeat,)),
    ((State.SEATED,), State.LOBBY, (m.ChouetteNoSeat,)),
    ((State.LOBBY,), State.WATCHING, (m.YouWatch,)),
    ((State.WATCHING,), State.LOBBY, (m.YouStopWatching, m.WatchedGone)),
    # A login can lead directly into a running game (pitfall 5), which a board is then the first to show.
    ((State.LOBBY,), State.MY_ROLL, ((m.Board, TriggerCase.YOUR_ROLL), m.RollOrDouble)),
    ((State.LOBBY,), State.MY_MOVE, ((m.Board, TriggerCase.YOUR_MOVE), m.MovePrompt)),
    ((State.LOBBY,), State.THEIR_TURN, ((m.Board, TriggerCase.THEIR_TURN),)),
    ((State.LOBBY,), State.THEY_DOUBLED, ((m.Board, TriggerCase.DOUBLED),)),
    ((State.LOBBY,), State.BETWEEN_GAMES, ((m.Board, TriggerCase.OVER),)),
    (IN_MATCH, State.UNCLEAR, (m.GameStarts, m.ResignRejected, m.RollRejected)),
    (PENDING, State.UNCLEAR, (m.NothingToAnswer,)),
    (IN_MATCH, State.MY_ROLL, (m.RollOrDouble, (m.CannotMove, _other), (m.Moves, _other))),
    (IN_MATCH, State.MY_ROLL, ((m.DoubleAccepted, _other), (m.RedoubleAccepted, _other))),
    (IN_MATCH, State.MY_MOVE, ((m.FirstMove, _you), (m.Rolls, _you), m.MovePrompt)),
    (IN_MATCH, State.THEIR_TURN, ((m.FirstMove, _other), (m.Rolls, _other), (m.CannotMove, _you))),
    (IN_MATCH, State.THEIR_TURN, ((m.DoubleAccepted, _you), (m.RedoubleAccepted, _you))),
    (IN_MATCH, State.I_DOUBLED, (m.YouDouble, m.YouRedouble, m.DoublePending)),
    (IN_MATCH, State.THEY_DOUBLED, (m.OpponentDoubles, m.OpponentRedoubles, (m.Board, TriggerCase.DOUBLED))),
    (IN_MATCH, State.I_RESIGNED, ((m.ResignOffer, _you), m.AlreadyResigned, m.ResignPending)),
    (IN_MATCH, State.THEY_RESIGNED, ((m.ResignOffer, _other), m.AnswerResign)),
    (IN_MATCH, State.BETWEEN_GAMES, (m.GameWon, m.GaveUp, m.ResignAccepted, m.JoinNextGame)),
    (IN_MATCH, State.BETWEEN_GAMES, (m.GameWonBy, m.GameDrawn)),
    (IN_MATCH, State.LOBBY, (m.MatchWon, m.YouLeft, m.OpponentGone, m.YourGameSaved)),
    (IN_MATCH, State.LOBBY, (m.NotPlaying, m.NobodyToLeave, m.JoinWho)),
    (IN_GAME - PENDING, State.MY_ROLL, ((m.Board, TriggerCase.YOUR_ROLL),)),
    (IN_GAME - PENDING, State.MY_MOVE, ((m.Board, TriggerCase.YOUR_MOVE),)),
    (IN_GAME - PENDING, State.THEIR_TURN, ((m.Board, TriggerCase.THEIR_TURN),)),
    (IN_GAME - PENDING, State.BETWEEN_GAMES, ((m.Board, TriggerCase.OVER),)),
    # A table shows what it waits for, offers included.
    *(
        (IN_MATCH | {State.LOBBY}, state, ((m.TableBoard, case),))
        for state, case in (
            (State.MY_ROLL, TriggerCase.YOUR_ROLL),
            (State.MY_MOVE, TriggerCase.YOUR_MOVE),
            (State.MY_NAMING, TriggerCase.YOUR_NAMING),
            (State.THEIR_TURN, TriggerCase.THEIR_TURN),
            (State.I_DOUBLED, TriggerCase.THEIR_ANSWER),
            (State.THEY_DOUBLED, TriggerCase.DOUBLED),
            (State.I_RESIGNED, TriggerCase.YOUR_RESIGNATION),
            (State.THEY_RESIGNED, TriggerCase.RESIGNED),
            (State.BETWEEN_GAMES, TriggerCase.OVER),
        )
    ),
    (set(State) - {State.CLOSED}, State.CLOSED, (m.Goodbye, m.ConnectionTimedOut)),
)
"""States, the next state, and the messages that lead to it."""


def _build() -> dict[Role, dict[State, dict[Trigger, State]]]:
    table: dict[Role, dict[State, dict[Trigger, State]]] = {role: {state: {} for state in State} for role in Role}
    for states, kinds, following in _CLIENT:
        for state in states:
            table[Role.CLIENT][state].update({Trigger(kind): following or state for kind in kinds})
    for states, target, messages in _SERVER:
        for state in states:
            for message in messages:
                trigger = Trigger(*message) if isinstance(message, tuple) else Trigger(message)
                table[Role.SERVER][state][trigger] = target
    return table


TABLE: Final = _build()
"""`{role: {state: {trigger: next state}}}`."""
_RELEVANT_KINDS: Final = {
    state: frozenset(trigger.kind for trigger in row) for state, row in TABLE[Role.SERVER].items()
}
"""The kinds of messages that can change each state: only for these the trigger is looked up."""


class Session:
    """The state of one connection, updated with each message and command."""

    def __init__(self) -> None:
        """Start in the state of a new connection."""
        self.state = State.CONNECTING

    def server_says(self, message: Message) -> State:
        """Update the state with a message and return it."""
        if type(message) in _RELEVANT_KINDS[self.state]:
            self.state = TABLE[Role.SERVER][self.state].get(trigger_of(message), self.state)
        return self.state

    def client_says(self, command: Command) -> State:
        """Update the state with a command and return it. Raises LocalProtocolError if it is not allowed now."""
        following = TABLE[Role.CLIENT][self.state].get(Trigger(type(command)))
        if following is None:
            raise LocalProtocolError(f"expected a command for the state {self.state.value!r}, got {command.kind()!r}")
        self.state = following
        return following


# -- the diagram ----------------------------------------------------------------------------------------------------

_GROUPS: Final[Mapping[str, frozenset[State]]] = {
    "Connection": frozenset(State) - {State.CLOSED},
    "LoggedIn": LOGGED_IN,
    "Match": IN_MATCH,
    "Game": IN_GAME,
    "Turn": IN_GAME - PENDING,
    "Offer": PENDING,
}
"""Composite states of the diagram, the largest first; any two are disjoint or nested."""


def mermaid_diagram() -> str:
    """Draw the server's part of the table as a Mermaid state diagram.

    A transition from every state of a group to one state is drawn once, from the group. Transitions that do not change
    the state are omitted.
    """
    sources: dict[tuple[Trigger, State], set[State]] = {}
    for state, row in TABLE[Role.SERVER].items():
        for trigger, target in row.items():
            sources.setdefault((trigger, target), set()).add(state)
    arrows: dict[tuple[str, str], list[str]] = {}
    for (trigger, target), states in sources.items():
        left = set(states)
        for name, group in _GROUPS.items():
            if group <= left:
                arrows.setdefault((name, target.name), []).append(str(trigger))
                left -= group
        for state in (state for state in State if state in left - {target}):
            arrows.setdefault((state.name, target.name), []).append(str(trigger))
    edges = [f"    {source} --> {target}: {', '.join(labels)}" for (source, target), labels in arrows.items()]
    return "\n".join(
        ["stateDiagram-v2", "    [*] --> CONNECTING", *_composite("Connection"), *edges, "    CLOSED --> [*]"]
    )


def _composite(name: str) -> list[str]:
    """Return the lines of a composite state: the composites directly in it, then the remaining states."""
    states = _GROUPS[name]
    within = [other for other, group in _GROUPS.items() if group < states]
    direct = [other for other in within if not any(_GROUPS[other] < _GROUPS[third] for third in within)]
    lines = [line for other in direct for line in _composite(other)]
    lines += [
        f"    {state.name}" for state in State if state in states.difference(*(_GROUPS[other] for other in direct))
    ]
    return [f"    state {name} {{", *("    " + line for line in lines), "    }"]
