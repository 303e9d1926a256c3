"""The analysis in files of eXtreme Gammon: what it says of each decision.

Equities are normalised to the cube before the decision, and those of the player who decided. Its 3-ply looks as far
ahead as 2-ply does elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fibsbot.formats.cube_figures import CubeFigures
from fibsbot.formats.xg_records import Record
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play, Position
from fibsbot.transcript import Verdict

_LEVELS: Final = {
    12: "3-ply reduced",
    100: "rollout",
    998: "opening book",
    999: "opening book",
    1000: "Roller",
    1001: "Roller+",
    1002: "Roller++",
}
"""How it searched, by the numbers in the file; 0 to 6 are 1-ply to 7-ply."""
_MOST_PLAYS: Final = 32
_NO_ANALYSIS: Final = -100
_CUBE: Final = 64
"""Where the analysis of the cube begins in its record."""
_PLAYS: Final = 124
"""Where the analysis of plays begins in their record."""


def _level_name(level: int) -> str:
    return f"XG {level + 1}-ply" if 0 <= level <= 6 else f"XG {_LEVELS.get(level, f'level {level}')}"


def _cube_figures(record: Record) -> CubeFigures | None:
    if record.short(_CUBE + 56) == _NO_ANALYSIS:
        return None
    no_double, double_take, double_pass = (record.single(_CUBE + at) for at in (88, 92, 96))
    if no_double is None or double_take is None or double_pass is None:
        return None
    return CubeFigures(_level_name(record.integer(_CUBE + 28)), no_double, double_take, double_pass)


def double_verdict(record: Record) -> Verdict | None:
    """Return what is said of the decision to double or not to."""
    figures, error = _cube_figures(record), record.figure(200)
    if figures is None or error is None:
        return None
    best = max(figures.no_double, figures.doubled)
    return Verdict(figures.by, abs(error), figures.action.value, best)


def answer_verdict(record: Record) -> Verdict | None:
    """Return what is said of a take or a pass."""
    figures, error = _cube_figures(record), record.figure(216)
    if figures is None or error is None:
        return None
    return Verdict(figures.by, abs(error), figures.answer.value, -figures.doubled)


def cube_remark(record: Record) -> str:
    """Return what is said of a position in which nothing was decided; empty without an analysis."""
    figures = _cube_figures(record)
    if figures is None:
        return ""
    return (
        f"{figures.by}: no double {figures.no_double:+.3f}, double/take {figures.double_take:+.3f}, "
        f"double/pass {figures.double_pass:+.3f}; best: {figures.action.value}, then {figures.answer.value}"
    )


def play_verdict(record: Record, play_to: Callable[[tuple[int, ...]], Play | None], before: Position) -> Verdict | None:
    """Return what is said of a play; `play_to` finds the play that leads to a position.

    The first play listed is the best, which losses are measured against. A play that was not made loses nothing.
    """
    error, count = record.figure(2312), record.integer(_PLAYS + 64)
    was_played = record.flag(2308)
    if not 0 < count <= _MOST_PLAYS or (error is None and was_played):
        return None
    best = play_to(record.cells(_PLAYS + 68))
    if best is None:
        return None
    return Verdict(
        by=_level_name(record.short(_PLAYS + 1156)),
        loss=abs(error or 0.0) if was_played else 0.0,
        best=format_play(best, before),
        equity=record.single(_PLAYS + 1284 + 24),
        luck=record.figure(2320),
    )
