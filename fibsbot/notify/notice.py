"""What an operator is notified of: a sentence for people, and the same as JSON for programs."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any, Self

from attrs import evolve, field, frozen

from fibsbot.notify.settings import ALARMS, NotifyEvent
from fibsbot.redaction import redact, redact_record
from fibsbot.text import plural
from fibsbot.version import __version__


@frozen
class Notice:
    """Something that happened. Everything in it is free of passwords."""

    event: NotifyEvent
    account: str | None
    """None: it concerns the whole process."""
    title: str
    """A few words."""
    text: str
    """One or more sentences."""
    at: dt.datetime
    data: Mapping[str, Any] = field(factory=dict)
    """Facts about the event, as JSON values."""
    key: str = field(factory=lambda: uuid.uuid4().hex)
    """The same in each attempt to deliver it, so that a receiver can leave out repetitions."""
    dropped: Mapping[str, int] = field(factory=dict)
    """Earlier notices that no longer had room, by event."""

    @property
    def is_alarm(self) -> bool:
        """Whether something is wrong, or right again."""
        return self.event in ALARMS

    @property
    def sentences(self) -> str:
        """The text, and what was dropped before it."""
        if not self.dropped:
            return self.text
        kinds = ", ".join(f"{count} {event}" for event, count in self.dropped.items())
        return f"{self.text} Dropped before this: {plural(sum(self.dropped.values()), 'notice')} ({kinds})."

    def redacted(self) -> Notice:
        """Return the notice without passwords."""
        return evolve(self, title=redact(self.title), text=redact(self.text), data=redact_record(dict(self.data)))

    def as_dict(self) -> dict[str, Any]:
        """Return the notice as JSON values."""
        return {
            "id": self.key,
            "event": self.event.value,
            "account": self.account,
            "title": self.title,
            "text": self.sentences,
            "at": self.at.isoformat(timespec="seconds"),
            "program": f"fibsbot {__version__}",
            "data": dict(self.data),
            "dropped": dict(self.dropped),
        }

    def stored(self) -> dict[str, Any]:
        """Return what `restore` reads."""
        return {**self.as_dict(), "text": self.text}

    @classmethod
    def restore(cls, stored: Mapping[str, Any]) -> Self:
        """Return a notice that was kept. Raises ValueError, KeyError or TypeError if it is none."""
        return cls(
            NotifyEvent(stored["event"]),
            None if stored["account"] is None else str(stored["account"]),
            str(stored["title"]),
            str(stored["text"]),
            dt.datetime.fromisoformat(stored["at"]),
            dict(stored["data"]),
            str(stored["id"]),
            {str(event): int(count) for event, count in dict(stored["dropped"]).items()},
        )
