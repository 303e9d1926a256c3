"""What waits for the database is bounded, keeps its order, and gives up the least important first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fibsbot.records.store.record_queue import LIFECYCLE_FACTOR, PendingRecord, Priority, RecordQueue
from tests.records.store.recorder import NOON

LIMIT = 5


def entry(number: int) -> PendingRecord:
    return PendingRecord(number, "marvin", "decision", {}, NOON)


def fill(buffer: RecordQueue, *ranks: Priority) -> list[int]:
    """Put records of these ranks; return how many were dropped for each."""
    return [buffer.put(rank, entry(number)) for number, rank in enumerate(ranks, 1)]


def numbers(buffer: RecordQueue) -> list[int]:
    return [it.number for it in buffer.take(1000)]


def test_the_oldest_decision_goes_first() -> None:
    buffer = RecordQueue(3)
    dropped = fill(buffer, Priority.LIFECYCLE, Priority.DECISION, Priority.DECISION, Priority.DECISION)
    assert [0, 0, 0, 1] == dropped
    assert [1, 3, 4] == numbers(buffer)


def test_news_go_before_matches_and_after_decisions() -> None:
    buffer = RecordQueue(2)
    assert [0, 0, 1, 1] == fill(buffer, Priority.OTHER, Priority.DECISION, Priority.LIFECYCLE, Priority.LIFECYCLE)
    assert [3, 4] == numbers(buffer)


def test_a_decision_makes_nothing_else_go() -> None:
    buffer = RecordQueue(2)
    assert [0, 0, 1] == fill(buffer, Priority.OTHER, Priority.LIFECYCLE, Priority.DECISION)
    assert [1, 2] == numbers(buffer)


def test_matches_are_kept_beyond_the_limit_but_not_for_ever() -> None:
    buffer = RecordQueue(2)
    dropped = fill(buffer, *[Priority.LIFECYCLE] * 25)
    assert 25 - 2 * LIFECYCLE_FACTOR == sum(dropped)
    assert list(range(1, 2 * LIFECYCLE_FACTOR + 1)) == numbers(buffer)


def test_what_is_taken_is_not_dropped() -> None:
    buffer = RecordQueue(2)
    fill(buffer, Priority.DECISION, Priority.DECISION)
    assert [1, 2] == numbers(buffer)
    assert 1 == buffer.put(Priority.DECISION, entry(3))
    buffer.give_back()
    assert [1, 2] == numbers(buffer)


@given(st.lists(st.sampled_from(Priority), max_size=60), st.integers(1, 10))
def test_with_room_enough_everything_comes_out_in_its_order(ranks: list[Priority], chunk: int) -> None:
    buffer = RecordQueue(1000)
    fill(buffer, *ranks)
    out = []
    while taken := buffer.take(chunk):
        out += [it.number for it in taken]
        buffer.done()
    assert list(range(1, len(ranks) + 1)) == out


class Life(RuleBasedStateMachine):
    """A buffer beside a list that does the same slowly."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = RecordQueue(LIMIT)
        self.put = self.dropped = self.done = 0
        self.taken: list[PendingRecord] = []
        self.last = 0

    @rule(rank=st.sampled_from(Priority))
    def put_one(self, rank: Priority) -> None:
        """Put the next record."""
        self.put += 1
        self.dropped += self.buffer.put(rank, entry(self.put))

    @precondition(lambda self: not self.taken)
    @rule(most=st.integers(1, 7))
    def take(self, most: int) -> None:
        """Take a batch; it comes in order, and after all that were written."""
        self.taken = self.buffer.take(most)
        assert sorted(it.number for it in self.taken) == [it.number for it in self.taken]
        assert all(it.number > self.last for it in self.taken)

    @precondition(lambda self: self.taken)
    @rule(works=st.booleans())
    def write(self, *, works: bool) -> None:
        """Write the batch, or fail to."""
        if works:
            self.done += len(self.taken)
            self.last = self.taken[-1].number
            self.buffer.done()
        else:
            self.buffer.give_back()
        self.taken = []

    @invariant()
    def nothing_gets_lost_unnoticed(self) -> None:
        """Every record is somewhere, or counted."""
        assert self.put == self.dropped + self.done + len(self.buffer)
        assert len(self.buffer) <= LIFECYCLE_FACTOR * LIMIT


TestLife = Life.TestCase
