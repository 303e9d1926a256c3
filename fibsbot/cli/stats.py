"""`fibsbot stats`: how the matches of a store went."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import asdict, define, evolve
from rich.console import Console

from fibsbot.cli import UserError
from fibsbot.cli.outputs import check_writable
from fibsbot.cli.progress import shown_progress
from fibsbot.cli.stats_tables import picture
from fibsbot.cli.stores import place_by_config, store_errors
from fibsbot.config import Config
from fibsbot.draw.plot import Scale, Series, curve_svg, seconds
from fibsbot.draw.themes import SERIES
from fibsbot.records.views import Match
from fibsbot.strategies.loader import StrategyError
from fibsbot.strategies.names import DEFAULT
from fibsbot.study.adjusting import Adjusted
from fibsbot.study.results import Results, Score, results_of
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.records.store import Store

WIDEST: Final = 80
"""Columns that are used, however wide the terminal is."""


@click.command()
@click.option("--db", metavar="PLACE", help=f"The store: a file or a URL.  [default: {Config().service.store}]")
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="File of settings that names the store."
)
@click.option("--account", metavar="NAME", help="This account only.")
@click.option(
    "--since", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="Only what happened from that day on, UTC."
)
@click.option(
    "--top", metavar="N", default=20, show_default=True, type=click.IntRange(1), help="Opponents that are listed."
)
@click.option("--luck", is_flag=True, help="Take the luck out of the results: studies every match, which takes long.")
@click.option("--engine", metavar="NAME", default=DEFAULT, show_default=True, help="The strategy that judges luck.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--svg", metavar="FILE", type=click.Path(path_type=Path), help="Draw the rating as a picture, too.")
def stats(  # noqa: PLR0913 - one argument an option
    *,
    db: str | None,
    config: Path | None,
    account: str | None,
    since: dt.datetime | None,
    top: int,
    engine: str,
    svg: Path | None,
    luck: bool,
    as_json: bool,
) -> None:
    """Tell how the matches of a store went.

    Results by opponent, by length and by month, with 95 % confidence intervals and what was to be expected by the
    ratings; matches that broke off; connections; the rating as a curve. The store may be in use meanwhile.
    """
    from fibsbot.records.store import Store  # noqa: PLC0415 - SQLAlchemy is slow to import
    from fibsbot.records.store.database import locate, shown  # noqa: PLC0415

    place = db or place_by_config(config)
    begin = since.replace(tzinfo=dt.UTC) if since else None
    if svg:
        check_writable(svg)
    with store_errors(), Store.open(place) as store:
        names = _accounts(store, account)
        if svg and len(names) > len(SERIES):
            raise UserError(f"expected --account with --svg: no more than {len(SERIES)} curves can be told apart")
        found = [results_of(store, name, since=begin) for name in names]
        adjusted = [_adjusted(store, name, begin, engine) if luck else None for name in names]
    if svg:
        _draw(svg, found)
    if as_json:
        rows = [_row(results, it) for results, it in zip(found, adjusted, strict=True)]
        click.echo(json.dumps({"store": shown(locate(place)), "accounts": rows}))
        return
    if not found:
        click.echo(f"{shown(locate(place))}: no account has written anything yet")
        return
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, WIDEST)
    for number, (results, it) in enumerate(zip(found, adjusted, strict=True)):
        if number:
            console.print()
        console.print(picture(results, it, engine=engine, top=top, unicode=console.encoding.startswith("utf")))


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
class _Reader:
    """Reads the transcripts of matches, and counts those that have none."""

    store: Store
    matches: Sequence[Match]
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


def _adjusted(store: Store, account: str, since: dt.datetime | None, engine: str) -> Adjusted:
    """Study every match to some length that was finished; nothing of an unlimited one can be adjusted."""
    from fibsbot.study.many import study_all  # noqa: PLC0415 - only --luck needs what studies

    matches = [it for it in store.matches(account=account, since=since) if it.finished and it.length]
    reader = _Reader(store, matches)

    done = 0.0

    def tick(studied: int, of: int) -> None:
        nonlocal done
        done += studied / of
        show(done + reader.without, len(matches))

    try:
        with (
            shown_progress(f"studying {account}") as show,
            contextlib.closing(study_all(reader.transcripts(), engine, tick=tick)) as studies,
        ):
            show(0, len(matches))
            found = Adjusted.of(studies)
    except StrategyError as error:
        raise UserError(str(error)) from None
    return evolve(found, left_out=found.left_out + reader.without)


# -- for programs, and as a picture ----------------------------------------------------------------------------------


def _row(results: Results, adjusted: Adjusted | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "account": results.account,
        "first": _time(results.first),
        "last": _time(results.last),
        "total": _score(results.total),
        "opponents": [{"opponent": name, **_score(score)} for name, score in results.opponents],
        "lengths": [{"length": length, **_score(score)} for length, score in results.lengths],
        "months": [{"month": month, **_score(score)} for month, score in results.months],
        "open": results.open,
        "unseen": results.unseen,
        "resumed": results.resumed,
        "breaks": [
            {"opponent": it.opponent, **{fact.value: times for fact, times in it.times.items()}}
            for it in results.breaks
        ],
        "online": asdict(results.online),
        "ratings": [
            {"at": _time(point.at), "rating": point.rating, "experience": point.experience} for point in results.ratings
        ],
    }
    return row if adjusted is None else {**row, "luck": _luck(adjusted)}


def _score(score: Score) -> dict[str, Any]:
    low, high = score.interval
    return {**asdict(score), "matches": score.matches, "share": score.share, "low": low, "high": high}


def _luck(adjusted: Adjusted) -> dict[str, Any]:
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


def _draw(target: Path, found: Sequence[Results]) -> None:
    curves = [Series(it.account, [(seconds(point.at), point.rating) for point in it.ratings]) for it in found]
    title = f"Rating of {found[0].account}" if len(found) == 1 else "Ratings"
    text = curve_svg(curves, title=title, x=Scale.TIME)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    click.echo(f"the rating is drawn in {target}", err=True)
