"""From a configuration to what is run: passwords are found, and everything that is still wrong is told at once."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import evolve

from fibsbot.bot.settings import AgentSettings, ChatSettings, RunSettings, SeekSettings, Timings
from fibsbot.client.backoff import Pauses
from fibsbot.client.tls import Tls
from fibsbot.config.declaring import made
from fibsbot.config.problems import ConfigProblem, ConfigProblemsError, shown
from fibsbot.config.secrets import password_of
from fibsbot.config.settings import MEGABYTE, AccountConfig, Config
from fibsbot.policy import Policy
from fibsbot.records.rotation import Rotation
from fibsbot.service.settings import AccountPlan
from fibsbot.strategies.loader import available
from fibsbot.strategies.names import plain_name


def plans(config: Config, passwords: Mapping[str, str] | None = None) -> tuple[AccountPlan, ...]:
    """Return what each account is to do, in the file's order.

    `passwords`, by name of account, are those that are known already: after a reload, say. All others are looked for.
    Raises ConfigProblemsError with everything that is wrong.
    """
    known = passwords or {}
    made_plans: list[AccountPlan] = []
    problems: list[ConfigProblem] = []
    if not config.accounts:
        problems.append(ConfigProblem("account", "a table [account] with the name of an account", "none"))
    for path, account in paths_of(config):
        try:
            made_plans.append(_plan(config, account, path, known))
        except ConfigProblemsError as error:
            problems += error.problems
    if problems:
        raise ConfigProblemsError(dict.fromkeys(problems))
    return tuple(made_plans)


def paths_of(config: Config) -> Iterator[tuple[str, AccountConfig]]:
    """Yield each account and where it stands in the file."""
    for number, account in enumerate(config.accounts, 1):
        yield f"account[{number}]" if len(config.accounts) > 1 else "account", account


def _plan(config: Config, account: AccountConfig, path: str, known: Mapping[str, str]) -> AccountPlan:
    one, password, problems = config.only(account), known.get(account.name or ""), []
    if account.name is None:
        problems.append(ConfigProblem(f"{path}.name", "the name of an account", "none"))
    if password is None:
        try:
            password = password_of(account, path, alone=len(config.accounts) == 1).text
        except ConfigProblemsError as error:
            problems += error.problems
    for (section, name), problem in _unusable(one):
        own = name in account.own.get(section, {})
        problems.append(problem.below(f"{path}.{section}.{name}" if own else f"{section}.{name}"))
    if problems or password is None:
        raise ConfigProblemsError(problems)
    log_path = config.log.directory / f"{account.name}.jsonl"
    return AccountPlan(run_settings(config, account, password, log_path), one.bot.strategy)


def _unusable(one: Config) -> Iterator[tuple[tuple[str, str], ConfigProblem]]:
    """Yield the settings of an account that ask for something which is not there."""
    names = list(dict.fromkeys(origin.name for origin in available()))
    if plain_name(one.bot.strategy) not in names:
        yield ("bot", "strategy"), ConfigProblem("", f"one of {', '.join(names)}", shown(one.bot.strategy))
    if one.server.tls and one.server.tls_ca:
        try:
            ssl.create_default_context(cafile=one.server.tls_ca)
        except OSError as error:
            got = "something else" if isinstance(error, ssl.SSLError) else error.strerror or type(error).__name__
            yield ("server", "tls_ca"), ConfigProblem("", "a file with certificates", got)


def run_settings(config: Config, account: AccountConfig, password: str, log_path: Path | None = None) -> RunSettings:
    """Return what the run of an account that has a name needs."""
    one = config.only(account)
    agent = made(
        AgentSettings,
        one.bot,
        name=account.name or "",
        password=password,
        length=one.bot.invite_length,
        policy=made(Policy, one.policy),
        seek=made(SeekSettings, one.seek),
        chat=made(ChatSettings, one.chat),
        timings=made(Timings, one.timing),
        commands_a_minute=one.timing.commands_a_minute,
    )
    return RunSettings(
        host=one.server.host,
        port=one.server.port,
        agent=evolve(agent, client=account.client) if account.client else agent,
        tls=Tls(one.server.tls_ca) if one.server.tls else None,
        register=one.server.register,
        deadline=one.timing.deadline,
        connect_timeout=one.timing.connect,
        pauses=made(Pauses, one.reconnect),
        log_path=log_path,
        rotation=made(
            Rotation,
            one.log,
            max_bytes=one.log.max_megabytes * MEGABYTE,
            max_total_bytes=one.log.max_total_megabytes * MEGABYTE,
        ),
    )
