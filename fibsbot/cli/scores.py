"""`fibsbot best --scores` and `cube --scores`: the same decision at other scores, as text, JSON and a picture."""

from __future__ import annotations

import functools
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from attrs import frozen

from fibsbot.cli import UserError
from fibsbot.cli.cube_output import CubeOutput, double_output, take_output
from fibsbot.cli.evaluations import (
    SearchOptions,
    before_roll,
    check_may_double,
    deciding_engine,
    equity_row,
    evaluated_by,
    open_engine,
    round_number,
    stakes_of,
)
from fibsbot.cli.output import check_writable, progress_bar
from fibsbot.cli.positions import ids_of, print_state
from fibsbot.drawing.score_table import Cell, Mark, ScoreTable, score_table_lines, score_table_svg
from fibsbot.drawing.themes import ColourRole
from fibsbot.engine.scores import DEFAULT_AWAY, MOST_AWAY, Away, at_score, away_scores, has_score, unlimited
from fibsbot.files import os_errors_as
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import format_play
from fibsbot.text import plural

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.search import Ranking, SearchLimits
    from fibsbot.position import Play

LEAST_AWAY: Final = 2
PICTURE: Final = ".svg"
"""The extension of the picture's file."""
_COLOURS: Final = (
    ColourRole.SERIES_2,
    ColourRole.SERIES_1,
    ColourRole.SERIES_3,
    ColourRole.SERIES_4,
    ColourRole.SERIES_5,
)
"""Colours of the plays after the first; further ones are grey."""
_NOTHING: Final = Mark("-", "no use for a cube")
_ACTIONS: Final = {
    (CubeAction.ROLL, False): Mark("N", "no double"),
    (CubeAction.ROLL, True): Mark("TG", "too good to double", ColourRole.SERIES_2),
    (CubeAction.DOUBLE, False): Mark("DT", "double, take", ColourRole.SERIES_3),
    (CubeAction.DOUBLE, True): Mark("DP", "double, pass", ColourRole.SERIES_1),
    (CubeAction.TAKE, False): Mark("T", "take", ColourRole.SERIES_3),
    (CubeAction.PASS, False): Mark("P", "pass", ColourRole.SERIES_2),
    (CubeAction.BEAVER, False): Mark("B", "beaver", ColourRole.SERIES_1),
}
"""By the action, and whether the opponent should pass."""


class _AwayRange(click.ParamType[int]):
    """A number of points away."""

    name = "away"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the number; a position after the option without a number is taken for one."""
        text = str(value)
        if text.isascii() and text.isdigit() and LEAST_AWAY <= int(text[:4]) <= MOST_AWAY:
            return int(text)
        expected = f"a number from {LEAST_AWAY} to {MOST_AWAY}, or --scores at the end without one"
        raise click.BadParameter(f"expected {expected}, got {text!r}", ctx, param)


@frozen
class ScoreOptions:
    """The options of a table of scores."""

    most: int
    """Points away up to which scores are listed."""
    output: Path | None
    """The file of the picture."""


def score_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--scores` and `--output`, and call the command with `scores: ScoreOptions | None`."""

    @click.option(
        "--scores",
        metavar="[N]",
        is_flag=False,
        flag_value=str(DEFAULT_AWAY),
        type=_AwayRange(),
        help="Decide at other scores, too: a table up to N points away, "
        f"{LEAST_AWAY} to {MOST_AWAY}.  [default: {DEFAULT_AWAY}]",
    )
    @click.option(
        "-o",
        "--output",
        metavar="FILE.svg",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Draw the table of --scores as a picture, too.",
    )
    @functools.wraps(command)
    def with_scores(*arguments: Any, scores: int | None, output: Path | None, **options: Any) -> None:
        if output is not None:
            if scores is None:
                raise UserError("expected --output with --scores, got it without")
            if output.suffix.lower() != PICTURE:
                raise UserError(f"expected --output with a file whose name ends in {PICTURE}, got {str(output)!r}")
            check_writable(output)
        command(*arguments, scores=None if scores is None else ScoreOptions(scores, output), **options)

    return with_scores


# -- the scores of a table --------------------------------------------------------------------------------------------


@frozen
class Place:
    """A score at which a decision is made."""

    state: MatchState
    """The decision at this score."""
    at: tuple[int, int] | None = None
    """Row and column of the table; None beside it."""
    name: str = ""
    """The name of a decision beside the table."""
    here: bool = False
    """Whether this is the score of the position."""

    def row(self) -> dict[str, Any]:
        """Return the JSON fields of the score."""
        away = list(self.state.away) if self.state.length else None
        return {"away": away, "crawford": self.state.crawford, "here": self.here}


@frozen
class Scores:
    """The scores of a table, and those beside it."""

    axis: tuple[Away, ...]
    places: tuple[Place, ...]
    """The position's own one is first."""

    @classmethod
    def of(cls, state: MatchState, most: int, *, crawford: bool) -> Scores:
        """Return the scores up to `most` points away, with an unlimited match and the position's own score."""
        axis = tuple(away for away in away_scores(state, most) if crawford or not away.crawford)
        found = [
            Place(there, (row, column), here=has_score(state, mine, theirs))
            for row, mine in enumerate(axis)
            for column, theirs in enumerate(axis)
            if (there := at_score(state, mine, theirs))
        ]
        money = unlimited(state)
        laws = [name for name, applies in (("Jacoby", money.jacoby), ("beavers", money.redoubles > 0)) if applies]
        name = " with ".join(filter(None, ("unlimited", " and ".join(laws))))
        found.append(Place(money, name=name, here=not state.length))
        if not any(place.here for place in found):
            away = "-away, ".join(map(str, state.away))
            found.append(Place(state, name=f"{away}-away" + ", Crawford" * state.crawford, here=True))
        return cls(axis, tuple(sorted(found, key=lambda place: not place.here)))

    def table(self, title: str, cells: Sequence[Cell], notes: Sequence[str]) -> ScoreTable:
        """Return the table with the cell of each place."""
        found = tuple(zip(self.places, cells, strict=True))
        by_at = {place.at: cell for place, cell in found if place.at}
        numbers = range(len(self.axis))
        names = tuple(map(str, self.axis))
        both = any(away.crawford for away in self.axis)
        return ScoreTable(
            title=title,
            axes=("points that the player needs", "points that the opponent needs"),
            rows=names,
            columns=names,
            cells=tuple(tuple(by_at.get((row, column)) for column in numbers) for row in numbers),
            others=tuple((place.name, cell) for place, cell in found if not place.at),
            notes=(*notes, "C: 1 point in the Crawford game; 1: after it" if both else "1: after the Crawford game"),
        )


_Decision = TypeVar("_Decision")


def _decisions(
    places: Sequence[Place], search: SearchOptions, decide: Callable[[Engine, SearchLimits, Place], _Decision]
) -> tuple[list[_Decision], dict[str, Any]]:
    """Let the engine decide at each score, with progress; return the decisions and the engine's name and time."""
    with open_engine(search.networks, warm=search.seconds is not None) as engine:
        deciding, limits = deciding_engine(engine, search)
    started = time.monotonic()
    found = []
    with progress_bar("scores") as show_progress:
        for place in places:
            found.append(decide(deciding, limits, place))
            show_progress(len(found), len(places))
    return found, {"evaluator": engine.name, "seconds": round(time.monotonic() - started, 4)}


def _print(shown: MatchState, table: ScoreTable, effort: Mapping[str, Any], note: str | None) -> None:
    print_state(shown)
    click.echo("")
    click.echo("\n".join(score_table_lines(table)))
    of_effort = f"{plural(table.count, 'score')} in {effort['seconds']:.3g} s"
    click.echo(f"{evaluated_by(effort['evaluator'])}, {of_effort}" + (f"; {note}" if note else ""))


def _draw(table: ScoreTable, output: Path | None) -> None:
    if output is not None:
        with os_errors_as(UserError, f"cannot write {output}"):
            output.write_text(score_table_svg(table), encoding="utf-8")


# -- plays ------------------------------------------------------------------------------------------------------------


def best_scores(state: MatchState, search: SearchOptions, options: ScoreOptions, *, as_json: bool) -> None:
    """Print the best play of a roll at each score, and write its picture."""
    from fibsbot.engine.search import PlayComparison  # noqa: PLC0415 - loads the engine

    if not state.has_choice:
        raise UserError("expected --scores with a roll that leaves a choice, got one with a single play at most")
    scores = Scores.of(state, options.most, crawford=True)
    own: list[Play] = []

    def rank(engine: Engine, limits: SearchLimits, place: Place) -> Ranking:
        also = own[0] if own else None
        ranking = engine.rank(place.state, limits=limits, compared=PlayComparison(1, 1, also=also))
        own.append(ranking.best.play)
        return ranking

    rankings, effort = _decisions(scores.places, search, rank)
    marks = _marks_of_plays(own, state)
    losses = [ranking.loss(next(ranked for ranked in ranking.plays if ranked.play == own[0])) for ranking in rankings]
    cells = [
        Cell(marks[play], None if play == own[0] else loss, here=place.here)
        for place, play, loss in zip(scores.places, own, losses, strict=True)
    ]
    roll = "".join(map(str, state.dice or ()))
    table = scores.table(
        f"Best play of {roll} by score", cells, ["after a letter: what A loses at this score, in normalised equity"]
    )
    _draw(table, options.output)
    if not as_json:
        _print(state, table, effort, None)
        return
    rows = [
        {
            **place.row(),
            "play": format_play(ranking.best.play, state.position),
            "moves": [[move.source, move.target] for move in ranking.best.play.moves],
            "plies": ranking.best.plies,
            "games": ranking.best.games,
            **equity_row(stakes_of(place.state), ranking.best.equity),
            "loss": round_number(loss),
        }
        for place, ranking, loss in zip(scores.places, rankings, losses, strict=True)
    ]
    click.echo(json.dumps({**ids_of(state), **effort, "dice": state.dice, "scores": rows}))


def _marks_of_plays(plays: Sequence[Play], state: MatchState) -> dict[Play, Mark]:
    """Return the mark of each play: A for the first of them, then by the number of scores at which it is best."""
    others = [play for play, _ in Counter(plays).most_common() if play != plays[0]]
    marks = {}
    for number, play in enumerate((plays[0], *others)):
        role = None if number == 0 else _COLOURS[number - 1] if number <= len(_COLOURS) else ColourRole.SERIES_6
        code = ("" if number < 26 else chr(ord("A") + number // 26 - 1)) + chr(ord("A") + number % 26)
        marks[play] = Mark(code, format_play(play, state.position), role)
    return marks


# -- the cube ---------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class _CubeDecision:
    """The decision about the cube at a score; `found` is None where the cube is of no use."""

    mark: Mark = _NOTHING
    found: CubeOutput | None = None

    @property
    def margin(self) -> float | None:
        """What the second-best action loses: doubling against not doubling, with the right answer, or two answers."""
        if self.found is None:
            return None
        worths = list(self.found.worths.values())
        if self.found.answer is not None:
            return abs(worths[0] - min(worths[1:]))
        best, second = sorted(worths, reverse=True)[:2]
        return best - second

    def row(self) -> dict[str, Any]:
        """Return the JSON fields."""
        names = ("verdict", "action", "answer", "actions")
        row = self.found.row() if self.found else {}
        margin = None if self.margin is None else round_number(self.margin)
        return {**{name: row.get(name) for name in names}, "margin": margin}


def cube_scores(state: MatchState, search: SearchOptions, options: ScoreOptions, *, as_json: bool) -> None:
    """Print the right cube action at each score, and write its picture."""
    doubled = state.phase is Phase.DOUBLED
    rolling, note = before_roll(state)
    shown = state if doubled else rolling
    scores = Scores.of(shown, options.most, crawford=False)
    if not any(map(_has_use, scores.places)):
        check_may_double(rolling, "a cube that can be turned")

    def decide(engine: Engine, limits: SearchLimits, place: Place) -> _CubeDecision:
        if not _has_use(place):
            return _CubeDecision()
        there = before_roll(place.state)[0]
        reading = engine.analyse_cube(there, limits)
        if doubled:
            found = take_output(place.state, reading)
            return _CubeDecision(_ACTIONS[found.action, False], found)
        found = double_output(there, reading)
        should_pass = reading.verdict.too_good if found.action is CubeAction.ROLL else found.answer is CubeAction.PASS
        return _CubeDecision(_ACTIONS[found.action, should_pass], found)

    decisions, effort = _decisions(scores.places, search, decide)
    cells = [
        Cell(decision.mark, decision.margin, here=place.here)
        for place, decision in zip(scores.places, decisions, strict=True)
    ]
    second = "the second-best answer loses" if doubled else "the other loses, doubling or not doubling"
    title = "Answer to a double by score" if doubled else "Cube action by score"
    table = scores.table(title, cells, [f"after it: what {second}, in normalised equity"])
    _draw(table, options.output)
    if not as_json:
        _print(shown, table, effort, None if doubled else note)
        return
    rows = [{**place.row(), **decision.row()} for place, decision in zip(scores.places, decisions, strict=True)]
    head = {"note": None if doubled else note, "decision": "take" if doubled else "double"}
    click.echo(json.dumps({**ids_of(shown), **effort, **head, "scores": rows}))


def _has_use(place: Place) -> bool:
    """Return whether the player who may double, or has doubled, can turn the cube and has a use for it."""
    state = before_roll(place.state)[0]
    return stakes_of(state).can_double(state.owner)
