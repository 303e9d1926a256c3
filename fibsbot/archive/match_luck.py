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
from fibsbot.archive.figures import Pictures, middle_of
from fibsbot.archive.performance import NO_DATE, RareValue, left_out_undated
from fibsbot.drawing.plot import Series
from fibsbot.engine.match_equity import equity_scale
from fibsbot.text import plural

FEW: Final = 5
"""Matches of a month from which its shares say something; fewer are left out of charts."""

_COLUMNS: Final = ("matches", "won", "matches won", "luck", "without luck", "its margin")
_WHOSE: Final = "(SELECT match FROM players JOIN matches USING (match) WHERE player = ? AND whole)"


@frozen
class MatchLuck:
    """A match that was seen from its first roll to its end, for one player.

    Luck and edge are in chances to win the match; of an unlimited match, in points.
    """

    month: str | None
    """Such as `2026-03`; None without a date."""
    games: int
    won: bool | None
    """None for an unlimited match."""
    points: int
    """The player's less the opponent's."""
    luck: float
    """The player's luck less the opponent's."""
    edge: float
    """By how much the opponent's errors cost more than the player's."""

    @property
    def without_luck(self) -> float:
        """The result, 1 for won and 0 for lost, or the points of an unlimited match, less the luck."""
        return (self.points if self.won is None else self.won) - self.luck


def luck_and_results(judged: JudgedArchive, name: str) -> Iterator[AnswerSection]:
    """Yield the sections about luck and results."""
    matches = match_lucks(judged, name)
    if finished := [match for match in matches if match.won is not None]:
        yield _table(finished)
        yield _by_month(finished, judged.pictures)
    if unlimited := [match for match in matches if match.won is None and match.games]:
        yield _unlimited(unlimited)


def match_lucks(judged: JudgedArchive, name: str) -> list[MatchLuck]:
    """Return the luck of each match of a player that was seen as a whole and judged, in order of time."""
    states = judged.rows(
        f"SELECT DISTINCT length, own_score, opponent_score, cube FROM decisions WHERE match IN {_WHOSE}", name
    )
    if not states:
        return []
    units = ", ".join(f"({', '.join(map(str, state))}, {_unit(*state)!r})" for state in states)
    # of each match, what A has more than B
    sums = (
        "(SELECT match, sum(luck * sign * unit) AS luck, sum(loss * sign * unit) AS loss FROM "
        "(SELECT match, game, number, luck, loss, CASE seat WHEN 'A' THEN 1 ELSE -1 END AS sign FROM judgements "
        f"WHERE judge = ? AND (luck IS NOT NULL OR loss > 0) AND match IN {_WHOSE}) "
        "JOIN (SELECT match, game, number, length, own_score, opponent_score, cube FROM decisions) "
        f"USING (match, game, number) JOIN (VALUES {units}) units(length, own_score, opponent_score, cube, unit) "
        "USING (length, own_score, opponent_score, cube) GROUP BY 1)"
    )
    rows = judged.rows(
        "SELECT strftime(m.started, '%Y-%m'), m.games, p.won, p.score - o.score, s.luck, s.loss, p.seat "
        "FROM players p JOIN matches m USING (match) JOIN players o ON o.match = p.match AND o.seat <> p.seat "
        f"JOIN {sums} s ON s.match = p.match "
        "WHERE p.player = ? AND m.whole AND (p.won IS NOT NULL OR m.length = 0) "
        "ORDER BY m.started NULLS LAST, p.match, p.seat",
        *(judged.judge, name, name),
    )
    found = []
    for month, games, won, points, luck, loss, seat in rows:
        sign = 1 if seat == "A" else -1
        found.append(MatchLuck(month, games, won, points, sign * (luck or 0.0), -sign * (loss or 0.0)))
    return found


def _unit(length: int, score: int, opponent_score: int, cube: int) -> float:
    """Return the chance to win the match that an equity of 1 stands for, or the points in an unlimited match."""
    if not length:
        return float(cube)
    away = length - score, length - opponent_score
    scale = equity_scale(away, cube) if min(away) > 0 else None
    return 0.0 if scale is None else scale[1]


# -- tables -----------------------------------------------------------------------------------------------------------


def _row(matches: Sequence[MatchLuck]) -> tuple[Any, ...]:
    """Return the figures of some matches, marked if there are few."""
    count, won = len(matches), sum(match.won is True for match in matches)
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


_BY_MONTH: Final = "Results by month"


def _by_month(matches: Sequence[MatchLuck], pictures: Pictures) -> AnswerSection:
    dated = [match for match in matches if match.month is not None]
    if not dated:
        return AnswerSection(_BY_MONTH, note=NO_DATE)
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
    return AnswerSection(_BY_MONTH, ("month", *_COLUMNS), [(month, *row) for month, row in months.items()], chart, note)


def _unlimited(matches: Sequence[MatchLuck]) -> AnswerSection:
    games, points = sum(match.games for match in matches), sum(match.points for match in matches)
    luck = math.fsum(match.luck for match in matches)
    figures = (points / games, luck / games, (points - luck) / games)
    columns = ("matches", "games", "points per game", "luck per game", "points without luck")
    note = "Seen from the first roll to the end. Luck is the player's less the opponent's, in points."
    return AnswerSection("Unlimited matches", columns, [(len(matches), games, *figures)], note=note)
