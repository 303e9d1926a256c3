"""What a changed configuration changes while the bots play, and what has to wait for the next start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from attrs import evolve, frozen

from fibsbot.config.declaring import Table, sections_of, settings_of
from fibsbot.config.plans import paths_of
from fibsbot.config.settings import AccountConfig, Config


@frozen
class Changes:
    """The difference between two configurations."""

    applied: tuple[str, ...]
    """Paths of the settings that hold from now on, such as `policy.lengths`."""
    ignored: tuple[str, ...]
    """Paths of the settings that need a restart, such as `server.host`; of accounts also whether they are new."""
    config: Config
    """What holds from now on: the new settings, and the old ones where a change has to wait."""


def changes(old: Config, new: Config) -> Changes:
    """Compare what holds with what a file says now. Accounts are known by their names."""
    found: list[_Change] = []
    holds: dict[str, Any] = {}
    for part in sections_of(Config):
        if not part.many:
            was, now = getattr(old, part.attribute), getattr(new, part.attribute)
            found += _compared(part.name, part.table, _values(was), _values(now))
            holds[part.attribute] = evolve(now, **_fixed(part.table, _values(was)))
    coming = {account.name: (path, account) for path, account in paths_of(new)}
    accounts = []
    for account in old.accounts:
        path, now = coming.pop(account.name, ("", None))
        found += _compared_accounts(path, account, now)
        accounts.append(_holding(account, now) if now else account)
    found += [_Change(f"account {name!r} is new: restart", fixed=True) for name in coming]
    return Changes(
        tuple(it.path for it in found if not it.fixed),
        tuple(it.path for it in found if it.fixed),
        evolve(new, accounts=tuple(accounts), **holds),
    )


@frozen
class _Change:
    path: str
    fixed: bool


def _values(table: attrs.AttrsInstance) -> Mapping[str, Any]:
    return {it.name: getattr(table, it.name) for it in settings_of(type(table))}


def _fixed(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that cannot change before the next start."""
    return {it.name: values[it.name] for it in settings_of(table) if it.about.fixed and it.name in values}


def _compared(path: str, table: Table, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[_Change]:
    """Yield the settings of a section that have another value, or have one now, or have none any more."""
    for it in settings_of(table):
        if was.get(it.name, _Nothing) != now.get(it.name, _Nothing):
            yield _Change(f"{path}.{it.name}", it.about.fixed)


class _Nothing:
    """Stands for the value of a setting that is not there."""


def _compared_accounts(path: str, was: AccountConfig, now: AccountConfig | None) -> Iterator[_Change]:
    if now is None:
        yield _Change(f"account {was.name!r} is gone: restart", fixed=True)
        return
    yield from _compared(path, AccountConfig, _values(was), _values(now))
    for part in sections_of(Config):
        if part.apart:
            own = was.own.get(part.name, {}), now.own.get(part.name, {})
            yield from _compared(f"{path}.{part.name}", part.table, *own)


def _holding(was: AccountConfig, now: AccountConfig) -> AccountConfig:
    """Return the account as it was, with its new settings where they need no restart."""
    own: dict[str, Mapping[str, Any]] = {}
    for part in sections_of(Config):
        before, after = was.own.get(part.name, {}), now.own.get(part.name, {})
        fixed = _fixed(part.table, before)
        own[part.name] = {key: it for key, it in after.items() if key not in _fixed(part.table, after)} | fixed
    return evolve(was, own={name: values for name, values in own.items() if values})
