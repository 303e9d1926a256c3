"""The statistics of a match: performance, luck, games, errors, rolls, dice, and the equity graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from fibsbot.analysis.dice import DOUBLET_CHANCE, ChiSquare, DiceStatistics, dice_statistics
from fibsbot.analysis.luck import luck_adjusted_result
from fibsbot.analysis.model import GRADE_THRESHOLDS, LUCK_THRESHOLD, Grade, PlayerStatistics
from fibsbot.analysis.selection import GRADED
from fibsbot.drawing.axes import Tick
from fibsbot.drawing.html import Child, Html, join_html, tag
from fibsbot.drawing.markup import clean
from fibsbot.drawing.plot import Annotation, Bar, Marker, Series, bars_svg, curve_svg
from fibsbot.drawing.themes import ColourRole, Theme
from fibsbot.report.score_sheet import CLASSES, format_signed, plain_player_name, player_name
from fibsbot.report.skill_figures import NO_VALUE, SkillFigure, class_figure, cube_error_figures, skill_figures
from fibsbot.report.timeline import MatchTimeline, TimelineEntry, TimelineKind
from fibsbot.rules.general_plays import rolls
from fibsbot.rules.state import Seat
from fibsbot.text import predicate
from fibsbot.transcript import Transcript

WORST_SHOWN: Final = 6
"""Errors shown with their boards."""
LUCKIEST_SHOWN: Final = 6
"""Rolls."""
GRAPH_LIMIT: Final = 1.5
"""Normalised equity at which the graph is cut off, so that a certain gammon does not flatten the rest."""
GRAPH_SIZES: Final = {"wide": (1180, 220), "narrow": (400, 230)}
"""The graph is drawn twice, because its text is scaled with it."""


def equity_graph(match: MatchTimeline) -> Html:
    """Draw the equity of the player of the first column; the x axis counts entries from 0."""
    values = [_equity(entry) for entry in match.entries]
    if all(map(math.isnan, values)):
        return Html("")
    name_a = plain_player_name(match.analysis.transcript, Seat.A)
    starts, place = [], 0
    for game in match.games:
        starts.append(Annotation(place, f"Game {game.number}"))
        place += len(game.entries)
    breaks = {int(start.x) for start in starts[1:]}
    curve = [
        point
        for index, value in enumerate(values)
        for point in ([(index - 0.5, math.nan)] if index in breaks else []) + [(index, value)]
    ]
    markers = list(_markers(match, values))
    pictures = (
        tag("div", Html(_curve(curve, starts, markers, _turns(match, size[0]), name_a, size)), class_=f"plot {kind}")
        for kind, size in GRAPH_SIZES.items()
    )
    caption = tag(
        "figcaption",
        "Equity as ",
        player_name(match.analysis.transcript, Seat.A),
        f" {predicate(plain_player_name(match.analysis.transcript, Seat.A), 'sees')} it, turn by turn; beyond"
        f" {GRAPH_LIMIT:g} it is cut off. Circles are doubtful decisions, errors and "
        "blunders, squares are doubles and their answers.",
    )
    return tag("figure", *pictures, caption, class_="graph")


_MARKER_ROLES: Final = {
    Grade.DOUBTFUL: ColourRole.SERIES_5,
    Grade.ERROR: ColourRole.SERIES_2,
    Grade.BLUNDER: ColourRole.SERIES_4,
}
"""Colours of the grades in the graph."""
_TURN_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Steps between turns labelled on the axis."""
_TURN_WIDTH: Final = 60
"""Minimum width between labelled turns."""


def _markers(match: MatchTimeline, values: list[float]) -> Iterator[Marker]:
    """Yield a marker for each error and each double or answer."""
    for index, (entry, value) in enumerate(zip(match.entries, values, strict=True)):
        cube = entry.kind in {TimelineKind.DOUBLE, TimelineKind.ANSWER}
        if math.isnan(value) or entry.seat is None or not (entry.grade or cube):
            continue
        name = plain_player_name(match.analysis.transcript, entry.seat)
        text = f"{turn_label(entry)}: {name} {predicate(name, entry.words)}"
        if entry.grade:
            text += f" {entry.grade.value} {entry.loss:.3f}"
        yield Marker(index, value, text, _MARKER_ROLES[entry.grade] if entry.grade else ColourRole.CUBE, square=cube)


def _turns(match: MatchTimeline, width: int) -> list[Tick]:
    """Return the turns to label on an axis of this width, counted within each game."""
    turns = [(index, entry.step.turn) for index, entry in enumerate(match.entries) if entry.kind is TimelineKind.THROW]
    most = max(1, width // _TURN_WIDTH)
    every = next((step for step in _TURN_STEPS if sum(turn % step == 0 for _, turn in turns) <= most), _TURN_STEPS[-1])
    return [Tick(index, str(turn)) for index, turn in turns if turn % every == 0]


def _curve(  # noqa: PLR0913, PLR0917 - what a graph is made of
    curve: list[tuple[float, float]],
    annotations: list[Annotation],
    markers: list[Marker],
    turns: list[Tick],
    name_a: str,
    size: tuple[int, int],
) -> str:
    width, height = size
    return curve_svg(
        [Series(name_a, curve)],
        title="",
        x_label="turn",
        y_label=f"equity of {name_a}",
        annotations=annotations,
        markers=markers,
        x_ticks=turns,
        y_range=(-1.0, 1.0),
        zero=True,
        theme=Theme.PAGE,
        width=width,
        height=height,
    )


def _equity(entry: TimelineEntry) -> float:
    """Return the equity of an entry for A; nan if it is unknown."""
    if entry.analysed is None or entry.analysed.equity is None:
        return math.nan
    value = max(-GRAPH_LIMIT, min(GRAPH_LIMIT, entry.analysed.equity))
    return value if entry.analysed.decision.seat is Seat.A else -value


def table_row(label: Child, *cells: Child, explained: str | None = None) -> Html:
    """Return a table row with a heading."""
    return tag("tr", tag("th", label, scope="row", title=explained), *(tag("td", cell) for cell in cells))


def table(caption: str, columns: tuple[Child, ...], body: Iterable[Html], class_: str = "figures") -> Html:
    """Return a table that scrolls if it is too wide."""
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    return tag("div", tag("table", tag("caption", caption), head, tag("tbody", *body), class_=class_), class_="scroll")


def format_rating(figures: PlayerStatistics) -> str:
    """Format a performance rating."""
    return NO_VALUE if figures.pr is None else f"{figures.pr:.1f}"


def performance_table(match: MatchTimeline, *, luck: bool) -> Html:
    """Return the table of both players' totals."""
    both = match.analysis.figures
    counts = [_grades(match, seat) for seat in Seat]

    def line(label: str, write: Callable[[PlayerStatistics], str], explained: str | None = None) -> Html:
        return table_row(label, *map(write, both), explained=explained)

    rows = [
        line("Performance rating (PR)", format_rating, "500 times the mean loss of a decision: the lower, the better"),
        _figure_row(class_figure(match.analysis)),
        line("Decisions that count", lambda figures: str(figures.decisions)),
        line("Loss in all", lambda figures: f"{figures.loss:.3f}"),
        line("of it by plays", lambda figures: f"{figures.play_loss:.3f}"),
        line("of it by the cube", lambda figures: f"{figures.cube_loss:.3f}"),
        *(table_row(f"{word} ({grade.value})", *(count[grade] for count in counts)) for grade, word in _GRADES.items()),
    ]
    if luck:
        rows += _luck_rows(match)
    columns = ("", *(player_name(match.analysis.transcript, seat) for seat in Seat))
    analysed = f"analysed by {clean(match.analysis.evaluator)}"
    details = f" ({clean(match.analysis.details)})" if match.analysis.details else ""
    return table(f"Performance, {analysed}{details}", columns, rows)


def skill_table(match: MatchTimeline) -> Html:
    """Return the table of what the errors cost, and of both players' levels."""
    columns = ("", *(player_name(match.analysis.transcript, seat) for seat in Seat))
    return table("Skill, as GNU Backgammon measures it", columns, map(_figure_row, skill_figures(match.analysis)))


def cube_table(match: MatchTimeline) -> Html | None:
    """Return the table of both players' errors with the cube; None if there were none."""
    rows = [_figure_row(figure) for figure in cube_error_figures(match.analysis)]
    columns = ("", *(player_name(match.analysis.transcript, seat) for seat in Seat))
    return table("Errors with the cube, and their loss", columns, rows) if rows else None


def _figure_row(figure: SkillFigure) -> Html:
    label = f"of it {figure.label}" if figure.label.startswith("by ") else figure.label
    return table_row(
        label if figure.is_part else label[0].upper() + label[1:], *figure.cells, explained=figure.explained
    )


_GRADES: Final = {Grade.DOUBTFUL: "Doubtful decisions", Grade.ERROR: "Errors", Grade.BLUNDER: "Blunders"}


def _grades(match: MatchTimeline, seat: Seat) -> dict[Grade, int]:
    found = [entry.grade for entry in match.entries if entry.analysed and entry.analysed.decision.seat is seat]
    return {grade: found.count(grade) for grade in Grade}


def _luck_rows(match: MatchTimeline) -> Iterator[Html]:
    both = match.analysis.figures
    yield table_row(
        "Luck", *(format_signed(figures.luck) for figures in both), explained="Normalised equity of all rolls"
    )
    yield table_row(
        "Luck in points",
        *(format_signed(figures.luck_in_points, 2) for figures in both),
        explained="Luck times the cube",
    )
    results = [sheet.game.result for sheet in match.games if sheet.game.result]
    won = [sum(result.points for result in results if result.winner is seat) for seat in Seat]
    yield table_row("Points won", *won)
    net = both[0].luck_in_points - both[1].luck_in_points
    adjusted = won[0] - won[1] - net
    explained = "Points won minus points lost, minus luck"
    yield table_row(
        "Luck-adjusted points", format_signed(adjusted, 2), format_signed(-adjusted, 2), explained=explained
    )
    chance = luck_adjusted_result(match.analysis, Seat.A)
    if chance is not None:
        explained = "The result, 100% or 0%, minus luck"
        yield table_row("Luck-adjusted result", f"{chance:.1%}", f"{1 - chance:.1%}", explained=explained)


def games_table(match: MatchTimeline, *, luck: bool) -> Html:
    """Return a row for each game: its winner, performance ratings and luck."""
    transcript = match.analysis.transcript
    names = [player_name(transcript, seat) for seat in Seat]
    rows = []
    for sheet in match.games:
        won = sheet.game.result
        winner = join_html(names[won.winner], f" +{won.points}") if won else Html(NO_VALUE)
        lucks = [" : ".join(format_signed(figures.luck, 2) for figures in sheet.figures)] if luck else []
        link = tag("a", sheet.number, href=f"#{match.anchor}g{sheet.number}")
        rows.append(table_row(link, winner, " : ".join(map(format_rating, sheet.figures)), *lucks))
    columns = ("Game", "Winner", "PR", *(["Luck"] if luck else []))
    return table("By game, the player of the first column first", columns, rows)


def worst_errors(match: MatchTimeline) -> Html:
    """Return the listed errors that cost most, each with a board that the script draws, and what is listed."""
    errors = sorted(match.errors, key=lambda entry: -entry.loss)
    if match.selection != GRADED:
        what = match.selection.summary(len(errors), sum(entry.loss for entry in errors))
        scope = "Lists of errors and practice have only these; all figures are those of the whole match."
        selected = tag("p", f"{what}. {scope}", class_="note")
    elif errors:
        selected = None
    else:
        selected = tag("p", f"No decision cost {GRADE_THRESHOLDS[Grade.DOUBTFUL]:g} or more.", class_="note")
    cards = [_card(match, entry, error_text(match.analysis.transcript, entry)) for entry in errors[:WORST_SHOWN]]
    return join_html(selected, tag("ol", *cards, class_="cards") if cards else None)


def luckiest_rolls(match: MatchTimeline) -> Html:
    """Return the rolls that changed the equity most."""
    rolls = [
        (abs(entry.luck), entry)
        for entry in match.entries
        if entry.luck is not None and abs(entry.luck) >= LUCK_THRESHOLD
    ]
    rolls.sort(key=lambda roll: -roll[0])
    if not rolls:
        return tag("p", f"No roll changed the equity by {LUCK_THRESHOLD:g} or more.", class_="note")
    rows = [_luck_row(match, entry) for _, entry in rolls[:LUCKIEST_SHOWN]]
    return table("Greatest luck", ("", "Roll", "Luck"), rows, "figures lucky")


def _luck_row(match: MatchTimeline, entry: TimelineEntry) -> Html:
    dice = entry.roll.numbers if entry.roll else ""
    who = player_name(match.analysis.transcript, entry.seat) if entry.seat is not None else None
    return table_row(
        _entry_link(match, entry),
        join_html(who, " ", tag("b", dice), " ", entry.words),
        format_signed(entry.luck or 0.0),
    )


def _entry_link(match: MatchTimeline, entry: TimelineEntry) -> Html:
    return tag("a", turn_label(entry), href=f"#{match.link(entry)}")


def turn_label(entry: TimelineEntry) -> str:
    """Return where an entry is, in words."""
    return f"Game {entry.step.game}, turn {entry.step.turn}"


def error_text(transcript: Transcript, entry: TimelineEntry) -> Iterator[Html | str]:
    """Yield what a player did wrong, what it cost and what was best; only the players of the match are needed."""
    words = entry.words
    if entry.seat is not None:
        yield player_name(transcript, entry.seat)
        words = predicate(plain_player_name(transcript, entry.seat), words)
    yield " "
    if entry.numbers:
        yield tag("b", entry.numbers)
        yield " "
    yield words
    yield tag(
        "em",
        f"{entry.grade.value} {entry.loss:.3f}" if entry.grade else f"{entry.loss:.3f}",
        class_=CLASSES.get(entry.grade or Grade.DOUBTFUL),
    )
    if entry.best:
        yield tag("span", f"Best: {entry.best}")


def _card(match: MatchTimeline, entry: TimelineEntry, words: Iterator[Html | str]) -> Html:
    board = tag("div", class_="thumb", data_board=match.link(entry))
    return tag("li", _entry_link(match, entry), board, tag("p", *words), position_code(entry))


def position_code(entry: TimelineEntry) -> Html | None:
    """Return the position of an entry as other programs read it; None if there is no such text."""
    ids = entry.ids.get("XGID") or entry.ids.get("Board")
    return tag("code", ids) if ids else None


def dice_section(transcript: Transcript) -> Html:
    """Return the dice statistics of both players."""
    both = dice_statistics(transcript)
    if not any(dice.rolls for dice in both):
        return tag("p", "No rolls other than opening rolls were seen.", class_="note")
    charts = (
        tag("div", Html(_chart(plain_player_name(transcript, seat), both[seat])), class_="plot-alone") for seat in Seat
    )
    faces = table("Count of each number", *_face_rows(transcript, both))
    figures = table("Rolls without opening rolls", *_dice_rows(transcript, both))
    explained = (
        "p is the probability that fair dice come out at least as uneven as these: in one match of 20 it is below 0.05."
        " It is called rough if there were too few rolls for the test to be exact."
    )
    return join_html(
        tag("div", figures, faces, class_="tables"),
        tag("div", *charts, class_="tables charts"),
        tag("p", explained, class_="note"),
    )


def _dice_rows(
    transcript: Transcript, both: tuple[DiceStatistics, DiceStatistics]
) -> tuple[tuple[Html | str, ...], list[Html]]:
    def line(label: str, write: Callable[[DiceStatistics], str]) -> Html:
        return table_row(label, *map(write, both))

    two, plain = both[0].dice == 2, transcript.is_backgammon
    entered = "Entered from the bar (expected)"
    rows = [
        line("Rolls", lambda dice: str(dice.rolls)),
        two and line(f"Doublets (1 in {1 / DOUBLET_CHANCE:.0f} expected)", _doublets),
        plain
        and line("Pips in a roll (8.17 expected)", lambda dice: NO_VALUE if dice.pips is None else f"{dice.pips:.2f}"),
        plain and line(entered, lambda dice: f"{dice.entered} of {dice.from_bar} ({dice.expected_entered:.1f})"),
        two
        and line("Doublets in a row (chance)", lambda dice: f"{dice.doublets_in_a_row} ({_percent(dice.run_chance)})"),
        line(f"Chi-square of the {len(both[0].counts)} rolls", lambda dice: _statistic(dice.rolls_test)),
        line("its p", lambda dice: _p_value(dice.rolls_test)),
        line("Chi-square of the 6 numbers", lambda dice: _statistic(dice.faces_test)),
        line("its p", lambda dice: _p_value(dice.faces_test)),
    ]
    return ("", *(player_name(transcript, seat) for seat in Seat)), [row for row in rows if row]


def _doublets(dice: DiceStatistics) -> str:
    return f"{dice.doublets} ({dice.doublets / dice.rolls:.0%})" if dice.rolls else NO_VALUE


def _percent(chance: float) -> str:
    return f"{chance:.0%}" if chance >= 0.01 else f"{chance:.2%}"


def _statistic(test: ChiSquare | None) -> str:
    return NO_VALUE if test is None else f"{test.statistic:.1f}"


def _p_value(test: ChiSquare | None) -> str:
    if test is None:
        return NO_VALUE
    p = f"{test.p_value:.3f}" if test.p_value >= 0.001 else "< 0.001"
    return p if test.reliable else f"{p} (rough)"


def _face_rows(
    transcript: Transcript, both: tuple[DiceStatistics, DiceStatistics]
) -> tuple[tuple[Html | str, ...], list[Html]]:
    rows = [
        table_row(player_name(transcript, seat), *both[seat].faces, f"{sum(both[seat].faces) / 6:.1f}") for seat in Seat
    ]
    return ("", *map(str, range(1, 7)), "Mean"), rows


def _chart(who: str, statistics: DiceStatistics) -> str:
    return bars_svg(
        list(_bars(statistics)),
        title=f"{who}: count of each roll",
        theme=Theme.PAGE,
        width=520,
        height=210,
    )


def _bars(statistics: DiceStatistics) -> Iterator[Bar]:
    """Yield a bar for each roll, with the expected count."""
    all_rolls = rolls(statistics.dice)
    ways_of_all = sum(ways for _, ways in all_rolls)
    for (dice, ways), count in zip(all_rolls, statistics.counts, strict=True):
        yield Bar("".join(map(str, dice)), count, expected=statistics.rolls * ways / ways_of_all)
