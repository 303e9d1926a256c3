"""`fibsbot parse` prints the messages of captures in any form."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any, TextIO, cast

import click
import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import main
from fibsbot.cli.export import parse
from fibsbot.records.session_log_writer import SessionLogWriter

DATA = Path(__file__).parents[1] / "data" / "protocol"


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["parse", *map(str, arguments)], input=stdin)


def objects(result: Result) -> list[dict[str, Any]]:
    assert 0 == result.exit_code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_message_is_an_object() -> None:
    (rolls, moves) = objects(run("-", stdin=b"You roll 6 and 4.\r\n\r\nbob moves bar-21 6-off .\r\n"))
    assert {
        "kind": "rolls",
        "fields": {"player": "You", "dice": [6, 4]},
        "text": "You roll 6 and 4.",
        "offset": 0,
    } == rolls
    assert "moves" == moves["kind"]
    assert [{"source": None, "target": 21}, {"source": 6, "target": None}] == moves["fields"]["moves"]
    assert 21 == moves["offset"]


def test_all_line_ends_are_accepted(tmp_path: Path) -> None:
    lines = (DATA / "session_watch.txt").read_bytes()
    other = tmp_path / "crlf.txt"
    other.write_bytes(lines.replace(b"\n", b"\r\n"))
    kinds = [[entry["kind"] for entry in objects(run(path))] for path in (DATA / "session_watch.txt", other)]
    assert kinds[0] == kinds[1]
    assert 300 < len(kinds[0])


def test_unknown_lines_only(tmp_path: Path) -> None:
    assert {"unknown"} == {entry["kind"] for entry in objects(run("--unknown", DATA / "session_watch.txt"))}
    (tmp_path / "all_known").write_bytes(b"6\r\n")
    assert [] == objects(run("--unknown", tmp_path / "all_known"))


def test_the_received_bytes_of_a_session_log_are_parsed(tmp_path: Path) -> None:
    data = b"login: \xff\xfb\x01\r\nYou roll 6 and 4.\r\nbob"
    with SessionLogWriter(tmp_path / "log") as log:
        for place in range(0, len(data), 5):
            log.received(data[place : place + 5])
            log.sent(b"roll\r\n")
    with SessionLogWriter(tmp_path / "log") as log:
        log.received(b"6\r\n")
    entries = objects(run(tmp_path / "log"))
    assert objects(run("-", stdin=data)) == entries[:-1]
    assert "who_end" == entries[-1]["kind"]
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress((tmp_path / "log").read_bytes()))
    assert entries == objects(run(packed))


def test_every_message_can_be_printed() -> None:
    (board, time) = objects(
        run(
            "-",
            stdin=b"board:You:bob:9999:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:6:2:0:0:1:1:1:0:1:-1"
            b":0:25:0:0:0:0:2:0:0:0\nFriday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )\n",
        )
    )
    assert ("O", 26) == (board["fields"]["state"]["colour"], len(board["fields"]["state"]["points"]))
    assert "2020-07-03T16:04:27+00:00" == time["fields"]["utc"]


def damaged(path: Path) -> Path:
    """Return the path of a compressed capture that lacks its end."""
    file = path / "damaged.gz"
    file.write_bytes(gzip.compress(b"You roll 6 and 4.\r\n" * 9)[:-12])
    return file


@pytest.mark.parametrize("make", [lambda path: path / "missing", lambda path: path, damaged])
def test_an_unreadable_file_is_one_line_and_status_2(tmp_path: Path, make: Any) -> None:
    result = run(make(tmp_path))
    assert 2 == result.exit_code
    assert 1 == len(result.stderr.splitlines())
    assert str(make(tmp_path)) in result.stderr


def test_a_log_of_another_version_is_reported(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"fibsbot_session_log": 99, "time": "2026-01-01T00:00:00+00:00"}\n')
    result = run(tmp_path / "log")
    assert 2 == result.exit_code
    assert "version 99" in result.stderr


class Output:
    """Standard output that counts how often it is written to."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> int:
        """Append a text."""
        self.texts.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of the messages in it."""
        return [json.loads(line)["kind"] for line in "".join(self.texts).splitlines()]


def parse_into(output: Output, file: Path | str) -> Output:
    assert parse.callback
    with contextlib.redirect_stdout(cast("TextIO", output)):
        parse.callback(file=str(file), unknown=False)
    return output


def test_messages_are_written_in_blocks(tmp_path: Path) -> None:
    (tmp_path / "many").write_bytes(b"6\r\n" * 5000)
    output = parse_into(Output(), tmp_path / "many")
    assert ["who_end"] * 5000 == output.kinds
    assert len(output.texts) <= 10


def test_input_from_a_pipe_is_printed_before_waiting_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    output = Output()
    seen: list[list[str]] = []
    coming = iter([b"login: ", b"\r\nYou roll 6 and 4.\r\n" + b"6\r\n" * 20, b"7 bob bob logs in.\r\n", b""])

    class Pipe(io.RawIOBase):
        def read1(self, _: int) -> bytes:
            seen.append(output.kinds)
            return next(coming)

    monkeypatch.setattr(click, "open_file", lambda *_: Pipe())
    parse_into(output, "-")
    assert ["login_prompt", "rolls"] == seen[2][:2]
    assert 22 == len(seen[2])
    assert "logged_in" == seen[3][-1]


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b'{"fibsbot_session_log": 1, "time": "2026-01-01T00:00:00+00:00"}\n'])
def test_an_endless_line_takes_no_memory(tmp_path: Path, start: bytes) -> None:
    with gzip.open(tmp_path / "long.gz", "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(24):
            file.write(b"x" * 2**20)
        file.write(b"\n6\n")
    tracemalloc.start()
    try:
        output = parse_into(Output(), tmp_path / "long.gz")
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
    assert start or "who_end" == output.kinds[-1]
