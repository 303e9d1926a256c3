"""Analysis of single decisions: the value of each, and the best alternative."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol, runtime_checkable

from attrs import evolve

from fibsbot.analysis.luck import RollValues, check_finite, equity_of_points, high_die_first
from fibsbot.analysis.model import (
    CLOSE_CUBE_DECISION,
    AnalysedDecision,
    PlayOption,
    ResignationValues,
    differ,
    loss_against,
)
from fibsbot.engine.match_equity import GamePoints
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.laws import Level
from fibsbot.rules.sides import OFF
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.rules.turns import turn_to_opponent
from fibsbot.strategies.base import (
    CubeValues,
    DetailedEvaluator,
    Evaluator,
    PlayValue,
    PositionEvaluator,
    PositionValue,
    reversed_chances,
)
from fibsbot.transcript import Decision, Named, name_text

LISTED_PLAYS: Final = 5
"""Maximum number of plays listed for a decision, besides the one that was made."""
FORESEEN_REDOUBLES: Final = 2
"""Maximum number of further redoubles considered after a beaver: the raccoon and the otter."""
CUBE_CACHE_SIZE: Final = 16
"""Cube decisions to cache: each needs the same values more than once."""
PLAY_ON: Final = "play on"
"""The best decision where the resignation was wrong."""


@runtime_checkable
class NameEvaluator(Evaluator, Protocol):
    """An evaluator of games in which a double or a point is named."""

    def value_names(self, state: MatchState) -> Sequence[float]:
        """Return the value of naming each of `state.names` to the player who names, in their order; phase NAME."""
        ...


class DecisionAnalyser:
    """Analyses decisions with the values that an evaluator gives to positions."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Use `evaluator` for all decisions."""
        self._evaluator = evaluator
        self._detailed = evaluator if isinstance(evaluator, DetailedEvaluator) else None  # asking a protocol is slow
        self.rolls = RollValues(evaluator)
        self._value_cube = lru_cache(CUBE_CACHE_SIZE)(evaluator.value_cube)

    def analyse(self, decision: Decision) -> AnalysedDecision:
        """Return the analysis of a decision, without luck."""
        match decision.answer:
            case Play():
                return self._play(decision, decision.answer)
            case CubeAction.ROLL | CubeAction.DOUBLE:
                return self._offer(decision, decision.answer)
            case CubeAction():
                return self._response(decision, decision.answer)
            case Named():
                return self._name(decision, decision.answer)
            case Level():
                return self._resignation(decision, decision.answer)
        return self._acceptance(decision)

    def alternatives(self, state: MatchState, game: GameState, seat: Seat) -> Mapping[str, float]:
        """Return the equity of each choice by its words, for the player who decides, in any phase but MOVE.

        `state` is what this player, at `seat`, sees of `game`, in which an offer to resign may be left out.
        """
        match state.phase:
            case Phase.ROLL:
                answers = self.answers(state, -1, state.redoubles)
                no_double = self._value_cube(state).no_double
                return {CubeAction.ROLL.value: no_double, CubeAction.DOUBLE.value: -max(answers.values())}
            case Phase.DOUBLED:
                return self.answers(*_double_to_answer(state, game))
            case Phase.NAME:
                return dict(zip(map(name_text, state.names), self._values_of_names(state), strict=True))
            case Phase.RESIGNED:
                values = self._acceptance_values(state, game, seat)
                return {"accept": values.settled, "reject": values.played_on.equity}
        raise ValueError("expected another decision than that for a play")

    def value(self, game: GameState, seat: Seat) -> float:
        """Return the equity of an unfinished game for a player, in any stage, at its present cube."""
        if game.stage is Stage.OPENING:
            return self.rolls.opening_mean(_seen_by(evolve(game, stage=Stage.ROLL, turn=seat), seat))
        if game.stage is Stage.CONTEST:  # a point is about to be opened for the opponent, who rolls after that
            return self.value(turn_to_opponent(game, ()), seat)
        on_move = _on_move(game)
        state = _seen_by(game, on_move)
        if state.phase is Phase.MOVE:
            value = self.rolls.valued(state).best
        elif state.phase is Phase.NAME:
            value = max(self._values_of_names(state))
        elif state.phase is Phase.DOUBLED:
            value = max(self.answers(*_double_to_answer(state, game)).values())
        else:
            value = self._evaluator.value(state)
        return value if seat is on_move else -value

    # -- plays ----------------------------------------------------------------------------------------------------

    def _play(self, decision: Decision, play: Play) -> AnalysedDecision:
        state = decision.state
        plays = self.rolls.plays(state)
        reached = evolve(state, dice=high_die_first(state)).boards or (state.board,)
        after = state.board_after(play)  # the play may have another order of moves than the one that is listed
        listed = reached.index(after) if after in reached else None
        values = self._values(state, plays, plays[listed or 0])
        made = self._values(state, (play,), play)[0] if listed is None else values[listed]
        own = PlayOption(play, decision.text, made)
        if len(plays) == 1:
            return AnalysedDecision(decision, made.equity, best=own.text, counts=False)
        ranked = sorted(zip(plays, values, strict=True), key=_deepest_first, reverse=True)
        options = _options(state, ranked, own)
        best = ranked[0][1].equity
        loss = loss_against(best, made.equity)
        return AnalysedDecision(
            decision,
            made.equity,
            loss=loss,
            best=options[0].text if loss else own.text,
            options=options,
            counts=differ(best, min(value.equity for value in values)),
        )

    def _values(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return the values of plays, with chances and plies where the evaluator gives them."""
        if self._detailed is None:
            known = self.rolls.valued(state)
            values = known.values if plays == known.plays else self._evaluator.value_plays(state, plays)
            return list(map(PlayValue, values))
        found = self._detailed.compare_plays(state, plays, made)
        if len(found) != len(plays):
            raise ValueError(f"expected the values of {len(plays)} plays, got {len(found)}")
        check_finite([value.equity for value in found])
        return found

    # -- names -----------------------------------------------------------------------------------------------------

    def _name(self, decision: Decision, named: Named) -> AnalysedDecision:
        """Return the analysis of a double or a point that was named, which may have been the only one."""
        worth = self.alternatives(decision.state, decision.step.before, decision.seat)
        made = name_text(named.number)
        if len(worth) == 1:
            return AnalysedDecision(decision, worth[made], best=made, counts=False)
        return _compared(decision, made, worth, close=math.inf)

    def _values_of_names(self, state: MatchState) -> Sequence[float]:
        if not isinstance(self._evaluator, NameEvaluator):
            raise TypeError(f"expected an evaluator of {state.rules.title}, which names a double or a point")
        return self._evaluator.value_names(state)

    # -- the cube -------------------------------------------------------------------------------------------------

    def _offer(self, decision: Decision, action: CubeAction) -> AnalysedDecision:
        state = decision.state
        values = self._value_cube(state)
        worth = self.alternatives(state, decision.step.before, decision.seat)
        dead = 0 < state.length <= state.score[0] + state.cube
        return _compared(decision, action.value, worth, cube=values, close=0.0 if dead else CLOSE_CUBE_DECISION)

    def _response(self, decision: Decision, action: CubeAction) -> AnalysedDecision:
        before = decision.step.before
        values = self._value_cube(_double_to_answer(decision.state, before)[0])
        worth = self.alternatives(decision.state, before, decision.seat)
        return _compared(decision, action.value, worth, cube=values, close=CLOSE_CUBE_DECISION)

    def answers(self, state: MatchState, sign: int, redoubles: int) -> Mapping[str, float]:
        """Return the equity of each answer to a double, for the player who has to answer.

        `state` is seen by the player on roll, with the cube before the double. `sign` is -1 if the opponent has to
        answer, and 1 if the player on roll does, whose own double was redoubled.
        """
        taken = self._value_cube(evolve(state, redoubles=0))  # else the value would be that of a beaver
        passed = -1.0
        if state.rules.counts_checkers:
            side = state.sides.own if sign > 0 else state.sides.opponent
            points = side.checkers - side.row[OFF]
            passed = sign * equity_of_points(self._evaluator, state, -sign * points * state.cube)
        elif state.point_game:  # the checkers count as they are
            game = GamePoints.of(state)
            points = int(game.passed if sign > 0 else game.cashed)
            passed = sign * equity_of_points(self._evaluator, state, -sign * points * state.cube)
        worth = {CubeAction.TAKE.value: sign * taken.double_take, CubeAction.PASS.value: passed}
        if redoubles:
            left = min(redoubles - 1, FORESEEN_REDOUBLES)
            answers = self.answers(evolve(state, cube=2 * state.cube), -sign, left)
            worth[CubeAction.BEAVER.value] = -2 * max(answers.values())
        return worth

    # -- resignations ---------------------------------------------------------------------------------------------

    def _resignation(self, decision: Decision, level: Level) -> AnalysedDecision:
        before, seat = decision.step.before, decision.seat
        settled = equity_of_points(self._evaluator, decision.state, -_points(before, seat, level))
        values = self._resignation_values(before, seat, settled)
        made = decision.text
        return _compared(decision, made, {made: settled, PLAY_ON: values.played_on.equity}, resigning=values)

    def _acceptance(self, decision: Decision) -> AnalysedDecision:
        before = decision.step.before
        values = self._acceptance_values(decision.state, before, decision.seat)
        worth = {"accept": values.settled, "reject": values.played_on.equity}
        return _compared(decision, decision.text, worth, resigning=values)

    def _acceptance_values(self, state: MatchState, game: GameState, seat: Seat) -> ResignationValues:
        before = evolve(game, resignation=None)
        points = _points(before, seat.other, Level(state.resignation))
        return self._resignation_values(before, seat, equity_of_points(self._evaluator, state, points))

    def _resignation_values(self, game: GameState, seat: Seat, settled: float) -> ResignationValues:
        return ResignationValues(settled, self._value_in_detail(game, seat))

    def _value_in_detail(self, game: GameState, seat: Seat) -> PositionValue:
        """Return the same as `value`, with chances and plies where the evaluator gives them."""
        on_move = _on_move(game)
        state = None if game.stage in {Stage.OPENING, Stage.CONTEST} else _seen_by(game, on_move)
        if state is None:
            return PositionValue(self.value(game, seat))
        if state.phase is Phase.MOVE and self._detailed is not None:
            plays = self.rolls.plays(state)
            _, best = max(zip(plays, self._values(state, plays, plays[0]), strict=True), key=_deepest_first)
            value = PositionValue(best.equity, best.plies, best.chances)
        elif state.phase is Phase.DOUBLED:
            cube = self._value_cube(_double_to_answer(state, game)[0])
            chances = cube.chances if cube.chances is None or on_move is game.turn else reversed_chances(cube.chances)
            value = PositionValue(self.value(game, on_move), cube.plies, chances)
        elif state.phase is Phase.ROLL and isinstance(self._evaluator, PositionEvaluator):
            value = self._evaluator.value_position(state)
        else:
            value = PositionValue(self.value(game, on_move))
        return value if seat is on_move else value.reversed()


def _on_move(game: GameState) -> Seat:
    """Return the player who has to act next."""
    return next((seat for seat in (game.answering, game.namer) if seat is not None), game.turn)


def _deepest_first(valued: tuple[Play, PlayValue]) -> tuple[int, float]:
    _, value = valued
    return (value.plies or 0, value.equity)


def _double_to_answer(state: MatchState, game: GameState) -> tuple[MatchState, int, int]:
    """Return the arguments of `DecisionAnalyser.answers`; `state` is seen by the player who has to answer."""
    on_roll = game.answering is game.turn
    before = evolve(state if on_roll else state.swapped(), phase=Phase.ROLL)
    return before, 1 if on_roll else -1, state.redoubles


def _seen_by(game: GameState, seat: Seat) -> MatchState:
    state = MatchState.of(evolve(game, resignation=None), seat)
    if state is None:
        raise ValueError(f"expected an unfinished game, got one that is {game.stage.value}")
    return state


def _points(game: GameState, seat: Seat, level: Level) -> int:
    """Return the points that the opponent gets if a player resigns."""
    resignation = rules.resign(game, seat, level).resignation
    return resignation.points if resignation else 0


def _compared(  # noqa: PLR0913 - the values of a cube decision, or of a resignation
    decision: Decision,
    made: str,
    worth: Mapping[str, float],
    *,
    close: float = 0.0,
    cube: CubeValues | None = None,
    resigning: ResignationValues | None = None,
) -> AnalysedDecision:
    """Return the analysis of a choice, other than of a play, from the equity of each alternative.

    The choice made is the best one unless another is better by more than rounding. A best choice counts only where the
    two best alternatives differ by less than `close`.
    """
    check_finite(worth.values())
    best, second, *_ = sorted(worth, key=worth.__getitem__, reverse=True)
    margin = worth[best] - worth[second]
    loss = loss_against(worth[best], worth[made])
    if not loss:
        best = made
    return AnalysedDecision(
        decision,
        worth[made],
        loss,
        best=best,
        cube=cube,
        resigning=resigning,
        alternatives=tuple(worth.items()),
        counts=loss > 0 or margin < close,
    )


def _options(state: MatchState, ranked: Sequence[tuple[Play, PlayValue]], own: PlayOption) -> tuple[PlayOption, ...]:
    """Return the best plays and the one that was made, the best first; plays searched less deep are left out."""
    after = state.board_after(own.play)
    deepest = ranked[0][1].plies
    better: list[PlayOption] = []
    others: list[PlayOption] = []
    for play, value in ranked[:LISTED_PLAYS]:
        if value.plies == deepest and state.board_after(play) != after:
            option = PlayOption(play, format_play(play, state), value)
            (better if option.value.equity > own.value.equity else others).append(option)
    return (*better, own, *others)
