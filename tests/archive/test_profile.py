"""The profile of a player: figures of an archive of known losses, what the margins mean, and what is left out."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot.archive import open_archive
from fibsbot.archive.answers import Answer
from fibsbot.archive.columns import column_of
from fibsbot.archive.dataset import Dataset
from fibsbot.archive.match_luck import match_lucks
from fibsbot.archive.performance import Change, Performance, RareValue, student_95
from fibsbot.archive.progress import half_of
from fibsbot.archive.questions import Questions
from fibsbot.archive.schema import TABLES
from tests.commands import fibsbot

START = "4HPwATDgc/ABMA"
DAY = dt.datetime(2026, 1, 10, tzinfo=dt.UTC).replace(tzinfo=None)  # as the tables have it

# -- an archive of known losses ---------------------------------------------------------------------------------------


def write_table(dataset: Dataset, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows, whose other columns are NULL, into a table."""
    columns = TABLES[name].columns
    data = {column.name: column_of(column, [row.get(column.name) for row in rows]) for column in columns}
    data["year"] = column_of(TABLES["games"].columns[1], [row["year"] for row in rows])
    dataset.write(name, {name: data})


class Written:
    """Rows of an archive of 1-point matches between ann and ben; a match is its decisions: kind and loss of ann."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES if name != "sources"}

    def match(
        self,
        started: dt.datetime | None,
        decisions: Sequence[tuple[str, float]],
        *,
        won: bool = True,
        luck: float = 0.0,
        length: int = 1,
    ) -> None:
        """Add a match; each player makes one play more, which does not count and has luck."""
        key = len(self.tables["matches"]) + 1
        common = {"match": key, "year": started.year if started else 0, "game": 1}
        score = (length, 0) if won else (0, length)
        self.tables["matches"].append(
            common
            | {"started": started, "length": length, "player_a": "ann", "player_b": "ben", "whole": True, "games": 1}
            | {"source": f"{key}.mat", "source_number": 1, "winner": "A" if won else "B"}
        )
        self.tables["games"].append(common | {"score_a": 0, "score_b": 0, "crawford": False})
        for seat, names, own in (("A", ("ann", "ben"), won), ("B", ("ben", "ann"), not won)):
            self.tables["players"].append(
                common
                | {"seat": seat, "player": names[0], "opponent": names[1], "won": own if length else None}
                | {"length": length, "score": score[seat == "B"]}
            )
        for number, (kind, loss, seat, fortune) in enumerate(
            [*((kind, loss, "A", 0.0) for kind, loss in decisions), ("play", 0.0, "A", luck), ("play", 0.0, "B", -luck)]
        ):
            place = common | {"number": number, "turn": 1, "seat": seat, "player": "ann" if seat == "A" else "ben"}
            made = place | {"kind": kind}
            self.tables["decisions"].append(
                made
                | {"position": START, "dice": "31" if kind == "play" else None, "length": length, "cube": 2}
                | {"own_score": 0, "opponent_score": 0, "owner": "player" if loss == 0.7 else "centred"}
                | {"action": "8/5 6/5" if kind == "play" else kind, "crawford": False, "post_crawford": False}
                | {"resignation": 0}
            )
            self.tables["judgements"].append(
                made
                | {"judge": "hand", "plies": 0, "loss": loss, "counts": number < len(decisions)}
                | {"class": "opening" if kind == "play" else None, "luck": fortune if kind == "play" else None}
                | {"best": "24/23 13/10" if kind == "play" else "roll"}
            )

    def profile(self, folder: Path) -> Answer:
        """Write the archive, and return ann's profile."""
        with Dataset.open(folder) as dataset:
            for name, rows in self.tables.items():
                write_table(dataset, name, rows)
        with open_archive(folder) as archive:
            return Questions.of(archive, pictures=False).profile("ann")


def rows_of(answer: Answer, heading: str) -> list[dict[str, Any]]:
    (section,) = [section for section in answer.sections if section.heading == heading]
    return [dict(zip(section.columns, row, strict=True)) for row in section.rows]


def note_of(answer: Answer, heading: str) -> str:
    return next(section.note for section in answer.sections if section.heading == heading)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answer]:
    """Return an archive of eight matches of January and March, one without a date, and ann's profile."""
    written = Written()
    for number in range(4):
        written.match(DAY + dt.timedelta(days=number), [("play", 0.04)] * 10 + [("double", 0.1)], luck=0.2)
    for number in range(4):
        day = DAY + dt.timedelta(days=60 + number)
        written.match(day, [("play", 0.02)] * 10 + [("double", 0.7), ("take", 0.0)], won=False, luck=-0.5)
    written.match(None, [("play", 0.5)] * 3)
    folder = tmp_path_factory.mktemp("archive") / "archive"
    return folder, written.profile(folder)


def test_ratings_by_month_are_those_of_the_losses(known: tuple[Path, Answer]) -> None:
    january, march = rows_of(known[1], "PR by month")
    assert ("2026-01", 44, 40, 4, 0) == tuple(january[name] for name in ("month", "count", "plays", "doubles", "takes"))
    assert ("2026-03", 48, 40, 4, 4) == tuple(march[name] for name in ("month", "count", "plays", "doubles", "takes"))
    assert [20, 10] == [pytest.approx(row["PR of plays"], abs=1e-4) for row in (january, march)]
    assert pytest.approx(500 * 0.5 / 11, abs=1e-4) == january["PR"]
    assert pytest.approx(0, abs=1e-3) == january["margin"], "all matches are the same"
    assert isinstance(january["PR of doubles"], RareValue)
    assert not isinstance(january["PR of plays"], RareValue)
    assert january["PR of takes"] is None
    assert "1 match without a date is left out." in note_of(known[1], "PR by month")


def test_months_and_what_has_no_date_sum_to_the_whole(known: tuple[Path, Answer]) -> None:
    folder, answer = known
    (line,) = [row for row in rows_of(answer, "Decisions by kind") if row["kind"] == "play"]
    months = rows_of(answer, "PR by month")
    assert line["decisions"] == 3 + sum(row["plays"] for row in months)
    with open_archive(folder) as archive:
        ((total,),) = archive.rows("SELECT count(*) FROM judgements WHERE counts AND player = 'ann'")
    for heading in ("Decisions by kind", "Decisions by score", "Decisions by stage of the game"):
        assert total == sum(row["decisions"] for row in rows_of(answer, heading))
    assert total == 3 + sum(row["count"] for row in months)


def test_a_redouble_is_no_double_and_a_score_of_one_point_is_named(known: tuple[Path, Answer]) -> None:
    assert {"play", "double", "redouble", "take"} == {row["kind"] for row in rows_of(known[1], "Decisions by kind")}
    assert ["both 1 away"] == [row["score"] for row in rows_of(known[1], "Decisions by score")]


def test_later_matches_are_compared_with_earlier_ones(known: tuple[Path, Answer]) -> None:
    found = {row["decisions"]: row for row in rows_of(known[1], "Earlier and later matches")}
    play = found["play"]
    assert ("better", 40, 40) == (play["verdict"], play["count before"], play["count after"])
    assert pytest.approx(-10, abs=1e-4) == play["change"]
    assert "too few" == found["take"]["verdict"]
    assert found["take"]["change"] is None
    note = note_of(known[1], "Earlier and later matches")
    assert "4 matches before 2026-03-11, 4 since then. PR 22.7, then 37.5: worse by 14.8" in note


def test_a_day_may_divide_the_matches(known: tuple[Path, Answer]) -> None:
    with open_archive(known[0]) as archive:
        answer = Questions.of(archive, pictures=False).profile("ann", dt.datetime(2026, 1, 12, tzinfo=dt.UTC))
    assert "2 matches before 2026-01-12, 6 since then." in note_of(answer, "Earlier and later matches")
    assert ": too few decisions or matches" in note_of(answer, "Earlier and later matches")


def test_results_without_luck_are_the_results_less_the_luck_in_chances(known: tuple[Path, Answer]) -> None:
    with open_archive(known[0]) as archive:
        lucks = match_lucks(Questions.of(archive, pictures=False), "ann")
    assert 9 == len(lucks)
    assert [0.2] * 4 + [-0.5] * 4 + [0] == pytest.approx([match.luck for match in lucks], abs=1e-5), "half of 2 * luck"
    assert [0.8] * 4 + [0.5] * 4 + [1] == pytest.approx([match.without_luck for match in lucks], abs=1e-5)
    assert lucks[0].edge == pytest.approx(-0.25, abs=1e-5), "half of what ann's errors have lost"
    months = rows_of(known[1], "Results by month")
    assert [(4, 4), (4, 0)] == [(row["matches"], row["won"]) for row in months]
    table = {row["than the opponent"]: row["matches"] for row in rows_of(known[1], "Luck and results")}
    assert table.pop("all") == sum(table.values()) == 9
    assert 4 == table["luckier, but played worse"]


def test_unlimited_matches_count_points(tmp_path: Path) -> None:
    written = Written()
    written.match(DAY, [("play", 0.1)], length=0, luck=0.25)
    answer = written.profile(tmp_path / "archive")
    (row,) = rows_of(answer, "Unlimited matches")
    assert (1, 1, 0.0, 1.0, -1.0) == tuple(row.values()), "a cube of 2 times twice 0.25"
    assert ["unlimited"] == [row["score"] for row in rows_of(answer, "Decisions by score")]
    assert "All matches began at the same time" in note_of(answer, "Earlier and later matches")


def test_without_a_date_there_is_nothing_by_month(tmp_path: Path) -> None:
    written = Written()
    written.match(None, [("play", 0.1)] * 30)
    answer = written.profile(tmp_path / "archive")
    for heading in ("PR by month", "Earlier and later matches"):
        assert "None of the matches has a date." == note_of(answer, heading)
    assert [] == rows_of(answer, "Results by month")


def test_errors_have_their_place_and_boards(known: tuple[Path, Answer]) -> None:
    errors = rows_of(known[1], "The worst errors of each kind")
    assert ["redouble"] * 2 + ["opening"] * 2 + ["double"] * 2 == [row["kind or class"] for row in errors]
    assert [0.7, 0.5, 0.1] == [pytest.approx(row["loss"], abs=1e-5) for row in errors[::2]]
    assert {"5.mat", "9.mat", "1.mat"} <= {row["file"] for row in errors}
    with open_archive(known[0]) as archive:
        sections = Questions.of(archive).profile("ann").sections
    assert len(errors) == len(sections[-1].figures)
    charts = next(section.figures for section in sections if section.heading == "PR by month")
    assert "Jan 2026 to 37.5" in re.sub(r"\s+", " ", charts[0].svg)
    assert charts[0].narrow


def test_text_fits_eighty_columns(known: tuple[Path, Answer]) -> None:
    done = fibsbot("archive", "profile", "ann", "--archive", known[0], COLUMNS="80")
    assert (0, "") == (done.returncode, done.stderr)
    assert max(map(len, done.stdout.splitlines())) <= 80
    headings = set(itertools.chain.from_iterable(section.columns for section in known[1].sections))
    words = {word for heading in headings for word in heading.split()} - {"match", "file"}
    assert {word for word in words if not re.search(rf"(?m)(?:^|\s){re.escape(word)}(?:\s|$)", done.stdout)} <= {"turn"}


# -- margins ----------------------------------------------------------------------------------------------------------


def of_matches(losses: Sequence[float], decisions: Sequence[int]) -> Performance:
    """Return the performance of matches by their losses and decisions."""
    pairs = list(zip(losses, decisions, strict=True))
    return Performance(
        sum(decisions),
        sum(losses),
        0,
        len(pairs),
        sum(loss * loss for loss in losses),
        sum(loss * count for loss, count in pairs),
        sum(count * count for count in decisions),
    )


LOSSES = st.lists(st.floats(0, 5), min_size=3, max_size=30)


@given(LOSSES, st.integers(1, 60))
def test_the_margin_of_equal_matches_is_that_of_their_mean(losses: list[float], decisions: int) -> None:
    found = of_matches(losses, [decisions] * len(losses))
    error = statistics.stdev(losses) / math.sqrt(len(losses)) * 500 / decisions
    assert found.margin == pytest.approx(student_95(len(losses) - 1) * error, abs=1e-3)


@given(LOSSES, LOSSES)
def test_performances_of_different_matches_add_up(first: list[float], second: list[float]) -> None:
    both = of_matches(first, [20] * len(first)) + of_matches(second, [30] * len(second))
    whole = of_matches(first + second, [20] * len(first) + [30] * len(second))
    assert both.pr == pytest.approx(whole.pr)
    assert both.margin == pytest.approx(whole.margin, abs=1e-3)


def test_two_matches_have_no_margin() -> None:
    assert of_matches([1, 2], [20, 30]).margin is None
    assert Performance().pr is None
    assert Performance().margin is None


@pytest.mark.parametrize(
    ("degrees", "known_value"), [(2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1000, 1.9623)]
)
def test_deviations_of_student_are_those_of_the_tables(degrees: int, known_value: float) -> None:
    assert known_value == pytest.approx(student_95(degrees), rel=0.035 if degrees == 2 else 0.01)


@pytest.mark.parametrize(
    ("verdict", "before", "after", "decisions"),
    [
        ("better", [2, 2.1, 1.9, 2], [1, 1.1, 0.9, 1], 30),
        ("worse", [1, 1.1, 0.9, 1], [2, 2.1, 1.9, 2], 30),
        ("unclear", [2, 5, 0.1, 2], [1, 4, 0.1, 2], 30),
        ("too few", [2, 2, 2], [1, 1, 1], 5),
        ("too few", [2, 2], [1, 1], 30),
    ],
)
def test_only_what_is_beyond_the_margin_is_better_or_worse(
    verdict: str, before: list[float], after: list[float], decisions: int
) -> None:
    found = [of_matches(losses, [decisions] * len(losses)) for losses in (before, after)]
    assert verdict == Change(*found).verdict


def test_matches_are_halved_between_two_days() -> None:
    days = [DAY + dt.timedelta(days=number) for number in range(4)]
    assert days[2] == half_of(dict.fromkeys(days, 1))
    assert days[1] == half_of({days[0]: 5, days[1]: 1, days[2]: 1})
    assert days[2] == half_of({days[0]: 1, days[1]: 1, days[2]: 5})
    assert half_of({days[0]: 9}) is None
