"""Check a configuration file and what it refers to.

Errors, and warnings for settings that are valid but probably mistaken.
"""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from attrs import field, frozen

from fibsbot.bot.settings import PlaySettings, RunSettings, SeekSettings
from fibsbot.config.build import FoundPassword, account_paths, account_settings, find_password
from fibsbot.config.hooks import hook_paths, notify_hooks
from fibsbot.config.parser import config_from_tables, read_toml
from fibsbot.config.settings import AccountConfig, Config, ConfigProblem, ConfigProblemsError
from fibsbot.files import at_home, check_can_create, is_disk_full
from fibsbot.notify.settings import Hook, NotifyEvent, NotifySettings, is_web_address
from fibsbot.policy import Direction, MatchRequest, reasons_to_refuse
from fibsbot.strategies import base_name, is_file
from fibsbot.strategies.loader import StrategyError, available, first_fault, load

_STEP: Final = re.compile(r"[^.\[\]]+")


@frozen
class CheckResult:
    """The outcome of checking a file."""

    problems: tuple[ConfigProblem, ...]
    config: Config
    """Its valid settings."""
    runs: tuple[RunSettings, ...] = ()
    """The settings of the accounts' runs; empty if there are problems."""
    passwords: Mapping[str, FoundPassword] = field(factory=dict)
    """The passwords that were found, by account."""
    hooks: tuple[Hook, ...] = ()
    """Whom to notify; empty if there are problems."""


def check(path: Path, *, before_strategies: Callable[[Config], None] | None = None) -> CheckResult:
    """Check a file, and the passwords and everything else that it names.

    Strategies are tried last, which may take half a minute. With `before_strategies` they are tried only if there is no
    other problem, and after a call of that function, which may raise.
    """
    try:
        tables = read_toml(path)
    except ConfigProblemsError as error:
        return CheckResult(error.problems, Config())
    config, problems = _parse_what_is_valid(tables)
    if config is None:
        return CheckResult(problems, Config())
    passwords = _find_passwords(config)
    runs, later = _runs(config, passwords)
    hooks, unusable = _hooks(config)
    later = (*later, *unusable)
    if before_strategies:
        later = (*later, *_log_directory_problems(config))
        if problems or later:
            return CheckResult(_with_later(problems, later), config)
        before_strategies(config)
    problems = (*problems, *_unusable_resources(config))
    if later:
        return CheckResult(_with_later(problems, later), config)
    return CheckResult(problems, config, () if problems else runs, passwords, () if problems else hooks)


def _runs(
    config: Config, passwords: Mapping[str, FoundPassword]
) -> tuple[tuple[RunSettings, ...], tuple[ConfigProblem, ...]]:
    """Return the settings of the accounts' runs, or the problems with them."""
    try:
        return account_settings(config, {name: found.text for name, found in passwords.items()}), ()
    except ConfigProblemsError as error:
        return (), error.problems


def _hooks(config: Config) -> tuple[tuple[Hook, ...], tuple[ConfigProblem, ...]]:
    """Return the hooks, or the problems with them."""
    try:
        return notify_hooks(config), ()
    except ConfigProblemsError as error:
        return (), error.problems


def _with_later(problems: tuple[ConfigProblem, ...], later: Iterable[ConfigProblem]) -> tuple[ConfigProblem, ...]:
    return (
        *problems,
        *(problem for problem in later if not any(_is_consequence(problem, before) for before in problems)),
    )


def _find_passwords(config: Config) -> dict[str, FoundPassword]:
    """Return the passwords that can be found."""
    passwords = {}
    for path, account in account_paths(config):
        with contextlib.suppress(ConfigProblemsError):  # account_settings reports what is missing
            passwords[account.name or ""] = find_password(account, path, alone=len(config.accounts) == 1)
    return passwords


def _unusable_resources(config: Config) -> Iterator[ConfigProblem]:
    """Yield what would fail at the start: strategies that do not work, and an unusable store."""
    paths: dict[str, str] = {}
    games: dict[str, dict[str, None]] = {}
    for path, account in account_paths(config):
        own = "strategy" in account.overrides.get("bot", {})
        one = config.for_account(account)
        paths.setdefault(one.bot.strategy, f"{path}.bot.strategy" if own else "bot.strategy")
        games.setdefault(one.bot.strategy, {}).update(dict.fromkeys(games_to_play(one)))
    installed = {origin.name for origin in available()}
    for name, path in paths.items():
        if (base_name(name) in installed or is_file(name)) and (fault := _fault(name, games[name])):
            yield ConfigProblem(path, "a strategy that works", fault)
    if config.service.store:
        from fibsbot.records.store import StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import
        from fibsbot.records.store.maintenance import check_usable  # noqa: PLC0415 - as above

        try:
            check_usable(config.service.store)
        except StoreError as error:
            yield ConfigProblem("service.store", "a store that can be used", str(error))


def games_to_play(config: Config) -> tuple[str, ...]:
    """Return the games of the family that an account accepts or invites to."""
    invited = config.bot.invite_game
    return (*config.policy.tables_games, *([invited] if invited else ()))


def _fault(name: str, games: Iterable[str]) -> str | None:
    from fibsbot.strategies.pool import close_strategy_in_time  # noqa: PLC0415 - slow to import

    try:
        strategy = load(name)
    except StrategyError as error:
        return str(error)
    try:
        return first_fault(strategy, games)
    finally:
        close_strategy_in_time(strategy, name)


def _parse_what_is_valid(tables: dict[str, Any]) -> tuple[Config | None, tuple[ConfigProblem, ...]]:
    """Return the configuration without the invalid settings, None if there is none, and the problems."""
    try:
        return config_from_tables(tables), ()
    except ConfigProblemsError as error:
        problems = error.problems
    for problem in problems:
        _remove_setting(tables, _STEP.findall(problem.path))
    try:
        return config_from_tables(tables), problems
    except ConfigProblemsError:
        return None, problems


def _remove_setting(tables: dict[str, Any], steps: list[str]) -> None:
    """Remove a setting from the tables: the one that the last existing step names.

    One of several accounts needs a name, so it gets a made-up one.
    """
    table: Any = tables
    for step, following in zip(steps, [*steps[1:], ""], strict=True):
        if isinstance(table, list):
            if not step.isdecimal() or not 0 < int(step) <= len(table):
                return  # not one of our paths: a name contains a bracket
            table = table[int(step) - 1]
            continue
        below = table.get(step)
        many = isinstance(below, list) and all(isinstance(item, dict) for item in below)
        if not following or not (isinstance(below, dict) or many):
            table.pop(step, None)
            if len(steps) == 3 and steps[1].isdecimal() and step == "name":
                table[step] = "_" * int(steps[1])
            return
        table = below


def _is_consequence(problem: ConfigProblem, before: ConfigProblem) -> bool:
    """Whether a problem only follows from another one: an invalid setting that was removed is missing."""
    return problem.path == before.path or before.path.startswith(f"{problem.path}.password")


SOURCES: Final = ("password_file", "password_credential", "password_env", "password_keyring")
"""Settings that say where a password is; the first that is set counts."""
ADDRESS_SOURCES: Final = ("url", "url_file", "url_credential", "url_env")
"""Settings that say where the address of a hook is; the first that is set counts."""
LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SHORT_FINISH: Final = 60.0
"""Seconds in which hardly any match ends."""

Conditions: TypeAlias = Iterator[tuple[object, str]]
"""Pairs of a condition, and the warning if it is true."""


def config_warnings(config: Config, *, process: bool = True) -> tuple[str, ...]:
    """Return warnings about settings that are valid but probably mistaken, and about unusable or unsafe paths.

    A warning about every account is given once, without naming them. `process`: include those for `fibsbot run`.
    """
    said: dict[str, list[str]] = {}
    accounts = list(account_paths(config)) or [("account", AccountConfig())]
    for path, account in accounts:
        for text in _account_warnings(config.for_account(account)):
            said.setdefault(text, []).append(path)
    of_accounts = [
        text if len(paths) == len(accounts) else f"{' and '.join(paths)}: {text}" for text, paths in said.items()
    ]
    others = [
        text for condition, text in (*_passwords(config), *_process(config), *_notify(config)) if condition and process
    ]
    places = [
        *password_file_warnings(config),
        *log_directory_warnings(config),
        *(service_path_warnings(config) if process else ()),
    ]
    return (*of_accounts, *others, *places)


def _account_warnings(config: Config) -> Iterator[str]:
    """Yield the warnings about a configuration's only account."""
    (account,) = config.accounts
    for check_section in _CHECKS:
        yield from (text for condition, text in check_section(config, account) if condition)
    yield from (f"policy.{text}" for text in config.policy.warnings())


def _server(config: Config, _: AccountConfig) -> Conditions:
    server = config.server
    yield server.tls_ca and not server.tls, "server.tls_ca has no effect while server.tls is false"
    is_fibs = server.host.lower().removeprefix("www.") == "fibs.com"
    yield server.tls and is_fibs, "server.tls is true, but FIBS offers no TLS: every connection will fail"


def _play(config: Config, account: AccountConfig) -> Conditions:
    bot, seek = config.bot, config.seek
    idle = not config.policy.accept and bot.invite is None and seek.after is None
    yield idle, "policy.accept is false, bot.invite and seek.after are missing: only saved matches are played"
    yield bot.resign_match and not bot.resign, "bot.resign_match has no effect while bot.resign is false"
    yield bot.invite and bot.invite == account.name, "bot.invite is the account itself"
    unused = [
        name
        for name in ("length", "lengths", "laws", "game")
        if getattr(bot, f"invite_{name}") != getattr(PlaySettings(), f"invite_{name}")
    ]
    yield (
        unused and bot.invite is None,
        f"bot.invite_{' and invite_'.join(unused)} without bot.invite: nobody is invited",
    )
    yield bot.invite_game and bot.invite_laws, "bot.invite_laws is ignored, because bot.invite_game has laws of its own"
    if bot.invite:
        request = MatchRequest(bot.invite, bot.lengths_in_turn[0], Direction.OURS)
        codes = ", ".join(reason.code for reason in reasons_to_refuse(config.policy, request))
        yield codes, f"bot.invite is {bot.invite}, whom the policy excludes ({codes})"


def _lists(config: Config, _: AccountConfig) -> Conditions:
    for setting in ("block", "allow"):
        for number, place in enumerate(getattr(config.lists, setting), 1):
            missing = not is_web_address(place) and not at_home(place).is_file()
            yield missing, f"lists.{setting}[{number}] is no file that can be read"


def _seeking(config: Config, _: AccountConfig) -> Conditions:
    seek, default = config.seek, SeekSettings()
    names = ("length", "lengths", "per_hour", "forgive", "bots")
    unused = [name for name in names if getattr(seek, name) != getattr(default, name)]
    yield unused and seek.after is None, f"seek.{' and '.join(unused)} without seek.after: nobody is invited"
    if seek.after is not None:
        yield (
            not seek.bots and not config.policy.people,
            "seek finds nobody: policy.people and seek.bots are both false",
        )
        name = "lengths has" if seek.lengths else "length is"
        for length in seek.lengths_in_turn:
            yield length not in config.policy.lengths, f"seek.{name} {length}, which is not in policy.lengths"


def _chat(config: Config, account: AccountConfig) -> Conditions:
    chat = config.chat
    for name in chat.operators:
        yield name == account.name, f"chat.operators has the account itself, {name}, which never hears itself"
        blocked = any(rule.matches(name) and rule.from_them for rule in config.policy.block)
        yield blocked, f"chat.operators has {name}, whom policy.block excludes from playing"


def _timings(config: Config, _: AccountConfig) -> Conditions:
    timing = config.timing
    yield timing.think_least > timing.think_most, "timing.think_least is above timing.think_most"
    yield timing.finish < SHORT_FINISH, "timing.finish is less than a minute: hardly any match ends in that time"
    yield (
        timing.watchdog <= timing.pause,
        "timing.watchdog is not above timing.pause: it expires before a command may be sent",
    )
    yield (
        timing.keep_alive >= timing.silence,
        "timing.keep_alive is not below timing.silence: an idle connection is considered dead",
    )


def _reconnecting(config: Config, _: AccountConfig) -> Conditions:
    pauses = config.reconnect
    yield pauses.first > pauses.longest, "reconnect.first is above reconnect.longest: no pause grows"
    yield pauses.restart > pauses.longest, "reconnect.restart is above reconnect.longest, which no pause exceeds"


_CHECKS: Final[tuple[Callable[[Config, AccountConfig], Conditions], ...]] = (
    _server,
    _play,
    _lists,
    _seeking,
    _chat,
    _timings,
    _reconnecting,
)


def _passwords(config: Config) -> Conditions:
    for path, account in account_paths(config):
        for first, second in pairwise([name for name in SOURCES if getattr(account, name) is not None]):
            yield True, f"{path}.{second} is ignored, because {first} takes precedence"


def _process(config: Config) -> Conditions:
    """Yield the warnings about the process that runs all accounts."""
    service, log = config.service, config.log
    yield 0 < log.max_total_megabytes < log.max_megabytes, "log.max_total_megabytes is below log.max_megabytes"
    for path, account in account_paths(config):
        own = "deadline" in account.overrides.get("timing", {})
        yield own, f"{path}.timing.deadline is ignored by `fibsbot run`: all accounts share the strategies"
    names = [account.name for account in config.accounts if account.name]
    for name in names:
        twins = [other for other in names if other.lower() == name.lower()]
        yield len(twins) > 1 and name == twins[0], f"account: {' and '.join(twins)} differ in case only"
    same = service.store is not None and service.control is not None and Path(service.store) == service.control
    yield same, "service.store and service.control are the same file"
    servers = [config.for_account(account).server for account in config.accounts]
    taken = any(server.port == service.web_port and server.host in LOCAL for server in servers)
    yield taken, "service.web_port is the port of the server"
    yield service.live and service.web_port is None, "service.live has no effect without service.web_port"
    yield service.share_accounts and not service.store, "service.share_accounts has no effect without service.store"


def _notify(config: Config) -> Conditions:
    for path, _, hook in hook_paths(config):
        yield not hook.is_used and hook != NotifySettings(), f"{path} has neither url nor command: nobody is notified"
        yield hook.command and hook.names_address, f"{path}.command is ignored, because there is a url"
        places = [name for name in ADDRESS_SOURCES if getattr(hook, name) is not None]
        for first, second in pairwise(places):
            yield True, f"{path}.{second} is ignored, because {first} takes precedence"
        token = any((hook.token_file, hook.token_credential, hook.token_env))
        yield token and not hook.names_address, f"{path} has a token, but no address to send it to"
        url = hook.url or ""
        local = (urlsplit(url).hostname or "") in LOCAL
        yield token and url.startswith("http:") and not local, f"{path} sends its token without encryption"
        wanted = set(hook.events)
        yield (
            NotifyEvent.SUMMARY in wanted and hook.summary_at is None,
            f"{path}.events has summary, but summary_at is missing: there is none",
        )
        yield (
            hook.summary_at is not None and NotifyEvent.SUMMARY not in wanted,
            f"{path}.summary_at has no effect without summary in events",
        )
        yield (
            NotifyEvent.RATING in wanted and not hook.ratings,
            f"{path}.events has rating, but ratings is empty: none is passed",
        )
        yield (
            hook.ratings and NotifyEvent.RATING not in wanted,
            f"{path}.ratings has no effect without rating in events",
        )


_GROUP_AND_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def password_file_warnings(config: Config) -> Iterator[str]:
    """Yield a warning for each password file that other users can open."""
    for path, account in account_paths(config):
        if account.password_file and _open_to_others(account.password_file):
            yield f"{path}.password_file can be read by other users: `chmod 600` prevents that"


def log_directory_warnings(config: Config) -> Iterator[str]:
    """Yield a warning if session logs cannot be written."""
    if not _can_create_in(config.log.directory):
        yield f"log.directory is {config.log.directory}, where this user cannot write"


def _log_directory_problems(config: Config) -> Iterator[ConfigProblem]:
    """Yield a problem if session logs cannot be written: without them no account can play."""
    if not _can_create_in(config.log.directory):
        yield ConfigProblem("log.directory", "a directory where this user can write", str(config.log.directory))


def service_path_warnings(config: Config) -> Iterator[str]:
    """Yield a warning for each file of the process that cannot be created."""
    service = config.service
    for name, path in {"store": _file_of(service.store), "control": service.control}.items():
        if path and not _can_create_in(path.parent):
            yield f"service.{name} is {path}, in a directory where this user cannot write"


def _file_of(store: str | None) -> Path | None:
    """Return the file of a store; None if it has none, or is unusable, which is reported as a problem."""
    from fibsbot.records.store.database import StoreError, database_url, is_sqlite  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        url = database_url(store) if store else None
    except StoreError:
        return None
    return Path(url.database) if url and url.database and is_sqlite(url) else None


def _open_to_others(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & _GROUP_AND_OTHERS)


def _can_create_in(directory: Path) -> bool:
    """Whether files can be created in a directory, which is created itself if it does not exist."""
    try:
        check_can_create(directory)
    except OSError as error:
        return is_disk_full(error)  # bots play on without their logs and wait with their records
    return True
