"""The cube model: what positions are worth when the cube can be turned, from the six chances (compiled).

Rick Janowski's model ("Take-Points in Money Games", 1993), extended to matches. Between a lost and a won game the
worth of a position is drawn over the chance to win, gammons counted in at both ends in the position's own proportion.
With a dead cube it is a straight line. With a live one, turned at the perfect moment, it bends where one side can
just still take. The truth lies between, by the efficiency of the cube: 0 is a cube that nobody will turn again, 1 one
that is always turned at the perfect moment. What keeps it below 1 is that chances move in jumps.

Where a double is just still taken follows from what the cube is worth once it has been turned, which follows from
where the next double is just still taken: at a match score this ends with the cube that nobody can use, and is
computed from there. For money it never ends and is the same at every level, which gives Janowski's formula.

Everything is seen by the player on roll. Worths are in any unit; a level is how often the cube has been doubled from
its value now.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import (
    CELLS,
    LOSE,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    Boards,
    Bools,
    Floats64,
    boards_of,
    have_passed,
)
from fibsbot.engine.jit import compiled, inner
from fibsbot.position import Position

CENTRED: Final = 0
"""The column of a cube in the middle."""
OWNED: Final = 1
"""The column of a cube that the player on roll owns."""
THEIRS: Final = 2
"""The column of a cube that the opponent owns."""
TURNED: Final = 3
"""The column of a cube that is turned now and taken: twice the value, and the opponent's."""
COLUMNS: Final = 4
LEAST: Final = 1e-12
"""What is nearer to 0 (or 1) is taken as 0 (or 1), so that nothing is divided by it."""

SWING_COLUMN: Final = 2
"""The column of `efficiency` with what a roll changes; before it stand those of CENTRED and OWNED."""


@compiled
def no_double_values(
    outcomes: Floats64,
    efficiency: Floats64,
    won: Floats64,
    lost: Floats64,
    turnable: Bools,
    jacoby: bool,  # noqa: FBT001 - compiled functions take no keywords
    points: Floats64,
    values: Floats64,
) -> None:
    """Write what positions are worth while nobody turns the cube before this roll, shape (n, 4); see the columns.

    Arguments:
        outcomes: the six chances, shape (n, 6).
        efficiency: of a centred and of an owned cube, 0 (dead) to 1 (live), and by how much a roll changes the chance
            to win where that is even (a standard deviation), shape (n, 3).
        won: what a game, gammon and backgammon won is worth by level, shape (levels, 3); at least two levels.
        lost: the same of those lost.
        turnable: whether player and opponent have use for turning a cube at each level, shape (levels, 2). Where the
            last level can still be turned, the game is for money and all further levels are like it.
        jacoby: whether gammons count only once the cube has been turned.
        points: room for what `market` writes, shape (2, levels + 1).
        values: where to write.
    """
    take, cash = points[0], points[1]
    for row in range(len(outcomes)):
        chances = outcomes[row]
        _market(chances, won, lost, turnable, take, cash)
        win = min(max(chances[WIN], 0.0), 1.0)  # estimates may be off by what rounding does
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
                    live -= _missed(win, right, middle - (high - cashed) / (1 - right), swing * math.sqrt(2.0))
                if theirs:
                    live += _missed(win, left, middle - (passed - low) / left, swing)
                values[row, column] = live
            else:
                x = efficiency[row, CENTRED if column == CENTRED else OWNED]
                values[row, column] = (1 - x) * (low + (high - low) * win) + x * live


@compiled
def market(chances: Floats64, won: Floats64, lost: Floats64, turnable: Bools, points: Floats64) -> None:
    """Write between which chances to win a cube turned to each level is in the market, if it is live from there on.

    Row 0 of `points`, shape (2, levels + 1), is from where the player takes the opponent's double to this level, row 1
    until where the opponent takes the player's. Column 0 is of no use and left as it is.
    """
    _market(chances, won, lost, turnable, points[0], points[1])


@inner
def _market(chances: Floats64, won: Floats64, lost: Floats64, turnable: Bools, take: Floats64, cash: Floats64) -> None:
    levels = len(won)
    last = levels - 1
    if turnable[last, 0] and turnable[last, 1]:  # for money
        stake = won[last, 0]
        high, low = _means(chances, won[last], lost[last])
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
        # The player's own cube is worth less than a pass below this point, the opponent's more than a pass above that.
        take[level] = _rising(low, high, up, won[level, 0], lost[level - 1, 0])
        cash[level] = 1 - _rising(-high, -low, 1 - down, -lost[level, 0], -won[level - 1, 0])


@inner
def _rising(low: float, high: float, corner: float, cashed: float, worth: float) -> float:
    """Return where the worth of a cube in hand, which rises from low over the cash point to high, reaches `worth`."""
    if corner < LEAST:
        return 0.0
    rise = high - low
    if corner < 1:
        rise = max(rise, (cashed - low) / corner)
    return min(max((worth - low) / rise, 0.0), 1.0) if rise > 0 else 0.0


@inner
def _bent(win: float, low: float, high: float, left: float, passed: float, right: float, cashed: float) -> float:
    """Return the worth at a chance to win with a live cube: from low to high over the corners that are of use.

    At the left corner the opponent cashes, at the right one the player does. Nobody has to: where playing on for a
    gammon brings more, the corner would bend the line the wrong way and is left out.
    """
    cashes = left > LEAST and passed < low + (high - low) * left
    from_win, from_worth = (left, passed) if cashes else (0.0, low)
    can_cash = right < 1 - LEAST and cashed > from_worth + (high - from_worth) * (right - from_win) / (1 - from_win)
    if can_cash and not cashes and left > LEAST and passed < low + (cashed - low) * left / right:
        cashes, from_win, from_worth = True, left, passed
    to_win, to_worth = (right, cashed) if can_cash else (1.0, high)
    if win < from_win:
        return low + (from_worth - low) * win / from_win
    if win > to_win:
        return to_worth + (high - to_worth) * (win - to_win) / (1 - to_win)
    if to_win <= from_win:
        return to_worth
    return from_worth + (to_worth - from_worth) * (win - from_win) / (to_win - from_win)


@inner
def _missed(win: float, corner: float, bend: float, swing: float) -> float:
    """Return what a cube is off a live one if it is turned before its owner's next roll in any case.

    That is so where losing the game loses the match already, as for the trailer after the Crawford game, and for both
    where the double is for the match, as at 2 points away each. All that can be missed then is a market lost by the
    rolls until the double, two if its owner is on roll and one if the opponent is. So the worth of a live cube, whose
    slope changes by so much at the corner, is averaged over a normal deviation of the chance to win.
    """
    if bend <= 0 or swing < LEAST:
        return 0.0
    apart = abs(win - corner) / swing
    density = math.exp(-apart * apart / 2) / math.sqrt(2 * math.pi)
    return bend * swing * (density - apart * math.erfc(apart / math.sqrt(2.0)) / 2)


@inner
def _means(chances: Any, won: Any, lost: Any) -> tuple[float, float]:
    """Return what a game that was won, and one that was lost, is worth on average."""
    high = _mean(chances[WIN], chances[WIN_GAMMON], chances[WIN_BACKGAMMON], won)
    low = _mean(chances[LOSE], chances[LOSE_GAMMON], chances[LOSE_BACKGAMMON], lost)
    return high, low


@inner
def _mean(total: float, gammons: float, backgammons: float, worths: Any) -> float:
    """Return what a game is worth if it ends that way, gammons and backgammons in their proportion."""
    if total < LEAST:
        return float(worths[0])
    gammon, backgammon = _share(gammons, total), _share(backgammons, total)
    return float(worths[0] + gammon * (worths[1] - worths[0]) + backgammon * (worths[2] - worths[1]))


@inner
def _share(part: float, total: float) -> float:
    return min(max(part / total, 0.0), 1.0)


@frozen
class Efficiency:
    """The efficiency of a cube in each kind of position.

    The figures for races were read off races without checkers, solved exactly, where each side has only pips to go
    (`bench/bench_efficiency.py`).
    """

    contact: tuple[float, float] = (0.8, 0.74)
    """Of a centred and of an owned cube while the sides can still meet; `docs/cube.md` has where they come from."""
    contact_swing: float = 0.07
    """By how much a roll changes the chance to win where that is even, as a standard deviation."""
    race_most: tuple[float, float] = (0.96, 0.9)
    """What both efficiencies approach in a long race."""
    race_dead: tuple[float, float] = (3.0, 2.0)
    """Pips of the player on roll at which the cube is dead.

    Races without checkers have 2 more: checkers waste pips, so that with so few there are more rolls left.
    """
    race_half: tuple[float, float] = (8.0, 11.0)
    """Pips more that bring the efficiency to half of the most."""
    race_swing: float = 0.4
    """By how much a roll changes the chance to win where that is even and an owned cube is dead.

    It gets less as the race gets longer and the cube more efficient: in proportion to what that lacks to 1.
    """

    def of(self, boards: Boards) -> Floats64:
        """Return the efficiency of a centred and of an owned cube and what a roll changes.

        Shape (n, 3) for boards of shape (n, 26).
        """
        found = np.empty((len(boards), 3))
        found[:] = *self.contact, self.contact_swing
        races = np.flatnonzero(have_passed(boards))
        if len(races):
            pips = boards[races].clip(0) @ np.arange(CELLS)
            beyond = np.maximum(pips[:, None] - np.array(self.race_dead), 0.0)
            racing = np.array(self.race_most) * beyond / (beyond + np.array(self.race_half))
            found[races] = np.column_stack([racing, self.race_swing * (1 - racing[:, 1])])
        return found

    def of_position(self, position: Position) -> Floats64:
        """Return the same for one position, shape (3,)."""
        return np.asarray(self.of(boards_of([position]))[0])


DEFAULT_EFFICIENCY: Final = Efficiency()
"""What is used where nothing else is said."""
