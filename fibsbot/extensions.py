"""What server, bot and replay take from a package above them, so that none of them imports it.

Each declares the interface of what it takes: `TableHooks` in `fibsbot/server/world.py`, `SeatedPart` in
`fibsbot/bot/seated_part.py`, `SeatedGames` in `fibsbot/replay/seated_games.py`.
"""

from __future__ import annotations

import pkgutil
from typing import Any, Final

_WHERE: Final = {
    "server": "fibsbot.chouette.server:HOOKS",
    "bot": "fibsbot.chouette.bot:ChouetteFlow",
    "replay": "fibsbot.chouette.replay:ChouetteGames",
}
"""What each of them takes: a module, and a name in it."""


def extension(taker: str) -> Any:
    """Return what the package `fibsbot.<taker>` takes; it is loaded when it is first needed."""
    return pkgutil.resolve_name(_WHERE[taker])
