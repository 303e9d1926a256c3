"""Chat texts: everything sent is one plain line, and questions, nudges and orders are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.chat import (
    Nudge,
    Topic,
    as_sentence,
    is_courtesy,
    nudge_of,
    score_text,
    stats_text,
    topic_of,
)
from fibsbot.bot.command_queue import MAX_CHAT_LENGTH, chat_line
from fibsbot.bot.context import Counters
from fibsbot.bot.orders import TOLD_ORDERS, Order, parse_order
from fibsbot.bot.settings import ChatSettings


@given(st.text())
def test_any_text_becomes_one_plain_line(text: str) -> None:
    said = chat_line(text * 10)
    assert said.isascii()
    assert said.isprintable()
    assert "**" not in said
    assert len(said) <= MAX_CHAT_LENGTH
    assert said == chat_line(said)


def test_a_text_that_is_too_long_ends_with_a_whole_sentence() -> None:
    assert "One. Two." == chat_line(f"One. Two. {'x' * MAX_CHAT_LENGTH}.")
    assert chat_line("y" * 300).endswith("y...")


def test_the_default_greeting_is_sent_unchanged() -> None:
    assert ChatSettings().greeting == chat_line(ChatSettings().greeting)


@pytest.mark.parametrize(
    ("facts", "to_opponent", "text"),
    [
        ((None, None, None), False, "I'm not in a match right now."),
        (("ford", 5, (3, 2)), True, "We're playing a 5-point match; I lead 3-2."),
        (("ford", 5, (2, 3)), True, "We're playing a 5-point match; you lead 3-2."),
        (("ford", 5, (2, 3)), False, "I'm playing a 5-point match with ford; ford leads 3-2."),
        (("ford", 0, (2, 2)), False, "I'm playing an unlimited match with ford; it is 2-2."),
        (("ford", None, None), True, "We're playing a match; I don't know the score yet."),
    ],
)
def test_the_score_is_described_in_words(
    facts: tuple[str | None, int | None, tuple[int, int] | None], *, to_opponent: bool, text: str
) -> None:
    assert text == score_text(*facts, to_opponent=to_opponent)


def test_the_matches_are_described_in_words() -> None:
    assert "Since I started 3 hours ago I have finished 1 match and won 0." == stats_text(Counters(matches=1), 3 * 3600)
    assert stats_text(Counters(matches=12, wins=7), 60).endswith("finished 12 matches and won 7.")


def test_a_sentence_gets_a_capital_and_a_full_stop() -> None:
    assert "Playing ford." == as_sentence("playing ford")
    assert "Why?" == as_sentence("why?")


@pytest.mark.parametrize("topic", Topic)
@given(st.data())
def test_a_question_is_understood_in_any_case_and_with_any_punctuation(topic: Topic, data: st.DataObject) -> None:
    flips = data.draw(st.lists(st.booleans(), min_size=len(topic.value), max_size=len(topic.value)))
    text = "".join(char.upper() if flip else char for char, flip in zip(topic.value, flips, strict=True))
    around = st.text(" .,!?:;'\"-()", max_size=8)
    text = data.draw(around) + data.draw(st.sampled_from(["", "marvin: ", "Marvin, "])) + text + data.draw(around)
    assert topic is topic_of(text, "marvin")


@pytest.mark.parametrize("text", ["", "helpless", "I need no help", "statistics are lies", "score!" * 20, "move"])
def test_small_talk_is_not_a_question(text: str) -> None:
    assert topic_of(text, "marvin") is None


@pytest.mark.parametrize("text", ["that was a good move", "hello", "I cannot move", "join me later", "roll over"])
def test_small_talk_is_not_a_nudge(text: str) -> None:
    assert nudge_of(text, "marvin") is None


def test_nudges_are_understood() -> None:
    assert [Nudge.LOOK] * 3 == [nudge_of(text, "marvin") for text in ("Move!", "marvin roll", "hello???")]
    assert Nudge.JOIN is nudge_of("join please", "marvin")


def test_courtesies_are_not_questions() -> None:
    assert is_courtesy("Hi marvin!", "marvin")
    assert not is_courtesy("how are you", "marvin")


@pytest.mark.parametrize("order", Order)
def test_an_order_is_one_word_in_any_case(order: Order) -> None:
    assert order is parse_order(f" {order.value.upper()} ")
    assert parse_order(f"please {order.value}") is None
    assert parse_order(f"{order.value}.") is None
    assert order.help.isascii()


def test_the_documentation_has_every_question_and_every_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "chat.md").read_text()
    assert [] == [topic for topic in Topic if f"\n| `{topic.value}` | " not in page]
    assert [] == [order for order in TOLD_ORDERS if f"\n| `{order.usage}` | {order.help} |" not in page]
