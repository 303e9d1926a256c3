"""Records an account's matches for the store as they are played: both players' rolls, plays and cube actions.

Messages and commands go to the transcriber that replays use too; its events become records (docs/reference/records.md).
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
from fibsbot.bot.events_and_actions import Record
from fibsbot.games.state_json import state_to_json
from fibsbot.records.session_log import utc_now
from fibsbot.records.store.transcripts import write_turn_part
from fibsbot.replay import events
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import (
    Contest,
    Continuation,
    Cube,
    Entry,
    Gap,
    Named,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
)

RecordSink: TypeAlias = Callable[[str, Mapping[str, Any], dt.datetime], None]
"""Stores a record: name, fields, time."""

_log = structlog.get_logger(__name__)


@define
class _RecordedGame:
    """A game that is being recorded: the entries seen in one sitting, a `sheet` of the store."""

    key: str
    state: GameState
    """The state after its entries."""
    entries: int = 0


class MatchRecorder:
    """Records an account's matches. An error here is logged, and never affects the play."""

    def __init__(
        self,
        account: str,
        site: str,
        store_record: RecordSink,
        on_event: Callable[[events.MatchEvent], None] = lambda _: None,
    ) -> None:
        """Record an account's matches; `store_record` gets the records, `on_event` all events of the transcriber."""
        self._account = account
        self._site = site
        self._store_record = store_record
        self._on_event = on_event
        self._transcriber: Transcriber | None = Transcriber(account, site)
        self._opponent: str | None = None
        """The agent's opponent: only games against them are recorded, whatever else the connection shows."""
        self._since = 0
        """Number of the transcriber's first match that may be the agent's."""
        self._newest = 0
        """Number of the transcriber's newest match."""
        self._match: events.MatchBegan | None = None
        """The transcriber's current match."""
        self._game: _RecordedGame | None = None
        self._chouette_game: int | None = None
        """The number of the last game at a chouette whose result the store has."""
        self._decided: list[tuple[str, Mapping[str, Any]]] = []
        """Decisions whose commands have not been observed yet: records' names and fields."""
        self._failed = False

    # -- events of the connection -------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Handle a message of the server."""
        self._feed(lambda transcriber, now: transcriber.receive(message, now))

    def on_sent(self, command: Command) -> None:
        """Handle a command that was sent."""
        decided, self._decided = self._decided, []
        for name, fields in decided:
            self._note_decision(name, fields)
        self._feed(lambda transcriber, now: transcriber.send(command, now))

    def _note_decision(self, name: str, fields: Mapping[str, Any]) -> None:
        self._feed(lambda transcriber, _: transcriber.log_event(name, fields))

    def on_record(self, record: Record) -> None:
        """Handle a record of the agent, which comes before the message that caused it."""
        match record.name:
            case "match_started":
                self._opponent = record.fields.get("opponent")
                self._since = 0 if record.fields.get("resumed") else self._newest + 1
            case "match_saved" | "match_ended":
                self._opponent = None
            case "decision" | "chouette_decision":
                self._decided.append((record.name, record.fields))
            case "chouette_game":
                self._chouette_game = record.fields.get("game")
            case "connection_lost":
                self._feed(lambda transcriber, _: transcriber.disconnect())
                self._decided.clear()
                self._transcriber = self._transcriber or Transcriber(self._account, self._site)

    def _feed(self, take: Callable[[Transcriber, dt.datetime], Iterable[events.MatchEvent] | None]) -> None:
        if self._transcriber is None:
            return
        try:
            now = utc_now()
            for event in take(self._transcriber, now) or ():
                self.write(event, now)
                self._on_event(event)
        except Exception as error:  # noqa: BLE001 - the play goes on in any case
            self._transcriber = self._game = None
            if not self._failed:
                _log.exception("matches are not recorded until the next connection", error=str(error))
            self._failed = True

    # -- games and entries --------------------------------------------------------------------------------------

    def write(self, event: events.MatchEvent, now: dt.datetime) -> None:
        """Record an event of the transcriber."""
        match event:
            case events.MatchBegan(match=number):
                self._match, self._game = event, None
                self._newest = max(self._newest, number)
            case events.GameBegan(game=begun):
                self._game = None
                if not begun.entries:
                    self._open(begun.start, now)
            case events.EntryAdded(step=step):
                game = self._game
                if game is None or game.state != step.before:
                    game = self._open(step.before, now)
                if game is not None:
                    game.entries += 1
                    game.state = step.after
                    fields = {"sheet": game.key, "number": game.entries, **_fields(step.entry)}
                    self._store_record("entry", fields, step.entry.at or now)
            case events.GameEnded():
                self._game = None
            case events.MatchEnded(transcript=transcript):
                self._write_of_chouette(transcript, now)

    def _write_of_chouette(self, transcript: Transcript, now: dt.datetime) -> None:
        """Record a game of a chouette once its result is stored, if the account moved its side's checkers."""
        chouette = self._match.chouette if self._match else None
        number, self._chouette_game = self._chouette_game, None
        if chouette is None or chouette.number != number or transcript.players[Seat.A].name != self._account:
            return
        key, (game, *_) = uuid.uuid4().hex, transcript.games
        fields = {"sheet": key, "opponent": transcript.players[Seat.B].name, "score": (0, 0), "site": self._site}
        state = state_to_json(game.start)
        self._store_record("sheet", {**fields, "chouette": True, "state": state}, transcript.started or now)
        for count, entry in enumerate(game.entries, 1):
            self._store_record("entry", {"sheet": key, "number": count, **_fields(entry)}, entry.at or now)

    def _open(self, state: GameState, now: dt.datetime) -> _RecordedGame | None:
        """Begin a recording, if the game is one of the agent's."""
        if not self._is_on():
            return None
        self._game = _RecordedGame(uuid.uuid4().hex, state)
        fields = {"sheet": self._game.key, "opponent": self._opponent, "score": state.scores, "site": self._site}
        self._store_record("sheet", {**fields, "state": state_to_json(state)}, now)
        return self._game

    def _is_on(self) -> bool:
        """Whether the transcriber's current match can be the one that the agent plays."""
        began = self._match
        if began is None or began.match < self._since or began.transcript.user is not Seat.A:
            return False
        return began.transcript.players[Seat.B].name == self._opponent


def _fields(entry: Entry) -> dict[str, Any]:
    """Return the fields of an entry's record."""
    known = {"equity": entry.equity, "seconds": entry.seconds, "rebuilt": entry.rebuilt}
    match entry:
        case Throw() | Continuation() | Named() | Contest():
            own = not isinstance(entry, Contest) and entry.seat is Seat.A
            dice = entry.dice if isinstance(entry, Throw) else None
            return {**known, "kind": "throw", "own": own, "dice": dice, "play": write_turn_part(entry)}
        case RejectedRoll(seat=seat, dice=dice):
            return {**known, "kind": "reject", "own": seat is Seat.A, "dice": dice}
        case Cube(seat=seat, action=action):
            return {**known, "kind": action.value, "own": seat is Seat.A}
        case Resign(seat=seat, level=level, accepted=accepted):
            return {**known, "kind": "resign", "own": seat is Seat.A, "level": int(level), "accepted": accepted}
        case Gap(reason=reason, then=then):
            return {**known, "kind": "gap", "reason": reason, "state": state_to_json(then)}
    raise TypeError(f"expected an entry, got {entry!r}")
