"""`fibsbot stats`: results, ratings and connections in a match store."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import asdict, define, evolve
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from fibsbot.analysis.luck import LuckAdjustedResults
from fibsbot.analysis.results import BREAK_FACTS, AccountResults, ConnectionStatistics, WinLossRecord, account_results
from fibsbot.cli import UserError
from fibsbot.cli.matches import evaluator_option
from fibsbot.cli.options import Day, WorkerOptions, configured_store, store_errors, worker_options
from fibsbot.cli.output import check_writable, progress_bar
from fibsbot.config import Config
from fibsbot.drawing.axes import Scale, seconds
from fibsbot.drawing.markup import clean
from fibsbot.drawing.plot import Series, curve_svg
from fibsbot.drawing.plot_text import curve_text
from fibsbot.drawing.themes import SERIES
from fibsbot.files import os_errors_as
from fibsbot.games import GAMES, UnknownGameError, load_ruleset, unknown_game
from fibsbot.records.stored_rows import BACKGAMMON, CHOUETTE, Fact, StoredMatch
from fibsbot.strategies.loader import StrategyError
from fibsbot.text import format_percent, plural
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.records.store import Store

MAX_COLUMNS: Final = 80
"""Columns used at most, however wide the terminal is."""
CURVE_WIDTH: Final = 72
"""Those of a curve."""


@click.command()
@click.option(
    "--store", "location", metavar="PLACE", help=f"Match store: a file or a URL.  [default: {Config().service.store}]"
)
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="Configuration file that names the store."
)
@click.option("--account", metavar="NAME", help="Show only this account.")
@click.option("--since", metavar="DATE", type=Day(), help="Ignore everything before this day (UTC).")
@click.option(
    "--game", metavar="NAME", help="Count only matches of this game, such as backgammon, plakoto or chouette."
)
@click.option(
    "--top", metavar="N", default=20, show_default=True, type=click.IntRange(1), help="Number of opponents to list."
)
@click.option(
    "--luck/--no-luck", default=False, help="Adjust the results for luck: analyses every match, which takes long."
)
@evaluator_option
@worker_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--plot", metavar="FILE", type=click.Path(path_type=Path), help="Draw the rating as SVG, too.")
def stats(  # noqa: PLR0913 - one argument per option
    *,
    location: str | None,
    config: Path | None,
    account: str | None,
    since: dt.datetime | None,
    game: str | None,
    top: int,
    evaluator: str,
    plot: Path | None,
    workers: WorkerOptions,
    luck: bool,
    as_json: bool,
) -> None:
    """Summarise match results.

    Results by opponent, by length, by month and by game, with 95 % confidence intervals and the results that the
    ratings predict; matches that broke off; connections; the rating as a curve. Bots may use the store meanwhile.
    """
    from fibsbot.records.store import Store  # noqa: PLC0415 - SQLAlchemy is slow to import
    from fibsbot.records.store.database import database_url, public_url  # noqa: PLC0415

    place = location or configured_store(config)
    game = None if game is None else _game(game)
    if plot:
        check_writable(plot)
    with store_errors(), Store.open(place) as store:
        names = _accounts(store, account)
        if plot and len(names) > len(SERIES):
            raise UserError(f"expected --account with --plot: no more than {len(SERIES)} curves can be told apart")
        found = [account_results(store, name, since=since, game=game) for name in names]
        adjusted = [_adjusted(store, name, since, game, evaluator, workers) if luck else None for name in names]
    if plot:
        _draw(plot, found)
    if as_json:
        rows = [_row(results, adjustment) for results, adjustment in zip(found, adjusted, strict=True)]
        click.echo(json.dumps({"store": public_url(database_url(place)), "accounts": rows}))
        return
    if not found:
        click.echo(f"{public_url(database_url(place))}: no account has written anything yet")
        return
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, MAX_COLUMNS)
    for number, (results, adjustment) in enumerate(zip(found, adjusted, strict=True)):
        if number:
            console.print()
        for part in account_tables(results, adjustment, engine=evaluator, top=top, console=console):
            _print_whole(console, part)


def _print_whole(console: Console, part: RenderableType) -> None:
    """Print a part; a table for which the terminal is too narrow is wrapped there, and no figure is cut."""
    columns = console.width
    if isinstance(part, Table):
        console.width = max(columns, Measurement.get(console, console.options.update(width=MAX_COLUMNS), part).maximum)
    console.print(part)
    console.width = columns


def _game(name: str) -> str:
    """Return a game's full name. Raises UserError for an unknown one."""
    if name.lower() in {BACKGAMMON, CHOUETTE}:
        return name.lower()
    if name.lower().partition(":")[0] not in GAMES:
        raise UserError(str(unknown_game(name, BACKGAMMON, CHOUETTE)))
    try:
        return load_ruleset(name).full_name
    except UnknownGameError as error:
        raise UserError(str(error)) from None


def _accounts(store: Store, wanted: str | None) -> list[str]:
    names = store.accounts()
    if wanted is None:
        return names
    if wanted not in names:
        known = ", ".join(names) or "none"
        raise UserError(f"no account is called {wanted!r}; in the store are: {known}")
    return [wanted]


# -- luck -----------------------------------------------------------------------------------------------------------


@define
class _TranscriptReader:
    """Reads the transcripts of matches, and counts those that have none."""

    store: Store
    matches: Sequence[StoredMatch]
    without: int = 0

    def transcripts(self) -> Iterator[Transcript]:
        """Yield them one by one."""
        from fibsbot.records.store import StoreError  # noqa: PLC0415 - as above

        for match in self.matches:
            try:
                transcript = self.store.transcript(match)
            except StoreError:
                self.without += 1
            else:
                yield transcript


def _adjusted(  # noqa: PLR0913, PLR0917 - which matches, and by whom
    store: Store, account: str, since: dt.datetime | None, game: str | None, evaluator: str, workers: WorkerOptions
) -> LuckAdjustedResults:
    """Analyse every finished match except unlimited ones, whose results cannot be adjusted."""
    from fibsbot.analysis.match_analysis import analyse_matches  # noqa: PLC0415 - only --luck needs it

    matches = [
        match for match in store.matches(account=account, since=since, game=game) if match.finished and match.length
    ]
    reader = _TranscriptReader(store, matches)

    done = 0.0

    def tick(analysed: int, of: int) -> None:
        nonlocal done
        done += analysed / of
        show(done + reader.without, len(matches))

    try:
        with (
            progress_bar(f"analysing {account}") as show,
            workers.open_if_chosen() as pool,
            contextlib.closing(
                analyse_matches(reader.transcripts(), evaluator, pool=pool, tick=tick, on_progress=show.follow)
            ) as analyses,
        ):
            show(0, len(matches))
            found = LuckAdjustedResults.of(analyses)
    except StrategyError as error:
        raise UserError(str(error)) from None
    return evolve(found, left_out=found.left_out + reader.without)


# -- for programs, and as a picture ----------------------------------------------------------------------------------


def _row(results: AccountResults, adjusted: LuckAdjustedResults | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "account": results.account,
        "first": _time(results.first),
        "last": _time(results.last),
        "total": _score(results.total),
        "opponents": [{"opponent": name, **_score(score)} for name, score in results.opponents],
        "lengths": [{"length": length, **_score(score)} for length, score in results.lengths],
        "months": [{"month": month, **_score(score)} for month, score in results.months],
        "open": results.open,
        "unseen": results.unknown,
        "resumed": results.resumed,
        "breaks": [
            {"opponent": breaks.opponent, **{fact.value: times for fact, times in breaks.times.items()}}
            for breaks in results.broken_matches
        ],
        "online": asdict(results.online),
        "ratings": [
            {"at": _time(point.at), "rating": point.rating, "experience": point.experience} for point in results.ratings
        ],
    }
    if results.games:
        row["games"] = [{"game": name, **_score(score)} for name, score in results.games]
        row["drawn_games"] = results.drawn_games
    if results.chouettes.games:
        row["chouettes"] = {**asdict(results.chouettes), "balance": results.chouettes.balance}
    return row if adjusted is None else {**row, "luck": _luck_row(adjusted)}


def _score(score: WinLossRecord) -> dict[str, Any]:
    low, high = score.interval
    return {**asdict(score), "matches": score.matches, "share": score.share, "low": low, "high": high}


def _luck_row(adjusted: LuckAdjustedResults) -> dict[str, Any]:
    return {
        "matches": len(adjusted.actual),
        "left_out": adjusted.left_out,
        "luck": adjusted.luck,
        "won": adjusted.won,
        "without_luck": adjusted.without_luck,
        "pr": adjusted.own.pr,
        "decisions": adjusted.own.decisions,
        "opponents_pr": adjusted.opponents.pr,
        "opponents_decisions": adjusted.opponents.decisions,
    }


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat() if at else None


def _draw(target: Path, found: Sequence[AccountResults]) -> None:
    curves = [
        Series(results.account, [(seconds(point.at), point.rating) for point in results.ratings]) for results in found
    ]
    title = f"Rating of {found[0].account}" if len(found) == 1 else "Ratings"
    text = curve_svg(curves, title=title, x=Scale.TIME)
    with os_errors_as(UserError, f"cannot write {target}"):
        target.write_text(text, encoding="utf-8")
    click.echo(f"the rating is drawn in {target}", err=True)


NAME_WIDTH: Final = 24
"""Columns of a name."""
MAX_REASONS: Final = 5
"""Reasons for lost connections that are listed."""
REASON_WIDTH: Final = 60
"""Columns of such a reason."""
HOUR: Final = 3600


def account_tables(
    results: AccountResults, adjusted: LuckAdjustedResults | None, *, engine: str, top: int, console: Console
) -> Sequence[RenderableType]:
    """Return all statistics of an account, with at most `top` opponents, for a console."""
    parts: list[RenderableType] = [Text(clean(results.account, NAME_WIDTH), style="bold")]
    if results.empty:
        return [*parts, Text("nothing yet")]
    parts += map(Text, _summary(results))
    if adjusted is not None:
        parts += ["", Text(f"Luck and errors, as {clean(engine, NAME_WIDTH)} sees them", style="bold")]
        parts += map(Text, _luck(adjusted))
    if results.total.matches:
        parts += _scores("opponent", [(clean(name, NAME_WIDTH), score) for name, score in results.opponents], top)
        parts += _scores("length", [(length_name(length), score) for length, score in results.lengths])
        parts += _scores("month", results.months)
        if results.games:
            parts += _scores("game", results.games)
    if results.broken_matches:
        parts += _breaks(results, top)
    if results.online.connections or results.online.attempts:
        parts += ["", Text("Connections", style="bold"), *map(Text, _connections(results.online))]
    if results.ratings:
        parts += ["", Text("Rating", style="bold"), *map(Text, _rating(results, console))]
    return parts


def length_name(length: int | None) -> str:
    """Return the length of a match in words."""
    if length is None:
        return "unknown"
    return plural(length, "point") if length else "unlimited"


def _summary(results: AccountResults) -> Iterator[str]:
    total = results.total
    if total.matches and results.first and results.last:
        yield (
            f"{plural(total.matches, 'match')} from {results.first:%Y-%m-%d} to {results.last:%Y-%m-%d}: "
            f"{total.wins} won, {total.losses} lost"
        )
        yield f"won {format_percent(total.share or 0.0)}, with 95 % confidence {_interval(*total.interval)}"
    else:
        yield "no match has been finished"
    if total.rated:
        of = f"of {total.rated} with known ratings, " if total.rated < total.matches else ""
        yield f"expected from the ratings: {of}{total.expected:.1f} won; actual: {total.rated_wins}"
    if (chouettes := results.chouettes).games:
        yield (
            f"{plural(chouettes.games, 'game')} at chouettes: {plural(chouettes.won, 'point')} won, "
            f"{chouettes.lost} lost, {chouettes.balance:+d} in the ledgers"
        )
    more = [
        plural(results.open, "match") + " may go on" if results.open else "",
        plural(results.unknown, "unknown result") if results.unknown else "",
        plural(results.resumed, "resumption") if results.resumed else "",
        plural(results.drawn_games, "drawn game") if results.drawn_games else "",
    ]
    if any(more):
        yield ", ".join(filter(None, more))


def _scores(name: str, rows: Sequence[tuple[str, WinLossRecord]], top: int | None = None) -> list[RenderableType]:
    table = _table(name, "matches", "won", "share", "95 %", "expected")
    for label, score in rows[:top]:
        expected = f"{score.expected:.1f}" if score.rated else ""
        if 0 < score.rated < score.matches:
            expected += f" of {score.rated}"
        table.add_row(
            Text(label),
            str(score.matches),
            str(score.wins),
            format_percent(score.share or 0.0),
            _interval(*score.interval),
            expected,
        )
    return ["", Text(f"By {name}", style="bold"), table, *_more(rows, top)]


def _breaks(results: AccountResults, top: int) -> list[RenderableType]:
    facts = [fact.value for fact in BREAK_FACTS]
    table = _table("opponent", *facts)
    for breaks in results.broken_matches[:top]:
        table.add_row(Text(clean(breaks.opponent, NAME_WIDTH)), *(str(breaks.times[fact]) for fact in BREAK_FACTS))
    sums = {fact: sum(broken.times[fact] for broken in results.broken_matches) for fact in (Fact.LEFT, Fact.DROPPED)}
    totals = Text(
        f"{plural(len(results.broken_matches), 'opponent')} left {sums[Fact.LEFT]} and dropped "
        f"{sums[Fact.DROPPED]}; counted since they were first met"
    )
    return ["", Text("Drops and resumes", style="bold"), table, *_more(results.broken_matches, top), totals]


def _connections(online: ConnectionStatistics) -> Iterator[str]:
    failed = f", {plural(online.attempts, 'failed attempt')}" if online.attempts else ""
    unseen = f", {online.unseen} open or without a known end" if online.unseen else ""
    yield f"{plural(online.connections, 'connection')}{failed}{unseen}"
    if online.between:
        share = format_percent(min(online.seconds / online.between, 1.0))
        yield (
            f"online {online.seconds / HOUR:,.1f} of {online.between / HOUR:,.1f} hours ({share}), "
            f"the longest {online.longest / HOUR:,.1f}"
        )
    for reason, times in itertools.islice(online.reasons.items(), MAX_REASONS):
        yield f"{times:>6,} x {clean(reason, REASON_WIDTH)}"
    if len(online.reasons) > MAX_REASONS:
        yield f"       and {len(online.reasons) - MAX_REASONS} more reasons"


def _rating(results: AccountResults, console: Console) -> Iterator[str]:
    ratings = [point.rating for point in results.ratings]
    if len(ratings) == 1:
        yield f"{ratings[0]:.2f}, the only one known"
        return
    yield (
        f"{ratings[0]:.2f} at first, {ratings[-1]:.2f} at last ({ratings[-1] - ratings[0]:+.2f}); "
        f"lowest {min(ratings):.2f}, highest {max(ratings):.2f}"
    )
    points = [(seconds(point.at), point.rating) for point in results.ratings]
    unicode, width = console.encoding.startswith("utf"), min(console.width, CURVE_WIDTH)
    yield from curve_text(points, width=width, x=Scale.TIME, unicode=unicode)


def _luck(adjusted: LuckAdjustedResults) -> Iterator[str]:
    count = len(adjusted.actual)
    left = f"; {adjusted.left_out} not seen completely, left out" if adjusted.left_out else ""
    yield f"{plural(count, 'match')} adjusted for luck{left}"
    if adjusted.won:
        yield _with_interval("won", *adjusted.won)
    if adjusted.without_luck:
        yield _with_interval("without luck", *adjusted.without_luck)
    if count:
        yield f"luck {'won' if adjusted.luck >= 0 else 'cost'} us {abs(adjusted.luck):.1f} matches"
    for whose, figures in (("our", adjusted.own), ("their", adjusted.opponents)):
        if figures.pr is not None:
            yield f"{whose} performance rating: {figures.pr:.1f} from {figures.decisions:,} decisions"


def _table(name: str, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(name, min_width=12, max_width=NAME_WIDTH, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _more(rows: Sequence[object], top: int | None) -> Iterable[Text]:
    left = len(rows) - top if top is not None else 0
    return [Text(f"and {left:,} more; --top {len(rows)} shows them")] if left > 0 else []


def _with_interval(what: str, share: float, low: float, high: float) -> str:
    return f"{what:<13}{format_percent(share):>7}, with 95 % confidence {_interval(low, high)}"


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"
