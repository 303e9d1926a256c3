"""Turns records into rows, with a handler per kind.

The kinds are those of docs/explanation/agent.md and docs/reference/records.md; no others are stored.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection

from fibsbot.games.state_json import state_to_json
from fibsbot.records.store import match_lifecycle
from fibsbot.records.store.account_rows import AccountRows, open_accounts
from fibsbot.records.store.match_lifecycle import ChouetteGameEnd, GameEnd, MatchEnd, SeenMatch
from fibsbot.records.store.record_queue import PendingRecord, Priority, RecordFields, UnusableRecordError
from fibsbot.records.store.schema import CONNECTIONS, RATINGS, EntryKind
from fibsbot.records.store.transcripts import read_dice, read_state, read_turn_part, write_turn_part
from fibsbot.records.stored_rows import Fact
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Seat

GAME_COMMANDS: Final = frozenset({"roll", "move", "double", "accept", "reject", "redouble", "resign"})
"""Commands that carry out a decision."""
DELIBERATE_DEPARTURES: Final = frozenset({"left", "terminated"})
"""How opponents leave who want to interrupt the match."""

Handler: TypeAlias = Callable[[AccountRows, RecordFields, dt.datetime], None]


def write_records(
    connection: Connection, entries: list[PendingRecord]
) -> list[tuple[PendingRecord, UnusableRecordError]]:
    """Write records, oldest first, within the current transaction; return those that are unusable."""
    accounts = open_accounts(connection, (entry.account for entry in entries))
    unusable = []
    for entry in entries:
        try:
            HANDLERS[entry.name][1](accounts[entry.account], RecordFields(entry.fields), entry.at)
        except UnusableRecordError as error:
            unusable.append((entry, error))
    for rows in accounts.values():
        rows.close()
    return unusable


# -- connections ------------------------------------------------------------------------------------------------


def _logged_in(rows: AccountRows, _: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.save_all(rows, "not seen")
    rows.add(CONNECTIONS, logged_in=at)


def _connection_lost(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    values: dict[str, Any] = {"lost": at, "state": fields.text("state"), "reason": fields.text("reason")}
    if not rows.end_connection(**values):
        rows.add(CONNECTIONS, **values)


def _server_feature(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    lacking = fields.flag("lacking")
    if lacking is None:
        raise UnusableRecordError("expected a record with lacking")
    rows.note_feature(fields.name("server"), fields.name("feature"), lacking=lacking, at=at)


# -- opponents --------------------------------------------------------------------------------------------------


def _count(fact: Fact, whose: str) -> Handler:
    """Return a handler that counts a fact about the player whom the record's field `whose` names."""

    def handler(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
        rows.count(rows.seen_opponent(fields.name(whose), at), fact, at)

    return handler


def _rating(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    rating, experience = fields.number("rating"), fields.whole("experience")
    if rating is None or experience is None:
        raise UnusableRecordError("expected a record with rating and experience")
    if rows.rating() != (rating, experience):
        match_lifecycle.apply_rating(rows, (rating, experience))
        rows.add(RATINGS, at=at, rating=rating, experience=experience)


# -- matches ----------------------------------------------------------------------------------------------------


def _match_started(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    known = {"rating": fields.number("rating"), "experience": fields.whole("experience")}
    opponent = rows.seen_opponent(fields.name("opponent"), at, client=fields.text("client"), **known)
    if fields.flag("resumed"):
        match_lifecycle.resume_match(rows, opponent, at)
    else:
        game = fields.text("game")
        match_lifecycle.start_match(rows, opponent, fields.whole("length"), game, at)
        if game is None and (match := rows.playing) and not match.resumed:
            rows.change(match, opponent_rating=known["rating"], opponent_experience=known["experience"])


def _match_resumed(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent = rows.seen_opponent(fields.name("opponent"), at)
    seen = SeenMatch(fields.whole("length"), fields.pair("score"), fields.text("game"))
    match_lifecycle.reconcile(rows, opponent, seen, at)


def _match_saved(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent, why = rows.seen_opponent(fields.name("opponent"), at), fields.text("why")
    match_lifecycle.save_match(rows, opponent, fields.whole("length"), why, at)
    if why == "opponent_gone":
        rows.count(opponent, Fact.LEFT if fields.text("how") in DELIBERATE_DEPARTURES else Fact.DROPPED, at)


def _match_ended(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent, won = rows.seen_opponent(fields.name("opponent"), at), fields.flag("won")
    if won is None:
        raise UnusableRecordError("expected a record with won")
    match_lifecycle.finish_match(rows, opponent, MatchEnd(fields.whole("length"), won, fields.pair("score")), at)


def _saved_matches(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.forget_all_but(rows, fields.names("opponents"), at)


# -- games ------------------------------------------------------------------------------------------------------


def _game_started(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.start_game(rows, rows.seen_opponent(fields.name("opponent"), at), at)


def _game_ended(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    winner, points = fields.name("winner"), fields.whole("points")
    end = GameEnd(winner, points, fields.text("how"), fields.whole("cube"), fields.pair("score"))
    match_lifecycle.end_game(rows, end, at)


def _game_drawn(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.draw_game(rows, rows.seen_opponent(fields.name("opponent"), at), at)


def _chouette_game(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent, points = rows.seen_opponent(fields.name("opponent"), at), fields.whole("points")
    if points is None:
        raise UnusableRecordError("expected a record with points")
    duration = dt.timedelta(seconds=fields.number("seconds") or 0.0)
    match_lifecycle.add_chouette_game(rows, opponent, ChouetteGameEnd(points, duration), at)


def _decision(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    found = match_lifecycle.current_game(rows, at)
    if found is None:
        raise UnusableRecordError("expected a decision within a match")
    match, game = found
    dice = fields.dice("dice")
    rows.add_decision(
        game,
        at=at,
        sitting=match.resumed,
        turn=fields.whole("turn"),
        phase=fields.name("phase"),
        xgid=fields.text("xgid"),
        table_text=fields.text("table"),
        dice="".join(map(str, dice)) if dice else None,
        offer=fields.whole("offer"),
        answer=fields.name("answer"),
        equity=fields.number("equity"),
        seconds=fields.number("seconds"),
        fallback=fields.text("fallback"),
        refused=None,
    )


def _refused(rows: AccountRows, fields: RecordFields, _: dt.datetime) -> None:
    match = rows.playing
    if match is not None and fields.text("command") in GAME_COMMANDS and (game := rows.open_game(match)):
        rows.refuse_decision(game, fields.text("text") or "")


# -- plays of both players --------------------------------------------------------------------------------------


def _sheet(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    key, score, state = fields.name("sheet"), fields.pair("score"), _state(fields)
    opponent = rows.seen_opponent(fields.name("opponent"), at)
    if score is None:
        raise UnusableRecordError("expected a sheet with the score before the game")
    if fields.flag("chouette"):
        found = match_lifecycle.chouette_game_without_sheet(rows, opponent)
    else:
        found = match_lifecycle.game_of_transcript_part(rows, opponent, score, at)
    if found is None:
        raise UnusableRecordError("expected a sheet of a game that is on")
    match, game_id = found
    if site := fields.text("site"):
        rows.change(match, site=site)
    rows.add_sheet(key, game_id=game_id, sitting=match.resumed, at=at, state=state)


def _state(fields: RecordFields) -> str:
    """Return a game state as JSON, parsed and written again so that it contains nothing else."""
    try:
        return json.dumps(state_to_json(read_state(fields.mapping("state"))))
    except ValueError as error:
        raise UnusableRecordError(str(error)) from None


def _entry(rows: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    sheet, number = rows.sheet(fields.name("sheet")), fields.whole("number")
    if sheet is None or number is None:
        raise UnusableRecordError("expected an entry with its number, on a sheet that is known")
    rows.add_entry(
        sheet_id=sheet,
        number=number,
        at=at,
        equity=fields.number("equity"),
        seconds=fields.number("seconds"),
        rebuilt=bool(fields.flag("rebuilt")),
        **_entry_columns(fields),
    )


def _entry_columns(fields: RecordFields) -> dict[str, Any]:
    """Return the columns of an entry that depend on its kind."""
    try:
        kind = EntryKind(fields.name("kind"))
        seat = Seat.A if fields.flag("own") else Seat.B
        rolled = kind is EntryKind.REJECT or (kind is EntryKind.THROW and fields.given("dice"))
        dice = read_dice(fields.dice("dice")) if rolled else None
        part = read_turn_part(seat, dice, fields.text("play")) if kind is EntryKind.THROW else None
        level = Level(fields.whole("level") or 0) if kind is EntryKind.RESIGN else None
        return {
            "kind": kind.value,
            "own": None if kind is EntryKind.GAP else seat is Seat.A,
            "dice": "".join(map(str, dice)) if dice else None,
            "play": write_turn_part(part) if part else None,
            "level": int(level) if level else None,
            "accepted": bool(fields.flag("accepted")) if level else None,
            "reason": fields.text("reason"),
            "state": _state(fields) if kind is EntryKind.GAP else None,
        }
    except ValueError as error:
        raise UnusableRecordError(str(error)) from None


HANDLERS: Final[Mapping[str, tuple[Priority, Handler]]] = {
    "logged_in": (Priority.LIFECYCLE, _logged_in),
    "connection_lost": (Priority.OTHER, _connection_lost),
    "invited": (Priority.OTHER, _count(Fact.INVITED, "by")),
    "invitation_accepted": (Priority.OTHER, _count(Fact.ACCEPTED, "by")),
    "invitation_refused": (Priority.OTHER, _count(Fact.DECLINED, "by")),
    "inviting": (Priority.OTHER, _count(Fact.ASKED, "name")),
    "refused_by": (Priority.OTHER, _count(Fact.REFUSED, "name")),
    "match_stuck": (Priority.LIFECYCLE, _count(Fact.STUCK, "opponent")),
    "server_feature": (Priority.OTHER, _server_feature),
    "length_swapped": (Priority.OTHER, _count(Fact.SWAPPED, "opponent")),
    "laws_swapped": (Priority.OTHER, _count(Fact.SWAPPED, "opponent")),
    "rating": (Priority.LIFECYCLE, _rating),
    "match_started": (Priority.LIFECYCLE, _match_started),
    "match_resumed": (Priority.LIFECYCLE, _match_resumed),
    "match_saved": (Priority.LIFECYCLE, _match_saved),
    "match_ended": (Priority.LIFECYCLE, _match_ended),
    "saved_matches": (Priority.LIFECYCLE, _saved_matches),
    "game_started": (Priority.LIFECYCLE, _game_started),
    "game_ended": (Priority.LIFECYCLE, _game_ended),
    "game_drawn": (Priority.LIFECYCLE, _game_drawn),
    "chouette_game": (Priority.LIFECYCLE, _chouette_game),
    "decision": (Priority.DECISION, _decision),
    "refused": (Priority.DECISION, _refused),
    "sheet": (Priority.LIFECYCLE, _sheet),
    "entry": (Priority.ENTRY, _entry),
}
