"""What an operator can order a bot to do: the same words by tell and over the control socket (docs/agent.md)."""

from __future__ import annotations

import enum
from typing import Self


class Order(enum.Enum):
    """An order, by the word that gives it."""

    STATUS = "status", "say what the bot is doing"
    PAUSE = "pause", "start no new match until `resume`"
    RESUME = "resume", "start matches again after `pause`"
    FINISH = "finish", "finish the match, then log out"
    QUIT = "quit", "log out at once; the server saves the match"

    help: str
    """What it does, in a few words."""

    def __new__(cls, word: str, text: str) -> Self:
        """Make a member whose value is the word alone."""
        order = object.__new__(cls)
        order._value_ = word
        order.help = text
        return order


def parse_order(text: str) -> Order | None:
    """Read an order: one word, whose case does not matter; None for anything else."""
    word = text.strip().lower()
    return next((order for order in Order if order.value == word), None)
