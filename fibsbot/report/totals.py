"""Totals of players over several matches, and the worst errors of all of them."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Final

from attrs import define, evolve, field, frozen

from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.drawing.html import Child, Html, join_html, tag
from fibsbot.drawing.markup import clean
from fibsbot.drawing.scene import ViewOptions
from fibsbot.drawing.svg import board_svg
from fibsbot.drawing.themes import Theme
from fibsbot.report.score_sheet import NAME_LENGTH, format_signed, format_time, plain_player_name, player_name
from fibsbot.report.statistics import error_text, format_rating, position_code, table, table_row, turn_label
from fibsbot.report.timeline import MatchTimeline, TimelineEntry
from fibsbot.rules.state import Seat
from fibsbot.text import plural
from fibsbot.transcript import Transcript

WORST_SHOWN: Final = 12
"""Errors of all matches that are shown with their boards."""
MAX_PLAYERS: Final = 20
"""Players that are listed."""


@frozen
class PlacedError:
    """An error, and in which match it is."""

    match: str
    """Name of the match: of its file and so on."""
    href: str
    """Link to it; empty if there is no page."""
    transcript: Transcript
    """The match without its games."""
    entry: TimelineEntry


@define
class MatchTotals:
    """Totals over several matches, which may be many: only the worst errors are kept."""

    selection: DecisionSelection = GRADED
    """Which errors are counted and listed; statistics are of all decisions."""
    most: int = WORST_SHOWN
    """Errors that are kept."""
    matches: int = 0
    players: dict[str, tuple[int, PlayerStatistics]] = field(factory=dict)
    """Number of matches and statistics of each player, by name."""
    errors: int = 0
    """Number of all errors that are selected."""
    loss: float = 0.0
    """What they lost."""
    has_luck: bool = False
    """Whether luck was analysed in any of the matches."""
    _worst: list[tuple[float, int, PlacedError]] = field(factory=list, repr=False)
    """A heap, the smallest loss first, and of equal losses the latest."""
    _numbers: Iterator[int] = field(factory=itertools.count, repr=False)

    def add(self, match: MatchTimeline, name: str = "", page: str = "") -> None:
        """Add a match; `page` is the address of the page that has it, empty for the same page."""
        analysis = match.analysis
        self.matches += 1
        self.has_luck = self.has_luck or has_luck(analysis)
        for seat in Seat:
            player = analysis.transcript.players[seat].name
            count, figures = self.players.get(player, (0, PlayerStatistics()))
            self.players[player] = count + 1, figures + analysis.figures_of(seat)
        known = evolve(analysis.transcript, games=())
        for entry in match.errors:
            self.errors += 1
            self.loss += entry.loss
            error = PlacedError(name, f"{page}#{match.link(entry)}", known, entry)
            heapq.heappush(self._worst, (entry.loss, -next(self._numbers), error))
            if len(self._worst) > self.most:
                heapq.heappop(self._worst)

    @property
    def worst(self) -> list[PlacedError]:
        """The errors that are kept, the worst first, and of equal ones the first."""
        return [error for _, _, error in sorted(self._worst, key=lambda kept: (-kept[0], -kept[1]))]

    @property
    def ranked(self) -> list[tuple[str, int, PlayerStatistics]]:
        """The players with the most matches, by name where they have the same number, with matches and statistics."""
        ranked = sorted(self.players.items(), key=lambda item: (-item[1][0], item[0]))
        return [(name, count, figures) for name, (count, figures) in ranked[:MAX_PLAYERS]]

    @property
    def unlisted(self) -> str:
        """How many players are not among those, in words; empty if all are."""
        more = len(self.players) - MAX_PLAYERS
        return f"and {plural(more, 'more player')}" if more > 0 else ""

    @property
    def selected(self) -> str:
        """What is selected, with the number of errors and their loss, in words; empty without a special selection."""
        return "" if self.selection == GRADED else self.selection.summary(self.errors, self.loss)


def has_luck(analysis: MatchAnalysis) -> bool:
    """Return whether the luck of a match was analysed."""
    return any(decision.luck is not None for game in analysis.games for decision in game.decisions)


# -- as HTML ----------------------------------------------------------------------------------------------------------


def totals_html(totals: MatchTotals, level: int) -> Html:
    """Return the table of players and the worst errors with their boards; `level` is that of the headings."""
    columns = ("Player", "Matches", "Decisions", "Loss", "PR", *(("Luck",) if totals.has_luck else ()))
    rows = (
        table_row(
            tag("bdi", clean(name, NAME_LENGTH) or "?"),
            count,
            figures.decisions,
            f"{figures.loss:.3f}",
            format_rating(figures),
            *((format_signed(figures.luck, 2),) if totals.has_luck else ()),
        )
        for name, count, figures in totals.ranked
    )
    scope = ". Only these are listed; all figures are those of whole matches."
    return join_html(
        tag(f"h{level}", "Players"),
        table(f"Totals over {plural(totals.matches, 'match')}", columns, rows, "figures index"),
        tag("p", totals.unlisted, class_="note") if totals.unlisted else None,
        tag(f"h{level}", "The worst errors of all"),
        tag("p", f"{totals.selected}{scope}", class_="note") if totals.selected else None,
        tag("ol", *map(_card, totals.worst), class_="cards") if totals.worst else _nothing(totals),
    )


def _nothing(totals: MatchTotals) -> Html | None:
    return None if totals.selected else tag("p", f"No decision cost {GRADED.least_loss:g} or more.", class_="note")


def _card(error: PlacedError) -> Html:
    transcript, entry = error.transcript, error.entry
    place: list[Child] = [player_name(transcript, Seat.A), " \N{EN DASH} ", player_name(transcript, Seat.B)]
    if transcript.started:
        place.append(f", {format_time(transcript.started, '%Y-%m-%d')}")
    link = tag("a", *place, f", {turn_label(entry).lower()}", href=error.href)
    return tag("li", link, _board(error), tag("p", *error_text(transcript, entry)), position_code(entry))


def _board(error: PlacedError) -> Html | None:
    """Draw the board as the player sees it, with the play that was made."""
    entry = error.entry
    if entry.state is None:
        return None
    below, above = (plain_player_name(error.transcript, seat) for seat in (entry.viewer, entry.viewer.other))
    view = ViewOptions(theme=Theme.PAGE)
    return tag("div", Html(board_svg(entry.state, view=view, play=entry.made, names=(below, above))), class_="thumb")
