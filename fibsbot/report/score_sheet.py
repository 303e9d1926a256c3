"""The score sheet: a column per player, as in a `.mat` file; each entry is a link to its position."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import define, field

from fibsbot.analysis.model import LUCK_THRESHOLD, Grade
from fibsbot.drawing.html import Html, join_html, tag
from fibsbot.drawing.markup import clean
from fibsbot.report.timeline import GameTimeline, MatchTimeline, TimelineEntry, TimelineKind
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending, GameState, Result, Seat
from fibsbot.text import plural, predicate
from fibsbot.transcript import Game, Transcript

CLASSES: Final = {Grade.DOUBTFUL: "doubtful", Grade.ERROR: "error", Grade.BLUNDER: "blunder"}
"""CSS classes of the grades, also used as words."""
REBUILT: Final = "rebuilt: not seen, but the only thing that can have happened between two boards"
GOOD_LUCK: Final = "\N{BLACK UP-POINTING SMALL TRIANGLE}"
BAD_LUCK: Final = "\N{BLACK DOWN-POINTING SMALL TRIANGLE}"
_ENDINGS: Final = {Ending.DROPPED: "double dropped", Ending.RESIGNED: "resignation"}


NAME_LENGTH: Final = 40
"""Characters of a name at most: names in files of other programs may be so long that no board fits the screen."""


def player_name(transcript: Transcript, seat: Seat) -> Html:
    """Return a player's name, isolated from the text direction around it."""
    return tag("bdi", plain_player_name(transcript, seat))


def plain_player_name(transcript: Transcript, seat: Seat) -> str:
    """Return a player's name as printable text, shortened if it is long."""
    return clean(transcript.players[seat].name, NAME_LENGTH) or "?"


def format_signed(value: float, digits: int = 3) -> str:
    """Format a number with its sign; the minus is as wide as the plus."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text.replace("-", "+")


def format_time(at: dt.datetime, form: str = "%Y-%m-%d %H:%M") -> str:
    """Format a time in UTC."""
    return f"{at.astimezone(dt.UTC) if at.tzinfo else at:{form}}"


def format_points(count: int) -> str:
    """Format a number of points."""
    return plural(count, "point")


@define
class SheetRow:
    """A row of the sheet: entries of A, then of B; or a gap gap both columns."""

    left: list[TimelineEntry] = field(factory=list)
    right: list[TimelineEntry] = field(factory=list)
    gap: TimelineEntry | None = None


def sheet_rows(entries: Iterable[TimelineEntry]) -> list[SheetRow]:
    """Arrange entries in two columns; time runs from left to right and downwards."""
    rows: list[SheetRow] = []
    last: TimelineEntry | None = None
    for entry in entries:
        if entry.seat is None:
            rows.append(SheetRow(gap=entry))
        elif last and (last.kind is TimelineKind.NO_DOUBLE or _is_same_turn(last, entry)):
            # in the same cell: a roll after the decision not to double, and all parts of a turn
            (rows[-1].left if entry.seat is Seat.A else rows[-1].right).append(entry)
        elif entry.seat is Seat.A or not rows or rows[-1].right or rows[-1].gap:
            rows.append(SheetRow([entry], []) if entry.seat is Seat.A else SheetRow([], [entry]))
        else:
            rows[-1].right.append(entry)
        last = entry
    return rows


def _is_same_turn(before: TimelineEntry, entry: TimelineEntry) -> bool:
    """Return whether an entry is a further part of a turn, as some games have them."""
    parts = {TimelineKind.THROW, TimelineKind.CONTINUATION, TimelineKind.NAME}
    same = before.seat is entry.seat and before.step.turn == entry.step.turn
    return same and before.kind in parts and entry.kind in parts


def score_sheet(match: MatchTimeline, level: int = 4) -> Html:
    """Return all games of a match as tables; `level` is that of their headings."""
    if not match.games:
        return tag("p", "No game of this match was seen.", class_="note")
    return join_html(*(_game_section(match, game, level) for game in match.games))


def _game_section(match: MatchTimeline, sheet: GameTimeline, level: int) -> Html:
    transcript, game = match.analysis.transcript, sheet.game
    anchor = f"{match.anchor}g{sheet.number}"
    heading = tag(
        f"h{level}", f"Game {sheet.number} ", tag("small", *_score(transcript, game)), id=anchor, class_="number"
    )
    head = tag(
        "thead",
        tag(
            "tr",
            *(tag("th", player_name(transcript, seat), scope="col") for seat in Seat),
        ),
    )
    body = tag("tbody", *_table_body(match, sheet_rows(sheet.entries)))
    end = sheet.entries[-1].step.after if sheet.entries else game.start
    result = tag("p", *_result(transcript, game, end), class_="result")
    begins = None if game.has_beginning else _beginning(game)
    return tag("section", heading, begins, tag("table", head, body), result, class_="game", aria_labelledby=anchor)


def _score(transcript: Transcript, game: Game) -> Iterator[Html | str]:
    a, b = game.start.scores
    yield player_name(transcript, Seat.A)
    yield f" {a} \N{EN DASH} {b} "
    yield player_name(transcript, Seat.B)
    if game.start.crawford:
        yield ", Crawford game"


def _beginning(game: Game) -> Html:
    return tag("p", f"First seen in turn {game.start.turns + 1}: what came before is missing.", class_="gap")


def _result(transcript: Transcript, game: Game, end: GameState) -> Iterator[Html | str]:
    if end.drawn:
        yield f"A draw: {end.reason}."
        return
    if game.result is None:
        yield "Not seen to its end."
        return
    yield player_name(transcript, game.result.winner)
    wins = predicate(plain_player_name(transcript, game.result.winner), "wins")
    points = format_points(game.result.points)
    if end.reason and not is_backgammon(end.rules):
        yield f" {wins} {points}, having {end.reason}"
        return
    yield f" {wins} {points}{_ending(game.result, by_points=game.start.laws.point_game)}"


def _ending(result: Result, *, by_points: bool) -> str:
    """Return how a game has ended; in the Point Game, `by_points`, gammons are nothing special."""
    level = "" if by_points or result.level is Level.SINGLE else result.level.name.lower()
    words = [word for word in (level, _ENDINGS.get(result.how)) if word]
    return f" ({', '.join(words)})" if words else ""


def _table_body(match: MatchTimeline, rows: list[SheetRow]) -> Iterator[Html]:
    for row in rows:
        if row.gap:
            yield tag("tr", tag("td", _link(match, row.gap), colspan=2), class_="gap")
            continue
        cells = (tag("td", *(_link(match, entry) for entry in side)) for side in (row.left, row.right))
        yield tag("tr", *cells)


def _link(match: MatchTimeline, entry: TimelineEntry) -> Html:
    link = match.link(entry)
    grade = CLASSES[entry.grade] if entry.grade else None
    rebuilt = entry.step.entry.rebuilt
    classes = " ".join(name for name in ("entry", grade, "rebuilt" if rebuilt else None) if name)
    return tag("a", *_entry_text(entry), href=f"#{link}", id=link, class_=classes, title=REBUILT if rebuilt else None)


def _entry_text(entry: TimelineEntry) -> Iterator[Html | str]:
    if entry.kind is not TimelineKind.GAP:
        yield tag("small", entry.step.turn, title=f"turn {entry.step.turn}")
    if entry.numbers:
        yield join_html(tag("b", entry.numbers), _luck(entry.luck or 0.0), " ")
    yield tag("span", f"Gap: {clean(entry.words, 200)}" if entry.kind is TimelineKind.GAP else entry.words)
    if entry.step.entry.rebuilt:
        yield tag("i", "\N{DEGREE SIGN}")
    if entry.grade or entry.listed:
        sign, title = (f"{entry.grade.value} ", CLASSES[entry.grade]) if entry.grade else ("", None)
        yield tag("em", sign + f"{entry.loss:.3f}".removeprefix("0"), title=title)


def _luck(luck: float) -> Html | None:
    if abs(luck) < LUCK_THRESHOLD:
        return None
    sign, word = (GOOD_LUCK, "good") if luck > 0 else (BAD_LUCK, "bad")
    return tag("i", sign, title=f"{word} luck, {format_signed(luck, 2)}")
