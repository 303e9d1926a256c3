"""The score sheet: two columns, as on paper and in a `.mat` file, each entry a link to its position."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import define, field

from fibsbot.draw.markup import clean
from fibsbot.report.markup import Html, joined, tag
from fibsbot.report.stops import LUCKY, GameSheet, Grade, Kind, MatchSheet, Stop
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Game, Transcript

CLASSES: Final = {Grade.DOUBTFUL: "doubtful", Grade.ERROR: "error", Grade.BLUNDER: "blunder"}
"""How the style sheet calls the grades; as words they are told to people too."""
REBUILT: Final = "rebuilt: not seen, but the only thing that can have happened between two boards"
GOOD: Final = "\N{BLACK UP-POINTING SMALL TRIANGLE}"
BAD: Final = "\N{BLACK DOWN-POINTING SMALL TRIANGLE}"
_LEVELS: Final = {Level.GAMMON: "gammon", Level.BACKGAMMON: "backgammon"}
_ENDINGS: Final = {Ending.DROPPED: "double dropped", Ending.RESIGNED: "resignation"}


def name(transcript: Transcript, seat: Seat) -> Html:
    """Return a player's name, which keeps its direction of writing to itself."""
    return tag("bdi", plain_name(transcript, seat))


def plain_name(transcript: Transcript, seat: Seat) -> str:
    """Return a player's name as printable text."""
    return clean(transcript.players[seat].name) or "?"


def signed(value: float, digits: int = 3) -> str:
    """Write a number with its sign; the minus is as wide as the plus."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else text.replace("-", "+")


def moment(at: dt.datetime, form: str = "%Y-%m-%d %H:%M") -> str:
    """Write a time, UTC."""
    return f"{at.astimezone(dt.UTC) if at.tzinfo else at:{form}}"


def points(count: int) -> str:
    """Write a number of points."""
    return f"{count} point{'' if count == 1 else 's'}"


@define
class Row:
    """A line of the sheet: what A did, then what B did; or something that is nobody's."""

    left: list[Stop] = field(factory=list)
    right: list[Stop] = field(factory=list)
    across: Stop | None = None


def rows(stops: Iterable[Stop]) -> list[Row]:
    """Lay stops out in two columns, in which time runs from the left to the right and downwards."""
    laid: list[Row] = []
    last: Stop | None = None
    for stop in stops:
        if stop.seat is None:
            laid.append(Row(across=stop))
        elif last and last.kind is Kind.NO_DOUBLE:  # belongs to the throw that follows
            (laid[-1].left if stop.seat is Seat.A else laid[-1].right).append(stop)
        elif stop.seat is Seat.A or not laid or laid[-1].right or laid[-1].across:
            laid.append(Row([stop], []) if stop.seat is Seat.A else Row([], [stop]))
        else:
            laid[-1].right.append(stop)
        last = stop
    return laid


def score_sheet(match: MatchSheet, level: int = 4) -> Html:
    """Return all games of a match as tables; `level` is that of their headings."""
    if not match.games:
        return tag("p", "No game of this match was seen.", class_="note")
    return joined(*(_game(match, game, level) for game in match.games))


def _game(match: MatchSheet, sheet: GameSheet, level: int) -> Html:
    transcript, game = match.study.transcript, sheet.game
    anchor = f"{match.anchor}g{sheet.number}"
    heading = tag(
        f"h{level}", f"Game {sheet.number} ", tag("small", *_score(transcript, game)), id=anchor, class_="number"
    )
    head = tag(
        "thead",
        tag(
            "tr",
            *(tag("th", name(transcript, seat), scope="col") for seat in Seat),
        ),
    )
    body = tag("tbody", *_body(match, rows(sheet.stops)))
    result = tag("p", *_result(transcript, game), class_="result")
    begins = None if game.start.stage is Stage.OPENING else _beginning(game)
    return tag("section", heading, begins, tag("table", head, body), result, class_="game", aria_labelledby=anchor)


def _score(transcript: Transcript, game: Game) -> Iterator[Html | str]:
    a, b = game.start.scores
    yield name(transcript, Seat.A)
    yield f" {a} \N{EN DASH} {b} "
    yield name(transcript, Seat.B)
    if game.start.crawford:
        yield ", Crawford game"


def _beginning(game: Game) -> Html:
    return tag("p", f"First seen in turn {game.start.turns + 1}: what came before is missing.", class_="gap")


def _result(transcript: Transcript, game: Game) -> Iterator[Html | str]:
    if game.result is None:
        yield "Not seen to its end."
        return
    yield name(transcript, game.result.winner)
    yield f" wins {points(game.result.points)}{_how(game.result)}"


def _how(result: Result) -> str:
    words = [it for it in (_LEVELS.get(result.level), _ENDINGS.get(result.how)) if it]
    return f" ({', '.join(words)})" if words else ""


def _body(match: MatchSheet, laid: list[Row]) -> Iterator[Html]:
    for row in laid:
        if row.across:
            yield tag("tr", tag("td", _link(match, row.across), colspan=2), class_="gap")
            continue
        cells = (tag("td", *(_link(match, stop) for stop in side)) for side in (row.left, row.right))
        yield tag("tr", *cells)


def _link(match: MatchSheet, stop: Stop) -> Html:
    link = match.link(stop)
    grade = CLASSES[stop.grade] if stop.grade else None
    rebuilt = stop.step.entry.rebuilt
    classes = " ".join(it for it in ("stop", grade, "rebuilt" if rebuilt else None) if it)
    return tag("a", *_words(stop), href=f"#{link}", id=link, class_=classes, title=REBUILT if rebuilt else None)


def _words(stop: Stop) -> Iterator[Html | str]:
    if stop.kind is not Kind.GAP:
        yield tag("small", stop.step.turn, title=f"turn {stop.step.turn}")
    if stop.throw:
        yield joined(tag("b", stop.throw.numbers), _luck(stop.luck or 0.0), " ")
    yield tag("span", f"Gap: {clean(stop.words, 200)}" if stop.kind is Kind.GAP else stop.words)
    if stop.step.entry.rebuilt:
        yield tag("i", "\N{DEGREE SIGN}")
    if stop.grade:
        yield tag("em", f"{stop.grade.value} {stop.loss:.3f}".replace(" 0.", " ."), title=CLASSES[stop.grade])


def _luck(luck: float) -> Html | None:
    if abs(luck) < LUCKY:
        return None
    sign, word = (GOOD, "good") if luck > 0 else (BAD, "bad")
    return tag("i", sign, title=f"{word} luck, {signed(luck, 2)}")
