"""From a configuration to what is run: passwords are found, and everything that is still wrong is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import evolve

from fibsbot.bot.runner import RunSettings
from fibsbot.bot.settings import AgentSettings, ChatSettings, SeekSettings, Timings
from fibsbot.client.backoff import Pauses
from fibsbot.client.connection import Tls
from fibsbot.config.declaring import made
from fibsbot.config.problems import ConfigProblem, ConfigProblemsError
from fibsbot.config.secrets import password_of
from fibsbot.config.settings import MEGABYTE, AccountConfig, Config
from fibsbot.policy import Policy
from fibsbot.records.rotation import Rotation
from fibsbot.service.settings import AccountPlan


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
        raise ConfigProblemsError(problems)
    return tuple(made_plans)


def paths_of(config: Config) -> Iterator[tuple[str, AccountConfig]]:
    """Yield each account and where it stands in the file."""
    for number, account in enumerate(config.accounts, 1):
        yield f"account[{number}]" if len(config.accounts) > 1 else "account", account


def _plan(config: Config, account: AccountConfig, path: str, known: Mapping[str, str]) -> AccountPlan:
    if account.name is None:
        raise ConfigProblemsError([ConfigProblem(f"{path}.name", "the name of an account", "none")])
    password = known.get(account.name) or password_of(account, path, alone=len(config.accounts) == 1).text
    log_path = config.log.directory / f"{account.name}.jsonl"
    return AccountPlan(run_settings(config, account, password, log_path), config.only(account).bot.strategy)


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
        rotation=made(Rotation, one.log, max_bytes=one.log.max_megabytes * MEGABYTE),
    )
