"""Comparison of the bots' session logs and stores with the oracle: nothing may be lost or doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from bench.chaos.oracle import Oracle
from bench.chaos.oracle import PlayedMatch as TrueMatch
from fibsbot.records.session_log import ProgramEvent, Sent, SessionLogError, read_session_log
from fibsbot.records.store import Store, StoreError
from fibsbot.records.stored_rows import MatchOutcome, StoredGame, StoredMatch


@frozen
class SessionLogData:
    """The contents of a bot's session logs, in order."""

    sent: list[str] = field(factory=list)
    """Lines that were sent."""
    matches: list[tuple[int, int]] = field(factory=list)
    """Final scores."""
    unreadable: list[str] = field(factory=list)


def read_logs(folder: Path) -> SessionLogData:
    """Read all session logs of a folder, the oldest first."""
    written = SessionLogData()
    for path in sorted(folder.glob("*.jsonl*"), key=_begun):
        try:
            for event in _events(path, written):
                _note(written, event)
        except (OSError, SessionLogError) as error:
            written.unreadable.append(f"{path.name}: {error}")
    return written


def _begun(path: Path) -> str:
    """Return the time in the first line of a log; an empty text if it is no log."""
    try:
        return next(read_session_log(path)).time.isoformat()
    except (OSError, SessionLogError, StopIteration):
        return ""


def _events(path: Path, written: SessionLogData) -> Iterator[ProgramEvent]:
    for record in read_session_log(path):
        if isinstance(record, Sent):
            written.sent.extend(record.data.decode("ascii", "replace").splitlines())
        elif isinstance(record, ProgramEvent):
            yield record


def _note(written: SessionLogData, event: ProgramEvent) -> None:
    fields: dict[str, Any] = dict(event.fields)
    if event.name == "match_ended":
        ours, theirs = fields["score"]
        written.matches.append((int(ours), int(theirs)))


def missing_items(taken: Iterable[object], written: Sequence[object]) -> list[object]:
    """Return the items of `taken` that are missing in `written`, in this order; `written` may have more."""
    left, place = [], 0
    for item in taken:
        try:
            place = written.index(item, place) + 1
        except ValueError:
            left.append(item)
    return left


def lost_lines(oracle: Oracle, written: SessionLogData) -> list[str]:
    """Return the accepted game commands that are missing in the bot's logs, or in another order."""
    lines = [answer.line for answer in oracle.answers]
    return [f"{oracle.account}: {line!r} was not logged" for line in missing_items(lines, written.sent)]


def lost_matches(oracle: Oracle, written: SessionLogData) -> list[str]:
    """Return the matches with more ends in the logs than there were; an end may be missing."""
    truth = Counter(match.score for match in oracle.matches if match.score is not None)
    more = Counter(written.matches) - truth
    return [f"{oracle.account}: {count} ends of matches too many, with {score}" for score, count in more.items()]


@define
class StoreComparison:
    """The differences between a store and the oracle."""

    matches: list[str] = field(factory=list)
    games: list[str] = field(factory=list)
    decisions: list[str] = field(factory=list)
    """Accepted game commands that are missing."""
    unseen: int = 0
    """Matches whose end the bot did not see, and could not infer."""
    inferred: int = 0
    """Matches whose end it inferred."""


def compare_store(oracle: Oracle, path: Path) -> StoreComparison:
    """Compare an account's store with the oracle."""
    compared = StoreComparison()
    try:
        with Store.open(path) as store:
            matches = list(store.matches(account=oracle.account))
            games = {match.id: list(store.games(match)) for match in matches}
            answers = Counter((it.xgid, it.answer) for match in matches for it in store.decisions(match))
    except StoreError as error:
        compared.matches.append(f"{oracle.account}: {error}")
        return compared
    if len(matches) != len(oracle.matches):
        compared.matches.append(
            f"{oracle.account}: {len(oracle.matches)} matches were begun, {len(matches)} are stored"
        )
    for number, (true, stored) in enumerate(zip(oracle.matches, matches, strict=False), 1):
        _compare_match(compared, f"{oracle.account}, match {number}", true, stored)
        if true.score is not None or not stored.inferred:
            _compare_games(compared, f"{oracle.account}, match {number}", true, games[stored.id])
    for answer in oracle.answers:
        key = answer.xgid, answer.shown
        if answers[key]:
            answers[key] -= 1
        else:
            compared.decisions.append(f"{oracle.account}: {answer.shown!r} in {answer.xgid}")
    return compared


def _compare_match(compared: StoreComparison, name: str, true: TrueMatch, stored: StoredMatch) -> None:
    compared.unseen += stored.outcome is MatchOutcome.UNSEEN
    compared.inferred += stored.inferred
    if true.score is None and stored.inferred:
        return  # the server was killed after it had ended the match, and before it could tell anybody but by the rating
    if true.score is None:
        expected = {MatchOutcome.PLAYING, MatchOutcome.SAVED}
    else:
        expected = {MatchOutcome.WON if true.score[0] > true.score[1] else MatchOutcome.LOST, MatchOutcome.UNSEEN}
    if stored.outcome not in expected:
        compared.matches.append(f"{name}: ended {true.score}, stored as {stored.outcome.value}")
    elif stored.finished and not stored.inferred and stored.score != true.score:
        compared.matches.append(f"{name}: ended {true.score}, stored with {stored.score}")


def _compare_games(compared: StoreComparison, name: str, true: TrueMatch, stored: list[StoredGame]) -> None:
    """Compare games: none is missing, and their ends are right, as far as the bot saw them."""
    if len(stored) != len(true.games):
        compared.games.append(f"{name}: {len(true.games)} games were played, {len(stored)} are stored")
        return
    for (won, points), game in zip(true.games, stored, strict=True):
        if game.won not in {None, won} or game.points not in {None, points}:
            compared.games.append(f"{name}: a game ended {won, points}, stored as {game.won, game.points}")
