"""A store is compared with the truth: missing, duplicate and wrong records are found."""

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
    """Return an oracle with the matches that marvin really played."""
    oracle = Oracle(MARVIN)
    oracle.matches += matches
    oracle.answers += [ANSWER] * answers
    return oracle


def won(score: tuple[int, int] = (1, 0), games: int = 1) -> PlayedMatch:
    """Return a match that marvin has won, a point per game."""
    return PlayedMatch("ford", score, [(True, 1)] * games)


def play(teller: Teller, *, decisions: int = 0) -> None:
    """Record a match that marvin wins."""
    teller.start(length=1)
    for turn in range(decisions):
        teller.decide(turn)
    teller.win_game()
    teller.end(length=1, score=(1, 0))


def compared(tmp_path: Path, report: Callable[[Teller], None], oracle: Oracle) -> StoreComparison:
    """Compare the recorded events with the truth."""
    path = tmp_path / "store.db"
    with Teller(str(path)) as teller:
        teller.log_in(1500.0, 0)
        report(teller)
    return compare_store(oracle, path)


def test_a_store_with_everything_exactly_once_is_correct(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda teller: play(teller, decisions=2), truth(won(), answers=2))
    assert StoreComparison() == found


def test_an_end_that_the_server_did_not_report_may_be_inferred(tmp_path: Path) -> None:
    """The server was killed directly afterwards; only the rating of the account shows the end."""

    def report(teller: Teller) -> None:
        teller.start(length=1)
        teller.win_game()
        teller.log_in(1510.0, 1)
        teller.tell("saved_matches", opponents=[])

    found = compared(tmp_path, report, truth(PlayedMatch("ford")))
    assert ([], [], 1) == (found.matches, found.games, found.inferred)


def test_more_decisions_than_commands_are_correct(tmp_path: Path) -> None:
    assert StoreComparison() == compared(tmp_path, lambda teller: play(teller, decisions=3), truth(won(), answers=2))


def test_a_missing_decision_is_lost(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda teller: play(teller, decisions=1), truth(won(), answers=3))
    assert [f"marvin: '8/5 6/5' in {XGID}"] * 2 == found.decisions


@pytest.mark.parametrize(("begun", "stored"), [(2, 1), (1, 2)])
def test_matches_must_be_stored_exactly_once(tmp_path: Path, begun: int, stored: int) -> None:
    def report(teller: Teller) -> None:
        for _ in range(stored):
            play(teller)

    found = compared(tmp_path, report, truth(*[won()] * begun))
    assert [f"marvin: {begun} matches were begun, {stored} are stored"] == found.matches


@pytest.mark.parametrize(
    ("true", "text"),
    [
        (PlayedMatch("ford", (0, 1), [(True, 1)]), "marvin, match 1: ended (0, 1), stored as won"),
        (PlayedMatch("ford", (2, 0), [(True, 1)]), "marvin, match 1: ended (2, 0), stored with (1, 0)"),
        (PlayedMatch("ford", None, [(True, 1)]), "marvin, match 1: ended None, stored as won"),
    ],
)
def test_a_different_end_of_a_match_is_wrong(tmp_path: Path, true: PlayedMatch, text: str) -> None:
    assert [text] == compared(tmp_path, play, truth(true)).matches


@pytest.mark.parametrize(
    ("games", "text"),
    [
        ([(True, 1), (True, 1)], "marvin, match 1: 2 games were played, 1 are stored"),
        ([(True, 2)], "marvin, match 1: a game ended (True, 2), stored as (True, 1)"),
        ([(False, 1)], "marvin, match 1: a game ended (False, 1), stored as (True, 1)"),
    ],
)
def test_games_must_be_stored_exactly_once_with_their_end(
    tmp_path: Path, games: list[tuple[bool, int]], text: str
) -> None:
    assert [text] == compared(tmp_path, play, truth(PlayedMatch("ford", (1, 0), games))).games


def test_a_missing_store_is_wrong(tmp_path: Path) -> None:
    (text,) = compare_store(truth(won()), tmp_path / "nowhere.db").matches
    assert "marvin: there is no store" in text
