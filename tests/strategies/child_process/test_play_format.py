"""Plays as engines write them are read strictly: they are one of the legal plays, or an error."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.child_process.engine_process import EngineError
from fibsbot.strategies.child_process.wire_format import format_steps, parse_play_choice
from tests.hypothesis_strategies import dice, positions

START = MatchState(Position.start(), phase=Phase.MOVE, dice=(3, 1))
PLAYS = legal_plays(START.position, (3, 1))


@given(positions(), dice(), st.data())
def test_what_is_written_is_read_as_the_same_play(position: Position, throw: Dice, data: st.DataObject) -> None:
    plays = legal_plays(position, throw)
    assume(plays)
    play = data.draw(st.sampled_from(plays))
    state = MatchState(position, phase=Phase.MOVE, dice=throw)
    text = format_steps(play)
    separated = text.replace("/", data.draw(st.sampled_from("/- ")))
    numbered = separated.replace("bar", "25").replace("off", "0")
    for form in (text, separated, numbered, f" {text} ", "* ".join(text.split()) + "*"):
        assert play == parse_play_choice(form, state, plays)


def test_steps_in_any_order_and_by_another_way_are_the_same_play() -> None:
    assert Play.of((8, 5), (6, 5)) == parse_play_choice("6/5 8/5", START, PLAYS)
    assert parse_play_choice("24/21 21/20", START, PLAYS) == parse_play_choice("24/23 23/20", START, PLAYS)


@pytest.mark.parametrize("text", ["24/18(2) 13/7(2)", "24/18(2), 13/7(2)", "13/7(2) 24-18(2)"])
def test_plays_may_be_written_as_people_write_them(text: str) -> None:
    double = evolve(START, dice=(6, 6))
    play = parse_play_choice(text, double, legal_plays(double.position, (6, 6)))
    assert Play.of((24, 18), (24, 18), (13, 7), (13, 7)).ordered == play.ordered
    assert parse_play_choice("24/20", START, PLAYS) == parse_play_choice("24/21/20", START, PLAYS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "roll",
        "8/5",
        "8/5(2)",
        "8/5 6/4",
        "8/5 6/5 4/1",
        "8/5 6",
        "Bar/22",
        "cannot move",
        "８/5 6/5",  # noqa: RUF001 - a digit that is none here
        "99/98 97/96",
        "8/5 6/5 8/5 6/5 8/5",
        "off/8 bar/6",
        "0/25 1/2",
    ],
)
def test_what_is_no_legal_play_is_an_error(text: str) -> None:
    with pytest.raises(EngineError, match=r"expected a (legal )?play"):
        parse_play_choice(text, START, PLAYS)


@given(st.text(alphabet="0123456789/- *baroff", max_size=40) | st.text(max_size=40))
def test_any_text_is_one_of_the_plays_or_an_error(text: str) -> None:
    try:
        told: object = parse_play_choice(text, START, PLAYS)
    except EngineError as error:
        told = str(error)
    assert told in PLAYS or (isinstance(told, str) and len(told) < 600 and 1 == len(told.splitlines()))


def test_a_play_that_was_not_offered_is_an_error() -> None:
    with pytest.raises(EngineError, match="expected one of the 1 plays offered"):
        parse_play_choice("8/5 6/5", evolve(START), PLAYS[-1:])
