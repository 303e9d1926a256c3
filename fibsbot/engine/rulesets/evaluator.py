"""What boards and plays are worth: the compiled lookahead, and an evaluator for Python.

Without looking ahead a board is evaluated as soon as a part of a turn is played. Here the parts that follow are played
first, also those that pass to the opponent; and with one ply, every roll of the opponent and his turn after it. In both
each part is played to the board that the network values most.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import Floats32, Floats64, Int64s, IntMatrix64, IntVector32, IntVector64, Matrix64, Vector64
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.numerics import products
from fibsbot.engine.rulesets.moves import copy_state, swap_sides
from fibsbot.engine.rulesets.network import (
    OUTPUTS,
    Activations,
    GameNetwork,
    bounded_value,
    evaluate_states,
    network_of_game,
    new_activations,
)
from fibsbot.engine.rulesets.parameters import (
    CELLS,
    DICE,
    DRAWN,
    ENDS_TURN,
    HEAD,
    HELD,
    NAME_DOUBLE,
    REST,
    REST_FOLLOWING,
    REST_LOST,
    REST_OFFERED,
    ROLL,
    SIDE,
    VOLUNTARY,
    Rules,
    State,
    States,
    parameters_of,
    part_code,
    state_of,
    states_of,
)
from fibsbot.engine.rulesets.plays import NODES, PlaySearch, all_equal, new_play_search, search_plays
from fibsbot.engine.rulesets.turns import MOST_PARTS, divide, note_roll, outcome, times
from fibsbot.rules.ruleset import Part, Ruleset, Then, Turn
from fibsbot.rules.sides import Sides

CANDIDATES: Final = 6
"""Plays that are looked at closely: those that the network values most."""
HALF: Final = 3
"""The chances of one player."""
_NOT_PLAYED: Final = -1
_BELOW_ALL: Final = 1000.0
"""More points than any play loses."""


class LookaheadBuffers(NamedTuple):
    """Working memory; each thread needs its own."""

    search: PlaySearch
    activations: Activations
    board: State
    """The board seen by the player on turn."""
    seen: State
    """A board seen by the other player."""
    first: State
    """The board from which all rolls are looked at."""
    todo: IntVector64
    dice: IntVector64
    ratings: Vector64
    """What plays are worth without looking ahead; those that were looked at closely are below all."""
    leaf: Vector64
    """The six chances of the player on turn where the lookahead along one roll has ended."""
    mean: Vector64
    """The mean of these over all rolls."""


class Choice(NamedTuple):
    """Plays of a part of a turn."""

    before: State
    """The board from which they start."""
    nodes: States
    """Boards, one per row."""
    results: IntVector32
    """The rows of the boards that the plays lead to."""
    moves: IntVector32
    """How many numbers of the part each plays."""
    todo: IntVector64
    """The part, and what follows in the turn."""


class Turns(NamedTuple):
    """Turns that are valued together, one a row."""

    boards: States
    todo: IntMatrix64
    """What is left of each turn, shape (n, MOST_PARTS)."""
    ends: IntVector64
    """How many parts that is."""
    played: IntVector64
    """How many moves of the first part have been made already; -1 if it comes next."""


def new_lookahead_buffers(network: GameNetwork) -> LookaheadBuffers:
    """Return working memory for a network."""
    return LookaheadBuffers(
        search=new_play_search(),
        activations=new_activations(network),
        board=np.zeros(CELLS, np.int32),
        seen=np.zeros(CELLS, np.int32),
        first=np.zeros(CELLS, np.int32),
        todo=np.zeros(MOST_PARTS, np.int64),
        dice=np.zeros(3, np.int64),
        ratings=np.zeros(NODES, np.float64),
        leaf=np.zeros(OUTPUTS, np.float64),
        mean=np.zeros(OUTPUTS, np.float64),
    )


@inner
def turn_over(state: State, seen: State) -> None:
    """Write a board at the end of a turn as the opponent sees it."""
    swap_sides(state, seen)
    seen[SIDE + HEAD] = 0
    seen[SIDE + HELD] = 0


@inner
def pass_rest(rules: Rules, todo: Int64s, part: int, moves: int, at: int, end: int) -> int:
    """Move what is left of a turn to the front, for the opponent; return how many parts that is."""
    count = 0
    if rules[REST] != REST_FOLLOWING:
        todo[0] = times(part >> 3 & 7, (part & 7) - moves)
        count = 1
    for place in range(at, end):
        todo[count] = todo[place]
        count += 1
    if rules[REST] == REST_OFFERED:
        for place in range(count):
            todo[place] |= VOLUNTARY
    return count


@inner
def moves_of(search: PlaySearch, node: int) -> int:
    """Return how many numbers of its part a result plays."""
    return int((search.worth[node] + 24) // 100)


@inner
def _settled(result: int) -> float:
    return 0.0 if result == DRAWN else float(result)


@inner
def _ended(buffers: LookaheadBuffers, result: int, sign: float) -> float:
    """Note the chances of a game that has ended, for the player whose lookahead it is; return its points."""
    points = sign * _settled(result)
    for unit in range(HALF):
        buffers.leaf[unit] = 1.0 if points > unit else 0.0
        buffers.leaf[HALF + unit] = 1.0 if -points > unit else 0.0
    return points


@inner
def _evaluated(rules: Rules, network: GameNetwork, buffers: LookaheadBuffers, state: State, sign: float) -> float:
    """Note the chances that a network gives, for the player whose lookahead it is; return the points."""
    points = sign * bounded_value(rules, network, buffers.activations, state)
    own, theirs = (0, HALF) if sign > 0 else (HALF, 0)
    for unit in range(HALF):
        buffers.leaf[unit] = buffers.activations.outputs[own + unit]
        buffers.leaf[HALF + unit] = buffers.activations.outputs[theirs + unit]
    return points


@inner
def _at_once(
    rules: Rules, network: GameNetwork, buffers: LookaheadBuffers, before: State, after: State, goes_on: int
) -> float:
    """Return what a board is worth for the player who has reached it, without looking ahead."""
    result = outcome(rules, before, after)
    if result:
        return _settled(result)
    if goes_on:
        return bounded_value(rules, network, buffers.activations, after)
    turn_over(after, buffers.seen)
    return -bounded_value(rules, network, buffers.activations, buffers.seen)


@inner
def _best_result(rules: Rules, network: GameNetwork, buffers: LookaheadBuffers, count: int, goes_on: int) -> int:
    """Return the node of the result that the network values most."""
    best, most = buffers.search.results[0], -_BELOW_ALL
    if count > 1:
        for place in range(count):
            node = buffers.search.results[place]
            rating = _at_once(rules, network, buffers, buffers.board, buffers.search.nodes[node], goes_on)
            if rating > most:
                best, most = node, rating
    return int(best)


@inner
def _is_whole(part: int, moves: int) -> bool:
    """Return whether what follows in a turn is not affected by how many moves of a part were made."""
    return moves == part & 7 or not part & ENDS_TURN


@inner
def _rest_of_turn(
    rules: Rules, network: GameNetwork, buffers: LookaheadBuffers, end: int, has_passed: int, played: int
) -> float:
    """Return what `it.board` is worth for the player on turn, who has `it.todo` to play; `it.leaf` has the chances.

    `played` says how many moves of its first part have been made already, `_NOT_PLAYED` that it comes next.
    """
    at, moves, passed, sign = 0, played, has_passed, 1.0
    while True:
        if moves == _NOT_PLAYED:
            if at >= end and not passed:
                turn_over(buffers.board, buffers.seen)
                return _evaluated(rules, network, buffers, buffers.seen, -sign)
            if at >= end or buffers.todo[at] == ROLL or buffers.todo[at] == NAME_DOUBLE:
                return _evaluated(rules, network, buffers, buffers.board, sign)
            count = search_plays(rules, buffers.board, buffers.todo[at], buffers.search)
            moves = 0
            node = 0
            if count:
                node = _best_result(rules, network, buffers, count, 1 if passed or at + 1 < end else 0)
                moves = moves_of(buffers.search, node)
            result = outcome(rules, buffers.board, buffers.search.nodes[node])
            if result:
                return _ended(buffers, result, sign)
            copy_state(buffers.search.nodes[node], buffers.board)
        part = buffers.todo[at]
        at += 1
        made, moves = moves, _NOT_PLAYED
        if _is_whole(part, made):
            continue
        if rules[REST] == REST_LOST or passed or not all_equal(part >> 3 & 0xFFF):
            at = end
            continue
        end = pass_rest(rules, buffers.todo, part, made, at, end)
        at, passed, sign = 0, 1 if end > 0 else 0, -sign
        turn_over(buffers.board, buffers.seen)
        copy_state(buffers.seen, buffers.board)
        if end == 0:
            return _evaluated(rules, network, buffers, buffers.board, sign)


@inner
def _after_roll(rules: Rules, network: GameNetwork, buffers: LookaheadBuffers) -> float:
    """Return what `it.first` is worth for the player who has rolled `it.dice`."""
    copy_state(buffers.first, buffers.board)
    note_roll(rules, buffers.board, buffers.dice[0], buffers.dice[1])
    end = divide(rules, buffers.board, buffers.dice, rules[DICE], 1, buffers.todo)
    return _rest_of_turn(rules, network, buffers, end, 0, _NOT_PLAYED)


@inner
def _before_roll(rules: Rules, network: GameNetwork, buffers: LookaheadBuffers) -> float:
    """Return what `it.first` is worth for the player who is to roll: the mean over all rolls; `it.mean` for chances."""
    total, rolls = 0.0, 0
    for output in range(OUTPUTS):
        buffers.mean[output] = 0.0
    for high in range(1, 7):
        for low in range(1, high + 1):
            ways = 1 if high == low else 2
            buffers.dice[0], buffers.dice[1] = high, low
            if rules[DICE] == 2:
                total += ways * _after_roll(rules, network, buffers)
                _add_leaf(buffers, ways)
                rolls += ways
                continue
            for third in range(1, low + 1):
                buffers.dice[2] = third
                ways = 1 if high == third else 6 if high != low and low != third else 3
                total += ways * _after_roll(rules, network, buffers)
                _add_leaf(buffers, ways)
                rolls += ways
    for output in range(OUTPUTS):
        buffers.mean[output] /= rolls
    return total / rolls


@inner
def _add_leaf(buffers: LookaheadBuffers, ways: int) -> None:
    for output in range(OUTPUTS):
        buffers.mean[output] += ways * buffers.leaf[output]


@inner
def _ends_turn(rules: Rules, part: int, moves: int, end: int, passed: int) -> bool:
    """Return whether the turn ends after `moves` moves of its first part, so that the opponent rolls."""
    if passed:
        return False
    if _is_whole(part, moves):
        return end == 1
    return bool(rules[REST] == REST_LOST or not all_equal(part >> 3 & 0xFFF))


@inner
def _highest(ratings: Floats64, count: int) -> int:
    best = 0
    for place in range(1, count):
        if ratings[place] > ratings[best]:
            best = place
    return best


@compiled
def best_play(
    rules: Rules,
    network: GameNetwork,
    buffers: LookaheadBuffers,
    choice: Choice,
    count: int,
    end: int,
    passed: int,
    plies: int,
) -> int:
    """Return the place in `choice.results` of the best of `count` plays, for the player who makes them.

    `end` is the number of parts in `choice.todo`, `passed` whether the opponent left them. With `plies` 1 every roll of
    the opponent is looked at, with 0 only the rest of the turn.
    """
    part, todo = choice.todo[0], choice.todo
    for place in range(count):
        after, moves = choice.nodes[choice.results[place]], choice.moves[place]
        goes_on = 1 if passed or (end > 1 and _is_whole(part, moves)) else 0
        buffers.ratings[place] = _at_once(rules, network, buffers, choice.before, after, goes_on)
    if plies == 0 and _ends_turn(rules, part, choice.moves[0], end, passed):
        return _highest(buffers.ratings, count)
    best, most = 0, -_BELOW_ALL
    for _ in range(min(count, CANDIDATES)):
        place = _highest(buffers.ratings, count)
        buffers.ratings[place] = -_BELOW_ALL
        after, moves = choice.nodes[choice.results[place]], choice.moves[place]
        result = outcome(rules, choice.before, after)
        if result:
            rating = _settled(result)
        elif plies > 0 and _ends_turn(rules, part, moves, end, passed):
            turn_over(after, buffers.first)
            rating = -_before_roll(rules, network, buffers)
        else:
            copy_state(after, buffers.board)
            for following in range(end):
                buffers.todo[following] = todo[following]
            rating = _rest_of_turn(rules, network, buffers, end, passed, moves)
        if rating > most:
            best, most = place, rating
    return best


@compiled
def value_turns(
    rules: Rules,
    network: GameNetwork,
    buffers: LookaheadBuffers,
    turns: Turns,
    passed: int,
    plies: int,
    found: Matrix64,
) -> None:
    """Write what the rest of each of several turns is worth to the player on turn: the points, and the six chances.

    `passed` says whether the opponent has left the turns. With `plies` 1, every roll of the opponent is looked at where
    a turn is over.
    """
    for row in range(len(turns.boards)):
        end, played = turns.ends[row], turns.played[row]
        is_over = end == 0
        if end and played != _NOT_PLAYED:
            is_over = _ends_turn(rules, turns.todo[row, 0], played, end, passed)
        if plies > 0 and is_over:
            turn_over(turns.boards[row], buffers.first)
            found[row, 0] = -_before_roll(rules, network, buffers)
            for unit in range(HALF):
                found[row, 1 + unit] = buffers.mean[HALF + unit]
                found[row, 1 + HALF + unit] = buffers.mean[unit]
            continue
        copy_state(turns.boards[row], buffers.board)
        for place in range(end):
            buffers.todo[place] = turns.todo[row, place]
        found[row, 0] = _rest_of_turn(rules, network, buffers, end, passed, played)
        for output in range(OUTPUTS):
            found[row, 1 + output] = buffers.leaf[output]


# -- from Python -------------------------------------------------------------------------------------------------------


MOST_PLIES: Final = 1
"""How far it can look ahead: the opponent's next roll."""
_THEN: Final = {Then.ROLL: ROLL, Then.NAME_DOUBLE: NAME_DOUBLE}


class RulesetEvaluator:
    """Estimates how a game will end. An option of a game is evaluated by the network of the game without it."""

    def __init__(self, rules: Ruleset, network: GameNetwork | None = None) -> None:
        """Use the bundled network unless another one is given; raise NetworkError or OSError if it is damaged."""
        self._parameters = parameters_of(rules)
        self._network = network_of_game(rules.name) if network is None else network
        self._of_thread = threading.local()

    def chances(self, boards: Sequence[Sides]) -> Floats32:
        """Return the chances of the player who is to roll, `Sides.own`, shape (n, 6).

        They are those to win at least one, two and three units, and to lose as many; see `GameNetwork.unit_points`.
        """
        outputs = np.empty((len(boards), OUTPUTS), np.float32)
        buffers = new_activations(self._network)  # for this call alone: strategies may be shared by threads
        evaluate_states(self._parameters, self._network, buffers, states_of(list(boards)), outputs)
        return outputs

    def points(self, boards: Sequence[Sides]) -> Floats32:
        """Return the points that the player who is to roll can expect, shape (n,), without the cube."""
        chances = self.chances(boards)
        return np.asarray(products(chances[:, :3] - chances[:, 3:], self._network.unit_points), np.float32)

    def best_play(
        self, before: Sides, turn: Turn, plays: Sequence[tuple[Sides, int]], *, passed: bool = False, plies: int = 0
    ) -> int:
        """Return which of the plays of the first part of a turn is the best, by the points of the player who makes it.

        Args:
            before: The board before the play.
            turn: The part that is played, and what follows it.
            plays: The boards that the plays lead to, and how many moves each makes.
            passed: Whether the turn was left by the opponent.
            plies: 0 looks at the rest of the turn, 1 also at every roll of the opponent.
        """
        todo = np.zeros(MOST_PARTS, np.int64)
        todo[: len(turn)] = _codes(turn)
        count = len(plays)
        choice = Choice(
            before=state_of(before),
            nodes=states_of([sides for sides, _ in plays]),
            results=np.arange(count, dtype=np.int32),
            moves=np.array([moves for _, moves in plays], np.int32),
            todo=todo,
        )
        rules, network, ahead = self._parameters, self._network, self._lookahead()
        return best_play(rules, network, ahead, choice, count, len(turn), int(passed), plies)

    def turns(
        self, boards: Sequence[Sides], turns: Sequence[Turn], moves: Sequence[int | None], *, passed: bool, plies: int
    ) -> Floats64:
        """Return what turns are worth to the player on turn, shape (n, 7): expected points, and the six chances.

        Args:
            boards: The board of each turn, with its first part still to be played or just played.
            turns: What is left of each turn, the first part included.
            moves: How many moves of the first part have been made; None if it comes next.
            passed: Whether the turns were left by the opponent.
            plies: 0 looks at the rest of the turn, 1 also at every roll of the opponent where no rest is left.
        """
        count = len(boards)
        todo = np.zeros((count, MOST_PARTS), np.int64)
        for row, turn in zip(todo, turns, strict=True):
            row[: len(turn)] = _codes(turn)
        each = Turns(
            boards=states_of(list(boards)),
            todo=todo,
            ends=np.array([len(turn) for turn in turns], np.int64),
            played=np.array([_NOT_PLAYED if made is None else made for made in moves], np.int64),
        )
        found = np.empty((count, 1 + OUTPUTS))
        value_turns(self._parameters, self._network, self._lookahead(), each, int(passed), plies, found)
        return found

    @property
    def unit_points(self) -> tuple[float, ...]:
        """What the first, second and third unit count."""
        return tuple(self._network.unit_points.tolist())

    def _lookahead(self) -> LookaheadBuffers:
        """Return the working memory of this thread."""
        memory: LookaheadBuffers | None = getattr(self._of_thread, "lookahead", None)
        if memory is None:
            memory = self._of_thread.lookahead = new_lookahead_buffers(self._network)
        return memory


def _codes(turn: Turn) -> list[int]:
    """Return what is to be done in a turn as integers."""
    return [part_code(part) if isinstance(part, Part) else _THEN[part] for part in turn]
