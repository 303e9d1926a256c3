"""`fibsbot best --scores` and `cube --scores`: the same decision at other scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fibsbot.cli import EXIT_USAGE
from tests.cli.engine.runner import HOLDING, START, Asking, check
from tests.cli.engine.test_documented import unknown
from tests.drawing.svg_checks import parsed, said, texts

OPENING = "XGID=-b----E-C---eE---c-e----B-"


def scores(asking: Asking, *words: str) -> str:
    """Run a command without lookahead, and return what it prints without the time."""
    lines = asking.text(*words, "--plies", "0").splitlines()
    return "\n".join([*lines[:-1], lines[-1].rpartition(" in ")[0]])


def test_output_as_text(ask: Asking) -> None:
    check("cube_scores", scores(ask, "cube", f"{HOLDING}:0:0:1:00:3:4:0:7:10", "--scores"))
    check("cube_scores_doubled", scores(ask, "cube", f"{HOLDING}:0:0:-1:D:0:0:3:0:10", "--scores", "3"))
    check("best_scores", scores(ask, "best", f"{OPENING}:0:0:1:21:2:6:0:13:10", "--scores=9"))


def test_each_score_has_what_the_commands_say_there(ask: Asking) -> None:
    """A cell is the answer to the same question about a position at its score."""
    row = json.loads(ask.text("cube", f"{HOLDING}:0:0:1:00:3:4:0:7:10", "--scores", "--plies", "0", "--json"))
    assert set() == unknown(row)
    found = {tuple(it["away"] or ()): it for it in row["scores"]}
    assert (26, [4, 3], True) == (len(found), row["scores"][0]["away"], row["scores"][0]["here"])
    for away, fields in (((3, 5), "4:2:0:7"), ((), "0:0:0:0"), ((1, 4), "4:1:0:5")):
        alone = json.loads(ask.text("cube", f"{HOLDING}:0:0:1:00:{fields}:10", "--plies", "0", "--json"))
        there = found[away]
        if there["action"] is None:
            assert ["no_double"] == list(alone["actions"])
            continue
        assert [alone[name] for name in ("verdict", "action", "answer", "actions")] == [
            there[name] for name in ("verdict", "action", "answer", "actions")
        ]
        double = min(there["actions"][it]["equity"] for it in ("double_take", "double_pass"))
        assert there["margin"] == pytest.approx(abs(there["actions"]["no_double"]["equity"] - double), abs=2e-6)


def test_each_score_has_the_play_that_is_best_there(ask: Asking) -> None:
    row = json.loads(ask.text("best", f"{OPENING}:0:0:1:41:2:4:0:7:10", "--scores", "3", "--plies", "0", "--json"))
    assert set() == unknown(row)
    here = row["scores"][0]
    assert ([5, 3], True, 0) == (here["away"], here["here"], here["loss"])
    assert len({(*(it["away"] or ()), it["crawford"]) for it in row["scores"]}) == len(row["scores"]) == 3 * 3 + 6
    for away, crawford, fields in ((([2, 1]), True, "1:2:1:3"), ([2, 1], False, "1:2:0:3"), (None, False, "0:0:0:0")):
        alone = json.loads(
            ask.text("best", f"{OPENING}:0:0:1:41:{fields}:10", "--plies", "0", "--plays", "99", "--json")
        )
        there = next(it for it in row["scores"] if (it["away"], it["crawford"]) == (away, crawford))
        assert (alone["plays"][0]["play"], alone["plays"][0]["equity"]) == (there["play"], there["equity"])
        own = next(it for it in alone["plays"] if it["play"] == here["play"])
        assert own["loss"] == there["loss"]


def test_the_picture_says_what_the_text_says(ask: Asking, tmp_path: Path) -> None:
    path = tmp_path / "scores.svg"
    printed = ask.text("cube", f"{HOLDING}:0:0:1:00:3:4:0:7:10", "--scores", "--plies", "0", "-o", str(path))
    root = parsed(path.read_text("utf-8"))
    assert said(root, "desc") in printed
    assert 26 == sum(text.startswith(("no double", "double", "too good", "no use")) for text in texts(root)) - len(
        {"no double", "double, take", "double, pass", "too good to double", "no use for a cube"} & set(texts(root))
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("cube", "--scores", START), "expected a number from 2 to 9, or --scores at the end without one, got '4HPw"),
        (("cube", START, "--scores", "10"), "expected a number from 2 to 9"),
        (("cube", START, "-o", "x.svg"), "expected --output with --scores, got it without"),
        (("cube", START, "-o", "x.png", "--scores"), "whose name ends in .svg, got 'x.png'"),
        (("cube", START, "-o", "nowhere/x.svg", "--scores"), "there is no folder nowhere for x.svg"),
        (("cube", f"{HOLDING}:1:-1:1:00:0:0:0:0:10", "--scores"), "expected a cube that can be turned, got the opp"),
        (("best", START, "--dice", "31", "--plays", "3", "--scores"), "expected --plays or --scores, got both"),
        (("best", "XGID=-A----------------------a-:0:0:1:66:0:0:0:0:10", "--scores"), "a roll that leaves a choice"),
    ],
)
def test_what_makes_no_sense_is_refused(ask: Asking, words: tuple[str, ...], expected: str) -> None:
    result = ask(*words)
    assert EXIT_USAGE == result.exit_code
    assert expected in result.stderr
