"""An index of matches: a line for each, with a link to its section or its page."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from fibsbot.report.figures import rating
from fibsbot.report.markup import Html, joined, tag
from fibsbot.report.sheet import moment, name, points, signed
from fibsbot.rules.state import Seat
from fibsbot.study.model import Figures, MatchStudy
from fibsbot.transcript import Transcript


@frozen
class Listed:
    """What an index tells of a match: enough to write its line when the study itself is gone."""

    href: str
    transcript: Transcript
    """Its games do not matter, but for the score."""
    figures: tuple[Figures, Figures]

    @classmethod
    def of(cls, study: MatchStudy, href: str) -> Listed:
        """Note what an index tells of a match."""
        return cls(href, study.transcript, study.figures)


def index_table(matches: Iterable[Listed]) -> Html:
    """Return the table of matches."""
    columns = ("Match", "Score", "PR", "Luck", "Length", "Began")
    head = tag("thead", tag("tr", *(tag("th", it, scope="col") for it in columns)))
    body = tag("tbody", *map(_line, matches))
    return tag("div", tag("table", head, body, class_="figures index"), class_="scroll")


def _line(match: Listed) -> Html:
    transcript, (a, b) = match.transcript, match.figures
    open_ = ", open" if transcript.length and transcript.winner is None else ""
    cells = [
        " \N{EN DASH} ".join(map(str, transcript.scores)) + open_,
        f"{rating(a)} : {rating(b)}",
        signed(a.luck - b.luck, 2),
        str(transcript.length) if transcript.length else "unlimited",
        moment(transcript.started) if transcript.started else "",
    ]
    link = tag("th", tag("a", players(transcript), href=match.href), scope="row")
    return tag("tr", link, *(tag("td", it) for it in cells))


def players(transcript: Transcript) -> Html:
    """Return who plays whom."""
    return joined(name(transcript, Seat.A), " \N{EN DASH} ", name(transcript, Seat.B))


def result(transcript: Transcript) -> Html:
    """Return how the match ended, or how far it was seen."""
    a, b = transcript.scores
    score = f"{a} \N{EN DASH} {b}"
    if transcript.winner is None:
        return joined(score) if not transcript.length else joined(f"{score}, not finished")
    return joined(score, ", ", name(transcript, transcript.winner), " wins")


def length(transcript: Transcript) -> str:
    """Write what the match is played to."""
    return f"{points(transcript.length)}" if transcript.length else "unlimited match"
