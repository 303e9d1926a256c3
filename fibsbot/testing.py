"""Tests of a strategy: what is wrong with it in hard positions and in whole games.

    from fibsbot.testing import check_strategy

    def test_it_plays():
        check_strategy(Lookout())

It is asked as in a match: in a thread of its own, and only where the rules leave a choice, so that forced and passed
turns go by without it. A chouette asks the same questions as an unlimited match.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import evolve

from fibsbot.arena.duel.games import AskedQuestion, GameDice, play_match
from fibsbot.games import GAMES, load_ruleset
from fibsbot.library.board import Board
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.laws import MODERN, Laws
from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies.base import CubeAnswer, Evaluator, Opponent, PlayAnswer, Strategy, close_in_time, plays_game
from fibsbot.strategies.loader import ask_in_time, interface_names
from fibsbot.strategies.pool import StrategyWorker
from fibsbot.strategies.questions import (
    InvitationQuestion,
    NameQuestion,
    PlayQuestion,
    Question,
    ResignationQuestion,
    RollQuestion,
    StrategyAnswer,
    StrategyFailedError,
    TakeQuestion,
    last_resort_answer,
)
from fibsbot.text import describe_error

__all__ = ["check_strategy", "strategy_faults"]

DEADLINE: Final = 10.0
"""Seconds that an answer may take, unless the caller says otherwise."""
PATIENCE: Final = 3
"""A strategy that needs this many times as long is asked no more."""
MOST_QUESTIONS: Final = 300
"""Questions of a game after which it is left: a strategy that moves to and fro need not end it."""


def check_strategy(strategy: Strategy, *, games: Iterable[str] | None = None, deadline: float = DEADLINE) -> None:
    """Play a strategy through hard positions, and close it; raise AssertionError with what is wrong, a line each.

    Args:
        strategy: the strategy to try; one that values positions is asked for values, too.
        games: rulesets to play besides backgammon; by default all that it says it plays.
        deadline: seconds that an answer may take.

    Raises:
        AssertionError: something is wrong with the strategy.
        UnknownGameError: there is no such ruleset.
    """
    faults = strategy_faults(strategy, games=games, deadline=deadline)
    if faults:
        raise AssertionError("\n".join(faults))


def strategy_faults(
    strategy: Strategy, *, games: Iterable[str] | None = None, deadline: float = DEADLINE
) -> tuple[str, ...]:
    """Return what `check_strategy` finds: a line for each kind of fault, with the first position that shows it."""
    wanted = None if games is None else [load_ruleset(name) for name in games]
    missing = sorted(name for name in interface_names() if not hasattr(strategy, name))
    if missing:
        return (f"expected a strategy, got {type(strategy).__name__}, which lacks {', '.join(missing)}",)
    trial = _Trial(strategy, deadline)
    try:
        for where, question in _hard_questions():
            trial.ask(where, question)
        trial.play_games(BACKGAMMON, evolve(MODERN, reject_first_throw=True), 5)
        for rules in _rulesets(strategy, wanted, trial):
            trial.play_games(rules, rules.laws, 0)
        if isinstance(strategy, Evaluator):
            trial.try_values(strategy)
    except _NoAnswerError:
        pass  # it is among the faults
    finally:
        trial.end()
    return trial.faults


def _rulesets(strategy: Strategy, wanted: Sequence[Ruleset] | None, trial: _Trial) -> Iterator[Ruleset]:
    """Yield the rulesets to play besides backgammon."""
    for rules in wanted if wanted is not None else map(load_ruleset, GAMES):
        try:
            plays: object = plays_game(strategy, rules)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            trial.add("plays_game", "raised", rules.name, describe_error(error))
            continue
        if not isinstance(plays, bool):
            trial.add("plays_game", "answered nonsense", rules.name, f"expected True or False, got {plays!r}")
        elif plays:
            yield rules
        elif wanted is not None:
            trial.add("plays_game", "answered False", rules.name, "expected a strategy that plays this ruleset")


class _NoAnswerError(Exception):
    """The strategy hangs: it is not asked any more."""


class _Trial:
    """The questions to a strategy, and what is wrong with its answers."""

    def __init__(self, strategy: Strategy, deadline: float) -> None:
        self._strategy = strategy
        self._deadline = deadline
        self._worker = StrategyWorker("tried", instance=strategy)
        self._asked: Counter[str] = Counter()
        """Questions by the method that answers."""
        self._found: Counter[tuple[str, str]] = Counter()
        """Faults, by the method and the kind."""
        self._first: dict[tuple[str, str], str] = {}
        """Where each kind was found first, and what came there."""
        name: object = strategy.name
        if not isinstance(name, str):
            self.add("name", "is no name", "the class", f"expected text, got {name!r}")

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults, a line for each kind."""
        lines = []
        for (method, kind), count in self._found.items():
            times = f" {count} of {self._asked[method]} times" if self._asked[method] else ""
            lines.append(f"{method} {kind}{times}; at {self._first[method, kind]}")
        return tuple(lines)

    def add(self, method: str, kind: str, where: str, detail: str) -> None:
        """Note a fault."""
        self._found[method, kind] += 1
        self._first.setdefault((method, kind), f"{where}: {detail}")

    def ask(self, where: str, question: Question) -> StrategyAnswer | None:
        """Ask a question; return the answer, None if it is impossible. Raises _NoAnswerError."""
        method = _method(question)
        self._asked[method] += 1
        limit = PATIENCE * self._deadline
        outcome, seconds = ask_in_time(self._worker, question, limit)
        if outcome is None:
            self.add(method, "gave no answer", where, f"expected one within {self._deadline:g} s, waited {limit:g} s")
            raise _NoAnswerError
        if isinstance(outcome, StrategyFailedError):
            kind, _, detail = str(outcome).partition(": ")
            self.add(method, kind, where, detail or "no text")
            return None
        if seconds > self._deadline:
            self.add(method, "was slow", where, f"expected an answer within {self._deadline:g} s, took {seconds:.1f} s")
        if isinstance(outcome, PlayAnswer | CubeAnswer) and outcome.equity is not None:
            self._check_number(method, where, outcome.equity)
        return outcome

    def _check_number(self, method: str, where: str, value: object) -> None:
        if not (isinstance(value, int | float) and math.isfinite(value)):
            self.add(method, "gave a wrong value", where, f"expected a finite number, got {value!r}")

    def play_games(self, rules: Ruleset, laws: Laws, length: int) -> None:
        """Let it play both sides of a match of this length, or of one game if that is 0. Raises _NoAnswerError."""
        match = play_match(laws, length, lambda game: GameDice(1, 0, game), rules)
        answer: StrategyAnswer | None = None
        for _ in range(MOST_QUESTIONS):
            try:
                asked: AskedQuestion = next(match) if answer is None else match.send(answer)
            except StopIteration:
                return
            where = _place(getattr(asked.question, "state", None))
            answer = self.ask(where, asked.question) or last_resort_answer(asked.question)

    def try_values(self, evaluator: Evaluator) -> None:
        """Ask an evaluator for values of hard positions, in a thread, for a limited time."""
        limit = PATIENCE * self._deadline * len(_BOARDS)
        thread = threading.Thread(target=self._ask_for_values, args=(evaluator,), name="values", daemon=True)
        thread.start()
        thread.join(limit)
        if thread.is_alive():
            self.add("value", "gave no answer", "hard positions", f"expected the values of all, waited {limit:g} s")

    def _ask_for_values(self, evaluator: Evaluator) -> None:
        known: dict[str, float] = {}
        for where, state in [*_states(), *_states()]:  # twice: the order of the calls makes no difference
            value = self._valued("value", where, partial(_alone, evaluator.value, state), 1)
            if value and known.setdefault(where, value[0]) != value[0]:
                self.add("value", "changed", where, f"expected {known[where]!r} again, got {value[0]!r}")
            moving = evolve(state, phase=Phase.MOVE, dice=(6, 5))
            plays = moving.plays
            if len(plays) > 1:
                self._valued("value_plays", where, partial(evaluator.value_plays, moving, plays), len(plays))
            if state.may_double:
                self._valued("value_cube", where, partial(_values_of_cube, evaluator, state), 3)
            if state.length:
                self._valued("match_chance", where, partial(_alone, evaluator.match_chance, state, 1), 1)

    def _valued(
        self, method: str, where: str, values: Callable[[], Sequence[float]], count: int
    ) -> Sequence[float] | None:
        """Return values of an evaluator that are numbers, as many as expected."""
        self._asked[method] += 1
        try:
            found = list(values())
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            kind, _, detail = describe_error(error).partition(": ")
            self.add(method, f"raised {kind}", where, detail or "no text")
            return None
        if len(found) != count:
            self.add(method, "gave a wrong number of values", where, f"expected {count}, got {len(found)}")
            return None
        for value in found:
            self._check_number(method, where, value)
        return found

    def end(self) -> None:
        """Close the strategy."""
        self._worker.close()
        fault = close_in_time(self._strategy, PATIENCE * self._deadline)
        if fault is not None:
            self.add("close", "failed", "the end", f"expected it to return, got {fault}")


def _alone(method: Callable[..., float], *arguments: object) -> Sequence[float]:
    return (method(*arguments),)


def _values_of_cube(evaluator: Evaluator, state: MatchState) -> Sequence[float]:
    values = evaluator.value_cube(state)
    return (values.no_double, values.double_take, values.double_pass)


def _method(question: Question) -> str:
    """Return the name of the method that answers a question."""
    if isinstance(question, RollQuestion):
        names = ["resign"] if question.resign_from <= question.resign_to else []
        return " or ".join([*names, "offer_double"] if question.may_double else names)
    return _METHODS[type(question)]


_METHODS: Final[Mapping[type, str]] = {
    PlayQuestion: "choose_play",
    TakeQuestion: "answer_double",
    ResignationQuestion: "accept_resignation",
    NameQuestion: "choose_name",
    InvitationQuestion: "accept_invitation",
}


def _place(state: MatchState | None) -> str:
    """Return the position of a decision in a game, which `Board.from_id` reads in games like backgammon."""
    if state is None:
        return "an unknown position"
    return f"{state.rules.name} {Board.of(state).id}"


# -- hard positions -------------------------------------------------------------------------------------------------


def _board(own: Mapping[int, int], opponent: Mapping[int, int]) -> Position:
    """Return a position from the checkers of both sides, each by its own points, of which 25 is the bar."""
    return Position.from_sides(*([side.get(point, 0) for point in range(1, 26)] for side in (own, opponent)))


_HOME: Final = {1: 2, 2: 2, 3: 2, 4: 3, 5: 3, 6: 3}
_START: Final = {6: 5, 8: 3, 13: 5, 24: 2}
_BOARDS: Final = {
    "the opening": Position.start(),
    "three on the bar against a board with one open point": _board(
        {25: 3, 6: 5, 8: 4, 13: 3}, {1: 2, 2: 3, 3: 3, 4: 3, 6: 4}
    ),
    "on the bar, closed out": _board({25: 1, 6: 2, 5: 2, 4: 2, 3: 2}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 3}),
    "the opponent on the bar, closed out": _board({**dict.fromkeys(range(1, 7), 2), 7: 3}, {25: 2, 6: 5, 8: 3, 13: 5}),
    "behind a prime": _board({24: 2, 6: 5, 8: 3, 13: 5}, {4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 24: 3}),
    "an ace-point game": _board({24: 2, **_HOME, 3: 2, 2: 0, 1: 2}, {5: 2, 4: 3, 3: 3, 2: 4}),
    "a race": _board({6: 3, 5: 3, 4: 3, 7: 3, 10: 3}, {6: 3, 5: 3, 4: 3, 8: 3, 9: 3}),
    "bearing off against the bar": _board({6: 2, 5: 2, 4: 3, 2: 2}, {25: 1, 6: 5, 5: 4, 4: 3}),
    "bearing off, two checkers each": _board({6: 1, 1: 1}, {5: 1, 2: 1}),
    "bearing off, the last checker": _board({1: 1}, {1: 1}),
    "nobody off, the opponent at the last checker": _board({24: 2, 13: 5, 8: 3, 6: 5}, {1: 1}),
    "all checkers back": _board({25: 1, 24: 6, 23: 4, 22: 4}, _HOME),
}
_SCORES: Final[Mapping[str, Mapping[str, Any]]] = {
    "unlimited": {},
    "unlimited with Jacoby and beavers": {"jacoby": True, "redoubles": 3},
    "unlimited, an owned cube of 64": {"cube": 64, "owner": Owner.PLAYER},
    "unlimited without gammons": {"gammon": False, "triple": False},
    "unlimited without a cube": {"cubeless": True},
    "double match point": {"length": 1},
    "the Crawford game": {"length": 5, "score": (4, 2), "crawford": True},
    "after the Crawford game": {"length": 3, "score": (0, 2), "post_crawford": True},
    "2-away, 2-away": {"length": 5, "score": (3, 3)},
    "the last cube at 4-away, 4-away": {"length": 7, "score": (3, 3), "cube": 2, "owner": Owner.PLAYER},
    "a dead cube at 2-away, 5-away": {"length": 7, "score": (5, 2), "cube": 2, "owner": Owner.PLAYER},
    "a match to 99": {"length": 99},
}
_DICE: Final[Sequence[Dice]] = ((1, 1), (2, 1), (4, 3), (5, 5), (6, 2), (6, 6))
_OPPONENTS: Final = (
    (Opponent("ford"), 5),
    (Opponent("zaphod", rating=1500.0, experience=0, client=""), 1),
    (Opponent("trillian", rating=2100.55, experience=123_456, client="another_client_3.1"), 0),
    (Opponent("a" * 20, rating=0.0, experience=1), 99),
)


def _states() -> Iterator[tuple[str, MatchState]]:
    """Yield each hard position at each score."""
    for board_name, board in _BOARDS.items():
        for score_name, score in _SCORES.items():
            yield f"{board_name}, {score_name}", MatchState(board, **score)


def _hard_questions() -> Iterator[tuple[str, Question]]:
    """Yield questions of all kinds, with the position in words."""
    for number, (where, state) in enumerate(_states()):
        dice = _DICE[number % len(_DICE)]
        moving = evolve(state, phase=Phase.MOVE, dice=dice)
        if moving.has_choice:
            yield f"{where}, {dice[0]}-{dice[1]}", PlayQuestion(moving)
        yield where, RollQuestion(state, may_double=False)
        if state.may_double:
            yield where, RollQuestion(state, may_double=True, resign_to=0)
        if state.swapped().may_double:
            yield where, TakeQuestion(evolve(state, phase=Phase.DOUBLED))
        if state.redoubles:
            beavered = evolve(state, phase=Phase.DOUBLED, cube=2, owner=Owner.PLAYER, redoubled=True)
            yield where, TakeQuestion(beavered)
        level = 1 + number % 3
        yield where, ResignationQuestion(evolve(state, phase=Phase.RESIGNED, resignation=level))
    for opponent, length in _OPPONENTS:
        yield f"{opponent.name}, {length} points", InvitationQuestion(opponent, length)
