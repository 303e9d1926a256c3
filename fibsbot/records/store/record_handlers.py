"""Turn records into rows: one handler per kind.

The kinds are those of docs/agent.md and docs/records.md; no others are stored.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection

from fibsbot.records.store import match_lifecycle
from fibsbot.records.store.account_rows import AccountRows, open_accounts
from fibsbot.records.store.match_lifecycle import GameEnd, MatchEnd
from fibsbot.records.store.pending import PendingRecord, Priority, RecordFields, UnusableRecordError
from fibsbot.records.store.schema import CONNECTIONS, RATINGS, EntryKind
from fibsbot.records.store.state_json import read_dice, read_play, read_state, write_play, write_state
from fibsbot.records.views import Fact
from fibsbot.rules.laws import Level

GAME_COMMANDS: Final = frozenset({"roll", "move", "double", "accept", "reject", "redouble", "resign"})
"""Commands that carry out a decision."""
DELIBERATE_DEPARTURES: Final = frozenset({"left", "terminated"})
"""How an opponent goes who wants the match to break off."""

Handler: TypeAlias = Callable[[AccountRows, RecordFields, dt.datetime], None]


def write_records(
    connection: Connection, entries: list[PendingRecord]
) -> list[tuple[PendingRecord, UnusableRecordError]]:
    """Write records, oldest first, within the transaction that is on; return those that say nothing usable."""
    books = open_accounts(connection, (entry.account for entry in entries))
    unusable = []
    for entry in entries:
        try:
            HANDLERS[entry.name][1](books[entry.account], RecordFields(entry.fields), entry.at)
        except UnusableRecordError as error:
            unusable.append((entry, error))
    for book in books.values():
        book.close()
    return unusable


# -- connections ------------------------------------------------------------------------------------------------


def _logged_in(book: AccountRows, _: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.save_all(book, "not seen")
    book.add(CONNECTIONS, logged_in=at)


def _connection_lost(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    values: dict[str, Any] = {"lost": at, "state": fields.text("state"), "reason": fields.text("reason")}
    if not book.end_connection(**values):
        book.add(CONNECTIONS, **values)


def _server_feature(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    lacking = fields.flag("lacking")
    if lacking is None:
        raise UnusableRecordError("expected a record with lacking")
    book.note_feature(fields.name("server"), fields.name("feature"), lacking=lacking, at=at)


# -- opponents --------------------------------------------------------------------------------------------------


def _count(fact: Fact, whose: str) -> Handler:
    """Return what counts a fact about the player whom the record's field `whose` names."""

    def handler(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
        book.count(book.met(fields.name(whose), at), fact, at)

    return handler


def _rating(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    rating, experience = fields.number("rating"), fields.whole("experience")
    if rating is None or experience is None:
        raise UnusableRecordError("expected a record with rating and experience")
    if book.rating() != (rating, experience):
        match_lifecycle.apply_rating(book, (rating, experience))
        book.add(RATINGS, at=at, rating=rating, experience=experience)


# -- matches ----------------------------------------------------------------------------------------------------


def _match_started(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    known = {"rating": fields.number("rating"), "experience": fields.whole("experience")}
    opponent = book.met(fields.name("opponent"), at, client=fields.text("client"), **known)
    if fields.flag("resumed"):
        match_lifecycle.resume_match(book, opponent, at)
    else:
        match_lifecycle.start_match(book, opponent, fields.whole("length"), at)
        if (match := book.playing) and not match.resumed:
            book.change(match, opponent_rating=known["rating"], opponent_experience=known["experience"])


def _match_resumed(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent = book.met(fields.name("opponent"), at)
    match_lifecycle.reconcile(book, opponent, fields.whole("length"), fields.pair("score"), at)


def _match_saved(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent, why = book.met(fields.name("opponent"), at), fields.text("why")
    match_lifecycle.save_match(book, opponent, fields.whole("length"), why, at)
    if why == "opponent_gone":
        book.count(opponent, Fact.LEFT if fields.text("how") in DELIBERATE_DEPARTURES else Fact.DROPPED, at)


def _match_ended(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    opponent, won = book.met(fields.name("opponent"), at), fields.flag("won")
    if won is None:
        raise UnusableRecordError("expected a record with won")
    match_lifecycle.finish_match(book, opponent, MatchEnd(fields.whole("length"), won, fields.pair("score")), at)


def _saved_matches(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.forget_all_but(book, fields.names("opponents"), at)


# -- games ------------------------------------------------------------------------------------------------------


def _game_started(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    match_lifecycle.start_game(book, book.met(fields.name("opponent"), at), at)


def _game_ended(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    winner, points = fields.name("winner"), fields.whole("points")
    end = GameEnd(winner, points, fields.text("how"), fields.whole("cube"), fields.pair("score"))
    match_lifecycle.end_game(book, end, at)


def _decision(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    found = match_lifecycle.current_game(book, at)
    if found is None:
        raise UnusableRecordError("expected a decision within a match")
    match, game = found
    dice = fields.pair("dice")
    book.add_decision(
        game,
        at=at,
        sitting=match.resumed,
        turn=fields.whole("turn"),
        phase=fields.name("phase"),
        xgid=fields.text("xgid"),
        dice="".join(map(str, dice)) if dice else None,
        offer=fields.whole("offer"),
        answer=fields.name("answer"),
        equity=fields.number("equity"),
        seconds=fields.number("seconds"),
        fallback=fields.text("fallback"),
        refused=None,
    )


def _refused(book: AccountRows, fields: RecordFields, _: dt.datetime) -> None:
    match = book.playing
    if match is not None and fields.text("command") in GAME_COMMANDS and (game := book.open_game(match)):
        book.refuse_decision(game, fields.text("text") or "")


# -- what both players did --------------------------------------------------------------------------------------


def _sheet(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    key, score, state = fields.name("sheet"), fields.pair("score"), _state(fields)
    if score is None:
        raise UnusableRecordError("expected a sheet with the score before the game")
    found = match_lifecycle.game_of_transcript_part(book, book.met(fields.name("opponent"), at), score, at)
    if found is None:
        raise UnusableRecordError("expected a sheet of a game that is on")
    match, game_id = found
    if site := fields.text("site"):
        book.change(match, site=site)
    book.add_sheet(key, game_id=game_id, sitting=match.resumed, at=at, state=state)


def _state(fields: RecordFields) -> str:
    """Return where a game stands as it is stored: read and written again, so that nothing else can be in it."""
    try:
        return json.dumps(write_state(read_state(fields.mapping("state"))))
    except ValueError as error:
        raise UnusableRecordError(str(error)) from None


def _entry(book: AccountRows, fields: RecordFields, at: dt.datetime) -> None:
    sheet, number = book.sheet(fields.name("sheet")), fields.whole("number")
    if sheet is None or number is None:
        raise UnusableRecordError("expected an entry with its number, on a sheet that is known")
    book.add_entry(
        sheet_id=sheet,
        number=number,
        at=at,
        equity=fields.number("equity"),
        seconds=fields.number("seconds"),
        rebuilt=bool(fields.flag("rebuilt")),
        **_happened(fields),
    )


def _happened(fields: RecordFields) -> dict[str, Any]:
    """Return what an entry says happened."""
    try:
        kind = EntryKind(fields.name("kind"))
        dice = read_dice(fields.pair("dice")) if kind is EntryKind.THROW else None
        play = fields.text("play")
        level = Level(fields.whole("level") or 0) if kind is EntryKind.RESIGN else None
        return {
            "kind": kind.value,
            "own": None if kind is EntryKind.GAP else bool(fields.flag("own")),
            "dice": "{}{}".format(*dice) if dice else None,
            "play": write_play(read_play(play)) if dice and play is not None else None,
            "level": int(level) if level else None,
            "accepted": bool(fields.flag("accepted")) if level else None,
            "reason": fields.text("reason"),
            "state": _state(fields) if kind is EntryKind.GAP else None,
        }
    except ValueError as error:
        raise UnusableRecordError(str(error)) from None


HANDLERS: Final[Mapping[str, tuple[Priority, Handler]]] = {
    "logged_in": (Priority.COURSE, _logged_in),
    "connection_lost": (Priority.NEWS, _connection_lost),
    "invited": (Priority.NEWS, _count(Fact.INVITED, "by")),
    "invitation_accepted": (Priority.NEWS, _count(Fact.ACCEPTED, "by")),
    "invitation_refused": (Priority.NEWS, _count(Fact.DECLINED, "by")),
    "inviting": (Priority.NEWS, _count(Fact.ASKED, "name")),
    "refused_by": (Priority.NEWS, _count(Fact.REFUSED, "name")),
    "match_stuck": (Priority.COURSE, _count(Fact.STUCK, "opponent")),
    "server_feature": (Priority.NEWS, _server_feature),
    "length_swapped": (Priority.NEWS, _count(Fact.SWAPPED, "opponent")),
    "rating": (Priority.COURSE, _rating),
    "match_started": (Priority.COURSE, _match_started),
    "match_resumed": (Priority.COURSE, _match_resumed),
    "match_saved": (Priority.COURSE, _match_saved),
    "match_ended": (Priority.COURSE, _match_ended),
    "saved_matches": (Priority.COURSE, _saved_matches),
    "game_started": (Priority.COURSE, _game_started),
    "game_ended": (Priority.COURSE, _game_ended),
    "decision": (Priority.DECISION, _decision),
    "refused": (Priority.DECISION, _refused),
    "sheet": (Priority.COURSE, _sheet),
    "entry": (Priority.ENTRY, _entry),
}
