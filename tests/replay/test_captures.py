"""Captures of any program are recognised and read, wherever they were cut."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.words import FibsMove
from fibsbot.records.finished_logs import finished_files
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.replay import captures
from fibsbot.replay.events import EntryAdded
from fibsbot.replay.log_reading import LONGEST_LINE, CaptureError, lines_with_offsets
from fibsbot.replay.match_files import group_log_parts
from fibsbot.transcript import Gap, walk
from tests.patience import SOON
from tests.records.log_clock import rotation
from tests.replay.transcript_helpers import (
    CAPTURES,
    DATA,
    RECORDED,
    differences_in,
    events_of_bytes,
    matches_of,
    recorded_events,
    transcripts_in,
    unpacked,
)

NOON = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
WATCHED = (DATA / "protocol/session_watch.txt").read_bytes()
LOGGED = (DATA / "bot/tigergammon.jsonl").read_bytes()
TYPED = b"""\xff\xfb\x01login: login telnet 1008 zaphod secret
1 zaphod 1593791615 host1.example.net
You rolled 3, ford rolled 1
\aIt's your turn to move.
> move 8-5 6-5
> say roll me a good one
r
"""


def heard(spoken: list[captures.CaptureEvent]) -> list[m.Message]:
    """Return the server's messages."""
    return [it.message for it in spoken if isinstance(it, captures.ReceivedMessage)]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in the background."""
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cut_up(data: bytes, sizes: list[int]) -> list[bytes]:
    """Cut bytes into pieces of these sizes, again and again."""
    pieces, place, turn = [], 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        pieces.append(data[place : place + size])
        place, turn = place + size, turn + 1
    return pieces


# -- raw captures ---------------------------------------------------------------------------------------------------


def test_typed_commands_are_distinguished_from_server_lines() -> None:
    spoken = list(captures.read_parts([[TYPED]]))
    said = [it.command for it in spoken if isinstance(it, captures.SentCommand)]
    assert [c.Move((FibsMove(8, 5), FibsMove(6, 5))), c.Roll()] == said[-2:]
    assert m.FirstMove("You") in heard(spoken)
    assert all(
        it.at is None
        for it in spoken
        if isinstance(it, captures.ReceivedMessage | captures.SentCommand | captures.ConnectionEnded)
    )


@pytest.mark.parametrize("ending", [b"\r\n", b"\n", b"\r", b"\r\0"])
def test_all_line_ends_are_read(ending: bytes) -> None:
    expected = heard(list(captures.read_parts([[WATCHED]])))
    assert expected == heard(list(captures.read_parts([[WATCHED.replace(b"\n", ending)]])))


def test_offsets_are_those_of_the_lines() -> None:
    for it in captures.read_parts([[WATCHED]]):
        if isinstance(it, captures.ReceivedMessage) and isinstance(it.message, m.Board):
            assert WATCHED[it.offset :].startswith(b"board:")


@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=6))
def test_a_raw_capture_reads_the_same_in_any_pieces(sizes: list[int]) -> None:
    data = WATCHED[:9000]
    assert list(captures.read_parts([[data]])) == list(captures.read_parts([cut_up(data, sizes)]))


def test_unexpected_characters_are_harmless() -> None:
    data = WATCHED.replace(b"resuming", "réßümíng ☃".encode()).replace(b"drops", b"dr\x80ps\x1b[31m")
    boards = [it for it in heard(list(captures.read_parts([[data]]))) if isinstance(it, m.Board)]
    assert [it for it in heard(list(captures.read_parts([[WATCHED]]))) if isinstance(it, m.Board)] == boards


# -- session logs ---------------------------------------------------------------------------------------------------


def test_a_session_log_has_times_commands_and_events() -> None:
    spoken = list(captures.read_captures([DATA / "bot/baldlies.jsonl"]))
    assert captures.SessionInfo("bot_a", "127.0.0.1:4712") in spoken
    decision = next(it for it in spoken if isinstance(it, captures.LoggedEvent) and it.name == "decision")
    move = spoken[spoken.index(decision) + 1]
    assert isinstance(move, captures.SentCommand)
    assert isinstance(move.command, c.Move)
    assert move.at is not None
    text = (DATA / "bot/baldlies.jsonl").read_bytes()
    assert b'"sent": "move 17-20 19-20' in text[move.offset :].split(b"\n")[0]


def test_a_session_log_reads_the_same_in_any_pieces(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    for path, size in ((whole, 10**6), (cut, 7)):
        with SessionLogWriter(path, clock=lambda: NOON, user="marvin") as log:
            for piece in cut_up(WATCHED[:9000], [size]):
                log.received(piece)
    assert heard(list(captures.read_captures([whole]))) == heard(list(captures.read_captures([cut])))


def test_half_written_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with SessionLogWriter(path, clock=lambda: NOON) as log:
        log.received(b"You roll 6 and 4.\r\n")
    with path.open("ab") as file:
        file.write(b'{"time": "2026-11-20T12:00:00+00:00", "rece')
    assert [m.Rolls("You", (6, 4))] == heard(list(captures.read_captures([path])))


def test_a_connection_that_was_lost_is_a_cut_and_half_a_line_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with SessionLogWriter(path, clock=lambda: NOON) as log:
        log.received(b"You roll 6 and 4.\r\nford rol")
        log.event("connection_lost", reason="closed by the server", state="my move")
        log.received(b"login: ")
    spoken = list(captures.read_captures([path]))
    assert [m.Rolls("You", (6, 4)), m.LoginPrompt()] == heard(spoken)
    assert ["another run begins", "closed by the server", "the log ends"] == [
        it.reason for it in spoken if isinstance(it, captures.ConnectionEnded)
    ]


def test_parts_of_a_log_are_one_capture_even_where_a_line_was_cut(tmp_path: Path) -> None:
    """A log that begins new files all the time, as the writer does it, against the same log in one file."""
    path, single = tmp_path / "marvin.jsonl", tmp_path / "single.jsonl"
    times = iter(NOON + dt.timedelta(seconds=place) for place in range(10**6))
    records = [piece for name in ("three_points_marvin.txt",) for piece in cut_up(unpacked(name), [3001])]
    with SessionLogWriter(path, clock=lambda: next(times), rotation=rotation(max_bytes=2**16, daily=False)) as log:
        for piece in records * 3:
            log.received(piece)
    with SessionLogWriter(single, clock=lambda: NOON) as log:
        for piece in records * 3:
            log.received(piece)
    wait_until(lambda: all(file.compressed for file in finished_files(path)))
    (group,) = group_log_parts(tmp_path.glob("marvin*"))
    assert len(group) > 1
    assert path == group[-1]
    assert heard(list(captures.read_captures([single]))) == heard(list(captures.read_captures(group)))


def test_a_part_that_was_compressed_in_the_meantime_is_found(tmp_path: Path) -> None:
    path = tmp_path / "marvin-20261121T181502Z.jsonl"
    path.with_name(f"{path.name}.gz").write_bytes((RECORDED / "three_points_marvin.jsonl.gz").read_bytes())
    assert matches_of(RECORDED / "three_points_marvin.jsonl.gz") == matches_of(path)


def test_groups_are_logs_with_their_parts_in_order() -> None:
    names = [
        *("b.txt", "marvin.jsonl", "marvin-20261121T181502Z_002.jsonl", "marvin-20261121T181502Z.jsonl.gz"),
        *("marvin-20261120T000000Z.jsonl.gz", "ford.jsonl.gz", "a.mat"),
    ]
    groups = [[path.name for path in group] for group in group_log_parts(map(Path, names))]
    assert [["b.txt"], [names[4], names[3], names[2], names[1]], ["ford.jsonl.gz"], ["a.mat"]] == groups


# -- compressed files -----------------------------------------------------------------------------------------------


def test_a_compressed_capture_is_read_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "capture.gz"
    path.write_bytes(gzip.compress(WATCHED[:5000]) + gzip.compress(WATCHED[5000:]) + bytes(9000))  # as tapes are padded
    assert list(captures.read_parts([[WATCHED]])) == list(captures.read_captures([path]))


def test_a_compressed_capture_that_is_cut_off_or_damaged_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "capture.gz"
    packed = gzip.compress(WATCHED)
    for data, problem in (
        (packed[: len(packed) // 2], "cut off"),
        (packed[:2000] + b"\xff" * 64 + packed[2064:], "damaged"),
        (packed[:-4], "cut off"),
    ):
        path.write_bytes(data)
        half: list[captures.CaptureEvent] = []
        with pytest.raises(CaptureError, match=f"expected a whole gzip file, got .*{problem}"):
            half.extend(captures.read_captures([path]))  # keeps what came before the damage
        whole = heard(half)[:-1]
        assert heard(list(captures.read_parts([[WATCHED]])))[: len(whole)] == whole
        assert len(whole) > 50
        assert isinstance(half[-1], captures.ConnectionEnded)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("data", [WATCHED, LOGGED], ids=["capture", "session log"])
def test_a_file_redirected_by_powershell_reads_the_same(data: bytes, encoding: str, tmp_path: Path) -> None:
    plain, wide = tmp_path / "plain", tmp_path / "wide"
    plain.write_bytes(data)
    wide.write_bytes(f"\ufeff{data.decode()}".encode(encoding))
    assert list(captures.read_captures([plain])) == list(captures.read_captures([wide]))


# -- what is none ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (b"", "an empty file"),
        (b"\n \r\n", "an empty file"),
        (bytes(range(256)) * 20, "a binary file"),
        ("board:".encode("utf-16-be") * 50, "a binary file"),
        (b"Dear Patti,\nhow are you?\n" * 9, "a text without any line of a server"),
        (b'{"fibsbot_session_log": 2, "time": "2026-01-02T03:04:05+00:00"}\n', "got version 2"),
        (b'{"fibsbot_session_log": 1, "time": "when?"}\n', "expected a first line with"),
    ],
)
def test_a_file_of_another_kind_is_rejected_with_one_line(data: bytes, got: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(CaptureError, match="expected") as error:
        list(captures.read_captures([path]))
    assert got in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_is_no_capture(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="folder"):
        list(captures.read_captures([tmp_path]))


@pytest.mark.slow
def test_a_long_text_without_a_server_is_rejected_early() -> None:
    def prose() -> object:
        while True:
            yield b"All work and no play makes Jack a dull boy.\n" * 1000

    with pytest.raises(CaptureError, match="without any line of a server"):
        list(captures.read_parts([prose()]))  # type: ignore[list-item]


def test_a_log_without_a_match_has_no_matches(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with SessionLogWriter(path, clock=lambda: NOON, user="marvin") as log:
        log.received(b"login: ")
        log.event("connection_lost", reason="refused")
    assert [] == matches_of(path)


def test_overlong_lines_are_left_out() -> None:
    long = [b"x" * 2**20] * (LONGEST_LINE // 2**20 + 2)
    got = list(lines_with_offsets([b"one\n", *long, b"\ntwo\n", b"thr", b"ee"]))
    assert [b"one", b"two", b"three"] == [line for _, line in got]
    assert 4 + sum(map(len, long)) + 1 == got[1][0]


# -- cut off anywhere -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_capture_that_ends_early_has_the_same_entries_up_to_there(path: Path) -> None:
    """Except for the last ones: the last line may be cut off, and the roll before it has no play then."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    start = data.index(b"board:") + 1
    whole = [it.step.entry for it in recorded_events(path) if isinstance(it, EntryAdded)]
    for end in range(start, len(data), len(data) // 3):
        entries = [it.step.entry for it in events_of_bytes(data[:end]) if isinstance(it, EntryAdded)]
        certain = max(len(entries) - 2, 0)
        assert whole[:certain] == entries[:certain]


@given(begin=st.integers(0, 20000), length=st.integers(1500, 4000))
def test_a_raw_capture_may_begin_and_end_anywhere(begin: int, length: int) -> None:
    data = unpacked("three_points_marvin.txt")
    games = [game for match in transcripts_in(events_of_bytes(data[begin : begin + length])) for game in match.games]
    for game in games:
        assert len(game.entries) == len(list(walk(game))), "every entry follows the rules"


def test_a_session_log_that_is_not_ours_to_know_is_json_all_the_same() -> None:
    first = json.loads(gzip.decompress((RECORDED / "unlimited_marvin.jsonl.gz").read_bytes()).split(b"\n")[0])
    assert "marvin" == first["user"]


def test_a_text_with_a_drawn_board_in_it_is_no_capture() -> None:
    text = (DATA.parents[1] / "docs/reference/commands.md").read_bytes()
    assert b"|BAR|" in text
    for pieces in ([text], [text * 8], cut_up(text, [100])):
        with pytest.raises(CaptureError, match="got a text without any line of a server"):
            next(captures.read_parts([pieces]))


# -- begun in the middle --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"marvin and ford start a 3 point match.", b"Starting a new game with ford."])
def test_a_watched_match_is_followed_although_the_line_that_says_so_is_missing(line: bytes) -> None:
    lines = unpacked("three_points_trillian.txt").split(b"\r\n")
    begin = lines.index(line)
    happenings = events_of_bytes(b"\r\n".join(lines[begin : begin + 40]))
    assert not differences_in(happenings)
    assert any(isinstance(it, EntryAdded) for it in happenings)


@pytest.mark.parametrize("name", ["three_points_trillian.txt", "three_points_marvin.txt"])
def test_a_game_without_boards_that_was_seen_from_its_middle_is_a_gap(name: str) -> None:
    lines = unpacked(name).split(b"\r\n")
    begin = next(place for place, line in enumerate(lines) if line.startswith(b"board:"))
    data = b"\r\n".join(line for line in lines[begin:] if not line.startswith(b"board:"))
    ((first, *others),) = [it.games for it in transcripts_in(events_of_bytes(data))]
    ((whole, *rest),) = [it.games for it in transcripts_in(events_of_bytes(b"\r\n".join(lines)))]
    assert [game.result and game.result.points for game in rest] == [it.result and it.result.points for it in others]
    assert whole.start.scores == first.start.scores
    assert whole.result
    assert first.result
    assert (whole.result.winner, whole.result.points) == (first.result.winner, first.result.points)
    (gap,) = first.entries
    assert isinstance(gap, Gap)
    assert "no board" in gap.reason


def test_without_boards_unreported_own_plays_are_a_gap_and_no_difference() -> None:
    lines = unpacked("three_points_marvin.txt").split(b"\r\n")
    happenings = events_of_bytes(b"\r\n".join(line for line in lines if not line.startswith(b"board:")))
    assert not differences_in(happenings)
    (found,) = transcripts_in(happenings)
    assert any(isinstance(entry, Gap) for game in found.games for entry in game.entries)
