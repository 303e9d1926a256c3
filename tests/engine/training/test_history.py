"""The history of a training, written on after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from fibsbot.engine.engine import HISTORY
from fibsbot.engine.training.results import Reporter, read_history
from tests.engine.toys import Recounted
from tests.engine.training.silent_listener import Silent


@pytest.mark.parametrize("rest", ["", '{"round": 1, "P', '{"round": 1}'])
def test_a_row_is_appended_to_whole_rows(tmp_path: Path, rest: str) -> None:
    path = tmp_path / HISTORY
    path.write_text('{"round": 0}\n' + rest)
    notes: list[str] = []
    assert [{"round": 0}] == read_history(tmp_path, notes.append)
    assert bool(rest) == bool(notes)
    Reporter(tmp_path, Silent(), None).measure({"round": 1}, Recounted())
    assert [{"round": 0}, {"round": 1, "seconds": 0}] == read_history(tmp_path, notes.append)
    assert bool(rest) == bool(notes)
