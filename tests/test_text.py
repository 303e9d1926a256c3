"""Text for people: errors in one line, counts, durations and percentages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.text import (
    describe_error,
    errors_as,
    format_duration,
    format_percent,
    one_line,
    plural,
    predicate,
    short_duration,
)


def test_an_error_is_one_line_whatever_its_text() -> None:
    assert "two lines" == one_line(ValueError("two\n  lines"))
    assert "TimeoutError" == one_line(TimeoutError())
    assert "KeyError: 'name'" == describe_error(KeyError("name"))
    assert "ValueError: two lines" == describe_error(ValueError("two\r\nlines"))


def test_an_error_becomes_the_first_kind_that_fits_and_others_stay() -> None:
    kinds = ((KeyError, RuntimeError), (LookupError, OSError), (OSError, LookupError))
    for raised, kept in ((KeyError("a"), RuntimeError), (IndexError("a"), OSError), (TypeError("a"), TypeError)):
        with pytest.raises(kept, match="a") as found, errors_as(*kinds):
            raise raised
        assert kept is found.type
        assert found.value.__suppress_context__ is (kept is not TypeError)


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "match", "1 match"), (2, "match", "2 matches"), (0, "game", "0 games"), (2000, "point", "2,000 points")],
)
def test_a_noun_has_the_number_of_its_count(count: int, noun: str, text: str) -> None:
    assert text == plural(count, noun)


def test_a_share_is_shown_in_percent() -> None:
    assert ("12.5 %", "0.25 %") == (format_percent(0.125), format_percent(0.0025, 2))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "1 second"),
        (0.4, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (90, "90 seconds"),
        (300, "5 minutes"),
        (301, "6 minutes"),
        (3600, "1 hour"),
        (3660, "61 minutes"),
        (86_400, "1 day"),
        (100_000, "28 hours"),
        (300_000, "4 days"),
    ],
)
def test_a_duration_is_rounded_up_to_a_few_words(seconds: float, said: str) -> None:
    assert said == format_duration(seconds)


@given(st.floats(0, 1e7))
def test_a_time_is_never_said_too_short(seconds: float) -> None:
    count, unit = format_duration(seconds).split()
    size = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}[unit.removesuffix("s")]
    assert seconds <= int(count) * size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (86_399, "23 h"), (400_000, "4 d")],
)
def test_a_short_duration_has_only_its_largest_unit(seconds: float, text: str) -> None:
    assert text == short_duration(seconds)


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("wins 2 points", "win 2 points"),
        ("passes", "pass"),
        ("takes", "take"),
        ("doubles to 2", "double to 2"),
        ("does not double", "do not double"),
        ("rolled 3-1", "rolled 3-1"),
    ],
)
def test_a_verb_goes_with_its_name(words: str, own: str) -> None:
    assert predicate("ann", words) == words
    assert predicate("you", words) == own
