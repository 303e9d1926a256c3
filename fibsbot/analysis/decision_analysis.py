"""Analysis of one decision: what it was worth, and what the best one would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve

from fibsbot.analysis.luck import RollValues, equity_of_points
from fibsbot.analysis.model import AnalysedDecision, PlayOption, ResignationValues
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.evaluator import (
    CubeValues,
    DetailedEvaluator,
    Evaluator,
    PlayValue,
    PositionEvaluator,
    PositionValue,
    reversed_chances,
)
from fibsbot.transcript import Decision

CLOSE_CUBE_DECISION: Final = 0.2
"""A cube decision counts if the actions are worth no more apart than this, or if it was wrong. The rest is obvious."""
EQUITY_TOLERANCE: Final = 1e-9
"""Equities that differ less are the same."""
LISTED_PLAYS: Final = 5
"""Plays that are listed for a decision, besides the one that was made."""
FORESEEN_REDOUBLES: Final = 2
"""Redoubles that are thought of after the next one, however many are allowed: the raccoon and the otter."""
CUBE_CACHE_SIZE: Final = 16
"""Cube decisions that are remembered: each asks for the same values more than once."""
PLAY_ON: Final = "play on"
"""What is better than to resign too much."""


class DecisionAnalyser:
    """Judges decisions by what a judge says of positions."""

    def __init__(self, judge: Evaluator) -> None:
        """Ask this judge."""
        self._judge = judge
        self.throws = RollValues(judge)
        self._value_cube = lru_cache(CUBE_CACHE_SIZE)(judge.value_cube)

    def examine(self, decision: Decision) -> AnalysedDecision:
        """Judge a decision, luck left out."""
        match decision.answer:
            case Play():
                return self._play(decision, decision.answer)
            case CubeAction.ROLL | CubeAction.DOUBLE:
                return self._offer(decision)
            case CubeAction():
                return self._response(decision)
            case Level():
                return self._resignation(decision, decision.answer)
        return self._acceptance(decision, accepted=decision.answer)

    def worth(self, game: GameState, seat: Seat) -> float:
        """Return what a game that goes on is worth to a player, whatever it waits for, at its present cube."""
        if game.stage is Stage.OPENING:
            return self.throws.opening_mean(_seen_by(evolve(game, stage=Stage.ROLL, turn=seat), seat))
        on_move = game.answering if game.answering is not None else game.turn
        state = _seen_by(game, on_move)
        if state.phase is Phase.MOVE:
            value = self.throws.valued(state).best
        elif state.phase is Phase.DOUBLED:
            value = max(self._answers(*_double_to_answer(state, game)).values())
        else:
            value = self._judge.value(state)
        return value if seat is on_move else -value

    # -- plays ----------------------------------------------------------------------------------------------------

    def _play(self, decision: Decision, play: Play) -> AnalysedDecision:
        state = decision.state
        plays = self.throws.plays(state)
        after = state.position.play(play)
        # However its moves were written; the last checker may have been borne off in an order of its own.
        same = next((it for it in plays if state.position.play(it) == after), None)
        values = self._values(state, plays, same or plays[0])
        made = values[plays.index(same)] if same else self._values(state, (play,), play)[0]
        if decision.forced:
            return AnalysedDecision(decision, made.equity, best=decision.text, counts=False)
        ranked = sorted(zip(plays, values, strict=True), key=lambda it: (-(it[1].plies or 0), -it[1].equity))
        best = ranked[0][1].equity
        loss = _loss(best, made.equity)
        return AnalysedDecision(
            decision,
            made.equity,
            loss=loss,
            best=format_play(ranked[0][0], state.position) if loss else decision.text,
            options=_options(state.position, ranked, play, made),
            counts=best - min(value.equity for value in values) > EQUITY_TOLERANCE,
        )

    def _values(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return what plays are worth, with whatever the judge says about them."""
        if not isinstance(self._judge, DetailedEvaluator):
            known = self.throws.valued(state)
            values = known.values if plays == known.plays else self._judge.value_plays(state, plays)
            return [PlayValue(value) for value in values]
        found = self._judge.compare_plays(state, plays, made)
        if len(found) != len(plays):
            raise ValueError(f"expected the values of {len(plays)} plays, got {len(found)}")
        return found

    # -- the cube -------------------------------------------------------------------------------------------------

    def _offer(self, decision: Decision) -> AnalysedDecision:
        state = decision.state
        values = self._value_cube(state)
        answers = self._answers(state, -1, state.redoubles)
        worth = {CubeAction.ROLL: values.no_double, CubeAction.DOUBLE: -max(answers.values())}
        dead = 0 < state.away[0] <= state.cube
        return _analysed_cube_action(decision, worth, values, obvious=dead)

    def _response(self, decision: Decision) -> AnalysedDecision:
        doubled = _double_to_answer(decision.state, decision.step.before)
        return _analysed_cube_action(decision, self._answers(*doubled), self._value_cube(doubled[0]))

    def _answers(self, state: MatchState, sign: int, redoubles: int) -> Mapping[CubeAction, float]:
        """Return what each answer to a double is worth to who has to answer.

        The state is that of the player on roll, at the cube before the double. The sign is -1 where the other one has
        to answer, and 1 where it is the player on roll, whose own double was redoubled.
        """
        worth = {CubeAction.TAKE: sign * self._value_cube(state).double_take, CubeAction.PASS: -1.0}
        if redoubles:
            left = min(redoubles - 1, FORESEEN_REDOUBLES)
            answers = self._answers(evolve(state, cube=2 * state.cube), -sign, left)
            worth[CubeAction.BEAVER] = -2 * max(answers.values())
        return worth

    # -- resignations ---------------------------------------------------------------------------------------------

    def _resignation(self, decision: Decision, level: Level) -> AnalysedDecision:
        before, seat = decision.step.before, decision.seat
        settled = equity_of_points(self._judge, decision.state, -_points(before, seat, level))
        values = self._resigning(before, seat, settled)
        loss = _loss(values.played_on, settled)
        best = PLAY_ON if loss else decision.text
        return AnalysedDecision(decision, settled, loss, best=best, resigning=values, counts=loss > 0)

    def _acceptance(self, decision: Decision, *, accepted: bool) -> AnalysedDecision:
        before, seat = decision.step.before, decision.seat
        points = _points(before, seat.other, Level(decision.state.resignation))
        values = self._resigning(before, seat, equity_of_points(self._judge, decision.state, points))
        worth = {True: values.settled, False: values.played_on}
        loss = _loss(worth[not accepted], worth[accepted])
        best = ("reject" if accepted else "accept") if loss else decision.text
        return AnalysedDecision(decision, worth[accepted], loss, best=best, resigning=values, counts=loss > 0)

    def _resigning(self, game: GameState, seat: Seat, settled: float) -> ResignationValues:
        played_on = self._standing(game, seat)
        return ResignationValues(settled, played_on.equity, played_on.plies, played_on.chances)

    def _standing(self, game: GameState, seat: Seat) -> PositionValue:
        """Return what `worth` does, with whatever the judge says about it."""
        on_move = game.answering if game.answering is not None else game.turn
        state = None if game.stage is Stage.OPENING else _seen_by(game, on_move)
        if state is None:
            return PositionValue(self.worth(game, seat))
        if state.phase is Phase.MOVE and isinstance(self._judge, DetailedEvaluator):
            plays = self.throws.plays(state)
            best = max(self._values(state, plays, plays[0]), key=_deepest_first)
            value = PositionValue(best.equity, best.plies, best.chances)
        elif state.phase is Phase.DOUBLED:
            cube = self._value_cube(_double_to_answer(state, game)[0])
            chances = cube.chances if cube.chances is None or on_move is game.turn else reversed_chances(cube.chances)
            value = PositionValue(self.worth(game, on_move), cube.plies, chances)
        elif state.phase is Phase.ROLL and isinstance(self._judge, PositionEvaluator):
            value = self._judge.value_position(state)
        else:
            value = PositionValue(self.worth(game, on_move))
        return value if seat is on_move else value.reversed()


def _deepest_first(value: PlayValue) -> tuple[int, float]:
    return (value.plies or 0, value.equity)


def _double_to_answer(state: MatchState, game: GameState) -> tuple[MatchState, int, int]:
    """Return a double as `DecisionAnalyser._answers` takes it, from the state of who has to answer."""
    on_roll = game.answering is game.turn
    before = evolve(state if on_roll else state.swapped(), phase=Phase.ROLL)
    return before, 1 if on_roll else -1, state.redoubles


def _seen_by(game: GameState, seat: Seat) -> MatchState:
    state = rules.decision(evolve(game, resignation=None), seat)
    if state is None:
        raise ValueError(f"expected a game that goes on, got one that is {game.stage.value}")
    return state


def _points(game: GameState, seat: Seat, level: Level) -> int:
    """Return what the opponent gets if a player resigns."""
    resignation = rules.resign(game, seat, level).resignation
    return resignation.points if resignation else 0


def _loss(best: float, made: float) -> float:
    """Return by how much another decision was better; nothing where only the arithmetic differs."""
    return best - made if best - made > EQUITY_TOLERANCE else 0.0


def _analysed_cube_action(
    decision: Decision, worth: Mapping[CubeAction, float], values: CubeValues, *, obvious: bool = False
) -> AnalysedDecision:
    made = next(value for action, value in worth.items() if action is decision.answer)
    best = max(worth, key=lambda action: worth[action])
    loss = _loss(worth[best], made)
    others = max(value for action, value in worth.items() if action is not best)
    return AnalysedDecision(
        decision,
        made,
        loss,
        best=best.value if loss else decision.text,
        cube=values,
        counts=loss > 0 or (not obvious and worth[best] - others < CLOSE_CUBE_DECISION),
    )


def _options(
    position: Position, ranked: Sequence[tuple[Play, PlayValue]], made: Play, value: PlayValue
) -> tuple[PlayOption, ...]:
    """List the best plays and the one that was made, the best first; none that was judged less deep than the best."""
    after = position.play(made)
    deepest = ranked[0][1].plies
    listed = [
        _option(position, play, it)
        for play, it in ranked[:LISTED_PLAYS]
        if it.plies == deepest and position.play(play) != after
    ]
    own = _option(position, made, value)
    before = [option for option in listed if option.equity > own.equity]
    return (*before, own, *listed[len(before) :])


def _option(position: Position, play: Play, value: PlayValue) -> PlayOption:
    return PlayOption(play, format_play(play, position), value.equity, value.plies, value.chances)
