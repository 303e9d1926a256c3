"""Tables to test with."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fibsbot.engine.bearoff import BearoffTables
from fibsbot.engine.bearoff.storage import cache_folder
from tests.engine.toys import solved


@pytest.fixture(scope="session")
def tables() -> BearoffTables:
    """The usual tables, computed here."""
    return solved(6)


@pytest.fixture(scope="session")
def small() -> BearoffTables:
    """Tables whose two-sided part is for two checkers."""
    return solved(2)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own."""
    monkeypatch.setitem(os.environ, "FIBSBOT_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    yield tmp_path
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")], "something was left half done"
