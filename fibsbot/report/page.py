"""Report pages: some matches in one HTML file that needs no network, and an index of such pages."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Final

from attrs import frozen

from fibsbot.analysis.model import GRADE_THRESHOLDS, LUCK_THRESHOLD, MatchAnalysis, PlayerStatistics
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.analysis.skill import LEVEL_THRESHOLDS
from fibsbot.drawing.html import Child, Html, join_html, script_json, tag
from fibsbot.drawing.markup import clean
from fibsbot.drawing.themes import stylesheet
from fibsbot.formats import FormatError
from fibsbot.formats.mat import write_mat
from fibsbot.formats.sgf import write_sgf
from fibsbot.report import statistics
from fibsbot.report.page_data import COLUMNS, match_data
from fibsbot.report.score_sheet import (
    BAD_LUCK,
    CLASSES,
    GOOD_LUCK,
    format_points,
    format_signed,
    format_time,
    plain_player_name,
    player_name,
    score_sheet,
)
from fibsbot.report.skill_figures import NO_VALUE
from fibsbot.report.statistics import dice_section, format_rating
from fibsbot.report.timeline import MatchTimeline, match_timeline
from fibsbot.report.totals import MatchTotals, has_luck, totals_html
from fibsbot.rules.state import Seat
from fibsbot.text import predicate
from fibsbot.transcript import Transcript
from fibsbot.version import __version__

_WRITERS: Final[dict[str, Callable[[Transcript], str]]] = {".mat": write_mat, ".sgf": write_sgf}
_MAX_NAME: Final = 60
"""Maximum length of a file name, without its extension."""


def download_links(transcript: Transcript) -> Iterator[Html]:
    """Yield a download link for each format that can express the match."""
    if not transcript.games or not transcript.is_backgammon:
        return
    name = re.sub(r"[^\w-]+", "_", "-".join(player.name for player in transcript.players))[:_MAX_NAME]
    for extension, write in _WRITERS.items():
        try:
            content = write(transcript).encode("utf-8", "replace")
        except FormatError:
            continue
        address = f"data:application/octet-stream;base64,{base64.b64encode(content).decode()}"
        yield tag("a", extension, href=address, download=f"{name}{extension}", title=f"Save the match as {extension}")


@frozen
class IndexEntry:
    """A match in an index, without its games, so that a folder of many matches fits in memory."""

    href: str
    transcript: Transcript
    """Only its last game is needed, for the score."""
    figures: tuple[PlayerStatistics, PlayerStatistics]
    has_luck: bool
    """Whether its luck was analysed."""

    @classmethod
    def of(cls, analysis: MatchAnalysis, href: str) -> IndexEntry:
        """Return the entry of an analysed match."""
        return cls(href, analysis.transcript, analysis.figures, has_luck(analysis))


def index_table(matches: Iterable[IndexEntry]) -> Html:
    """Return the table of matches."""
    listed = list(matches)
    luck = any(entry.has_luck for entry in listed)
    columns = ("Match", "Score", "PR", *(("Luck",) if luck else ()), "Length", "Began")
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    body = tag("tbody", *(_index_row(entry, luck=luck) for entry in listed))
    return tag("div", tag("table", head, body, class_="figures index"), class_="scroll")


def _index_row(match: IndexEntry, *, luck: bool) -> Html:
    transcript, (a, b) = match.transcript, match.figures
    open_ = ", open" if transcript.length and transcript.winner is None else ""
    cells = [
        " \N{EN DASH} ".join(map(str, transcript.scores)) + open_,
        f"{format_rating(a)} : {format_rating(b)}",
        *([format_signed(a.luck - b.luck, 2) if match.has_luck else NO_VALUE] if luck else []),
        str(transcript.length) if transcript.length else "unlimited",
        format_time(transcript.started) if transcript.started else "",
    ]
    link = tag("th", tag("a", players_html(transcript), href=match.href), scope="row")
    return tag("tr", link, *(tag("td", cell) for cell in cells))


def players_html(transcript: Transcript) -> Html:
    """Return the names of both players."""
    return join_html(player_name(transcript, Seat.A), " \N{EN DASH} ", player_name(transcript, Seat.B))


def match_title(transcript: Transcript) -> str:
    """Return the title of a page about one match: the names of its players."""
    return " \N{EN DASH} ".join(plain_player_name(transcript, seat) for seat in Seat)


def result_html(transcript: Transcript) -> Html:
    """Return the result of a match, or its score so far."""
    a, b = transcript.scores
    score = f"{a} \N{EN DASH} {b}"
    if transcript.winner is None:
        return join_html(score) if not transcript.length else join_html(f"{score}, not finished")
    won = predicate(plain_player_name(transcript, transcript.winner), "wins")
    return join_html(score, ", ", player_name(transcript, transcript.winner), f" {won}")


def format_length(transcript: Transcript) -> str:
    """Format the length of a match."""
    return f"{format_points(transcript.length)}" if transcript.length else "unlimited match"


KEYS: Final = {
    "\N{LEFTWARDS ARROW} k": "back",
    "\N{RIGHTWARDS ARROW} j": "forward",
    "\N{UPWARDS ARROW} \N{DOWNWARDS ARROW}": "back and forward in the score sheet; Home and End go to its ends",
    "n p": "next and previous error",
    "g G": "next and previous game",
    "e": "all decisions, errors only, or those of one player",
    "b": "show the best play, or the play that was made",
    "q": "practise: errors with the answer hidden",
    "space": "while you practise: show the answer, and then the next error",
    "f": "see the board from the other side, or again from this one",
    "m": "number the points from the side to move, or always from the same side",
    "?": "this list",
}
BUTTONS: Final = {
    "last-game": ("\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}", "Previous game (G)"),
    "back": ("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Back (left arrow, k)"),
    "on": ("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Forward (right arrow, j)"),
    "next-game": ("\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}", "Next game (g)"),
    "last-error": ("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK} Error", "Previous error (p)"),
    "next-error": ("Error \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next error (n)"),
    "best": ("Best", "Show the best play (b)"),
    "help": ("?", "Keys (?)"),
}
"""Label and title of each button, by its action."""
SWITCHES: Final = {
    "practise": ("Practise", "Errors with the answer hidden, until you ask for it (q)"),
    "flip": ("Flip", "See the board from the other side (f)"),
}
"""The same of the buttons above the score sheet."""
_SCRIPTLESS: Final = (
    "The boards are drawn by the script of this page, but JavaScript is disabled. Everything else is on the page: the "
    "score sheet, the statistics, and the worst errors with their XGIDs, which any backgammon program can show."
)
_NO_MATCH: Final = tag("p", "No match.", class_="note")


def report_page(
    analyses: Sequence[MatchAnalysis], *, title: str, board: str = "", selection: DecisionSelection = GRADED
) -> str:
    """Return a page about some matches; its links are `#m1` for the first match, `#m1g2t14` for a turn in it.

    Args:
        analyses: the matches.
        title: title of the page.
        board: address of a board on which plays are tried, which gets the link of the decision added.
        selection: which errors are listed, and asked for by the page's practice; figures are those of all decisions.

    Raises TranscriptError for an illegal transcript.
    """
    timelines = [
        match_timeline(analysis, number, selection=selection) for number, analysis in enumerate(analyses, start=1)
    ]
    listed = [IndexEntry.of(timeline.analysis, f"#{timeline.anchor}") for timeline in timelines]
    index = None
    if len(listed) > 1:
        totals = MatchTotals(selection)
        for timeline in timelines:
            totals.add(timeline)
        overview = totals_html(totals, 2)
        index = tag("details", tag("summary", "Index"), index_table(listed), overview, class_="index", open=True)
    alone = len(timelines) == 1
    body = [
        Html("") if alone else tag("header", tag("h1", clean(title)), index),
        tag("noscript", tag("p", _SCRIPTLESS, class_="note")),
        tag(
            "main",
            *(_match_section(timeline, 1 if alone else 2) for timeline in timelines),
            _NO_MATCH if not timelines else None,
        ),
        _viewer(board),
        _help(),
    ]
    return document(title, body, script=True)


def index_page(matches: Iterable[IndexEntry], *, title: str, totals: MatchTotals | None = None) -> str:
    """Return a page that lists matches, each with a page of its own, and what they come to if `totals` says it."""
    overview = totals_html(totals, 2) if totals else None
    body = [tag("header", tag("h1", clean(title))), tag("main", index_table(matches), overview)]
    return document(title, body)


# -- the document ---------------------------------------------------------------------------------------------------


@cache
def _asset(name: str) -> str:
    return resources.files("fibsbot.report").joinpath("assets", name).read_text("utf-8")


def _csp_hash(text: str) -> str:
    """Return the hash by which a content security policy allows a script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def report_policy() -> str:
    """Return the content security policy of a report, which allows its own script and styles only.

    The page has it already; a server sends it as well, so that nothing in the page comes before it.
    """
    return _policy(script=True, style="")


def _policy(*, script: bool, style: str) -> str:
    style = f"{_asset('report.css')}\n{stylesheet()}{style}"
    code = _csp_hash(_asset("report.js")) if script else "'none'"
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_csp_hash(style)}; script-src {code}"
    )


def document(title: str, body: Iterable[Html], *, script: bool = False, style: str = "") -> str:
    """Return a page that needs no network: its styles, to which `style` is added, and if asked for the script."""
    policy = _policy(script=script, style=style)
    style = f"{_asset('report.css')}\n{stylesheet()}{style}"
    code = _asset("report.js") if script else ""
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"fibsbot {__version__}"),
        tag("link", rel="icon", href="data:,"),
        tag("title", clean(title)),
        tag("style", Html(style)),
    ]
    foot = tag("footer", tag("p", f"Written by fibsbot {__version__}."))
    parts = [*body, foot, *([tag("script", Html(code))] if script else [])]
    return f"<!doctype html>\n{tag('html', tag('head', *head), tag('body', *parts), lang='en')}\n"


# -- a match --------------------------------------------------------------------------------------------------------


def _match_section(match: MatchTimeline, level: int) -> Html:
    """Return the section of a match; `level` is that of its heading."""
    luck = any(entry.luck is not None for entry in match.entries)
    transcript, anchor = match.analysis.transcript, match.anchor
    title_id = f"{anchor}-title"

    def part(heading: str, *content: Child, class_: str | None = None) -> Html:
        return tag("section", tag(f"h{level + 1}", heading, class_=class_), *content)

    sheet = tag("div", score_sheet(match, level + 2), class_="sheet", tabindex=-1)
    parts: list[Child] = [
        tag(f"h{level}", players_html(transcript), id=title_id, class_="players"),
        tag("p", *_facts(transcript), *_ratings(match), *download_links(transcript), class_="facts"),
        part("Score sheet", tag("div", sheet, class_="stage"), class_="visually-hidden"),
        statistics.equity_graph(match),
        part(
            "Statistics",
            tag(
                "div",
                statistics.performance_table(match, luck=luck),
                tag("div", statistics.skill_table(match), statistics.cube_table(match), class_="stacked"),
                statistics.games_table(match, luck=luck),
                class_="tables",
            ),
        ),
        part("The worst errors", statistics.worst_errors(match)),
        part("Luck", statistics.luckiest_rolls(match)) if luck else None,
        part("Dice", dice_section(transcript)),
        part(
            "How to read this",
            tag("ul", *(tag("li", note) for note in _notes(match.analysis, luck=luck)), class_="notes"),
        ),
        tag("script", script_json(match_data(match)), type="application/json", id=f"{anchor}-data"),
    ]
    return tag("section", *parts, class_="match", id=anchor, aria_labelledby=title_id)


def _facts(transcript: Transcript) -> Iterator[Child]:
    yield tag("strong", result_html(transcript))
    if not transcript.is_backgammon:
        yield tag("span", f"{transcript.rules.title} ({transcript.rules.full_name})")
    yield tag("span", format_length(transcript))
    if transcript.site:
        yield tag("span", clean(transcript.site, 80))
    if transcript.started:
        yield tag("span", f"{format_time(transcript.started)} UTC")
    for seat in Seat:
        if transcript.players[seat].rating is not None:
            yield tag("span", *_player(transcript, seat))


def _ratings(match: MatchTimeline) -> Iterator[Html]:
    """Yield both performance ratings, and the evaluator."""
    analysis = match.analysis
    ratings = " : ".join(statistics.format_rating(figures) for figures in analysis.figures)
    yield tag("span", f"PR {ratings} by {clean(analysis.short_details or analysis.evaluator, 200)}")
    if analysis.note:
        yield tag("span", analysis.note)


def _player(transcript: Transcript, seat: Seat) -> Iterator[Child]:
    player = transcript.players[seat]
    yield player_name(transcript, seat)
    yield f" {player.rating:.0f}"
    if player.experience is not None:
        yield f" / {player.experience}"


def _notes(analysis: MatchAnalysis, *, luck: bool) -> Iterator[Child]:
    grades = ", ".join(
        f"{CLASSES[grade]} ({grade.value}) from {least:g}" for grade, least in reversed(GRADE_THRESHOLDS.items())
    )
    yield (
        f"All values are those of the evaluator {clean(analysis.evaluator)}. Equities are normalised: winning a "
        f"single game at the present cube is 1, losing it \N{MINUS SIGN}1. At a match score they are chances to win "
        "the match on that scale (EMG)."
    )
    if analysis.note:
        yield analysis.note
    yield f"A decision is {grades} on: the equity lost compared with the best one."
    yield (
        "The performance rating (PR) is 500 times the mean loss of the decisions that count: those with a choice, and "
        "cube decisions that are not obvious."
    )
    levels = ", ".join(f"{level.value} from {1000 * least:g}" for level, least in LEVEL_THRESHOLDS.items())
    yield (
        "The error rate is 1000 times the mean loss of unforced plays and of close or actual cube decisions, as GNU "
        f"Backgammon counts them. Its levels: {levels}."
    )
    if any(analysis.estimated_rating(seat) is not None for seat in Seat):
        yield "The estimated FIBS rating is the one that such errors stand for; one match is too little for it."
    if luck:
        yield (
            "Luck is how much better a roll was than the average roll. "
            f"{GOOD_LUCK} and {BAD_LUCK} mark rolls with luck of {LUCK_THRESHOLD:g} or more."
        )
    yield (
        "The board is seen, and its points are numbered, from the same side, until you flip it or choose the numbers "
        "of the side to move. Plays are written as their player counts the points."
    )
    yield "Turns of both players are counted together within each game, as in links and on the command line."
    yield (
        "\N{DEGREE SIGN} marks what was not seen, but rebuilt: nothing else can have happened between two boards. "
        "What could not be rebuilt is shown as a gap."
    )


# -- elements for the script ------------------------------------------------------------------------------------------


def _viewer(board: str) -> Html:
    """Return the template of the viewer: board, buttons and details, still empty, and a link to a board for trying."""
    buttons = (
        tag("button", text, type="button", title=called, aria_label=called, data_do=does, aria_pressed=_pressed(does))
        for does, (text, called) in BUTTONS.items()
    )
    head = tag("div", tag("p", class_="headline", aria_live="polite"), tag("p", class_="verdict"), class_="head")
    box = tag(
        "div",
        tag("div", class_="board", role="img"),
        tag("a", "Try a play", class_="try", href=board, data_board=board) if board else None,
        tag("button", type="button", class_="answer", data_do="answer", hidden=True),
        tag("div", *buttons, class_="buttons", role="toolbar", aria_label="Moves"),
        class_="board-box",
    )
    numbers = "Number the points from the side to move (m)"
    shown = tag(
        "div",
        tag("label", "Show ", tag("select", class_="filter")),
        *(
            tag("button", text, type="button", title=called, data_do=does, aria_pressed="false")
            for does, (text, called) in SWITCHES.items()
        ),
        tag("label", tag("input", type="checkbox", class_="mover"), " mover's numbers", title=numbers),
        class_="only",
    )
    plays = _options_table("plays", tag("caption", "Plays"), ("Play", *COLUMNS))
    cube = _options_table("cube", tag("caption"), ("Cube", *COLUMNS))
    resigning = _options_table("resigning", tag("caption"), ("Resignation", *COLUMNS))
    details = tag(
        "div",
        tag("dl", class_="facts"),
        plays,
        cube,
        resigning,
        tag("ul", class_="notes"),
        tag("div", class_="ids"),
        class_="details",
    )
    return tag("template", head, box, shown, details, id="viewer")


def _pressed(does: str) -> str | None:
    return "false" if does == "best" else None


def _options_table(class_: str, caption: Html, columns: tuple[str, ...]) -> Html:
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    return tag("table", caption, head, tag("tbody"), class_=f"options {class_}")


def _help() -> Html:
    keys = join_html(*(join_html(tag("dt", *_keys(names)), tag("dd", text)) for names, text in KEYS.items()))
    close = tag("form", tag("button", "Close"), method="dialog")
    swipe = "Swipe over the board to go back or forward; click into the graph to go there."
    return tag(
        "dialog",
        tag("h2", "Keys", id="help-title"),
        tag("dl", keys),
        tag("p", swipe),
        close,
        id="help",
        aria_labelledby="help-title",
    )


def _keys(names: str) -> Iterator[Child]:
    for key in names.split():
        yield tag("kbd", key)
        yield " "
