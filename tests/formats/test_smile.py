"""SMILE: what is written comes back, and nothing breaks the reader or makes it need much memory."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import FormatError, smile
from fibsbot.formats.smile import DEEPEST, read_smile
from tests.examples import examples
from tests.formats.bgf_writer import sevens, write_smile

NAMES = st.text(st.characters(codec="utf-8"), max_size=70)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=30,
)


@given(value=VALUES, names=st.booleans(), texts=st.booleans())
@examples(40)
def test_what_is_written_comes_back(value: object, *, names: bool, texts: bool) -> None:
    assert [value, value] == read_smile(write_smile([value, value], names=names, texts=texts))


@pytest.mark.parametrize("count", [31, 32, 64, 65, 300, 1024, 1025, 2100])
def test_names_and_texts_are_found_by_their_numbers(count: int) -> None:
    value = [{f"name{number}": f"text{number}"} for number in range(count)]
    assert value * 2 == read_smile(write_smile(value * 2))


def test_documents_of_the_specification_are_read() -> None:
    """Byte by byte as the specification has them, so that reader and writer cannot share an error."""
    head = b":)\n\x03"
    assert {"a": [1, "bc", "bc", -1], "é": True} == read_smile(
        head + b"\xfa" + b"\x80a\xf8\xc2\x41bc\x01\xc1\xf9" + b"\xc0\xc3\xa9\x23" + b"\xfb"
    )
    assert 1000 == read_smile(head + b"\x24\x1f\x90")
    assert 1.5 == read_smile(head + b"\x28" + sevens(struct.unpack(">I", struct.pack(">f", 1.5))[0], 5))
    assert [None, None, None, 7] == read_smile(head + b"\xf8\xe8\x82\x01\x02\x03\xfd\x82ab\x2a\x80\x81\x01\x01\xce\xf9")


@given(data=st.binary(max_size=60))
@examples(200)
def test_any_bytes_are_a_value_or_an_error(data: bytes) -> None:
    told = ""
    try:
        read_smile(b":)\n\x03" + data)
    except FormatError as error:
        told = str(error)
    assert "\n" not in told


def test_a_document_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smile, "MOST_VALUES", 1000)
    with pytest.raises(FormatError, match="at most 1000 values, got more"):
        read_smile(b":)\n\x03\xf8" + b"\xc0" * 1000 + b"\xf9")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{}", "expected a SMILE document, which begins with `:)`"),
        (b":)\n\x10\x21", "expected SMILE of version 0, got version 1"),
        (b":)\n\x03" + b"\xf8" * (DEEPEST + 1), f"to a depth of {DEEPEST}, got deeper ones"),
        (b":)\n\x03\xfa\x40", "expected the number of a name that came before, got 0"),
        (b":)\n\x03\x05", "expected the number of a text that came before, got 4"),
        (b":)\n\x03\x24" + b"\1" * 11, "expected a number of 64 bits, got a longer one"),
        (b":)\n\x03\xfd\x0f\x7f\x7f\x7f\xbf", "expected a whole SMILE document, got one that is cut off"),
        (b":)\n\x03\xe0abc", "expected the end of a text, got none"),
    ],
    ids=["json", "version", "deep", "name", "text", "number", "binary", "endless"],
)
def test_what_cannot_be_read_is_one_line(data: bytes, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_smile(data)
    assert told in str(caught.value)
