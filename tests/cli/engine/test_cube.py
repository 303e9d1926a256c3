"""`fibsbot cube`: verdicts, what the rest costs, and the market."""

from __future__ import annotations

import json

import pytest

from fibsbot.cli import EXIT_USAGE
from tests.cli.engine.runner import HOLDING, START, Asking, check


@pytest.mark.slow
def test_output_as_text(ask: Asking) -> None:
    check("cube_money", ask.text("cube", START, "--plies", "1"))
    check("cube_match", ask.text("cube", f"{HOLDING}:0:0:1:00:3:4:0:7:10", "--plies", "0"))
    check("cube_beaver", ask.text("cube", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:10", "--plies", "0"))
    check("cube_dead", ask.text("cube", f"{HOLDING}:1:1:1:00:5:1:0:7:10", "--plies", "0"))


def test_output_as_text_who_are_doubled(ask: Asking) -> None:
    check("cube_doubled_match", ask.text("cube", f"{HOLDING}:0:0:1:D:3:4:0:7:10", "--plies", "0"))
    check("cube_doubled_money", ask.text("cube", f"{HOLDING}:0:0:-1:D:0:0:3:0:10", "--plies", "0"))


@pytest.mark.slow
def test_who_answers_sees_the_other_side_of_what_who_doubles_sees(ask: Asking) -> None:
    offered = json.loads(ask.text("cube", f"{HOLDING}:0:0:1:00:2:4:0:7:10", "--json"))
    doubled = json.loads(ask.text("cube", f"{HOLDING}:0:0:1:D:2:4:0:7:10", "--json"))
    assert ("double", "take") == (offered["decision"], doubled["decision"])
    assert offered["answer"] == doubled["action"]
    assert offered["chances"]["win_gammon"] == doubled["chances"]["lose_gammon"]
    for ours, theirs in (("double_take", "take"), ("double_pass", "pass")):
        assert offered["actions"][ours]["equity"] == pytest.approx(-doubled["actions"][theirs]["equity"], abs=2e-6)
        chances = [it["match_chance"] for it in (offered["actions"][ours], doubled["actions"][theirs])]
        assert 1 == pytest.approx(sum(chances), abs=2e-6)


@pytest.mark.slow
def test_actions_are_compared_with_what_is_right(ask: Asking) -> None:
    row = json.loads(ask.text("cube", START, "--json", "--plies", "0"))
    actions = row["actions"]
    assert ["no_double", "double_take", "double_pass"] == list(actions)
    best = max(actions["no_double"]["equity"], min(actions[it]["equity"] for it in ("double_take", "double_pass")))
    for it in actions.values():
        assert it["difference"] == pytest.approx(it["equity"] - best, abs=2e-6)
    market = row["market"]
    assert market["double_from"] < market["cash_from"] < market["too_good_from"]


def test_who_has_no_cube_is_told_nothing_of_doubles(ask: Asking) -> None:
    row = json.loads(ask.text("cube", f"{HOLDING}:1:-1:1:00:0:0:0:0:10", "--json", "--plies", "0"))
    assert ("Cube not available", None, None) == (row["verdict"], row["market"], row["answer"])
    assert ["no_double"] == list(row["actions"])


@pytest.mark.parametrize(
    ("fields", "got"),
    [
        ("1:-1:1:D:0:0:0:0:10", "the opponent's"),
        ("2:1:1:D:1:3:0:5:10", "one at 4, which wins the match as it is"),
        ("0:0:1:D:4:3:1:5:10", "none: this is the Crawford game"),
    ],
)
def test_a_double_that_was_not_possible_is_refused(ask: Asking, fields: str, got: str) -> None:
    result = ask("cube", f"{HOLDING}:{fields}")
    assert EXIT_USAGE == result.exit_code
    assert f"expected a double with a cube that the player may turn and can use, got {got}\n" in result.stderr


@pytest.mark.slow
def test_a_close_decision_is_rolled_out_by_the_games_that_were_asked_for(ask: Asking) -> None:
    words = ("cube", f"{HOLDING}:0:0:-1:00:0:0:0:0:10", "--plies", "0")
    assert 0 == json.loads(ask.text(*words, "--json"))["games"]
    assert 36 == json.loads(ask.text(*words, "--json", "--rollout", "--trials", "10"))["games"]
    assert "   36 games\n" in ask.text(*words, "--rollout", "--trials", "36")
