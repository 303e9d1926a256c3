"""Check a configuration file and what it refers to.

Errors, and warnings for settings that are valid but probably mistaken.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from fibsbot.bot.settings import RunSettings, SeekSettings
from fibsbot.config.build import account_paths, account_settings
from fibsbot.config.fields import ConfigProblem, ConfigProblemsError
from fibsbot.config.parser import config_from_tables, read_toml
from fibsbot.config.passwords import FoundPassword, find_password
from fibsbot.config.settings import AccountConfig, Config
from fibsbot.policy import Direction, MatchRequest, reasons_to_refuse
from fibsbot.strategies import base_name
from fibsbot.strategies.loader import StrategyError, available, load
from fibsbot.strategies.loader import check as try_out

_STEP: Final = re.compile(r"[^.\[\]]+")


@frozen
class CheckResult:
    """What a file comes to."""

    problems: tuple[ConfigProblem, ...]
    config: Config
    """What it says, where it says it rightly."""
    plans: tuple[RunSettings, ...] = ()
    """What the accounts are to do; nothing while there are problems."""
    secrets: Mapping[str, FoundPassword] = field(factory=dict)
    """The passwords that were found, by account."""


def check(path: Path, *, before_strategies: Callable[[Config], None] | None = None) -> CheckResult:
    """Read a file, and look for the passwords and everything else that it names.

    With `before_strategies`, strategies are tried, which may take half a minute, only if nothing else is wrong and that
    function, which is called before, raises nothing.
    """
    try:
        tables = read_toml(path)
    except ConfigProblemsError as error:
        return CheckResult(error.problems, Config())
    config, problems = _parse_what_is_valid(tables)
    if config is None:
        return CheckResult(problems, Config())
    secrets = _secrets(config)
    found, later = _plans(config, secrets)
    if before_strategies:
        if problems or later:
            return CheckResult(_with_later(problems, later), config)
        before_strategies(config)
    problems = (*problems, *_unusable_resources(config))
    if later:
        return CheckResult(_with_later(problems, later), config)
    return CheckResult(problems, config, () if problems else found, secrets)


def _plans(
    config: Config, secrets: Mapping[str, FoundPassword]
) -> tuple[tuple[RunSettings, ...], tuple[ConfigProblem, ...]]:
    """Return what the accounts are to do, or what is wrong with it."""
    try:
        return account_settings(config, {name: secret.text for name, secret in secrets.items()}), ()
    except ConfigProblemsError as error:
        return (), error.problems


def _with_later(problems: tuple[ConfigProblem, ...], later: Iterable[ConfigProblem]) -> tuple[ConfigProblem, ...]:
    return (*problems, *(it for it in later if not any(_is_consequence(it, before) for before in problems)))


def _secrets(config: Config) -> dict[str, FoundPassword]:
    """Return the passwords that can be found."""
    secrets = {}
    for path, account in account_paths(config):
        with contextlib.suppress(ConfigProblemsError):  # `plans` tells what is missing
            secrets[account.name or ""] = find_password(account, path, alone=len(config.accounts) == 1)
    return secrets


def _unusable_resources(config: Config) -> Iterator[ConfigProblem]:
    """Yield what would fail at the start though it is there: strategies that do not work, and the store."""
    paths: dict[str, str] = {}
    for path, account in account_paths(config):
        own = "strategy" in account.overrides.get("bot", {})
        paths.setdefault(config.for_account(account).bot.strategy, f"{path}.bot.strategy" if own else "bot.strategy")
    installed = {origin.name for origin in available()}
    for name, path in paths.items():
        if base_name(name) in installed and (fault := _fault(name)):
            yield ConfigProblem(path, "a strategy that works", fault)
    from fibsbot.records.store.database import StoreError, database_url  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        database_url(config.service.store or "none")
    except StoreError as error:
        yield ConfigProblem("service.store", "a store that can be used", str(error))


def _fault(name: str) -> str | None:
    try:
        strategy = load(name)
    except StrategyError as error:
        return str(error)
    try:
        return next(iter(try_out(strategy)), None)
    finally:
        strategy.close()


def _parse_what_is_valid(tables: dict[str, Any]) -> tuple[Config | None, tuple[ConfigProblem, ...]]:
    """Return what can be made of a file without the settings that are wrong, and what is wrong with them."""
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
    """Take a setting out of the tables: the last step that is the name of one.

    One of several accounts needs a name, so it gets another one.
    """
    table: Any = tables
    for step, following in zip(steps, [*steps[1:], ""], strict=True):
        if isinstance(table, list):
            if not step.isdecimal() or not 0 < int(step) <= len(table):
                return  # no path of ours: somebody has put a bracket into a name
            table = table[int(step) - 1]
            continue
        below = table.get(step)
        many = isinstance(below, list) and all(isinstance(it, dict) for it in below)
        if not following or not (isinstance(below, dict) or many):
            table.pop(step, None)
            if len(steps) == 3 and steps[1].isdecimal() and step == "name":
                table[step] = "_" * int(steps[1])
            return
        table = below


def _is_consequence(problem: ConfigProblem, before: ConfigProblem) -> bool:
    """Whether a problem is there only because of another one: a setting that was left out is missing."""
    return problem.path == before.path or before.path.startswith(f"{problem.path}.password")


SOURCES: Final = ("password_file", "password_credential", "password_env", "password_keyring")
"""Settings that name a password's place; the first that is set counts."""
LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SHORT_FINISH: Final = 60.0
"""Seconds in which hardly any match ends."""

Conditions: TypeAlias = Iterator[tuple[object, str]]
"""Whether something is in doubt, and the sentence that says so."""


def config_warnings(config: Config, *, process: bool = True) -> tuple[str, ...]:
    """Return what is legal but useless, and which places cannot be used or are not safe.

    What holds for every account is said once, without naming them. `process`: whether `fibsbot run` is meant.
    """
    said: dict[str, list[str]] = {}
    accounts = list(account_paths(config)) or [("account", AccountConfig())]
    for path, account in accounts:
        for text in _account_warnings(config.for_account(account)):
            said.setdefault(text, []).append(path)
    of_accounts = [
        text if len(paths) == len(accounts) else f"{' and '.join(paths)}: {text}" for text, paths in said.items()
    ]
    others = [text for doubtful, text in (*_passwords(config), *_process(config)) if doubtful and process]
    places = [
        *password_file_warnings(config),
        *log_directory_warnings(config),
        *(service_path_warnings(config) if process else ()),
    ]
    return (*of_accounts, *others, *places)


def _account_warnings(config: Config) -> Iterator[str]:
    """Yield what is in doubt about a configuration's only account."""
    (account,) = config.accounts
    for part in _CHECKS:
        yield from (text for doubtful, text in part(config, account) if doubtful)
    yield from (f"policy.{text}" for text in config.policy.useless())


def _server(config: Config, _: AccountConfig) -> Conditions:
    server = config.server
    yield server.tls_ca and not server.tls, "server.tls_ca has no effect while server.tls is false"
    is_fibs = server.host.lower().removeprefix("www.") == "fibs.com"
    yield server.tls and is_fibs, "server.tls is true, but FIBS offers no TLS: no connection will be made"


def _play(config: Config, account: AccountConfig) -> Conditions:
    bot, seek = config.bot, config.seek
    idle = not config.policy.accept and bot.invite is None and seek.after is None
    yield idle, "policy.accept is false, bot.invite and seek.after are missing: only saved matches are played"
    yield bot.resign_match and not bot.resign, "bot.resign_match has no effect while bot.resign is false"
    yield bot.invite and bot.invite == account.name, "bot.invite is the account itself"
    if bot.invite:
        request = MatchRequest(bot.invite, bot.invite_length, Direction.OURS)
        codes = ", ".join(reason.code for reason in reasons_to_refuse(config.policy, request))
        yield codes, f"bot.invite is {bot.invite}, whom the policy does not let us invite ({codes})"


def _seeking(config: Config, _: AccountConfig) -> Conditions:
    seek, default = config.seek, SeekSettings()
    unused = [it for it in ("length", "per_hour", "forgive", "bots") if getattr(seek, it) != getattr(default, it)]
    yield unused and seek.after is None, f"seek.{' and '.join(unused)} without seek.after: nobody is invited"
    if seek.after is not None:
        yield (
            not seek.bots and not config.policy.people,
            "seek finds nobody: policy.people and seek.bots are both false",
        )
        lengths = config.policy.lengths
        yield seek.length not in lengths, f"seek.length is {seek.length}, which is not in policy.lengths"


def _chat(config: Config, account: AccountConfig) -> Conditions:
    chat = config.chat
    for name in chat.operators:
        yield name == account.name, f"chat.operators has the account itself, {name}, which does not hear itself"
        blocked = any(rule.fits(name) and rule.theirs for rule in config.policy.block)
        yield blocked, f"chat.operators has {name}, whom policy.block keeps from playing"


def _timings(config: Config, _: AccountConfig) -> Conditions:
    it = config.timing
    yield it.think_least > it.think_most, "timing.think_least is above timing.think_most"
    yield it.finish < SHORT_FINISH, "timing.finish is less than a minute: hardly any match ends in that time"
    yield it.watchdog <= it.pause, "timing.watchdog is not above timing.pause: it strikes before a command may go out"
    yield (
        it.keep_alive >= it.silence,
        "timing.keep_alive is not below timing.silence: an idle connection counts as dead",
    )


def _reconnecting(config: Config, _: AccountConfig) -> Conditions:
    it = config.reconnect
    yield it.first > it.longest, "reconnect.first is above reconnect.longest: no pause grows"
    yield it.restart > it.longest, "reconnect.restart is above reconnect.longest, which no pause exceeds"


_CHECKS: Final[tuple[Callable[[Config, AccountConfig], Conditions], ...]] = (
    _server,
    _play,
    _seeking,
    _chat,
    _timings,
    _reconnecting,
)


def _passwords(config: Config) -> Conditions:
    for path, account in account_paths(config):
        for first, second in pairwise([name for name in SOURCES if getattr(account, name) is not None]):
            yield True, f"{path}.{second} is not looked at, because {first} goes before it"


def _process(config: Config) -> Conditions:
    """Yield what is in doubt about the process that runs all accounts."""
    service, log = config.service, config.log
    yield 0 < log.max_total_megabytes < log.max_megabytes, "log.max_total_megabytes is below log.max_megabytes"
    for path, account in account_paths(config):
        own = "deadline" in account.overrides.get("timing", {})
        yield own, f"{path}.timing.deadline is not looked at by `fibsbot run`: all accounts share what thinks"
    names = [account.name for account in config.accounts if account.name]
    for name in names:
        twins = [it for it in names if it.lower() == name.lower()]
        yield len(twins) > 1 and name == twins[0], f"account: {' and '.join(twins)} differ in case only"
    same = service.store is not None and service.control is not None and Path(service.store) == service.control
    yield same, "service.store and service.control are the same file"
    servers = [config.for_account(account).server for account in config.accounts]
    taken = any(it.port == service.web_port and it.host in LOCAL for it in servers)
    yield taken, "service.web_port is the port of the server"
    yield service.live and service.web_port is None, "service.live has no effect without service.web_port"


_GROUP_AND_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def password_file_warnings(config: Config) -> Iterator[str]:
    """Yield a sentence for each password file that is not its owner's alone."""
    for path, account in account_paths(config):
        if account.password_file and _open_to_others(account.password_file):
            yield f"{path}.password_file can be read by others than its owner: `chmod 600` puts that right"


def log_directory_warnings(config: Config) -> Iterator[str]:
    """Yield a sentence if session logs cannot be written; their folder is made where there is none."""
    folder = config.log.directory
    existing = next((it for it in (folder, *folder.absolute().parents) if os.access(it, os.F_OK)), Path("/"))
    if not _is_writable(existing):
        yield f"log.directory is {folder}, where this user cannot write"


def service_path_warnings(config: Config) -> Iterator[str]:
    """Yield a sentence for each file of the process that cannot be made, because its folder is not there."""
    service = config.service
    for name, path in {"store": _file_of(service.store), "control": service.control}.items():
        if path and not _is_writable(path.parent):
            yield f"service.{name} is {path}, in a folder where this user cannot write"


def _file_of(store: str | None) -> Path | None:
    """Return the file of a store; None where it has none, or cannot be used at all, which is told as a problem."""
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


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and folder.is_dir()
