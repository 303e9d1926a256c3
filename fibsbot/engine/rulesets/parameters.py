"""A ruleset as small integers, and a board as an array: what the compiled kernel works on.

The laws of a `Ruleset` are functions; each law that the kernel knows has a number here. All rulesets
of `fibsbot.games`, with each of their options, have parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from fibsbot.engine.arrays import Int32s, IntMatrix32, IntVector32, IntVector64
from fibsbot.games import (
    acey_deucey,
    around,
    backgammons,
    dutch,
    fevga,
    gulbara,
    irish,
    narde,
    plakoto,
    russian1,
    russian2,
    swedish,
    tabula,
    ticktack,
)
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import Opening, Part, Rest, Ruleset
from fibsbot.rules.sides import HAND, Course, Mark, Side, Sides

Rules: TypeAlias = IntVector64
"""The parameters of a ruleset, shape (PARAMETERS,)."""
State: TypeAlias = IntVector32
"""A board, shape (CELLS,): the side of the player on turn, then the opponent's, SIDE cells each."""
States: TypeAlias = IntMatrix32
"""Many boards, shape (n, CELLS)."""

# cells of a side, after its 26 places
PINNED: Final = 26
HIT: Final = 27
THROWS: Final = 28
MARKS: Final = 29
HEAD: Final = 30
HELD: Final = 31
SIDE: Final = 32
CELLS: Final = 2 * SIDE
MOST_THROWS: Final = 100
"""Throws are counted up to here: no law looks further than the fourth."""

RELEASED: Final = Mark.RELEASED.value
FIVE_LEFT: Final = Mark.FIVE_LEFT.value
FOUR_SIXES: Final = Mark.FOUR_SIXES.value
STARTED: Final = Mark.STARTED.value
MARK_HIT: Final = Mark.HIT.value
MARK_DOUBLE: Final = Mark.DOUBLE.value

# places of the parameters
COURSE: Final = 0
DICE: Final = 1
LANDING: Final = 2
MOVE_LAWS: Final = 3
BEARING_OFF: Final = 4
PLAY_LAW: Final = 5
PREFERENCE: Final = 6
ON_ROLL: Final = 7
DIVIDE: Final = 8
ON_MOVE: Final = 9
END: Final = 10
END_AT_ONCE: Final = 11
REST: Final = 12
NAMED_ENDS_TURN: Final = 13
STAKES: Final = 14
BINDING: Final = 15
RETHROW: Final = 16
GAMMON: Final = 17
TRIPLE: Final = 18
CHECKERS: Final = 19
WAYS: Final = 20
FARTHEST_FIRST: Final = 21
"""Whether equal numbers may be played from the farthest checker on without losing a table."""
PARAMETERS: Final = 22

CONTRARY: Final = 0
SAME: Final = 1
DIAGONAL: Final = 2
_COURSES: Final = {Course.CONTRARY: CONTRARY, Course.SAME: SAME, Course.DIAGONAL: DIAGONAL}

LAND_HIT: Final = 0
LAND_BLOCK: Final = 1
LAND_PIN: Final = 2
LAND_SWEDISH: Final = 3
LAND_SWEDISH_ANY: Final = 4
_LANDINGS: Final[Mapping[Any, int]] = {
    shared_laws.hits: LAND_HIT,
    shared_laws.blocks: LAND_BLOCK,
    shared_laws.pins: LAND_PIN,
    swedish.hits_and_breaks_blocks: LAND_SWEDISH,
    next(option for option in swedish.RULES.options if option.name == "any").changes["landing"]: LAND_SWEDISH_ANY,
}

ALL_ENTER: Final = 1
HIT_ENTER: Final = 2
HOME_BEFORE_HITTING: Final = 4
RUNNER: Final = 8
ONE_ON_A_POINT: Final = 16
ONE_FAR: Final = 64
FIVE_FIRST: Final = 128
TWO_ENTER: Final = 256
ENTER_IF_POSSIBLE: Final = 512
ONE_OFF_HEAD: Final = 1024
SECOND_HALF: Final = 2048
_MOVE_LAWS: Final[Mapping[Any, int]] = {
    shared_laws.all_enter_first: ALL_ENTER,
    shared_laws.hit_enter_first: HIT_ENTER,
    dutch.home_before_hitting: HOME_BEFORE_HITTING,
    fevga.runner_first: RUNNER,
    swedish.one_on_a_point: ONE_ON_A_POINT,
    swedish.one_on_a_far_point: ONE_FAR,
    swedish.five_leave_the_start: FIVE_FIRST,
    russian1.two_enter_first: TWO_ENTER,
    russian1.enter_if_possible: ENTER_IF_POSSIBLE,
    narde.one_off_the_head: ONE_OFF_HEAD,
    tabula.second_half_waits: SECOND_HALF,
}

OFF_ALL_HOME: Final = 0
OFF_EXACT: Final = 1
OFF_AROUND: Final = 2
OFF_ANY_TIME: Final = 3
OFF_NONE_PINNED: Final = 4
_BEARING_OFF: Final[Mapping[Any, int]] = {
    shared_laws.all_home_first: OFF_ALL_HOME,
    shared_laws.exact: OFF_EXACT,
    around.around_the_world: OFF_AROUND,
    tabula.any_time: OFF_ANY_TIME,
    plakoto.no_pinned_checker: OFF_NONE_PINNED,
}

FIRST_TABLE_OPEN: Final = 1
FOUR_OF_THIRD: Final = 2
NO_PRIME: Final = 3
NO_PRIME_BEFORE_HOME: Final = 4
_PLAY_LAWS: Final = {
    fevga.first_table_stays_open: FIRST_TABLE_OPEN,
    fevga.four_of_the_third_table: FOUR_OF_THIRD,
    narde.no_prime_before_all: NO_PRIME,
    narde.no_prime_before_home: NO_PRIME_BEFORE_HOME,
}
_PREFERENCES: Final = {fevga.wall_opens: 1}

ROLL_COUNTED: Final = 1
ROLL_HEAD: Final = 2
ROLL_HEAD_TWO: Final = 3
ROLL_SWEDISH: Final = 4
ROLL_DOUBLE: Final = 5
_ON_ROLL: Final[Mapping[Any, int]] = {
    shared_laws.count_throws: ROLL_COUNTED,
    narde.note_roll: ROLL_HEAD,
    narde.note_first_roll: ROLL_HEAD_TWO,
    swedish.note_roll: ROLL_SWEDISH,
    irish.note_double: ROLL_DOUBLE,
}

DOUBLES_TWICE: Final = 0
EACH_ONCE: Final = 1
SERIES: Final = 2
SERIES_FROM_FOURTH: Final = 3
ACEY: Final = 4
ACEY_THIRD: Final = 5
COMPLEMENTARY: Final = 6
LOWER_FIRST: Final = 7
ONE_CHECKER: Final = 8
ONE_CHECKER_ONCE: Final = 9
EARLY_DOUBLE_ENDS: Final = 10
_DIVIDE: Final[Mapping[Any, int]] = {
    shared_laws.doubles_twice: DOUBLES_TWICE,
    shared_laws.each_once: EACH_ONCE,
    shared_laws.series: SERIES,
    gulbara.series_from_the_fourth_roll: SERIES_FROM_FOURTH,
    acey_deucey.acey_deucey: ACEY,
    acey_deucey.third_is_played: ACEY_THIRD,
    russian1.complementary_doubles: COMPLEMENTARY,
    russian2.lower_first: LOWER_FIRST,
    swedish.first_double_moves_one_checker: ONE_CHECKER,
    swedish.first_double_moves_once: ONE_CHECKER_ONCE,
    gulbara.early_double_ends_turn: EARLY_DOUBLE_ENDS,
}

NOTE_HITTER: Final = 1
NOTE_HEAD: Final = 2
NOTE_START: Final = 3
NOTE_SWEDISH: Final = 4
NOTE_HIT: Final = 5
NOTE_SWEDISH_WHILE: Final = 6
_ON_MOVE: Final[Mapping[Any, int]] = {
    (): 0,
    (backgammons.hitter_stays,): NOTE_HITTER,
    (narde.note_head,): NOTE_HEAD,
    (russian1.note_start,): NOTE_START,
    (swedish.note_move,): NOTE_SWEDISH,
    (swedish.note_move, swedish.note_release_while_there): NOTE_SWEDISH_WHILE,
    (tabula.remember_hit,): NOTE_HIT,
}

END_OFF: Final = 0
END_BOTH_PINNED: Final = 1
END_LAST_WINS: Final = 2
END_WAYS: Final = 3
END_CHECKERS_LEFT: Final = 4
END_1665: Final = 5
END_HOME_MARS: Final = 6
_ENDS: Final[Mapping[Any, int]] = {
    (shared_laws.borne_off,): END_OFF,
    (shared_laws.both_last_pinned, shared_laws.borne_off): END_BOTH_PINNED,
    (backgammons.last_wins,): END_LAST_WINS,
    (acey_deucey.checkers_left,): END_CHECKERS_LEFT,
    (irish.borne_off_in_1665,): END_1665,
    (narde.borne_off_before_all_are_home,): END_HOME_MARS,
}

WAY_HIT: Final = 1
WAY_GOING_IN: Final = 2
WAY_TOGETHER: Final = 4
WAY_SECOND_TABLE: Final = 8
WAY_TOOTS: Final = 16
WAY_BOVERIES: Final = 32
WAY_FLYERS: Final = 64
WAY_OFF: Final = 128
_ALL_WAYS: Final = WAY_HIT | WAY_GOING_IN | WAY_SECOND_TABLE | WAY_TOOTS | WAY_BOVERIES | WAY_OFF
_WAYS_OF_OPTIONS: Final = {
    "plain": WAY_HIT | WAY_OFF,
    "together": _ALL_WAYS - WAY_GOING_IN + WAY_TOGETHER,
    "flyers": _ALL_WAYS + WAY_FLYERS,
    "common": _ALL_WAYS - WAY_TOOTS - WAY_BOVERIES,
}

JAN: Final = 1
JAN_OF_EMPTY: Final = 2
TRAPPED: Final = 3
TRAPPED_AFTER: Final = 4
_ENDS_AT_ONCE: Final[Mapping[Any, int]] = {
    (): 0,
    (swedish.jan,): JAN,
    (swedish.jan_of_empty_points,): JAN_OF_EMPTY,
    (plakoto.trapped_on_the_last_point,): TRAPPED,
    (shared_laws.both_last_pinned, plakoto.trapped_after_leaving): TRAPPED_AFTER,
}

GOES_ON: Final = 0
DRAWN: Final = 1000
"""The outcome of a game that nobody wins; other outcomes are the points won, negative if the opponent wins."""

REST_LOST: Final = 0
REST_TO_OPPONENT: Final = 1
REST_FOLLOWING: Final = 2
REST_OFFERED: Final = 3
_RESTS: Final = {
    Rest.LOST: REST_LOST,
    Rest.TO_OPPONENT: REST_TO_OPPONENT,
    Rest.FOLLOWING_TO_OPPONENT: REST_FOLLOWING,
    Rest.OFFERED: REST_OFFERED,
}


@cache
def parameters_of(rules: Ruleset) -> Rules:
    """Return the parameters of a ruleset; raise KeyError if it has a law that the kernel does not know."""
    found = np.zeros(PARAMETERS, np.int64)
    found[COURSE] = _COURSES[rules.course]
    found[DICE] = rules.dice
    found[LANDING] = _LANDINGS[rules.landing]
    found[MOVE_LAWS] = sum(_MOVE_LAWS[law] for law in rules.move_laws)
    found[BEARING_OFF] = _BEARING_OFF[rules.bearing_off]
    found[PLAY_LAW] = _only(_PLAY_LAWS, rules.play_laws)
    found[PREFERENCE] = _only(_PREFERENCES, rules.preferences)
    found[ON_ROLL] = 0 if rules.on_roll is _NO_NOTE else _ON_ROLL[rules.on_roll]
    found[DIVIDE] = _DIVIDE[rules.divide]
    found[ON_MOVE] = _ON_MOVE[rules.on_move]
    found[END], found[WAYS] = _end(rules)
    found[END_AT_ONCE] = _ENDS_AT_ONCE[rules.ends_at_once]
    found[REST] = _RESTS[rules.rest]
    found[NAMED_ENDS_TURN] = rules.named_double_ends_turn
    found[STAKES] = rules.raises_stake is acey_deucey.is_acey_deucey
    found[BINDING] = rules.points_to_open is irish.bound_points
    found[RETHROW] = rules.opening is Opening.RETHROW
    found[GAMMON] = rules.laws.gammon
    found[TRIPLE] = rules.laws.triple
    found[CHECKERS] = rules.checkers
    plain = found[MOVE_LAWS] & ~(ALL_ENTER | HIT_ENTER) == 0 and found[BEARING_OFF] in {OFF_ALL_HOME, OFF_EXACT}
    found[FARTHEST_FIRST] = plain and not found[ON_MOVE] and not found[END_AT_ONCE]
    return found


_NO_NOTE: Final = irish.RULES.on_roll
"""The default of `Ruleset.on_roll`."""


def _only(numbers: Mapping[Any, int], laws: tuple[Any, ...]) -> int:
    """Return the number of the one law of a kind, 0 if there is none; raise KeyError for more."""
    if len(laws) > 1:
        raise KeyError(laws)
    return numbers[laws[0]] if laws else 0


def _end(rules: Ruleset) -> tuple[int, int]:
    if rules.name != ticktack.RULES.name:
        return _ENDS[rules.ends], 0
    if rules.ends is ticktack.RULES.ends:
        return END_WAYS, _ALL_WAYS
    changed = {option.changes["ends"]: option.name for option in ticktack.RULES.options}
    return END_WAYS, _WAYS_OF_OPTIONS[changed[rules.ends]]


def state_of(sides: Sides) -> State:
    """Return a board as an array."""
    state = np.zeros(CELLS, np.int32)
    for first, side in ((0, sides.own), (SIDE, sides.opponent)):
        state[first : first + HAND + 1] = side.row
        state[first + PINNED] = side.pinned
        state[first + HIT] = side.hit
        state[first + THROWS] = min(side.throws, MOST_THROWS)
        state[first + MARKS] = side.marks.value
        state[first + HEAD] = side.head
        state[first + HELD] = side.held
    return state


def states_of(boards: list[Sides]) -> Int32s:
    """Return boards as arrays, one a row."""
    return np.array([state_of(sides) for sides in boards], np.int32).reshape(len(boards), CELLS)


def sides_of_state(state: State) -> Sides:
    """Return an array as a board."""
    return Sides(_side(state[:SIDE]), _side(state[SIDE:]))


def _side(cells: State) -> Side:
    values: list[int] = cells.tolist()
    row, (pinned, hit, throws, marks, head, held) = tuple(values[:PINNED]), values[PINNED:]
    return Side(row, pinned, hit, throws, Mark(marks), head, held)


ORDERED: Final = 1 << 15
FROM_ONE_CHECKER: Final = 1 << 16
VOLUNTARY: Final = 1 << 17
ENDS_TURN: Final = 1 << 18
ROLL: Final = -1
NAME_DOUBLE: Final = -2


def part_code(part: Part) -> int:
    """Return a part as one integer: how many numbers, three bits for each, and its flags."""
    code = len(part.numbers)
    for place, number in enumerate(part.numbers):
        code |= number << 3 * place + 3
    flags = ((part.ordered, ORDERED), (part.one_checker, FROM_ONE_CHECKER), (part.ends_turn, ENDS_TURN))
    code += sum(bit for is_on, bit in flags if is_on)
    return code if part.compulsory else code | VOLUNTARY


def start_of(rules: Ruleset) -> State:
    """Return the board before the first roll as an array."""
    return state_of(rules.start())
