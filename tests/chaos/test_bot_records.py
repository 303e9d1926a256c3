"""A store is held against the truth: what is missing, there twice or wrong in it is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.chaos.bot_records import StoreComparison, compare_store
from bench.chaos.oracle import AcceptedCommand, Oracle, PlayedMatch
from tests.records.store.recorder import XGID, Teller

ANSWER = AcceptedCommand(XGID, "8/5 6/5", "move 17-20 19-20")
MARVIN = "marvin"


def truth(*matches: PlayedMatch, answers: int = 0) -> Oracle:
    """What really happened to marvin."""
    oracle = Oracle(MARVIN)
    oracle.matches += matches
    oracle.answers += [ANSWER] * answers
    return oracle


def won(score: tuple[int, int] = (1, 0), games: int = 1) -> PlayedMatch:
    """A match that marvin has won, a point a game."""
    return PlayedMatch("ford", score, [(True, 1)] * games)


def play(teller: Teller, *, decisions: int = 0) -> None:
    """Let marvin win a match."""
    teller.start(length=1)
    for turn in range(decisions):
        teller.decide(turn)
    teller.win_game()
    teller.end(length=1, score=(1, 0))


def compared(tmp_path: Path, tell: Callable[[Teller], None], oracle: Oracle) -> StoreComparison:
    """Compare what was told with the truth."""
    path = tmp_path / "store.db"
    with Teller(str(path)) as teller:
        teller.log_in(1500.0, 0)
        tell(teller)
    return compare_store(oracle, path)


def test_a_store_that_has_everything_once_is_right(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda teller: play(teller, decisions=2), truth(won(), answers=2))
    assert StoreComparison() == found


def test_an_end_that_the_server_could_tell_nobody_may_be_worked_out(tmp_path: Path) -> None:
    """It was killed right after; what is left is the account's rating."""

    def tell(teller: Teller) -> None:
        teller.start(length=1)
        teller.win_game()
        teller.log_in(1510.0, 1)
        teller.tell("saved_matches", opponents=[])

    found = compared(tmp_path, tell, truth(PlayedMatch("ford")))
    assert ([], [], 1) == (found.matches, found.games, found.inferred)


def test_more_decisions_than_commands_are_right(tmp_path: Path) -> None:
    assert StoreComparison() == compared(tmp_path, lambda teller: play(teller, decisions=3), truth(won(), answers=2))


def test_a_decision_that_is_not_there_is_lost(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda teller: play(teller, decisions=1), truth(won(), answers=3))
    assert [f"marvin: '8/5 6/5' in {XGID}"] * 2 == found.decisions


@pytest.mark.parametrize(("begun", "stored"), [(2, 1), (1, 2)])
def test_matches_are_there_once(tmp_path: Path, begun: int, stored: int) -> None:
    def tell(teller: Teller) -> None:
        for _ in range(stored):
            play(teller)

    found = compared(tmp_path, tell, truth(*[won()] * begun))
    assert [f"marvin: {begun} matches were begun, {stored} are stored"] == found.matches


@pytest.mark.parametrize(
    ("true", "text"),
    [
        (PlayedMatch("ford", (0, 1), [(True, 1)]), "marvin, match 1: ended (0, 1), stored as won"),
        (PlayedMatch("ford", (2, 0), [(True, 1)]), "marvin, match 1: ended (2, 0), stored with (1, 0)"),
        (PlayedMatch("ford", None, [(True, 1)]), "marvin, match 1: ended None, stored as won"),
    ],
)
def test_an_end_that_was_another_is_wrong(tmp_path: Path, true: PlayedMatch, text: str) -> None:
    assert [text] == compared(tmp_path, play, truth(true)).matches


@pytest.mark.parametrize(
    ("games", "text"),
    [
        ([(True, 1), (True, 1)], "marvin, match 1: 2 games were played, 1 are stored"),
        ([(True, 2)], "marvin, match 1: a game ended (True, 2), stored as (True, 1)"),
        ([(False, 1)], "marvin, match 1: a game ended (False, 1), stored as (True, 1)"),
    ],
)
def test_games_are_there_once_with_their_end(tmp_path: Path, games: list[tuple[bool, int]], text: str) -> None:
    assert [text] == compared(tmp_path, play, truth(PlayedMatch("ford", (1, 0), games))).games


def test_a_store_that_is_not_there_is_wrong(tmp_path: Path) -> None:
    (text,) = compare_store(truth(won()), tmp_path / "nowhere.db").matches
    assert "marvin: there is no store" in text
