"""What the bots' stores hold, compared with what really happened: nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from attrs import define, field

from fibsbot.arena.chaos.ledger import Ledger
from fibsbot.arena.chaos.ledger import Match as TrueMatch
from fibsbot.records.store import Store, StoreError
from fibsbot.records.views import Game, Match, Outcome


@define
class Compared:
    """What is wrong with a store, and what it could not know."""

    matches: list[str] = field(factory=list)
    games: list[str] = field(factory=list)
    decisions: list[str] = field(factory=list)
    """Game commands that the server took, and that are not there."""
    unseen: int = 0
    """Matches whose end the bot never heard of, and could not work out."""
    inferred: int = 0
    """Matches whose end it worked out."""


def compare(ledger: Ledger, path: Path) -> Compared:
    """Compare an account's store with the truth."""
    compared = Compared()
    try:
        with Store.open(path) as store:
            matches = list(store.matches(account=ledger.account))
            games = {match.id: list(store.games(match)) for match in matches}
            answers = Counter((it.xgid, it.answer) for match in matches for it in store.decisions(match))
    except StoreError as error:
        compared.matches.append(f"{ledger.account}: {error}")
        return compared
    if len(matches) != len(ledger.matches):
        compared.matches.append(
            f"{ledger.account}: {len(ledger.matches)} matches were begun, {len(matches)} are stored"
        )
    for number, (true, stored) in enumerate(zip(ledger.matches, matches, strict=False), 1):
        _compare_match(compared, f"{ledger.account}, match {number}", true, stored)
        if true.score is not None or not stored.inferred:
            _compare_games(compared, f"{ledger.account}, match {number}", true, games[stored.id])
    for answer in ledger.answers:
        key = answer.xgid, answer.shown
        if answers[key]:
            answers[key] -= 1
        else:
            compared.decisions.append(f"{ledger.account}: {answer.shown!r} in {answer.xgid}")
    return compared


def _compare_match(compared: Compared, name: str, true: TrueMatch, stored: Match) -> None:
    compared.unseen += stored.outcome is Outcome.UNSEEN
    compared.inferred += stored.inferred
    if true.score is None and stored.inferred:
        return  # the server was killed after it had ended the match, and before it could tell anybody but by the rating
    if true.score is None:
        expected = {Outcome.PLAYING, Outcome.SAVED}
    else:
        expected = {Outcome.WON if true.score[0] > true.score[1] else Outcome.LOST, Outcome.UNSEEN}
    if stored.outcome not in expected:
        compared.matches.append(f"{name}: ended {true.score}, stored as {stored.outcome.value}")
    elif stored.finished and not stored.inferred and stored.score != true.score:
        compared.matches.append(f"{name}: ended {true.score}, stored with {stored.score}")


def _compare_games(compared: Compared, name: str, true: TrueMatch, stored: list[Game]) -> None:
    """Compare games: each is there, and what is told of its end is right. One whose end was not seen tells nothing."""
    if len(stored) != len(true.games):
        compared.games.append(f"{name}: {len(true.games)} games were played, {len(stored)} are stored")
        return
    for (won, points), game in zip(true.games, stored, strict=True):
        if game.won not in {None, won} or game.points not in {None, points}:
            compared.games.append(f"{name}: a game ended {won, points}, stored as {game.won, game.points}")
