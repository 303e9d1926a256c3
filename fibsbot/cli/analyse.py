"""`fibsbot analyse`: errors, luck and performance of both players of a match."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fibsbot.analysis.luck import luck_adjusted_result
from fibsbot.analysis.model import Grade, MatchAnalysis, PlayerStatistics, PlayOption, ResignationValues
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.analysis.skill import SkillLevel, pr_class
from fibsbot.cli.matches import (
    AnalysisRun,
    MatchSelection,
    SelectedMatch,
    checked_matches,
    evaluator_option,
    journal_option,
    match_options,
    plies_option,
)
from fibsbot.cli.options import WorkerOptions, engine_name, rollout_options, worker_options
from fibsbot.cli.output import print_lines
from fibsbot.drawing.markup import clean
from fibsbot.formats.conversion import reading_remarks
from fibsbot.report.skill_figures import SkillFigure, class_figure, cube_error_figures, skill_figures
from fibsbot.report.timeline import MatchTimeline, TimelineEntry, TimelineKind, match_timeline
from fibsbot.report.totals import MatchTotals
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import CHANCE_NAMES, Chances, CubeValues
from fibsbot.text import plural
from fibsbot.transcript import Transcript

MAX_ERRORS: Final = 10
"""Errors of a match listed by default."""
READ_AHEAD: Final = 5
"""Matches read before the first is analysed; if there are fewer, the progress bar knows the total."""
MAX_COLUMNS: Final = 80
"""Columns used at most, however wide the terminal is."""


@click.command()
@match_options()
@evaluator_option
@plies_option
@rollout_options
@click.option("--luck/--no-luck", default=True, help="Analyse the luck of each roll.")
@click.option(
    "--errors",
    metavar="N",
    default=MAX_ERRORS,
    show_default=True,
    type=click.IntRange(0),
    help="Number of errors to list.",
)
@worker_options
@journal_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per match, each on a line.")
def analyse(  # noqa: PLR0913 - one argument per option
    selection: MatchSelection,
    *,
    evaluator: str,
    plies: int | None,
    rollout: int | None,
    luck: bool,
    errors: int,
    workers: WorkerOptions,
    journal: Path | None,
    as_json: bool,
) -> None:
    """Analyse the errors and the luck of both players.

    FILE contains matches: a session log, a capture of any client, .mat, SGF, .xg, .bgf, oldmoves text, our own JSON;
    `-` is the standard input, a folder means all files below it. Each match gets a table of both players' errors, luck
    and performance rating (PR) and a list of the worst errors, with the position, what was played and what was best,
    and beside it the analysis in a .xg or .bgf file. The exit status is 1 if a match or a file had to be left out.

    `--player`, `--since`, `--kind`, `--class` and `--worse-than` select the errors that are listed. The figures of a
    match remain those of all its decisions.
    """
    name = engine_name("evaluator", evaluator, plies, rollout)
    totals = MatchTotals(selection.decisions, errors)
    remarks: list[str] = []
    listed = False
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, MAX_COLUMNS)
    with AnalysisRun.open(name, workers, journal, luck=luck) as work:
        found = checked_matches(selection, name)
        first = list(itertools.islice(found, READ_AHEAD))
        is_all, several = len(first) < READ_AHEAD, len(first) > 1
        analyses = work.analyses_of_all(first) if is_all else work.analyses(itertools.chain(first, found))
        for match, analysis in analyses:
            remarks += (f"{match.name}, {remark}" for remark in reading_remarks(analysis.transcript))
            if as_json:
                listed = True
                click.echo(json.dumps(match_row(match, analysis, selection.decisions, luck=luck)))
                continue
            if totals.matches:
                console.print()
            timeline = match_timeline(analysis, selection=selection.decisions)
            totals.add(timeline, match.short_name)
            for part in match_output(match.name, timeline, luck=luck, width=console.width):
                console.print(part, crop=False)
            for part in error_output(timeline, match.short_name if several else "", errors):
                console.print(part, crop=False)
    if totals.matches > 1:
        for part in totals_output(totals, luck=luck, width=console.width):
            console.print(part, crop=False)
    print_lines(remarks, err=True)
    if not (totals.matches or work.failed) and (selection.skipped if as_json and not listed else not as_json):
        raise selection.none_found()
    sys.exit(work.exit_status(selection))


NAME_WIDTH: Final = 20
"""Columns of a name."""
FIGURE_WIDTH: Final = 8
"""Columns that every figure has in any terminal."""
LABEL_WIDTH: Final = 14
"""Columns of the labels beside them in a narrow one, where they are wrapped."""
_GAP: Final = 3
"""Columns between two columns of a table: its padding, and the box's empty divider."""
_GRADES: Final = {Grade.DOUBTFUL: "doubtful", Grade.ERROR: "errors", Grade.BLUNDER: "blunders"}
_STYLES: Final[Mapping[Grade | None, str]] = {
    Grade.DOUBTFUL: "yellow",
    Grade.ERROR: "dark_orange",
    Grade.BLUNDER: "bold red",
}


# -- for people -----------------------------------------------------------------------------------------------------


def match_output(name: str, timeline: MatchTimeline, *, luck: bool, width: int) -> Iterator[RenderableType]:
    """Yield the figures of a match, for a terminal of this width."""
    analysis, transcript = timeline.analysis, timeline.analysis.transcript
    yield Text(_title(transcript), style="bold")
    yield Text(f"{clean(name, 60)}, evaluated by {analysis.evaluator}")
    if analysis.details:
        yield _unwrapped(clean(analysis.short_details, 300))  # --json has all of it
    if analysis.note:
        yield Text(analysis.note)
    yield ""
    rows = list(_figures(timeline, luck=luck))
    widest = max(len(cell) for _, cells in rows for cell in cells)
    table = _table(width, "", *(_name(transcript, seat) for seat in Seat), widest=widest)
    for label, cells in rows:
        table.add_row(label, *cells)
    yield table


def error_output(timeline: MatchTimeline, name: str, most: int) -> Iterator[RenderableType]:
    """Yield the worst of the selected errors, `most` at most, each with the name of the match if there is one."""
    errors, selection = sorted(timeline.errors, key=lambda entry: -entry.loss), timeline.selection
    if selection != GRADED:
        yield ""
        summary = selection.summary(len(errors), sum(entry.loss for entry in errors))
        yield Text(f"{summary}:" if errors and most else summary)
    elif errors and most:
        yield ""
        yield Text("worst errors:" if len(errors) > 1 else "error:")
    if errors and most:
        for entry in errors[:most]:
            yield from _error_lines(timeline.analysis.transcript, entry, name)
        if len(errors) > most:
            yield Text(f"and {len(errors) - most} more; --errors {len(errors)} shows them")


def _title(transcript: Transcript) -> str:
    names = " \N{EN DASH} ".join(_name(transcript, seat) for seat in Seat)
    what = f"match to {transcript.length}" if transcript.length else "unlimited match"
    if not transcript.is_backgammon:
        what = f"{transcript.rules.full_name}, {what}"
    games = len(transcript.games)
    scores = transcript.scores
    return f"{names}: {what}, {plural(games, 'game')}, {scores[0]} to {scores[1]}"


def _name(transcript: Transcript, seat: Seat) -> str:
    return clean(transcript.players[seat].name, NAME_WIDTH) or "?"


def _figures(timeline: MatchTimeline, *, luck: bool) -> Iterator[tuple[str, Sequence[str]]]:
    analysis = timeline.analysis
    both = analysis.figures
    yield "performance rating (PR)", [_rating(figures) for figures in both]
    yield _figure(class_figure(analysis))
    yield "decisions that count", [str(figures.decisions) for figures in both]
    yield "total loss", [f"{figures.loss:.3f}" for figures in both]
    yield "  by plays", [f"{figures.play_loss:.3f}" for figures in both]
    yield "  by the cube", [f"{figures.cube_loss:.3f}" for figures in both]
    stored = [_stored_loss(timeline, seat) for seat in Seat]
    if any(loss is not None for loss in stored):
        yield "  by the file's analysis", ["\N{EN DASH}" if loss is None else f"{loss:.3f}" for loss in stored]
    counts = [_counts(timeline, seat) for seat in Seat]
    for grade, label in _GRADES.items():
        yield f"{label} ({grade.value})", [str(count[grade]) for count in counts]
    yield from map(_figure, (*cube_error_figures(analysis), *skill_figures(analysis)))
    if luck:
        yield "luck", [_signed(figures.luck) for figures in both]
        yield "luck in points", [_signed(figures.luck_in_points) for figures in both]
        if analysis.transcript.length:
            yield "luck in winning chances", [f"{100 * figures.luck_in_chances:+.1f} %" for figures in both]
        adjusted = [luck_adjusted_result(analysis, seat) for seat in Seat]
        if None not in adjusted:
            yield "result without luck", [f"{100 * (chance or 0.0):.1f} %" for chance in adjusted]


def _figure(figure: SkillFigure) -> tuple[str, Sequence[str]]:
    indent = "  " if figure.is_part else ""
    return f"{indent}{figure.label}", [cell.replace("%", " %") for cell in figure.cells]


def _stored_loss(timeline: MatchTimeline, seat: Seat) -> float | None:
    """Return what a player lost by the analysis in the file; None without one."""
    decisions = (analysed.decision for game in timeline.analysis.games for analysed in game.decisions)
    losses = [decision.stored.loss for decision in decisions if decision.seat is seat and decision.stored]
    return sum(losses) if losses else None


def _counts(timeline: MatchTimeline, seat: Seat) -> dict[Grade, int]:
    found = [entry.grade for entry in timeline.entries if entry.analysed and entry.analysed.decision.seat is seat]
    return {grade: found.count(grade) for grade in Grade}


def _error_lines(transcript: Transcript, entry: TimelineEntry, match: str) -> Iterator[RenderableType]:
    assert entry.seat is not None  # noqa: S101 - errors are made by a player
    dice = f"{entry.numbers}: " if entry.numbers else ""
    text = Text(f"{entry.loss:6.3f} ")
    text.append(f"{entry.grade.value if entry.grade else '':2}", style=_STYLES.get(entry.grade, ""))
    place = f"{clean(match, 60)}, {_place(entry)}" if match else _place(entry)
    text.append(f"  {place}, {_name(transcript, entry.seat)}: {dice}{entry.words}")
    if entry.best:
        text.append(f"; best: {entry.best}")
    yield text
    yield from (_unwrapped(f"{'':11}{line}") for line in (*_evaluation_lines(entry), *_stored_lines(entry)))
    ids = entry.ids
    if ids:
        yield _unwrapped(f"{'':11}{next(iter(ids.values()))}", style="dim")


def _unwrapped(line: str, style: str = "") -> RenderableType:
    """Return a line that only the terminal wraps, so that an ID can be copied as a whole."""
    # `Console.print` makes a new text of a bare one, which forgets that it is not to be wrapped.
    return Group(Text(line, style=style, no_wrap=True, overflow="ignore"))


def _evaluation_lines(entry: TimelineEntry) -> Iterator[str]:
    """Yield the evaluations behind an error: plies, equities, and the chances of both players."""
    analysed = entry.analysed
    if analysed and analysed.options:
        best = analysed.options[0]
        made = next(option for option in analysed.options if option.text == analysed.decision.text)
        for label, value in (("best", best.value), ("made", made.value)):
            yield f"{_plies(value.plies)}{label} {value.equity:+.3f}{_chances(value.chances)}"
    elif analysed and analysed.cube:
        cube = analysed.cube
        worths = f"{cube.no_double:+.3f}, double/take {cube.double_take:+.3f}, double/pass {cube.double_pass:+.3f}"
        yield f"{_plies(cube.plies)}no double {worths}"
        if cube.chances:
            yield f"chances of the doubler:{_chances(cube.chances)}"
    elif analysed and analysed.resigning:
        settled, played_on = analysed.resigning.settled, analysed.resigning.played_on
        ending = "resigning" if entry.kind is TimelineKind.RESIGNATION else "accepting"
        yield f"{ending} {settled:+.3f}"
        yield f"{_plies(played_on.plies)}playing on {played_on.equity:+.3f}{_chances(played_on.chances)}"


def _stored_lines(entry: TimelineEntry) -> Iterator[str]:
    """Yield what the analysis in the file says of an error."""
    stored = entry.analysed.decision.stored if entry.analysed else None
    if stored:
        best = f", best: {clean(stored.best, 60)}" if stored.loss else ""
        yield f"{clean(stored.by, 30)} loss {stored.loss:.3f}{best}"


def _plies(plies: int | None) -> str:
    return "" if plies is None else f"{plies}-ply "


def _chances(chances: Chances | None) -> str:
    if chances is None:
        return ""
    own, theirs = (" ".join(f"{chance:.3f}" for chance in side) for side in (chances[:3], chances[3:]))
    return f"  {own} - {theirs}"


def _place(entry: TimelineEntry) -> str:
    return f"game {entry.step.game}, turn {entry.step.turn}"


def _table(width: int, label: str, *columns: str, widest: int = FIGURE_WIDTH) -> Table:
    """Return a table of labels and figures for this many columns of a terminal: names and labels give way first.

    It may be wider, and has to be printed with `crop=False`: lines that the terminal wraps lose no figure. `widest` is
    the width of the widest cell if there are words among the figures, which are cut last.
    """
    most = max(widest, (width - LABEL_WIDTH) // len(columns) - _GAP)
    least = FIGURE_WIDTH + (_GAP + FIGURE_WIDTH) * len(columns)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.width = least if width < least else None
    table.add_column(Text(label), min_width=FIGURE_WIDTH)
    for column in columns:
        table.add_column(Text(column), justify="right", no_wrap=True, min_width=FIGURE_WIDTH, max_width=most)
    return table


def _rating(figures: PlayerStatistics) -> str:
    return "\N{EN DASH}" if figures.pr is None else f"{figures.pr:.2f}"


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"


# -- several matches ------------------------------------------------------------------------------------------------


def totals_output(totals: MatchTotals, *, luck: bool, width: int) -> Iterator[RenderableType]:
    """Yield the totals over several matches, for a terminal of this width, and the worst errors of all."""
    yield ""
    yield totals_table(totals, luck=luck, width=width)
    if totals.unlisted:
        yield Text(totals.unlisted)
    if totals.selected:
        yield ""
        yield Text(f"all matches: {totals.selected}")
    if totals.worst:
        yield ""
        yield Text("worst errors of all:")
        for error in totals.worst:
            yield from _error_lines(error.transcript, error.entry, error.match)


def totals_table(totals: MatchTotals, *, luck: bool, width: int) -> Table:
    """Return a table of the totals, players with the most matches first."""
    table = _table(width, "player", "matches", "decisions", "loss", "PR", *(["luck"] if luck else []))
    for name, count, figures in totals.ranked:
        cells = [str(count), str(figures.decisions), f"{figures.loss:.3f}", _rating(figures)]
        table.add_row(Text(clean(name, NAME_WIDTH) or "?"), *cells, *([_signed(figures.luck)] if luck else []))
    return table


# -- for programs ---------------------------------------------------------------------------------------------------


def match_row(
    match: SelectedMatch, analysis: MatchAnalysis, selection: DecisionSelection, *, luck: bool
) -> dict[str, Any]:
    """Return the JSON object for a match, with all its errors that are selected, in order."""
    timeline, transcript = match_timeline(analysis, selection=selection), analysis.transcript
    place = {"match": match.name, "number": match.number}
    return {
        **place,
        "evaluator": analysis.evaluator,
        "details": analysis.details,
        "length": transcript.length,
        "score": list(transcript.scores),
        "games": len(transcript.games),
        "winner": None if transcript.winner is None else transcript.players[transcript.winner].name,
        "players": [_player(timeline, seat, luck=luck) for seat in Seat],
        "errors": [place | _error(transcript, entry) for entry in timeline.errors],
    }


def _player(timeline: MatchTimeline, seat: Seat, *, luck: bool) -> dict[str, Any]:
    analysis = timeline.analysis
    figures = analysis.figures_of(seat)
    row: dict[str, Any] = {"name": analysis.transcript.players[seat].name, "pr": _rounded(figures.pr)}
    sums = asdict(figures)
    kinds = sums.pop("cube_errors")
    row |= {key: _rounded(value) for key, value in sums.items() if luck or not key.startswith("luck")}
    row["cube_errors"] = {kind: {key: _rounded(value) for key, value in it.items()} for kind, it in kinds.items()}
    row |= {"pr_class": None if figures.pr is None else pr_class(figures.pr)}
    for kind in ("", "play_", "cube_"):
        level: SkillLevel | None = getattr(figures, f"{kind}level")
        row[f"{kind}error_rate"] = _rounded(getattr(figures, f"{kind}error_rate"))
        row[f"{kind}level"] = None if level is None else level.value
    row["estimated_rating"] = _rounded(analysis.estimated_rating(seat))
    row |= {_GRADES[grade]: count for grade, count in _counts(timeline, seat).items()}
    stored = _stored_loss(timeline, seat)
    row |= {} if stored is None else {"stored_loss": _rounded(stored)}
    return row | ({"result_without_luck": _rounded(luck_adjusted_result(analysis, seat))} if luck else {})


def _error(transcript: Transcript, entry: TimelineEntry) -> dict[str, Any]:
    ids = entry.ids
    stored = entry.analysed.decision.stored if entry.analysed else None
    return {
        "game": entry.step.game,
        "turn": entry.step.turn,
        "player": None if entry.seat is None else transcript.players[entry.seat].name,
        "kind": entry.kind.name.lower(),
        "dice": list(entry.roll.dice) if entry.roll else None,
        "made": entry.words,
        "best": entry.best or None,
        "loss": _rounded(entry.loss),
        "grade": entry.grade.value if entry.grade else None,
        "plays": [_play(option) for option in entry.analysed.options] if entry.analysed else [],
        "cube": _cube(entry.analysed.cube) if entry.analysed and entry.analysed.cube else None,
        "resigning": _resigning(entry.analysed.resigning) if entry.analysed and entry.analysed.resigning else None,
        "xgid": ids.get("XGID"),
        "gnubg_id": ids.get("GNUbg ID"),
        **({"board": ids["Board"]} if "Board" in ids else {}),
        **({"stored": asdict(stored)} if stored else {}),
    }


def _play(option: PlayOption) -> dict[str, Any]:
    return {
        "play": option.text,
        "plies": option.value.plies,
        "equity": _rounded(option.value.equity),
        "chances": _chances_row(option.value.chances),
    }


def _cube(cube: CubeValues) -> dict[str, Any]:
    worths = {"no_double": cube.no_double, "double_take": cube.double_take, "double_pass": cube.double_pass}
    return {"plies": cube.plies, **{key: _rounded(worth) for key, worth in worths.items()}} | {
        "chances": _chances_row(cube.chances)
    }


def _resigning(values: ResignationValues) -> dict[str, Any]:
    return {
        "settled": _rounded(values.settled),
        "played_on": _rounded(values.played_on.equity),
        "plies": values.played_on.plies,
        "chances": _chances_row(values.played_on.chances),
    }


def _chances_row(chances: Chances | None) -> dict[str, float | None] | None:
    return (
        None if chances is None else {key: _rounded(chance) for key, chance in zip(CHANCE_NAMES, chances, strict=True)}
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
