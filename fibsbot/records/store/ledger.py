"""Which rows a record becomes. The records are those of docs/agent.md and docs/records.md; no others are stored."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection

from fibsbot.records.store import course
from fibsbot.records.store.book import Book, open_accounts
from fibsbot.records.store.buffer import Rank
from fibsbot.records.store.course import GameEnd, MatchEnd
from fibsbot.records.store.entries import Entry, Fields, UnusableRecordError
from fibsbot.records.store.schema import CONNECTIONS, RATINGS, EntryKind
from fibsbot.records.store.states import read_dice, read_play, read_state, write_play, write_state
from fibsbot.records.views import Fact
from fibsbot.rules.scoring import Level

IN_GAME: Final = frozenset({"roll", "move", "double", "accept", "reject", "redouble", "resign"})
"""Commands that carry out a decision."""
LEAVING: Final = frozenset({"left", "terminated"})
"""How an opponent goes who wants the match to break off."""

Handler: TypeAlias = Callable[[Book, Fields, dt.datetime], None]


def enter(connection: Connection, entries: list[Entry]) -> list[tuple[Entry, UnusableRecordError]]:
    """Write records, oldest first, within the transaction that is on; return those that say nothing usable."""
    books = open_accounts(connection, (entry.account for entry in entries))
    unusable = []
    for entry in entries:
        try:
            HANDLERS[entry.name][1](books[entry.account], Fields(entry.fields), entry.at)
        except UnusableRecordError as error:
            unusable.append((entry, error))
    for book in books.values():
        book.close()
    return unusable


# -- connections ------------------------------------------------------------------------------------------------


def _logged_in(book: Book, _: Fields, at: dt.datetime) -> None:
    course.interrupt_all(book, "not seen")
    book.add(CONNECTIONS, logged_in=at)


def _connection_lost(book: Book, fields: Fields, at: dt.datetime) -> None:
    values: dict[str, Any] = {"lost": at, "state": fields.text("state"), "reason": fields.text("reason")}
    if not book.end_connection(**values):
        book.add(CONNECTIONS, **values)


def _server_feature(book: Book, fields: Fields, at: dt.datetime) -> None:
    lacking = fields.flag("lacking")
    if lacking is None:
        raise UnusableRecordError("expected a record with lacking")
    book.note_feature(fields.name("server"), fields.name("feature"), lacking=lacking, at=at)


# -- opponents --------------------------------------------------------------------------------------------------


def _count(fact: Fact, whose: str) -> Handler:
    """Return what counts a fact about the player whom the record's field `whose` names."""

    def handler(book: Book, fields: Fields, at: dt.datetime) -> None:
        book.count(book.met(fields.name(whose), at), fact, at)

    return handler


def _rating(book: Book, fields: Fields, at: dt.datetime) -> None:
    rating, experience = fields.number("rating"), fields.whole("experience")
    if rating is None or experience is None:
        raise UnusableRecordError("expected a record with rating and experience")
    if book.rating() != (rating, experience):
        course.rate(book, (rating, experience))
        book.add(RATINGS, at=at, rating=rating, experience=experience)


# -- matches ----------------------------------------------------------------------------------------------------


def _match_started(book: Book, fields: Fields, at: dt.datetime) -> None:
    known = {"rating": fields.number("rating"), "experience": fields.whole("experience")}
    opponent = book.met(fields.name("opponent"), at, client=fields.text("client"), **known)
    if fields.flag("resumed"):
        course.resume(book, opponent, at)
    else:
        course.begin(book, opponent, fields.whole("length"), at)
        if (match := book.playing) and not match.resumed:
            book.change(match, opponent_rating=known["rating"], opponent_experience=known["experience"])


def _match_resumed(book: Book, fields: Fields, at: dt.datetime) -> None:
    opponent = book.met(fields.name("opponent"), at)
    course.compare(book, opponent, fields.whole("length"), fields.pair("score"), at)


def _match_saved(book: Book, fields: Fields, at: dt.datetime) -> None:
    opponent, why = book.met(fields.name("opponent"), at), fields.text("why")
    course.interrupt(book, opponent, fields.whole("length"), why, at)
    if why == "opponent_gone":
        book.count(opponent, Fact.LEFT if fields.text("how") in LEAVING else Fact.DROPPED, at)


def _match_ended(book: Book, fields: Fields, at: dt.datetime) -> None:
    opponent, won = book.met(fields.name("opponent"), at), fields.flag("won")
    if won is None:
        raise UnusableRecordError("expected a record with won")
    course.finish(book, opponent, MatchEnd(fields.whole("length"), won, fields.pair("score")), at)


def _saved_matches(book: Book, fields: Fields, at: dt.datetime) -> None:
    course.vanish_all_but(book, fields.names("opponents"), at)


# -- games ------------------------------------------------------------------------------------------------------


def _game_started(book: Book, fields: Fields, at: dt.datetime) -> None:
    course.begin_game(book, book.met(fields.name("opponent"), at), at)


def _game_ended(book: Book, fields: Fields, at: dt.datetime) -> None:
    winner, points = fields.name("winner"), fields.whole("points")
    end = GameEnd(winner, points, fields.text("how"), fields.whole("cube"), fields.pair("score"))
    course.end_game(book, end, at)


def _decision(book: Book, fields: Fields, at: dt.datetime) -> None:
    found = course.current_game(book, at)
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


def _refused(book: Book, fields: Fields, _: dt.datetime) -> None:
    match = book.playing
    if match is not None and fields.text("command") in IN_GAME and (game := book.open_game(match)):
        book.refuse_decision(game, fields.text("text") or "")


# -- what both players did --------------------------------------------------------------------------------------


def _sheet(book: Book, fields: Fields, at: dt.datetime) -> None:
    key, score, state = fields.name("sheet"), fields.pair("score"), _state(fields)
    if score is None:
        raise UnusableRecordError("expected a sheet with the score before the game")
    found = course.game_of_sheet(book, book.met(fields.name("opponent"), at), score, at)
    if found is None:
        raise UnusableRecordError("expected a sheet of a game that is on")
    match, game_id = found
    if site := fields.text("site"):
        book.change(match, site=site)
    book.add_sheet(key, game_id=game_id, sitting=match.resumed, at=at, state=state)


def _state(fields: Fields) -> str:
    """Return where a game stands as it is stored: read and written again, so that nothing else can be in it."""
    try:
        return json.dumps(write_state(read_state(fields.mapping("state"))))
    except ValueError as error:
        raise UnusableRecordError(str(error)) from None


def _entry(book: Book, fields: Fields, at: dt.datetime) -> None:
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


def _happened(fields: Fields) -> dict[str, Any]:
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


HANDLERS: Final[Mapping[str, tuple[Rank, Handler]]] = {
    "logged_in": (Rank.COURSE, _logged_in),
    "connection_lost": (Rank.NEWS, _connection_lost),
    "invited": (Rank.NEWS, _count(Fact.INVITED, "by")),
    "invitation_accepted": (Rank.NEWS, _count(Fact.ACCEPTED, "by")),
    "invitation_refused": (Rank.NEWS, _count(Fact.DECLINED, "by")),
    "inviting": (Rank.NEWS, _count(Fact.ASKED, "name")),
    "refused_by": (Rank.NEWS, _count(Fact.REFUSED, "name")),
    "match_stuck": (Rank.COURSE, _count(Fact.STUCK, "opponent")),
    "server_feature": (Rank.NEWS, _server_feature),
    "length_swapped": (Rank.NEWS, _count(Fact.SWAPPED, "opponent")),
    "rating": (Rank.COURSE, _rating),
    "match_started": (Rank.COURSE, _match_started),
    "match_resumed": (Rank.COURSE, _match_resumed),
    "match_saved": (Rank.COURSE, _match_saved),
    "match_ended": (Rank.COURSE, _match_ended),
    "saved_matches": (Rank.COURSE, _saved_matches),
    "game_started": (Rank.COURSE, _game_started),
    "game_ended": (Rank.COURSE, _game_ended),
    "decision": (Rank.DECISION, _decision),
    "refused": (Rank.DECISION, _refused),
    "sheet": (Rank.COURSE, _sheet),
    "entry": (Rank.ENTRY, _entry),
}
