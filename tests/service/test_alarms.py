"""What operators are notified of, on a clock of the test's own."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from attrs import evolve

from fibsbot.bot.context import Counters
from fibsbot.bot.events_and_actions import End, Record
from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook, NotifyEvent, NotifySettings
from fibsbot.service.account import AccountStatus
from fibsbot.service.alarms import CRASH_INTERVAL, STORAGE_DELAY, Alarms, ProcessState

EVERYTHING = tuple(event for event in NotifyEvent if event is not NotifyEvent.TRIAL)
START = dt.datetime(2026, 3, 28, 6, 30, tzinfo=dt.UTC)
"""The day before the clocks change in Berlin."""


def status(name: str = "marvin", **fields: Any) -> AccountStatus:
    """Return the status of an account that is logged in and well."""
    well = AccountStatus(name, "LOBBY", "waiting for a match", None, Counters(), 9, 9, 0, 0, None, None, healthy=True)
    return evolve(well, **fields)


class Watched:
    """Alarms and what they send, on a clock that a test sets."""

    def __init__(self, **settings: Any) -> None:
        """Send everything to one hook."""
        self.seconds = 0.0
        self.sent: list[Notice] = []
        self.hook = Hook("telephone", NotifySettings(**{"events": EVERYTHING, "url": "http://x", **settings}))
        self.alarms = Alarms(
            [self.hook],
            lambda _, notice: self.sent.append(notice),
            clock=lambda: self.seconds,
            now=lambda: START + dt.timedelta(seconds=self.seconds),
        )

    def look(
        self,
        *statuses: AccountStatus,
        after: float = 0.0,
        storage: str | None = None,
        lists: dict[str, str | None] | None = None,
    ) -> list[str]:
        """Look at the process after some seconds; return what is sent."""
        self.seconds += after
        servers = dict.fromkeys(("marvin", "ford"), "example.org:4321")
        self.alarms.check(ProcessState(statuses or (status(),), servers, storage, lists or {}))
        return self.said()

    def record(self, name: str, /, **fields: Any) -> list[str]:
        """Let an account record something; return what is sent."""
        self.alarms.on_record("marvin", Record(name, fields))
        return self.said()

    def said(self) -> list[str]:
        """Return events and texts since the last call."""
        found = [f"{notice.event}: {notice.text}" for notice in self.sent]
        self.sent.clear()
        return found


def test_a_server_is_gone_after_the_time_that_the_hook_names_and_once() -> None:
    it = Watched(gone_after=600)
    both = status(connected=None), status("ford", connected=None)
    assert [] == it.look(*both) == it.look(*both, after=599)
    assert ["server_gone: marvin and ford: not logged in to example.org:4321 for 10 minutes."] == it.look(
        *both, after=1
    )
    assert [] == it.look(*both, after=6000)
    assert ["back: marvin: logged in to example.org:4321 again."] == it.look(status(), both[1], after=10)
    assert ["back: ford: logged in to example.org:4321 again."] == it.look(status(), status("ford"))
    assert [] == it.look(*both) == it.look(*both, after=599), "the time begins anew"


def test_an_account_that_has_ended_or_is_elsewhere_does_not_miss_the_server() -> None:
    it = Watched(gone_after=1)
    for state in ("REFUSED", "FINISHED", "ELSEWHERE"):
        gone = status(connected=None, state=state)
        assert [] == it.look(gone) == it.look(gone, after=2)


def test_silence_and_its_end() -> None:
    it = Watched()
    hanging = status(healthy=False, sentence="their turn")
    assert ["hanging: marvin shows no activity: their turn."] == it.look(hanging)
    assert [] == it.look(hanging)
    assert ["back: marvin goes on: waiting for a match."] == it.look()


def test_storage_that_fails_for_a_while_is_an_alarm() -> None:
    it = Watched()
    assert [] == it.look(storage="disk full") == it.look(after=1) == it.look(storage="disk full")
    text = "storage: Records cannot be written: disk full. The bots play on."
    assert [text] == it.look(storage="disk full", after=STORAGE_DELAY)
    assert ["back: Records are written again."] == it.look()


def test_a_list_that_cannot_be_read_for_long_is_an_alarm_and_one_that_was_removed_is_none() -> None:
    it = Watched(gone_after=600)
    broken: dict[str, str | None] = {"lists.block[1]": "status 404; the last good copy holds", "lists.allow[1]": None}
    assert [] == it.look(lists=broken) == it.look(lists=broken, after=599)
    text = "list: The list of players lists.block[1] cannot be read: status 404; the last good copy holds."
    assert [f"{text} The bots play on."] == it.look(lists=broken, after=1)
    assert [] == it.look(lists=broken, after=6000)
    assert ["back: The list of players lists.block[1] is read again."] == it.look(lists=dict.fromkeys(broken))
    assert [] == it.look(lists=broken) == it.look(lists=broken, after=599), "the time begins anew"
    assert 1 == len(it.look(lists=broken, after=1))
    assert [] == it.look(lists={}), "it is no longer one of the settings"


def test_ends_and_crashes() -> None:
    it = Watched()
    it.alarms.on_end("marvin", End.REFUSED, "the server refuses this name and password")
    it.alarms.on_end("marvin", End.REPLACED, "a newer login")
    it.alarms.on_end("marvin", End.FINISHED, "logged out")
    assert [
        "refused: marvin cannot log in and is not tried again: the server refuses this name and password.",
        "replaced: Somebody else has logged in as marvin, which has ended: a newer login.",
    ] == it.said()
    for _ in range(3):
        it.alarms.on_crash("marvin", "KeyError: 'x'")
    assert [
        "crashed: A run of marvin crashed and is started again: KeyError: 'x'. The log has the traceback."
    ] == it.said()
    it.seconds += CRASH_INTERVAL
    it.alarms.on_crash("marvin", "KeyError: 'x'")
    assert 1 == len(it.said())


def test_matches() -> None:
    it = Watched()
    played: dict[str, Any] = {"opponent": "ford", "length": 5, "score": [5, 3], "won": True}
    assert ["match_won: marvin has won a match of 5 points against ford, 5-3."] == it.record("match_ended", **played)
    played |= {"length": 1, "score": [0, 1], "won": False, "game": "plakoto"}
    assert ["match_lost: marvin has lost a match of 1 point of plakoto against ford, 0-1."] == it.record(
        "match_ended", **played
    )
    assert ["stuck: The server cannot continue the match with ford: it is broken."] == it.record(
        "match_stuck", opponent="ford", length=5, why="it is broken"
    )


def test_ratings_are_passed_up_and_down_from_the_first_one_known() -> None:
    it = Watched(ratings=(1600.0, 1650.0))
    ratings = [1590.0, 1599.99, 1600.0, 1660.0, 1655.0, 1500.0]
    assert [0, 0, 1, 1, 0, 2] == [len(it.record("rating", rating=rating, experience=9)) for rating in ratings]
    assert ["rating: The rating of marvin is 1600.50, at or above 1600."] == it.record("rating", rating=1600.5)
    it.alarms.configure([it.hook])
    assert ["rating: The rating of marvin is 1599.00, below 1600."] == it.record("rating", rating=1599)


@pytest.mark.parametrize(("zone", "hours"), [("UTC", (1.5, 24, 24)), ("Europe/Berlin", (0.5, 23, 24))])
def test_the_summary_comes_at_its_time_of_day_also_when_the_clocks_change(zone: str, hours: tuple[float, ...]) -> None:
    it = Watched(summary_at="08:00", timezone=zone)
    it.record("rating", rating=1600.0)
    played = Counters()
    for number, wait in enumerate(hours, 1):
        it.record("rating", rating=1600.0 + number)
        played = evolve(played, matches=3 * number, wins=2 * number)
        found = status(counters=played, last_error="connection lost: reset")
        assert [] == it.look(found, after=wait * 3600 - 1)
        (text,) = it.look(found, after=1)
        assert f": marvin: 3 matches, 2 won; rating {1600 + number}.00 (+1.00); last error connection lost: " in text
        assert text.startswith("summary: In ")
        assert text.endswith("; now waiting for a match.")


def test_only_events_of_the_hook_are_sent_and_nothing_raises() -> None:
    it = Watched(events=(NotifyEvent.STUCK,))
    assert [] == it.record("match_ended", opponent="ford", length=5, score=[5, 3], won=True)
    assert [] == it.record("match_stuck"), "a record without its fields costs a line in the log"
    assert [] == it.look(status(healthy=False))
