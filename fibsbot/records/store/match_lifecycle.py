"""The lifecycle of matches and games: how a record changes the rows, given their present state.

FIBS keeps at most one unfinished match per pair of players, so a match that is resumed is the open one with that
opponent. Lines get lost, are repeated, or come after a restart; the rows always stay a possible history.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from attrs import frozen

from fibsbot.records.store.account_rows import AccountRows, GameRow, MatchRow, RatingAndExperience, Score
from fibsbot.records.stored_rows import CHOUETTE, FINISHED, Fact, MatchOutcome

REPEAT_WINDOW: Final = dt.timedelta(seconds=60)
"""A record that equals the previous one and follows it within this time is a repetition."""


@frozen
class GameEnd:
    """The end of a game, as the server reports it."""

    winner: str
    """The opponent's name, or anything else for us."""
    points: int | None
    how: str | None
    cube: int | None
    score: Score | None


@frozen
class SeenMatch:
    """What the first board of a resumed match shows."""

    length: int | None
    score: Score | None
    game: str | None
    """None for backgammon."""


@frozen
class MatchEnd:
    """The end of a match, as the server reports it."""

    length: int | None
    won: bool
    score: Score | None


@frozen
class ChouetteGameEnd:
    """The end of a game at a chouette."""

    points: int
    """What we have won, below zero if we have lost."""
    duration: dt.timedelta


# -- matches ----------------------------------------------------------------------------------------------------


def start_match(rows: AccountRows, opponent_id: int, length: int | None, game: str | None, at: dt.datetime) -> None:
    """Begin a new match; a saved one with the same opponent no longer exists."""
    before = _rating_in(rows, game)
    for match in _save_others(rows, opponent_id):
        if (
            (match.length, match.game) == (length, game)
            and at - match.started <= REPEAT_WINDOW
            and not _played(rows, match)
        ):
            rows.change(match, outcome=MatchOutcome.PLAYING, seen=at, why=None, before=before)
            return
        forget_match(rows, match, at)
    known = {"length": length, "score": (0, 0), "game": game}
    rows.add_match(opponent_id, at, outcome=MatchOutcome.PLAYING, before=before, **known)
    rows.count(opponent_id, Fact.STARTED, at)


def _rating_in(rows: AccountRows, game: str | None) -> RatingAndExperience | None:
    """Return our latest rating in backgammon; None for other games, which do not change it."""
    return rows.rating() if game is None else None


def _save_others(rows: AccountRows, opponent_id: int) -> list[MatchRow]:
    """Mark matches with other opponents as saved; return the open one with this opponent, if any."""
    open_ones = rows.open_matches()
    for match in open_ones:
        if match.opponent_id != opponent_id:
            _save(rows, match, "another match began")
    return [match for match in open_ones if match.opponent_id == opponent_id]


def resume_match(rows: AccountRows, opponent_id: int, at: dt.datetime) -> MatchRow:
    """Resume the match with this opponent, or add one that the store does not have."""
    _save_others(rows, opponent_id)
    match = rows.last_match(opponent_id)
    mistaken = match is not None and match.outcome is MatchOutcome.UNSEEN and not match.inferred
    if match is not None and (match.outcome.open or mistaken):
        now = _rating_in(rows, match.game)
        rows.change(
            match, outcome=MatchOutcome.PLAYING, resumed=match.resumed + 1, seen=at, ended=None, why=None, before=now
        )
    else:
        match = rows.add_match(opponent_id, at, outcome=MatchOutcome.PLAYING, resumed=1, before=rows.rating())
    rows.count(opponent_id, Fact.RESUMED, at)
    return match


def reconcile(rows: AccountRows, opponent_id: int, seen: SeenMatch, at: dt.datetime) -> None:
    """Compare the first board of a resumed match with its row."""
    match = rows.playing
    if match is None or match.opponent_id != opponent_id:
        match = resume_match(rows, opponent_id, at)
    length, score = seen.length, seen.score
    if match.length is not None and match.game != seen.game:
        match = _other_match(rows, match, at)
    else:
        match = _same_or_new(rows, match, length, score, at)
    if seen.game is not None and match.game is None:
        rows.change(match, game=seen.game, before=None)
    if score:
        # A game in progress does not change the score, so if the score differs the game that we know is over.
        _add_missed_games(rows, match, rows.open_game(match) if match.score not in (None, score) else None, score, at)
    rows.change(match, seen=at, length=match.length if length is None else length, score=score or match.score)


def _same_or_new(
    rows: AccountRows, match: MatchRow, length: int | None, score: Score | None, at: dt.datetime
) -> MatchRow:
    """Return the match, or a new one if length or score show that it is over and we missed another's start."""
    other = length is not None and match.length is not None and length != match.length
    if score is not None and match.score is not None:
        other = other or score[0] < match.score[0] or score[1] < match.score[1]
    return _other_match(rows, match, at) if other else match


def _other_match(rows: AccountRows, match: MatchRow, at: dt.datetime) -> MatchRow:
    """Return a new match with the same opponent, whose match is over."""
    opponent_id = match.opponent_id
    forget_match(rows, match, at)
    return rows.add_match(opponent_id, at, outcome=MatchOutcome.PLAYING, resumed=1, before=rows.rating())


def save_match(rows: AccountRows, opponent_id: int, length: int | None, why: str | None, at: dt.datetime) -> None:
    """Save the current match: it was interrupted, and the server keeps it."""
    match = rows.playing
    if match is None or match.opponent_id != opponent_id:
        return
    rows.change(match, seen=at, length=match.length if match.length is not None else length)
    _save(rows, match, why)


def _save(rows: AccountRows, match: MatchRow, why: str | None) -> None:
    if match.outcome is MatchOutcome.PLAYING:
        rows.change(match, outcome=MatchOutcome.SAVED, why=why)


def save_all(rows: AccountRows, why: str) -> None:
    """Save all matches in progress: we did not see them stop."""
    for match in rows.open_matches():
        _save(rows, match, why)


def finish_match(rows: AccountRows, opponent_id: int, end: MatchEnd, at: dt.datetime) -> None:
    """Finish a match that was played to its end."""
    outcome = MatchOutcome.WON if end.won else MatchOutcome.LOST
    match = rows.last_match(opponent_id)
    if match is None or not match.outcome.open:
        if match is not None and match.outcome is outcome and match.ended and at - match.ended <= REPEAT_WINDOW:
            return  # a repetition
        match = rows.add_match(opponent_id, at, outcome=MatchOutcome.PLAYING, resumed=1)
    match = _same_or_new(rows, match, end.length, end.score, at)
    _add_missed_games(rows, match, rows.open_game(match), end.score, at)
    length = match.length if end.length is None else end.length
    rows.change(match, outcome=outcome, ended=at, seen=at, length=length, score=end.score or match.score, why=None)
    _assign_rating(rows, match, rows.rating(), match.before)
    rows.count(opponent_id, Fact.FINISHED, at)


def forget_match(rows: AccountRows, match: MatchRow, at: dt.datetime) -> None:
    """Close a match that the server no longer has; our rating may show its result."""
    if game := rows.open_game(match):
        rows.end_game(game, ended=at, inferred=True)
    rows.change(match, outcome=MatchOutcome.UNSEEN, ended=at)
    if match.before is not None:
        _assign_rating(rows, match, rows.next_rating(match.before, match.seen), match.before)


def forget_all_but(rows: AccountRows, saved: frozenset[str], at: dt.datetime) -> None:
    """Close all saved matches but those that the server says it keeps."""
    for match in rows.open_matches():
        if match.outcome is MatchOutcome.SAVED and match.opponent not in saved:
            forget_match(rows, match, at)


def _played(rows: AccountRows, match: MatchRow) -> bool:
    """Whether anything has happened in a match."""
    game = rows.open_game(match)
    return rows.count_games(match) > (game is not None) or (game is not None and rows.decided(game))


# -- games ------------------------------------------------------------------------------------------------------


def start_game(rows: AccountRows, opponent_id: int, at: dt.datetime) -> None:
    """Begin the next game."""
    match = rows.playing
    if match is None or match.opponent_id != opponent_id:
        match = resume_match(rows, opponent_id, at)
    if game := rows.open_game(match):
        if at - game.started <= REPEAT_WINDOW and not rows.decided(game):
            return
        rows.end_game(game, ended=at, inferred=True)
    rows.add_game(match, at)
    rows.change(match, seen=at)


def current_game(rows: AccountRows, at: dt.datetime) -> tuple[MatchRow, GameRow] | None:
    """Return the match and the game in progress; add a game whose start we missed."""
    match = rows.playing
    if match is None:
        return None
    return match, rows.open_game(match) or rows.add_game(match, at)


def add_chouette_game(rows: AccountRows, opponent_id: int, end: ChouetteGameEnd, at: dt.datetime) -> None:
    """Add a game of a chouette, which is over, as a match; one that brought no points is lost.

    The box breaks even if it loses to the members who are still in what it has won from the others.
    """
    started, won, points = at - end.duration, end.points > 0, abs(end.points)
    outcome, score = (MatchOutcome.WON, (points, 0)) if won else (MatchOutcome.LOST, (0, points))
    match = rows.add_match(opponent_id, started, outcome=outcome, length=0, score=score, game=CHOUETTE)
    rows.add_game(match, started, ended=at, won=won, points=points)
    rows.change(match, seen=at, ended=at)


def chouette_game_without_sheet(rows: AccountRows, opponent_id: int) -> tuple[MatchRow, int] | None:
    """Return the game of a chouette that was last played with an opponent, and its id, unless its sheet is known."""
    match = rows.last_chouette_game(opponent_id)
    game = rows.last_ended(match) if match else None
    return (match, game.id) if match and game and not rows.has_sheet(game) else None


def game_of_transcript_part(
    rows: AccountRows, opponent_id: int, score: Score, at: dt.datetime
) -> tuple[MatchRow, int] | None:
    """Return the match and the id of the game that began at this score: the one in progress, or just ended.

    The entry of the last move comes after the line that reports the game's end. If that line got lost, the next game
    begins before we know the score.
    """
    match = rows.playing or rows.last_match(opponent_id)
    if match is None or match.opponent_id != opponent_id:
        return None
    on = rows.open_game(match) if match.outcome is MatchOutcome.PLAYING else None
    if match.outcome is MatchOutcome.PLAYING and match.score in (None, score):
        return match, (on or rows.add_game(match, at)).id
    if (last := rows.last_ended(match)) and at - last.ended <= REPEAT_WINDOW and match.score:
        won, points = bool(last.won), last.points or 0
        if score == (match.score[0] - points * won, match.score[1] - points * (not won)):
            return match, last.id
    return (match, on.id) if on and not rows.has_sheet(on) else None


def end_game(rows: AccountRows, end: GameEnd, at: dt.datetime) -> None:
    """End the current game."""
    match = rows.playing
    if match is None:
        return
    won, points = end.winner != match.opponent, end.points or 0
    if end.score is not None and end.score == match.score and rows.open_game(match) is None:
        return  # a repetition
    match = _same_or_new(rows, match, None, end.score, at)
    score, before = end.score, match.score
    if before is not None:
        least = (before[0] + points * won, before[1] + points * (not won))
        score = least if score is None else (max(score[0], least[0]), max(score[1], least[1]))
        # The rest of the increase is from games that we did not see.
        _add_missed_games(rows, match, None, (score[0] - points * won, score[1] - points * (not won)), at)
    game = rows.open_game(match) or rows.add_game(match, at)
    rows.end_game(game, ended=at, won=won, points=end.points, how=end.how, cube=end.cube)
    rows.change(match, seen=at, score=score)


def draw_game(rows: AccountRows, opponent_id: int, at: dt.datetime) -> None:
    """End the current game without a winner."""
    match = rows.playing
    if match is None or match.opponent_id != opponent_id:
        return
    game = rows.open_game(match)
    if game is None:
        last = rows.last_ended(match)
        if last is not None and (last.won, last.points) == (None, 0) and at - last.ended <= REPEAT_WINDOW:
            return  # a repetition
        game = rows.add_game(match, at)
    rows.end_game(game, ended=at, points=0, how="game_drawn")
    rows.change(match, seen=at)


def _add_missed_games(
    rows: AccountRows, match: MatchRow, game: GameRow | None, score: Score | None, at: dt.datetime
) -> None:
    """Add what explains the increase of the score: the end of `game`, if given, and games that we missed."""
    gains: list[tuple[bool, int]] = []
    if score is not None and match.score is not None:
        mine, theirs = score[0] - match.score[0], score[1] - match.score[1]
        gains = [(won, points) for won, points in ((True, mine), (False, theirs)) if points > 0]
    if game is not None:
        won, points = gains.pop() if gains else (None, None)
        rows.end_game(game, ended=at, won=won, points=points, inferred=True)
    for won, points in gains:
        if (missed := rows.game_without_winner(match)) is not None:
            rows.end_game(missed, won=won, points=points)
        else:
            rows.add_game(match, at, ended=at, won=won, points=points, inferred=True)


# -- ratings ----------------------------------------------------------------------------------------------------


def apply_rating(rows: AccountRows, new: RatingAndExperience) -> None:
    """Assign our new rating, which is not in the table yet, to the match that explains it.

    Of several it is the last one, because a rating comes right after its match; matches by other laws than those of
    FIBS have none.
    """
    old, on = rows.rating(), rows.playing
    able = [match for match in rows.unrated_matches() if _explains(match, new)]
    seen = [match for match in able if match.outcome in FINISHED]
    unseen = [match for match in able if match.outcome is MatchOutcome.UNSEEN]
    if seen:
        rows.change(seen[-1], after=new)
    elif on is not None and _explains(on, new):
        return  # it may be over already, and its end be reported next
    elif len(unseen) == 1 and unseen[0].before == old:
        _assign_rating(rows, unseen[0], new, old)
    if on is not None and on.game is None:
        rows.change(on, before=new)


def _explains(match: MatchRow, new: RatingAndExperience) -> bool:
    """Whether our new experience is that after this match."""
    return bool(match.length) and match.before is not None and new[1] == match.before[1] + (match.length or 0)


def _assign_rating(
    rows: AccountRows, match: MatchRow, new: RatingAndExperience | None, old: RatingAndExperience | None
) -> None:
    """Set the rating after a match, if it is plausible; it also shows who won if we did not see the end."""
    if new is None or old is None or not _explains(match, new):
        return
    if any(other.id != match.id for other in rows.explained(new[1])):
        return
    if match.outcome is MatchOutcome.UNSEEN and new[0] != old[0]:
        rows.change(match, outcome=MatchOutcome.WON if new[0] > old[0] else MatchOutcome.LOST, inferred=True, after=new)
        rows.count(match.opponent_id, Fact.FINISHED, match.ended or match.seen)
    elif match.outcome in FINISHED:
        rows.change(match, after=new)
