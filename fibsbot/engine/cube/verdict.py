"""Verdict on a double, answers to it, and the market of a position (doubling point, cash point, too good point)."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import LOSE, Floats64, Outcomes
from fibsbot.engine.cube.janowski import DEFAULT_EFFICIENCY, TURNED, Efficiency
from fibsbot.engine.cube.stakes import OWNER_COLUMN, Stakes
from fibsbot.match import CubeAction, MatchState, Owner

OPTIONAL_LIMIT: Final = 1e-4
"""Doubling is optional if the equities differ by less than this."""
ROUNDING: Final = 1e-9
"""Equities that differ by less than this count as equal."""


@frozen
class CubeVerdict:
    """The equities of the cube actions before a roll, normalised and seen by the player on roll, and the verdict."""

    no_double: float
    """Equity of rolling without doubling."""
    double_take: float
    """Equity of doubling if the opponent takes, or beavers where that is allowed and better."""
    double_pass: float
    """Equity of doubling if the opponent passes."""
    owner: Owner = Owner.CENTRED
    """The owner of the cube before it is turned."""
    may_double: bool = True
    """Whether the player may turn the cube and has a use for it."""
    dead: bool = False
    """Whether the player may turn the cube but has no use for it: winning at its present value wins the match."""
    beaver: bool = False
    """Whether the opponent, doubled, should beaver."""

    @classmethod
    def of(cls, stakes: Stakes, owner: Owner, no_double: float, double_take: float) -> CubeVerdict:
        """Build the verdict from the equities of rolling and of a double that is taken, not beavered."""
        may_double = stakes.can_double(owner)
        beaver = bool(stakes.beavers and double_take < -ROUNDING)
        return cls(
            no_double=float(no_double),
            double_take=float(2 * double_take if beaver else double_take),
            double_pass=stakes.pass_value,
            owner=owner,
            may_double=may_double,
            dead=stakes.live and owner is not Owner.OPPONENT and not may_double,
            beaver=beaver,
        )

    @property
    def double(self) -> float:
        """The equity of doubling against the best answer."""
        return min(self.double_take, self.double_pass)

    @property
    def best(self) -> float:
        """The equity of the best action."""
        return max(self.no_double, self.double) if self.may_double else self.no_double

    @property
    def action(self) -> CubeAction:
        """ROLL or DOUBLE; DOUBLE if both are equal: it ends games that are won."""
        return CubeAction.DOUBLE if self.may_double and self.double >= self.no_double - ROUNDING else CubeAction.ROLL

    @property
    def answer(self) -> CubeAction:
        """TAKE, PASS or BEAVER; TAKE if take and pass are equal."""
        if self.beaver:
            return CubeAction.BEAVER
        return CubeAction.PASS if self.double_take > self.double_pass + ROUNDING else CubeAction.TAKE

    @property
    def optional(self) -> bool:
        """Whether it makes no difference whether the player doubles and the opponent takes."""
        return (
            self.may_double
            and self.answer is not CubeAction.PASS
            and abs(self.no_double - self.double) < OPTIONAL_LIMIT
        )

    @property
    def too_good(self) -> bool:
        """Whether playing on for a gammon is better than a double that is passed."""
        return self.action is CubeAction.ROLL and self.may_double and self.no_double > self.double_pass + ROUNDING

    @property
    def wrong_answers(self) -> float | None:
        """The share of wrong answers from which a double would be right; None if it is right anyway, or never."""
        if not self.may_double or self.action is CubeAction.DOUBLE:
            return None
        right, wrong = sorted((self.double_take, self.double_pass))
        return (self.no_double - right) / (wrong - right) if self.no_double < wrong else None

    @property
    def words(self) -> str:
        """The verdict as GNU Backgammon words it, such as `Redouble, take` or `No double, take (4.4%)`."""
        again = "redouble" if self.owner is Owner.PLAYER else "double"
        if not self.may_double:
            return f"Never {again}, {self.answer.value} (dead cube)" if self.dead else "Cube not available"
        if self.optional:
            first = f"Optional {again}"
        elif self.too_good:
            first = f"Too good to {again}"
        else:
            first = again.capitalize() if self.action is CubeAction.DOUBLE else f"No {again}"
        share = None if self.optional else self.wrong_answers
        return f"{first}, {self.answer.value}" + ("" if share is None else f" ({share:.1%})")


@frozen
class DoubleAnswer:
    """The equities of the answers to a double or to a beaver, normalised and seen by the player who answers."""

    take: float
    """Equity of playing on with the doubled cube."""
    beaver: float | None
    """Equity of turning the cube again at once (a raccoon or otter after a beaver); None if it is not allowed."""
    passed: float = -1.0
    """Equity of passing."""

    @classmethod
    def of(cls, take: float, *, beavers: bool, passed: float = -1.0) -> DoubleAnswer:
        """Build the answers from the equity of a take. A beaver is worth twice that: the player keeps the cube."""
        return cls(float(take), 2 * float(take) if beavers else None, passed)

    @property
    def action(self) -> CubeAction:
        """TAKE, PASS or BEAVER; TAKE if it is equal to another."""
        if self.beaver is not None and self.beaver > self.take + ROUNDING and self.beaver > self.passed:
            return CubeAction.BEAVER
        return CubeAction.TAKE if self.take >= self.passed - ROUNDING else CubeAction.PASS

    @property
    def best(self) -> float:
        """The equity of the best answer."""
        return max(self.take, self.passed, self.take if self.beaver is None else self.beaver)


def cube_verdict(state: MatchState, outcomes: Outcomes, efficiency: Efficiency = DEFAULT_EFFICIENCY) -> CubeVerdict:
    """Return the verdict on a double by the player of the state, who is on roll, from the six chances, shape (6,).

    There is no lookahead: everything follows from the chances and the cube model.
    """
    stakes = Stakes.of(state)
    equities = stakes.no_double_values(outcomes, efficiency.of_position(state.position))[0]
    return CubeVerdict.of(stakes, state.owner, equities[OWNER_COLUMN[state.owner]], equities[TURNED])


STEPS: Final = 2000
"""Intervals of the chance to win, within which equities are interpolated linearly."""


@frozen
class Market:
    """Critical chances to win of the player on roll, with the gammon rates of one position.

    None is a point that is not reached at any chance to win.
    """

    double_from: float | None
    """Doubling point: from here on doubling is at least as good as rolling."""
    cash_from: float | None
    """Cash point: from here on the opponent should pass. One minus this is the opponent's take point."""
    too_good_from: float | None
    """Too good point: from here on playing on is better than a double that is passed."""
    dead_cash_from: float
    """The cash point with a dead cube after the take."""
    live_cash_from: float
    """The cash point with a live cube after the take."""

    @classmethod
    def of(cls, stakes: Stakes, owner: Owner, outcomes: Outcomes, efficiency: Floats64) -> Market:
        """Return the market of a cube that the player may turn, from the six chances and efficiency of one position.

        Raises ValueError if the player may not turn the cube, or has no use for it.
        """
        if not stakes.can_double(owner):
            raise ValueError(f"expected a cube that the player can turn, got {owner} at {stakes}")
        wins = np.linspace(0, 1, STEPS + 1)
        line = along(wins, outcomes)
        held = stakes.no_double_values(line, efficiency)
        rolled, taken = held[:, OWNER_COLUMN[owner]], stakes.take_value(held[:, TURNED])
        doubled = np.minimum(taken, stakes.pass_value)
        too_good = _crossing(wins, rolled - stakes.pass_value, strictly=True)
        return cls(
            double_from=_crossing(wins, doubled - rolled),
            cash_from=_crossing(wins, taken - stakes.pass_value),
            too_good_from=too_good,
            dead_cash_from=_crossing(wins, stakes.turned.cubeless(line) - stakes.pass_value) or 1.0,
            live_cash_from=float(stakes.market(np.asarray(outcomes, np.float64))[1, 1]),
        )


def along(wins: Floats64, outcomes: Outcomes) -> Floats64:
    """Return outcomes for chances to win, shape (n, 6) for (n,), with the gammon rates of one position, shape (6,)."""
    chances = np.asarray(outcomes, np.float64)
    won = chances[:LOSE] / chances[0] if chances[0] > 0 else np.array([1.0, 0, 0])
    lost = chances[LOSE:] / chances[LOSE] if chances[LOSE] > 0 else np.array([1.0, 0, 0])
    return np.concatenate([np.outer(wins, won), np.outer(1 - wins, lost)], axis=1)


def _crossing(wins: Floats64, excess: Floats64, *, strictly: bool = False) -> float | None:
    """Return the least chance to win from which the excess is at least 0 (`strictly`: above 0), or None."""
    reached = excess > 1e-9 if strictly else excess >= -1e-9
    if not reached.any():
        return None
    first = int(np.argmax(reached))
    if first == 0:
        return float(wins[0])
    before, after = excess[first - 1], excess[first]
    share = -before / (after - before) if after > before else 1.0
    return float(wins[first - 1] + min(max(share, 0.0), 1.0) * (wins[first] - wins[first - 1]))
