"""Everything that is wrong with a file, told at once: its settings, and what they ask for."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from fibsbot.config.plans import paths_of, plans
from fibsbot.config.problems import ConfigProblem, ConfigProblemsError
from fibsbot.config.reading import read_toml, structure
from fibsbot.config.secrets import Secret, password_of
from fibsbot.config.settings import Config
from fibsbot.service.settings import AccountPlan
from fibsbot.strategies.loader import StrategyError, available, load
from fibsbot.strategies.loader import check as try_out
from fibsbot.strategies.names import plain_name

_STEP: Final = re.compile(r"[^.\[\]]+")


@frozen
class Checked:
    """What a file comes to."""

    problems: tuple[ConfigProblem, ...]
    config: Config
    """What it says, where it says it rightly."""
    plans: tuple[AccountPlan, ...] = ()
    """What the accounts are to do; nothing while there are problems."""
    secrets: Mapping[str, Secret] = field(factory=dict)
    """The passwords that were found, by account."""


def check(path: Path, *, before_strategies: Callable[[Config], None] | None = None) -> Checked:
    """Read a file, and look for the passwords and everything else that it names.

    With `before_strategies`, strategies are tried, which may take half a minute, only if nothing else is wrong and that
    function, which is called before, raises nothing.
    """
    try:
        tables = read_toml(path)
    except ConfigProblemsError as error:
        return Checked(error.problems, Config())
    config, problems = _salvage(tables)
    if config is None:
        return Checked(problems, Config())
    secrets = _secrets(config)
    found, later = _plans(config, secrets)
    if before_strategies:
        if problems or later:
            return Checked(_joined(problems, later), config)
        before_strategies(config)
    problems = (*problems, *_unusable(config))
    if later:
        return Checked(_joined(problems, later), config)
    return Checked(problems, config, () if problems else found, secrets)


def _plans(config: Config, secrets: Mapping[str, Secret]) -> tuple[tuple[AccountPlan, ...], tuple[ConfigProblem, ...]]:
    """Return what the accounts are to do, or what is wrong with it."""
    try:
        return plans(config, {name: secret.text for name, secret in secrets.items()}), ()
    except ConfigProblemsError as error:
        return (), error.problems


def _joined(problems: tuple[ConfigProblem, ...], later: Iterable[ConfigProblem]) -> tuple[ConfigProblem, ...]:
    return (*problems, *(it for it in later if not any(_follows(it, before) for before in problems)))


def _secrets(config: Config) -> dict[str, Secret]:
    """Return the passwords that can be found."""
    secrets = {}
    for path, account in paths_of(config):
        with contextlib.suppress(ConfigProblemsError):  # `plans` tells what is missing
            secrets[account.name or ""] = password_of(account, path, alone=len(config.accounts) == 1)
    return secrets


def _unusable(config: Config) -> Iterator[ConfigProblem]:
    """Yield what would fail at the start though it is there: strategies that do not work, and the store."""
    paths: dict[str, str] = {}
    for path, account in paths_of(config):
        own = "strategy" in account.own.get("bot", {})
        paths.setdefault(config.only(account).bot.strategy, f"{path}.bot.strategy" if own else "bot.strategy")
    installed = {origin.name for origin in available()}
    for name, path in paths.items():
        if plain_name(name) in installed and (fault := _fault(name)):
            yield ConfigProblem(path, "a strategy that works", fault)
    from fibsbot.records.store.database import StoreError, locate  # noqa: PLC0415 - SQLAlchemy is slow to import

    try:
        locate(config.service.store or "none")
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


def _salvage(tables: dict[str, Any]) -> tuple[Config | None, tuple[ConfigProblem, ...]]:
    """Return what can be made of a file without the settings that are wrong, and what is wrong with them."""
    try:
        return structure(tables), ()
    except ConfigProblemsError as error:
        problems = error.problems
    for problem in problems:
        _leave_out(tables, _STEP.findall(problem.path))
    try:
        return structure(tables), problems
    except ConfigProblemsError:
        return None, problems


def _leave_out(tables: dict[str, Any], steps: list[str]) -> None:
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


def _follows(problem: ConfigProblem, before: ConfigProblem) -> bool:
    """Whether a problem is there only because of another one: a setting that was left out is missing."""
    return problem.path == before.path or before.path.startswith(f"{problem.path}.password")
