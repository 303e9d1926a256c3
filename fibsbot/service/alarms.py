"""Finds out what operators are to be notified of: from records of the accounts, and from looks at their status.

Each hook of `[[notify]]` has conditions of its own, such as its ratings and the time of its summary. Nothing here
waits: notices are handed to the thread of `fibsbot/notify/notifier.py`.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import structlog
from attrs import define, field, frozen

from fibsbot.bot.events_and_actions import End, Record
from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook, NotifyEvent, time_zone
from fibsbot.records.session_log import utc_now
from fibsbot.service.account import ELSEWHERE, AccountStatus
from fibsbot.text import format_duration, join_words, plural

STORAGE_DELAY: Final = 60.0
"""Seconds for which records cannot be written before that is an alarm; a database may restart."""
CRASH_INTERVAL: Final = 3600.0
"""Seconds between two notices about crashes of the same account."""

SendNotice: TypeAlias = Callable[[str, Notice], None]
"""Sends a notice to the hook of this name; returns at once."""

_log = structlog.get_logger(__name__)


@frozen
class ProcessState:
    """What a look at the process has found."""

    statuses: tuple[AccountStatus, ...]
    servers: Mapping[str, str]
    """The server of each account, `host:port`."""
    storage_error: str | None = None
    """Why records cannot be written; None if they can."""
    lists: Mapping[str, str | None] = field(factory=dict)
    """Why a list of players cannot be read, by its setting; None if it can."""


@define
class _HookState:
    """What is known about a hook."""

    hook: Hook
    raised: set[tuple[NotifyEvent, str]] = field(factory=set)
    """Alarms that are not over, by event and account or list; the account is empty for the whole process."""
    summary_due: dt.datetime | None = None
    summed_up: dict[str, tuple[int, int, int]] = field(factory=dict)
    """Matches, wins and interruptions of each account that earlier summaries have counted."""
    ratings: dict[str, float] = field(factory=dict)
    """The rating of each account at the last summary, or the first that was known."""
    since: dt.datetime | None = None
    """When the next summary begins."""


class Alarms:
    """Sends notices of what the hooks want to hear of. No method raises."""

    def __init__(
        self,
        hooks: Iterable[Hook],
        send: SendNotice,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        """Send with `send`; `clock` returns seconds, `now` the time of day."""
        self._send = send
        self._clock = clock
        self._now = now
        self._states: dict[str, _HookState] = {}
        self._ratings: dict[str, float] = {}
        self._away: dict[str, float] = {}
        """Since when each account has not been logged in."""
        self._storage_failed: float | None = None
        self._unread: dict[str, float] = {}
        """Since when each list of players cannot be read."""
        self._crashed: dict[str, float] = {}
        self.configure(hooks)

    def configure(self, hooks: Iterable[Hook]) -> None:
        """Use other hooks from now on; what is known about one of the same name is kept."""
        before, self._states = self._states, {}
        for hook in hooks:
            state = before.get(hook.name) or _HookState(hook, since=self._now())
            state.hook = hook
            state.summary_due = _next_summary(hook, self._now())
            self._states[hook.name] = state

    # -- events -------------------------------------------------------------------------------------------------

    def on_record(self, account: str, record: Record) -> None:
        """Note a record of an account."""
        try:
            self._take(account, record)
        except Exception as error:  # noqa: BLE001 - the play goes on in any case
            _log.error("no notice of an event", record=record.name, error=f"{type(error).__name__}: {error}")

    def _take(self, account: str, record: Record) -> None:
        fields = record.fields
        match record.name:
            case "match_ended":
                self._on_match(account, fields)
            case "match_stuck":
                text = f"The server cannot continue the match with {fields['opponent']}: {fields['why']}."
                self._notify(NotifyEvent.STUCK, account, "a match is stuck", text, fields)
            case "rating":
                self._on_rating(account, float(fields["rating"]))

    def _on_match(self, account: str, fields: Mapping[str, Any]) -> None:
        won, opponent, score, length = (fields[name] for name in ("won", "opponent", "score", "length"))
        game = f" of {fields['game']}" if fields.get("game") else ""
        match = f"a match of {plural(length, 'point')}{game}" if length else f"an unlimited match{game}"
        event, verb = (NotifyEvent.MATCH_WON, "won") if won else (NotifyEvent.MATCH_LOST, "lost")
        text = f"{account} has {verb} {match} against {opponent}, {score[0]}-{score[1]}."
        self._notify(event, account, f"match {verb} against {opponent}", text, fields)

    def _on_rating(self, account: str, rating: float) -> None:
        last = self._ratings.get(account, rating)
        self._ratings[account] = rating
        for state in self._states.values():
            state.ratings.setdefault(account, rating)
            for limit in state.hook.settings.ratings:
                up = last < limit <= rating
                if up or rating < limit <= last:
                    text = f"The rating of {account} is {rating:.2f}, {'at or above' if up else 'below'} {limit:.10g}."
                    title = f"rating {'above' if up else 'below'} {limit:.10g}"
                    data = {"rating": rating, "before": last, "passed": limit}
                    self._to(state, NotifyEvent.RATING, account, title, text, data)

    def on_crash(self, account: str, text: str) -> None:
        """Note that a run of an account has crashed."""
        last, now = self._crashed.get(account), self._clock()
        if last is None or now >= last + CRASH_INTERVAL:
            self._crashed[account] = now
            said = f"A run of {account} crashed and is started again: {text}. The log has the traceback."
            self._notify(NotifyEvent.CRASHED, account, "a run crashed", said, {"error": text})

    def on_end(self, account: str, end: End, reason: str) -> None:
        """Note that an account has ended."""
        if end is End.REFUSED:
            said = f"{account} cannot log in and is not tried again: {reason}."
            self._notify(NotifyEvent.REFUSED, account, "login refused", said, {"reason": reason})
        elif end is End.REPLACED:
            said = f"Somebody else has logged in as {account}, which has ended: {reason}."
            self._notify(NotifyEvent.REPLACED, account, "replaced by another login", said, {"reason": reason})

    # -- looks --------------------------------------------------------------------------------------------------

    def check(self, found: ProcessState) -> None:
        """Look for what no record reports: silence, storage that fails, the time of a summary."""
        try:
            self._check_servers(found)
            self._check_activity(found)
            self._check_storage(found)
            self._check_lists(found)
            self._check_summaries(found)
        except Exception as error:  # noqa: BLE001 - as above
            _log.error("no notice of the state", error=f"{type(error).__name__}: {error}")

    def _check_servers(self, found: ProcessState) -> None:
        now = self._clock()
        for status in found.statuses:
            ended = status.state in End.__members__ or status.state == ELSEWHERE
            if status.connected is not None or ended:
                self._away.pop(status.account, None)
            else:
                self._away.setdefault(status.account, now)
        for state in self._states.values():
            gone: dict[str, list[str]] = defaultdict(list)
            back: dict[str, list[str]] = defaultdict(list)
            for status in found.statuses:
                name, key = status.account, (NotifyEvent.SERVER_GONE, status.account)
                since = self._away.get(name)
                if since is not None and now - since >= state.hook.settings.gone_after and key not in state.raised:
                    state.raised.add(key)
                    gone[found.servers[name]].append(name)
                elif since is None and key in state.raised:
                    state.raised.discard(key)
                    if status.connected is not None:
                        back[found.servers[name]].append(name)
            for server, names in gone.items():
                wait = format_duration(state.hook.settings.gone_after)
                text = f"{join_words(names)}: not logged in to {server} for {wait}."
                data = {"server": server, "accounts": names}
                self._to(state, NotifyEvent.SERVER_GONE, _only(names), "server gone", text, data)
            for server, names in back.items():
                data = {"server": server, "accounts": names, "after": NotifyEvent.SERVER_GONE.value}
                text = f"{join_words(names)}: logged in to {server} again."
                self._to(state, NotifyEvent.BACK, _only(names), "server back", text, data)

    def _check_activity(self, found: ProcessState) -> None:
        for status in found.statuses:
            hanging = not status.healthy and status.state not in End.__members__
            text = f"{status.account} shows no activity: {status.sentence}."
            back = f"{status.account} goes on: {status.sentence}."
            self._switch(NotifyEvent.HANGING, status.account, "no activity", text, "activity again", back, on=hanging)

    def _check_storage(self, found: ProcessState) -> None:
        now = self._clock()
        if found.storage_error is None:
            self._storage_failed = None
        elif self._storage_failed is None:
            self._storage_failed = now
        lasting = self._storage_failed is not None and now - self._storage_failed >= STORAGE_DELAY
        if lasting or found.storage_error is None:
            text = f"Records cannot be written: {found.storage_error}. The bots play on."
            back = "Records are written again."
            self._switch(NotifyEvent.STORAGE, "", "storage fails", text, "storage works again", back, on=lasting)

    def _check_lists(self, found: ProcessState) -> None:
        now = self._clock()
        failing = {name: error for name, error in found.lists.items() if error is not None}
        self._unread = {name: self._unread.get(name, now) for name in failing}
        for state in self._states.values():
            for name, error in failing.items():
                key = (NotifyEvent.LIST, name)
                if now - self._unread[name] >= state.hook.settings.gone_after and key not in state.raised:
                    state.raised.add(key)
                    text = f"The list of players {name} cannot be read: {error}. The bots play on."
                    self._to(state, NotifyEvent.LIST, None, "list not readable", text, {"list": name, "error": error})
            for key in [key for key in state.raised if key[0] is NotifyEvent.LIST and key[1] not in failing]:
                state.raised.discard(key)
                if key[1] in found.lists:  # and still one of the settings
                    data = {"list": key[1], "after": NotifyEvent.LIST.value}
                    text = f"The list of players {key[1]} is read again."
                    self._to(state, NotifyEvent.BACK, None, "list readable again", text, data)

    def _switch(  # noqa: PLR0913, PLR0917 - what an alarm and its end say
        self, event: NotifyEvent, account: str, title: str, text: str, back_title: str, back: str, *, on: bool
    ) -> None:
        """Raise an alarm, or say that it is over, where that is new."""
        for state in self._states.values():
            if on and (event, account) not in state.raised:
                state.raised.add((event, account))
                self._to(state, event, account or None, title, text, {})
            elif not on and (event, account) in state.raised:
                state.raised.discard((event, account))
                self._to(state, NotifyEvent.BACK, account or None, back_title, back, {"after": event.value})

    def _check_summaries(self, found: ProcessState) -> None:
        now = self._now()
        for state in self._states.values():
            if state.summary_due is None or now < state.summary_due:
                continue
            lines = [self._summary(state, status) for status in found.statuses]
            since = state.since or now
            data = {"since": since.isoformat(timespec="seconds"), "accounts": [facts for _, facts in lines]}
            text = f"In {format_duration((now - since).total_seconds())}: {' '.join(line for line, _ in lines)}"
            self._to(state, NotifyEvent.SUMMARY, None, "summary", text, data)
            state.since, state.summary_due = now, _next_summary(state.hook, now)

    def _summary(self, state: _HookState, status: AccountStatus) -> tuple[str, dict[str, Any]]:
        """Return a sentence about an account since the last summary, and the same as JSON values."""
        counters = status.counters
        totals = counters.matches, counters.wins, counters.interruptions
        before = state.summed_up.get(status.account, (0, 0, 0))
        state.summed_up[status.account] = totals
        matches, wins, saved = (total - earlier for total, earlier in zip(totals, before, strict=True))
        rating = self._ratings.get(status.account)
        change = None if rating is None else rating - state.ratings.get(status.account, rating)
        if rating is not None:
            state.ratings[status.account] = rating
        parts = [f"{plural(matches, 'match')}, {wins} won"]
        parts += [f"{saved} interrupted"] if saved else []
        parts += [] if rating is None else [f"rating {rating:.2f} ({change:+.2f})"]
        parts += [f"last error {status.last_error}"] if status.last_error else []
        facts = {"account": status.account, "matches": matches, "won": wins, "interrupted": saved}
        facts |= {"rating": rating, "change": change, "state": status.state, "last_error": status.last_error}
        return f"{status.account}: {'; '.join(parts)}; now {status.sentence}.", facts

    # -- sending ------------------------------------------------------------------------------------------------

    def _notify(self, event: NotifyEvent, account: str, title: str, text: str, data: Mapping[str, Any]) -> None:
        for state in self._states.values():
            self._to(state, event, account, title, text, data)

    def _to(  # noqa: PLR0913, PLR0917 - the parts of a notice
        self, state: _HookState, event: NotifyEvent, account: str | None, title: str, text: str, data: Mapping[str, Any]
    ) -> None:
        if event in state.hook.settings.events:
            named = f"{account}: {title}" if account else f"fibsbot: {title}"
            self._send(state.hook.name, Notice(event, account, named, text, self._now(), dict(data)))


def _only(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _next_summary(hook: Hook, now: dt.datetime) -> dt.datetime | None:
    """Return when the next summary is due, by the hook's time of day."""
    at = hook.settings.time_of_summary
    if at is None or NotifyEvent.SUMMARY not in hook.settings.events:
        return None
    here = now.astimezone(time_zone(hook.settings.timezone))
    due = dt.datetime.combine(here.date(), at, here.tzinfo)
    if due <= now:  # of aware times: also where the clocks change
        due = dt.datetime.combine(here.date() + dt.timedelta(days=1), at, here.tzinfo)
    return due.astimezone(dt.UTC)
