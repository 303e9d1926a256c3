"""Output of `fibsbot cube`: the actions and what each is worth, the verdict, and the market."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, frozen

from fibsbot.cli.evaluations import (
    chance_headings,
    chances_row,
    equity_row,
    format_chances,
    format_equity,
    format_match_chance,
    round_number,
    stakes_of,
)
from fibsbot.match import CubeAction, MatchState
from fibsbot.text import format_percent

if TYPE_CHECKING:
    from fibsbot.engine.arrays import Outcomes
    from fibsbot.engine.cube import Market, Stakes
    from fibsbot.engine.search import CubeAnalysis


_MARKET_POINTS: Final = {
    "double_from": "doubling point",
    "cash_from": "cash point",
    "too_good_from": "too good from",
    "dead_cash_from": "cash point, dead cube",
    "live_cash_from": "cash point, live cube",
}
"""Names of the points of a market. The opponent's take point follows from the cash point."""


@frozen(eq=False)
class CubeOutput:
    """Output of `cube`, seen by the player who decides."""

    stakes: Stakes
    outcomes: Outcomes
    worths: Mapping[str, float]
    """Equity of each action, in the order in which they are listed."""
    best: float
    """Equity of the right action, with the right answer of the opponent."""
    verdict: str
    action: CubeAction
    answer: CubeAction | None = None
    """Right answer of the opponent to a double; None in a take decision."""
    market: Market | None = None
    """Market of the player who may double."""

    def row(self) -> dict[str, Any]:
        """Return the JSON fields."""
        from fibsbot.engine.arrays import cubeless_equity  # noqa: PLC0415 - loads the engine

        return {
            "chances": chances_row(self.outcomes),
            "cubeless": round_number(float(cubeless_equity(self.outcomes))),
            "verdict": self.verdict,
            "action": self.action.value,
            "answer": self.answer.value if self.answer else None,
            "actions": {
                name.replace(", ", "_").replace(" ", "_"): {
                    **equity_row(self.stakes, worth),
                    "difference": round_number(worth - self.best),
                }
                for name, worth in self.worths.items()
            },
            "market": {
                name: None if value is None else round_number(value) for name, value in asdict(self.market).items()
            }
            if self.market
            else None,
        }

    def lines(self, reading: CubeAnalysis) -> Iterator[str]:
        """Yield the lines of text."""
        from fibsbot.engine.arrays import cubeless_equity  # noqa: PLC0415 - loads the engine

        plies, cubeless = reading.effort.plies, float(cubeless_equity(self.outcomes))
        yield f"{'':6}{chance_headings()}{'cubeless':>10}"
        games = f"   {reading.games} games" if reading.games else ""
        yield f"{plies}-ply {format_chances(self.outcomes)}{format_equity(cubeless):>10}{games}"
        yield ""
        yield f"{'':25}{'equity':>8}" + (f"{'MWC':>24}" if self.stakes.match else "")
        for number, (action, worth) in enumerate(self.worths.items(), 1):
            name = action.replace("take", "beaver") if self.answer is CubeAction.BEAVER else action
            apart = "" if worth == self.best else f"({format_equity(worth - self.best)})"
            chance = format_match_chance(self.stakes, worth)
            line = f"{number}. {plies}-ply  {name:15}{format_equity(worth):>8}  {apart:>9}  {chance:>11}"
            yield line.rstrip()
        yield ""
        yield self.verdict
        if self.market:
            yield ""
            yield from _market_lines(self.market)


def double_output(state: MatchState, reading: CubeAnalysis) -> CubeOutput:
    """Return the output for the player who may double."""
    verdict, stakes = reading.verdict, stakes_of(state)
    worths = {"no double": verdict.no_double}
    if verdict.may_double:
        worths |= {"double, take": verdict.double_take, "double, pass": verdict.double_pass}
    return CubeOutput(
        stakes,
        reading.outcomes,
        worths,
        verdict.best,
        verdict.words,
        verdict.action,
        verdict.answer if verdict.may_double else None,
        _market(state, stakes, reading.outcomes),
    )


def take_output(state: MatchState, reading: CubeAnalysis) -> CubeOutput:
    """Return the output for the player who answers a double; `reading` is that of the player who doubled."""
    from fibsbot.engine.arrays import other_side  # noqa: PLC0415 - loads the engine
    from fibsbot.engine.cube import DoubleAnswer  # noqa: PLC0415 - loads the engine

    verdict = reading.verdict
    taken = verdict.double_take / 2 if verdict.beaver else verdict.double_take
    answer = DoubleAnswer.of(-taken, beavers=state.redoubles > 0)
    worths = {"take": answer.take, "pass": -verdict.double_pass}
    if answer.beaver is not None:
        worths["beaver"] = answer.beaver
    return CubeOutput(
        stakes_of(state),
        other_side(reading.outcomes),
        worths,
        answer.best,
        answer.action.value.capitalize(),
        answer.action,
    )


def _market(state: MatchState, stakes: Stakes, outcomes: Outcomes) -> Market | None:
    from fibsbot.engine.cube import DEFAULT_EFFICIENCY, Market  # noqa: PLC0415 - loads the engine

    if not stakes.can_double(state.owner):
        return None
    return Market.of(stakes, state.owner, outcomes, DEFAULT_EFFICIENCY.of_position(state.position))


def _market_lines(market: Market) -> Iterator[str]:
    yield "market, by the chance to win, gammons in the same proportion:"
    for name, chance in asdict(market).items():
        yield f"  {_MARKET_POINTS[name]:24}" + ("never" if chance is None else f"{format_percent(chance, 2):>8}")
    if market.cash_from is not None:
        yield f"  {'opponent takes from':24}{format_percent(1 - market.cash_from, 2):>8}"


def effort_row(reading: CubeAnalysis) -> dict[str, Any]:
    """Return the effort of a search, and of a rollout, for JSON."""
    effort = reading.effort
    row = {"plies": effort.plies, "games": reading.games, "evaluations": effort.evaluations}
    return {**row, "seconds": round(effort.seconds, 4)}
