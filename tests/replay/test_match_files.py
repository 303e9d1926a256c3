"""Files of every kind and encoding are read; a capture in which `oldmoves` was asked for holds those matches."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fibsbot.formats import Format, FormatError
from fibsbot.formats.mat import write_mat
from fibsbot.formats.oldmoves import write_oldmoves
from fibsbot.replay.log_reading import CaptureError
from fibsbot.replay.match_files import find_format, load_transcripts
from tests.formats.one_match import read_mat, read_oldmoves
from tests.formats.simulated_matches import simulate
from tests.replay.transcript_helpers import DATA, unpacked

BANNER = b"\r\n".join((DATA / "protocol/session_watch.txt").read_bytes().split(b"\n")[:60])
LIST = write_oldmoves(simulate(18, 5)).encode().replace(b"\n", b"\r\n")
ASKED = b"> oldmoves alice\r\n" + LIST
PLAYED = unpacked("three_points_marvin.txt")


@pytest.mark.parametrize("before", [b"", BANNER, BANNER * 10], ids=["alone", "after a login", "far behind it"])
@pytest.mark.parametrize("packed", [False, True])
def test_lists_are_found_in_a_capture(before: bytes, packed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    path = tmp_path / "capture.txt"
    data = before + ASKED + b"> bye\r\n"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert Format.OLDMOVES is find_format(path)
    (match,) = load_transcripts(path)
    assert read_oldmoves(LIST.decode()) == match


@pytest.mark.parametrize("data", [ASKED + PLAYED, PLAYED + ASKED], ids=["before", "after"])
def test_a_played_match_takes_precedence_over_lists(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "capture.txt"
    path.write_bytes(data)
    assert find_format(path) is None
    (match,) = load_transcripts(path)
    assert "ford" in {player.name for player in match.players}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_match_file_is_read_in_every_encoding_that_windows_writes(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "match.mat"
    match = simulate(18, 5)
    path.write_bytes(f"\ufeff{write_mat(match)}".encode(encoding))
    assert [read_mat(write_mat(match))] == list(load_transcripts(path))


def test_a_match_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.mat.gz"
    path.write_bytes(gzip.compress(write_mat(simulate(18, 5)).encode())[:-300])
    with pytest.raises(FormatError, match="expected a whole gzip file, got one that is cut off"):
        list(load_transcripts(path))
    path.write_bytes(b"\x1f\x8b no gzip file")
    with pytest.raises(FormatError, match="expected a whole gzip file, got a damaged one"):
        list(load_transcripts(path))
    path = path.rename(tmp_path / "capture.gz")
    with pytest.raises(CaptureError, match="expected a whole gzip file, got a damaged one"):
        list(load_transcripts(path))
