"""An archive that version 1.0 has written is read, and takes further matches."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from tests.commands import fibsbot

DATA: Final = Path(__file__).parent.parent / "data"
COUNTS: Final = "SELECT (SELECT count(*) FROM matches) AS matches, (SELECT count(*) FROM decisions) AS decisions"


def counts(folder: Path) -> dict[str, int]:
    """Ask the command for the numbers of matches and decisions."""
    done = fibsbot("archive", "query", COUNTS, "--archive", "archive", "--json", cwd=folder)
    assert (0, "") == (done.returncode, done.stderr)
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_an_archive_of_1_0_is_read_and_added_to(tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA / "archive" / "version_of_1_0.zip") as packed:
        packed.extractall(tmp_path / "archive")
    assert {"matches": 4, "decisions": 190} == counts(tmp_path)
    known = str(DATA / "formats/mat/one_point.mat")
    done = fibsbot("archive", "add", known, "--archive", "archive", cwd=tmp_path)
    assert "0 matches added" in done.stdout
    assert {"matches": 4, "decisions": 190} == counts(tmp_path)
