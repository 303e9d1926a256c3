"""What the terms of a position with contact weigh.

Three sums decide: `win` for the game, `win gammon` for the share of the wins that are gammons, `lose gammon` for the
share of the losses. Each column is added up for the player on roll and for the one who waits; the logistic function
makes a chance of the sum, so 0.4 is worth about ten in a hundred of an even game. The terms were chosen by hand; the
weights are a logistic regression on the results of games that the strategy played against itself.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Row: TypeAlias = tuple[float, float, float, float, float, float]
"""Win, win gammon and lose gammon, each for the player on roll and for the one who waits."""

CONSTANT: Final = (-0.00, -7.25, -7.20)
"""Added whatever the position."""
RACE_LEAD: Final = (0.69, 0.58, -0.63)
"""For the lead of the player on roll, in standard deviations (`race_lead`)."""

# fmt: off
TERMS: Final[dict[str, Row]] = {
    #                                      |     win      |  win gammon  | lose gammon
    #                                      | roll   wait  | roll   wait  | roll   wait
    "point 1 made":                       (  0.26,  -0.27,   0.29,   0.03,   0.06,   0.22),
    "point 2 made":                       (  0.33,  -0.32,   0.47,  -0.04,  -0.01,   0.42),
    "point 3 made":                       (  0.25,  -0.27,   0.25,   0.09,   0.13,   0.21),
    "point 4 made":                       (  0.28,  -0.29,   0.28,   0.00,   0.03,   0.24),
    "point 5 made":                       (  0.42,  -0.43,   0.31,  -0.05,  -0.02,   0.28),
    "point 6 made":                       (  0.47,  -0.48,   0.34,  -0.05,  -0.02,   0.36),
    "point 7 made":                       (  0.35,  -0.33,   0.37,   0.06,   0.07,   0.33),
    "point 8 made":                       (  0.32,  -0.31,   0.34,  -0.06,  -0.06,   0.31),
    "point 9 made":                       (  0.33,  -0.31,   0.34,   0.02,   0.03,   0.30),
    "point 10 made":                      (  0.27,  -0.26,   0.29,   0.04,   0.07,   0.24),
    "point 11 made":                      (  0.21,  -0.19,   0.39,   0.02,   0.02,   0.35),
    "point 12 made":                      (  0.33,  -0.31,   0.60,  -0.83,  -0.86,   0.55),
    "point 13 made":                      (  0.35,  -0.37,   0.21,   0.37,   0.37,   0.21),
    "point 14 made":                      (  0.21,  -0.21,  -0.07,   0.18,   0.25,  -0.10),
    "point 15 made":                      (  0.21,  -0.24,   0.33,   0.36,   0.41,   0.29),
    "point 16 made":                      (  0.19,  -0.24,   0.35,   0.09,   0.13,   0.33),
    "point 17 made":                      (  0.41,  -0.45,   0.04,   0.45,   0.47,   0.06),
    "point 18 made":                      (  0.53,  -0.59,   0.26,   0.62,   0.62,   0.21),
    "point 19 made":                      (  0.38,  -0.38,   0.37,  -0.18,  -0.12,   0.32),
    "point 20 made":                      (  0.34,  -0.39,  -0.15,  -0.64,  -0.54,  -0.19),
    "point 21 made":                      (  0.40,  -0.43,  -0.24,  -0.54,  -0.46,  -0.26),
    "point 22 made":                      (  0.40,  -0.42,  -0.12,  -0.40,  -0.34,  -0.12),
    "point 23 made":                      (  0.33,  -0.34,   0.04,  -0.30,  -0.25,   0.06),
    "point 24 made":                      (  0.36,  -0.40,  -0.17,  -0.29,  -0.29,  -0.08),
    "home board of 4 points":             (  0.05,  -0.04,   0.07,  -0.21,  -0.22,   0.10),
    "home board of 5 points":             (  0.05,  -0.03,  -0.08,  -0.39,  -0.41,  -0.01),
    "home board of 6 points":             (  0.33,  -0.31,   0.03,  -0.33,  -0.44,   0.22),
    "blot at home":                       (  0.12,  -0.13,   0.09,   0.03,   0.03,   0.12),
    "blot in the outer board":            (  0.15,  -0.15,   0.24,   0.00,  -0.03,   0.26),
    "blot in the opponent's outer board": (  0.18,  -0.19,   0.25,   0.18,   0.14,   0.26),
    "blot in the opponent's home":        (  0.10,  -0.06,   0.18,  -0.19,  -0.05,   0.05),
    "blot at home that can be hit":       ( -0.04,   0.06,   0.04,  -0.02,   0.01,  -0.05),
    "third checker on 4 to 8":            (  0.18,  -0.18,   0.17,  -0.03,  -0.03,   0.16),
    "third checker on 9 to 13":           (  0.18,  -0.17,   0.10,  -0.06,  -0.07,   0.09),
    "checker stacked beyond the third":   (  0.10,  -0.10,   0.04,  -0.04,  -0.03,   0.04),
    "checker on 1 or 2":                  ( -0.10,   0.09,  -0.12,   0.12,   0.13,  -0.13),
    "checker on 7 to 12":                 (  0.04,  -0.04,  -0.06,   0.06,   0.06,  -0.06),
    "rolls that hit":                     ( -0.02,  -0.25,  -0.38,  -0.21,  -0.42,  -0.08),
    "pips lost to hits":                  ( -0.24,   1.26,  -0.37,   1.79,   0.86,  -0.66),
    "rolls that hit two":                 ( -0.11,  -0.01,  -0.13,  -0.43,  -0.22,  -0.02),
    "rolls that hit, by board":           ( -0.11,   0.73,   0.60,   0.62,   0.61,   0.20),
    "rolls that hit near home":           (  0.16,  -0.15,   0.45,  -0.17,   0.02,   0.43),
    "on the bar":                         ( -0.08,  -0.22,  -0.24,  -0.44,  -0.53,  -0.12),
    "more on the bar":                    ( -0.06,   0.10,   0.17,   0.00,  -0.05,  -0.02),
    "dancing":                            ( -1.34,   0.70,   0.29,  -0.51,  -0.64,   0.47),
    "dancing, for each":                  (  0.48,  -0.57,  -0.28,   0.58,   0.69,  -0.24),
    "a checker back":                     (  0.06,  -0.18,   0.43,  -0.06,  -0.11,   0.58),
    "a second back":                      (  0.12,  -0.13,   0.08,   0.21,   0.13,   0.05),
    "a third back":                       (  0.09,  -0.08,   0.20,   0.02,  -0.01,   0.14),
    "checkers back":                      (  0.19,  -0.19,   0.21,   0.35,   0.37,   0.27),
    "farthest checker":                   ( -0.67,   0.90,   0.73,   0.96,   0.85,   0.52),
    "rolls that are blocked":             ( -0.83,   0.66,   0.04,   0.03,   0.33,  -0.03),
    "blocked, for each back":             (  0.15,  -0.16,  -0.07,  -0.18,  -0.25,  -0.05),
    "back without anchor, by board":      ( -0.18,   0.17,   0.08,  -0.16,  -0.12,   0.10),
    "blots back, by board":               (  0.10,  -0.19,  -0.01,   0.04,  -0.07,   0.12),
    "an anchor":                          ( -0.33,   0.30,   0.34,  -0.27,  -0.23,   0.40),
    "prime of 4":                         (  0.06,  -0.07,   0.08,  -0.09,  -0.07,   0.04),
    "prime of 5":                         (  0.09,  -0.12,   0.19,   0.15,   0.24,   0.16),
    "prime of 6":                         (  0.20,  -0.31,   0.13,  -0.79,  -0.71,   0.13),
    "caught behind a prime":              ( -0.03,   0.03,  -0.17,  -0.01,  -0.03,  -0.12),
    "opponent on the bar, by board":      (  0.03,   0.12,   0.13,   0.08,   0.03,   0.16),
    "opponent's blots at home, by board": ( -0.19,   0.10,   0.04,  -0.01,   0.12,  -0.07),
    "opponent closed out":                ( -0.26,   0.18,  -0.31,  -0.29,  -0.03,  -0.36),
    "checkers off":                       (  2.47,  -2.28,   2.12,  -0.70,  -0.66,   1.70),
    "a checker off":                      ( -0.01,  -0.01,  -0.28,  -3.46,  -3.40,  -0.30),
    "checkers outside home":              (  0.04,  -0.01,   0.25,  -0.31,  -0.32,   0.27),
    "quarters to cross":                  (  0.08,  -0.03,   0.51,  -0.62,  -0.66,   0.55),
    "checkers still to pass":             ( -0.52,   0.50,   0.63,   0.14,   0.01,   0.72),
    "pips to spare":                      (  1.38,  -1.46,   0.43,   0.42,   0.38,   0.69),
    "race lead when all are past":        (  0.16,  -0.15,   0.42,   0.26,   0.32,   0.38),
}
# fmt: on

BACKGAMMONS: Final = (0.0, 0.02, 0.04, 0.08, 0.12, 0.15, 0.2)
"""Of 1 gammons, how many are backgammons, by the loser's checkers in the winner's home board or on the bar."""


def _column(first: int) -> tuple[float, ...]:
    return (
        CONSTANT[first // 2],
        RACE_LEAD[first // 2],
        *(row[first] for row in TERMS.values()),
        *(row[first + 1] for row in TERMS.values()),
    )


WIN: Final = _column(0)
WIN_GAMMON: Final = _column(2)
LOSE_GAMMON: Final = _column(4)
"""Constant, race lead, the terms of the player on roll, those of the one who waits."""
