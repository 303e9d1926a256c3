"""Judgements: those of the analyser, each judge's once, whatever was judged before; kept by version and plies."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from attrs import evolve

from fibsbot.analysis.match_analysis import MatchAnalyser
from fibsbot.analysis.position_classes import CLASSES, position_classes
from fibsbot.archive import open_archive
from fibsbot.archive.columns import TableData, columns_of
from fibsbot.archive.dataset import Dataset
from fibsbot.archive.judge import Judge, judge_name
from fibsbot.archive.play_arrays import play_change
from fibsbot.archive.rows import MatchPlace, match_rows
from fibsbot.archive.study import Study, StudyResult
from fibsbot.engine.arrays import boards_of
from fibsbot.engine.engine import Engine
from fibsbot.formats import Format
from fibsbot.formats.conversion import WRITERS
from fibsbot.match import ROLLS, CubeAction
from fibsbot.notation.play_notation import format_play
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, LAWS_1931, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import Seat
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.transcript import Cube, Entry, Game, Player, Resign, Throw, Transcript, walk
from fibsbot.workers.pool import InProcessPool
from tests.analysis.random_matches import play_match
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot
from tests.formats.simulated_matches import simulate

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "archive.md").read_text("utf-8")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load()


def rows_to_judge(match: Transcript) -> TableData:
    """Return the decisions of a match with the laws of its games, as a study reads them."""
    tables = columns_of([match_rows(match, MatchPlace("a file", 1, "mat"))])
    decisions, games = tables["decisions"], tables["games"]
    places = np.searchsorted(games["game"], decisions["game"])
    laws = {name: games[name][places] for name in ("jacoby", "triple", "point_game")}
    return {**decisions, **laws, "cubeless": ~games["cube"][places]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 5, 7, 9, 11, 17])
def test_judgements_are_those_of_the_analyser(engine: Engine, seed: int) -> None:
    assert_judged_as_analysed(engine, simulate(seed))


def test_resignations_are_judged_whatever_the_game_waits_for(engine: Engine) -> None:
    throw = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
    double, take, beaver = (CubeAction.DOUBLE, CubeAction.TAKE, CubeAction.BEAVER)
    for length, answers in ((7, ((Seat.A, take),)), (0, ((Seat.A, beaver), (Seat.B, take)))):
        start = rules.start_match(evolve(FIBS, redoubles=1), length)
        entries: list[Entry] = [Resign(seat=Seat.B, level=Level.SINGLE, accepted=False), throw]
        for seat, action in ((Seat.B, double), *answers):
            entries += [
                Cube(seat=seat, action=action),
                Resign(seat=Seat.A, level=Level.SINGLE, accepted=False),
                Resign(seat=Seat.B, level=Level.GAMMON, accepted=False),
            ]
        entries.append(Resign(seat=Seat.B, level=Level.BACKGAMMON, accepted=True))
        steps = list(walk(Game(1, start, tuple(entries))))
        game = Game(1, start, tuple(entries), steps[-1].after.result)
        match = Transcript((Player("a"), Player("b")), length, (game,))
        judged = assert_judged_as_analysed(engine, match)
        stages = set(filter(None, rows_to_judge(match)["stage"].tolist()))
        assert {"opening", "roll", "double", *(["beaver"] if not length else [])} == stages
        assert not np.isnan(judged["settled"][judged["kind"] == "accept"]).any()


def assert_judged_as_analysed(engine: Engine, match: Transcript) -> TableData:
    """Compare the judgements of a match with the analyser's decisions, and return them."""
    analyser = MatchAnalyser(EngineStrategy("0", engine=engine))
    expected = [it for game in analyser.analyse(match).games for it in game.decisions]
    rows = rows_to_judge(match)
    judged = Judge(engine, 0).judge(rows)
    assert len(expected) == len(judged["loss"])
    for place, one in enumerate(expected):
        assert one.equity == pytest.approx(judged["equity"][place], abs=2e-5)
        assert one.loss == pytest.approx(judged["loss"][place], abs=2e-5)
        assert (one.best, one.counts) == (judged["best"][place], judged["counts"][place])
        if one.luck is not None:
            assert one.luck == pytest.approx(judged["luck"][place], abs=0.1)
        if one.resigning is not None:
            assert one.resigning.settled == pytest.approx(judged["settled"][place], abs=2e-5)
            assert one.resigning.played_on.equity == pytest.approx(judged["played_on"][place], abs=2e-5)
            assert (one.resigning.played_on.chances is None) == bool(np.ma.getmaskarray(judged["win"])[place])
    return judged


def test_a_match_is_judged_alike_whatever_was_judged_before(engine: Engine) -> None:
    rows = rows_to_judge(simulate(5, length=1))
    judge = Judge(engine, 0)
    first = judge.judge(rows)
    judge.judge(rows_to_judge(simulate(6, length=1)))
    again, other = judge.judge(rows), Judge(engine, 0).judge(rows)
    for name, column in first.items():
        assert np.array_equal(column, again[name]), name
        assert np.array_equal(column, other[name]), name


def test_with_lookahead_plays_are_judged_by_the_search(engine: Engine) -> None:
    rows = {name: column[:8] for name, column in rows_to_judge(simulate(2, length=3)).items()}
    judged = Judge(engine, 1).judge(rows)
    assert {1} == set(judged["plies"].tolist())
    assert (judged["loss"] >= 0).all()


def test_notation_says_what_a_play_changes() -> None:
    for seed in range(3):
        rows = match_rows(simulate(seed, length=1), MatchPlace("", 1, ""))
        for cells in rows.positions[::7]:
            assert not isinstance(cells, Sides)
            position = type(parse_position_id("4HPwATDgc/ABMA"))(cells)
            for dice in ROLLS:
                for play in legal_plays(position, dice):
                    after = np.array(cells) + play_change(format_play(play, position))
                    assert position.play(play).points == tuple(after.tolist())


@pytest.mark.parametrize(
    ("position", "turn", "expected"),
    [
        ("4HPwATDgc/ABMA", 1, "opening"),
        ("4HPwATDgc/ABMA", 9, "middle game"),
        ("/wMAAAB/AAAAAA", 30, "bear-off"),
    ],
)
def test_classes_of_positions(position: str, turn: int, expected: str) -> None:
    boards = boards_of([parse_position_id(position)])
    assert [expected] == position_classes(boards, np.array([turn])).tolist()


def test_the_page_has_every_class() -> None:
    assert [f"| {name} | {rule} |" for name, rule in CLASSES.items()] == [
        line for line in PAGE.splitlines() if line.startswith(tuple(f"| {name} |" for name in CLASSES))
    ]


def study(archive: Path, engine: Engine, plies: int = 0, limit: int | None = None) -> StudyResult:
    """Judge an archive in this process."""
    with Dataset.open(archive) as dataset:
        return Study(dataset, judge_name(engine, plies), plies, limit).run(InProcessPool())


@pytest.mark.slow
def test_each_judge_judges_each_match_once(tmp_path: Path, engine: Engine) -> None:
    archive = tmp_path / "archive"
    add(archive, *write_matches(tmp_path / "mat", 3, length=1))
    assert 1 == study(archive, engine, limit=1).matches
    assert 2 == study(archive, engine).matches
    assert 0 == study(archive, engine).matches
    assert 1 == study(archive, engine, plies=1, limit=1).matches
    with open_archive(archive) as found:
        ((all_of, zero, one, missing),) = found.rows(
            "SELECT count(*), count(*) FILTER (plies = 0), count(*) FILTER (plies = 1), "
            "(SELECT count(*) FROM decisions ANTI JOIN judgements USING (match, game, number)) FROM judgements"
        )
        ((decisions,),) = found.rows("SELECT count(*) FROM decisions")
    assert (decisions, 0, decisions + one) == (zero, missing, all_of)
    assert 0 < one < zero


@pytest.mark.slow
def test_matches_of_the_point_game_are_not_judged(tmp_path: Path, engine: Engine) -> None:
    archive = tmp_path / "archive"
    match = play_match(HeuristicStrategy(), 1, 10, evolve(LAWS_1931, point_game=True))
    path = tmp_path / "points.json"
    path.write_text(WRITERS[Format.JSON](match))
    add(archive, path, *write_matches(tmp_path / "mat", 1, length=1))
    assert 1 == study(archive, engine).matches


@pytest.mark.slow
def test_the_command_studies_and_says_by_which_judge(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    add(archive, *write_matches(tmp_path / "mat", 1, length=1))
    done = fibsbot("archive", "study", "--archive", archive, "--jobs", "1")
    assert (0, "") == (done.returncode, done.stderr)
    assert "1 match judged" in done.stdout
    assert "0-ply" in done.stdout
    assert "0 matches judged" in fibsbot("archive", "study", "--archive", archive, "--jobs", "1").stdout


@pytest.mark.slow
def test_judgements_that_the_disk_has_no_room_for_are_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    archive = tmp_path / "archive"
    add(archive, *write_matches(tmp_path / "mat", 1, length=1))
    monkeypatch.setattr("fibsbot.workers.opening.open_pool", lambda *_args, **_options: _In(InProcessPool()))
    with monkeypatch.context() as patched:
        patched.setattr("fibsbot.archive.dataset.write_to_disk", refuse)
        done = fibsbot("archive", "study", "--archive", archive)
    assert (2, f"fibsbot: cannot write to the archive {archive}: No space left on device\n") == (
        done.returncode,
        done.stderr,
    )
    assert "1 match judged" in fibsbot("archive", "study", "--archive", archive).stdout


@pytest.mark.slow
def test_a_journal_is_left_only_by_an_interrupted_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "archive"
    add(archive, *write_matches(tmp_path / "mat", 2, length=1))
    monkeypatch.setattr("fibsbot.archive.study.PIECE_DECISIONS", {})
    monkeypatch.setattr("fibsbot.workers.opening.open_pool", lambda *_args, **_options: _In(InProcessPool()))
    calls = []

    def fail_at_the_second(*_: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fibsbot.archive.study.Study._take", fail_at_the_second)
        assert 130 == fibsbot("archive", "study", "--plies", "1", "--archive", archive).returncode
    assert (archive / ".study").stat().st_size
    monkeypatch.setattr("fibsbot.archive.study.judge_matches", None)  # both pieces are in the journal
    assert "2 matches judged" in fibsbot("archive", "study", "--plies", "1", "--archive", archive).stdout
    assert not (archive / ".study").exists()


class _In:
    """A pool that is open already."""

    def __init__(self, pool: InProcessPool) -> None:
        self._pool = pool

    def __enter__(self) -> InProcessPool:
        return self._pool

    def __exit__(self, *_: object) -> None:
        return None
