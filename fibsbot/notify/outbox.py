"""The notices that wait for a receiver: bounded, and kept in a file, so that a restart loses none of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import structlog
from attrs import evolve

from fibsbot.files import DocumentError, read_json, replacing
from fibsbot.notify.notice import Notice

_log = structlog.get_logger(__name__)


class Outbox:
    """The notices for one receiver, the oldest first."""

    def __init__(self, path: Path | None, limit: int) -> None:
        """Load what an earlier process has left at `path`, if there is a path; at most `limit` notices wait."""
        self._path = path
        self.limit = limit
        """How many may wait."""
        self._notices: list[Notice] = []
        self._dropped: Counter[str] = Counter()
        """Notices dropped since the last one that was delivered, by event."""
        self._failed = False
        """Whether the file could not be written last time."""
        self._load()

    def __len__(self) -> int:
        """Return how many notices wait."""
        return len(self._notices)

    @property
    def first(self) -> Notice | None:
        """The next notice to deliver, which says what was dropped before it."""
        if not self._notices:
            return None
        first = self._notices[0]
        return evolve(first, dropped=dict(self._dropped)) if self._dropped else first

    def add(self, notice: Notice) -> None:
        """Add a notice; if there is no room, drop the oldest that is no alarm, or the oldest of all."""
        self._notices.append(notice)
        while len(self._notices) > self.limit:
            others = (number for number, waiting in enumerate(self._notices) if not waiting.is_alarm)
            lost = self._notices.pop(next(others, 0))
            self._dropped[lost.event.value] += 1
            _log.warning("notice dropped, too many wait", notice=lost.event.value, about=lost.account)
        self._save()

    def remove(self, key: str, *, delivered: bool) -> None:
        """Remove a notice that was delivered, or given up."""
        kept = [notice for notice in self._notices if notice.key != key]
        lost = [notice for notice in self._notices if notice.key == key]
        self._notices = kept
        if delivered:
            self._dropped.clear()
        else:
            self._dropped.update(notice.event.value for notice in lost)
        self._save()

    def _save(self) -> None:
        if self._path is None:
            return
        try:
            if self._notices or self._dropped:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                stored = {"notices": [notice.stored() for notice in self._notices], "dropped": self._dropped}
                with replacing(self._path) as part:
                    part.write_text(json.dumps(stored), encoding="utf-8")
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            if not self._failed:
                _log.warning("notices that wait cannot be kept over a restart", error=error.strerror or str(error))
            self._failed = True
        else:
            self._failed = False

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            stored = read_json(self._path.read_bytes())
            self._notices = [Notice.restore(notice) for notice in stored["notices"]][-self.limit :]
            self._dropped = Counter({str(event): int(count) for event, count in stored["dropped"].items()})
        except FileNotFoundError:
            return
        except (OSError, DocumentError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("notices of an earlier run cannot be read", file=str(self._path), error=str(error))
