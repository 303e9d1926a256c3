"""Rolls, the parts of a turn, and the end of a game, compiled: the laws of `Ruleset.divide`, `on_roll` and `ends`."""

from __future__ import annotations

from typing import Final

from fibsbot.engine.arrays import Int64s
from fibsbot.engine.jit import inner
from fibsbot.engine.rulesets.moves import HAND, HOME, START, any_on, facing
from fibsbot.engine.rulesets.parameters import (
    ACEY,
    ACEY_THIRD,
    COMPLEMENTARY,
    COURSE,
    DIVIDE,
    DRAWN,
    EACH_ONCE,
    EARLY_DOUBLE_ENDS,
    END,
    END_1665,
    END_BOTH_PINNED,
    END_CHECKERS_LEFT,
    END_HOME_MARS,
    END_LAST_WINS,
    END_WAYS,
    ENDS_TURN,
    FOUR_SIXES,
    FROM_ONE_CHECKER,
    GAMMON,
    GOES_ON,
    HEAD,
    LOWER_FIRST,
    MARK_DOUBLE,
    MARKS,
    MOST_THROWS,
    NAME_DOUBLE,
    ON_ROLL,
    ONE_CHECKER,
    ONE_CHECKER_ONCE,
    ORDERED,
    PINNED,
    ROLL,
    ROLL_DOUBLE,
    ROLL_HEAD,
    ROLL_HEAD_TWO,
    ROLL_SWEDISH,
    SERIES,
    SERIES_FROM_FOURTH,
    SIDE,
    THROWS,
    TRIPLE,
    WAY_BOVERIES,
    WAY_FLYERS,
    WAY_GOING_IN,
    WAY_HIT,
    WAY_OFF,
    WAY_SECOND_TABLE,
    WAY_TOGETHER,
    WAY_TOOTS,
    WAYS,
    Rules,
    State,
)
from fibsbot.engine.rulesets.plays import outcome_at_once

MOST_PARTS: Final = 16
"""Things to do in a turn: at most six doubles of a series, or a part, a double to name and a roll."""


@inner
def note_roll(rules: Rules, state: State, one: int, other: int) -> None:
    """Note a roll on the board."""
    kind = rules[ON_ROLL]
    if not kind:
        return
    state[THROWS] = min(state[THROWS] + 1, MOST_THROWS)
    first = state[THROWS] == 1
    if kind == ROLL_HEAD:
        state[HEAD] = 2 if first and one == other and (one == 3 or one == 4 or one == 6) else 1
    elif kind == ROLL_HEAD_TWO:
        state[HEAD] = 2 if first else 1
    elif kind == ROLL_SWEDISH and first and one == HOME and other == HOME:
        state[MARKS] |= FOUR_SIXES
    elif kind == ROLL_DOUBLE:
        state[MARKS] &= ~MARK_DOUBLE
        if one == other:
            state[MARKS] |= MARK_DOUBLE


@inner
def times(number: int, count: int) -> int:
    """Return the code of a part that has one number several times."""
    code = count | ENDS_TURN
    for place in range(count):
        code |= number << 3 * place + 3
    return code


@inner
def _each_once(dice: Int64s, count: int) -> int:
    code = count | ENDS_TURN
    for place in range(count):
        code |= dice[place] << 3 * place + 3
    return code


@inner
def divide(rules: Rules, state: State, dice: Int64s, count: int, throws: int, todo: Int64s) -> int:
    """Write what is to be played with a roll into `todo`; return how many things."""
    parts = _divide(rules, state, dice, count, throws, todo)
    if rules[DIVIDE] == EARLY_DOUBLE_ENDS and state[THROWS] < 4:
        todo[0] &= ~ENDS_TURN
    return parts


@inner
def _divide(rules: Rules, state: State, dice: Int64s, count: int, throws: int, todo: Int64s) -> int:
    kind = rules[DIVIDE]
    one, other = dice[0], dice[1]
    first = state[THROWS] == 1
    todo[0] = _each_once(dice, count)
    if one != other or kind == EACH_ONCE:
        if kind == LOWER_FIRST:
            todo[0] = 2 | min(one, other) << 3 | max(one, other) << 6 | ORDERED | ENDS_TURN
        if (kind == ACEY or kind == ACEY_THIRD) and one + other == 3:
            if throws == 3:
                return 1 if kind == ACEY_THIRD else 0
            todo[1], todo[2] = NAME_DOUBLE, ROLL
            return 3
        return 1
    todo[0] = times(one, 4)
    fourth = (kind == SERIES_FROM_FOURTH or kind == EARLY_DOUBLE_ENDS) and state[THROWS] >= 4
    if kind == SERIES or fourth:
        for number in range(one, 7):
            todo[number - one] = times(number, 4)
        return int(7 - one)
    if (kind == COMPLEMENTARY or kind == LOWER_FIRST) and not first:
        low = one if kind == COMPLEMENTARY else min(one, 7 - one)
        todo[0], todo[1], todo[2] = times(low, 4), times(7 - low, 4), ROLL
        return 3
    if (kind == ONE_CHECKER or kind == ONE_CHECKER_ONCE) and first and one != HOME:
        todo[0] = times(one, 1) if kind == ONE_CHECKER_ONCE else todo[0] | FROM_ONE_CHECKER
    return 1


@inner
def _borne_off(rules: Rules, state: State) -> int:
    """Return what a game counts that ended by bearing off."""
    if state[SIDE] > 0 or not rules[GAMMON]:
        return 1
    if not rules[TRIPLE]:
        return 2
    behind = state[SIDE + HAND]
    for point in range(1, HOME + 1):
        behind += state[SIDE + facing(rules[COURSE], point)]
    return 3 if behind > 0 else 2


@inner
def _filled(state: State, low: int) -> bool:
    for point in range(low, low + 6):
        if state[point] < 2:
            return False
    return True


@inner
def _best_way(ways: int, before: State, after: State) -> int:
    """Return what the best way to win of Ticktack counts that was reached, 0 if none."""
    if ways & WAY_GOING_IN and after[11] > 1:
        return 2
    if ways & WAY_TOGETHER and after[11] - before[11] > 1:
        return 2
    if ways & WAY_SECOND_TABLE and _filled(after, 13):
        return 2
    if ways & WAY_TOOTS and _filled(after, 19):
        return 2
    if ways & WAY_BOVERIES and after[14] > 0 and after[11] > 0:
        return 2
    if ways & WAY_FLYERS and any_on(after, 0, HOME) and not any_on(after, SIDE, SIDE + START - HOME):
        return 2
    if ways & WAY_HIT and after[SIDE + HAND] > 0:
        return 1
    return 1 if ways & WAY_OFF and not any_on(after, 1, HAND) else 0


@inner
def outcome(rules: Rules, before: State, after: State) -> int:
    """Return the points won by a play, negative if the opponent wins; GOES_ON or DRAWN."""
    at_once = outcome_at_once(rules, after)
    if at_once != GOES_ON:
        return at_once
    kind = rules[END]
    all_off = not any_on(after, 1, HAND)
    if kind == END_WAYS:
        return _best_way(rules[WAYS], before, after)
    if kind == END_LAST_WINS:
        return -1 if all_off else GOES_ON
    if kind == END_CHECKERS_LEFT:
        return any_count(after) if all_off else GOES_ON
    if all_off and (kind == END_1665 or kind == END_HOME_MARS):
        return _by_who_is_home(rules, after)
    if kind == END_BOTH_PINNED and after[PINNED] & after[SIDE + PINNED] & 1 << START:
        return DRAWN
    return _borne_off(rules, after) if all_off else GOES_ON


@inner
def _by_who_is_home(rules: Rules, state: State) -> int:
    """Return what a game counts where it matters whether the loser is home."""
    away = any_on(state, SIDE + HOME + 1, SIDE + HAND)
    if rules[END] == END_HOME_MARS:
        return 3 if away else _borne_off(rules, state)
    return 1 + (1 if away else 0) + (1 if state[MARKS] & MARK_DOUBLE else 0)


@inner
def any_count(state: State) -> int:
    """Return how many checkers the opponent has left."""
    left = 0
    for place in range(1, HAND + 1):
        left += state[SIDE + place]
    return left


@inner
def is_bound(state: State) -> bool:
    """Return whether a side holds its six home points while the opponent has a checker to enter."""
    return state[SIDE + HAND] > 0 and _filled(state, 1)
