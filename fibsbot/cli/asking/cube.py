"""`fibsbot cube`: what to do with the cube, and what everything else costs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict, frozen

from fibsbot.cli import UserError
from fibsbot.cli.asking.options import (
    before_throw,
    limits_of,
    opened_engine,
    position_argument,
    read_position,
    with_search_options,
)
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
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.engine.cube import DEFAULT, Answer, Market, Stakes
from fibsbot.engine.outcomes import Outcomes, cubeless_equity, other_side
from fibsbot.engine.search import Reading
from fibsbot.match import CubeAction, MatchState, Phase

_MARKET: Final = {
    "double_from": "doubling point",
    "cash_from": "cash point",
    "too_good_from": "too good from",
    "dead_cash_from": "cash point, dead cube",
    "live_cash_from": "cash point, live cube",
}
"""The points of a market, and what people call them; the opponent's take point is what a cash point leaves."""


@click.command()
@position_argument
@with_search_options
def cube(position: str, *, plies: int | None, seconds: float | None, networks: Path | None, as_json: bool) -> None:
    """Tell what to do with the cube.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Before a throw that is
    whether to double and what the opponent should answer; where a double is pending (D in an XGID), whether to take.
    What is worth less than the best is listed with what it loses, in points at the cube as it is before the double.
    """
    state = read_position(position)
    rolling, note = before_throw(state)
    doubled = state.phase is Phase.DOUBLED
    if doubled and not Stakes.of(rolling).can_double(rolling.owner):
        raise UserError("expected a double by a player who may turn the cube and can use it, got another one")
    with opened_engine(networks, warm=seconds is not None) as engine:
        reading = engine.read(rolling, limits_of(plies, seconds))
    found = _answer(state, reading) if doubled else _offer(rolling, reading)
    shown = state if doubled else rolling
    note = None if doubled else note
    if as_json:
        row = {**ids_of(shown), "evaluator": engine.name, "note": note, "decision": "take" if doubled else "double"}
        click.echo(json.dumps({**row, **found.row(), **_effort(reading)}))
        return
    print_state(shown)
    click.echo("")
    click.echo("\n".join(found.lines(reading.effort.plies)))
    effort = f"{reading.effort.evaluations:,} evaluations in {reading.effort.seconds:.3g} s"
    click.echo(f"\nby {engine.name}, {effort}" + (f"; {note}" if note else ""))


@frozen(eq=False)
class _Found:
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
        yield f"{'':18}{'equity':>8}" + (f"{'MWC':>24}" if self.stakes.match else "")
        for number, (action, worth) in enumerate(self.worths.items(), 1):
            name = action.replace("take", "beaver") if self.answer is CubeAction.BEAVER else action
            apart = "" if worth == self.best else f"({equity(worth - self.best)})"
            yield f"{number}. {name:15}{equity(worth):>8}  {apart:>9}  {in_match(self.stakes, worth):>11}".rstrip()
        yield ""
        yield self.verdict
        if self.market:
            yield ""
            yield from _market_lines(self.market)


def _offer(state: MatchState, reading: Reading) -> _Found:
    verdict, stakes = reading.verdict, Stakes.of(state)
    worths = {"no double": verdict.no_double}
    if verdict.may_double:
        worths |= {"double, take": verdict.double_take, "double, pass": verdict.double_pass}
    return _Found(
        stakes,
        reading.outcomes,
        worths,
        verdict.best,
        verdict.words,
        verdict.action,
        verdict.answer if verdict.may_double else None,
        _market(state, stakes, reading.outcomes),
    )


def _answer(state: MatchState, reading: Reading) -> _Found:
    """Turn what was found for the doubler into what the answers are worth to the other one, who sees the state."""
    verdict = reading.verdict
    taken = verdict.double_take / 2 if verdict.beaver else verdict.double_take
    answer = Answer.of(-taken, beavers=state.redoubles > 0)
    worths = {"take": answer.take, "pass": -verdict.double_pass}
    if answer.beaver is not None:
        worths["beaver"] = answer.beaver
    return _Found(
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


def _effort(reading: Reading) -> dict[str, Any]:
    effort = reading.effort
    return {"plies": effort.plies, "evaluations": effort.evaluations, "seconds": round(effort.seconds, 4)}
