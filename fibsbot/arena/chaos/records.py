"""What the bots' session logs hold, compared with what really happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from fibsbot.arena.chaos.ledger import Ledger
from fibsbot.records.session_log import Event, Sent, SessionLogError, read_session_log


@frozen
class Written:
    """What a bot's session logs hold, in their order."""

    sent: list[str] = field(factory=list)
    """Lines that were said."""
    matches: list[tuple[int, int]] = field(factory=list)
    """Final scores."""
    unreadable: list[str] = field(factory=list)


def read_logs(folder: Path) -> Written:
    """Read all session logs of a folder, the oldest first."""
    written = Written()
    for path in sorted(folder.glob("*.jsonl*"), key=_begun):
        try:
            for event in _events(path, written):
                _note(written, event)
        except (OSError, SessionLogError) as error:
            written.unreadable.append(f"{path.name}: {error}")
    return written


def _begun(path: Path) -> str:
    """Return when a log was begun, as its first line tells; nothing for what is no log."""
    try:
        return next(read_session_log(path)).time.isoformat()
    except (OSError, SessionLogError, StopIteration):
        return ""


def _events(path: Path, written: Written) -> Iterator[Event]:
    for record in read_session_log(path):
        if isinstance(record, Sent):
            written.sent.extend(record.data.decode("ascii", "replace").splitlines())
        elif isinstance(record, Event):
            yield record


def _note(written: Written, event: Event) -> None:
    fields: dict[str, Any] = dict(event.fields)
    if event.name == "match_ended":
        ours, theirs = fields["score"]
        written.matches.append((int(ours), int(theirs)))


def missing(taken: Iterable[object], written: Sequence[object]) -> list[object]:
    """Return what is not written down of what was taken, in this order; more may be written than was taken."""
    left, place = [], 0
    for item in taken:
        try:
            place = written.index(item, place) + 1
        except ValueError:
            left.append(item)
    return left


def lost_lines(ledger: Ledger, written: Written) -> list[str]:
    """Return the game commands that the server took, and that the bot's logs do not hold, or not in this order."""
    lines = [answer.line for answer in ledger.answers]
    return [f"{ledger.account}: {line!r} was not logged" for line in missing(lines, written.sent)]


def lost_matches(ledger: Ledger, written: Written) -> list[str]:
    """Return the matches of which more ends are written down than there were; an end may go unheard."""
    truth = Counter(match.score for match in ledger.matches if match.score is not None)
    more = Counter(written.matches) - truth
    return [f"{ledger.account}: {count} ends of matches too many, with {score}" for score, count in more.items()]
