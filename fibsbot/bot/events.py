"""What happens to the agent. Every event tells when it happened, because the agent reads no clock."""

from __future__ import annotations

from attrs import frozen

from fibsbot.bot.orders import Order
from fibsbot.bot.questions import Answer, AnyKey
from fibsbot.bot.settings import AgentSettings
from protocol.messages import Message


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
    """The server said something."""

    message: Message


@frozen
class StrategyAnswered(Event):
    """The answer to a question asked with Ask. An answer to a question that is no longer open is dropped."""

    key: AnyKey
    answer: Answer
    fallback: str | None = None
    """Why the strategy's own answer is not this one: it was late, raised or answered nonsense."""


@frozen
class Woken(Event):
    """The time that the last WakeAt asked for has come. Waking too early or too often does no harm."""


@frozen
class FinishRequested(Event):
    """Somebody wants an end: finish the match, then log out."""


@frozen
class QuitRequested(Event):
    """Somebody wants an end at once: log out, and let the server save the match."""


@frozen
class PauseRequested(Event):
    """Somebody wants no new matches for now, or wants them again."""

    paused: bool


@frozen
class SettingsChanged(Event):
    """The operator has changed settings; name and password stay as they are."""

    settings: AgentSettings


@frozen
class ConnectionLost(Event):
    """The connection has ended, or could not be made."""

    reason: str = ""
    by_server: bool = False
    """Whether the server closed it in order, and so knows that we are gone."""


def ordered(order: Order, at: float) -> FinishRequested | QuitRequested | PauseRequested | None:
    """Return what happens to the agent when an order is given at this time; None if it only asks."""
    match order:
        case Order.PAUSE | Order.RESUME:
            return PauseRequested(at, paused=order is Order.PAUSE)
        case Order.LAST:
            return FinishRequested(at)
        case Order.QUIT:
            return QuitRequested(at)
    return None
