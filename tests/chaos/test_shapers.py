"""The effect of faults on bytes: order is preserved, and each fault does exactly what it is for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.chaos import shapers

LINES = st.lists(
    st.sampled_from([b"board:You:opponent:3", b"", b"You roll 3 and 1.", b"5 opponent - -", b"6", b"12 a b"])
)
ENDINGS = st.sampled_from([b"\r\n", b"\n"])


@st.composite
def chunked(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Generate a stream of lines and the same stream in chunks of any size."""
    end = draw(ENDINGS)
    stream = b"".join(line + end for line in draw(LINES)) + draw(st.sampled_from([b"", b"half a li", b"login: "]))
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    edges = [0, *cuts, len(stream)]
    return stream, [stream[a:b] for a, b in itertools.pairwise(edges) if b > a]


def acts(shaper: shapers.Shaper, chunks: Iterable[bytes]) -> list[shapers.Act]:
    """Feed chunks until the connection breaks; return the acts, with those for held-back bytes last."""
    done: list[shapers.Act] = []
    for chunk in chunks:
        for act in shaper.feed(chunk):
            done.append(act)
            if isinstance(act, shapers.Break):
                return done
    return [*done, shaper.rest()]


def passed(done: Iterable[shapers.Act]) -> bytes:
    """Return the bytes that were passed on."""
    return b"".join(act for act in done if isinstance(act, bytes))


def never(_: bytes) -> bool:
    """Return False for every line."""
    return False


QUIET: list[Callable[[], shapers.Shaper]] = [
    shapers.Shaper,
    lambda: shapers.Delay(0.1),
    shapers.Fragment,
    lambda: shapers.CutAfter(10**6),
    lambda: shapers.CutAfter(0, b"never said"),
    lambda: shapers.DropLine(never),
    lambda: shapers.Duplicate(never),
    lambda: shapers.Glue(never),
    lambda: shapers.Insert(never, text=b"!"),
]


@pytest.mark.parametrize("make", QUIET)
@given(stream=chunked())
def test_nothing_is_lost_or_changed_before_a_fault_strikes(
    make: Callable[[], shapers.Shaper], stream: tuple[bytes, list[bytes]]
) -> None:
    assert stream[0] == passed(acts(make(), stream[1]))


@given(stream=chunked())
def test_a_fragmented_stream_comes_byte_by_byte(stream: tuple[bytes, list[bytes]]) -> None:
    pieces = [act for act in acts(shapers.Fragment(), stream[1]) if isinstance(act, bytes) and act]
    assert {1} >= {len(piece) for piece in pieces}


@given(stream=chunked())
def test_a_delay_comes_before_every_chunk(stream: tuple[bytes, list[bytes]]) -> None:
    done = acts(shapers.Delay(0.5), stream[1])[:-1]
    assert [shapers.Pause(0.5)] * len(stream[1]) == done[::2]
    assert stream[1] == done[1::2]


@given(stream=chunked(), count=st.integers(0, 60))
def test_a_cut_passes_exactly_the_given_number_of_bytes(stream: tuple[bytes, list[bytes]], count: int) -> None:
    shaper = shapers.CutAfter(count)
    done = acts(shaper, stream[1])
    assert stream[0][:count] == passed(done)
    assert (len(stream[0]) > count) == shaper.struck == (shapers.Break.CUT in done)


@given(stream=chunked(), count=st.integers(0, 30), marker=st.sampled_from([b"roll 3", b"board:", b"\n", b"5"]))
def test_a_cut_at_a_marker_counts_from_where_the_marker_begins(
    stream: tuple[bytes, list[bytes]], count: int, marker: bytes
) -> None:
    place = stream[0].find(marker)
    done = acts(shapers.CutAfter(count, marker), stream[1])
    if place < 0:
        assert stream[0] == passed(done)
        return
    # What came before the marker was known to be one has been passed on.
    at_least = stream[0][: place + count]
    at_most = stream[0][: place + max(count, len(marker) - 1)]
    assert at_most.startswith(passed(done))
    assert passed(done).startswith(at_least)


def lines_of(stream: bytes) -> list[bytes]:
    """Return the complete lines."""
    return [line for line in stream.splitlines(keepends=True) if line.endswith(b"\n")]


@pytest.mark.parametrize("applies", [shapers.is_any_line, shapers.is_board_line, shapers.is_game_line])
@given(stream=chunked())
def test_a_dropped_line_is_one_whole_line_and_is_reported(
    applies: Callable[[bytes], bool], stream: tuple[bytes, list[bytes]]
) -> None:
    first = next((line for line in lines_of(stream[0]) if applies(line)), None)
    done = acts(shapers.DropLine(applies), stream[1])
    assert ([] if first is None else [shapers.Lost(first)]) == [act for act in done if isinstance(act, shapers.Lost)]
    assert (stream[0] if first is None else without(stream[0], first)) == passed(done)


def without(stream: bytes, line: bytes) -> bytes:
    """Remove the first occurrence of a line that begins at the start of a line."""
    place = stream.index(line) if stream.startswith(line) else stream.index(b"\n" + line) + 1
    return stream[:place] + stream[place + len(line) :]


@given(stream=chunked())
def test_a_duplicated_board_comes_twice_in_a_row(stream: tuple[bytes, list[bytes]]) -> None:
    first = next((line for line in lines_of(stream[0]) if shapers.is_board_line(line)), b"")
    assert stream[0].replace(first, first * 2, 1) == passed(acts(shapers.Duplicate(shapers.is_board_line), stream[1]))


@given(stream=chunked())
def test_a_glued_line_loses_its_end_and_nothing_else(stream: tuple[bytes, list[bytes]]) -> None:
    first = next((line for line in lines_of(stream[0]) if shapers.is_board_line(line)), b"")
    assert stream[0].replace(first, first.rstrip(), 1) == passed(acts(shapers.Glue(shapers.is_board_line), stream[1]))


@given(stream=chunked())
def test_garbage_comes_between_two_lines(stream: tuple[bytes, list[bytes]]) -> None:
    shaper = shapers.Insert(shapers.is_board_line, text=b"what?\r\n")
    said = passed(acts(shaper, stream[1]))
    assert stream[0] == said.replace(b"what?\r\n", b"", 1)
    assert not shaper.struck or b"what?\r\nboard:" in said


@given(stream=chunked(), make=st.sampled_from([shapers.DropLine, shapers.Duplicate, shapers.Glue]))
def test_the_rest_of_an_incomplete_line_is_not_changed(
    stream: tuple[bytes, list[bytes]], make: type[shapers.LineShaper]
) -> None:
    shaper = make(shapers.is_any_line, mid_line=True)
    said = passed(acts(shaper, [b"'s a rest\r\n", *stream[1]]))
    assert said.startswith(b"'s a rest\r\n")


def test_a_prompt_is_never_held_back() -> None:
    assert [b"login: "] == list(shapers.DropLine(shapers.is_any_line).feed(b"login: "))
