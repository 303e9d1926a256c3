"""Pauses between attempts to connect grow, stay within their bounds and start anew after a healthy time."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from fibsbot.client.backoff import Backoff
from fibsbot.client.settings import BackoffSettings


@given(st.integers(0, 2**32), st.integers(1, 100))
def test_pauses_grow_to_a_limit(seed: int, attempts: int) -> None:
    pauses = BackoffSettings()
    backoff = Backoff(pauses, random.Random(seed))
    waits = [backoff.next_pause() for _ in range(attempts)]
    assert pauses.first <= waits[0] <= pauses.first * (1 + pauses.jitter)
    assert max(waits) <= pauses.longest
    for earlier, later in itertools.pairwise(waits):
        assert later >= min(earlier * pauses.factor, pauses.longest) / (1 + pauses.jitter)


def test_a_healthy_connection_starts_the_pauses_anew() -> None:
    backoff = Backoff(BackoffSettings(jitter=0))
    assert [10, 20, 40] == [backoff.next_pause(lasted) for lasted in (0, 5, 599)]
    assert [10, 20] == [backoff.next_pause(lasted) for lasted in (600, 1)]


def test_two_bots_do_not_come_back_at_the_same_time() -> None:
    pauses = {Backoff(BackoffSettings(), random.Random(seed)).next_pause() for seed in range(100)}
    assert 90 < len(pauses)


def test_even_the_longest_pauses_are_not_the_same() -> None:
    pauses = {[backoff.next_pause() for _ in range(20)][-1] for backoff in (Backoff() for _ in range(100))}
    assert 90 < len(pauses)


def test_a_thousand_failures_are_no_number_too_large() -> None:
    backoff = Backoff(BackoffSettings(factor=1e6, jitter=0))
    assert 900 == [backoff.next_pause() for _ in range(1000)][-1]


def test_a_server_that_restarts_is_given_time_and_never_given_up() -> None:
    backoff = Backoff(BackoffSettings(jitter=0))
    assert [300, 600, 900, 900] == [backoff.next_pause(5000, restarting=True), *(backoff.next_pause() for _ in "abc")]
    assert [10] == [backoff.next_pause(601)]


def test_no_pause_grows_beyond_the_longest_whatever_asks_for_it() -> None:
    assert [2, 2] == [
        Backoff(BackoffSettings(first=9, longest=2, jitter=0)).next_pause(restarting=flag) for flag in (True, False)
    ]


@given(st.lists(st.floats(0, 599), min_size=8, max_size=30))
def test_being_dropped_again_and_again_leads_to_the_longest_pause(lasted: list[float]) -> None:
    backoff = Backoff(BackoffSettings(jitter=0))
    assert 900 == [backoff.next_pause(seconds) for seconds in lasted][-1]
