"""The figures of a store as people read them, in 80 columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fibsbot.draw.markup import clean
from fibsbot.draw.plot import Scale, curve_text, seconds
from fibsbot.records.views import Fact
from fibsbot.study.adjusting import Adjusted
from fibsbot.study.results import BREAKS, Online, Results, Score

NAME: Final = 24
"""Columns of a name."""
REASONS: Final = 5
"""Reasons for lost connections that are told."""
FOLDED: Final = 60
"""Columns of such a reason."""
HOUR: Final = 3600


def picture(results: Results, adjusted: Adjusted | None, *, engine: str, top: int, unicode: bool) -> Group:
    """Draw all figures of an account; of opponents only the first ones."""
    parts: list[RenderableType] = [Text(clean(results.account, NAME), style="bold")]
    if results.empty:
        return Group(*parts, Text("nothing yet"))
    parts += map(Text, _summary(results))
    if adjusted is not None:
        parts += ["", Text(f"Luck and errors, as {clean(engine, NAME)} sees them", style="bold")]
        parts += map(Text, _luck(adjusted))
    if results.total.matches:
        parts += _scores("opponent", [(clean(name, NAME), score) for name, score in results.opponents], top)
        parts += _scores("length", [(length_name(length), score) for length, score in results.lengths])
        parts += _scores("month", results.months)
    if results.breaks:
        parts += _broken(results, top)
    if results.online.connections or results.online.attempts:
        parts += ["", Text("Connections", style="bold"), *map(Text, _online(results.online))]
    if results.ratings:
        parts += ["", Text("Rating", style="bold"), *map(Text, _rating(results, unicode=unicode))]
    return Group(*parts)


def length_name(length: int | None) -> str:
    """Say what a match is played for."""
    if length is None:
        return "unknown"
    return f"{length} point{'s' if length > 1 else ''}" if length else "unlimited"


def _summary(results: Results) -> Iterator[str]:
    total = results.total
    if total.matches and results.first and results.last:
        yield (
            f"{_counted(total.matches, 'match', 'matches')} from {results.first:%Y-%m-%d} to {results.last:%Y-%m-%d}: "
            f"{total.wins} won, {total.losses} lost"
        )
        yield f"won {_percent(total.share or 0.0)}, with 95 % confidence {_interval(*total.interval)}"
    else:
        yield "no match has been finished"
    if total.rated:
        of = f"of {total.rated} with known ratings, " if total.rated < total.matches else ""
        yield f"to be expected by the ratings: {of}{total.expected:.1f} won; it was {total.rated_wins}"
    more = [
        _counted(results.open, "match", "matches") + " may go on" if results.open else "",
        _counted(results.unseen, "result", "results") + " nobody knows" if results.unseen else "",
        _counted(results.resumed, "resumption", "resumptions") if results.resumed else "",
    ]
    if any(more):
        yield ", ".join(filter(None, more))


def _scores(name: str, rows: Sequence[tuple[str, Score]], top: int | None = None) -> list[RenderableType]:
    table = _table(name, "matches", "won", "share", "95 %", "expected")
    for label, score in rows[:top]:
        expected = f"{score.expected:.1f}" if score.rated else ""
        if 0 < score.rated < score.matches:
            expected += f" of {score.rated}"
        table.add_row(
            Text(label),
            str(score.matches),
            str(score.wins),
            _percent(score.share or 0.0),
            _interval(*score.interval),
            expected,
        )
    return ["", Text(f"By {name}", style="bold"), table, *_more(rows, top)]


def _broken(results: Results, top: int) -> list[RenderableType]:
    facts = [fact.value for fact in BREAKS]
    table = _table("opponent", *facts)
    for breaks in results.breaks[:top]:
        table.add_row(Text(clean(breaks.opponent, NAME)), *(str(breaks.times[fact]) for fact in BREAKS))
    sums = {fact: sum(it.times[fact] for it in results.breaks) for fact in (Fact.LEFT, Fact.DROPPED)}
    told = Text(
        f"{_counted(len(results.breaks), 'opponent', 'opponents')} left {sums[Fact.LEFT]} and dropped "
        f"{sums[Fact.DROPPED]}; counted since they were first met"
    )
    return ["", Text("Drops and resumes", style="bold"), table, *_more(results.breaks, top), told]


def _online(online: Online) -> Iterator[str]:
    vain = f", {_counted(online.attempts, 'vain attempt', 'vain attempts')}" if online.attempts else ""
    unseen = f", {online.unseen} open or without a known end" if online.unseen else ""
    yield f"{_counted(online.connections, 'connection', 'connections')}{vain}{unseen}"
    if online.between:
        share = _percent(min(online.seconds / online.between, 1.0))
        yield (
            f"online {online.seconds / HOUR:,.1f} of {online.between / HOUR:,.1f} hours ({share}), "
            f"the longest {online.longest / HOUR:,.1f}"
        )
    for reason, times in itertools.islice(online.reasons.items(), REASONS):
        yield f"{times:>6,} x {clean(reason, FOLDED)}"
    if len(online.reasons) > REASONS:
        yield f"       and {len(online.reasons) - REASONS} more reasons"


def _rating(results: Results, *, unicode: bool) -> Iterator[str]:
    ratings = [point.rating for point in results.ratings]
    if len(ratings) == 1:
        yield f"{ratings[0]:.2f}, and no other was told"
        return
    yield (
        f"{ratings[0]:.2f} at first, {ratings[-1]:.2f} at last ({ratings[-1] - ratings[0]:+.2f}); "
        f"least {min(ratings):.2f}, most {max(ratings):.2f}"
    )
    points = [(seconds(point.at), point.rating) for point in results.ratings]
    yield from curve_text(points, x=Scale.TIME, unicode=unicode)


def _luck(adjusted: Adjusted) -> Iterator[str]:
    count = len(adjusted.actual)
    left = f"; {adjusted.left_out} not seen from the first throw to the last" if adjusted.left_out else ""
    yield f"{_counted(count, 'match', 'matches')} with the luck taken out{left}"
    if adjusted.won:
        yield _with_interval("won", *adjusted.won)
    if adjusted.without_luck:
        yield _with_interval("without luck", *adjusted.without_luck)
    if count:
        yield f"luck {'won' if adjusted.luck >= 0 else 'lost'} us {abs(adjusted.luck):.1f} matches"
    for whose, figures in (("ours", adjusted.own), ("theirs", adjusted.opponents)):
        if figures.pr is not None:
            yield f"performance rating {whose}: {figures.pr:.1f} from {figures.decisions:,} decisions"


def _table(name: str, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(name, min_width=12, max_width=NAME, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _more(rows: Sequence[object], top: int | None) -> Iterable[Text]:
    left = len(rows) - top if top is not None else 0
    return [Text(f"and {left:,} more; --top shows them")] if left > 0 else []


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _with_interval(what: str, share: float, low: float, high: float) -> str:
    return f"{what:<13}{_percent(share):>7}, with 95 % confidence {_interval(low, high)}"


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"
