"""The strategy `gnubg`: GNU Backgammon as a child process.

The modules:

    strategy.py      the strategy
    external_mode.py gnubg's external mode, for decisions
    values.py        values of positions and plays
    bridge.py        the script that gnubg runs for them
"""

from __future__ import annotations

from fibsbot.strategies.gnubg.strategy import GnubgStrategy

__all__ = ["GnubgStrategy"]
