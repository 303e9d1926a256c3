"""`fibsbot eval`, `best` and `cube`: what the engine says of one position.

The engine is imported inside functions, once the position has been read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import asdict, evolve, frozen

from fibsbot.cli import UserError
from fibsbot.cli.positions import (
    DEFAULT_PLIES,
    before_roll,
    chance_headings,
    chances_row,
    check_may_double,
    equity_row,
    format_chances,
    format_equity,
    format_match_chance,
    ids_of,
    json_option,
    networks_option,
    open_engine,
    plies_option,
    position_argument,
    print_state,
    read_dice,
    read_position,
    round_number,
    search_limits,
    search_options,
)
from fibsbot.engine.arrays import Outcomes, cubeless_equity, other_side
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, DoubleAnswer, Market, Stakes
from fibsbot.engine.search import CubeAnalysis, RankedPlay, Ranking
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.text import format_percent

if TYPE_CHECKING:
    from fibsbot.engine.search import PlayComparison


@click.command("eval")
@position_argument
@plies_option
@networks_option
@json_option
def evaluate(position: str, *, plies: int | None, networks: Path | None, as_json: bool) -> None:
    """Evaluate a position before the roll, at each ply.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. All figures are those of
    the player on roll: the chances to win, to win a gammon or more and a backgammon, and the same lost; points per
    game without a cube; and the worth with the cube, which is doubled where that gains.
    """
    state, note = before_roll(read_position(position))
    depths = range((DEFAULT_PLIES if plies is None else plies) + 1)
    with open_engine(networks) as engine:
        readings = [engine.analyse_cube(state, search_limits(depth, None)) for depth in depths]

    sheet = EvalOutput(state, readings)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, "note": note, "plies": sheet.rows()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(sheet.lines()))
    click.echo(f"\nby {engine.name}" + (f"; {note}" if note else ""))


@frozen(eq=False)
class EvalOutput:
    """What a position is worth, as it is told."""

    state: MatchState
    readings: Sequence[CubeAnalysis]
    """One a ply, from 0."""

    def rows(self) -> list[dict[str, Any]]:
        """Return it for programs, ply by ply."""
        stakes = Stakes.of(self.state)
        return [
            {
                "plies": plies,
                "chances": chances_row(it.outcomes),
                "cubeless": round_number(it.cubeless),
                **equity_row(stakes, it.equity),
                "evaluations": it.effort.evaluations,
                "seconds": round(it.effort.seconds, 4),
            }
            for plies, it in enumerate(self.readings)
        ]

    def lines(self) -> Iterator[str]:
        """Write it for people."""
        stakes = Stakes.of(self.state)
        yield f"{'':6}{chance_headings()}{'cubeless':>10}{'cubeful':>9}" + (f"{'MWC':>10}" if stakes.match else "")
        for plies, it in enumerate(self.readings):
            worths = f"{format_equity(it.cubeless):>10}{format_equity(it.equity):>9}"
            chance = f"{format_match_chance(stakes, it.equity):>10}" if stakes.match else ""
            yield f"{plies}-ply {format_chances(it.outcomes)}{worths}{chance}"


MAX_PLAYS: Final = 10
"""Plays that are listed at most where nobody says otherwise."""
FEWEST_PLAYS: Final = 3
"""Plays that are listed at least, however far they are behind."""


@click.command()
@position_argument
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option(
    "--plays",
    metavar="N",
    type=click.IntRange(1),
    help=f"Number of plays to list.  [default: the close ones, {FEWEST_PLAYS} to {MAX_PLAYS}]",
)
@search_options
def best(  # noqa: PLR0913 - one argument an option
    position: str,
    *,
    dice: str | None,
    plays: int | None,
    plies: int | None,
    seconds: float | None,
    networks: Path | None,
    as_json: bool,
) -> None:
    """Rank the plays of a roll.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Each play is listed with
    how deep it was looked at, its equity with the cube, what it loses against the best one, and the chances that it
    leaves to who makes it. All plays that are listed are looked at equally deep.
    """
    state = with_roll(read_position(position), dice)
    with open_engine(networks, warm=seconds is not None) as engine:
        ranking = engine.rank(state, limits=search_limits(plies, seconds), compared=_plays_to_compare(plays))

    sheet = BestOutput(state, ranking, plays or MAX_PLAYS)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, **sheet.row()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(sheet.lines()))
    click.echo(f"\nby {engine.name}, {ranking.effort.evaluations:,} evaluations in {ranking.effort.seconds:.3g} s")


def _plays_to_compare(count: int | None) -> PlayComparison:
    """Return which plays are looked at equally deep: so many, or those that come close to the best."""
    from fibsbot.engine.search import PlayComparison  # noqa: PLC0415 - loads the engine

    return PlayComparison(MAX_PLAYS, FEWEST_PLAYS) if count is None else PlayComparison(count, count)


def with_roll(state: MatchState, dice: str | None) -> MatchState:
    """Return the state with the throw that is asked for; raise UserError where there is none to be played."""
    if state.phase is Phase.DOUBLED:
        raise UserError("expected a throw to play, got a double to answer; `fibsbot cube` tells what to answer")
    if dice:
        return evolve(state, phase=Phase.MOVE, dice=read_dice(dice))
    if state.dice is None:
        raise UserError("expected a position with dice, or --dice as in --dice 31, got neither")
    return state


PLAY_WIDTH: Final = 26
"""Columns of a play; a longer one pushes what follows to the right."""


@frozen(eq=False)
class BestOutput:
    """The plays of a throw, as they are told."""

    state: MatchState
    ranking: Ranking
    count: int
    """Plays that are listed at most."""

    @property
    def listed(self) -> tuple[RankedPlay, ...]:
        """The best plays, all looked at as deep as the best one."""
        plies = self.ranking.best.plies
        return tuple(it for it in self.ranking.plays[: self.count] if it.plies == plies)

    @property
    def dances(self) -> bool:
        """Whether no checker can move."""
        return not self.ranking.best.play.moves

    def row(self) -> dict[str, Any]:
        """Return them for programs."""
        stakes, ranking = Stakes.of(self.state), self.ranking
        return {
            "dice": self.state.dice,
            "legal": 0 if self.dances else len(ranking.plays),
            "plies": ranking.effort.plies,
            "evaluations": ranking.effort.evaluations,
            "seconds": round(ranking.effort.seconds, 4),
            "plays": [
                {
                    "play": format_play(it.play, self.state.position),
                    "moves": [[move.source, move.target] for move in it.play.moves],
                    "plies": it.plies,
                    **equity_row(stakes, it.equity),
                    "loss": round_number(ranking.loss(it)),
                    "cubeless": round_number(it.cubeless),
                    "chances": chances_row(it.outcomes),
                }
                for it in self.listed
            ],
        }

    def lines(self) -> Iterator[str]:
        """Write them for people."""
        stakes, ranking = Stakes.of(self.state), self.ranking
        if self.dances:
            yield "No checker can move."
        elif len(ranking.plays) == 1:
            yield "Forced: there is no other play."
        for place, it in enumerate(self.listed, 1):
            loss = "" if it is ranking.best else f"({format_equity(it.equity - ranking.best.equity)})"
            worth = f"{format_equity(it.equity)}  {loss:9}  {format_match_chance(stakes, it.equity):>8}"
            play = format_play(it.play, self.state.position)
            yield f"{place:3}.  {it.plies}-ply  {play:{PLAY_WIDTH}}  {worth}".rstrip()
            yield f"{'':13}{_chances(it)}   cubeless {format_equity(it.cubeless)}"
        left = len(ranking.plays) - len(self.listed)
        if left > 0:
            yield f"and {left} more; --plays shows them"


def _chances(it: RankedPlay) -> str:
    won, lost = it.outcomes[:3].tolist(), it.outcomes[3:].tolist()
    return " - ".join(" ".join(f"{chance:.3f}" for chance in side) for side in (won, lost))


@click.command()
@position_argument
@search_options
def cube(position: str, *, plies: int | None, seconds: float | None, networks: Path | None, as_json: bool) -> None:
    """Recommend a cube action.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Before a throw that is
    whether to double and what the opponent should answer; where a double is pending (D in an XGID), whether to take.
    What is worth less than the best is listed with what it loses, in points at the cube as it is before the double.
    """
    state = read_position(position)
    rolling, note = before_roll(state)
    doubled = state.phase is Phase.DOUBLED
    if doubled:
        check_may_double(rolling, "a double by a player who may turn the cube and can use it")
    with open_engine(networks, warm=seconds is not None) as engine:
        reading = engine.analyse_cube(rolling, search_limits(plies, seconds))

    found = take_output(state, reading) if doubled else double_output(rolling, reading)
    shown = state if doubled else rolling
    note = None if doubled else note
    if as_json:
        row = {**ids_of(shown), "evaluator": engine.name, "note": note, "decision": "take" if doubled else "double"}
        click.echo(json.dumps({**row, **found.row(), **effort_row(reading)}))
        return
    print_state(shown)
    click.echo("")
    click.echo("\n".join(found.lines(reading.effort.plies)))
    effort = f"{reading.effort.evaluations:,} evaluations in {reading.effort.seconds:.3g} s"
    click.echo(f"\nby {engine.name}, {effort}" + (f"; {note}" if note else ""))


_MARKET_POINTS: Final = {
    "double_from": "doubling point",
    "cash_from": "cash point",
    "too_good_from": "too good from",
    "dead_cash_from": "cash point, dead cube",
    "live_cash_from": "cash point, live cube",
}
"""The points of a market, and what people call them; the opponent's take point is what a cash point leaves."""


@frozen(eq=False)
class CubeOutput:
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
            "market": {name: None if it is None else round_number(it) for name, it in asdict(self.market).items()}
            if self.market
            else None,
        }

    def lines(self, plies: int) -> Iterator[str]:
        """Write it for people."""
        yield f"{'':6}{chance_headings()}{'cubeless':>10}"
        yield f"{plies}-ply {format_chances(self.outcomes)}{format_equity(float(cubeless_equity(self.outcomes))):>10}"
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
    """Return what is told to who may double."""
    verdict, stakes = reading.verdict, Stakes.of(state)
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
    """Turn what was found for the doubler into what the answers are worth to the other one, who sees the state."""
    verdict = reading.verdict
    taken = verdict.double_take / 2 if verdict.beaver else verdict.double_take
    answer = DoubleAnswer.of(-taken, beavers=state.redoubles > 0)
    worths = {"take": answer.take, "pass": -verdict.double_pass}
    if answer.beaver is not None:
        worths["beaver"] = answer.beaver
    return CubeOutput(
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
    return Market.of(stakes, state.owner, outcomes, DEFAULT_EFFICIENCY.of_position(state.position))


def _market_lines(market: Market) -> Iterator[str]:
    yield "market, by the chance to win, gammons in the same proportion:"
    for name, chance in asdict(market).items():
        yield f"  {_MARKET_POINTS[name]:24}" + ("never" if chance is None else f"{format_percent(chance, 2):>8}")
    if market.cash_from is not None:
        yield f"  {'opponent takes from':24}{format_percent(1 - market.cash_from, 2):>8}"


def effort_row(reading: CubeAnalysis) -> dict[str, Any]:
    """Return for programs what the answer has cost."""
    effort = reading.effort
    return {"plies": effort.plies, "evaluations": effort.evaluations, "seconds": round(effort.seconds, 4)}
