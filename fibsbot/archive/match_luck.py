"""Luck and results of a player of an archive: which matches luck has won, and how many would be won without it.

A normalised equity is worth what winning the game at the present cube changes of the chance to win the match, so that
the luck of a match is a sum of chances. The result less the luck of both players varies less than the result, and has
the same mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from attrs import frozen

from fibsbot.analysis.luck import mean_interval
from fibsbot.archive.answers import AnswerSection, JudgedArchive
from fibsbot.archive.dataset import quoted
from fibsbot.archive.figures import Pictures, middle_of
from fibsbot.archive.performance import RareValue, left_out_undated
from fibsbot.drawing.plot import Series
from fibsbot.engine.match_equity import equity_scale
from fibsbot.text import plural

FEW: Final = 5
"""Matches of a month from which its shares say something; fewer are left out of charts."""

_COLUMNS: Final = ("matches", "won", "matches won", "luck", "without luck", "its margin")
_WHOSE: Final = "(SELECT match FROM players JOIN matches USING (match) WHERE player = ? AND whole)"


@frozen
class MatchLuck:
    """A match that was seen from its first roll to its end, for one player."""

    month: str | None
    """Such as `2026-03`; None without a date."""
    won: bool
    luck: float
    """The player's luck less the opponent's, in chances to win the match."""
    edge: float
    """By how much the opponent's errors cost more than the player's, in the same."""

    @property
    def without_luck(self) -> float:
        """The result, 1 for won and 0 for lost, less the luck."""
        return self.won - self.luck


def luck_and_results(judged: JudgedArchive, name: str) -> Iterator[AnswerSection]:
    """Yield the sections about luck and results."""
    matches = match_lucks(judged, name)
    if matches:
        yield _table(matches)
        yield _by_month(matches, judged.pictures)
    yield from _unlimited(judged, name)


def match_lucks(judged: JudgedArchive, name: str) -> list[MatchLuck]:
    """Return the luck of each match of a player that was seen as a whole and judged, in order of time."""
    states = judged.rows(
        "SELECT DISTINCT length, own_score, opponent_score, cube FROM decisions "
        f"WHERE length > 0 AND match IN {_WHOSE}",
        name,
    )
    units = [
        f"({length}, {own}, {opponent}, {cube}, {_unit(length - own, length - opponent, cube)!r})"
        for length, own, opponent, cube in states
    ]
    if not units:
        return []
    rows = judged.rows(
        "SELECT strftime(started, '%Y-%m'), won, own.luck - other.luck, other.loss - own.loss FROM players p "
        "JOIN matches USING (match) "
        f"JOIN {_sums(judged, units)} own USING (match, seat) "
        f"JOIN {_sums(judged, units)} other ON other.match = p.match AND other.seat <> p.seat "
        "WHERE p.player = ? AND won IS NOT NULL AND whole ORDER BY started NULLS LAST, p.match, p.seat",
        *(name, name, name),
    )
    return [MatchLuck(*row) for row in rows]


def _unit(away: int, opponent_away: int, cube: int) -> float:
    """Return the chance to win the match that an equity of 1 stands for."""
    if min(away, opponent_away) < 1:
        return 0.0
    scale = equity_scale((away, opponent_away), cube)
    return 0.0 if scale is None else scale[1]


def _sums(judged: JudgedArchive, units: Sequence[str]) -> str:
    """Return the question for luck and loss of each player in each match, in chances to win it."""
    return (
        "(SELECT j.match, j.seat, coalesce(sum(j.luck * unit), 0) AS luck, coalesce(sum(j.loss * unit), 0) AS loss "
        f"FROM judgements j JOIN decisions USING (match, game, number) JOIN (VALUES {', '.join(units)}) "
        "units(length, own_score, opponent_score, cube, unit) USING (length, own_score, opponent_score, cube) "
        f"WHERE judge = {quoted(judged.judge)} AND match IN {_WHOSE} GROUP BY ALL)"
    )


# -- tables -----------------------------------------------------------------------------------------------------------


def _row(matches: Sequence[MatchLuck]) -> tuple[Any, ...]:
    """Return the figures of some matches, marked if there are few."""
    count, won = len(matches), sum(match.won for match in matches)
    if not matches:
        return 0, 0, None, None, None, None
    interval = mean_interval([match.without_luck for match in matches])
    shares = won / count, statistics.fmean(match.luck for match in matches)
    figures = (*shares, statistics.fmean(match.without_luck for match in matches))
    return (
        count,
        won,
        *(map(RareValue, figures) if count < FEW else figures),
        interval and (interval[2] - interval[1]) / 2,
    )


def _table(matches: Sequence[MatchLuck]) -> AnswerSection:
    parts = {
        "luckier, and played better": [match for match in matches if match.luck > 0 and match.edge >= 0],
        "luckier, but played worse": [match for match in matches if match.luck > 0 > match.edge],
        "unluckier, but played better": [match for match in matches if match.luck <= 0 <= match.edge],
        "unluckier, and played worse": [match for match in matches if match.luck <= 0 and match.edge < 0],
        "all": matches,
    }
    note = (
        f"{plural(len(matches), 'match')} seen from the first roll to the end. Luck is that of the player less that of "
        "the opponent, in chances to win the match; who played better made smaller errors. Without luck is the share "
        f"of matches won less the luck, and its margin half of a 95 % interval.\n* from fewer than {FEW} matches."
    )
    rows = [(label, *_row(found)) for label, found in parts.items()]
    return AnswerSection("Luck and results", ("than the opponent", *_COLUMNS), rows, note=note)


def _by_month(matches: Sequence[MatchLuck], pictures: Pictures) -> AnswerSection:
    dated = [match for match in matches if match.month is not None]
    months = {month: _row(list(found)) for month, found in groupby(dated, key=lambda match: match.month or "")}
    charted = [(middle_of(month), row) for month, row in months.items() if row[0] >= FEW]
    won = Series("won", [(x, 100 * row[2]) for x, row in charted])
    without_luck = Series(
        "without luck",
        [(x, 100 * row[4]) for x, row in charted],
        [(100 * (row[4] - row[5]), 100 * (row[4] + row[5])) for _, row in charted],
    )
    chart = pictures.months("Matches won by month", [won, without_luck], "percent of the matches")
    left_out = len(matches) - len(dated)
    note = left_out_undated(left_out)
    return AnswerSection(
        "Results by month", ("month", *_COLUMNS), [(month, *row) for month, row in months.items()], chart, note
    )


# -- unlimited matches ------------------------------------------------------------------------------------------------


def _unlimited(judged: JudgedArchive, name: str) -> Iterator[AnswerSection]:
    """Yield the result of unlimited matches in points per game, if there are any."""
    luck = (
        "(SELECT match, seat, coalesce(sum(luck * cube), 0) AS luck FROM judgements "
        "JOIN (SELECT match, game, number, cube FROM decisions) USING (match, game, number) "
        f"WHERE judge = {quoted(judged.judge)} AND match IN {_WHOSE} GROUP BY ALL)"
    )
    rows = judged.rows(
        "SELECT m.games, p.score - o.score, own.luck - other.luck FROM players p "
        "JOIN matches m USING (match) JOIN players o ON o.match = p.match AND o.seat <> p.seat "
        f"JOIN {luck} own ON own.match = p.match AND own.seat = p.seat "
        f"JOIN {luck} other ON other.match = o.match AND other.seat = o.seat "
        "WHERE p.player = ? AND m.length = 0 AND m.whole",
        *(name, name, name),
    )
    games = sum(row[0] for row in rows)
    if not games:
        return
    points, lucky = sum(row[1] for row in rows), math.fsum(row[2] for row in rows)
    figures = (points / games, lucky / games, (points - lucky) / games)
    columns = ("matches", "games", "points per game", "luck per game", "points without luck")
    note = (
        "Matches of no length that were seen from the first roll to the end. Luck is the player's less the opponent's."
    )
    yield AnswerSection("Unlimited matches", columns, [(len(rows), games, *figures)], note=note)
