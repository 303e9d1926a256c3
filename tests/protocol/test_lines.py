from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.lines import PROMPTS, Line, LineSplitter

PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *PROMPTS,
                b"\r\n",
                b"\n",
                b"\r",
                b"\r\x00",
                b"\x00",
                b"\x07",
                b"\xff\xfb\x01",
                b"\xff\xff",
                b"\xff",
                b"\xff\xfa\x18\x00x\n\xff\xff\xff\xf0",
                b"\xff\xfa",
                b"\xff\xf0",
                b"log",
                b"> ",
                b"15 bob hello",
                b"x" * 130,
                b"y" * 128,
            ]
        ),
        st.binary(max_size=6),
    ),
    max_size=14,
)


def split(chunks: list[bytes], *, max_line: int = 128, prompts: bool = True) -> list[Line]:
    splitter = LineSplitter(max_line, prompts=prompts)
    lines: list[Line] = []
    for chunk in [*filter(None, chunks), b""]:
        splitter.receive_data(chunk)
        lines.extend(iter(splitter.next_line, None))  # type: ignore[arg-type] # None is the sentinel
    return lines


@given(PIECES, st.lists(st.integers(0, 2000)), st.booleans())
def test_any_chunking_gives_the_same_lines(pieces: list[bytes], cuts: list[int], prompts: bool):
    data = b"".join(pieces)
    places = [0, *sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]
    chunks = [data[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert split([data], prompts=prompts) == split(chunks, prompts=prompts)
    assert split([data], prompts=prompts) == split([bytes([b]) for b in data], prompts=prompts)
