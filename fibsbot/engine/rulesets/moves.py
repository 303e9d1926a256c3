"""One move of a checker in any tables game, compiled: what `fibsbot.rules.general_plays.make_move` does, and its laws.

Each law of `fibsbot.games` that forbids or changes a move has its counterpart here, chosen by the parameters.
"""

from __future__ import annotations

from typing import Final

from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.rulesets.parameters import (
    ALL_ENTER,
    BEARING_OFF,
    CELLS,
    COURSE,
    DIAGONAL,
    ENTER_IF_POSSIBLE,
    FIVE_FIRST,
    FIVE_LEFT,
    FOUR_SIXES,
    HEAD,
    HELD,
    HIT,
    HIT_ENTER,
    HOME_BEFORE_HITTING,
    LAND_BLOCK,
    LAND_HIT,
    LAND_PIN,
    LAND_SWEDISH_ANY,
    LANDING,
    MARK_HIT,
    MARKS,
    MOVE_LAWS,
    NOTE_HEAD,
    NOTE_HIT,
    NOTE_HITTER,
    NOTE_START,
    NOTE_SWEDISH,
    NOTE_SWEDISH_WHILE,
    OFF_ANY_TIME,
    OFF_AROUND,
    OFF_EXACT,
    OFF_NONE_PINNED,
    ON_MOVE,
    ONE_FAR,
    ONE_OFF_HEAD,
    ONE_ON_A_POINT,
    PINNED,
    RELEASED,
    RUNNER,
    SAME,
    SECOND_HALF,
    SIDE,
    STARTED,
    THROWS,
    TWO_ENTER,
    Rules,
    State,
)

HAND: Final = 25
START: Final = 24
HOME: Final = 6
ILLEGAL: Final = -1
_OPPONENTS_START: Final = 12
_HALF: Final = 12
_LAST_OF_FAR_SIDE: Final = 13
_STACK: Final = 18


@inner
def facing(course: int, point: int) -> int:
    """Return the number that the opponent has for a point, 1 to 24."""
    if course == DIAGONAL:
        return point + _HALF if point <= _HALF else point - _HALF
    if course == SAME:
        return point
    return HAND - point


@inner
def copy_state(state: State, to: State) -> None:
    """Write a board to another one."""
    for cell in range(CELLS):
        to[cell] = state[cell]


@compiled
def swap_sides(state: State, to: State) -> None:
    """Write a board as the other player sees it to `to`, which must be another one."""
    for cell in range(SIDE):
        to[cell] = state[SIDE + cell]
        to[SIDE + cell] = state[cell]


@inner
def farthest(state: State, side: int) -> int:
    """Return the highest place with a checker of a side, 0 if all are off."""
    place = HAND
    while place > 0 and state[side + place] == 0:
        place -= 1
    return place


@inner
def any_on(state: State, low: int, high: int) -> bool:
    """Return whether there is a checker in cells `low` to `high`."""
    total = 0
    for cell in range(low, high + 1):
        total += state[cell]
    return total > 0


@inner
def _off_target(rules: Rules, state: State, source: int, number: int) -> int:
    """Return where a number leads that reaches the end of the course, or ILLEGAL."""
    kind = rules[BEARING_OFF]
    last = farthest(state, 0)
    if kind == OFF_ANY_TIME:
        if state[MARKS] & MARK_HIT or (number > source and last > source):
            return ILLEGAL
        return 0
    if last > HOME:
        return ILLEGAL
    if kind == OFF_AROUND:
        return 0 if number == source else HAND - (number - source)
    if kind == OFF_EXACT:
        return ILLEGAL if number > source else 0
    if kind == OFF_NONE_PINNED and state[PINNED] & 127:
        return ILLEGAL
    return ILLEGAL if number > source and last > source else 0


@inner
def _forbidden(rules: Rules, state: State, source: int, target: int) -> bool:
    """Return whether a law forbids a move."""
    laws = rules[MOVE_LAWS]
    if laws & ALL_ENTER and source != HAND and state[HAND] > 0:
        return True
    if laws & ~ALL_ENTER == 0:
        return False
    return _forbidden_by_others(rules, state, source, target)


@inner
def _forbidden_by_others(rules: Rules, state: State, source: int, target: int) -> bool:
    laws, course = rules[MOVE_LAWS], rules[COURSE]
    if laws & HIT_ENTER and source != HAND and state[HIT] > 0:
        return True
    if laws & HOME_BEFORE_HITTING and target != 0 and state[SIDE + HAND - target] == 1:
        if not any_on(state, 0, HOME):
            return True
    if laws & RUNNER and source == START:
        if any_on(state, _OPPONENTS_START, START - 1) and not any_on(state, 0, _OPPONENTS_START - 1):
            return True
    if laws & ONE_OFF_HEAD and source == START and state[HEAD] == 0:
        return True
    if laws & TWO_ENTER and source != HAND and not state[MARKS] & STARTED:
        return True
    if laws & ENTER_IF_POSSIBLE and source != HAND and state[HAND] > 0:
        if state[SIDE + facing(course, HAND - (source - target))] < 2:
            return True
    if laws & SECOND_HALF and state[HAND] > 0 and target <= _HALF:
        return True
    if laws & FIVE_FIRST and source > _HALF and target <= _HALF and not state[MARKS] & FIVE_LEFT:
        return True
    first_sixes = state[MARKS] & FOUR_SIXES > 0 and state[THROWS] == 1 and source == START and target == _STACK
    if target != 0 and state[target] > 0 and not first_sixes:
        if not state[MARKS] & RELEASED:
            if laws & ONE_ON_A_POINT or (laws & ONE_FAR and target > _HALF):
                return True
    return False


@inner
def in_block_of_six(course: int, state: State, side: int, point: int) -> bool:
    """Return whether a point belongs to six in a row that a side holds; the point is in the other's numbering."""
    run = 1
    for direction in range(-1, 2, 2):
        beside = point + direction
        while 1 <= beside <= START and state[side + facing(course, beside)] > 1:
            run += 1
            beside += direction
    return run >= 6


@inner
def _land(rules: Rules, state: State, point: int) -> bool:
    """Put a lifted checker on a point; return False if the point is held."""
    kind = rules[LANDING]
    theirs = SIDE + facing(rules[COURSE], point)
    there = state[theirs]
    if kind == LAND_BLOCK:
        if there > 0:
            return False
    elif kind == LAND_PIN:
        if state[PINNED] >> point & 1 or there > 1:
            return False
        if there == 1:
            state[SIDE + PINNED] |= 1 << (theirs - SIDE)
    else:
        together = False
        if kind != LAND_HIT:
            together = state[SIDE + MARKS] & FOUR_SIXES > 0 and theirs == SIDE + _STACK
        if there > 1 and not together:
            most = 15 if kind == LAND_SWEDISH_ANY else 2
            if kind == LAND_HIT or there > most or not in_block_of_six(rules[COURSE], state, SIDE, point):
                return False
        if there > 0:
            if together:
                state[SIDE + MARKS] &= ~FOUR_SIXES
            state[theirs] = 0
            state[SIDE + HAND] += there
            state[SIDE + HIT] += there
    state[point] += 1
    return True


@inner
def _note(rules: Rules, before: State, after: State, source: int, target: int) -> None:
    """Note what has to be remembered about a move."""
    kind = rules[ON_MOVE]
    if kind == NOTE_HEAD:
        if source == START:
            after[HEAD] -= 1
    elif kind == NOTE_HITTER:
        if 0 < target <= HOME and after[SIDE + HIT] != before[SIDE + HIT]:
            after[HELD] |= 1 << target
    elif kind == NOTE_START:
        on = 0
        for point in range(1, HAND):
            on += after[point]
        if on >= 2:
            after[MARKS] |= STARTED
    elif kind == NOTE_HIT:
        if after[SIDE + HIT] > before[SIDE + HIT]:
            after[SIDE + MARKS] |= MARK_HIT
        if farthest(after, 0) <= HOME:
            after[MARKS] &= ~MARK_HIT
    elif kind == NOTE_SWEDISH or kind == NOTE_SWEDISH_WHILE:
        if target == _LAST_OF_FAR_SIDE:
            after[MARKS] |= RELEASED
        if after[START] <= 10:
            after[MARKS] |= FIVE_LEFT
        if after[MARKS] & FOUR_SIXES and (source == _STACK or target == _STACK):
            if source != START or target != _STACK or after[THROWS] != 1:
                after[MARKS] &= ~FOUR_SIXES
        if kind == NOTE_SWEDISH_WHILE:
            for side in range(0, CELLS, SIDE):
                if after[side + _LAST_OF_FAR_SIDE] > 0:
                    after[side + MARKS] |= RELEASED
                else:
                    after[side + MARKS] &= ~RELEASED


@inner
def make_move(rules: Rules, before: State, after: State, source: int, number: int) -> int:
    """Write the board after a move to `after`; return where the checker gets, or ILLEGAL."""
    if before[source] <= (before[HELD] >> source & 1) or before[PINNED] >> source & 1:
        return ILLEGAL
    target = source - number
    if target <= 0:
        target = _off_target(rules, before, source, number)
        if target == ILLEGAL:
            return ILLEGAL
    if _forbidden(rules, before, source, target):
        return ILLEGAL
    copy_state(before, after)
    after[source] -= 1
    if source == HAND:
        if before[HIT] > 0:
            after[HIT] -= 1
    elif before[SIDE + PINNED] and before[source] == 1:
        after[SIDE + PINNED] &= ~(1 << facing(rules[COURSE], source))
    if target == 0:
        after[0] += 1
    elif not _land(rules, after, target):
        return ILLEGAL
    if rules[ON_MOVE]:
        _note(rules, before, after, source, target)
    return target
