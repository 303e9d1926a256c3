"""The agent's interface: the events that it takes, and the actions that it answers with.

Every event carries its time, because the agent reads no clock.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.bot.settings import AgentSettings
from fibsbot.match import Phase
from fibsbot.policy.name_lists import PlayerLists
from fibsbot.rules.backgammon import Board
from fibsbot.rules.ruleset import Turn
from fibsbot.strategies.questions import Question, StrategyAnswer


@frozen
class DecisionKey:
    """Identifies a decision (docs/reference/protocol.md, pitfall 9)."""

    match: int
    """Number of the match since the program started; so is `game`."""
    game: int
    turn: int
    """Number of the roll or pass within the game; where each line shows the whole game, of the line that differed."""
    phase: Phase
    """MOVE also if something is to be named."""
    score: tuple[int, int]
    """The points of both players, ours first."""
    board: Board
    dice: tuple[int, ...] | None
    cube: int
    offer: int
    """The cube's offered value, the points of an offered resignation, or the lowest level that we may still offer."""
    todo: Turn = ()
    """What is left of the turn; empty in backgammon."""


@frozen
class InvitationKey:
    """Identifies an invitation."""

    name: str
    length: int
    """Points; 0 is unlimited."""
    number: int
    """Number of the invitation since the program started."""


QuestionKey: TypeAlias = DecisionKey | InvitationKey


@frozen
class Send:
    """Send this command now."""

    command: Command


@frozen
class SendSecret:
    """Send this line now; it answers a password prompt and is shown nowhere."""

    line: str = field(repr=False)


@frozen
class SendLine:
    """Send this line now; it answers a prompt that takes no command."""

    line: str


@frozen
class Ask:
    """Put this question to the strategy and come back with StrategyAnswered."""

    key: QuestionKey
    question: Question


@frozen
class Record:
    """A record for the session log, the match store and observers."""

    name: str
    """The name, such as `match_started`; docs/explanation/agent.md lists them all."""
    fields: Mapping[str, Any] = field(factory=dict)
    """Names and values that JSON can write."""


@frozen
class WakeAt:
    """Send Woken at this time; it replaces what an earlier WakeAt asked for."""

    at: float


class End(enum.Enum):
    """Why connecting again is of no use."""

    FINISHED = "finished"
    """The run has finished as requested."""
    REFUSED = "refused"
    """The server rejects the name and password."""
    REPLACED = "replaced"
    """Somebody else logged in under our name; two that reconnect would disconnect each other for ever (pitfall 4)."""


@frozen
class Disconnect:
    """Close the connection."""

    reason: str
    end: End | None = None
    """None: connect again."""
    restarting: bool = False
    """Whether the server has announced that it restarts or shuts down, and needs time before the next connection."""


Action: TypeAlias = Send | SendSecret | SendLine | Ask | Record | WakeAt | Disconnect


@frozen
class Event:
    """Something that happened."""

    at: float
    """Seconds on a clock that never goes back; only differences matter."""


@frozen
class Connected(Event):
    """A connection was made; the banner comes next."""


@frozen
class MessageReceived(Event):
    """A message of the server came."""

    message: Message


@frozen
class StrategyAnswered(Event):
    """The answer to a question asked with Ask. An answer to a question that is no longer open is dropped."""

    key: QuestionKey
    answer: StrategyAnswer | None
    """None: there is none, not even one of the last resort."""
    fallback: str | None = None
    """Why this is not the strategy's own answer: that was late, raised or answered nonsense."""


@frozen
class Woken(Event):
    """The time that the last WakeAt asked for has come. Waking too early or too often does no harm."""


@frozen
class FinishRequested(Event):
    """A request to finish the match, then log out."""


@frozen
class QuitRequested(Event):
    """A request to log out at once and let the server save the match."""


@frozen
class PauseRequested(Event):
    """A request to start no new matches, or to start them again."""

    paused: bool


@frozen
class OrderGiven(Event):
    """An operator's order that concerns another player: `invite`, `block`, `unblock` or `say`."""

    given: GivenOrder


@frozen
class ListsChanged(Event):
    """The lists of players outside of the configuration say something else."""

    lists: PlayerLists


@frozen
class SettingsChanged(Event):
    """The operator has changed settings; name and password stay as they are."""

    settings: AgentSettings


@frozen
class ConnectionLost(Event):
    """The connection has ended, or could not be made."""

    reason: str = ""
    by_server: bool = False
    """Whether the server closed it properly, and so knows that we are disconnected."""


OrderEvent: TypeAlias = FinishRequested | QuitRequested | PauseRequested | OrderGiven
"""The events that orders lead to."""


def event_for_order(given: GivenOrder, at: float) -> OrderEvent | None:
    """Return the agent's event for an order given at this time; None for an order that only asks for the status."""
    match given.order:
        case Order.PAUSE | Order.RESUME:
            return PauseRequested(at, paused=given.order is Order.PAUSE)
        case Order.INVITE | Order.BLOCK | Order.UNBLOCK | Order.SAY:
            return OrderGiven(at, given)
        case Order.FINISH:
            return FinishRequested(at)
        case Order.QUIT:
            return QuitRequested(at)
    return None
