"""Records an account's matches for the store as they are played: both players' rolls, plays and cube actions.

Messages and commands go to the transcriber that replays use too; its events become records (docs/records.md).
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import structlog
from attrs import define
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message

from fibsbot.bot.interface import Record
from fibsbot.records.session_log import utc_now
from fibsbot.records.store.state_json import write_play, write_state
from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEvent
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Cube, Entry, Gap, Resign, Throw, Transcript

RecordSink: TypeAlias = Callable[[str, Mapping[str, Any], dt.datetime], None]
"""Takes a record to be remembered: name, fields, time."""

_log = structlog.get_logger(__name__)


@define
class _RecordedGame:
    """The sheet that is being written."""

    key: str
    state: GameState
    """Where the game stands after the entries."""
    entries: int = 0


class MatchRecorder:
    """Writes one account's matches down. Whatever goes wrong here is logged, and costs no move."""

    def __init__(
        self, account: str, site: str, keep: RecordSink, happened: Callable[[MatchEvent], None] = lambda _: None
    ) -> None:
        """Begin; `keep` takes the records, `happened` sees everything that the scribe tells."""
        self._account = account
        self._site = site
        self._keep = keep
        self._happened = happened
        self._scribe: Transcriber | None = Transcriber(account, site)
        self._opponent: str | None = None
        """Whom the agent plays: only of its matches are sheets begun, whatever else is on the line."""
        self._since = 0
        """Number of the scribe's first match that may be the one that the agent plays."""
        self._newest = 0
        """Number of the scribe's newest match."""
        self._match: MatchBegan | None = None
        """What the scribe tells about."""
        self._sheet: _RecordedGame | None = None
        self._decided: list[Mapping[str, Any]] = []
        """Decisions whose commands went out, but are not shown to us yet."""
        self._failed = False

    # -- what happens on the connection -------------------------------------------------------------------------

    def hear(self, message: Message) -> None:
        """Take in what the server said."""
        self._feed(lambda scribe, now: scribe.receive(message, now))

    def say(self, command: Command) -> None:
        """Take in what we said."""
        decided, self._decided = self._decided, []
        for fields in decided:
            self._tell(fields)
        self._feed(lambda scribe, now: scribe.send(command, now))

    def _tell(self, decision: Mapping[str, Any]) -> None:
        self._feed(lambda scribe, _: scribe.log_event("decision", decision))

    def note(self, record: Record) -> None:
        """Take in what the agent tells, before the message that made it do so."""
        match record.name:
            case "match_started":
                self._opponent = record.fields.get("opponent")
                self._since = 0 if record.fields.get("resumed") else self._newest + 1
            case "match_saved" | "match_ended":
                self._opponent = None
            case "decision":
                self._decided.append(record.fields)
            case "connection_lost":
                self._feed(lambda scribe, _: scribe.disconnect())
                self._decided.clear()
                self._scribe = self._scribe or Transcriber(self._account, self._site)

    def _feed(self, take: Callable[[Transcriber, dt.datetime], Iterable[MatchEvent] | None]) -> None:
        if self._scribe is None:
            return
        try:
            now = utc_now()
            for happening in take(self._scribe, now) or ():
                self.write(happening, now)
                self._happened(happening)
        except Exception as error:  # noqa: BLE001 - whatever it is, the play goes on
            self._scribe = self._sheet = None
            if not self._failed:
                _log.exception("matches are not written down until the next connection", error=str(error))
            self._failed = True

    # -- sheets and entries -------------------------------------------------------------------------------------

    def write(self, happening: MatchEvent, now: dt.datetime) -> None:
        """Write down what happens."""
        match happening:
            case MatchBegan(match=number):
                self._match, self._sheet = happening, None
                self._newest = max(self._newest, number)
            case GameBegan(game=game):
                self._sheet = None
                if not game.entries:
                    self._open(game.start, now)
            case EntryAdded(step=step):
                sheet = self._sheet
                if sheet is None or sheet.state != step.before:
                    sheet = self._open(step.before, now)
                if sheet is not None:
                    sheet.entries += 1
                    sheet.state = step.after
                    fields = {"sheet": sheet.key, "number": sheet.entries, **_fields(step.entry)}
                    self._keep("entry", fields, step.entry.at or now)
            case GameEnded():
                self._sheet = None

    def _open(self, state: GameState, now: dt.datetime) -> _RecordedGame | None:
        """Begin a sheet, if the game is one of the agent's."""
        match = self._match
        if match is None or match.match < self._since or not self._is_on(match.transcript):
            return None
        self._sheet = _RecordedGame(uuid.uuid4().hex, state)
        fields = {"sheet": self._sheet.key, "opponent": self._opponent, "score": state.scores, "site": self._site}
        self._keep("sheet", {**fields, "state": write_state(state)}, now)
        return self._sheet

    def _is_on(self, transcript: Transcript) -> bool:
        """Whether a match can be the one that the agent plays."""
        return transcript.user is Seat.A and transcript.players[Seat.B].name == self._opponent


def _fields(entry: Entry) -> dict[str, Any]:
    """Return an entry as names and values."""
    known = {"equity": entry.equity, "seconds": entry.seconds, "rebuilt": entry.rebuilt}
    match entry:
        case Throw(seat=seat, dice=dice, play=play):
            shown = None if play is None else write_play(play)
            return {**known, "kind": "throw", "own": seat is Seat.A, "dice": dice, "play": shown}
        case Cube(seat=seat, action=action):
            return {**known, "kind": action.value, "own": seat is Seat.A}
        case Resign(seat=seat, level=level, accepted=accepted):
            return {**known, "kind": "resign", "own": seat is Seat.A, "level": int(level), "accepted": accepted}
        case Gap(reason=reason, then=then):
            return {**known, "kind": "gap", "reason": reason, "state": write_state(then)}
    raise TypeError(f"expected an entry, got {entry!r}")
