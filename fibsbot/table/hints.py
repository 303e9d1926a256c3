"""What the choices of a decision are worth, for a person who learns: the values that reports show, before it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.model import GRADE_THRESHOLDS, Grade, ValuedChoice, loss_against
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.game import choices
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import is_cube_dead, refusal_to_double
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState, Seat
from fibsbot.strategies.base import (
    Chances,
    DetailedEvaluator,
    Evaluator,
    PlayValue,
    PositionEvaluator,
    after_rejecting,
    equity_of_rejecting,
)
from fibsbot.strategies.questions import first_decisions
from fibsbot.table.model import Action
from fibsbot.transcript import Answer, Decision, Entry, Named, RejectedRoll, Step

BLUNDER: Final = GRADE_THRESHOLDS[Grade.BLUNDER]
"""The loss from which on the tutor speaks: what reports call a blunder."""
CHOICES_SHOWN: Final = 5
"""Choices of a hint at most."""


@frozen
class Hint:
    """The best choices of a decision, the best first."""

    choices: tuple[ValuedChoice, ...]
    plies: int | None = None
    """Rolls looked ahead; None if the evaluator does not say."""
    chances: Chances | None = None
    """Where no play is to be chosen: the chances of the player who decides, if the game is played on."""


@frozen
class Judgement:
    """What a decision costs, before it stands."""

    made: str
    """The decision in notation."""
    loss: float
    """What it loses against the best one; 0 if it is the best."""
    best: str
    """The best one in notation."""
    play: Play | None = None
    """The best play, to be shown by arrows; None for another decision."""

    @property
    def sentence(self) -> str:
        """What the tutor says."""
        made = _IN_WORDS.get(self.made, self.made)
        return f"{made} costs {self.loss:.3f}: think again, or play it."


REJECTION: Final = "reject the roll"
_IN_WORDS: Final = {
    "roll": "No double",
    "double": "The double",
    "take": "The take",
    "pass": "The pass",
    "beaver": "The beaver",
    "accept": "To accept",
    "reject": "To reject",
    REJECTION: "To reject the roll",
}
"""Decisions as the tutor names them; plays are named by their notation."""


class Adviser:
    """Values decisions by an evaluator; every method may take a second."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Use `evaluator` for all decisions."""
        self._evaluator = evaluator
        self._analyser = DecisionAnalyser(evaluator)

    def warm_up(self, rules: Ruleset) -> None:
        """Value the first decisions of a game: the very first start compiles what is needed."""
        for state in first_decisions(rules):
            if state.phase is Phase.MOVE:
                self._evaluator.value_plays(state, state.plays)

    def hint(self, game: GameState, seat: Seat) -> Hint | None:
        """Return the best choices of the player who decides; None if this player has nothing to decide."""
        state = MatchState.of(game, seat)
        if state is None:
            return None
        if state.phase is Phase.MOVE:
            hint, gain = self._hint_for_play(game, _kept(state), seat), self._gain_by_rejecting(state)
            return hint if gain is None else _with_rejection(hint, gain)
        if state.phase is Phase.ROLL and not _may_double(game, seat):
            return self._hint_to_roll(state)
        worth = self._analyser.alternatives(state, game, seat)
        best = max(worth.values())
        found = (ValuedChoice(text, value, loss_against(best, value)) for text, value in worth.items())
        rolling = state if state.phase is Phase.ROLL else None
        cube = self._evaluator.value_cube(rolling) if rolling else None
        return Hint(
            tuple(sorted(found, key=lambda choice: choice.loss)[:CHOICES_SHOWN]),
            cube.plies if cube else None,
            cube.chances if cube else None,
        )

    def _hint_for_play(self, game: GameState, state: MatchState, seat: Seat) -> Hint:
        """Return the best plays: those searched deepest first, of which the others are never valued higher."""
        plays = state.plays or (Play(),)
        if isinstance(self._evaluator, DetailedEvaluator):
            values = self._evaluator.compare_plays(state, plays, plays[0])
        else:
            values = [PlayValue(value) for value in self._evaluator.value_plays(state, plays)]
        ranked = sorted(
            zip(plays, values, strict=True), key=lambda valued: (valued[1].equity, valued[1].plies or 0), reverse=True
        )
        best = ranked[0][1]
        found = (
            ValuedChoice(
                _decision(game, state, seat, play).text,
                value.equity,
                loss_against(best.equity, value.equity),
                play,
                value.chances,
                value.plies,
            )
            for play, value in ranked[:CHOICES_SHOWN]
        )
        return Hint(tuple(found), best.plies)

    def _gain_by_rejecting(self, state: MatchState) -> float | None:
        """Return what rejecting the roll is worth more than playing it; None where that is not allowed."""
        if not state.may_reject:
            return None
        rolls, kept = self._analyser.rolls, _kept(state)
        return equity_of_rejecting(kept, rolls.mean(after_rejecting(state))) - rolls.best(kept)

    def _hint_to_roll(self, state: MatchState) -> Hint:
        if isinstance(self._evaluator, PositionEvaluator):
            value = self._evaluator.value_position(state)
            return Hint((ValuedChoice(CubeAction.ROLL.value, value.equity, 0.0),), value.plies, value.chances)
        return Hint((ValuedChoice(CubeAction.ROLL.value, self._evaluator.value(state), 0.0),))

    def judge(self, game: GameState, seat: Seat, answer: Answer | RejectedRoll) -> Judgement | None:
        """Return what a decision costs, as a report would; None if there is nothing to decide."""
        state = MatchState.of(game, seat)
        if state is None:
            return None
        gain = self._gain_by_rejecting(state)
        if isinstance(answer, RejectedRoll):
            best = self._hint_for_play(game, _kept(state), seat).choices[0]
            return Judgement(REJECTION, max(-(gain or 0.0), 0.0), best.text, best.play)
        decision = _decision(game, _kept(state), seat, answer)
        analysed = self._analyser.analyse(decision)
        if gain is not None and gain > 0:
            return Judgement(decision.text, analysed.loss + gain, REJECTION)
        play = analysed.options[0].play if analysed.options else None
        return Judgement(decision.text, analysed.loss, analysed.best, play)


def _may_double(game: GameState, seat: Seat) -> bool:
    """Return whether a player may double, and could win more by it."""
    return not refusal_to_double(game, seat) and not is_cube_dead(game, seat)


def _kept(state: MatchState) -> MatchState:
    """Return a decision about a play, of a roll that is not rejected."""
    return evolve(state, may_reject=False) if state.may_reject else state


def _with_rejection(hint: Hint, gain: float) -> Hint:
    """Return a hint about a roll that may be rejected as well, which is worth more than the best play by `gain`."""
    best = hint.choices[0]
    behind = max(gain, 0.0)
    plays = [evolve(choice, loss=choice.loss + behind) for choice in hint.choices[: CHOICES_SHOWN - 1]]
    rejected = ValuedChoice(REJECTION, best.equity + gain, max(-gain, 0.0))
    return evolve(hint, choices=tuple(sorted([*plays, rejected], key=lambda choice: choice.loss)))


def _decision(game: GameState, state: MatchState, seat: Seat, answer: Answer) -> Decision:
    """Return a decision that is not in a transcript yet, and so has no entry."""
    return Decision(Step(1, 0, game, Entry(), game), seat, state, answer)


_CUBE_ACTIONS: Final = {
    Action.ROLL: CubeAction.ROLL,
    Action.DOUBLE: CubeAction.DOUBLE,
    Action.TAKE: CubeAction.TAKE,
    Action.PASS: CubeAction.PASS,
    Action.BEAVER: CubeAction.BEAVER,
}


def answer_to_judge(
    game: GameState, seat: Seat, action: Action, numbers: Sequence[int], play: Play | None
) -> Answer | RejectedRoll | None:
    """Return the decision that an action stands for, if an evaluator can judge it; None for all others.

    `play` is the play that is being made. A roll is judged where a double is allowed and can win more.
    """
    answer: Answer | RejectedRoll | None = None
    match tuple(numbers):
        case () if action is Action.DONE:
            answer = play
        case () if action in _CUBE_ACTIONS and not (action is Action.ROLL and not _may_double(game, seat)):
            answer = _CUBE_ACTIONS[action]
        case () if action is Action.REJECT_ROLL:
            answer = RejectedRoll(seat=seat, dice=game.dice or ())
        case () if action in {Action.ACCEPT, Action.REJECT}:
            answer = action is Action.ACCEPT
        case (number,) if action is Action.NAME and number in choices(game):
            answer = Named(seat=seat, number=number)
        case (level,) if action is Action.RESIGN and level in set(Level):
            answer = Level(level)
    return answer
