"""`fibsbot eval`, `best` and `cube`: the engine's analysis of one position.

The engine is imported inside functions, after the position has been parsed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import evolve, frozen

from fibsbot.cli import UserError
from fibsbot.cli.cube_output import double_output, effort_row, take_output
from fibsbot.cli.evaluations import (
    DEFAULT_PLIES,
    SearchOptions,
    before_roll,
    chance_headings,
    chances_row,
    check_may_double,
    deciding_engine,
    equity_row,
    evaluated_by,
    format_chances,
    format_equity,
    format_match_chance,
    json_option,
    networks_option,
    open_engine,
    plies_option,
    position_argument,
    read_position,
    round_number,
    search_limits,
    search_options,
    stakes_of,
)
from fibsbot.cli.positions import ids_of, print_state, read_dice
from fibsbot.cli.scores import ScoreOptions, best_scores, cube_scores, score_options
from fibsbot.match import MatchState, Phase
from fibsbot.notation import format_play

if TYPE_CHECKING:
    from fibsbot.engine.search import CubeAnalysis, PlayComparison, RankedPlay, Ranking


@click.command("eval")
@position_argument
@plies_option
@networks_option
@json_option
def evaluate(position: str, *, plies: int | None, networks: Path | None, as_json: bool) -> None:
    """Evaluate a position before the roll, at each ply.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. All figures are those of
    the player on roll: the chances to win, to win a gammon or more and a backgammon, and to lose the same; the cubeless
    equity; and the equity with the cube, which is doubled where that gains.
    """
    state, note = before_roll(read_position(position))
    depths = range((DEFAULT_PLIES if plies is None else plies) + 1)
    with open_engine(networks) as engine:
        readings = [engine.analyse_cube(state, search_limits(depth, None)) for depth in depths]

    output = EvalOutput(state, readings)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, "note": note, "plies": output.rows()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(output.lines()))
    click.echo(evaluated_by(engine.name) + (f"; {note}" if note else ""))


@frozen(eq=False)
class EvalOutput:
    """Output of `eval`."""

    state: MatchState
    readings: Sequence[CubeAnalysis]
    """One per ply, from 0."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the JSON rows, one per ply."""
        stakes = stakes_of(self.state)
        return [
            {
                "plies": plies,
                "chances": chances_row(reading.outcomes),
                "cubeless": round_number(reading.cubeless),
                **equity_row(stakes, reading.equity),
                "evaluations": reading.effort.evaluations,
                "seconds": round(reading.effort.seconds, 4),
            }
            for plies, reading in enumerate(self.readings)
        ]

    def lines(self) -> Iterator[str]:
        """Yield the lines of text."""
        stakes = stakes_of(self.state)
        yield f"{'':6}{chance_headings()}{'cubeless':>10}{'cubeful':>9}" + (f"{'MWC':>10}" if stakes.match else "")
        for plies, reading in enumerate(self.readings):
            worths = f"{format_equity(reading.cubeless):>10}{format_equity(reading.equity):>9}"
            chance = f"{format_match_chance(stakes, reading.equity):>10}" if stakes.match else ""
            yield f"{plies}-ply {format_chances(reading.outcomes)}{worths}{chance}"


MAX_PLAYS: Final = 10
"""Maximum number of plays that are listed without `--plays`."""
FEWEST_PLAYS: Final = 3
"""Plays that are always listed, however bad they are."""


@click.command()
@position_argument
@click.option("--dice", metavar="31", help="The roll, if the position has none or another one.")
@click.option(
    "--plays",
    metavar="N",
    type=click.IntRange(1),
    help=f"Number of plays to list.  [default: the close ones, {FEWEST_PLAYS} to {MAX_PLAYS}]",
)
@score_options
@search_options
def best(  # noqa: PLR0913 - the options
    position: str,
    *,
    dice: str | None,
    plays: int | None,
    scores: ScoreOptions | None,
    search: SearchOptions,
    as_json: bool,
) -> None:
    """Rank the plays of a roll.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Each play is listed with
    its plies, its equity with the cube, its loss against the best play, and the chances of the player who makes it. All
    listed plays are searched to the same depth. With --rollout the close ones are then rolled out, with the same dice,
    within --time if that is given. With --scores the best play at each score is printed instead.
    """
    state = with_roll(read_position(position), dice)
    if scores:
        if plays:
            raise UserError("expected --plays or --scores, got both")
        best_scores(state, search, scores, as_json=as_json)
        return
    with open_engine(search.networks, warm=search.seconds is not None) as engine:
        deciding, limits = deciding_engine(engine, search)
        ranking = deciding.rank(state, limits=limits, compared=_plays_to_compare(plays))

    output = BestOutput(state, ranking, plays or MAX_PLAYS)
    if as_json:
        click.echo(json.dumps({**ids_of(state), "evaluator": engine.name, **output.row()}))
        return
    print_state(state)
    click.echo("")
    click.echo("\n".join(output.lines()))
    click.echo(
        f"{evaluated_by(engine.name)}, {ranking.effort.evaluations:,} evaluations in {ranking.effort.seconds:.3g} s"
    )


def _plays_to_compare(count: int | None) -> PlayComparison:
    """Return which plays are compared at the same depth: `count`, or those close to the best."""
    from fibsbot.engine.search import PlayComparison  # noqa: PLC0415 - loads the engine

    return PlayComparison(MAX_PLAYS, FEWEST_PLAYS) if count is None else PlayComparison(count, count)


def with_roll(state: MatchState, dice: str | None) -> MatchState:
    """Return the state with dice; raise UserError if there is no roll to play."""
    if state.phase is Phase.DOUBLED:
        raise UserError("expected a roll to play, got a double to answer; use `fibsbot cube`")
    if dice:
        return evolve(state, phase=Phase.MOVE, dice=read_dice(dice))
    if state.dice is None:
        raise UserError("expected a position with dice, or --dice as in --dice 31, got neither")
    return state


PLAY_WIDTH: Final = 26
"""Width of a play; a longer one moves the columns after it to the right."""


@frozen(eq=False)
class BestOutput:
    """Output of `best`."""

    state: MatchState
    ranking: Ranking
    count: int
    """Maximum number of plays to list."""

    @property
    def listed(self) -> tuple[RankedPlay, ...]:
        """The best plays, as far as they were searched as deep as the best one."""
        plies = self.ranking.best.plies
        return tuple(play for play in self.ranking.plays[: self.count] if play.plies == plies)

    @property
    def dances(self) -> bool:
        """Whether no checker can move."""
        return not self.ranking.best.play.moves

    def row(self) -> dict[str, Any]:
        """Return the JSON fields."""
        stakes, ranking = stakes_of(self.state), self.ranking
        return {
            "dice": self.state.dice,
            "legal": 0 if self.dances else len(ranking.plays),
            "plies": ranking.effort.plies,
            "evaluations": ranking.effort.evaluations,
            "seconds": round(ranking.effort.seconds, 4),
            "plays": [
                {
                    "play": format_play(ranked.play, self.state.position),
                    "moves": [[move.source, move.target] for move in ranked.play.moves],
                    "plies": ranked.plies,
                    "games": ranked.games,
                    **equity_row(stakes, ranked.equity),
                    "loss": round_number(ranking.loss(ranked)),
                    "cubeless": round_number(ranked.cubeless),
                    "chances": chances_row(ranked.outcomes),
                }
                for ranked in self.listed
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of text."""
        stakes, ranking = stakes_of(self.state), self.ranking
        if self.dances:
            yield "No checker can move."
        elif len(ranking.plays) == 1:
            yield "Forced: there is no other play."
        for place, ranked in enumerate(self.listed, 1):
            loss = "" if ranked is ranking.best else f"({format_equity(ranked.equity - ranking.best.equity)})"
            worth = f"{format_equity(ranked.equity)}  {loss:9}  {format_match_chance(stakes, ranked.equity):>8}"
            play = format_play(ranked.play, self.state.position)
            yield f"{place:3}.  {ranked.plies}-ply  {play:{PLAY_WIDTH}}  {worth}".rstrip()
            games = f"   {ranked.games} games" if ranked.games else ""
            yield f"{'':13}{_chances(ranked)}   cubeless {format_equity(ranked.cubeless)}{games}"
        left = len(ranking.plays) - len(self.listed)
        if left > 0:
            yield f"and {left} more; --plays {len(ranking.plays)} shows them"


def _chances(play: RankedPlay) -> str:
    won, lost = play.outcomes[:3].tolist(), play.outcomes[3:].tolist()
    return " - ".join(" ".join(f"{chance:.3f}" for chance in side) for side in (won, lost))


@click.command()
@position_argument
@score_options
@search_options
def cube(
    position: str,
    *,
    scores: ScoreOptions | None,
    search: SearchOptions,
    as_json: bool,
) -> None:
    """Recommend a cube action.

    POSITION is eXtreme Gammon's XGID, or GNU Backgammon's PositionID:MatchID or PositionID. Before a roll that is
    whether to double and how the opponent should answer; if a double is pending (D in an XGID), whether to take. Every
    other action is listed with what it loses, in points at the cube before the double. With --rollout a close decision
    is then rolled out, with the same dice for both actions, within --time if that is given. With --scores the right
    action at each score is printed instead.
    """
    state = read_position(position)
    rolling, note = before_roll(state)
    doubled = state.phase is Phase.DOUBLED
    if doubled:
        check_may_double(rolling, "a double with a cube that the player may turn and can use")
    if scores:
        cube_scores(state, search, scores, as_json=as_json)
        return
    with open_engine(search.networks, warm=search.seconds is not None) as engine:
        deciding, limits = deciding_engine(engine, search)
        reading = deciding.analyse_cube(rolling, limits)

    found = take_output(state, reading) if doubled else double_output(rolling, reading)
    shown = state if doubled else rolling
    note = None if doubled else note
    if as_json:
        row = {**ids_of(shown), "evaluator": engine.name, "note": note, "decision": "take" if doubled else "double"}
        click.echo(json.dumps({**row, **found.row(), **effort_row(reading)}))
        return
    print_state(shown)
    click.echo("")
    click.echo("\n".join(found.lines(reading)))
    effort = f"{reading.effort.evaluations:,} evaluations in {reading.effort.seconds:.3g} s"
    click.echo(f"{evaluated_by(engine.name)}, {effort}" + (f"; {note}" if note else ""))
