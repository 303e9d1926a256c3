"""What `fibsbot cube` tells: what doubling or taking is worth, what else there is to do, and the market."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import asdict, frozen

from fibsbot.cli.asking.wording import (
    chances,
    chances_row,
    equity,
    headings,
    in_match,
    percent,
    rounded,
    worth_row,
)
from fibsbot.engine.cube import DEFAULT, Answer, Market, Stakes
from fibsbot.engine.outcomes import Outcomes, cubeless_equity, other_side
from fibsbot.engine.search import Reading
from fibsbot.match import CubeAction, MatchState

_MARKET: Final = {
    "double_from": "doubling point",
    "cash_from": "cash point",
    "too_good_from": "too good from",
    "dead_cash_from": "cash point, dead cube",
    "live_cash_from": "cash point, live cube",
}
"""The points of a market, and what people call them; the opponent's take point is what a cash point leaves."""


@frozen(eq=False)
class Sheet:
    """What is said of a decision, seen by who decides."""

    stakes: Stakes
    outcomes: Outcomes
    worths: Mapping[str, float]
    """What each action is worth, in the order in which they are listed."""
    best: float
    """What the right one is worth, the opponent doing what is right."""
    verdict: str
    action: CubeAction
    answer: CubeAction | None = None
    """What the opponent should answer to a double, where that is asked."""
    market: Market | None = None
    """Of who may double."""

    def row(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "chances": chances_row(self.outcomes),
            "cubeless": rounded(float(cubeless_equity(self.outcomes))),
            "verdict": self.verdict,
            "action": self.action.value,
            "answer": self.answer.value if self.answer else None,
            "actions": {
                name.replace(", ", "_").replace(" ", "_"): {
                    **worth_row(self.stakes, worth),
                    "difference": rounded(worth - self.best),
                }
                for name, worth in self.worths.items()
            },
            "market": {name: None if it is None else rounded(it) for name, it in asdict(self.market).items()}
            if self.market
            else None,
        }

    def lines(self, plies: int) -> Iterator[str]:
        """Write it for people."""
        yield f"{'':6}{headings()}{'cubeless':>10}"
        yield f"{plies}-ply {chances(self.outcomes)}{equity(float(cubeless_equity(self.outcomes))):>10}"
        yield ""
        yield f"{'':25}{'equity':>8}" + (f"{'MWC':>24}" if self.stakes.match else "")
        for number, (action, worth) in enumerate(self.worths.items(), 1):
            name = action.replace("take", "beaver") if self.answer is CubeAction.BEAVER else action
            apart = "" if worth == self.best else f"({equity(worth - self.best)})"
            line = f"{number}. {plies}-ply  {name:15}{equity(worth):>8}  {apart:>9}  {in_match(self.stakes, worth):>11}"
            yield line.rstrip()
        yield ""
        yield self.verdict
        if self.market:
            yield ""
            yield from _market_lines(self.market)


def offer(state: MatchState, reading: Reading) -> Sheet:
    """Return what is told to who may double."""
    verdict, stakes = reading.verdict, Stakes.of(state)
    worths = {"no double": verdict.no_double}
    if verdict.may_double:
        worths |= {"double, take": verdict.double_take, "double, pass": verdict.double_pass}
    return Sheet(
        stakes,
        reading.outcomes,
        worths,
        verdict.best,
        verdict.words,
        verdict.action,
        verdict.answer if verdict.may_double else None,
        _market(state, stakes, reading.outcomes),
    )


def answer(state: MatchState, reading: Reading) -> Sheet:
    """Turn what was found for the doubler into what the answers are worth to the other one, who sees the state."""
    verdict = reading.verdict
    taken = verdict.double_take / 2 if verdict.beaver else verdict.double_take
    answer = Answer.of(-taken, beavers=state.redoubles > 0)
    worths = {"take": answer.take, "pass": -verdict.double_pass}
    if answer.beaver is not None:
        worths["beaver"] = answer.beaver
    return Sheet(
        Stakes.of(state),
        other_side(reading.outcomes),
        worths,
        answer.best,
        answer.action.value.capitalize(),
        answer.action,
    )


def _market(state: MatchState, stakes: Stakes, outcomes: Outcomes) -> Market | None:
    if not stakes.can_double(state.owner):
        return None
    return Market.of(stakes, state.owner, outcomes, DEFAULT.of_position(state.position))


def _market_lines(market: Market) -> Iterator[str]:
    yield "market, by the chance to win, gammons in the same proportion:"
    for name, chance in asdict(market).items():
        yield f"  {_MARKET[name]:24}" + ("never" if chance is None else f"{percent(chance):>8}")
    if market.cash_from is not None:
        yield f"  {'opponent takes from':24}{percent(1 - market.cash_from):>8}"


def effort_row(reading: Reading) -> dict[str, Any]:
    """Return for programs what the answer has cost."""
    effort = reading.effort
    return {"plies": effort.plies, "evaluations": effort.evaluations, "seconds": round(effort.seconds, 4)}
