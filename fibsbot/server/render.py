"""How a message looks to one user: as lines of text."""

from __future__ import annotations

import textwrap
from typing import Final

from fibsbot.server.users import User
from fibsbot.server.world import ClearScreen
from protocol import messages as m
from protocol.drawing import draw
from protocol.grammar import write, write_telnet
from protocol.messages import Message
from protocol.words import YOU, Toggle

BELL: Final = "\x07"
CLEAR_SCREEN: Final = "\x1b[;H\x1b[2J"
RINGING: Final = (m.Says, m.Alert, m.Invitation, m.ResumeInvitation)
"""What rings the bell of a user who has the toggle on."""
SHARED: Final = (m.WhoInfo, m.WhoEnd, m.LoggedIn, m.LoggedOut, m.Shouts)
"""What many users are told at once, and what looks the same to all of them who use a client."""


def render(user: User, message: Message) -> list[str]:
    """Return the lines that tell a user something; none if it is not for this kind of user.

    Raises:
        LocalProtocolError: if no line can carry a field of the message.
    """
    if isinstance(message, m.Board) and user.settings.boardstyle != 3:
        name = user.name if message.state.player == YOU else message.state.player
        return ["", *draw(message.state, style=user.settings.boardstyle, own_name=name), ""]
    if isinstance(message, ClearScreen):
        return [CLEAR_SCREEN]
    if user.clip:
        line = write(message)
    else:
        line = write_telnet(message)
        if not line and not isinstance(message, m.Unknown | m.MotdLine):
            return []
    if isinstance(message, m.AwaitedLoggedIn):
        line += 3 * BELL
    elif isinstance(message, RINGING) and user.settings[Toggle.BELL]:
        line += BELL
    length = user.settings.linelength
    if user.clip or not length or len(line) <= length:
        return [line]
    return textwrap.wrap(line, length, drop_whitespace=False) or [""]
