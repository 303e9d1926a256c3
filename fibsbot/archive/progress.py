"""Whether a player of an archive gets better: performance month by month, and earlier matches against later ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Final

from fibsbot.archive.answers import RARE, AnswerSection, JudgedArchive
from fibsbot.archive.figures import middle_of
from fibsbot.archive.performance import (
    CLASSES,
    CUBE_KINDS,
    KINDS,
    MONTHS,
    NO_DATE,
    NOTHING,
    SCORE_NAMES,
    SCORES,
    Change,
    Grouping,
    Performance,
    left_out_undated,
    measure,
    since,
)
from fibsbot.drawing.plot import Series
from fibsbot.text import plural

MONTHLY: Final = {"play": "plays", "double": "doubles", "take": "takes"}
"""The kinds of decisions that have figures for each month, as columns call them."""
MARGIN: Final = "The margin is half of a 95 % interval."

_MONTH_COLUMNS: Final = (
    "month",
    "count",
    "PR",
    "margin",
    *(column for words in MONTHLY.values() for column in (words, f"PR of {words}")),
)
_CHANGE_COLUMNS: Final = (
    *("decisions", "verdict", "change", "margin"),
    *("PR before", "PR after", "count before", "count after"),
)
_BY_MONTH: Final = "PR by month"
_ALL: Final = "all decisions"


def progress(judged: JudgedArchive, name: str, boundary: dt.datetime | None = None) -> Iterator[AnswerSection]:
    """Yield the sections about a player's change; `boundary` is when the later matches begin, by default their half."""
    yield _months(judged, name)
    yield _earlier_and_later(judged, name, boundary)


def _undated(judged: JudgedArchive, name: str) -> str:
    ((count,),) = judged.rows(
        "SELECT count(*) FROM (SELECT DISTINCT match FROM judgements WHERE judge = ? AND player = ?) "
        "JOIN matches USING (match) WHERE started IS NULL",
        judged.judge,
        name,
    )
    return left_out_undated(count)


# -- months -----------------------------------------------------------------------------------------------------------


def _months(judged: JudgedArchive, name: str) -> AnswerSection:
    every = {month: found for (month,), found in measure(judged, name, MONTHS).items() if month is not None}
    parts = measure(judged, name, MONTHS, KINDS)
    rows = []
    for month, found in sorted(every.items()):
        of_kinds = [parts.get((month, kind), Performance()) for kind in MONTHLY]
        figures = (value for part in of_kinds for value in (part.decisions, part.shown))
        rows.append((month, found.decisions, found.shown, found.margin, *figures))
    months = [month for month, found in sorted(every.items()) if not found.is_rare]
    totals = Series(
        _ALL,
        [(middle_of(month), every[month].pr or 0.0) for month in months],
        [_interval(every[month]) for month in months],
    )
    kinds = [
        Series(
            words,
            [
                (middle_of(month), part.pr or 0.0)
                for month in sorted(every)
                if not (part := parts.get((month, kind), Performance())).is_rare
            ],
        )
        for kind, words in MONTHLY.items()
    ]
    charts = (
        *judged.pictures.months("PR by month, lower is better", [totals]),
        *judged.pictures.months("PR by month and kind of decision", [part for part in kinds if part.points]),
    )
    if not rows:
        return AnswerSection(_BY_MONTH, note=NO_DATE)
    note = f"A lower PR is better. {MARGIN} {_undated(judged, name)}".rstrip()
    note += f"\n* from fewer than {RARE} decisions, and not in the charts."
    return AnswerSection(_BY_MONTH, _MONTH_COLUMNS, rows, charts, note)


def _interval(found: Performance) -> tuple[float, float]:
    """Return the ends of a rating's margin, as charts have it; no rating is below 0."""
    rating, margin = found.pr or 0.0, found.margin or 0.0
    return max(rating - margin, 0.0), rating + margin


# -- earlier and later ------------------------------------------------------------------------------------------------


def half_of(times: Mapping[dt.datetime, int]) -> dt.datetime | None:
    """Return the beginning of the later half of matches, from how many began at each time; None if all began at one."""
    total, earlier = sum(times.values()), 0
    best: tuple[int, dt.datetime] | None = None
    for time, count in sorted(times.items()):
        if earlier:
            uneven = abs(total - 2 * earlier)
            best = min(best, (uneven, time)) if best else (uneven, time)
        earlier += count
    return best and best[1]


def _earlier_and_later(judged: JudgedArchive, name: str, boundary: dt.datetime | None) -> AnswerSection:
    heading = "Earlier and later matches"
    times: dict[dt.datetime, int] = dict(
        judged.rows(
            "SELECT started, count(*) FROM (SELECT DISTINCT match FROM judgements WHERE judge = ? AND player = ?) "
            "JOIN matches USING (match) WHERE started IS NOT NULL GROUP BY 1",
            judged.judge,
            name,
        )
    )
    if not times:
        return AnswerSection(heading, note=NO_DATE)
    boundary = half_of(times) if boundary is None else boundary.astimezone(dt.UTC).replace(tzinfo=None)
    if boundary is None:
        return AnswerSection(heading, note="All matches began at the same time: there is nothing to compare.")
    counts = [sum(count for time, count in times.items() if (time >= boundary) is later) for later in (False, True)]
    day = f"{boundary:%Y-%m-%d}" if boundary.time() == dt.time() else f"{boundary:%Y-%m-%d %H:%M}"
    changes = list(_changes(judged, name, since(boundary)))
    rows = [
        (
            *(label, change.verdict, change.difference, change.margin),
            *(change.before.shown, change.after.shown, change.before.decisions, change.after.decisions),
        )
        for label, change in changes
    ]
    note = (
        f"{plural(counts[0], 'match')} before {day}, {counts[1]:,} since then. {_finding(changes[0][1])} "
        f"{_undated(judged, name)}".rstrip()
        + f"\nOf 20 rows about one passes its margin by chance alone. * from fewer than {RARE} decisions."
    )
    return AnswerSection(heading, _CHANGE_COLUMNS, rows, note=note)


def _changes(judged: JudgedArchive, name: str, periods: Grouping) -> Iterator[tuple[str, Change]]:
    """Yield the change of all decisions, and of those of each kind, class and score."""
    for grouping, order in ((NOTHING, ()), (CUBE_KINDS, ()), (CLASSES, ()), (SCORES, SCORE_NAMES)):
        found = measure(judged, name, grouping, periods)
        none = Performance()
        changes = {
            key: Change(found.get((key, False), none), found.get((key, True), none))
            for key, later in found
            if later is not None and (key is not None or grouping is NOTHING)
        }
        changes = {key: change for key, change in changes.items() if change.before.decisions + change.after.decisions}
        keys = sorted(changes, key=lambda key: _most_first(changes[key]))
        if order:
            keys.sort(key=order.index)
        yield from ((_ALL if key is None else key, changes[key]) for key in keys)


def _most_first(change: Change) -> int:
    return -(change.before.decisions + change.after.decisions)


def _finding(change: Change) -> str:
    """Return in words what has changed."""
    before, after, margin = change.before.pr, change.after.pr, change.margin
    if before is None or after is None or change.difference is None:
        return "There are no decisions to compare."
    words = f"PR {before:.1f}, then {after:.1f}"
    if margin is None or change.verdict == "too few":
        return f"{words}: too few decisions or matches to say what has changed."
    size = f"{abs(change.difference):.1f}"
    if change.verdict == "unclear":
        return f"{words}: the difference of {size} is within the margin of {margin:.1f}, and so may be chance."
    return f"{words}: {change.verdict} by {size}, with a margin of {margin:.1f}."
