"""A bot that plays backgammon unattended on FIBS and servers that speak its protocol, and a library for backgammon.

    import fibsbot as bg

    board = bg.Board().roll(3, 1)
    print(board, board.plays)

Names are imported when they are first used; neither numpy nor the engine before something is evaluated.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fibsbot.version import __version__

if TYPE_CHECKING:
    from fibs_protocol import connect
    from fibsbot.engine.engine import Engine
    from fibsbot.library.board import Board
    from fibsbot.library.evaluations import cube, evaluate, rank, rollout
    from fibsbot.library.matches import Match, analyse, read, write
    from fibsbot.library.pictures import draw
    from fibsbot.position import Play
    from fibsbot.rules.errors import RuleError
    from fibsbot.rules.laws import Laws

__all__ = [
    "Board",
    "Engine",
    "Laws",
    "Match",
    "Play",
    "RuleError",
    "__version__",
    "analyse",
    "connect",
    "cube",
    "draw",
    "evaluate",
    "rank",
    "read",
    "rollout",
    "write",
]

_HOMES: Final = {
    "Board": "fibsbot.library.board",
    "Engine": "fibsbot.engine.engine",
    "Laws": "fibsbot.rules.laws",
    "Match": "fibsbot.library.matches",
    "Play": "fibsbot.position",
    "RuleError": "fibsbot.rules.errors",
    "analyse": "fibsbot.library.matches",
    "connect": "fibs_protocol",
    "cube": "fibsbot.library.evaluations",
    "draw": "fibsbot.library.pictures",
    "evaluate": "fibsbot.library.evaluations",
    "rank": "fibsbot.library.evaluations",
    "read": "fibsbot.library.matches",
    "rollout": "fibsbot.library.evaluations",
    "write": "fibsbot.library.matches",
}
"""The module of each name."""


if not TYPE_CHECKING:  # type checkers shall report names that are not there

    def __getattr__(name: str) -> Any:
        """Import a name of the library when it is first used."""
        if name not in _HOMES:
            from fibsbot.library.hints import MODULE_HINTS, missing  # noqa: PLC0415 - only where it is needed

            if name in MODULE_HINTS:
                raise missing(sys.modules[__name__], f"module {__name__!r}", name, MODULE_HINTS[name])
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the names of the library, too."""
    return sorted({*globals(), *__all__})
