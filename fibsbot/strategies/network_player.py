"""Values and decisions in games other than backgammon, by the network of each game.

The network gives the chances to win one, two and three points and to lose as many; a turn is looked at to its end, with
all its parts, also those that pass to the opponent. Everything is decided by the values that are reported, so that own
decisions cost nothing by the own evaluation.

Equities are those of `Evaluator`: points per cube for money; at a match score chances to win the match, on the scale on
which a single game at the present cube is won with 1 and lost with -1. A draw counts 0.

The cube is valued by Janowski's model as in backgammon (`engine.cube`), with its efficiency for positions with contact.
Where the winner scores for each checker that is left the cube counts as dead: it is never turned again.

Match chances: games with a cube have the match equity table of backgammon. In those without, the score of a match is a
random walk, whose steps are the results that the network expects of a game before its first roll, whoever begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np
from attrs import evolve, frozen

from fibsbot.engine import engine_details
from fibsbot.engine.arrays import Floats64
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, OWNER_COLUMN, TURNED, Stakes
from fibsbot.engine.cube.stakes import ACCEPT_SLACK
from fibsbot.engine.match_equity import LEAST_SWING, GamePoints, match_chance
from fibsbot.engine.rulesets.evaluator import CANDIDATES, MOST_PLIES, RulesetEvaluator
from fibsbot.engine.rulesets.network import network_of_game
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Play
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.dice import Dice
from fibsbot.rules.general_plays import outcome, parts_of, resulting_boards, rolls, turn_over
from fibsbot.rules.permissions import is_beyond
from fibsbot.rules.ruleset import Part, Rest, Ruleset, Then, Turn
from fibsbot.rules.sides import OFF, Side, Sides
from fibsbot.rules.state import Naming
from fibsbot.strategies.base import Chances, CubeAnswer, CubeValues, PlayAnswer, PlayValue, PositionValue

_EFFICIENCY: Final = np.array([*DEFAULT_EFFICIENCY.contact, DEFAULT_EFFICIENCY.contact_swing])
_TO_ROLL: Final[Turn] = (Then.ROLL,)
_OVER: Final[Turn] = ()
_LEAST_GAP: Final = 1e-6
"""By how much a play that was not looked at closely stays behind the best, whatever the network says of it."""


class NetworkPlayer:
    """Evaluates and plays every game that has a network of its own."""

    name = "engine"
    knows_laws = True

    def __init__(self, plies: int = MOST_PLIES, folder: Path | None = None) -> None:
        """Look this many plies ahead, or as many as it can.

        `folder` has networks, called NAME.npz as `fibsbot train --game` writes them, to use in place of the bundled.
        """
        self.plies = min(plies, MOST_PLIES)
        self._folder = folder
        self._evaluators: dict[str, RulesetEvaluator] = {}

    @property
    def details(self) -> str:
        """Version and plies, and after a semicolon the networks."""
        return engine_details("the network of each game", f"{self.plies}-ply")

    def plays_game(self, rules: Ruleset) -> bool:  # noqa: ARG002 - the interface
        """Play every game."""
        return True

    # -- decisions ----------------------------------------------------------------------------------------------------

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the best play."""
        value, play = max(zip(self.value_plays(state, plays), plays, strict=True), key=itemgetter(0))
        return PlayAnswer(play, value)

    def choose_name(self, state: MatchState) -> int:
        """Choose the best of `state.names`."""
        return max(zip(self.value_names(state), state.names, strict=True))[1]

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if that gains."""
        values = self.value_cube(state)
        return CubeAnswer(CubeAction.DOUBLE if values.double > values.no_double else CubeAction.ROLL, values.best)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take unless a pass loses less."""
        values = self.value_cube(evolve(state.swapped(), phase=Phase.ROLL, dice=None, on_turn=True))
        takes = values.double_take <= values.double_pass
        return CubeAnswer(CubeAction.TAKE if takes else CubeAction.PASS, -values.double)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is worth as much as playing on; whose turn it is rolls next."""
        rolling = evolve(state if state.on_turn else state.swapped(), phase=Phase.ROLL, dice=None, on_turn=True)
        value = self.value(rolling) if state.on_turn else -self.value(rolling)
        return self._results(state).equity(state.resignation_points) >= value - ACCEPT_SLACK

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Never resign."""
        return 0

    # -- values of plays and rolls ------------------------------------------------------------------------------------

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the value of each play of a part of a turn, with what follows in it."""
        return [value.equity for value in self._compared(state, plays)]

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> list[PlayValue]:
        """Return the value of each play; the one that was made is looked at as closely as the best ones."""
        return self._compared(state, plays, made)

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return the value of each roll to the player who is to roll, 1-1, 2-1, 2-2 and so on, whatever dice it shows.

        The whole turn is played without looking ahead beyond it.
        """
        return _listed(self._equities_of_rolls(state, self._turns_after_rolls(state)))

    def value_names(self, state: MatchState) -> list[float]:
        """Return the value of naming each of `state.names`: a double to play, or a point to open."""
        evaluator, rules, sides = self._evaluator(state.rules), state.rules, state.sides
        if state.naming is Naming.DOUBLE:
            turns = [(Part((name,) * 4, ends_turn=rules.named_double_ends_turn), *state.todo) for name in state.names]
            found = evaluator.turns([sides] * len(turns), turns, [None] * len(turns), passed=state.passed, plies=0)
            return _listed(self._after_turn(state, found))
        # The points are those of the player who has just played; then the other one rolls.
        bound = sides if state.on_turn else sides.swapped()
        opened = [turn_over(rules.open_point(bound, point)) for point in state.names]
        found = evaluator.turns(opened, [_TO_ROLL] * len(opened), [None] * len(opened), passed=False, plies=0)
        if state.on_turn:
            return _listed(self._after_turn(state, _reversed(found)))
        return _listed(self._before_roll(state, found))

    def _compared(self, state: MatchState, plays: Sequence[Play], made: Play | None = None) -> list[PlayValue]:
        evaluator, rules, before, part = self._evaluator(state.rules), state.rules, state.sides, state.part
        known = {moves: after for after, moves in resulting_boards(rules, before, part).items()}
        after = [known[play.moves] if play.moves in known else _sides_after(state, play) for play in plays]
        over = [_ends_turn(state, len(play)) for play in plays]
        left = [_OVER if is_over else _TO_ROLL for is_over in over]
        found = evaluator.turns(after, left, [None] * len(plays), passed=False, plies=0)
        ended = {place: end for place, sides in enumerate(after) if (end := outcome(rules, before, sides))}
        for place, end in ended.items():
            found[place] = _row_of_result(end.winner * end.points)
        close = list(range(len(plays)))
        if self.plies or not all(over):
            ranked = sorted(close, key=lambda place: -found[place, 0])
            close = [place for place in close if place in ranked[:CANDIDATES] or plays[place] == made]
            deeper = [place for place in close if place not in ended]
            if deeper:
                found[deeper] = evaluator.turns(
                    [after[place] for place in deeper],
                    [state.todo] * len(deeper),
                    [len(plays[place]) for place in deeper],
                    passed=state.passed,
                    plies=self.plies,
                )
        equities = self._after_turn(state, found)
        for place, end in ended.items():
            equities[place] = self._results(state).equity(end.winner * end.points * state.cube)
        most = equities[close].max()
        return [
            PlayValue(float(equity), self.plies, _chances(row))
            if place in close
            else PlayValue(float(min(equity, most - _LEAST_GAP)), None, _chances(row))
            for place, (equity, row) in enumerate(zip(equities, found, strict=True))
        ]

    def _turns_after_rolls(self, state: MatchState) -> Floats64:
        """Return what each roll is worth to the player who is to roll: points and chances, a row for each."""
        rules = state.rules
        after = [parts_of(rules, state.sides, dice, state.throws + 1) for dice, _ in rolls(rules.dice)]
        boards, turns = [board for board, _ in after], [turn for _, turn in after]
        return self._evaluator(rules).turns(boards, turns, [None] * len(turns), passed=False, plies=0)

    def _equities_of_rolls(self, state: MatchState, found: Floats64) -> Floats64:
        equities = self._after_turn(state, found)
        raising = [place for place, (dice, _) in enumerate(rolls(state.rules.dice)) if _raises(state, dice)]
        if raising:
            equities[raising] = self._after_turn(state, found[raising], stake=2)
        return equities

    # -- before the roll ----------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return float(self._before_roll(state, self._to_roll(state))[0])

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        found = self._to_roll(state)
        return PositionValue(float(self._before_roll(state, found)[0]), self.plies, _chances(found[0]))

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        found = self._to_roll(state)
        results = self._results(state)
        if results.stakes is None:
            no_double = float(results.cubeless(found)[0])
            taken = float(results.cubeless(found, stake=2)[0])
            theirs = state.sides.opponent
            passed = results.equity((_points_of_pass(theirs) if state.rules.counts_checkers else 1) * state.cube)
        else:
            values = results.stakes.no_double_values(found[:, 1:], _EFFICIENCY)[0]
            no_double = float(values[OWNER_COLUMN[state.owner]])
            taken = float(results.stakes.take_value(values[TURNED]))
            passed = results.stakes.pass_value
        return CubeValues(no_double, taken, passed, self.plies, _chances(found[0]))

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost.

        In games with a cube, this game is the Crawford game or a later one if a player needs only one point.
        """
        own, theirs = state.away
        left = own - max(points, 0), theirs - max(-points, 0)
        if not state.cubeless:
            return match_chance(*left, crawford_played=1 in state.away)
        if min(left) <= 0:
            return 1.0 if left[0] <= 0 else 0.0
        return float(_walk_chances(self._results_of_a_game(state.rules), max(left))[left])

    def _to_roll(self, state: MatchState) -> Floats64:
        """Return points and chances of the player who is to roll, as one row."""
        if not self.plies:
            return self._evaluator(state.rules).turns([state.sides], [_TO_ROLL], [None], passed=False, plies=0)
        ways = np.array([ways for _, ways in rolls(state.rules.dice)])
        rows = self._turns_after_rolls(state)
        return np.asarray((rows * ways[:, None]).sum(axis=0, keepdims=True) / ways.sum())

    # -- from points and chances to equities --------------------------------------------------------------------------

    def _after_turn(self, state: MatchState, found: Floats64, *, stake: int = 1) -> Floats64:
        """Return the equities of the player whose turn ends, so that the opponent may double before the next roll."""
        results = self._results(state)
        if results.stakes is None:
            return results.cubeless(found, stake=stake)
        theirs = evolve(results.stakes, cube=stake * state.cube).swapped
        values = theirs.values(_reversed(found)[:, 1:], _EFFICIENCY)
        return np.asarray(-values[:, OWNER_COLUMN[Owner(-state.owner.value)]])

    def _before_roll(self, state: MatchState, found: Floats64) -> Floats64:
        """Return the equities of the player who is to roll, and may double before that."""
        results = self._results(state)
        if results.stakes is None:
            return results.cubeless(found)
        return np.asarray(results.stakes.values(found[:, 1:], _EFFICIENCY)[:, OWNER_COLUMN[state.owner]])

    def _results(self, state: MatchState) -> _Results:
        points = self._unit_points(state.rules)
        stakes = None
        if state.cube_turns and not state.rules.counts_checkers:
            counted = (float(points[0]), float(points[1]), float(points[2]))
            stakes = evolve(Stakes.of(state), points=GamePoints(counted, counted))
        if not state.length:
            return _Results(points, state.cube, stakes)
        won, lost = (self.match_chance(state, sign * state.cube) for sign in (1, -1))
        if won - lost <= LEAST_SWING:
            return _Results(points, state.cube, stakes)
        chance = partial(self.match_chance, state)
        return _Results(points, state.cube, stakes, chance, (won + lost) / 2, (won - lost) / 2)

    def _results_of_a_game(self, rules: Ruleset) -> tuple[tuple[int, float], ...]:
        """Return the points with which a game may be won, and how likely each is, whoever begins."""
        start = self._evaluator(rules).turns([rules.start()], [_TO_ROLL], [None], passed=False, plies=0)[0, 1:]
        at_least = [*(start[:3] + start[3:]).tolist(), 0.0]
        exactly = [max(more - most, 0.0) for more, most in pairwise(at_least)]
        return tuple(zip(self._unit_points(rules), (chance / sum(exactly) for chance in exactly), strict=True))

    def _unit_points(self, rules: Ruleset) -> tuple[int, ...]:
        """Return the points of a game that is won with one, two and three units."""
        return tuple(round(points) for points in accumulate(self._evaluator(rules).unit_points))

    def _evaluator(self, rules: Ruleset) -> RulesetEvaluator:
        name = rules.full_name
        if name not in self._evaluators:
            self._evaluators[name] = RulesetEvaluator(rules, network_of_game(rules.name, self._folder))
        return self._evaluators[name]


@frozen
class _Results:
    """What the results of a game are worth to a player, as equities."""

    unit_points: tuple[int, ...]
    """What a game counts that is won with one, two and three units."""
    cube: int
    stakes: Stakes | None = None
    """Those with a cube that can be turned and is valued by the model."""
    chance: Callable[[int], float] | None = None
    """The chance to win the match after a game with these points; None for money."""
    middle: float = 0.0
    """The chance that equity 0 stands for."""
    half: float = 1.0
    """The difference of chances that equity 1 stands for."""

    def equity(self, points: int) -> float:
        """Return the equity of points won, the cube included; negative ones are lost."""
        return points / self.cube if self.chance is None else (self.chance(points) - self.middle) / self.half

    def cubeless(self, found: Floats64, *, stake: int = 1) -> Floats64:
        """Return the equities of points and chances, a row each, if the cube is never turned; `stake` times the cube.

        For money the expected points count, in a match the chances.
        """
        if self.chance is None:
            return np.asarray(found[:, 0] * stake)
        steps: list[float] = []
        for sign in (1, -1):
            values = [self.equity(sign * points * stake * self.cube) for points in self.unit_points]
            steps += [values[0], *(higher - lower for lower, higher in pairwise(values))]
        return np.asarray((found[:, 1:] * steps).sum(axis=1))


@lru_cache
def _walk_chances(results: tuple[tuple[int, float], ...], length: int) -> Floats64:
    """Return the chances to win a match by what both still need, up to `length`: a random walk with these steps."""
    chances = np.zeros((length + 1, length + 1))
    chances[0] = 1.0
    for own in range(1, length + 1):
        for theirs in range(1, length + 1):
            chances[own, theirs] = sum(
                chance / 2 * (chances[max(own - points, 0), theirs] + chances[own, max(theirs - points, 0)])
                for points, chance in results
            )
    return chances


def _raises(state: MatchState, dice: Dice) -> bool:
    """Return whether a roll doubles what the game is played for."""
    return state.rules.raises_stake(dice) and not state.crawford and not is_beyond(state.cube_limit, 2 * state.cube)


def _ends_turn(state: MatchState, moves: int) -> bool:
    """Return whether the turn ends after this many moves of its first part, so that the opponent rolls."""
    part = state.part
    if state.passed:
        return False
    if moves == len(part.numbers) or not part.ends_turn:
        return len(state.todo) == 1
    return state.rules.rest is Rest.LOST or len(set(part.numbers)) > 1


def _sides_after(state: MatchState, play: Play) -> Sides:
    return sides_of(state.board_after(play))


def _row_of_result(points: int) -> list[float]:
    """Return points and chances of a game that has ended."""
    return [points, *(float(sign * points > unit) for sign in (1, -1) for unit in range(3))]


def _points_of_pass(side: Side) -> int:
    """Return what a side loses that passes, where the winner scores for each checker that is left."""
    return side.checkers - side.row[OFF]


def _listed(values: Floats64) -> list[float]:
    listed: list[float] = values.tolist()
    return listed


def _reversed(found: Floats64) -> Floats64:
    """Return points and chances as the other player sees them."""
    return np.concatenate((-found[:, :1], found[:, 4:], found[:, 1:4]), axis=1)


def _chances(row: Floats64) -> Chances:
    win, second, third, lose, lose_second, lose_third = row[1:].tolist()
    return (win, second, third, lose, lose_second, lose_third)
