"""`fibsbot explain-invite`: whether an invitation would be accepted, and everything that speaks against it."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict, evolve, frozen

from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.numbers import FiniteRange
from fibsbot.config import Config, ConfigProblemsError, UnknownAccountError, load_config
from fibsbot.config.problems import told
from fibsbot.policy import Direction, Policy, Reason, Request, reasons, unchecked
from fibsbot.policy.lengths import LONGEST, UNLIMITED
from fibsbot.policy.wording import counted, duration
from fibsbot.records.session_log import utc_now
from fibsbot.records.views import Opponent, Recollection

HORIZON: Final = dt.timedelta(days=30)
"""Matches that are longer ago play no part."""
_NAME: Final = re.compile(r"[A-Za-z_]{1,20}")


def _name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter(f"expected letters and underscores, at most 20, got {value!r}")
    return value


def _length(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    """Read points; unlimited is 0."""
    if value == UNLIMITED:
        return 0
    if not value.isdecimal() or not 1 <= int(value) <= LONGEST:
        raise click.BadParameter(f"expected points from 1 to {LONGEST}, or {UNLIMITED}, got {value!r}")
    return int(value)


@frozen
class Known:
    """What the store knows of a player."""

    place: str
    recollection: Recollection
    opponent: Opponent | None
    now: dt.datetime

    def add_to(self, request: Request) -> Request:
        """Return the request with what is known; what it says itself goes before."""
        ends, seen = self.recollection.matches, self.opponent
        return evolve(
            request,
            rating=seen.rating if seen and request.rating is None else request.rating,
            experience=seen.experience if seen and request.experience is None else request.experience,
            client=seen.client if seen and request.client is None else request.client,
            since_last=(self.now - ends[-1]).total_seconds() if ends else None,
            matches_today=sum(end > self.now - dt.timedelta(days=1) for end in ends),
        )

    def facts(self, given: Request, request: Request) -> Iterator[str]:
        """Yield what has come from here and not from the command line."""
        for name in ("rating", "experience", "client"):
            if getattr(given, name) is None and (value := getattr(request, name)) is not None:
                yield f"{name} {value}"
        if request.since_last is not None:
            yield f"last match {duration(request.since_last)} ago"
            yield f"{counted(request.matches_today, 'match')} in 24 hours"


@click.command("explain-invite")
@click.argument("name", callback=_name)
@click.argument("length", callback=_length)
@click.option("--config", "path", metavar="FILE", type=click.Path(path_type=Path), help="File of settings.")
@click.option("--account", metavar="NAME", help="Account of that file, if it has several.")
@click.option("--rating", type=FiniteRange(min=0), help="The other's rating.")
@click.option("--experience", type=click.IntRange(min=0), help="The other's experience.")
@click.option("--client", help="What the other's program calls itself.")
@click.option("--saved", "saved_games", type=click.IntRange(min=0), help="How many saved games the other has.")
@click.option("--ours", is_flag=True, help="Explain whether the bot would invite, not accept.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_invite(  # noqa: PLR0913, PLR0917 - one argument an option
    name: str,
    length: int,
    path: Path | None,
    account: str | None,
    rating: float | None,
    experience: int | None,
    client: str | None,
    saved_games: int | None,
    *,
    ours: bool,
    as_json: bool,
) -> None:
    """Tell whether an invitation would be accepted, and all that speaks against it.

    NAME is the other player, LENGTH points or `unlimited`. The policy is that of the file of settings, without one that
    of a bot whose settings were left as they are. Of what the options do not say, the bot's store may know something.
    Nothing is asked of a server. The exit status is 0 if the match would be played, 1 if not.
    """
    config = _config(path)
    try:
        policy = config.policy_of(account)
    except UnknownAccountError as error:
        raise UserError(f"{path or 'no file of settings'}: {error}") from None
    direction = Direction.OURS if ours else Direction.THEIRS
    given = Request(name, length, direction, rating, experience, client, saved_games)
    known, trouble = _recall(config, account, name) if path else (None, None)
    request = known.add_to(given) if known else given
    found = reasons(policy, request)
    if as_json:
        click.echo(json.dumps(_as_json(policy, request, found) | {"trouble": trouble}))
    else:
        for line in _lines(policy, request, found):
            click.echo(line)
        if known and (facts := ", ".join(known.facts(given, request))):
            click.echo(f"from {known.place}: {facts}")
        if trouble:
            click.echo(f"not checked: earlier matches, as {trouble}")
    raise SystemExit(1 if found else 0)


def _config(path: Path | None) -> Config:
    try:
        return load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(told(path or Path(), error.problems)) from None


def _recall(config: Config, account: str | None, name: str) -> tuple[Known | None, str | None]:
    """Look up a player in the store; or return why that cannot be done, which is no error."""
    where, now = config.service.store, utc_now()
    if where is None:
        return None, "the settings name no store"
    try:
        own_name = config.account_called(account).name
    except UnknownAccountError:
        return None, "--account does not say whose"
    if own_name is None:
        return None, "the account has no name"
    from fibsbot.records.store import Store, StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        with Store.open(where) as store:
            recollection = store.acquaintances(own_name, now - HORIZON).get(name, Recollection())
            opponent = next(iter([*store.opponents(account=own_name, name=name)]), None)
    except StoreError as error:
        return None, str(error)
    return Known(where, recollection, opponent, now), None


def _lines(policy: Policy, request: Request, found: tuple[Reason, ...]) -> Iterator[str]:
    match = f"a match of {counted(request.length, 'point')}" if request.length else "an unlimited match"
    if request.direction is Direction.OURS:
        yield f"{request.name} {'is not invited' if found else 'may be invited'} to {match}{':' if found else '.'}"
    elif found:
        yield f"{request.name} is refused {match}:"
    else:
        yield f"{request.name} gets {match}, unless the strategy refuses."
    width = max((len(reason.code) for reason in found), default=0)
    for reason in found:
        yield f"  {reason.code:{width}}  {reason.sentence}"
    for name in unchecked(policy, request):
        yield f"{name.replace('_', ' ')} not known: not checked"


def _as_json(policy: Policy, request: Request, found: tuple[Reason, ...]) -> dict[str, Any]:
    return {
        "name": request.name,
        "length": request.length,
        "direction": request.direction.value,
        "accepted": not found,
        "reasons": [asdict(reason) for reason in found],
        "not_known": list(unchecked(policy, request)),
        "rating": request.rating,
        "experience": request.experience,
        "client": request.client,
        "saved_games": request.saved_games,
        "since_last": request.since_last,
        "matches_today": request.matches_today,
    }
