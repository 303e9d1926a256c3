"""Blocks: lines that can be known only by the line that began their block, such as the message of the day."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from protocol import messages as m
from protocol.grammar.wording import Wording, says


@frozen
class Block:
    """What follows a certain line."""

    row: Wording[Any]
    """How a line of the block is read and written."""
    end: type[m.Message] | None
    """The message that closes the block: until then every line belongs to it, whatever it seems to say. None if the
    server does not mark the end: then only lines belong to it that say nothing else, and the first that does not fit
    ends it."""


BLOCKS: Final[dict[type[m.Message], Block]] = {
    m.MotdStart: Block(says(m.MotdLine, "{text:text}"), m.MotdEnd),
    m.DicetestStart: Block(says(m.DicetestLine, "{text:text}"), m.DicetestEnd),
    m.StatStart: Block(says(m.StatLine, "{text:text}"), m.StatEnd),
    m.AwayListStart: Block(says(m.AwayListed, "{name}: {text:text}"), None),
    m.WaitingForMany: Block(says(m.WaitingForNames, "  {names:list}"), None),
    m.BadTimezone: Block(says(m.TimezonesListed, "{names:list},"), None),
}
"""By the message that begins the block."""
