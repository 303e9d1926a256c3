"""Matches that were really played, recorded and captured, go through every format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from fibsbot.formats import Format
from fibsbot.formats.conversion import READERS, WRITERS, read_matches
from fibsbot.replay.match_files import load_transcripts

DATA: Final = Path(__file__).parents[1] / "data"
RECORDINGS: Final = sorted([*DATA.glob("bot/*.jsonl"), *DATA.glob("replay/*.jsonl.gz"), *DATA.glob("replay/*.txt.gz")])


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_is_written_read_and_written_again_the_same(path: Path) -> None:
    for match in load_transcripts(path):
        for kind in (it for it in READERS if it.writable):
            text = WRITERS[kind](match)
            (read,) = read_matches(kind, text)
            assert text == WRITERS[kind](read), kind
            assert match.length == read.length
        assert [match] == list(read_matches(Format.JSON, WRITERS[Format.JSON](match)))


def test_there_are_recordings() -> None:
    assert RECORDINGS
