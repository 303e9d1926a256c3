"""`fibsbot check-config` and `fibsbot explain-invite`: what a configuration file is going to do."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from attrs import asdict, evolve, frozen

from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.options import FiniteRange, GameName, PlayerName, load_config_file
from fibsbot.config import Config, UnknownAccountError
from fibsbot.config.checks import CheckResult, check, config_warnings
from fibsbot.config.settings import format_problems
from fibsbot.match import LONGEST_MATCH
from fibsbot.notify.settings import Hook
from fibsbot.policy import (
    Direction,
    MatchRequest,
    Policy,
    RefusalReason,
    describe_policy,
    reasons_to_refuse,
    unknown_facts,
)
from fibsbot.policy.policy import CHOUETTE, UNLIMITED_WORD, is_bot
from fibsbot.records.session_log import utc_now
from fibsbot.records.stored_rows import PlayerMemory, StoredOpponent
from fibsbot.rules.law_words import LawWordsError, parse_law_words
from fibsbot.text import format_duration, join_words, plural


@click.command("check-config")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Fail with status 1 if there are warnings.")
@click.option("--try-notify", is_flag=True, help="Send a trial notice to each hook; fail with status 1 if one fails.")
def check_config(file: Path, *, strict: bool, try_notify: bool) -> None:
    """Validate a configuration file and summarise what it does.

    All problems are reported at once, one per line, and the exit status is 78. There is a warning for each setting that
    is valid but probably a mistake. Passwords and addresses of hooks are looked up, but never shown.
    """
    checked = check(file)
    if checked.problems:
        raise ConfigError(format_problems(file, checked.problems))
    warnings = config_warnings(checked.config)
    for warning in warnings:
        click.echo(f"{file}: warning: {warning}", err=True)
    click.echo(f"{file}: {f'can be used, warnings: {len(warnings)}' if warnings else 'good'}")
    for line in _summary(checked):
        click.echo(f"  {line}")
    delivered = not try_notify or _try(checked.hooks)
    if (warnings and strict) or not delivered:
        raise SystemExit(1)


def _try(hooks: tuple[Hook, ...]) -> bool:
    """Send a trial notice to each hook; return whether all were delivered."""
    from fibsbot.notify.trial import try_hooks  # noqa: PLC0415 - aiohttp is slow to import

    if not hooks:
        raise UserError("expected a hook to try, [[notify]] with url or command, got none")
    delivered = True
    for hook, is_delivered, how in try_hooks(hooks):
        click.echo(f"notice to {hook.name}: {'delivered' if is_delivered else 'not delivered'}, {how}")
        delivered = delivered and is_delivered
    return delivered


def _summary(checked: CheckResult) -> Iterator[str]:
    """Yield what the file will do, one line per fact."""
    for plan in checked.runs:
        name = plan.agent.name
        tls = " with TLS" if plan.server.tls else ""
        yield f"{name} plays on {plan.server.address}{tls}, strategy {plan.agent.play.strategy}"
        for line in _account(plan, checked.passwords[name].source):
            yield f"  {line}"
    service = checked.config.service
    yield f"store: {service.store or 'none'}"
    yield f"control socket: {service.control or 'none'}"
    if service.web_port is not None:
        yield f"metrics and health: 127.0.0.1:{service.web_port or '(a free port)'}"
        if service.live:
            yield "the bots can be watched at /live on that port"
    for hook in checked.hooks:
        receiver = "a web address" if hook.url else hook.settings.command[0]
        yield f"notifies {hook.name} by {receiver} of {', '.join(hook.settings.events)}"


def _account(plan: RunSettings, source: str) -> Iterator[str]:
    agent = plan.agent
    yield f"password: from {source}"
    yield f"policy: {describe_policy(agent.policy)}"
    yield from (f"invites: {line}" for line in _invitations(agent))
    if agent.chat.operators:
        yield f"operators: {', '.join(agent.chat.operators)}"
    if agent.play.matches is not None:
        yield f"logs out after {plural(agent.play.matches, 'match')}"
    yield f"session log: {plan.log_path}"


def _invitations(agent: AgentSettings) -> Iterator[str]:
    seek = agent.seek
    play = agent.play
    if play.invite:
        kind = f"{_points(*play.lengths_in_turn)}{_kind(play.invite_game, play.invite_laws)}"
        yield f"{play.invite} to {kind}, whenever there is no match"
    if seek.after is not None:
        often = f"at most {seek.per_hour} an hour"
        kinds = {"a person": agent.policy.people, "a bot": seek.bots and agent.policy.bots}
        whom = join_words([kind for kind, wanted in kinds.items() if wanted], "or")
        yield f"{whom} to {_points(*seek.lengths_in_turn)}, after {seek.after:g} s without a match, {often}"


def _points(*lengths: int) -> str:
    *others, last = lengths
    return join_words([*map(str, others), plural(last, "point")], "or")


def _kind(game: str | None, laws: str | None) -> str:
    """Return what follows the length of a match, unless it is one of backgammon by the laws of FIBS."""
    return f" of {game}" if game else f" by laws {laws}" if laws else ""


HISTORY: Final = dt.timedelta(days=30)
"""Matches that are longer ago play no part."""


def _length(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    """Parse the length of a match; unlimited is 0."""
    if value == UNLIMITED_WORD:
        return 0
    if not value.isdecimal() or not 1 <= int(value) <= LONGEST_MATCH:
        raise click.BadParameter(f"expected points from 1 to {LONGEST_MATCH}, or {UNLIMITED_WORD}, got {value!r}")
    return int(value)


class _GameOrChouette(GameName):
    """A game to be invited to."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name in lower case, or fail with what was expected."""
        return CHOUETTE if str(value).lower() == CHOUETTE else super().convert(value, param, ctx)


def _laws(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Check the words of laws."""
    if value is not None:
        try:
            parse_law_words(value)
        except LawWordsError as error:
            raise click.BadParameter(str(error)) from None
    return value


@frozen
class StoredFacts:
    """Facts about a player from the store."""

    place: str
    recollection: PlayerMemory
    bots: tuple[dt.datetime, ...]
    """The ends of matches with bots, as far as their names tell that they are."""
    opponent: StoredOpponent | None
    now: dt.datetime

    def add_to(self, request: MatchRequest) -> MatchRequest:
        """Return the request with the facts that it lacks."""
        ends, seen, day = self.recollection.matches, self.opponent, self.now - dt.timedelta(days=1)
        return evolve(
            request,
            rating=seen.rating if seen and request.rating is None else request.rating,
            experience=seen.experience if seen and request.experience is None else request.experience,
            client=seen.client if seen and request.client is None else request.client,
            since_last=(self.now - ends[-1]).total_seconds() if ends else None,
            matches_today=sum(end > day for end in ends),
            since_bot=(self.now - max(self.bots)).total_seconds() if self.bots else None,
            bots_today=sum(end > day for end in self.bots),
        )

    def facts(self, given: MatchRequest, request: MatchRequest) -> Iterator[str]:
        """Yield the facts that come from here and not from the command line."""
        for name in ("rating", "experience", "client"):
            if getattr(given, name) is None and (value := getattr(request, name)) is not None:
                yield f"{name} {value}"
        if request.since_last is not None:
            yield f"last match {format_duration(request.since_last)} ago"
            yield f"{plural(request.matches_today, 'match')} in 24 hours"
        if is_bot(request.name, request.client) and request.since_bot is not None:
            yield f"last match with a bot {format_duration(request.since_bot)} ago"
            yield f"{plural(request.bots_today, 'match')} with bots in 24 hours"


@click.command("explain-invite")
@click.argument("name", type=PlayerName())
@click.argument("length", callback=_length)
@click.option("--config", "path", metavar="FILE", type=click.Path(path_type=Path), help="Configuration file.")
@click.option("--account", metavar="NAME", help="Account of the configuration file, if it has several.")
@click.option("--rating", type=FiniteRange(min=0), help="Rating of the other player.")
@click.option("--own-rating", type=FiniteRange(min=0), help="Rating of the bot.")
@click.option("--experience", type=click.IntRange(min=0), help="Experience of the other player.")
@click.option("--client", help="Client program of the other player.")
@click.option("--saved-games", type=click.IntRange(min=0), help="Number of saved games of the other player.")
@click.option("--game", type=_GameOrChouette(), help="Game, other than backgammon, or chouette, which has no length.")
@click.option("--laws", callback=_laws, help="Laws of the match, other than those of FIBS, such as `1931 point`.")
@click.option("--outgoing", is_flag=True, help="Explain whether the bot would send the invitation, not accept it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_invite(  # noqa: PLR0913, PLR0917 - one argument per option
    name: str,
    length: int,
    path: Path | None,
    account: str | None,
    rating: float | None,
    own_rating: float | None,
    experience: int | None,
    client: str | None,
    saved_games: int | None,
    game: str | None,
    laws: str | None,
    *,
    outgoing: bool,
    as_json: bool,
) -> None:
    """Explain whether an invitation would be accepted, with all reasons against it.

    NAME is the other player, LENGTH points or `unlimited`. The policy is that of the configuration file, or the default
    one. Facts that the options do not give are taken from the bot's store, if it has them. No server is asked. The exit
    status is 0 if the match would be played, 1 if not.
    """
    if game and laws:
        raise click.UsageError("expected --game or --laws, got both: other games have laws of their own")
    config = load_config_file(path)
    try:
        policy = config.policy_of(account)
    except UnknownAccountError as error:
        raise UserError(f"{path or 'no configuration file'}: {error}") from None
    direction = Direction.OURS if outgoing else Direction.THEIRS
    given = MatchRequest(
        name,
        0 if game == CHOUETTE else length,
        direction,
        rating,
        experience,
        client,
        laws=laws or "",
        game=game,
        saved_games=saved_games,
        own_rating=own_rating,
    )
    known, trouble = _look_up(config, account, name) if path else (None, None)
    request = known.add_to(given) if known else given
    request = _with_lists(config, account, request)
    found = reasons_to_refuse(policy, request)
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


def _with_lists(config: Config, account: str | None, request: MatchRequest) -> MatchRequest:
    """Return the request with what the lists of players say: files, and the bot's copies of those at addresses."""
    try:
        settings = config.for_account(config.account_called(account)).lists
    except UnknownAccountError:
        settings = config.lists
    if not settings.block and not settings.allow:
        return request
    from fibsbot.service.list_reader import ListReader  # noqa: PLC0415 - asyncio, which few need here

    lists = ListReader(config.service.state / "lists" if config.service.state else None).load(settings)
    allowed = None if lists.allow is None else lists.allow.has(request.name, request.direction)
    return evolve(request, on_block_list=lists.block.has(request.name, request.direction), on_allow_list=allowed)


def _look_up(config: Config, account: str | None, name: str) -> tuple[StoredFacts | None, str | None]:
    """Look up a player in the store; or return why that cannot be done, which is no error."""
    where, now = config.service.store, utc_now()
    if where is None:
        return None, "the settings name no store"
    try:
        own_name = config.account_called(account).name
    except UnknownAccountError:
        return None, "--account is missing" if config.accounts else "the settings name no account"
    if own_name is None:
        return None, "the account has no name"
    from fibsbot.records.store import Store, StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        with Store.open(where) as store:
            memories = store.player_memories(own_name, now - HISTORY, now)
            opponent = next(iter([*store.opponents(account=own_name, name=name)]), None)
    except StoreError as error:
        return None, str(error)
    bots = tuple(end for player, known in memories.items() if is_bot(player) for end in known.matches)
    return StoredFacts(where, memories.get(name, PlayerMemory()), bots, opponent, now), None


def _lines(policy: Policy, request: MatchRequest, found: tuple[RefusalReason, ...]) -> Iterator[str]:
    match = f"a match of {_points(request.length)}" if request.length else "an unlimited match"
    match = "a chouette" if request.game == CHOUETTE else match + _kind(request.game, request.laws)
    if request.direction is Direction.OURS:
        yield f"{request.name} {'is not invited' if found else 'may be invited'} to {match}{':' if found else '.'}"
    elif found:
        yield f"{request.name} is refused {match}:"
    else:
        yield f"{request.name} gets {match}, unless the strategy refuses."
    width = max((len(reason.code) for reason in found), default=0)
    for reason in found:
        yield f"  {reason.code:{width}}  {reason.sentence}"
    for name in unknown_facts(policy, request):
        yield f"{name.replace('_', ' ')} not known: not checked"


def _as_json(policy: Policy, request: MatchRequest, found: tuple[RefusalReason, ...]) -> dict[str, Any]:
    return {
        "name": request.name,
        "length": request.length,
        "game": request.game,
        "laws": request.laws or None,
        "direction": request.direction.value,
        "accepted": not found,
        "reasons": [asdict(reason) for reason in found],
        "not_known": list(unknown_facts(policy, request)),
        "rating": request.rating,
        "own_rating": request.own_rating,
        "experience": request.experience,
        "client": request.client,
        "saved_games": request.saved_games,
        "since_last": request.since_last,
        "matches_today": request.matches_today,
        "since_bot": request.since_bot,
        "bots_today": request.bots_today,
    }
