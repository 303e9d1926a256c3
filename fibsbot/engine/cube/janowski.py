"""The cube model: cubeful equities of positions from their six chances (compiled).

Rick Janowski's model ("Take-Points in Money Games", 1993), extended to matches. The equity of a position is a function
of the chance to win, with the position's own rates of gammons at both ends. With a dead cube it is a straight line.
With a live cube, turned at the perfect moment, it bends where one side can just take. The model's equity is in between,
by the efficiency of the cube: 0 is a cube that is never turned again, 1 one that is always turned at the perfect
moment. It is below 1 because chances change in jumps.

The take point of a double follows from the equity with the doubled cube, which follows from the take point of the next
double. At a match score the recursion ends with the cube that nobody can use, from which everything is computed. For
money it does not end and is the same at every level, which gives Janowski's formula.

Everything is seen by the player on roll. Equities may be in any unit; a level is the number of doublings from the
present cube.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import (
    AS_INT,
    BAR,
    CELLS,
    LOSE,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    Boards,
    BoolMatrix,
    Bools,
    Floats64,
    Matrix64,
    Vector64,
    boards_of,
)
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.numerics import erfc, exp
from fibsbot.position import Position

CENTRED: Final = 0
"""The column of a cube in the middle."""
OWNED: Final = 1
"""The column of a cube that the player on roll owns."""
THEIRS: Final = 2
"""The column of a cube that the opponent owns."""
TURNED: Final = 3
"""The column of a double now that is taken: twice the value, owned by the opponent."""
COLUMNS: Final = 4
LEAST: Final = 1e-12
"""Chances nearer to 0 or 1 than this count as 0 or 1, so that nothing is divided by them."""

SWING_COLUMN: Final = 2
"""The column of `efficiency` with the swing of a roll; it follows those of CENTRED and OWNED."""


@compiled
def no_double_values(
    outcomes: Matrix64,
    efficiency: Matrix64,
    won: Matrix64,
    lost: Matrix64,
    turnable: BoolMatrix,
    jacoby: bool,  # noqa: FBT001 - compiled functions take no keywords
    points: Matrix64,
    values: Matrix64,
) -> None:
    """Write the equities of positions if the cube is not turned before this roll, by the columns above, shape (n, 4).

    Args:
        outcomes: The six chances, shape (n, 6).
        efficiency: Efficiency of a centred and of an owned cube, 0 (dead) to 1 (live), and the standard deviation by
            which a roll changes an even chance to win, shape (n, 3).
        won: Equity of a game, gammon and backgammon won by level, shape (levels, 3); at least two levels.
        lost: The same of those lost.
        turnable: Whether player and opponent have a use for turning a cube at each level, shape (levels, 2). If the
            last level can be turned, the game is for money and all further levels are like it.
        jacoby: Whether gammons count only once the cube has been turned.
        points: Buffer for the result of `market`, shape (2, levels + 1).
        values: Receives the result.
    """
    take, cash = points[0], points[1]
    for row in range(len(outcomes)):
        chances = outcomes[row]
        _market(chances, won, lost, turnable, take, cash)
        win = min(max(chances[WIN], 0.0), 1.0)  # estimates may be outside by a rounding error
        swing = efficiency[row, SWING_COLUMN] * math.sqrt(max(4 * win * (1 - win), 0.0))
        for column in range(COLUMNS):
            level = 1 if column == TURNED else 0
            if jacoby and column == CENTRED:
                high, low = won[0, 0], lost[0, 0]
            else:
                high, low = _means(chances, won[level], lost[level])
            left = take[level + 1] if turnable[level, 1] and column != OWNED else 0.0
            right = cash[level + 1] if turnable[level, 0] and column <= OWNED else 1.0
            passed, cashed = lost[level, 0], won[level, 0]
            live = _bent(win, low, high, left, passed, right, cashed)
            last = left > LEAST and right < 1 - LEAST and not (turnable[level + 1, 0] or turnable[level + 1, 1])
            mine = right < 1 - LEAST and (last or lost[level, 0] == lost[level, 2])
            theirs = left > LEAST and (last or won[level, 0] == won[level, 2])
            if mine or theirs:
                middle = (cashed if mine else high) - (passed if theirs else low)
                middle /= (right if mine else 1.0) - (left if theirs else 0.0)
                if mine:
                    live -= _market_loss(win, right, middle - (high - cashed) / (1 - right), swing * math.sqrt(2.0))
                if theirs:
                    live += _market_loss(win, left, middle - (passed - low) / left, swing)
                values[row, column] = live
            else:
                x = efficiency[row, CENTRED if column == CENTRED else OWNED]
                values[row, column] = (1 - x) * (low + (high - low) * win) + x * live


@compiled
def market(chances: Vector64, won: Matrix64, lost: Matrix64, turnable: BoolMatrix, points: Matrix64) -> None:
    """Write the live market window of a double to each level into `points`, shape (2, levels + 1).

    Row 0 is the chance to win from which the player takes the opponent's double to this level, row 1 that up to which
    the opponent takes the player's. Column 0 is unused.
    """
    _market(chances, won, lost, turnable, points[0], points[1])


@inner
def _market(chances: Floats64, won: Floats64, lost: Floats64, turnable: Bools, take: Floats64, cash: Floats64) -> None:
    levels = len(won)
    last = levels - 1
    if turnable[last, 0] and turnable[last, 1]:  # for money
        stake = won[last, 0]
        high, low = _means(chances, won[last], lost[last])
        if lost[last, 0] != -stake:  # the Point Game
            left, right = _corners(high, -low, stake, -lost[last, 0])
            for level in range(1, levels + 1):
                take[level], cash[level] = left, right
            return
        high, low = high / stake, -low / stake
        for level in range(1, levels + 1):
            take[level] = (low - 0.5) / (high + low + 0.5)
            cash[level] = (low + 1) / (high + low + 0.5)
        return
    take[levels], cash[levels] = 0.0, 1.0
    for level in range(last, 0, -1):
        high, low = _means(chances, won[level], lost[level])
        up = cash[level + 1] if turnable[level, 0] else 1.0
        down = take[level + 1] if turnable[level, 1] else 0.0
        # Below `take` the player's own cube is worth less than a pass, above `cash` the opponent's more than a pass.
        take[level] = _rising(low, high, up, won[level, 0], lost[level - 1, 0])
        cash[level] = 1 - _rising(-high, -low, 1 - down, -lost[level, 0], -won[level - 1, 0])


@inner
def _corners(high: float, low: float, cashed: float, passed: float) -> tuple[float, float]:
    """Return the chances to win from which the player takes and up to which the opponent takes, with a live cube.

    For money where a single game lost does not count as much as one won: `high` and `low` are the means of a game won
    and lost, `cashed` and `passed` what the opponent's and the player's pass count. With t and c for the two points,
    each side is indifferent where an owned cube at twice the value is worth a pass: 1 - c = a (1 - t) and t = b c.
    """
    a = min(max((2 * high - cashed) / (2 * (high + passed)), 0.0), 1.0)
    b = min(max((2 * low - passed) / (2 * (low + cashed)), 0.0), 1.0)
    right = (1 - a) / (1 - a * b) if a * b < 1 else 1.0
    return b * right, right


@inner
def _rising(low: float, high: float, corner: float, cashed: float, equity: float) -> float:
    """Return where the equity with an owned cube, rising from low over the cash point to high, reaches `equity`."""
    if corner < LEAST:
        return 0.0
    rise = high - low
    if corner < 1:
        rise = max(rise, (cashed - low) / corner)
    return min(max((equity - low) / rise, 0.0), 1.0) if rise > 0 else 0.0


@inner
def _bent(win: float, low: float, high: float, left: float, passed: float, right: float, cashed: float) -> float:
    """Return the equity at a chance to win with a live cube: from low to high over the corners that are used.

    At the left corner the opponent cashes, at the right one the player. A corner where its owner does better by playing
    on for a gammon would bend the line the wrong way and is left out.
    """
    cashes = left > LEAST and passed < low + (high - low) * left
    from_win, from_equity = (left, passed) if cashes else (0.0, low)
    can_cash = right < 1 - LEAST and cashed > from_equity + (high - from_equity) * (right - from_win) / (1 - from_win)
    if can_cash and not cashes and left > LEAST and passed < low + (cashed - low) * left / right:
        cashes, from_win, from_equity = True, left, passed
    to_win, to_equity = (right, cashed) if can_cash else (1.0, high)
    if win < from_win:
        return low + (from_equity - low) * win / from_win
    if win > to_win:
        return to_equity + (high - to_equity) * (win - to_win) / (1 - to_win)
    if to_win <= from_win:
        return to_equity
    return from_equity + (to_equity - from_equity) * (win - from_win) / (to_win - from_win)


@inner
def _market_loss(win: float, corner: float, bend: float, swing: float) -> float:
    """Return the difference between a live cube and one that its owner turns before the next roll in any case.

    That is the case where losing the game loses the match, as for the trailer after the Crawford game, and for both
    where the double is for the match, as at 2 points away each. The only loss then is a market lost by the rolls until
    the double: two if the owner is on roll, one if the opponent is. So the equity of a live cube, whose slope changes
    by `bend` at the corner, is averaged over a normal distribution of the chance to win.
    """
    if bend <= 0 or swing < LEAST:
        return 0.0
    apart = abs(win - corner) / swing
    density = exp(-apart * apart / 2) / math.sqrt(2 * math.pi)
    return bend * swing * (density - apart * erfc(apart / math.sqrt(2.0)) / 2)


@inner
def _means(chances: Any, won: Any, lost: Any) -> tuple[float, float]:
    """Return the average equities of a game that is won and of one that is lost."""
    high = _mean(chances[WIN], chances[WIN_GAMMON], chances[WIN_BACKGAMMON], won)
    low = _mean(chances[LOSE], chances[LOSE_GAMMON], chances[LOSE_BACKGAMMON], lost)
    return high, low


@inner
def _mean(total: float, gammons: float, backgammons: float, equities: Any) -> float:
    """Return the average equity of a game that is won (or lost), with its rates of gammons and backgammons."""
    if total < LEAST:
        return float(equities[0])
    gammon, backgammon = _share(gammons, total), _share(backgammons, total)
    return float(equities[0] + gammon * (equities[1] - equities[0]) + backgammon * (equities[2] - equities[1]))


@inner
def _share(part: float, total: float) -> float:
    return min(max(part / total, 0.0), 1.0)


@frozen
class Efficiency:
    """The efficiency of the cube by kind of position.

    The figures for races were fitted to an exactly solved model of races in which sides have pips but no checkers
    (`bench/bench_efficiency.py`).
    """

    contact: tuple[float, float] = (0.8, 0.74)
    """Centred and owned cube, in positions with contact; `docs/lab/cube.md` has their origin."""
    contact_swing: float = 0.07
    """Standard deviation by which a roll changes an even chance to win."""
    race_most: tuple[float, float] = (0.96, 0.9)
    """The limits of both efficiencies in a long race."""
    race_dead: tuple[float, float] = (3.0, 2.0)
    """Pips of the player on roll at which the cube is dead.

    In races without checkers it is 2 pips more: checkers waste pips, so that as few pips take more rolls.
    """
    race_half: tuple[float, float] = (8.0, 11.0)
    """Additional pips at which the efficiency is half of `race_most`."""
    race_swing: float = 0.4
    """Standard deviation by which a roll changes an even chance to win where an owned cube is dead.

    In longer races it is smaller, in proportion to 1 minus the efficiency.
    """

    def of(self, boards: Boards) -> Floats64:
        """Return the efficiency of a centred and of an owned cube and the swing of a roll, shape (n, 3)."""
        found = np.empty((len(boards), 3))
        racing = (*self.race_most, *self.race_dead, *self.race_half, self.race_swing)
        _write_efficiencies(boards, np.array([*self.contact, self.contact_swing]), np.array(racing), found)
        return found

    def of_position(self, position: Position) -> Floats64:
        """Return the same for one position, shape (3,)."""
        return np.asarray(self.of(boards_of([position]))[0])


@compiled
def _write_efficiencies(boards: Boards, contact: Vector64, racing: Vector64, found: Matrix64) -> None:
    """Write what `Efficiency.of` returns; `racing` are the figures for races in the order of its fields."""
    for row in range(len(boards)):
        pips, rearmost, theirs_rearmost = 0, 0, 0
        for cell in range(CELLS):
            count = AS_INT + boards[row, cell]
            if count > 0:
                pips += cell * count
                rearmost = cell
            if count < 0 and theirs_rearmost == 0:
                theirs_rearmost = BAR - cell
        if rearmost and theirs_rearmost and rearmost + theirs_rearmost < BAR:
            for column in range(2):
                beyond = max(pips - racing[2 + column], 0.0)
                found[row, column] = racing[column] * beyond / (beyond + racing[4 + column])
            found[row, 2] = racing[6] * (1 - found[row, 1])
        else:
            for column in range(3):
                found[row, column] = contact[column]


DEFAULT_EFFICIENCY: Final = Efficiency()
"""The efficiency that is used by default."""
