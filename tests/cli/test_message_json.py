"""Messages are written as the standard library's encoder writes their fields."""

import datetime as dt
import enum
import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.grammar import parse
from fibs_protocol.grammar.templates import Wording
from fibs_protocol.messages import Message, Unknown
from fibs_protocol.stream import ParsedMessage
from fibs_protocol.words import Colour
from fibsbot.json_lines import write_message
from tests.examples import examples
from tests.protocol.message_examples import GROUPS, messages, said


def plain(value: Any) -> Any:
    """Return what the standard library can encode of a value."""
    match value:
        case Colour():
            return value.name
        case enum.Enum():
            return value.value
        case dt.datetime():
            return value.isoformat()
        case tuple():
            return [plain(it) for it in value]
        case None | str() | int() | float():
            return value
    return {field.name: plain(getattr(value, field.name)) for field in attrs.fields(type(value))}


def dumped(received: ParsedMessage) -> str:
    """Return the line that `json.dumps` writes."""
    message = received.message
    row = {"kind": message.kind(), "fields": plain(message), "text": received.text, "offset": received.offset}
    return json.dumps(row) + "\n"


@given(messages, st.text(), st.integers(0))
def test_a_message_is_written_as_by_the_standard_library(message: Message, text: str, offset: int) -> None:
    received = ParsedMessage(message, text, offset)
    assert dumped(received) == write_message(received)


@pytest.mark.parametrize("wordings", GROUPS, ids=lambda group: group[0].cls.__name__)
@examples(3)
@given(st.data())
def test_what_is_read_in_each_wording_is_written_as_by_the_standard_library(
    wordings: list[Wording[Any]], data: st.DataObject
) -> None:
    for wording in wordings:
        text = wording.write(data.draw(said(wording)))
        received = ParsedMessage(parse(text), text, 0)
        assert dumped(received) == write_message(received)


def test_quotes_and_other_alphabets_are_escaped() -> None:
    assert json.loads(write_message(ParsedMessage(Unknown('"\\ \u00e9\x7f'), "\t", 3)))["fields"] == {
        "text": '"\\ \u00e9\x7f'
    }
