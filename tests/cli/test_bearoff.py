"""`fibsbot bearoff`: what is kept, and what it says of a position."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import EXIT_USAGE, main
from fibsbot.match import MatchState, Owner
from fibsbot.notation import Xgid, format_gnubg_id
from fibsbot.position import Position

LAST = Position.from_sides(own=[0, 1, 0, 0, 1, *[0] * 20], opponent=[1, *[0] * 24])
"""On roll with checkers on 5 and 2, the opponent about to bear off the last one: 19 of 36 throws win."""


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["bearoff", *arguments], env={"FIBSBOT_CACHE": str(folder)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the tables are kept."""
    folder = tmp_path_factory.mktemp("cache")
    assert 0 == run(folder, "--build").exit_code
    return folder


@pytest.mark.slow
def test_what_is_kept_is_listed(folder: Path) -> None:
    text = run(folder).stdout
    assert str(folder / "bearoff-6-v1.tables") in text
    assert "21.6 MB" in text
    assert "good" in text
    assert re.search(r"^age +\d+ s$", text, re.MULTILINE)
    row = json.loads(run(folder, "--json").stdout)["tables"][0]
    assert (6, None, 21_571_552) == (row["checkers"], row["error"], row["bytes"])


def test_where_nothing_is_kept_it_is_said_how_that_changes(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert 0 == result.exit_code
    assert f"no tables at {tmp_path}/bearoff-6-v1.tables; `fibsbot bearoff --build` computes them" in result.stdout


def test_damage_is_shown(tmp_path: Path) -> None:
    (tmp_path / "bearoff-6-v1.tables").write_text("nonsense")
    assert "damaged   it is no file of bear-off tables" in run(tmp_path).stdout


def test_a_position_has_exact_chances_and_a_verdict(folder: Path) -> None:
    row = json.loads(run(folder, "--json", str(Xgid.of(MatchState(LAST)))).stdout)
    assert 19 / 36 == pytest.approx(row["win"], abs=1e-6)
    assert 2 * (2 * 19 / 36 - 1) == pytest.approx(row["money"]["double_take"], abs=1e-6)
    assert "double, take" == row["money"]["verdict"]
    assert (7, 1) == (row["player"]["pips"], row["opponent"]["pips"])


def test_a_position_can_be_a_gnubg_id(folder: Path) -> None:
    text = run(folder, format_gnubg_id(MatchState(LAST, owner=Owner.PLAYER))).stdout
    assert "52.778" in text
    assert "for money: redouble, take" in text
    assert "double, pass" in text


@pytest.mark.slow
def test_who_has_no_cube_is_told_nothing_of_doubles(folder: Path) -> None:
    text = run(folder, str(Xgid.of(MatchState(LAST, cube=2, owner=Owner.OPPONENT)))).stdout
    assert "for money: the opponent has the cube" in text
    assert "double, take" not in text


@pytest.mark.slow
def test_many_checkers_have_estimated_chances(folder: Path) -> None:
    many = Position.from_sides(own=[3, 3, 3, 2, 2, 2, *[0] * 19], opponent=[5, 5, 5, *[0] * 22])
    text = run(folder, str(Xgid.of(MatchState(many)))).stdout
    assert "from each side's own rolls" in text
    assert "for money" not in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["rubbish"], "expected an XGID, a PositionID:MatchID or a PositionID of 14 characters"),
        ([str(Xgid.of(MatchState(Position.start())))], "expected a position with all checkers of both sides home"),
        (["--build", str(Xgid.of(MatchState(LAST)))], "expected a position or --build, got both"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_line(folder: Path, arguments: list[str], text: str) -> None:
    result = run(folder, *arguments)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr


@pytest.mark.slow
def test_where_tables_cannot_be_kept_the_position_is_answered_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run(tmp_path / "file", str(Xgid.of(MatchState(LAST))))
    assert 0 == result.exit_code
    assert "52.778" in result.stdout
    assert result.stderr.startswith("fibsbot bearoff: cannot keep the bear-off tables as ")


def test_a_folder_that_takes_no_tables_is_refused_before_they_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("fibsbot.cli.bearoff.compute_and_save", None)
    result = run(tmp_path / "file", "--build")
    assert EXIT_USAGE == result.exit_code
    assert re.search(r"cannot keep the bear-off tables as \S+file/\S+: (File exists|Not a directory)$", result.stderr)
