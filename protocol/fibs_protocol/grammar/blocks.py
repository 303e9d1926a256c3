"""Blocks: lines that are recognised only by the line that begins their block, such as the message of the day."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from fibs_protocol import messages as m
from fibs_protocol.grammar.clip import MOTD_END
from fibs_protocol.grammar.lobby import DICETEST_END
from fibs_protocol.grammar.templates import Wording, says


@frozen
class Block:
    """The lines that follow a certain line."""

    row: Wording[Any]
    """The wording of a line of the block."""
    end: Wording[Any] | None
    """The line that ends the block: until then every line belongs to it, whatever it looks like. None if the
    server does not mark the end: then only lines without another meaning belong to it, and the first one that does
    not fit ends it."""


_PROSE: Final = says(m.ProseLine, "{text:text}")
BANNER: Final = Block(_PROSE, None)
"""The text before the login prompt: the block at the start of a connection."""
BLOCKS: Final[dict[type[m.Message], Block]] = {
    m.GuestWelcome: Block(_PROSE, None),
    m.Goodbye: Block(_PROSE, None),
    m.MotdStart: Block(says(m.MotdLine, "{text:text}"), MOTD_END),
    m.DicetestStart: Block(says(m.DicetestLine, "{text:text}"), DICETEST_END),
    # The last line begins with a number, which could be taken for CLIP's.
    m.StatStart: Block(
        says(m.StatLine, "{text:text}"), says(m.StatEnd, "{ratings} ratings saved. reset log {resets} times.")
    ),
    m.AwayListStart: Block(says(m.AwayListed, "{name}: {text:text}"), None),
    m.WaitingForMany: Block(says(m.WaitingForNames, "  {names:list}"), None),
    m.BadTimezone: Block(says(m.TimezonesListed, "{names:zones}"), None),
}
"""The blocks by the message that begins them."""
