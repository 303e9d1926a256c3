"""The analysis in files of BGBlitz: what it says of each decision.

In a match its figures of the cube are chances to win the match. The equity of the position and its chance, and the
equity of 1 for a pass and its chance, are two points of the line that turns chances into equities normalised to the
cube. In an unlimited match the figures are such equities. The luck of a roll is normalised to the cube as well: it is
`luckWeighted` in a match and `luckPlain` elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from fibsbot.formats.bgf_fields import Fields
from fibsbot.formats.cube_figures import CubeFigures
from fibsbot.match import CubeAction
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play, Position
from fibsbot.transcript import Verdict

Moves: TypeAlias = Sequence[tuple[int, int]]
_DECIDED: Final = ("NO_DOUBLE", "DOUBLE", "RE_DOUBLE")
"""What it calls the best action before a roll, where there was a choice."""
_CUBE: Final = ("eqNoDouble", "eqDoubleTake", "eqDoublePass")
_LEAST_SLOPE: Final = 1e-6
_DEEPEST: Final = 99
_BAR: Final = 25


def moves_of(record: Fields) -> Moves:
    """Return the moves of a play, from source to target as the player sees the board; 0 is off."""
    sources, targets = (record.numbers(name, count=4, lowest=-1, highest=_BAR) for name in ("from", "to"))
    pairs = zip(sources, targets, strict=False)
    moves = []
    for source, target in pairs:
        if source < 0:
            break
        moves.append((source, max(target, 0)))
    return moves


def _by(record: Fields) -> str:
    ply = record.number("ply", 0, lowest=0, highest=_DEEPEST)
    return f"BGBlitz {ply}-ply" if ply else "BGBlitz"


def cube_figures(record: Fields) -> CubeFigures | None:
    """Return what is said of a double before a roll; None without an analysis."""
    equity = record.part("equity")
    cube = equity.part("cubeDecision")
    no_double, double_take, double_pass = (
        cube.figure(f"eq{name}") for name in ("NoDouble", "DoubleTake", "DoublePass")
    )
    if no_double is None or double_take is None or double_pass is None:
        return None
    normalised, chance = equity.figure("emg"), equity.figure("matchEquity")
    if not equity.flag("hasEMG", otherwise=normalised is not None):
        return CubeFigures(_by(record), no_double, double_take, double_pass)
    if normalised is None or chance is None or abs(1 - normalised) < _LEAST_SLOPE:
        return None
    slope = (double_pass - chance) / (1 - normalised)
    if slope < _LEAST_SLOPE:
        return None
    equities = [1 + (figure - double_pass) / slope for figure in (no_double, double_take)]
    return CubeFigures(_by(record), round(equities[0], 6), round(equities[1], 6), 1.0)


def double_verdict(record: Fields, action: CubeAction) -> Verdict | None:
    """Return what is said of a decision to double, or of one to roll, where there was a choice."""
    figures = cube_figures(record)
    if figures is None:
        return None
    if action is CubeAction.ROLL and record.part("equity").part("cubeDecision").text("stateOnMove") not in _DECIDED:
        return None
    chosen, other = figures.no_double, figures.doubled
    if action is CubeAction.DOUBLE:
        chosen, other = other, chosen
    return Verdict(figures.by, round(max(other - chosen, 0.0), 6), figures.action.value, max(chosen, other))


def answer_verdict(record: Fields, action: CubeAction) -> Verdict | None:
    """Return what is said of a take or a pass; `record` is that of the double."""
    figures = cube_figures(record)
    if figures is None:
        return None
    chosen = figures.double_take if action is CubeAction.TAKE else figures.double_pass
    return Verdict(figures.by, round(chosen - figures.doubled, 6), figures.answer.value, -figures.doubled)


def _equity(equity: Fields) -> float | None:
    """Return the equity after a play, normalised to the cube."""
    normalised = equity.figure("emg")
    if equity.flag("hasEMG", otherwise=normalised is not None):
        return normalised
    return equity.part("cubeDecision").figure("eqCubeFul")


def _luck(record: Fields) -> float | None:
    luck = record.part("luck")
    return luck.figure("luckPlain" if luck.text("mode") == "Money" else "luckWeighted")


def play_verdict(record: Fields, play_of: Callable[[Moves], Play | None], before: Position) -> Verdict | None:
    """Return what is said of a play; `play_of` finds the legal play with these moves.

    None where the play that was made, or the best one, has no equity.
    """
    options = record.parts("moveAnalysis", f"{record.place}, play")
    listed = [(found, option) for option in options if (found := _equity(option.part("eq"))) is not None]
    made = next((equity for equity, option in listed if option.flag("played")), None)
    if made is None:
        return None
    equity, best = max(listed, key=lambda item: item[0])
    play = play_of(moves_of(best.part("move")))
    if play is None:
        return None
    return Verdict(_by(best), round(equity - made, 6), format_play(play, before), equity, _luck(record))


def dance_verdict(record: Fields, before: Position) -> Verdict | None:
    """Return what is said of a roll without a legal play."""
    equity = _equity(record.part("dancingEquity"))
    return None if equity is None else Verdict(_by(record), 0.0, format_play(Play(), before), equity, _luck(record))
