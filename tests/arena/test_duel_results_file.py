"""The file of results: pairs are read as they were written, and other contents are refused."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.arena.duel.games import DuelError, DuelPlan
from fibsbot.arena.duel.results import PairResult, ResultsFile, StrategyStats, TimeHistogram

PLAN = DuelPlan(("a", "b"), length=3, seed=7, evaluator="heuristic")
SLOW = StrategyStats(TimeHistogram({-3: 2}), TimeHistogram(), 1, "late", 5, 0.5)  # type: ignore[arg-type]  # the converter makes a Counter
PAIR = PairResult(4, (1.0, 0.0), (0.25, -0.125), 7, (SLOW, StrategyStats()))


def read(path: Path, plan: DuelPlan = PLAN) -> list[PairResult]:
    """Open a file, close it, and return its pairs."""
    pairs: list[PairResult] = []
    ResultsFile.open(path, plan, pairs.append).close()
    return pairs


def written(path: Path, *pairs: PairResult) -> Path:
    """Write a file."""
    record = ResultsFile.open(path, PLAN, lambda _: pytest.fail("nothing was there"))
    for pair in pairs:
        record.add(pair)
    record.close()
    return path


def test_pairs_are_read_as_they_were_written(tmp_path: Path) -> None:
    pairs = [PAIR, evolve(PAIR, number=0, luck=None, unjudged="too dark")]
    path = written(tmp_path / "duel", *pairs)
    assert pairs == read(path)
    assert pairs == read(path), "to read changes nothing"


def test_a_pair_is_written_before_the_next_is_played(tmp_path: Path) -> None:
    record = ResultsFile.open(tmp_path / "duel", PLAN, lambda _: None)
    record.add(PAIR)
    assert 2 == len((tmp_path / "duel").read_text().splitlines())
    record.close()


def test_an_interrupted_write_loses_no_earlier_pair(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole", PAIR, evolve(PAIR, number=5)).read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(0, len(whole), 7):
        path = tmp_path / f"cut{size}"
        path.write_bytes(whole[:size])
        kept = max(sum(end <= size for end in ends) - 1, 0)
        assert kept == len(read(path))
        assert whole[: ends[kept]] == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": 8}, "its seed is 7, now it is 8"),
        ({"length": 5}, "its length is 3, now it is 5"),
        ({"strategies": ("a", "c")}, 'its strategies is ["a", "b"], now it is ["a", "c"]'),
        ({"evaluator": None}, 'its evaluator is "heuristic", now it is null'),
        ({"cube": False}, "its cube is true, now it is false"),
        ({"deadline": 1.0}, "its deadline is 60.0, now it is 1.0"),
    ],
)
def test_a_file_of_other_settings_is_refused_in_one_line(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    path = written(tmp_path / "duel", PAIR)
    before = path.read_bytes()
    with pytest.raises(DuelError) as caught:
        read(path, evolve(PLAN, **change))
    assert f"{path} holds a duel of other settings: {text}" == str(caught.value)
    assert before == path.read_bytes()


def test_a_file_with_unknown_settings_is_of_another_version(tmp_path: Path) -> None:
    path = written(tmp_path / "duel", PAIR)
    path.write_bytes(path.read_bytes().replace(b'"evaluator"', b'"judge"', 1))
    with pytest.raises(DuelError) as caught:
        read(path, PLAN)
    assert f"{path} holds a duel of another version of fibsbot: it has the setting 'judge'" == str(caught.value)


@pytest.mark.parametrize(
    "content", [b"hello", b"hello\n", b"{}\n", b"[1]\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"\n"]
)
def test_another_kind_of_file_is_refused_and_not_changed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter"
    path.write_bytes(content)
    with pytest.raises(DuelError, match="expected a file of a duel or none, got "):
        read(path)
    assert content == path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"number": -1},
        {"number": "x"},
        {"results": [1.0]},
        {"results": [1e300, -1e300]},
        {"results": [float("nan"), 0.0]},
        {"luck": [float("inf"), 0.0]},
        {"games": None},
        {"performances": []},
        {"more": 1},
    ],
)
def test_an_invalid_line_is_reported_with_its_number(tmp_path: Path, change: dict[str, Any]) -> None:
    path = written(tmp_path / "duel", PAIR)
    header, line = path.read_text().splitlines()
    path.write_text(f"{header}\n{line}\n{json.dumps({**json.loads(line), **change})}\n")
    with pytest.raises(DuelError, match=f"{path}:3: expected a pair"):
        read(path)


def test_impossible_times_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "duel", PAIR)
    path.write_text(path.read_text().replace('"-3":2', '"100000":2'))
    with pytest.raises(DuelError, match="possible figures"):
        read(path)


@given(st.binary(max_size=200))
def test_no_content_of_a_file_raises_another_error(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = written(tmp_path_factory.mktemp("duel") / "duel", PAIR)
    with path.open("ab") as file:
        file.write(junk)
    try:
        found = read(path)
    except DuelError as error:
        found, lines = [PAIR], str(error).splitlines()
        assert 1 == len(lines)
    assert PAIR in found


def test_two_duels_do_not_write_the_same_file(tmp_path: Path) -> None:
    first = ResultsFile.open(tmp_path / "duel", PLAN, lambda _: None)
    with pytest.raises(DuelError, match="another duel writes "):
        read(tmp_path / "duel")
    first.close()
    assert [] == read(tmp_path / "duel")


@pytest.mark.parametrize("name", ["", "missing/duel"])
def test_an_unwritable_path_is_reported_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(DuelError, match="cannot open "):
        read(tmp_path / name)


def test_a_full_disk_is_reported_in_one_line_and_the_file_stays_valid(tmp_path: Path) -> None:
    path = written(tmp_path / "duel", PAIR)
    record = ResultsFile.open(path, PLAN, lambda _: None)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, hard))
    try:
        with pytest.raises(DuelError, match=f"^cannot write {path}: File too large$"):
            record.add(evolve(PAIR, number=5))
        record.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [PAIR] == read(path)
