"""RecordLimiter: floods of records are suppressed and counted, important records are passed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.driver import DEFAULT_LIMIT, MATCH_RECORDS, UNLIMITED_RECORDS, RecordLimiter
from fibsbot.bot.events_and_actions import Record

ROOT: Final = Path(__file__).parents[2]


class Notes:
    """A limiter with its own clock, and the records that it has passed."""

    def __init__(self) -> None:
        """Start the clock at 0."""
        self.now = 0.0
        self.sieve = RecordLimiter(lambda: self.now)
        self.through: list[Record] = []

    def note(self, name: str, times: int = 1) -> None:
        """Write records of this name."""
        for _ in range(times):
            self.through += self.sieve.admit(Record(name))

    def count(self, name: str) -> int:
        """Return the number of records of this name that were passed."""
        return sum(record.name == name for record in self.through)

    def suppressed(self, name: str) -> int:
        """Return the reported number of suppressed records of this name."""
        counts = [record.fields for record in self.through if record.name == "suppressed"]
        return sum(fields["count"] for fields in counts if fields["record"] == name)


def test_occasional_records_are_never_suppressed() -> None:
    notes = Notes()
    for _ in range(1000):
        notes.now += 6
        notes.note("invited")
    assert {"invited": 1000} == Counter(record.name for record in notes.through)


def test_a_flood_is_suppressed_and_counted_at_its_end() -> None:
    notes = Notes()
    notes.note("invited", 10_000)
    assert (100, 100) == (notes.count("invited"), len(notes.through))
    notes.note("refused")
    assert 1 == notes.count("refused"), "each kind has its own allowance"
    notes.now += 1000
    notes.note("invited")
    assert {"record": "invited", "count": 9900} == dict(notes.through[-2].fields)
    assert "invited" == notes.through[-1].name


def test_the_count_is_not_lost_when_nothing_follows() -> None:
    notes = Notes()
    notes.note("refused", 150)
    assert [{"record": "refused", "count": 50}] == [dict(record.fields) for record in notes.sieve.pop_suppressed()]
    assert [] == list(notes.sieve.pop_suppressed())


@pytest.mark.slow
def test_a_flood_without_an_end_is_bounded_in_the_long_run() -> None:
    notes = Notes()
    for _ in range(86_400):
        notes.now += 1
        notes.note("difference", 3)
    assert len(notes.through) <= 1.05 * (DEFAULT_LIMIT.burst + 86_400 * DEFAULT_LIMIT.per_second)


def test_records_of_matches_have_an_allowance_that_no_real_server_uses_up() -> None:
    notes = Notes()
    notes.note("match_ended", 2001)
    assert 2000 == notes.count("match_ended")
    notes.now += 39
    notes.note("match_ended")
    assert 2000 == notes.count("match_ended"), "fifty per second: restored in 40 seconds"
    notes.now += 1
    notes.note("match_ended", 2001)
    assert (4000, 2) == (notes.count("match_ended"), notes.suppressed("match_ended"))


@pytest.mark.slow
def test_our_own_actions_and_matches_are_never_suppressed() -> None:
    notes = Notes()
    for name in UNLIMITED_RECORDS:
        notes.note(name, 5000)
    for _ in range(5000):
        notes.now += 0.02
        for name in MATCH_RECORDS:
            notes.note(name)
    assert {5000} == {notes.count(name) for name in UNLIMITED_RECORDS | MATCH_RECORDS}


@given(st.lists(st.tuples(st.sampled_from(["invited", "refused"]), st.integers(0, 300), st.floats(0, 600))))
def test_every_record_is_passed_or_counted(floods: list[tuple[str, int, float]]) -> None:
    notes = Notes()
    wanted: Counter[str] = Counter()
    for name, times, later in floods:
        notes.note(name, times)
        wanted[name] += times
        notes.now += later
    notes.through += notes.sieve.pop_suppressed()
    for name in ("invited", "refused"):
        assert wanted[name] == notes.count(name) + notes.suppressed(name)


def test_every_record_is_in_the_documentation() -> None:
    sources = [*(ROOT / "fibsbot" / "bot").glob("*.py"), ROOT / "fibsbot" / "chouette" / "bot.py"]
    call = re.compile(r'(?:[rR]ecord|event)\(\s*"([a-z_]+)"')
    names = {name for source in sources for name in call.findall(source.read_text("utf-8"))}
    document = (ROOT / "docs" / "explanation" / "agent.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", document, re.MULTILINE))
    assert names == documented
