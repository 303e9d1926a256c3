"""Whole games of the family, compiled: what `fibsbot.rules.game` does, with the players' choices.

Both players of a game are numbers: the strategies of `fibsbot.strategies.simple_players`, or a network.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import Int64s, IntMatrix32, IntMatrix64, IntVector32, IntVector64
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.rulesets.evaluator import (
    Choice,
    LookaheadBuffers,
    best_play,
    moves_of,
    new_lookahead_buffers,
    pass_rest,
    turn_over,
)
from fibsbot.engine.rulesets.moves import HAND, HOME, copy_state, facing, farthest
from fibsbot.engine.rulesets.network import Activations, GameNetwork, bounded_value, new_activations, value
from fibsbot.engine.rulesets.parameters import (
    BINDING,
    CELLS,
    COURSE,
    DICE,
    DRAWN,
    END,
    END_LAST_WINS,
    ENDS_TURN,
    HIT,
    NAME_DOUBLE,
    NAMED_ENDS_TURN,
    REST,
    REST_LOST,
    RETHROW,
    ROLL,
    SIDE,
    STAKES,
    Rules,
    State,
)
from fibsbot.engine.rulesets.plays import NODES, PlaySearch, all_equal, new_play_search, search_plays
from fibsbot.engine.rulesets.turns import MOST_PARTS, divide, is_bound, note_roll, outcome, times

RANDOM: Final = 0
PIPS: Final = 1
BLOTS: Final = 2
NETWORK: Final = 3
"""Plays by a network, whose outputs are corrected where they cannot be right, and looks at the rest of its turn."""
LEARNER: Final = 4
"""Plays by a network that is being learned, as it is, and does not look ahead."""
NETWORK_1_PLY: Final = 5
"""Plays by a network, and looks at the opponent's next roll."""
MOST_ROLLS: Final = 4000
"""A longer game is abandoned: beginners may block each other for long."""
_WON: Final = 1e6


class GameBuffers(NamedTuple):
    """Working memory of games; each thread needs its own."""

    search: PlaySearch
    activations: Activations
    ahead: LookaheadBuffers
    choice: Choice
    start: State
    board: State
    """The board seen by the player on turn."""
    seen: State
    """A board seen by the other player."""
    todo: IntVector64
    dice: IntVector64
    random: IntVector64
    """States of two random number generators: dice, and choices."""
    record: IntMatrix32
    """The boards before each roll, shape (MOST_ROLLS, CELLS)."""
    movers: IntVector32
    """Who made that roll."""
    counts: IntVector64
    """Rolls of the last game; games that were abandoned."""


def new_game_buffers(start: State, network: GameNetwork) -> GameBuffers:
    """Return working memory for games from a set-up."""
    search, board = new_play_search(), np.zeros(CELLS, np.int32)
    moves, todo = np.zeros(NODES, np.int32), np.zeros(MOST_PARTS, np.int64)
    return GameBuffers(
        search=search,
        activations=new_activations(network),
        ahead=new_lookahead_buffers(network),
        choice=Choice(board, search.nodes, search.results, moves, todo),
        start=start,
        board=board,
        seen=np.zeros(CELLS, np.int32),
        todo=np.zeros(MOST_PARTS, np.int64),
        dice=np.zeros(3, np.int64),
        random=np.zeros(2, np.int64),
        record=np.zeros((MOST_ROLLS, CELLS), np.int32),
        movers=np.zeros(MOST_ROLLS, np.int32),
        counts=np.zeros(2, np.int64),
    )


@inner
def next_random(random: Int64s, which: int, below: int) -> int:
    """Return a random number from 0 to below `below` (Knuth's linear congruential generator of 64 bits)."""
    random[which] = random[which] * 6364136223846793005 + 1442695040888963407
    return int((random[which] >> 33 & 0x7FFFFFFF) % below)


@inner
def _blots(rules: Rules, state: State) -> int:
    rear = farthest(state, SIDE)
    count = 0
    for point in range(1, HAND):
        if state[point] == 1 and facing(rules[COURSE], point) < rear:
            count += 1
    return count


@inner
def _lead(rules: Rules, state: State) -> int:
    ahead = 0
    for place in range(1, HAND + 1):
        ahead += place * (state[SIDE + place] - state[place])
    return -ahead if rules[END] == END_LAST_WINS else ahead


@inner
def _expected(rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers, state: State) -> float:
    """Return the points that a network expects for the player who is to roll."""
    if kind == LEARNER:
        return value(rules, network, buffers.activations, state)
    return bounded_value(rules, network, buffers.activations, state)


@inner
def _rating(
    rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers, before: State, goes_on: int, node: int
) -> float:
    """Return how good a board is for the player who has reached it and, if the turn goes on, is to roll or play."""
    after = buffers.search.nodes[node]
    if kind < NETWORK:
        return _simple_rating(rules, kind, before, after)
    result = outcome(rules, before, after)
    if result == DRAWN:
        return 0.0
    if result != 0:
        return float(result)
    if goes_on:
        return _expected(rules, kind, network, buffers, after)
    turn_over(after, buffers.seen)
    return -_expected(rules, kind, network, buffers, buffers.seen)


@inner
def _simple_rating(rules: Rules, kind: int, before: State, after: State) -> float:
    """Return how good a board is by a simple player who has reached it."""
    result = outcome(rules, before, after)
    won = 0.0
    if result != 0 and result != DRAWN:
        won = _WON if result > 0 else -_WON
    if kind == PIPS:
        return won + 64 * _lead(rules, after) - _blots(rules, after)
    return won + _lead(rules, after) - 1024 * _blots(rules, after)


@inner
def _row_is_greater(state: State, other: State) -> bool:
    for place in range(HAND + 1):
        if state[place] != other[place]:
            return bool(state[place] > other[place])
    return False


@inner
def _best(
    rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers, before: State, goes_on: int, count: int
) -> float:
    """Put the best result first; return its rating."""
    if kind < NETWORK:
        return _simply_best(rules, kind, buffers.search, before, count)
    results = buffers.search.results
    best, most = 0, -1e9
    for place in range(count):
        rating = _rating(rules, kind, network, buffers, before, goes_on, results[place])
        if rating > most:
            best, most = place, rating
    results[0], results[best] = results[best], results[0]
    return most


@inner
def _simply_best(rules: Rules, kind: int, search: PlaySearch, before: State, count: int) -> float:
    """Put the result first that is the best one by a simple player; return its rating."""
    results, nodes = search.results, search.nodes
    best, most = 0, -1e9
    for place in range(count):
        rating = _simple_rating(rules, kind, before, nodes[results[place]])
        if rating > most or (rating == most and _row_is_greater(nodes[results[place]], nodes[results[best]])):
            best, most = place, rating
    results[0], results[best] = results[best], results[0]
    return most


@inner
def _choose(
    rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers, count: int, at: int, end: int, passed: int
) -> int:  # fmt: skip
    """Return the node of the result that a player chooses; the part that is played is before `at`."""
    results = buffers.search.results
    if kind == RANDOM:
        return int(results[next_random(buffers.random, 1, count)])
    if count == 1:
        return int(results[0])
    if kind < NETWORK or kind == LEARNER:
        _best(rules, kind, network, buffers, buffers.board, 1 if passed or at < end else 0, count)
        return int(results[0])
    choice = buffers.choice
    for place in range(count):
        choice.moves[place] = moves_of(buffers.search, results[place])
    for place in range(at - 1, end):
        choice.todo[place - at + 1] = buffers.todo[place]
    plies = 1 if kind == NETWORK_1_PLY else 0
    return int(results[best_play(rules, network, buffers.ahead, choice, count, end - at + 1, passed, plies)])


@inner
def _name_double(rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers) -> int:
    """Return the double that a player names, 0 if none can be played."""
    best, most = 0, -1e9
    for number in range(1, 7):
        count = search_plays(rules, buffers.board, times(number, 4), buffers.search)
        if count == 0:
            continue
        rating = 0.0
        if kind == RANDOM:
            rating = float(next_random(buffers.random, 1, 1 << 20))
        else:
            rating = _best(rules, kind, network, buffers, buffers.board, 1, count)
        if rating >= most:
            best, most = number, rating
    return best


@inner
def _open_point(
    rules: Rules, kinds: Int64s, first: GameNetwork, second: GameNetwork, buffers: GameBuffers, mover: int
) -> None:
    """Let the winner of a contest of dice choose which of the mover's home points is opened."""
    totals = 0
    while totals == 0:
        for _ in range(2):
            totals += next_random(buffers.random, 0, 6) - next_random(buffers.random, 0, 6)
    namer = 0 if totals > 0 else 1
    best, most = 1, -1e9
    node = buffers.search.nodes[0]
    for point in range(1, HOME + 1):
        _open(buffers.board, node, point)
        if kinds[namer] == RANDOM:
            rating = float(next_random(buffers.random, 1, 1 << 20))
        else:
            network = first if namer == 0 else second
            rating = _opened_rating(rules, kinds[namer], network, buffers, 1 if namer == mover else 0)
        if rating >= most:
            best, most = point, rating
    _open(buffers.board, node, best)
    copy_state(node, buffers.board)


@inner
def _opened_rating(rules: Rules, kind: int, network: GameNetwork, buffers: GameBuffers, own: int) -> float:
    """Return how good the board in the first node is for its owner or, from the other side, for the opponent."""
    if own:
        return _rating(rules, kind, network, buffers, buffers.board, 0, 0)
    turn_over(buffers.search.nodes[0], buffers.search.nodes[1])
    return _rating(rules, kind, network, buffers, buffers.board, 1, 1)


@inner
def _open(state: State, opened: State, point: int) -> None:
    copy_state(state, opened)
    more = state[point] - 1
    opened[point] = 1
    opened[HAND] += more
    opened[HIT] += more


@inner
def play_game(rules: Rules, kinds: Int64s, first: GameNetwork, second: GameNetwork, buffers: GameBuffers) -> int:
    """Play a game; return the points that the first player wins, negative if the second does, 0 for a draw.

    The boards before each roll are recorded.
    """
    board, seen, todo, dice, search = buffers.board, buffers.seen, buffers.todo, buffers.dice, buffers.search
    copy_state(buffers.start, board)
    dice[0], dice[1] = 0, 0
    while dice[0] == dice[1]:
        dice[0] = next_random(buffers.random, 0, 6) + 1
        dice[1] = next_random(buffers.random, 0, 6) + 1
    mover = 0 if dice[0] > dice[1] else 1
    has_rolled = rules[RETHROW] == 0
    passed, throws, rolls, at, end, stake = False, 0, 0, 0, 0, 1
    must_roll = True
    while rolls < MOST_ROLLS:
        kind = kinds[mover]
        if must_roll:
            copy_state(board, buffers.record[rolls])
            buffers.movers[rolls] = mover
            rolls += 1
            throws += 1
            if not has_rolled:
                for die in range(rules[DICE]):
                    dice[die] = next_random(buffers.random, 0, 6) + 1
            has_rolled, must_roll = False, False
            if rules[STAKES] and dice[0] + dice[1] == 3:
                stake *= 2
            note_roll(rules, board, dice[0], dice[1])
            at, end = 0, divide(rules, board, dice, rules[DICE], throws, todo)
        if at < end and todo[at] == NAME_DOUBLE:
            number = _name_double(rules, kind, first if mover == 0 else second, buffers)
            if number:
                todo[at] = times(number, 4) - (0 if rules[NAMED_ENDS_TURN] else ENDS_TURN)
            else:
                at = end if rules[NAMED_ENDS_TURN] else at + 1
            continue
        if at < end and todo[at] == ROLL:
            must_roll = True
            continue
        if at >= end:
            throws, must_roll = 0, True
            if passed:
                passed = False
            else:
                if rules[BINDING] and is_bound(board):
                    _open_point(rules, kinds, first, second, buffers, mover)
                turn_over(board, seen)
                copy_state(seen, board)
                mover = 1 - mover
            continue
        part = todo[at]
        at += 1
        count = search_plays(rules, board, part, search)
        moves, result = 0, 0
        if count:
            node = _choose(rules, kind, first if mover == 0 else second, buffers, count, at, end, 1 if passed else 0)
            moves = moves_of(search, node)
            result = outcome(rules, board, search.nodes[node])
            copy_state(search.nodes[node], board)
        else:
            result = outcome(rules, board, board)
        if result:
            buffers.counts[0] = rolls
            if result == DRAWN:
                return 0
            return stake * result if mover == 0 else -stake * result
        if moves == part & 7 or not part & ENDS_TURN:
            continue
        if rules[REST] == REST_LOST or passed or not all_equal(part >> 3 & 0xFFF):
            at = end
            continue
        end = pass_rest(rules, todo, part, moves, at, end)
        at, passed, throws, must_roll = 0, end > 0, 0, end == 0
        turn_over(board, seen)
        copy_state(seen, board)
        mover = 1 - mover
    buffers.counts[0] = rolls
    buffers.counts[1] += 1
    return 0


@compiled
def play_pairs(
    rules: Rules,
    kinds: IntMatrix64,
    first: GameNetwork,
    second: GameNetwork,
    buffers: GameBuffers,
    seed: int,
    number: int,
    points: IntVector64,
) -> None:
    """Play pairs of games with the same dice and exchanged seats; write what the first player wins in each game.

    `kinds` are those of both players, in the first row for the first game of a pair, in the second for the other one.
    The dice of a game depend on the seed and the number of its pair only; `number` is that of the first pair.
    """
    for pair in range(len(points) // 2):
        for seat in range(2):
            for which in range(2):
                buffers.random[which] = (seed * 1000003 + number + pair) * 2654435769 + which * (7919 + seat)
                for _ in range(4):
                    next_random(buffers.random, which, 2)
            if seat == 0:
                points[2 * pair] = play_game(rules, kinds[0], first, second, buffers)
            else:
                points[2 * pair + 1] = -play_game(rules, kinds[1], second, first, buffers)
