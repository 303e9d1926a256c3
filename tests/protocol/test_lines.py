"""Any chunking of the same bytes gives the same lines, and memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.lines import BLOCK, PROMPTS, Line, LineSplitter
from tests.examples import more_examples

T = TypeVar("T")

PIECES = [
    *PROMPTS,
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\x00",
    b"\x00",
    b"\x07",
    b"\xff\xfb\x01",
    b"\xff\xfc",
    b"\xff\xff",
    b"\xff",
    b"\xff\xf1",
    b"\xff\xfa\x18\x00x\n\xff\xff\xff\xf0",
    b"\xff\xfa",
    b"\xff\xf0",
    b"log",
    b"15 bob hello",
    b"x" * 130,
    b"y" * 128,
]
streams = st.lists(st.sampled_from(PIECES) | st.binary(max_size=6), max_size=14).map(b"".join)


def taken(receive: Callable[[bytes], None], take: Callable[[], T | None], chunks: Iterable[bytes]) -> list[T]:
    """Return all that can be taken while these bytes are received, and the end after them."""
    found: list[T] = []
    for chunk in [*filter(None, chunks), b""]:
        receive(chunk)
        while (it := take()) is not None:
            found.append(it)
    return found


def split(chunks: list[bytes], max_line: int = 128, *, prompts: bool = True) -> list[Line]:
    splitter = LineSplitter(max_line, prompts=prompts)
    return taken(splitter.receive_data, splitter.next_line, chunks)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    return [data[a:b] for a, b in pairwise([0, *sorted(place % (len(data) + 1) for place in places), len(data)])]


def texts(data: bytes) -> list[str]:
    return [line.text for line in split([data])]


@more_examples(10)
@given(data=streams, places=st.lists(st.integers(0, 2000)), prompts=st.booleans())
def test_any_chunking_gives_the_same_lines(data: bytes, places: list[int], prompts: bool) -> None:  # noqa: FBT001 - given
    whole = split([data], prompts=prompts)
    assert whole == split(cut(data, places), prompts=prompts)
    assert whole == split([bytes([byte]) for byte in data], prompts=prompts)


@given(streams)
def test_lines_are_printable_and_have_an_offset(data: bytes) -> None:
    for line in split([data]):
        assert line.text.isascii()
        assert not line.text or line.text.isprintable()
        assert line.raw == data[line.offset : line.offset + len(line.raw)]
        assert len(line.raw) <= 128 + 2


@given(streams.filter(lambda data: b"\xff" not in data))
def test_no_byte_is_lost_if_no_line_is_too_long(data: bytes) -> None:
    lines = split([data], 4096)
    kept = b"".join(line.raw for line in lines)
    assert kept == data or data.removeprefix(kept).strip(b"\x07\x00") == b""


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb\nc\r\x00d\re", ["a", "b", "c", "d", "e"]),
        (b"\r\n\r\n", ["", ""]),
        (
            b"\xff\xfb\x01Please give your password: \xff\xfc\x01\r\nYou are",
            ["Please give your password: ", "", "You are"],
        ),
        (b"\x07> 6\r\n", ["> ", "6"]),
        (b"a\r> b\r\n", ["a", "> ", "b"]),
        (b"login: login: 1 a 2 b\r\n", ["login: ", "login: ", "1 a 2 b"]),
        (b"15 bob login: \r\n", ["15 bob login: "]),
        (b"lo\xff\xf1gin: 5", ["login: ", "5"]),
        (b"caf\xc3\xa9\t!\x1b[2J\r\n", ["caf?? !?[2J"]),
        (b"a\xff\xffb\xff\xfa\r\n\xff\xf0c\r\n", ["a?bc"]),
        (b"\xff", []),
    ],
)
def test_examples_of_bytes_and_their_lines(data: bytes, lines: list[str]) -> None:
    assert lines == texts(data)


@pytest.mark.parametrize("before", [b"", b"hello\r\n", b"caf\xe9\r\n"])
def test_a_prompt_is_returned_at_once(before: bytes) -> None:
    splitter = LineSplitter()
    splitter.receive_data(before + b"login:")
    assert bool(before) == (splitter.next_line() is not None)
    assert splitter.next_line() is None
    splitter.receive_data(b" ")
    assert Line("login: ", len(before), b"login: ", terminated=False) == splitter.next_line()


def test_prompts_are_not_recognised_by_a_server() -> None:
    assert ["> login: x"] == [line.text for line in split([b"> login: x\r\n"], prompts=False)]


def test_the_rest_of_a_line_that_is_too_long_never_becomes_a_line() -> None:
    """Otherwise a long kibitz could imitate any line of the server."""
    data = b"15 villain " + b"x" * (128 - 11) + b"board:forged\r\n6\r\n"
    assert ["15 villain " + "x" * 117, "6"] == texts(data)


def test_a_line_of_exactly_the_longest_length_is_not_cut_among_others() -> None:
    before = ["5"] * 2000  # so many that several lines are read at once
    data = "\r\n".join([*before, "x" * 128, *before]).encode() + b"\r\n"
    assert [*before, "x" * 128, *before] == [line.text for line in split([data])]


@pytest.mark.parametrize("start", [b"x", b"\xe9"])
def test_a_line_of_exactly_the_longest_length_is_not_cut(start: bytes) -> None:
    data = start + b"x" * 127 + b"\r\n"
    for chunks in [data], [data[:128], data[128:]]:
        assert [(data, True)] == [(line.raw, line.terminated) for line in split(chunks)]


def test_plain_lines_that_arrive_together_are_found_at_once() -> None:
    """This is what makes long streams cheap."""
    splitter = LineSplitter()
    splitter.receive_data(b"one line\r\n~ two\r\nthree\r\n")
    assert [
        ("one line", 0, b"one line\r\n", True),
        ("~ two", 10, b"~ two\r\n", True),
        ("three", 17, b"three\r\n", True),
    ] == list(splitter.take_lines() or ())
    assert splitter.take_lines() is None


def test_a_block_that_is_not_plain_is_cut_between_lines() -> None:
    lines = [b"x" * 200 + b"\r\n", *[b"plain\r\n"] * (BLOCK // 7 - 3), b"caf\xe9\r\n"]
    assert lines[1:] == [line.raw for line in split([b"".join(lines)])][1:]


def test_memory_stays_bounded_when_no_line_ever_ends() -> None:
    splitter = LineSplitter(128)
    lines = []
    for _ in range(1000):
        splitter.receive_data(b"\xff\xfa" + b"x" * 1000)
        while line := splitter.next_line():
            lines.append(line)
    assert 1 == len(lines)
    assert len(splitter._buffer) <= 1002


def test_data_after_the_end_is_refused() -> None:
    splitter = LineSplitter()
    splitter.receive_data(b"")
    with pytest.raises(LocalProtocolError):
        splitter.receive_data(b"x")


def test_the_maximum_line_length_must_fit_a_prompt() -> None:
    with pytest.raises(ValueError, match="128"):
        LineSplitter(100)
