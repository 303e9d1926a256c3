"""Lines for users without a client: no numbers, and nothing that only a program needs."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import parse, write, write_telnet
from fibs_protocol.grammar.clip import CLIP
from tests.protocol.message_examples import messages, said

USER = parse("5 marvin ford - 1 1 1500.00 12 75 1593791615 heart.of.gold ParlorBot -")


@given(messages)
def test_other_lines_are_the_same_as_for_a_client(message: m.Message) -> None:
    line = write_telnet(message)
    if type(message) in {wording.cls for wording in CLIP}:
        assert line.isascii()
        assert "\n" not in line
    else:
        assert write(message) == line


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (m.Says("ford", "hi"), "ford says: hi"),
        (m.Shouts("ford", "hi"), "ford shouts: hi"),
        (m.Kibitzes("ford", "hi"), "ford kibitzes: hi"),
        (m.Whispers("ford", "{hi}"), "ford whispers: {hi}"),
        (m.YouShout("hi"), "You shout: hi"),
        (m.LoggedIn("ford", "ford logs in."), "ford logs in."),
        (m.LoggedOut("ford", "ford drops connection."), "ford drops connection."),
        (m.MotdStart(), ""),
        (m.MotdLine("| hi |"), "| hi |"),
        (m.WhoEnd(), ""),
        (m.MailReceived("ford", 1593791615, "hi"), "ford left a message on 2020-07-03 15:53 UTC: hi"),
        (m.MailReceived("ford", 10**17, "hi"), f"ford left a message on {10**17}: hi"),
    ],
)
def test_the_numbered_lines_become_sentences(message: m.Message, line: str) -> None:
    assert line == write_telnet(message)


def test_a_user_is_aligned_with_the_columns_of_the_list() -> None:
    header = write_telnet(m.WhoHeader())
    row = write_telnet(USER, number=7)
    assert " 7  P Amarvin          1500.00   12 15:53  1:15 heart.of.gold" == row
    assert row[header.index("username") :].startswith("marvin")
    assert row[header.index("from") :].startswith("heart")
    assert isinstance(USER, m.WhoInfo)
    watching = attrs.evolve(USER, opponent=None, watching="ford", away=False)
    assert "    RW marvin" == write_telnet(watching)[:13]


def test_a_message_that_no_line_can_carry_is_refused() -> None:
    with pytest.raises(LocalProtocolError):
        write_telnet(m.Says("ford", "a\nb"))


@given(st.sampled_from(CLIP).flatmap(said))
def test_no_line_begins_with_a_number_of_the_client_protocol(message: m.Message) -> None:
    assert write(message) != write_telnet(message)
