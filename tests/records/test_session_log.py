"""The session log keeps every byte, tells no secret and survives what happens to files."""

from __future__ import annotations

import datetime as dt
import errno
import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.records.session_log import (
    Header,
    ProgramEvent,
    Received,
    Sent,
    SessionLogError,
    is_session_log,
    read_session_log,
)
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import REDACTED, password_hidden

NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)


def noon() -> dt.datetime:
    return NOON


def test_written_records_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "session.jsonl"
    with SessionLogWriter(path, clock=noon, server="127.0.0.1:4321", user="marvin") as log:
        log.received(b"login: \xff\xfb\x01")
        log.sent(b"bye\r\n")
        log.event("match_started", opponent="ford", length=5)
    expected = [
        Header(NOON, {"server": "127.0.0.1:4321", "user": "marvin"}),
        Received(NOON, b"login: \xff\xfb\x01"),
        Sent(NOON, b"bye\r\n"),
        ProgramEvent(NOON, "match_started", {"opponent": "ford", "length": 5}),
    ]
    assert expected == list(read_session_log(path))


def test_each_record_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    log = SessionLogWriter(path)
    log.received(b"1\r\n")
    assert 2 == len(list(read_session_log(path)))
    log.close()


@given(st.lists(st.binary(max_size=40)), st.text(st.characters(min_codepoint=33, max_codepoint=127), min_size=4))
def test_received_bytes_are_exact_for_any_chunks(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], secret: str
) -> None:
    path = tmp_path_factory.mktemp("log") / "session.jsonl"
    with password_hidden(secret), SessionLogWriter(path, clock=noon) as log:
        for chunk in chunks:
            log.received(chunk)
    read = b"".join(r.data for r in read_session_log(path) if isinstance(r, Received))
    assert b"".join(chunks).replace(secret.encode(), REDACTED.encode()) == read


@given(st.data())
def test_a_secret_is_in_no_line_even_when_the_server_echoes_it_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    secret = "correct-horse"
    text = f"login x 1008 marvin {secret}\r\nyou said {secret}{secret}!\r\n".encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1))))
    path = tmp_path_factory.mktemp("log") / "session.jsonl"
    with password_hidden(secret), SessionLogWriter(path, clock=noon, note=secret) as log:
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            log.received(text[start:end])
        log.sent(f"login x 1008 marvin {secret}\r\n".encode())
        log.event("trouble", error=ValueError(f"bad {secret}"), lines=[{"x": secret}])
    assert secret.encode() not in path.read_bytes().replace(b"\\", b"")
    read = b"".join(r.data for r in read_session_log(path) if isinstance(r, Received))
    assert text.replace(secret.encode(), REDACTED.encode()) == read


def test_an_incomplete_last_line_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with SessionLogWriter(path, clock=noon) as log:
        log.sent(b"roll\r\n")
        log.sent(b"board\r\n")
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(whole) - 1):
        assert [Header(NOON), Sent(NOON, b"roll\r\n")] == list(read_session_log(io.BytesIO(whole[:end])))


def test_a_log_that_was_cut_off_can_be_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with SessionLogWriter(path, clock=noon) as log:
        log.sent(b"roll\r\n")
    path.write_bytes(path.read_bytes()[:-5])
    with SessionLogWriter(path, clock=noon) as log:
        log.sent(b"board\r\n")
    assert [Header(NOON), Header(NOON), Sent(NOON, b"board\r\n")] == list(read_session_log(path))


def test_records_lost_on_a_full_disk_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session.jsonl"
    real = os.write

    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def nearly_full(fd: int, data: bytes) -> int:
        return real(fd, data[:7])

    with SessionLogWriter(path, clock=noon) as log:
        log.sent(b"roll\r\n")
        monkeypatch.setattr(os, "write", nearly_full)
        log.sent(b"lost\r\n")
        monkeypatch.setattr(os, "write", full)
        log.sent(b"lost\r\n")
        log.sent(b"lost\r\n")
        monkeypatch.undo()
        log.sent(b"board\r\n")
    expected = [
        Header(NOON),
        Sent(NOON, b"roll\r\n"),
        ProgramEvent(NOON, "records_lost", {"count": 3}),
        Sent(NOON, b"board\r\n"),
    ]
    assert expected == list(read_session_log(path))


def test_a_closed_log_drops_records(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    log = SessionLogWriter(path, clock=noon)
    log.close()
    log.sent(b"roll\r\n")
    log.close()
    assert [Header(NOON)] == list(read_session_log(path))


def test_an_event_cannot_use_reserved_field_names(tmp_path: Path) -> None:
    with SessionLogWriter(tmp_path / "session.jsonl") as log, pytest.raises(ValueError, match="sent"):
        log.event("x", sent="y")


@pytest.mark.parametrize("text", [b"board:You:x\n", b"{}\n", b"[1]\n", b'{"fibsbot_session_log": 1}\n', b"\xff\n"])
def test_another_file_is_refused(text: bytes) -> None:
    with pytest.raises(SessionLogError):
        list(read_session_log(io.BytesIO(text)))


def test_a_later_version_is_refused() -> None:
    line = json.dumps({"fibsbot_session_log": 2, "time": NOON.isoformat()}).encode()
    with pytest.raises(SessionLogError, match="version 2"):
        list(read_session_log(io.BytesIO(line)))


def test_a_session_log_is_recognised_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    SessionLogWriter(path).close()
    assert is_session_log(path.read_bytes()[:64])
    assert not is_session_log(b"login: ")
    assert not is_session_log(b"")
