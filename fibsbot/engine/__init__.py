"""Evaluation: generator, inputs, networks, bear-off tables, match equity, cube, search, and how they are trained.

Nothing in here is imported by a command that needs no engine: numpy and numba take a moment to load.
"""

from typing import Final

MOST_PLIES: Final = 4
"""How deep a search may be told to look: each ply takes about thirty times as long."""
