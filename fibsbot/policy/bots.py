"""Which players are programs, as far as one can tell: no server says so."""

from __future__ import annotations

import re
from typing import Final

_CODE: Final = "="
"""A client that begins so is the code of a player's profile, which only programs have."""
_PROGRAM: Final = re.compile(r"(?i:bot)(?![a-z])|(?i:computer)")
"""`GammonBot`, `bot_1p`, `fibsbot_2`, `RepBotNG`, `Computer_player`; not `Botticelli` or `bottle`."""
_KNOWN: Final = re.compile(r"(?i:gnubg|matchdog|montecarlo|wildbg)")
"""Programs whose names and clients do not say it otherwise."""


def is_bot(name: str, client: str | None = None) -> bool:
    """Whether a player seems to be a program, by the name or by what the player's program calls itself."""
    if client and client.startswith(_CODE):
        return True
    return any(_PROGRAM.search(word) or _KNOWN.match(word) for word in (name, client or ""))
