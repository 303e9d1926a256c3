"""The cube: what it makes positions worth at any score, when to turn it, what to answer, and when to resign."""

from __future__ import annotations

from fibsbot.engine.cube.efficiency import DEFAULT, Efficiency
from fibsbot.engine.cube.janowski import CENTRED, LOST, OWNED, TURNED
from fibsbot.engine.cube.market import Market
from fibsbot.engine.cube.resignation import accepts, level_to_resign, settled
from fibsbot.engine.cube.stakes import COLUMN, Stakes
from fibsbot.engine.cube.verdict import Answer, Verdict, cube_verdict

__all__ = [
    "CENTRED",
    "COLUMN",
    "DEFAULT",
    "LOST",
    "OWNED",
    "TURNED",
    "Answer",
    "Efficiency",
    "Market",
    "Stakes",
    "Verdict",
    "accepts",
    "cube_verdict",
    "level_to_resign",
    "settled",
]
