"""`fibsbot eval`: chances and equities ply by ply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot import __version__
from fibsbot.cli import EXIT_USAGE, main
from tests.cli.engine.runner import HOLDING, START, Asking, check


def test_figures_of_money_and_of_a_match(ask: Asking) -> None:
    check("eval_money", ask.text("eval", START, "--plies", "1"))
    check("eval_match", ask.text("eval", f"{HOLDING}:0:0:-1:52:3:5:0:7:10", "--plies", "1"))


def test_programs_get_all_plies_by_name(ask: Asking) -> None:
    row = json.loads(ask.text("eval", f"{HOLDING}:1:1:1:00:3:2:0:5:10", "--plies", "2", "--json"))
    assert ["xgid", "gnubg_id", "evaluator", "note", "plies"] == list(row)
    assert [0, 1, 2] == [it["plies"] for it in row["plies"]]
    for it in row["plies"]:
        chances = it["chances"]
        assert 1 == pytest.approx(chances["win"] + chances["lose"], abs=1e-5)
        won = chances["win"] + chances["win_gammon"] + chances["win_backgammon"]
        lost = chances["lose"] + chances["lose_gammon"] + chances["lose_backgammon"]
        assert it["cubeless"] == pytest.approx(won - lost, abs=1e-5)
        assert 0 < it["match_chance"] < 1


@pytest.mark.parametrize("command", [("eval",), ("best", "--dice", "31"), ("cube",)], ids=lambda it: it[0])
def test_the_networks_are_named_in_json_alone(ask: Asking, command: tuple[str, ...]) -> None:
    name, *options = command
    shown = ask(name, START, *options, "--plies", "0").stdout
    row = json.loads(ask.text(name, START, *options, "--plies", "0", "--json"))
    assert f"\nby fibsbot {__version__}" in shown
    assert row["evaluator"]
    assert row["evaluator"] not in shown


def test_money_has_no_chance_to_win_a_match(ask: Asking) -> None:
    (row,) = json.loads(ask.text("eval", START, "--plies", "0", "--json"))["plies"]
    assert row["match_chance"] is None


@pytest.mark.slow
def test_dice_and_a_pending_double_are_left_out(ask: Asking) -> None:
    before = json.loads(ask.text("eval", f"{HOLDING}:0:0:1:00:0:0:0:7:10", "--plies", "0", "--json"))
    for dice, note in (("52", "the dice of the position are ignored"), ("D", "seen by the player who doubled")):
        row = json.loads(ask.text("eval", f"{HOLDING}:0:0:1:{dice}:0:0:0:7:10", "--plies", "0", "--json"))
        assert note in row["note"]
        assert (before["xgid"], before["plies"][0]["chances"]) == (row["xgid"], row["plies"][0]["chances"])


@pytest.mark.parametrize(
    ("position", "text"),
    [
        ("rubbish", "expected an XGID, a PositionID:MatchID or a PositionID of 14 characters"),
        ("4HPwATDgc/ABMX", "expected a Position ID without stray bits"),
        ("XGID=----------------------bb--:0:0:1:00:0:0:0:0:10", "expected a game that goes on, got one that is over"),
        ("4HPwATDgc/ABMA:cCkAAAAAAAAE", "expected a decision about a play or the cube, got an offer to resign"),
    ],
)
def test_what_cannot_be_valued_is_refused_in_a_line(ask: Asking, position: str, text: str) -> None:
    result = ask("eval", position)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr
    assert 1 == len(result.stderr.splitlines())


def test_networks_that_are_missing_are_reported_in_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["eval", START, "--networks", str(tmp_path)])
    assert (EXIT_USAGE, 1) == (result.exit_code, len(result.stderr.splitlines()))
    assert "expected networks with their cards" in result.stderr
