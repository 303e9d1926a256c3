"""Fixtures for the commands that use the engine."""

from __future__ import annotations

import pytest

from tests.cli.engine.pip_networks import write_pip_networks
from tests.cli.engine.runner import Asking


@pytest.fixture(scope="session")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    """Give the commands, with networks that count pips and bear-off tables of their own."""
    folder = tmp_path_factory.mktemp("asking")
    write_pip_networks(folder / "networks")
    return Asking(folder / "networks", folder / "cache")
