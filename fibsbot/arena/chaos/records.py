"""What the bots have written down, compared with what really happened."""

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

    decisions: list[tuple[str | None, str]] = field(factory=list)
    """Each as an XGID, with the answer."""
    sent: list[str] = field(factory=list)
    """Lines that were said."""
    matches: list[tuple[int, int]] = field(factory=list)
    """Final scores."""
    unreadable: list[str] = field(factory=list)


def read_logs(folder: Path) -> Written:
    """Read all session logs of a folder, the oldest first."""
    written = Written()
    for path in sorted(folder.glob("*.jsonl")):
        try:
            for event in _events(path, written):
                _note(written, event)
        except (OSError, SessionLogError) as error:
            written.unreadable.append(f"{path.name}: {error}")
    return written


def _events(path: Path, written: Written) -> Iterator[Event]:
    for record in read_session_log(path):
        if isinstance(record, Sent):
            written.sent.extend(record.data.decode("ascii", "replace").splitlines())
        elif isinstance(record, Event):
            yield record


def _note(written: Written, event: Event) -> None:
    fields: dict[str, Any] = dict(event.fields)
    if event.name == "decision":
        written.decisions.append((fields.get("xgid"), str(fields.get("answer"))))
    elif event.name == "match_ended":
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


def lost_decisions(ledger: Ledger, written: Written) -> list[str]:
    """Return the game commands that the server took, and of which the bot has no decision."""
    known = Counter(written.decisions)
    lost = []
    for answer in ledger.answers:
        key = (answer.xgid, answer.shown)
        if known[key]:
            known[key] -= 1
        else:
            lost.append(f"{ledger.account}: no decision {answer.shown!r} in {answer.xgid}")
    return lost


def lost_lines(ledger: Ledger, written: Written) -> list[str]:
    """Return the game commands that the server took, and that the bot's logs do not hold, or not in this order."""
    lines = [answer.line for answer in ledger.answers]
    return [f"{ledger.account}: {line!r} was not logged" for line in missing(lines, written.sent)]


def lost_matches(ledger: Ledger, written: Written) -> tuple[list[str], int]:
    """Return matches that are missing or written too often, and how many ended unheard: their last line got lost."""
    truth = Counter(match.score for match in ledger.matches if match.score is not None)
    known = Counter(written.matches)
    wrong = [
        f"{ledger.account}: {count} matches too many with the score {score}" for score, count in (known - truth).items()
    ]
    return wrong, sum((truth - known).values())
