"""What the terms of a position with contact weigh.

Two sums are made of a position, and the logistic function makes a chance of each: who wins, and whether it is a
gammon if he does. In the first sum a term speaks for the side that it is about, with one weight for the player on roll
and another for the one who waits where that matters. In the second it speaks for a gammon, with one weight for the
winner's terms and another for the loser's. A weight of 0.4 moves an even chance by a tenth.

The terms were chosen by hand. Their weights are logistic regressions on the results of games that the strategy played
against itself, first with weights set by hand, then with those of the round before.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from attrs import frozen

Row: TypeAlias = tuple[float, float, float, float]
"""Of the player on roll, of the one who waits, of a gammon's winner, of its loser."""


@frozen
class Weights:
    """The weights of one kind of position."""

    win: float
    """Added to the first sum in any case, for being on roll; `gammon` to the second."""
    lead: float
    """For the lead in the race of the player on roll, in standard deviations."""
    gammon: float
    gammon_on_roll: float
    """For a gammon if its winner is on roll, against it if its loser is; so is `gammon_lead`, times the lead."""
    gammon_lead: float
    on_roll: tuple[float, ...]
    """One weight a term, in the order of TERMS; so are the next three."""
    waiting: tuple[float, ...]
    winner: tuple[float, ...]
    loser: tuple[float, ...]


# fmt: off
TERMS: Final[dict[str, tuple[Row, Row]]] = {
    #                                   both sides have checkers back  | one side has none back
    #                                   on roll  wait    win   lose   | on roll  wait    win   lose
    "point 1 made":                  (( 0.24,  0.24,  0.51,  0.12), ( 0.10,  0.10,  0.32,  0.19)),
    "point 2 made":                  (( 0.38,  0.38,  0.53,  0.05), ( 0.24,  0.24,  0.45,  0.05)),
    "point 3 made":                  (( 0.20,  0.20,  0.30,  0.14), ( 0.03,  0.03,  0.16,  0.31)),
    "point 4 made":                  (( 0.29,  0.29,  0.33,  0.10), ( 0.14,  0.14,  0.21,  0.13)),
    "point 5 made":                  (( 0.42,  0.42,  0.44,  0.05), ( 0.26,  0.26,  0.40,  0.07)),
    "point 6 made":                  (( 0.49,  0.49,  0.68, -0.01), ( 0.32,  0.32,  0.44, -0.08)),
    "point 7 made":                  (( 0.20,  0.20,  0.40,  0.05), ( 0.23,  0.23,  0.41, -0.05)),
    "point 8 made":                  (( 0.21,  0.21,  0.42,  0.04), ( 0.23,  0.23,  0.39, -0.07)),
    "point 9 made":                  (( 0.26,  0.26,  0.47,  0.03), ( 0.22,  0.22,  0.36, -0.04)),
    "point 10 made":                 (( 0.25,  0.25,  0.43, -0.01), ( 0.19,  0.19,  0.42, -0.05)),
    "point 11 made":                 (( 0.27,  0.27,  0.32,  0.05), ( 0.15,  0.15,  0.39, -0.12)),
    "point 12 made":                 (( 0.30,  0.30,  0.49, -0.14), ( 0.17,  0.17,  0.40,  0.00)),
    "point 13 made":                 (( 0.32,  0.32,  0.41,  0.18), ( 0.18,  0.18,  0.33,  0.27)),
    "point 14 made":                 (( 0.27,  0.27,  0.25,  0.23), ( 0.09,  0.09,  0.25,  0.31)),
    "point 15 made":                 (( 0.38,  0.38,  0.55,  0.17), ( 0.11,  0.11,  0.41,  0.27)),
    "point 16 made":                 (( 0.37,  0.37,  0.63,  0.15), ( 0.09,  0.09,  0.50,  0.33)),
    "point 17 made":                 (( 0.14,  0.14,  0.05,  0.50), ( 0.17,  0.17,  0.50,  0.49)),
    "point 18 made":                 (( 0.35,  0.35,  0.44,  0.20), ( 0.45,  0.45,  0.80,  0.54)),
    "point 19 made":                 (( 0.40,  0.40, -0.04,  0.09), ( 0.30,  0.30, -0.26,  0.09)),
    "point 20 made":                 (( 0.36,  0.36, -0.12, -0.20), ( 0.16,  0.16, -0.03,  0.08)),
    "point 21 made":                 (( 0.35,  0.35, -0.10, -0.19), ( 0.24,  0.24,  0.09,  0.08)),
    "point 22 made":                 (( 0.31,  0.31, -0.08, -0.14), ( 0.31,  0.31,  0.37,  0.01)),
    "point 23 made":                 (( 0.26,  0.26,  0.10, -0.16), ( 0.38,  0.38,  0.84, -0.09)),
    "point 24 made":                 (( 0.26,  0.26,  0.01, -0.03), ( 0.50,  0.50,  0.47, -0.09)),
    "home board of 4 points":        (( 0.08,  0.08,  0.01, -0.06), ( 0.10,  0.10,  0.04, -0.18)),
    "home board of 5 points":        (( 0.03,  0.03, -0.11, -0.16), ( 0.08,  0.08,  0.00, -0.30)),
    "home board of 6 points":        (( 0.31,  0.31, -0.20, -0.64), ( 0.07,  0.07, -0.16, -0.48)),
    "blot at home":                  (( 0.06,  0.06,  0.19,  0.11), ( 0.03,  0.03,  0.11,  0.13)),
    "blot in the outer board":       (( 0.16,  0.16,  0.22,  0.06), ( 0.11,  0.11,  0.28, -0.03)),
    "blot in the far outer board":   (( 0.14,  0.14,  0.29,  0.13), ( 0.15,  0.15,  0.29,  0.13)),
    "blot in the far home board":    (( 0.07,  0.07,  0.07,  0.00), ( 0.07,  0.07,  0.15, -0.16)),
    "third checker on 4 to 8":       (( 0.15,  0.15,  0.16, -0.02), ( 0.11,  0.11,  0.18, -0.05)),
    "third checker on 9 to 13":      (( 0.15,  0.15,  0.17, -0.01), ( 0.09,  0.09,  0.08,  0.00)),
    "checker beyond the third":      (( 0.09,  0.09,  0.11,  0.02), ( 0.02,  0.02,  0.05,  0.03)),
    "checker on 1 or 2":             ((-0.10, -0.10, -0.12,  0.06), (-0.13, -0.13, -0.17,  0.16)),
    "rolls that hit":                (( 0.06,  0.08, -0.12, -0.32), ( 0.02,  0.23,  0.17,  0.15)),
    "pips lost to hits":             ((-0.15, -0.62, -0.26,  0.62), (-0.72, -1.91, -0.95,  1.45)),
    "rolls that hit, by board":      ((-0.11, -0.22,  0.39,  0.76), ( 0.14, -0.66, -0.19,  0.03)),
    "rolls that hit near home":      (( 0.05,  0.07,  0.28, -0.03), ( 0.28,  0.06,  0.35, -0.03)),
    "on the bar":                    ((-0.13, -0.03, -0.11, -0.08), (-0.15,  0.23, -0.17, -0.21)),
    "more on the bar":               (( 0.03,  0.02,  0.12,  0.28), ( 0.25,  0.28,  0.04,  0.42)),
    "dancing":                       ((-0.56,  0.11, -0.42,  0.96), (-1.70, -0.63, -1.66,  0.98)),
    "a checker back":                (( 0.00,  0.00,  0.00,  0.00), (-0.08, -0.08,  1.27,  0.05)),
    "a second back":                 ((-0.02, -0.02,  0.15,  0.01), ( 0.02,  0.02,  0.12,  0.42)),
    "checkers back":                 (( 0.14,  0.14,  0.42,  0.14), ( 0.54,  0.54,  0.76,  0.17)),
    "farthest checker":              (( 0.07,  0.07,  0.69,  0.48), (-1.19, -1.19,  0.39,  1.23)),
    "rolls that are blocked":        ((-0.84, -0.78, -0.25, -0.13), (-0.04,  0.28,  0.07,  0.16)),
    "blocked, for each back":        ((-0.01,  0.03,  0.04, -0.02), (-0.02,  0.04, -0.02, -0.24)),
    "back without anchor, by board": ((-0.15, -0.15, -0.07,  0.07), (-0.28, -0.30,  0.01, -0.10)),
    "blots back, by board":          (( 0.24,  0.24, -0.04, -0.21), ( 0.02,  0.47,  0.13,  0.08)),
    "an anchor":                     ((-0.13, -0.13,  0.11, -0.08), (-0.41, -0.41, -0.04, -0.37)),
    "prime of 4":                    (( 0.08,  0.08, -0.03, -0.02), ( 0.06,  0.06, -0.05,  0.02)),
    "prime of 5":                    (( 0.18,  0.18,  0.05, -0.10), ( 0.05,  0.05,  0.14, -0.11)),
    "prime of 6":                    (( 0.51,  0.51,  0.04, -0.54), ( 0.17,  0.17,  0.13,  0.26)),
    "opponent on the bar, by board": (( 0.00, -0.11, -0.03,  0.09), (-0.05, -0.27,  0.01,  0.36)),
    "checkers off":                  (( 2.65,  2.65,  1.58, -1.09), ( 1.46,  1.46,  0.67, -0.91)),
    "a checker off":                 ((-0.01, -0.01, -0.27, -4.93), (-0.10, -0.10, -0.24, -4.97)),
    "checkers outside home":         (( 0.40,  0.40, -0.71,  0.41), ( 0.29,  0.29, -0.74,  2.19)),
    "quarters to cross":             (( 0.51,  0.51,  0.21, -0.76), ( 0.01,  0.01,  0.08, -1.76)),
    "checkers still to pass":        ((-0.29, -0.29,  0.35,  0.26), ( 0.08,  0.08,  0.45, -0.71)),
    "pips to spare":                 (( 0.54,  0.54,  0.72,  0.08), ( 1.70,  1.70,  2.63, -0.04)),
    "race lead when all are past":   (( 0.00,  0.00,  0.00,  0.00), ( 0.48,  0.48,  0.44,  0.15)),
}
# fmt: on
"""For each term its weights while both sides have checkers in the other's home board or on the bar, and after."""

BACKGAMMONS: Final = (0.0, 0.02, 0.04, 0.08, 0.12, 0.15, 0.2)
"""Of 1 gammons, how many are backgammons, by the loser's checkers in the winner's home board or on the bar."""


def _weights(column: int, general: tuple[float, float, float, float, float]) -> Weights:
    """Build the weights of one kind of position; general are the fields of Weights that are one number."""
    on_roll, waiting, winner, loser = zip(*(both[column] for both in TERMS.values()), strict=True)
    return Weights(*general, on_roll, waiting, winner, loser)


BOTH_BACK: Final = _weights(0, (0.02, 0.64, -6.52, -0.02, 0.56))
ONE_AWAY: Final = _weights(1, (0.14, 0.46, -8.45, -0.01, 0.85))
