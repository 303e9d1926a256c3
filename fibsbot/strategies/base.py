"""The interface of a strategy, small and free of asyncio: a strategy may block, because it is asked in a thread.

An evaluator is a strategy that also values positions, plays and cube actions. Analysis needs it: errors and luck are
differences of equities. A strategy that has these methods is an evaluator; it need not be registered as one.
`gains_by_rejecting` decides by such values whether to reject the first roll. `close_in_time` ends a
strategy, even one that hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from attrs import evolve, frozen

from fibsbot.engine.match_equity import equity_scale, points_scale
from fibsbot.match import ROLL_WAYS, ROLLS, CubeAction, MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.ruleset import Ruleset
from fibsbot.text import describe_error

__all__ = [
    "CHANCE_NAMES",
    "CLOSE_TIMEOUT",
    "Chances",
    "CubeAction",
    "CubeAnswer",
    "CubeValues",
    "DetailedEvaluator",
    "Evaluator",
    "EvaluatorOfGames",
    "NamesNumbers",
    "Opponent",
    "PlayAnswer",
    "PlayValue",
    "PlaysGames",
    "PositionEvaluator",
    "PositionValue",
    "RejectsRolls",
    "RollEvaluator",
    "Strategy",
    "after_rejecting",
    "close_in_time",
    "equity_of_rejecting",
    "gains_by_rejecting",
    "plays_game",
    "reversed_chances",
    "six_chances",
    "try_to_close",
]


@frozen
class PlayAnswer:
    """The play to make."""

    play: Play
    equity: float | None = None
    """Equity after the play, in points per game at the present cube; None if the strategy gives none."""


@frozen
class CubeAnswer:
    """ROLL or DOUBLE when asked before the roll; TAKE, PASS or BEAVER when doubled."""

    action: CubeAction
    equity: float | None = None


@frozen
class Opponent:
    """What the server says about a player who invites, in its `5` line."""

    name: str
    rating: float | None = None
    experience: int | None = None
    client: str | None = None


@runtime_checkable
class Strategy(Protocol):
    """A player of backgammon. States are seen by the player who decides; every method may take seconds and may raise.

    If a strategy is late, raises or answers nonsense, another strategy makes this one decision. A strategy that plays
    other games as well says so by `PlaysGames`.
    """

    name: str
    """Its name for `--strategy` and in logs."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the legal plays (at least two, with distinct results) for `state.dice`; phase MOVE."""
        ...

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Return ROLL or DOUBLE; asked only when doubling is legal; phase ROLL."""
        ...

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Return TAKE, PASS or, while `state.redoubles` is above 0, BEAVER; phase DOUBLED."""
        ...

    def accept_resignation(self, state: MatchState) -> bool:
        """Return whether the offered `state.resignation` is enough; phase RESIGNED."""
        ...

    def resign(self, state: MatchState) -> int:
        """Return how much to resign before the roll: 0 nothing, 1 single, 2 gammon, 3 backgammon; phase ROLL."""
        ...

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:
        """Return None to accept a match of `length` points (0 is unlimited), else a sentence for the inviter.

        Asked only after the policy in the configuration has accepted.
        """
        ...

    def close(self) -> None:
        """Release what the strategy holds; it is not asked again."""
        ...


@runtime_checkable
class PlaysGames(Protocol):
    """A strategy that plays more than backgammon, and games that are like it but for their set-up or what they count.

    In games that it does not play, the engine decides in its place.
    """

    def plays_game(self, rules: Ruleset) -> bool:
        """Return whether it plays this game, which is not like backgammon."""
        ...


@runtime_checkable
class NamesNumbers(Protocol):
    """A strategy that plays games in which a double to play, or a point to open, is named."""

    def choose_name(self, state: MatchState) -> int:
        """Return one of `state.names`; phase NAME."""
        ...


def plays_game(strategy: Strategy, rules: Ruleset) -> bool:
    """Return whether a strategy plays a game."""
    return is_backgammon(rules) or (isinstance(strategy, PlaysGames) and strategy.plays_game(rules))


CLOSE_TIMEOUT: Final = 10.0
"""Seconds that a strategy may take to close when its work is done; the engines of child processes need less."""


def try_to_close(strategy: Strategy) -> str | None:
    """Close a strategy; return what it raised, if anything: a plug-in may raise what it likes."""
    try:
        strategy.close()
    except BaseException as error:  # noqa: BLE001 - as above
        return describe_error(error)
    return None


def close_in_time(strategy: Strategy, timeout: float | None = None) -> str | None:
    """Close a strategy in a thread of its own, and wait for it no longer than this many seconds, or `CLOSE_TIMEOUT`.

    Returns why it is not closed, if it is not.
    """
    timeout = CLOSE_TIMEOUT if timeout is None else timeout
    faults: list[str | None] = []
    closing = threading.Thread(target=lambda: faults.append(try_to_close(strategy)), name="closing", daemon=True)
    closing.start()
    closing.join(timeout)
    return faults[0] if faults else f"still closing after {timeout:g} s"


@runtime_checkable
class RejectsRolls(Protocol):
    """A strategy that also decides whether to reject the first roll of a game; others keep it."""

    def reject_roll(self, state: MatchState) -> bool:
        """Return whether to reject `state.dice`, which doubles the centred cube, and roll again; phase MOVE.

        Asked only where the laws allow it (`state.may_reject`). The second roll has to be played.
        """
        ...


Chances: TypeAlias = tuple[float, float, float, float, float, float]
"""To win, to win at least a gammon, to win a backgammon, and the same lost; a backgammon counts as a gammon, too."""

CHANCE_NAMES: Final = ("win", "win_gammon", "win_backgammon", "lose", "lose_gammon", "lose_backgammon")
"""The names of the chances in JSON, in their order."""


def six_chances(
    win: float, win_gammon: float, win_backgammon: float, lose_gammon: float, lose_backgammon: float
) -> Chances:
    """Return all six chances from the five that other programs give."""
    return (win, win_gammon, win_backgammon, 1 - win, lose_gammon, lose_backgammon)


def reversed_chances(chances: Chances) -> Chances:
    """Return the chances of the opponent."""
    win, win_gammon, win_backgammon, lose, lose_gammon, lose_backgammon = chances
    return (lose, lose_gammon, lose_backgammon, win, win_gammon, win_backgammon)


@frozen
class CubeValues:
    """The values of the cube actions before a roll, all seen by the player who may double.

    The unit is that of `Evaluator`. The opponent chooses the lower of `double_take` and `double_pass`.
    """

    no_double: float
    double_take: float
    double_pass: float
    plies: int | None = None
    """Rolls looked ahead, for all of them; None if the evaluator does not say."""
    chances: Chances | None = None
    """Those of the player who may double, before the roll; None if the evaluator does not say."""

    @property
    def double(self) -> float:
        """The value of doubling, answered best."""
        return min(self.double_take, self.double_pass)

    @property
    def best(self) -> float:
        """The value of the best action."""
        return max(self.no_double, self.double)


@frozen
class PlayValue:
    """The value of a play to the player who makes it, in the unit of `Evaluator`."""

    equity: float
    plies: int | None = None
    """Rolls looked ahead after the play; None if the evaluator does not say."""
    chances: Chances | None = None
    """Those of the player who makes it, after the play; None if the evaluator does not say."""


@frozen
class PositionValue:
    """The value of a position to one of the players, in the unit of `Evaluator`."""

    equity: float
    plies: int | None = None
    """Rolls looked ahead; None if the evaluator does not say."""
    chances: Chances | None = None
    """Those of that player if the game is played on; None if the evaluator does not say."""

    def reversed(self) -> PositionValue:
        """Return the value to the opponent."""
        chances = None if self.chances is None else reversed_chances(self.chances)
        return PositionValue(-self.equity, self.plies, chances)


@runtime_checkable
class Evaluator(Protocol):
    """Values positions, plays and cube actions. Every method may take seconds and may raise.

    The order of the calls makes no difference to the values.

    Equities are normalised: in points per value of the cube, so that a single game won is 1 and one lost is -1. At a
    match score they are match winning chances on the same scale: a single win at the present cube is 1, a single loss
    is -1 (GNU Backgammon calls this EMG).
    """

    name: str
    """The strategy's name. An attribute `details` may add version, networks and plies, and `knows_laws` says that
    the Point Game (in equities of 12 points at the present cube) and games without triples are evaluated by what they
    count; other evaluators are not asked about them."""

    def value(self, state: MatchState) -> float:
        """Return the value before the roll to the player on roll, with good cube play; phase ROLL."""
        ...

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return the value of each play to the player who makes it, in their order; phase MOVE."""
        ...

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling; phase ROLL, and doubling must be legal."""
        ...

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the player's chance to win the match after winning this game with `points`; negative if lost.

        Only for matches, not for money games. It converts normalised equities into match winning chances, and gives the
        value of a gammon or a resignation.
        """
        ...


@runtime_checkable
class EvaluatorOfGames(Evaluator, Protocol):
    """An evaluator whose `details` differ by game."""

    def details_of(self, rules: Ruleset) -> str:
        """Return what `details` are in a game."""
        ...


@runtime_checkable
class RollEvaluator(Evaluator, Protocol):
    """An evaluator that values all rolls of a position together, which is faster than one after the other."""

    def value_rolls(self, state: MatchState) -> Sequence[float]:
        """Return the value of the best play of each of the 21 rolls: 1-1, 2-1, 2-2, 3-1 and so on.

        The phase is MOVE, and the dice of the state are ignored. Equities are those of `value_plays`.
        """
        ...


@runtime_checkable
class DetailedEvaluator(Evaluator, Protocol):
    """An evaluator of plays that reports plies and chances."""

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Return the value of each play, in their order; phase MOVE.

        The play that was made, the best one and those close to it are searched equally deep. No other is valued higher
        than the best.
        """
        ...


@runtime_checkable
class PositionEvaluator(Evaluator, Protocol):
    """An evaluator of positions before a roll that reports plies and chances."""

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, as `value` does, with plies and chances; phase ROLL."""
        ...


def gains_by_rejecting(state: MatchState, values_of_rolls: Callable[[MatchState], Sequence[float]]) -> bool:
    """Return whether a new roll with the doubled cube, which has to be played, is worth more than the present one.

    `values_of_rolls` returns the normalised equity of the best play of each of the 21 rolls of a state. That the
    opponent may reject a roll, too, is left out of account.
    """
    high, low = sorted(state.dice or (0, 0), reverse=True)
    if (high, low) not in ROLLS:
        return False
    kept = values_of_rolls(state)[ROLLS.index((high, low))]
    values = values_of_rolls(after_rejecting(state))
    again = sum(ways * value for ways, value in zip(ROLL_WAYS, values, strict=True)) / sum(ROLL_WAYS)
    return equity_of_rejecting(state, again) > kept


def after_rejecting(state: MatchState) -> MatchState:
    """Return a decision about a first roll with the cube of the next roll, which has to be played."""
    return evolve(state, cube=2 * state.cube, may_reject=False)


def equity_of_rejecting(state: MatchState, again: float) -> float:
    """Return what it is worth to reject a roll, at the present cube; `again` is the equity after it, at the new one."""
    scales = _scale(state), _scale(after_rejecting(state))
    if None in scales or not state.length:
        return 2 * again
    (middle, half), (raised_middle, raised_half) = (scale or (0.0, 1.0) for scale in scales)
    return (raised_middle + raised_half * again - middle) / half


def _scale(state: MatchState) -> tuple[float, float] | None:
    """Return the match chances that equity 0 and a difference of 1 stand for; None if the game decides nothing."""
    if not state.length:
        return None
    return (points_scale if state.point_game else equity_scale)(state.away, state.cube)
