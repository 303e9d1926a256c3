"""What SQLAlchemy compiles, shared by all stores that tests open: each engine would compile the same statements anew.

That took half of the time of a store with a few records.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from sqlalchemy import create_engine
from sqlalchemy.engine.default import DefaultDialect

from fibsbot.records.store import database

_COMPILED: Final[dict[object, object]] = {}


def share() -> None:
    """Let every engine that is opened from now on use one cache."""
    # The key of a statement contains the dialect, of which each engine has one; those of a kind have the same settings.
    for name, method in (("__eq__", _equals), ("__hash__", _hash)):
        setattr(DefaultDialect, name, method)
    with_cache = partial(create_engine, execution_options={"compiled_cache": _COMPILED})
    setattr(database, "create_engine", with_cache)  # noqa: B010 - not exported


def _equals(one: object, other: object) -> bool:
    return type(one) is type(other)


def _hash(one: object) -> int:
    return hash(type(one))
