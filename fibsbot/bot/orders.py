"""Orders of operators, the same by `tell` and over the control socket (docs/reference/chat.md)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final, Self


class Order(enum.Enum):
    """An order; the value is the word that gives it."""

    STATUS = "status", "say what the bot is doing"
    PAUSE = "pause", "start no new match until `resume`"
    RESUME = "resume", "start matches again after `pause`"
    CONNECT = "connect", "try to connect now, without waiting for the end of the pause"
    FINISH = "finish", "finish the match, then log out"
    QUIT = "quit", "log out at once; the server saves the match"

    help: str
    """A short description."""

    def __new__(cls, word: str, text: str) -> Self:
        """Create a member whose value is the word alone."""
        order = object.__new__(cls)
        order._value_ = word
        order.help = text
        return order


TOLD_ORDERS: Final = tuple(order for order in Order if order is not Order.CONNECT)
"""The orders that can be given by `tell`, which takes a connection."""


def parse_order(text: str, among: Iterable[Order] = Order) -> Order | None:
    """Parse an order: one word in any case; return None for anything else."""
    word = text.strip().lower()
    word = "finish" if word == "last" else word  # the older word
    return next((order for order in among if order.value == word), None)
