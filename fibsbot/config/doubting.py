"""What is allowed, but cannot be meant: a sentence each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from fibsbot.config.declaring import made
from fibsbot.config.places import doubtful_log, doubtful_passwords, doubtful_service
from fibsbot.config.plans import paths_of
from fibsbot.config.settings import AccountConfig, Config, SeekConfig
from fibsbot.policy import Direction, Policy, Request, reasons

SOURCES: Final = ("password_file", "password_credential", "password_env", "password_keyring")
"""Settings that name a password's place; the first that is set counts."""
LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
HURRY: Final = 60.0
"""Seconds in which hardly any match ends."""

Doubts: TypeAlias = Iterator[tuple[object, str]]
"""Whether something is in doubt, and the sentence that says so."""


def doubts(config: Config, *, process: bool = True) -> tuple[str, ...]:
    """Return what is legal but useless, and which places cannot be used or are not safe.

    What holds for every account is said once, without naming them. `process`: whether `fibsbot run` is meant.
    """
    said: dict[str, list[str]] = {}
    accounts = list(paths_of(config)) or [("account", AccountConfig())]
    for path, account in accounts:
        for text in _of_account(config.only(account)):
            said.setdefault(text, []).append(path)
    of_accounts = [
        text if len(paths) == len(accounts) else f"{' and '.join(paths)}: {text}" for text, paths in said.items()
    ]
    others = [text for doubtful, text in (*_passwords(config), *_process(config)) if doubtful and process]
    places = [*doubtful_passwords(config), *doubtful_log(config), *(doubtful_service(config) if process else ())]
    return (*of_accounts, *others, *places)


def _of_account(config: Config) -> Iterator[str]:
    """Yield what is in doubt about a configuration's only account."""
    (account,) = config.accounts
    for part in _PARTS:
        yield from (text for doubtful, text in part(config, account) if doubtful)
    yield from (f"policy.{text}" for text in made(Policy, config.policy).useless())


def _server(config: Config, _: AccountConfig) -> Doubts:
    server = config.server
    yield server.tls_ca and not server.tls, "server.tls_ca has no effect while server.tls is false"
    is_fibs = server.host.lower().removeprefix("www.") == "fibs.com"
    yield server.tls and is_fibs, "server.tls is true, but FIBS offers no TLS: no connection will be made"


def _play(config: Config, account: AccountConfig) -> Doubts:
    bot, seek = config.bot, config.seek
    idle = not config.policy.accept and bot.invite is None and seek.after is None
    yield idle, "policy.accept is false, bot.invite and seek.after are missing: only saved matches are played"
    yield bot.resign_match and not bot.resign, "bot.resign_match has no effect while bot.resign is false"
    yield bot.invite and bot.invite == account.name, "bot.invite is the account itself"
    if bot.invite:
        request = Request(bot.invite, bot.invite_length, Direction.OURS)
        codes = ", ".join(reason.code for reason in reasons(made(Policy, config.policy), request))
        yield codes, f"bot.invite is {bot.invite}, whom the policy does not let us invite ({codes})"


def _seeking(config: Config, _: AccountConfig) -> Doubts:
    seek, default = config.seek, SeekConfig()
    unused = [it for it in ("length", "per_hour", "forgive", "bots") if getattr(seek, it) != getattr(default, it)]
    yield unused and seek.after is None, f"seek.{' and '.join(unused)} without seek.after: nobody is invited"
    if seek.after is not None:
        yield (
            not seek.bots and not config.policy.people,
            "seek finds nobody: policy.people and seek.bots are both false",
        )
        lengths = config.policy.lengths
        yield seek.length not in lengths, f"seek.length is {seek.length}, which is not in policy.lengths"


def _talk(config: Config, account: AccountConfig) -> Doubts:
    chat = config.chat
    for name in chat.operators:
        yield name == account.name, f"chat.operators has the account itself, {name}, which does not hear itself"
        blocked = any(rule.fits(name) and rule.theirs for rule in config.policy.block)
        yield blocked, f"chat.operators has {name}, whom policy.block keeps from playing"


def _waits(config: Config, _: AccountConfig) -> Doubts:
    it = config.timing
    yield it.think_least > it.think_most, "timing.think_least is above timing.think_most"
    yield it.finish < HURRY, "timing.finish is less than a minute: hardly any match ends in that time"
    yield it.watchdog <= it.pause, "timing.watchdog is not above timing.pause: it strikes before a command may go out"
    yield (
        it.keep_alive >= it.silence,
        "timing.keep_alive is not below timing.silence: an idle connection counts as dead",
    )


def _pauses(config: Config, _: AccountConfig) -> Doubts:
    it = config.reconnect
    yield it.first > it.longest, "reconnect.first is above reconnect.longest: no pause grows"
    yield it.restart > it.longest, "reconnect.restart is above reconnect.longest, which no pause exceeds"


_PARTS: Final[tuple[Callable[[Config, AccountConfig], Doubts], ...]] = (
    _server,
    _play,
    _seeking,
    _talk,
    _waits,
    _pauses,
)


def _passwords(config: Config) -> Doubts:
    for path, account in paths_of(config):
        for first, second in pairwise([name for name in SOURCES if getattr(account, name) is not None]):
            yield True, f"{path}.{second} is not looked at, because {first} goes before it"


def _process(config: Config) -> Doubts:
    """Yield what is in doubt about the process that runs all accounts."""
    service, log = config.service, config.log
    yield 0 < log.max_total_megabytes < log.max_megabytes, "log.max_total_megabytes is below log.max_megabytes"
    for path, account in paths_of(config):
        own = "deadline" in account.own.get("timing", {})
        yield own, f"{path}.timing.deadline is not looked at by `fibsbot run`: all accounts share what thinks"
    names = [account.name for account in config.accounts if account.name]
    for name in names:
        twins = [it for it in names if it.lower() == name.lower()]
        yield len(twins) > 1 and name == twins[0], f"account: {' and '.join(twins)} differ in case only"
    same = service.store is not None and service.control is not None and Path(service.store) == service.control
    yield same, "service.store and service.control are the same file"
    servers = [config.only(account).server for account in config.accounts]
    taken = any(it.port == service.web_port and it.host in LOCAL for it in servers)
    yield taken, "service.web_port is the port of the server"
    yield service.live and service.web_port is None, "service.live has no effect without service.web_port"
