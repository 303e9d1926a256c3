"""Orders of operators, the same by `tell` and over the control socket (docs/reference/chat.md)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Final, Self

from attrs import frozen

from fibsbot.match import LONGEST_MATCH
from fibsbot.policy import full_game_name, is_game, is_player_name
from fibsbot.policy.policy import UNLIMITED_WORD

MAX_SAID: Final = 200
"""Characters of what the bot says to somebody by an order."""


class Order(enum.Enum):
    """An order; the value is the word that gives it."""

    STATUS = "status", "say what the bot is doing"
    PAUSE = "pause", "start no new match until `resume`"
    RESUME = "resume", "start matches again after `pause`"
    CONNECT = "connect", "try to connect now, without waiting for the end of the pause"
    INVITE = "invite", "invite a player, once, as soon as both are free within an hour", "NAME LENGTH [GAME]"
    BLOCK = "block", "play a player no more, also after a restart; a match that is on is finished", "NAME"
    UNBLOCK = "unblock", "undo `block`", "NAME"
    SAY = "say", "tell a player something", "NAME TEXT"
    FINISH = "finish", "finish the match, then log out"
    QUIT = "quit", "log out at once; the server saves the match"

    help: str
    """A short description."""
    arguments: str
    """What follows the word; empty if nothing does."""

    def __new__(cls, word: str, text: str, arguments: str = "") -> Self:
        """Create a member whose value is the word alone."""
        order = object.__new__(cls)
        order._value_ = word
        order.help = text
        order.arguments = arguments
        return order

    @property
    def usage(self) -> str:
        """The word and what follows it: `invite NAME LENGTH [GAME]`."""
        return f"{self.value} {self.arguments}".rstrip()


TOLD_ORDERS: Final = tuple(order for order in Order if order is not Order.CONNECT)
"""The orders that can be given by `tell`, which takes a connection."""


@frozen
class GivenOrder:
    """An order with what it needs."""

    order: Order
    name: str = ""
    """The player whom it is about; empty if it is about none."""
    length: int = 0
    """Points of the match to invite to; 0 is unlimited."""
    game: str | None = None
    """Its game, if it is not backgammon."""
    text: str = ""
    """What is to be said."""


def parse_order(text: str, among: Iterable[Order] = Order) -> Order | None:
    """Parse the word of an order, in any case; return None for anything else."""
    word = text.strip().lower()
    word = "finish" if word == "last" else word  # the older word
    return next((order for order in among if order.value == word), None)


def give_order(order: Order, arguments: Sequence[str] = ()) -> GivenOrder:
    """Return an order with its arguments. Raises ValueError, whose text is one line, if they do not fit."""
    words = list(arguments)
    if not order.arguments:
        if words:
            raise ValueError(f"expected {order.usage}, got more words")
        return GivenOrder(order)
    name, rest = (words[0], words[1:]) if words else ("", [])
    if not is_player_name(name):
        raise ValueError(f"expected {order.usage} with the name of a player, got {name!r}")
    if order is Order.INVITE:
        return _invitation(name, rest)
    if order is Order.SAY:
        return GivenOrder(order, name, text=_said(" ".join(rest)))
    if rest:
        raise ValueError(f"expected {order.usage}, got more words")
    return GivenOrder(order, name)


def _invitation(name: str, words: list[str]) -> GivenOrder:
    if len(words) not in {1, 2}:
        raise ValueError(f"expected {Order.INVITE.usage}, got {'more words' if words else 'no length'}")
    length = 0 if words[0] == UNLIMITED_WORD else int(words[0]) if words[0].isdecimal() and len(words[0]) < 4 else -1
    if length < 0 or (length == 0 and words[0] != UNLIMITED_WORD) or length > LONGEST_MATCH:
        raise ValueError(f"expected points from 1 to {LONGEST_MATCH}, or {UNLIMITED_WORD}, got {words[0]!r}")
    game = words[1].lower() if len(words) > 1 else None
    if game is not None and not is_game(game):
        raise ValueError(f"expected the name of a game, such as plakoto, got {words[1]!r}")
    return GivenOrder(Order.INVITE, name, length, full_game_name(game) if game else None)


def _said(text: str) -> str:
    if not text.isascii() or not text.isprintable() or not text.strip():
        raise ValueError("expected a text of printable ASCII characters in one line")
    if len(text) > MAX_SAID:
        raise ValueError(f"expected a text of at most {MAX_SAID} characters, got {len(text)}")
    return text
