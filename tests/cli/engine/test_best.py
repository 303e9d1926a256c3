"""`fibsbot best`: plays, the best first."""

from __future__ import annotations

import json

import pytest

from fibsbot.cli import EXIT_USAGE
from fibsbot.cli.engine import FEWEST_PLAYS, MAX_PLAYS
from fibsbot.notation import parse_state
from fibsbot.rules.plays import legal_plays
from tests.cli.engine.runner import HOLDING, START, Asking, check

DANCE = "XGID=-BBBBB-------------bbbbbbA:0:0:1:66:0:0:0:0:10"
ONLY = "XGID=----------------------bbA-:0:0:1:66:0:0:0:0:10"


@pytest.mark.slow
def test_a_list_for_money_and_at_a_score(ask: Asking) -> None:
    check("best_money", ask.text("best", START, "--dice", "61", "--plies", "0", "--plays", "4"))
    check("best_match", ask.text("best", f"{HOLDING}:1:-1:-1:64:3:5:0:7:10", "--plies", "0", "--plays", "99"))


@pytest.mark.slow
def test_plays_that_cannot_be_chosen_are_called_so(ask: Asking) -> None:
    assert "No checker can move.\n" in ask.text("best", DANCE, "--plies", "1")
    assert "Forced: there is no other play.\n" in ask.text("best", ONLY, "--plies", "1")
    assert 0 == json.loads(ask.text("best", DANCE, "--json", "--plies", "0"))["legal"]


@pytest.mark.slow
def test_programs_get_every_legal_play_with_its_loss(ask: Asking) -> None:
    xgid = f"{HOLDING}:0:0:1:43:0:0:0:0:10"
    row = json.loads(ask.text("best", xgid, "--json", "--plays", "999", "--plies", "1"))
    state = parse_state(xgid)
    assert state.dice
    moves = {
        tuple((move.source, move.target) for move in play.moves) for play in legal_plays(state.position, state.dice)
    }
    assert moves == {tuple(map(tuple, it["moves"])) for it in row["plays"]}
    assert len(moves) == row["legal"]
    first, *others = row["plays"]
    assert 0 == first["loss"]
    assert {1} == {it["plies"] for it in row["plays"]}
    assert all(it["loss"] == pytest.approx(max(first["equity"] - it["equity"], 0), abs=2e-6) for it in others)


@pytest.mark.slow
def test_all_that_is_listed_is_judged_equally_deep(ask: Asking) -> None:
    row = json.loads(ask.text("best", f"{HOLDING}:0:0:1:43:0:0:0:0:10", "--json", "--plies", "1"))
    assert FEWEST_PLAYS <= len(row["plays"]) <= MAX_PLAYS
    assert {1} == {it["plies"] for it in row["plays"]}


def test_a_time_is_kept_and_something_is_found_in_it(ask: Asking) -> None:
    row = json.loads(ask.text("best", START, "--dice", "42", "--json", "--time", "1ms"))
    assert row["plies"] < 4
    assert row["plays"]


@pytest.mark.slow
def test_a_time_may_be_given_in_hours(ask: Asking) -> None:
    assert ask.text("best", START, "--dice", "31", "--plies", "0", "--time", "1h")


@pytest.mark.slow
def test_close_plays_are_rolled_out_by_the_games_that_were_asked_for(ask: Asking) -> None:
    words = ("best", START, "--dice", "62", "--json", "--plies", "1", "--rollout")
    assert [36, 36, 0] == [it["games"] for it in json.loads(ask.text(*words, "--trials", "1"))["plays"][:3]]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([START], "expected a position with dice, or --dice"),
        ([START, "--dice", "7"], "expected --dice with two digits from 1 to 6"),
        ([START, "--dice", "31", "--time", "soon"], "expected a time such as 500ms"),
        ([START, "--dice", "31", "--time", "0"], "expected a time such as 500ms"),
        ([START, "--dice", "31", "--time", "25h"], "a day at most"),
        ([START, "--dice", "31", "--plies", "9"], "'--plies'"),
        ([START, "--dice", "31", "--trials", "36"], "expected --trials with --rollout, got it without"),
        ([f"{HOLDING}:0:0:1:D:0:0:0:7:10"], "expected a roll to play, got a double to answer"),
    ],
)
def test_errors_are_reported_in_one_line(ask: Asking, arguments: list[str], text: str) -> None:
    result = ask("best", *arguments)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr
