"""The life cycle of matches and games: what a record changes in the rows, given their present state.

FIBS keeps at most one unfinished match per pair of players, so a match that is resumed is the open one with that
opponent. Lines get lost, come twice, or come after a restart; whatever comes, the rows stay a possible history.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from attrs import frozen

from fibsbot.records.store.account_rows import AccountRows, GameRow, MatchRow, RatingAndExperience, Score
from fibsbot.records.views import FINISHED, Fact, Outcome

REPEAT_WINDOW: Final = dt.timedelta(seconds=60)
"""What comes a second time within this time, with nothing between, is the same thing told twice."""


@frozen
class GameEnd:
    """What we are told when a game ends."""

    winner: str
    """The opponent's name, or anything else for ourselves."""
    points: int | None
    how: str | None
    cube: int | None
    score: Score | None


@frozen
class MatchEnd:
    """What we are told when a match ends."""

    length: int | None
    won: bool
    score: Score | None


# -- matches ----------------------------------------------------------------------------------------------------


def start_match(book: AccountRows, opponent_id: int, length: int | None, at: dt.datetime) -> None:
    """A new match begins; a saved one with the same opponent is none any more."""
    for match in _save_others(book, opponent_id):
        if match.length == length and at - match.started <= REPEAT_WINDOW and not _played(book, match):
            book.change(match, outcome=Outcome.PLAYING, seen=at, why=None, before=book.rating())
            return
        forget_match(book, match, at)
    book.add_match(opponent_id, at, length=length, outcome=Outcome.PLAYING, score=(0, 0), before=book.rating())
    book.count(opponent_id, Fact.STARTED, at)


def _save_others(book: AccountRows, opponent_id: int) -> list[MatchRow]:
    """Take matches with others for saved; return the open one with this opponent, if there is one."""
    open_ones = book.open_matches()
    for match in open_ones:
        if match.opponent_id != opponent_id:
            _save(book, match, "another match began")
    return [match for match in open_ones if match.opponent_id == opponent_id]


def resume_match(book: AccountRows, opponent_id: int, at: dt.datetime) -> MatchRow:
    """Go on with the match with this opponent; with one that the store does not know if need be."""
    _save_others(book, opponent_id)
    match = book.last_match(opponent_id)
    mistaken = match is not None and match.outcome is Outcome.UNSEEN and not match.inferred
    if match is not None and (match.outcome.open or mistaken):
        now = book.rating()
        book.change(
            match, outcome=Outcome.PLAYING, resumed=match.resumed + 1, seen=at, ended=None, why=None, before=now
        )
    else:
        match = book.add_match(opponent_id, at, outcome=Outcome.PLAYING, resumed=1, before=book.rating())
    book.count(opponent_id, Fact.RESUMED, at)
    return match


def reconcile(book: AccountRows, opponent_id: int, length: int | None, score: Score | None, at: dt.datetime) -> None:
    """Hold what the first board of a match that goes on says against what we know of it."""
    match = book.playing
    if match is None or match.opponent_id != opponent_id:
        match = resume_match(book, opponent_id, at)
    match = _same_or_new(book, match, length, score, at)
    if score:
        # A game that is on does not change the score, so the one that we knew is over if the score is another.
        _add_missed_games(book, match, book.open_game(match) if match.score not in (None, score) else None, score, at)
    book.change(match, seen=at, length=match.length if length is None else length, score=score or match.score)


def _same_or_new(
    book: AccountRows, match: MatchRow, length: int | None, score: Score | None, at: dt.datetime
) -> MatchRow:
    """Return the match, unless length or score show that it is over, and that we missed how another one began."""
    other = length is not None and match.length is not None and length != match.length
    if score is not None and match.score is not None:
        other = other or score[0] < match.score[0] or score[1] < match.score[1]
    if not other:
        return match
    opponent_id = match.opponent_id
    forget_match(book, match, at)
    return book.add_match(opponent_id, at, outcome=Outcome.PLAYING, resumed=1, before=book.rating())


def save_match(book: AccountRows, opponent_id: int, length: int | None, why: str | None, at: dt.datetime) -> None:
    """The match has broken off, and the server keeps it."""
    match = book.playing
    if match is None or match.opponent_id != opponent_id:
        return
    book.change(match, seen=at, length=match.length if match.length is not None else length)
    _save(book, match, why)


def _save(book: AccountRows, match: MatchRow, why: str | None) -> None:
    if match.outcome is Outcome.PLAYING:
        book.change(match, outcome=Outcome.SAVED, why=why)


def save_all(book: AccountRows, why: str) -> None:
    """Whatever was on is not on any more, and we did not see it stop."""
    for match in book.open_matches():
        _save(book, match, why)


def finish_match(book: AccountRows, opponent_id: int, end: MatchEnd, at: dt.datetime) -> None:
    """A match was played to its end."""
    outcome = Outcome.WON if end.won else Outcome.LOST
    match = book.last_match(opponent_id)
    if match is None or not match.outcome.open:
        if match is not None and match.outcome is outcome and match.ended and at - match.ended <= REPEAT_WINDOW:
            return  # the same end told twice
        match = book.add_match(opponent_id, at, outcome=Outcome.PLAYING, resumed=1)
    match = _same_or_new(book, match, end.length, end.score, at)
    _add_missed_games(book, match, book.open_game(match), end.score, at)
    length = match.length if end.length is None else end.length
    book.change(match, outcome=outcome, ended=at, seen=at, length=length, score=end.score or match.score, why=None)
    _assign_rating(book, match, book.rating(), match.before)
    book.count(opponent_id, Fact.FINISHED, at)


def forget_match(book: AccountRows, match: MatchRow, at: dt.datetime) -> None:
    """The server has this match no more, and we did not see its end; our rating may tell it."""
    if game := book.open_game(match):
        book.end_game(game, ended=at, inferred=True)
    book.change(match, outcome=Outcome.UNSEEN, ended=at)
    if match.before is not None:
        _assign_rating(book, match, book.next_rating(match.before, match.seen), match.before)


def forget_all_but(book: AccountRows, saved: frozenset[str], at: dt.datetime) -> None:
    """The server has told all the matches that it keeps."""
    for match in book.open_matches():
        if match.outcome is Outcome.SAVED and match.opponent not in saved:
            forget_match(book, match, at)


def _played(book: AccountRows, match: MatchRow) -> bool:
    """Whether anything has happened in a match."""
    game = book.open_game(match)
    return book.count_games(match) > (game is not None) or (game is not None and book.decided(game))


# -- games ------------------------------------------------------------------------------------------------------


def start_game(book: AccountRows, opponent_id: int, at: dt.datetime) -> None:
    """The next game begins."""
    match = book.playing
    if match is None or match.opponent_id != opponent_id:
        match = resume_match(book, opponent_id, at)
    if game := book.open_game(match):
        if at - game.started <= REPEAT_WINDOW and not book.decided(game):
            return
        book.end_game(game, ended=at, inferred=True)
    book.add_game(match, at)
    book.change(match, seen=at)


def current_game(book: AccountRows, at: dt.datetime) -> tuple[MatchRow, GameRow] | None:
    """Return the match and the game that are on; a game that began before we came is begun here."""
    match = book.playing
    if match is None:
        return None
    return match, book.open_game(match) or book.add_game(match, at)


def game_of_transcript_part(
    book: AccountRows, opponent_id: int, score: Score, at: dt.datetime
) -> tuple[MatchRow, int] | None:
    """Return the match and the id of the game that began at this score: the one that is on, or has just ended.

    What a player saw of the last move comes after the line that tells the game's end. Where that line got lost, the
    next game begins before we know the score.
    """
    match = book.playing or book.last_match(opponent_id)
    if match is None or match.opponent_id != opponent_id:
        return None
    on = book.open_game(match) if match.outcome is Outcome.PLAYING else None
    if match.outcome is Outcome.PLAYING and match.score in (None, score):
        return match, (on or book.add_game(match, at)).id
    if (last := book.last_ended(match)) and at - last.ended <= REPEAT_WINDOW and match.score:
        won, points = bool(last.won), last.points or 0
        if score == (match.score[0] - points * won, match.score[1] - points * (not won)):
            return match, last.id
    return (match, on.id) if on and not book.has_sheet(on) else None


def end_game(book: AccountRows, end: GameEnd, at: dt.datetime) -> None:
    """A game has ended."""
    match = book.playing
    if match is None:
        return
    won, points = end.winner != match.opponent, end.points or 0
    if end.score is not None and end.score == match.score and book.open_game(match) is None:
        return  # the same end told twice
    match = _same_or_new(book, match, None, end.score, at)
    score, before = end.score, match.score
    if before is not None:
        least = (before[0] + points * won, before[1] + points * (not won))
        score = least if score is None else (max(score[0], least[0]), max(score[1], least[1]))
        # Whatever more the score has grown by, it was in games that we did not see.
        _add_missed_games(book, match, None, (score[0] - points * won, score[1] - points * (not won)), at)
    game = book.open_game(match) or book.add_game(match, at)
    book.end_game(game, ended=at, won=won, points=end.points, how=end.how, cube=end.cube)
    book.change(match, seen=at, score=score)


def _add_missed_games(
    book: AccountRows, match: MatchRow, game: GameRow | None, score: Score | None, at: dt.datetime
) -> None:
    """Account for what the score has grown by since we knew it: `game`, if it is over, and others that we missed."""
    gains: list[tuple[bool, int]] = []
    if score is not None and match.score is not None:
        mine, theirs = score[0] - match.score[0], score[1] - match.score[1]
        gains = [(won, points) for won, points in ((True, mine), (False, theirs)) if points > 0]
    if game is not None:
        won, points = gains.pop() if gains else (None, None)
        book.end_game(game, ended=at, won=won, points=points, inferred=True)
    for won, points in gains:
        if (untold := book.untold_game(match)) is not None:
            book.end_game(untold, won=won, points=points)
        else:
            book.add_game(match, at, ended=at, won=won, points=points, inferred=True)


# -- ratings ----------------------------------------------------------------------------------------------------


def apply_rating(book: AccountRows, new: RatingAndExperience) -> None:
    """Find the match that explains our new rating. The history has it not yet."""
    old, on = book.rating(), book.playing
    able = [match for match in book.unrated_matches() if _explains(match, new)]
    seen = [match for match in able if match.outcome in FINISHED]
    unseen = [match for match in able if match.outcome is Outcome.UNSEEN]
    if seen:
        book.change(seen[0], after=new)
    elif on is not None and _explains(on, new):
        return  # it may be over already, and its end be told next
    elif len(unseen) == 1 and unseen[0].before == old:
        _assign_rating(book, unseen[0], new, old)
    if on is not None:
        book.change(on, before=new)


def _explains(match: MatchRow, new: RatingAndExperience) -> bool:
    """Whether our experience is what it is after this match."""
    return bool(match.length) and match.before is not None and new[1] == match.before[1] + (match.length or 0)


def _assign_rating(
    book: AccountRows, match: MatchRow, new: RatingAndExperience | None, old: RatingAndExperience | None
) -> None:
    """Take a rating as the one after a match, if it can be that; tells also who won where we did not see it."""
    if new is None or old is None or not _explains(match, new):
        return
    if any(other.id != match.id for other in book.explained(new[1])):
        return
    if match.outcome is Outcome.UNSEEN and new[0] != old[0]:
        book.change(match, outcome=Outcome.WON if new[0] > old[0] else Outcome.LOST, inferred=True, after=new)
        book.count(match.opponent_id, Fact.FINISHED, match.ended or match.seen)
    elif match.outcome in FINISHED:
        book.change(match, after=new)
