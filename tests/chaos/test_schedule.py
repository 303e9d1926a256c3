"""The schedule of faults: the same seed gives the same faults, with every kind and every pair of kinds."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bench.chaos.faults import INJECTIONS
from bench.chaos.schedule import SPARED_PAIR, ChaosPlan, FaultKind, make_schedule

PLANS = st.builds(
    ChaosPlan,
    minutes=st.floats(0.05, 20),
    seed=st.integers(0, 2**32),
    pairs=st.integers(2, 12),
    rate=st.floats(1, 200),
)


@given(plan=PLANS)
def test_the_same_seed_gives_the_same_faults(plan: ChaosPlan) -> None:
    assert make_schedule(plan) == make_schedule(plan)


def test_another_seed_gives_other_faults() -> None:
    assert make_schedule(ChaosPlan(1, 1)) != make_schedule(ChaosPlan(1, 2))


@given(plan=PLANS)
def test_faults_come_in_order_and_within_their_time(plan: ChaosPlan) -> None:
    times = [fault.at for fault in make_schedule(plan)]
    assert sorted(times) == times
    assert 0 <= times[0]
    assert max(plan.seconds, 0.5) >= times[-1]


@given(plan=PLANS)
def test_all_kinds_come_equally_often(plan: ChaosPlan) -> None:
    counts = Counter(fault.kind for fault in make_schedule(plan))
    assert 1 >= max(counts[kind] for kind in FaultKind) - min(counts[kind] for kind in FaultKind)


@given(plan=PLANS)
def test_one_bot_is_never_ended(plan: ChaosPlan) -> None:
    ended = {fault.pair for fault in make_schedule(plan) if fault.kind in {FaultKind.BOT_KILL, FaultKind.BOT_RESTART}}
    assert SPARED_PAIR not in ended


def test_the_run_of_ten_minutes_has_more_than_300_faults_of_all_kinds() -> None:
    faults = make_schedule(ChaosPlan(10, 1))
    assert len(faults) > 330
    assert set(FaultKind) == {fault.kind for fault in faults}
    assert set(range(6)) == {fault.pair for fault in faults}


def test_every_kind_of_fault_is_injected_and_described() -> None:
    assert set(FaultKind) == set(INJECTIONS)
