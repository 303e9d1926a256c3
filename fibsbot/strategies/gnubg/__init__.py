"""The strategy `gnubg`: GNU Backgammon as a child process.

The modules:

    strategy.py      the strategy, and values of positions and plays
    external_mode.py gnubg's external mode, for decisions
    bridge.py        the script that gnubg runs for the values
"""

from __future__ import annotations

from fibsbot.strategies.gnubg.strategy import GnubgStrategy

__all__ = ["GnubgStrategy"]
