"""Pauses between attempts to connect grow, stay within their bounds and start anew after a healthy time."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from fibsbot.client.backoff import Backoff, Pauses


@given(st.integers(0, 2**32), st.integers(1, 100))
def test_pauses_grow_to_a_limit(seed: int, attempts: int) -> None:
    pauses = Pauses()
    backoff = Backoff(pauses, random.Random(seed))
    waits = [backoff.next_pause() for _ in range(attempts)]
    assert pauses.first <= waits[0] <= pauses.first * (1 + pauses.jitter)
    assert max(waits) <= pauses.longest * (1 + pauses.jitter)
    for earlier, later in itertools.pairwise(waits):
        assert later >= min(earlier * pauses.factor / (1 + pauses.jitter), pauses.longest)


def test_a_healthy_connection_starts_the_pauses_anew() -> None:
    backoff = Backoff(Pauses(jitter=0))
    assert [10, 20, 40] == [backoff.next_pause(lasted) for lasted in (0, 5, 599)]
    assert [10, 20] == [backoff.next_pause(lasted) for lasted in (600, 1)]


def test_two_bots_do_not_come_back_at_the_same_time() -> None:
    pauses = {Backoff(Pauses(), random.Random(seed)).next_pause() for seed in range(100)}
    assert 90 < len(pauses)


def test_a_thousand_failures_are_no_number_too_large() -> None:
    backoff = Backoff(Pauses(factor=1e6, jitter=0))
    assert 900 == [backoff.next_pause() for _ in range(1000)][-1]
