"""The figures of a match: performance, luck, games, the worst errors and the greatest luck, and the equity graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from fibsbot.draw.markup import clean
from fibsbot.draw.plot import Dot, Mark, Series, Theme, Tick, curve_svg
from fibsbot.draw.themes import Role
from fibsbot.report.markup import Child, Html, joined, tag
from fibsbot.report.sheet import CLASSES, name, plain_name, signed
from fibsbot.report.stops import LUCKY, THRESHOLDS, Grade, Kind, MatchSheet, Stop
from fibsbot.rules.state import Seat
from fibsbot.study.model import Figures
from fibsbot.transcript import Transcript

WORST: Final = 6
"""Errors that are shown with their boards."""
LUCKIEST: Final = 6
"""Throws."""
HIGHEST: Final = 1.5
"""Normalised equity from which on the graph is cut off: a gammon that nobody can miss makes the rest flat otherwise."""
SIZES: Final = {"wide": (1180, 220), "narrow": (400, 230)}
"""The graph is there twice, because text in a picture shrinks with it."""
NONE: Final = "\N{EN DASH}"


def equity_graph(match: MatchSheet) -> Html:
    """Draw how the equity went, seen by the player of the first column; its x axis counts the stops from 0."""
    values = [_equity(stop) for stop in match.stops]
    if all(map(math.isnan, values)):
        return Html("")
    name_a = plain_name(match.study.transcript, Seat.A)
    starts, place = [], 0
    for game in match.games:
        starts.append(Mark(place, f"Game {game.number}"))
        place += len(game.stops)
    breaks = {int(mark.x) for mark in starts[1:]}
    curve = [
        point
        for index, value in enumerate(values)
        for point in ([(index - 0.5, math.nan)] if index in breaks else []) + [(index, value)]
    ]
    dots = list(_dots(match, values))
    pictures = (
        tag("div", Html(_curve(curve, starts, dots, _turns(match, size[0]), name_a, size)), class_=f"plot {kind}")
        for kind, size in SIZES.items()
    )
    caption = tag(
        "figcaption",
        "Equity as ",
        name(match.study.transcript, Seat.A),
        f" sees it, turn by turn; beyond {HIGHEST:g} it is cut off. Circles are doubtful decisions, errors and "
        "blunders, squares are doubles and their answers.",
    )
    return tag("figure", *pictures, caption, class_="graph")


_DOTS: Final = {Grade.DOUBTFUL: Role.SERIES_5, Grade.ERROR: Role.SERIES_2, Grade.BLUNDER: Role.SERIES_4}
"""Colours of errors in the graph."""
_EVERY: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Turns from one that is written along the axis to the next."""
_APART: Final = 60
"""Width that a turn along the axis may take."""


def _dots(match: MatchSheet, values: list[float]) -> Iterator[Dot]:
    """Yield a dot for each error and each double or answer."""
    for index, (stop, value) in enumerate(zip(match.stops, values, strict=True)):
        cube = stop.kind in {Kind.DOUBLE, Kind.ANSWER}
        if math.isnan(value) or stop.seat is None or not (stop.grade or cube):
            continue
        text = f"{_where(stop)}: {plain_name(match.study.transcript, stop.seat)} {stop.words}"
        if stop.grade:
            text += f" {stop.grade.value} {stop.loss:.3f}"
        yield Dot(index, value, text, _DOTS[stop.grade] if stop.grade else Role.CUBE, square=cube)


def _turns(match: MatchSheet, width: int) -> list[Tick]:
    """Return the turns to be written along an axis of some width: those of each game, as everywhere else."""
    turns = [(index, stop.step.turn) for index, stop in enumerate(match.stops) if stop.kind is Kind.THROW]
    room = max(1, width // _APART)
    every = next((it for it in _EVERY if sum(turn % it == 0 for _, turn in turns) <= room), _EVERY[-1])
    return [Tick(index, str(turn)) for index, turn in turns if turn % every == 0]


def _curve(  # noqa: PLR0913, PLR0917 - what a graph is made of
    curve: list[tuple[float, float]],
    marks: list[Mark],
    dots: list[Dot],
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
        marks=marks,
        dots=dots,
        x_ticks=turns,
        y_range=(-1.0, 1.0),
        zero=True,
        theme=Theme.PAGE,
        width=width,
        height=height,
    )


def _equity(stop: Stop) -> float:
    """Return the equity of what was done, seen by A; no number where it is not known."""
    if stop.judged is None or stop.judged.equity is None:
        return math.nan
    value = max(-HIGHEST, min(HIGHEST, stop.judged.equity))
    return value if stop.judged.decision.seat is Seat.A else -value


def row(label: Child, *cells: Child, explained: str | None = None) -> Html:
    """Return a row of a table, with its heading."""
    return tag("tr", tag("th", label, scope="row", title=explained), *(tag("td", cell) for cell in cells))


def table(caption: str, columns: tuple[Child, ...], body: Iterable[Html], class_: str = "figures") -> Html:
    """Return a table that scrolls by itself where it is too wide."""
    head = tag("thead", tag("tr", *(tag("th", it, scope="col") for it in columns)))
    return tag("div", tag("table", tag("caption", caption), head, tag("tbody", *body), class_=class_), class_="scroll")


def rating(figures: Figures) -> str:
    """Write a performance rating."""
    return NONE if figures.pr is None else f"{figures.pr:.1f}"


def performance(match: MatchSheet, *, luck: bool) -> Html:
    """Return what each player did in the match, summed up."""
    both = match.study.figures
    counts = [_grades(match, seat) for seat in Seat]

    def line(label: str, write: Callable[[Figures], str], explained: str | None = None) -> Html:
        return row(label, *map(write, both), explained=explained)

    rows = [
        line("Performance rating (PR)", rating, "500 times the mean loss of a decision: the lower, the better"),
        line("Decisions that count", lambda it: str(it.decisions)),
        line("Loss in all", lambda it: f"{it.loss:.3f}"),
        line("of it by plays", lambda it: f"{it.play_loss:.3f}"),
        line("of it by the cube", lambda it: f"{it.cube_loss:.3f}"),
        *(row(f"{word} ({it.value})", *(count[it] for count in counts)) for it, word in _GRADES.items()),
    ]
    if luck:
        rows += _luck_rows(match)
    columns = ("", *(name(match.study.transcript, seat) for seat in Seat))
    judged = f"judged by {clean(match.study.judge)}"
    details = f" ({clean(match.study.details)})" if match.study.details else ""
    return table(f"Performance, {judged}{details}", columns, rows)


_GRADES: Final = {Grade.DOUBTFUL: "Doubtful decisions", Grade.ERROR: "Errors", Grade.BLUNDER: "Blunders"}


def _grades(match: MatchSheet, seat: Seat) -> dict[Grade, int]:
    found = [it.grade for it in match.stops if it.judged and it.judged.decision.seat is seat]
    return {it: found.count(it) for it in Grade}


def _luck_rows(match: MatchSheet) -> Iterator[Html]:
    both, transcript = match.study.figures, match.study.transcript
    yield row("Luck", *(signed(it.luck) for it in both), explained="Normalised equity, over all throws")
    yield row("Luck in points", *(signed(it.luck_in_points, 2) for it in both), explained="Luck times the cube")
    results = [it.game.result for it in match.games if it.game.result]
    won = [sum(it.points for it in results if it.winner is seat) for seat in Seat]
    yield row("Points won", *won)
    net = both[0].luck_in_points - both[1].luck_in_points
    adjusted = won[0] - won[1] - net
    explained = "Points won less points lost, less what luck brought"
    yield row("Luck-adjusted points", signed(adjusted, 2), signed(-adjusted, 2), explained=explained)
    if transcript.length and transcript.winner is not None:
        chance = (transcript.winner is Seat.A) - both[0].luck_in_chances + both[1].luck_in_chances
        explained = "The result, 100% or 0%, less what luck brought"
        yield row("Luck-adjusted result", f"{chance:.1%}", f"{1 - chance:.1%}", explained=explained)


def by_game(match: MatchSheet, *, luck: bool) -> Html:
    """Return a line for each game: who won, how well both played, and their luck."""
    transcript = match.study.transcript
    names = [name(transcript, seat) for seat in Seat]
    rows = []
    for sheet in match.games:
        won = sheet.game.result
        told = joined(names[won.winner], f" +{won.points}") if won else Html(NONE)
        lucks = [" : ".join(signed(it.luck, 2) for it in sheet.figures)] if luck else []
        link = tag("a", sheet.number, href=f"#{match.anchor}g{sheet.number}")
        rows.append(row(link, told, " : ".join(map(rating, sheet.figures)), *lucks))
    columns = ("Game", "Winner", "PR", *(["Luck"] if luck else []))
    return table("By game, the player of the first column first", columns, rows)


def worst(match: MatchSheet) -> Html:
    """Return the decisions that cost most, each with its board, which the script draws."""
    bad = sorted((it for it in match.stops if it.grade), key=lambda it: -it.loss)[:WORST]
    if not bad:
        return tag("p", f"No decision cost {THRESHOLDS[Grade.DOUBTFUL]:g} or more.", class_="note")
    return tag("ol", *(_card(match, it, _bad(match.study.transcript, it)) for it in bad), class_="cards")


def luckiest(match: MatchSheet) -> Html:
    """Return the throws that changed most."""
    throws = [(abs(it.luck), it) for it in match.stops if it.luck is not None and abs(it.luck) >= LUCKY]
    throws.sort(key=lambda it: -it[0])
    if not throws:
        return tag("p", f"No throw changed the equity by {LUCKY:g} or more.", class_="note")
    rows = [_lucky(match, it) for _, it in throws[:LUCKIEST]]
    return table("Greatest luck", ("", "Throw", "Luck"), rows, "figures lucky")


def _lucky(match: MatchSheet, stop: Stop) -> Html:
    dice = stop.throw.numbers if stop.throw else ""
    who = name(match.study.transcript, stop.seat) if stop.seat is not None else None
    return row(_place(match, stop), joined(who, " ", tag("b", dice), " ", stop.words), signed(stop.luck or 0.0))


def _place(match: MatchSheet, stop: Stop) -> Html:
    return tag("a", _where(stop), href=f"#{match.link(stop)}")


def _where(stop: Stop) -> str:
    return f"Game {stop.step.game}, turn {stop.step.turn}"


def _bad(transcript: Transcript, stop: Stop) -> Iterator[Html | str]:
    if stop.seat is not None:
        yield name(transcript, stop.seat)
    yield " "
    if stop.throw:
        yield tag("b", stop.throw.numbers)
        yield " "
    yield stop.words
    yield tag(
        "em",
        f"{stop.grade.value if stop.grade else ''} {stop.loss:.3f}",
        class_=CLASSES.get(stop.grade or Grade.DOUBTFUL),
    )
    if stop.best:
        yield tag("span", f"Best: {stop.best}")


def _card(match: MatchSheet, stop: Stop, words: Iterator[Html | str]) -> Html:
    board = tag("div", class_="thumb", data_board=match.link(stop))
    ids = stop.ids.get("XGID")
    return tag("li", _place(match, stop), board, tag("p", *words), tag("code", ids) if ids else None)
