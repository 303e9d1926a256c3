"""The cube: cubeful equities at any score, doubling decisions, answers to doubles, and resignations."""

from __future__ import annotations

from fibsbot.engine.cube.janowski import CENTRED, DEFAULT_EFFICIENCY, OWNED, THEIRS, TURNED, Efficiency
from fibsbot.engine.cube.stakes import OWNER_COLUMN, Stakes, accepts_resignation, level_to_resign, resigned_equity
from fibsbot.engine.cube.verdict import CubeVerdict, DoubleAnswer, Market, cube_verdict

__all__ = [
    "CENTRED",
    "DEFAULT_EFFICIENCY",
    "OWNED",
    "OWNER_COLUMN",
    "THEIRS",
    "TURNED",
    "CubeVerdict",
    "DoubleAnswer",
    "Efficiency",
    "Market",
    "Stakes",
    "accepts_resignation",
    "cube_verdict",
    "level_to_resign",
    "resigned_equity",
]
