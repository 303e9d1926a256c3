"""The benchmark: what a choice loses by its reference, and a file that is none in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fibsbot.engine.arrays import Boards, Outcomes, boards_of
from fibsbot.engine.training.results import CheckerBenchmark
from fibsbot.notation.position_ids import position_id
from fibsbot.position import Position
from tests.engine.toys import left_by

PLAYS = sorted(left_by(Position.start(), (3, 1)))


def row(kind: int, equities: list[float]) -> dict[str, Any]:
    moves = [
        {"id": position_id(Position(play)), "g2": equity - 0.1, "s3": equity + 0.1}
        for play, equity in zip(PLAYS, equities, strict=False)
    ]
    return {"pos": position_id(Position.start()), "dice": [1, 3], "cls": kind, "moves": moves}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "decisions.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(it) for it in ({"about": "rows"}, *rows)).encode()))
    return path


class Likes:
    """Holds the play of a number to be the best."""

    name = "likes"

    def __init__(self, number: int) -> None:
        self.best = boards_of([Position(PLAYS[number]).swapped()])[0]

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return no chance for an opponent who sees that board, else every chance."""
        win = (boards != self.best).any(axis=1).astype(float)
        zero = np.zeros_like(win)
        return np.stack([win, zero, zero, 1 - win, zero, zero], axis=1)


def test_the_rating_is_500_times_what_the_choices_lose_on_average(tmp_path: Path) -> None:
    benchmark = CheckerBenchmark.read(write(tmp_path, row(5, [0.3, 0.1, 0]), row(5, [0.2, 0.2]), row(3, [-0.5, -0.1])))
    assert ["contact", "contact", "race"] == [decision.kind for decision in benchmark.decisions]
    assert {"PR": 500 * 0.4 / 3, "contact": 0, "race": 200} == pytest.approx(benchmark.rating(Likes(0)))
    assert {"PR": 500 * 0.2 / 3, "contact": 50, "race": 0} == pytest.approx(benchmark.rating(Likes(1)))


def test_positions_are_seen_by_the_opponent_who_is_then_on_roll(tmp_path: Path) -> None:
    decision = CheckerBenchmark.read(write(tmp_path, row(1, [0.3, 0.1]))).decisions[0]
    assert sorted(boards_of(Position(play).swapped() for play in PLAYS).tolist()) == sorted(decision.boards.tolist())


def test_a_play_that_is_not_rated_is_as_bad_as_the_worst(tmp_path: Path) -> None:
    decision = CheckerBenchmark.read(write(tmp_path, row(1, [0.3, 0.1]))).decisions[0]
    assert [0.3] + [0.1] * (len(PLAYS) - 1) == pytest.approx(sorted(decision.reference.tolist(), reverse=True))
    benchmark = CheckerBenchmark.read(write(tmp_path, row(5, [0.3, 0.1])))
    assert 100 == pytest.approx(benchmark.rating(Likes(7))["PR"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        gzip.compress(b""),
        gzip.compress(b"{}\n"),
        gzip.compress(b"{}\nnonsense"),
        gzip.compress(b"{}\n[]"),
        gzip.compress(b"{}\n{}"),
        gzip.compress(b'{}\n{"cls": 5, "moves": []}'),
        gzip.compress(b'{}\n{"cls": [], "moves": [{"id": "4HPwATDgc/ABMA", "g2": 1, "s3": 1}]}'),
        gzip.compress(b'{}\n{"cls": 5, "moves": [{"id": "x", "g2": 1, "s3": 1}]}'),
        gzip.compress(b'{}\n{"cls": 5, "moves": [{"id": "4HPwATDgc/ABMA", "g2": "a", "s3": 1}]}'),
        gzip.compress(
            b'{}\n{"cls": 5, "pos": "4HPwATDgc/ABMA", "dice": [3, 1],'
            b' "moves": [{"id": "4HPwATDgc/ABMA", "g2": 1, "s3": 1}]}'
        ),
        gzip.compress(
            b'{}\n{"cls": 5, "pos": "4HPwATDgc/ABMA", "dice": [9, 1],'
            b' "moves": [{"id": "4HPwATDgc/ABMA", "g2": 1, "s3": 1}]}'
        ),
        gzip.compress(b"{}\n\xff"),
        gzip.compress(b"{}\n" + b"[" * 100_000),
        gzip.compress(b"{}\n{}")[:-12],
    ],
    ids=range(16),
)
def test_another_file_is_reported_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "decisions.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="expected rated decisions, found") as raised:
        CheckerBenchmark.read(path)
    assert 1 == len(str(raised.value).splitlines())
    assert str(path) in str(raised.value)
