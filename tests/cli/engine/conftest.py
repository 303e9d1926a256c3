"""Fixtures for the commands that use the engine."""

from __future__ import annotations

import pytest

from fibsbot.engine.bearoff.storage import path_for, write_tables
from tests.cli.engine.pip_networks import write_pip_networks
from tests.cli.engine.runner import Asking
from tests.engine.toys import solved


@pytest.fixture(scope="session")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    """Give the commands, with networks that count pips and bear-off tables of their own."""
    folder = tmp_path_factory.mktemp("asking")
    write_pip_networks(folder / "networks")
    (folder / "cache").mkdir()
    write_tables(solved(6), path_for(6, folder / "cache"))
    return Asking(folder / "networks", folder / "cache")
