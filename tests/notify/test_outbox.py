"""The notices that wait: bounded, kept over a restart, and honest about what was dropped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fibsbot.notify.notice import Notice
from fibsbot.notify.outbox import Outbox
from fibsbot.notify.settings import NotifyEvent
from tests.examples import examples
from tests.notify.notices import notice

WON, STUCK = NotifyEvent.MATCH_WON, NotifyEvent.STUCK


def test_what_waits_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state" / "telephone.json"
    box = Outbox(path, 10)
    for number in range(3):
        box.add(notice(number=number))
    box.remove("key0", delivered=True)
    assert [notice(number=1), notice(number=2)] == taken(Outbox(path, 10))
    box.remove("key1", delivered=True)
    box.remove("key2", delivered=True)
    assert not path.exists()


def taken(box: Outbox) -> list[Notice]:
    """Take everything out."""
    found = []
    while first := box.first:
        found.append(first)
        box.remove(first.key, delivered=True)
    return found


@examples(50)
@given(st.lists(st.sampled_from([WON, STUCK]), max_size=20), st.integers(1, 5))
def test_alarms_are_dropped_last_and_the_next_notice_says_what_was_dropped(
    events: list[NotifyEvent], keep: int
) -> None:
    box = Outbox(None, keep)
    with capture_logs() as logs:
        for number, event in enumerate(events):
            box.add(notice(event, number))
    assert min(len(events), keep) == len(box)
    lost = max(len(events) - keep, 0)
    assert lost == len(logs)
    if first := box.first:
        assert lost == sum(first.dropped.values())
        assert ("Dropped before this" in first.sentences) is (lost > 0)
        alarms = events.count(STUCK)
        assert min(alarms, keep) == sum(it.event is STUCK for it in taken(box))


@pytest.mark.parametrize("text", ["", "[]", '{"notices": [{}], "dropped": {}}', '{"notices": 3}', "\xff", "[" * 10_000])
def test_a_damaged_file_is_reported_and_ignored(tmp_path: Path, text: str) -> None:
    path = tmp_path / "telephone.json"
    path.write_text(text, encoding="latin-1")
    with capture_logs() as logs:
        box = Outbox(path, 10)
    assert ["notices of an earlier run cannot be read"] == [log["event"] for log in logs]
    box.add(notice())
    assert [notice()] == taken(Outbox(path, 10))


def test_a_disk_that_takes_nothing_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with capture_logs() as logs:
        box = Outbox(tmp_path / "file" / "telephone.json", 10)
        for number in range(3):
            box.add(notice(number=number))
    assert 3 == len(box)
    assert 1 == sum(log["event"] == "notices that wait cannot be kept over a restart" for log in logs)
