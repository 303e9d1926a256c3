"""All boards that a part of a turn leads to, compiled: what `fibsbot.rules.general_plays.resulting_boards` finds.

The boards within a part are searched level by level, one move deeper each, in every order of the numbers. A board that
is reached again with the same numbers left is recognised by its 64-bit hash.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import Int64s, IntVector32, IntVector64
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.rulesets.moves import (
    HAND,
    HOME,
    ILLEGAL,
    START,
    any_on,
    copy_state,
    facing,
    in_block_of_six,
    make_move,
)
from fibsbot.engine.rulesets.parameters import (
    CELLS,
    COURSE,
    DIAGONAL,
    DRAWN,
    END_AT_ONCE,
    FARTHEST_FIRST,
    FIRST_TABLE_OPEN,
    FOUR_OF_THIRD,
    FROM_ONE_CHECKER,
    GOES_ON,
    JAN,
    JAN_OF_EMPTY,
    LAND_SWEDISH_ANY,
    LANDING,
    MARKS,
    NO_PRIME,
    NO_PRIME_BEFORE_HOME,
    ORDERED,
    PINNED,
    PLAY_LAW,
    PREFERENCE,
    RELEASED,
    SIDE,
    TRAPPED_AFTER,
    VOLUNTARY,
    Rules,
    State,
    States,
)

NODES: Final = 16_000
"""Boards that one search can hold, the start included; about twice as many as any game has been seen to need."""
_SLOTS: Final = 1 << 16
_LONGEST: Final = 100
"""More than the sum of the numbers of a part: so much each number played counts in `worth`."""


class PlaySearch(NamedTuple):
    """Working memory of a search, and its results; each thread needs its own."""

    nodes: States
    """The boards that were reached, shape (NODES, CELLS); the first one is the start."""
    left: IntVector32
    """Numbers that are left, as a part's code has them, with the place of the checker that moves above bit 15."""
    worth: IntVector32
    """100 for each number played, less the sum of those that are left."""
    ended: IntVector32
    """Whether the game ended there."""
    results: IntVector32
    """The nodes of the legal results."""
    keys: IntVector64
    """Hashes, shape (slots,)."""
    stamps: IntVector32
    """The search that each slot belongs to."""
    found: IntVector32
    """The node of each slot."""
    factors: IntVector64
    """Random factors of the hash, shape (CELLS,)."""
    counter: IntVector32
    """The number of searches; then of nodes of the last one."""


def new_play_search() -> PlaySearch:
    """Return working memory for searches."""
    factors = np.random.default_rng(22).integers(-(1 << 62), 1 << 62, CELLS) | 1
    return PlaySearch(
        nodes=np.zeros((NODES, CELLS), np.int32),
        left=np.zeros(NODES, np.int32),
        worth=np.zeros(NODES, np.int32),
        ended=np.zeros(NODES, np.int32),
        results=np.zeros(NODES, np.int32),
        keys=np.zeros(_SLOTS, np.int64),
        stamps=np.zeros(_SLOTS, np.int32),
        found=np.zeros(_SLOTS, np.int32),
        factors=factors,
        counter=np.zeros(2, np.int32),
    )


@inner
def _hash(factors: Int64s, state: State) -> int:
    total = 0
    for cell in range(CELLS):
        total += factors[cell] * state[cell]
    return total


@inner
def _slot(search: PlaySearch, key: int) -> int:
    """Return the slot of a key; it is new if its stamp is not that of this search."""
    stamp = search.counter[0]
    slot = (key ^ key >> 29 ^ key >> 47) & (_SLOTS - 1)
    while search.stamps[slot] == stamp and search.keys[slot] != key:
        slot = (slot + 1) & (_SLOTS - 1)
    return slot


@inner
def free_points(rules: Rules, state: State) -> int:
    """Return how many points of the entry table the opponent's captured checkers could enter on; see `swedish`."""
    free = of_block = 0
    most = 15 if rules[LANDING] == LAND_SWEDISH_ANY else 2
    for point in range(START - HOME + 1, START + 1):
        own, theirs = state[facing(DIAGONAL, point)], state[SIDE + point]
        if rules[END_AT_ONCE] == JAN:
            if theirs > 0 and not state[SIDE + MARKS] & RELEASED:
                continue
            if own < 2:
                free += 1
            elif own <= most and in_block_of_six(DIAGONAL, state, 0, point):
                of_block = 1
        elif own == 0 and theirs == 0:
            free += 1
    return free + of_block


@inner
def ends_at_once(rules: Rules, state: State) -> bool:
    """Return whether the game is over after a move, whatever numbers are left."""
    if state[0] > 0 and not any_on(state, 1, HAND):
        return True
    return outcome_at_once(rules, state) != GOES_ON


@inner
def outcome_at_once(rules: Rules, state: State) -> int:
    """Return the points won by a move that ends the game, DRAWN or GOES_ON; bearing off is not looked at."""
    kind = rules[END_AT_ONCE]
    if kind == 0:
        return GOES_ON
    if kind in (JAN, JAN_OF_EMPTY):
        captured = state[SIDE + HAND]
        return 15 if captured > 0 and captured > free_points(rules, state) else GOES_ON
    if not state[SIDE + PINNED] >> START & 1:
        return GOES_ON
    if kind == TRAPPED_AFTER and state[PINNED] >> START & 1:
        return DRAWN
    return GOES_ON if kind == TRAPPED_AFTER and state[START] > 0 else 2


@inner
def _holds_prime(state: State, law: int) -> bool:
    """Return whether six points in a row are held although the law forbids them."""
    before_home = law == NO_PRIME_BEFORE_HOME
    if before_home and any_on(state, SIDE, SIDE + HOME):
        return False
    run = 0
    for point in range(1, START + 1):
        run = run + 1 if state[facing(DIAGONAL, point)] > 0 else 0
        if run >= 6 and (before_home or not any_on(state, SIDE, SIDE + point - 6)):
            return True
    return False


@inner
def _breaks_play_law(rules: Rules, state: State) -> bool:
    """Return whether the board after a play is forbidden."""
    law = rules[PLAY_LAW]
    if law == FIRST_TABLE_OPEN:
        for point in range(19, START + 1):
            if state[point] == 0:
                return False
        return True
    if law == FOUR_OF_THIRD:
        held = 0
        for point in range(7, 13):
            if state[point] > 0:
                held += 1
        return held > 4
    if law in (NO_PRIME, NO_PRIME_BEFORE_HOME):
        return _holds_prime(state, law)
    return False


@inner
def _keeps_wall(rules: Rules, state: State) -> bool:
    """Return whether a wall stands right in front of the only point with all checkers of the opponent."""
    stand = 0
    for point in range(1, START + 1):
        if state[SIDE + point] > 0:
            if stand:
                return False
            stand = point
    if stand < 7:
        return False
    for point in range(stand - 6, stand):
        if state[facing(rules[COURSE], point)] == 0:
            return False
    return True


@inner
def _add(search: PlaySearch, count: int, left: int, worth: int, ended: int) -> bool:
    """Make a node of the board that was written behind the last one, unless it is known; return whether it is new."""
    stamp = search.counter[0]
    key = _hash(search.factors, search.nodes[count])
    here = key + (left * 2 + ended + 1) * search.factors[CELLS - 1]
    slot = _slot(search, here)
    if search.stamps[slot] == stamp:
        return False
    search.stamps[slot], search.keys[slot], search.found[slot] = stamp, here, count
    search.left[count], search.worth[count], search.ended[count] = left, worth, ended
    slot = _slot(search, key)
    if search.stamps[slot] != stamp:
        search.stamps[slot], search.keys[slot], search.found[slot] = stamp, key, count
    elif worth > search.worth[search.found[slot]]:
        search.found[slot] = count
    return True


@inner
def _without(numbers: int, place: int) -> int:
    """Return a code of numbers without the one at a place."""
    below = numbers & (1 << 3 * place) - 1
    return below | (numbers >> 3 * place + 3) << 3 * place


@inner
def _expand(rules: Rules, search: PlaySearch, part: int, node: int, end: int) -> int:
    """Add the boards one move after a node; return the new number of nodes."""
    code = search.left[node]
    numbers, at = code & 0xFFF, code >> 15
    is_chain = part & FROM_ONE_CHECKER > 0
    count = end
    last = 0
    for place in range(4):
        number = numbers >> 3 * place & 7
        if number == 0 or (place > 0 and part & ORDERED):
            break
        seen = False
        for earlier in range(place):
            if numbers >> 3 * earlier & 7 == number:
                seen = True
        if seen:
            continue
        rest = _without(numbers, place)
        highest = HAND
        if at:
            highest, last = at, at - 1 if is_chain else 0
        for source in range(highest, last, -1):
            if search.nodes[node, source] == 0 or count >= NODES - 1:
                continue
            target = make_move(rules, search.nodes[node], search.nodes[count], source, number)
            if target == ILLEGAL:
                continue
            ended = 1 if ends_at_once(rules, search.nodes[count]) else 0
            following = rest
            if is_chain:
                following = rest | target << 15 if target else 0
            elif rest and rules[FARTHEST_FIRST] and all_equal(numbers):
                following |= source << 15
            if _add(search, count, following, search.worth[node] + _LONGEST + number, ended):
                count += 1
    return count


@inner
def all_equal(numbers: int) -> bool:
    """Return whether the numbers of a code are all the same."""
    first = numbers & 7
    while numbers:
        if numbers & 7 != first:
            return False
        numbers >>= 3
    return True


@compiled
def search_plays(rules: Rules, state: State, part: int, search: PlaySearch) -> int:
    """Find every board that a part leads to; return how many, as in `search.results`. None if no checker can move."""
    search.counter[0] += 1
    copy_state(state, search.nodes[0])
    numbers = part >> 3 & 0xFFF
    total = 0
    for place in range(4):
        total += numbers >> 3 * place & 7
    search.left[0], search.worth[0], search.ended[0] = numbers, -total, 0
    begin, end = 0, 1
    while begin < end:
        level_end = end
        for node in range(begin, level_end):
            if not search.ended[node] and search.left[node] & 0xFFF:
                end = _expand(rules, search, part, node, end)
        begin = level_end
    search.counter[1] = end
    return _select(rules, part, search, end)


@inner
def _select(rules: Rules, part: int, search: PlaySearch, end: int) -> int:
    """Write the nodes of legal results; return their number."""
    results = search.results
    voluntary = part & VOLUNTARY > 0
    count = 0
    for node in range(0 if voluntary else 1, end):
        if node:
            key = _hash(search.factors, search.nodes[node])
            if search.found[_slot(search, key)] != node:
                continue
            if rules[PLAY_LAW] and not search.ended[node] and _breaks_play_law(rules, search.nodes[node]):
                continue
        results[count] = node
        count += 1
    if rules[PREFERENCE]:
        count = _prefer(rules, search, count)
    return count if voluntary else _longest(search, count)


@inner
def _most(search: PlaySearch, count: int) -> int:
    most = -_LONGEST
    for place in range(count):
        most = max(most, search.worth[search.results[place]])
    return most


@inner
def _prefer(rules: Rules, search: PlaySearch, count: int) -> int:
    """Leave out results that break the preference if a full one does not; return how many are left."""
    most = _most(search, count)
    possible = False
    for place in range(count):
        node = search.results[place]
        if search.worth[node] == most and not _keeps_wall(rules, search.nodes[node]):
            possible = True
    if not possible:
        return count
    kept = 0
    for place in range(count):
        node = search.results[place]
        if not _keeps_wall(rules, search.nodes[node]):
            search.results[kept] = node
            kept += 1
    return kept


@inner
def _longest(search: PlaySearch, count: int) -> int:
    """Leave out results that play fewer numbers, or a lower sum, unless the game ended; return how many are left."""
    most = _most(search, count)
    kept = 0
    for place in range(count):
        node = search.results[place]
        if search.ended[node] or search.worth[node] == most:
            search.results[kept] = node
            kept += 1
    return kept
