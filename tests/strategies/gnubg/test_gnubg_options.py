"""The options after `gnubg:`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.strategies.gnubg.external_mode import GnubgOptions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", GnubgOptions()),
        ("0", GnubgOptions(chequer=0, cube=0)),
        ("plies=3", GnubgOptions(chequer=3, cube=3)),
        ("chequer=1", GnubgOptions(chequer=1)),
        ("2,cube=0", GnubgOptions(cube=0)),
        ("cube=0, deadline=2.5", GnubgOptions(cube=0, deadline=2.5)),
    ],
)
def test_plies_and_deadline_are_read(text: str, expected: GnubgOptions) -> None:
    assert expected == GnubgOptions.parse(text)


@pytest.mark.parametrize(
    "text", ["4", "-1", "2 0", "plies", "plies=", "depth=2", "deadline=0", "deadline=nan", "x=y=z"]
)
def test_invalid_options_are_refused_with_the_valid_ones(text: str) -> None:
    with pytest.raises(ValueError, match="expected plies from 0 to 3, or plies=, chequer=, cube= and deadline="):
        GnubgOptions.parse(text)


@given(st.text(max_size=30))
def test_every_text_is_parsed_or_refused(text: str) -> None:
    try:
        options = GnubgOptions.parse(text)
    except ValueError:
        return
    assert options.chequer in range(4)
    assert options.cube in range(4)
    assert options.deadline > 0
