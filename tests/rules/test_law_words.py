"""Laws as words and sentences."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.rules.law_words import LawWordsError, describe_laws, law_words, parse_law_words
from fibsbot.rules.laws import LAWS, LAWS_1931, MODERN, AutomaticRaise, Laws


@st.composite
def agreed_laws(draw: st.DrawFn) -> Laws:
    laws = evolve(
        draw(st.sampled_from(list(LAWS.values()))),
        point_game=draw(st.booleans()),
        automatic=draw(st.sampled_from(AutomaticRaise)),
        reject_first_throw=draw(st.booleans()),
        triple=draw(st.booleans()),
    )
    if laws.automatic is not AutomaticRaise.NONE or laws.reject_first_throw:
        return evolve(laws, automatic_limit=draw(st.none() | st.integers(2, 4096)))
    return evolve(laws, cube=draw(st.booleans()))


@given(agreed_laws())
def test_words_name_the_laws_they_were_written_for(laws: Laws) -> None:
    assert laws == parse_law_words(law_words(laws))
    assert laws == parse_law_words(law_words(laws).upper())


@given(st.text(max_size=60))
def test_any_text_names_laws_or_is_refused_in_one_line(text: str) -> None:
    laws, problem = None, ""
    try:
        laws = parse_law_words(text)
    except LawWordsError as error:
        problem = str(error)
    assert (laws is not None and laws == parse_law_words(law_words(laws))) or problem.startswith("expected ")
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("laws", "words", "text"),
    [
        (LAWS_1931, "1931", "the laws of 1931"),
        (
            evolve(LAWS_1931, automatic=AutomaticRaise.ADD_ONE, automatic_limit=4),
            "1931 add-one limit 4",
            "the laws of 1931; a tie in the opening roll adds one to the cube; to 4 at most",
        ),
        (
            evolve(MODERN, reject_first_throw=True),
            "modern reject",
            "the modern laws; the first roll may be rejected, which doubles the cube",
        ),
    ],
)
def test_laws_are_described_in_plain_words(laws: Laws, words: str, text: str) -> None:
    assert (words, text) == (law_words(laws), describe_laws(laws))
