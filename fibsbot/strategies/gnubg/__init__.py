"""The strategy `gnubg`: GNU Backgammon as a child process."""

from __future__ import annotations

from fibsbot.strategies.gnubg.strategy import GnubgStrategy

__all__ = ["GnubgStrategy"]
