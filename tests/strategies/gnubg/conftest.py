"""A running gnubg for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fibsbot.strategies.gnubg import GnubgStrategy
from tests.engines import descendants, gone


@pytest.fixture(scope="module")
def gnubg() -> Iterator[GnubgStrategy]:
    """A gnubg without looking ahead; afterwards no process may be left."""
    before = descendants()
    strategy = GnubgStrategy("0")
    yield strategy
    strategy.close()
    assert gone(*(descendants() - before))
