"""A replay starts at a given place, and fails if it is not reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded, events_from, place_of
from fibsbot.replay.places import Place, PlaceError
from tests.replay.sample_match import sample_events, sample_transcript

NUMBERS = st.integers(1, 999_999_999)


@given(NUMBERS, st.integers(0, 999), st.integers(0, 999))
def test_a_place_is_read_as_it_is_written(match: int, game: int, turn: int) -> None:
    place = Place(match, game, turn if game else 0)
    assert place == Place.parse(str(place))


@pytest.mark.parametrize("text", ["", "0", "1/0", "1/2/0", "a", "1/", "/1", "1/2/3/4", "-1", "1/2/x", "9" * 10, "१"])
def test_a_malformed_place_is_rejected(text: str) -> None:
    with pytest.raises(PlaceError, match="expected MATCH/GAME/TURN as in 2, 2/1 or 2/1/14, got "):
        Place.parse(text)


def test_earlier_events_are_left_out_but_not_the_starts_of_match_and_game() -> None:
    kinds = [type(it) for it in events_from(sample_events(sample_transcript()), Place(1, 1, 8))]
    assert [MatchBegan, GameBegan, EntryAdded] == kinds[:3]
    (first,) = [
        it for it in events_from(sample_events(sample_transcript()), Place(1, 1, 8)) if isinstance(it, EntryAdded)
    ][:1]
    assert Place(1, 1, 8) == place_of(first)
    assert MatchEnded is kinds[-1]


def test_a_game_that_is_over_does_not_come_before_the_next() -> None:
    kinds = [type(it) for it in events_from(sample_events(sample_transcript()), Place(1, 2))]
    assert [MatchBegan, GameBegan, EntryAdded, EntryAdded, GameEnded] == kinds[:5]


def test_a_later_match_comes_without_earlier_events() -> None:
    both = [*sample_events(sample_transcript()), *sample_events(sample_transcript(), match=2)]
    assert [*sample_events(sample_transcript(), match=2)] == [*events_from(both, Place(2))]


def test_without_a_place_all_events_come() -> None:
    assert [*sample_events(sample_transcript())] == [*events_from(sample_events(sample_transcript()), None)]


def test_a_place_that_is_not_reached_is_an_error() -> None:
    with pytest.raises(PlaceError, match="nothing happened at 1/4/1 or later; the last was at 1/2/3"):
        list(events_from(sample_events(sample_transcript()), Place(1, 4, 1)))
    with pytest.raises(PlaceError, match="no match"):
        list(events_from([], Place(1)))
