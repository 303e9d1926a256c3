"""The commands `legal`, `show` and `perft`."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import main, perft
from fibsbot.cli.perft import count_with
from fibsbot.notation import parse_state
from fibsbot.position import Position
from fibsbot.rules.plays import PERFT_START, perft_count, perft_level
from fibsbot.workers.pool import LocalPool

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:10"
TO_ROLL = OPENING.replace(":31:", ":00:")


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, arguments)


def test_legal_lists_one_play_a_line() -> None:
    result = run("legal", OPENING)
    lines = result.stdout.splitlines()
    assert (0, 16) == (result.exit_code, len(set(lines)))
    assert "8/5 6/5" in lines


def test_legal_takes_the_dice_from_the_option_first() -> None:
    assert run("legal", TO_ROLL, "--dice", "31").stdout == run("legal", OPENING).stdout
    assert run("legal", OPENING, "--dice", "65").stdout == run("legal", TO_ROLL, "--dice", "56").stdout


def test_legal_reports_that_nothing_can_move() -> None:
    assert "cannot move\n" == run("legal", "XGID=-A-----------------bbbbbbA:0:0:1:31:0:0:0:5:10").stdout


def test_legal_reports_that_the_game_is_over() -> None:
    assert "the game is over\n" == run("legal", f"XGID={'-' * 22}aab-:0:0:1:31:0:0:0:5:10").stdout


def test_legal_gives_json() -> None:
    found = json.loads(run("legal", OPENING, "--json").stdout)
    assert [3, 1] == found["dice"]
    assert {"play": "8/5 6/5", "moves": [[8, 5], [6, 5]], "position_id": "4HPwATCwZ/ABMA"} in found["plays"]


def test_show_draws_the_board_and_prints_the_facts() -> None:
    result = run("show", OPENING)
    assert 0 == result.exit_code
    assert "|BAR|" in result.stdout
    for expected in (
        "play 3-1",
        "167 to 167",
        "0 to 0 in a match to 5",
        "1, in the middle",
        OPENING,
        "4HPwATDgc/ABMA:cIm",
    ):
        assert expected in result.stdout
    assert "\x1b" not in result.stdout


def test_show_reads_gnubg_ids_too() -> None:
    shown = json.loads(run("show", TO_ROLL, "--json").stdout)
    again = json.loads(run("show", shown["gnubg_id"], "--json").stdout)
    assert shown == again
    assert parse_state(shown["xgid"]) == parse_state(shown["gnubg_id"])


def test_show_leaves_out_an_xgid_that_cannot_be_written() -> None:
    assert "xgid" not in json.loads(run("show", "4HNwAAT2GRwQBg:cFmgACAACAAE", "--json").stdout)


def test_show_leaves_out_a_gnubg_id_that_cannot_be_written() -> None:
    shown = json.loads(run("show", "XGID=-b----E-C---eE---c-e----B-:20:1:1:00:0:0:0:0:10", "--json").stdout)
    assert "xgid" in shown
    assert "gnubg_id" not in shown


def test_perft_prints_the_counts_of_each_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)
    monkeypatch.setattr(perft, "PERFT_START", {closed.points: 1})
    second = perft_count(perft_level({closed.points: 1}).items())
    lines = run("perft", "--depth", "2").stdout.splitlines()
    expected = [["1", "21", "21"], ["2", f"{second.positions:,}", f"{second.without_play:,}"]]
    assert expected == [line.split()[:3] for line in lines[1:]]
    assert second.positions > 1000


def test_perft_gives_json() -> None:
    found = json.loads(run("perft", "--depth", "1", "--json").stdout)
    assert (1, 447, 0) == (found["depth"], found["positions"], found["without_play"])


@pytest.mark.slow
def test_counting_on_all_cores_gives_the_same_result() -> None:
    reached = dict(islice(perft_level(PERFT_START).items(), 60))
    assert perft_count(reached.items()) == count_with(LocalPool(2), reached)


@pytest.mark.parametrize(
    "arguments",
    [
        ("legal", "nonsense"),
        ("legal", TO_ROLL),
        ("legal", OPENING, "--dice", "7"),
        ("legal", OPENING, "--dice", "311"),
        ("legal", OPENING, "--dice", "xy"),
        ("show", "XGID=nonsense"),
        ("show", "4HPwATDgc/ABMA:x"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (2, "") == (result.exit_code, result.stdout)
    assert 1 == len(result.stderr.splitlines())
    assert result.stderr.startswith("Error: expected ")


def test_show_writes_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "board.svg"
    arguments = ("show", OPENING, "--svg", "--play", "8/5 6/5", "--names", "marvin", "ford")
    assert (0, "") == ((result := run(*arguments, "-o", str(path))).exit_code, result.output)
    text = path.read_text(encoding="utf-8")
    assert "<title>marvin plays 3-1: 8/5 6/5</title>" in text
    assert text == run(*arguments).stdout == run(*arguments, "-o", "-").stdout
    dark = run(*arguments, "--dark", "--left", "--white", "--bare", "--width", "300").stdout
    assert 'width="300"' in dark
    assert "<style" not in dark


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--json",), "expected --svg or --json, got both"),
        (("--play", "8/1"), "--play: 8/1 for 3-1: a checker moves by a number that was rolled, each number once"),
        (("-o", "/dev/null/board.svg"), "cannot write /dev/null/board.svg: Not a directory"),
    ],
)
def test_an_impossible_picture_is_an_error_of_one_line(arguments: tuple[str, ...], error: str) -> None:
    result = run("show", OPENING, "--svg", *arguments)
    assert (2, f"Error: {error}\n") == (result.exit_code, result.stderr)


def test_options_of_the_picture_require_a_picture() -> None:
    result = run("show", OPENING, "--dark", "--left")
    assert (2, True) == (result.exit_code, "expected --svg with --dark and --left" in result.stderr)
    result = run("show", TO_ROLL, "--svg", "--play", "8/5")
    assert "expected a position with dice for --play, got one without" in result.stderr
