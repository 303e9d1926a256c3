"""Where a game stands goes into the store and comes out as it was; nothing else comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.games.state_json import state_to_json
from fibsbot.position import Play
from fibsbot.records.store.transcripts import read_dice, read_play, read_state, write_play
from fibsbot.rules.game import resign, start_match
from fibsbot.rules.laws import LAWS_1931, MODERN, AutomaticRaise, Laws, Level
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Throw, walk
from tests.formats.simulated_matches import AUTOMATIC, MONEY, simulate

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["A", "B", "fibs", "roll", "over"]),
    lambda inner: (
        st.lists(inner, max_size=26)
        | st.dictionaries(st.sampled_from(sorted(state_to_json(start_match(MODERN, 3)))), inner)
    ),
)


def states(seed: int) -> list[GameState]:
    """Return all states of a match, and what is not in every one."""
    laws = [
        None,
        *MONEY,
        AUTOMATIC,
        MODERN,
        evolve(LAWS_1931, automatic=AutomaticRaise.ADD_ONE),
        Laws("own", cube=False),
    ]
    played = simulate(seed, 0 if seed % 2 else 3, laws=laws[seed % len(laws)], games=2)
    steps = [step for game in played.games for step in walk(game)]
    return [it for step in steps for it in (step.before, step.after)]


@pytest.mark.parametrize("seed", range(8))
def test_every_state_of_a_match_is_read_back_unchanged(seed: int) -> None:
    for state in states(seed):
        assert state == read_state(json.loads(json.dumps(state_to_json(state))))
    offered = resign(start_match(MODERN, 3), Seat.B, Level.GAMMON)
    assert offered == read_state(json.loads(json.dumps(state_to_json(offered))))


def test_an_initial_state_is_written_briefly() -> None:
    assert len(json.dumps(state_to_json(start_match(MODERN, 25, (24, 3))))) < 300


@given(JSON)
def test_an_invalid_state_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_state(value)


@given(
    st.dictionaries(
        st.sampled_from(sorted({*state_to_json(start_match(MODERN, 3)), "dice", "result"})), JSON, max_size=3
    )
)
def test_a_changed_state_is_refused_or_valid(changes: dict[str, Any]) -> None:
    try:
        state = read_state({**state_to_json(start_match(MODERN, 3)), **changes})
    except ValueError:
        return
    assert isinstance(state, GameState)


def test_plays_are_read_back_unchanged() -> None:
    for state in (1, 2, 3):
        for game in simulate(state, 3).games:
            for entry in game.entries:
                if isinstance(entry, Throw) and entry.play is not None:
                    assert entry.play == read_play(write_play(entry.play))
                    assert entry.dice == read_dice("{}{}".format(*entry.dice)) == read_dice(list(entry.dice))
    assert "bar/22 6/off" == write_play(Play.of((25, 22), (6, 0)))
    assert "cannot move" == write_play(Play())


@pytest.mark.parametrize("text", ["", "8/5 ", "8/5/3", "1/2/3", "8/5 8/5 8/5 8/5 8/5", "x", "-1/3", "100/3"])
def test_an_invalid_play_is_refused(text: str) -> None:
    if text == "8/5 ":
        assert Play.of((8, 5)) == read_play(text)
        return
    with pytest.raises(ValueError, match="expected a play such as"):
        read_play(text)


@pytest.mark.parametrize("value", ["", "7", "70", "1x", "1234", [1], [0, 1], [12, 3], None, 31])
def test_invalid_dice_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected two or three dice"):
        read_dice(value)
