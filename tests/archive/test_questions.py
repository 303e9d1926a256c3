"""Ready questions on a small archive: the same answers as text (golden), JSON and pages; patterns of positions."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import re
from itertools import chain
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot import __version__
from fibsbot.analysis.position_classes import CLASSES
from fibsbot.analysis.selection import KINDS, DecisionSelection
from fibsbot.archive import open_archive
from fibsbot.archive.columns import boards_of_ids
from fibsbot.archive.dataset import Dataset
from fibsbot.archive.judge import judge_name
from fibsbot.archive.patterns import TERMS, PatternError, parse_pattern
from fibsbot.archive.questions import Questions, _take_points, selected_rows
from fibsbot.archive.study import Study
from fibsbot.engine.engine import Engine
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.position import Position
from fibsbot.workers.pool import InProcessPool
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot
from tests.examples import examples
from tests.report.parsed_page import Page

DATA = Path(__file__).parents[1] / "data" / "archive"
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "archive.md").read_text("utf-8")
QUESTIONS = {
    "openings": ("openings",),
    "profile": ("profile", "alice"),
    "takes": ("takes",),
    "luck": ("luck",),
    "blunders": ("blunders", "-n", "5"),
    "similar": ("similar", "4HPwATDgc/ABMA", "-n", "4"),
    "pattern": ("similar", "2 behind, opponent 6-point held, opponent 1+ on bar", "-n", "4"),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of eight matches that is judged without lookahead."""
    folder = tmp_path_factory.mktemp("archive")
    add(folder / "archive", *write_matches(folder / "mat", 8, length=3))
    with Dataset.open(folder / "archive") as dataset:
        Study(dataset, judge_name(Engine.load(), 0), 0).run(InProcessPool())
    return folder / "archive"


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_as_they_were(archive: Path, name: str) -> None:
    done = fibsbot("archive", *QUESTIONS[name], "--archive", archive, COLUMNS="160")
    assert (0, "") == (done.returncode, done.stderr)
    golden = DATA / f"{name}.golden"
    judges = re.findall(r"(?m)^Judged by (.*)$", done.stdout)
    assert set(judges) <= {f"fibsbot {__version__}, 0-ply"}
    shown = re.sub(r"(?m)^Judged by .*$", "Judged by the engine", done.stdout)
    text = "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        golden.write_text(text, "utf-8")
    assert golden.read_text("utf-8") == text


@pytest.mark.slow
def test_errors_are_selected(archive: Path) -> None:
    def errors(*options: str) -> list[dict[str, Any]]:
        done = fibsbot("archive", "blunders", "-n", "1000", "--archive", archive, "--json", *options)
        assert (0, "") == (done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    every = errors()
    of_alice = [row for row in every if row["player"] == "alice"]
    assert 0 < len(of_alice) < len(every)
    assert of_alice == errors("--player", "alice")
    kinds = [errors("--kind", kind) for kind in ("play", "double", "take", "resign", "accept", "name")]
    assert sorted(map(str, every)) == sorted(map(str, chain(*kinds))), "each error is of one kind"
    assert {"roll", "double", "take", "pass"} >= {
        row["decision"] for row in errors("--kind", "double", "--kind", "take")
    }
    assert None not in {row["dice"] for row in kinds[0]}
    races, rest = errors("--class", "race"), errors("--class", "race", "--class", "opening")
    assert len(races) < len(rest) < len(every)
    assert [row for row in every if row["loss"] >= 0.08] == errors("--worse-than", "0.08")
    asked = fibsbot("archive", "query", "SELECT max(started) AS last FROM matches", "--archive", archive, "--json")
    last = dt.datetime.fromisoformat(json.loads(asked.stdout)["last"]).date()
    recent = errors("--since", str(last))
    assert 0 < len(recent) < len(every)
    assert all(row in every for row in recent)
    assert [] == errors("--since", str(last + dt.timedelta(days=2)))
    done = fibsbot("archive", "blunders", "--archive", archive, "--class", "nonsense")
    assert 2 == done.returncode
    assert "expected one of bear-off, race, opening" in done.stderr


SELECTIONS: Final = st.builds(
    DecisionSelection,
    player=st.sampled_from((None, "alice", "bob", "nobody")),
    since=st.none() | st.integers(0, 300).map(lambda days: dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days)),
    kinds=st.lists(st.sampled_from(KINDS), max_size=3, unique=True).map(tuple),
    classes=st.lists(st.sampled_from(list(CLASSES)), max_size=4, unique=True).map(tuple),
    least_loss=st.sampled_from((0.0, 0.005, 0.02, 0.08)),
)


def test_an_archive_selects_as_python_does(archive: Path) -> None:
    """The condition in SQL is a translation of `DecisionSelection.has`."""
    with open_archive(archive) as found:
        columns = "match, game, number, player, started, kind, loss, class"
        rows = found.rows(f"SELECT {columns} FROM judgements JOIN matches USING (match)")

        @given(SELECTIONS)
        @examples(60)
        def check(selection: DecisionSelection) -> None:
            condition, parameters = selected_rows(selection)
            asked = found.rows(f"SELECT match, game, number FROM judgements WHERE true{condition}", parameters)
            wanted = {
                row[:3]
                for row in rows
                if selection.has(
                    player=row[3],
                    started=row[4] and row[4].replace(tzinfo=dt.UTC),
                    kind=row[5],
                    loss=row[6],
                    position_class=row[7],
                )
            }
            assert wanted == set(asked)

        check()


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_pages_have_the_rows_and_boards(archive: Path, name: str, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    assert 0 == fibsbot("archive", *QUESTIONS[name], "--archive", archive, "-o", target).returncode
    text = target.read_text("utf-8")
    assert Engine.load().name not in text
    assert [] == Page.read(text).faults
    rows = fibsbot("archive", *QUESTIONS[name], "--archive", archive, "--json").stdout.splitlines()
    assert rows
    assert {"section"} < set(json.loads(rows[0]))
    with open_archive(archive) as found:
        sections = len({json.loads(row)["section"] for row in rows})
        assert text.count("<table") >= sections
        assert bool(found.rows("SELECT 1"))
    if name not in {"takes", "luck"}:  # charts need more matches
        assert "<svg" in text
    assert 2 == fibsbot("archive", *QUESTIONS[name], "--archive", archive, "-o", target).returncode


def test_a_page_that_the_disk_has_no_room_for_is_one_clear_line(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    done = fibsbot("archive", "takes", "--archive", archive, "-o", tmp_path / "x.html")
    assert (2, f"fibsbot: cannot write {tmp_path}/x.html: No space left on device\n") == (done.returncode, done.stderr)
    assert not list(tmp_path.iterdir())


def test_openings_count_every_game_that_was_seen_from_its_beginning(archive: Path) -> None:
    with open_archive(archive) as found:
        answer = Questions.of(found, pictures=False).openings()
        ((games,),) = found.rows("SELECT count(*) FROM decisions WHERE turn = 1 AND kind = 'play'")
    assert f"Openings of {games} games" == answer.title


def test_positions_that_fit_a_pattern_fit_it(archive: Path) -> None:
    with open_archive(archive) as found:
        condition = parse_pattern("2 behind, 6-point held, opponent no anchor, 5 pips ahead").condition
        rows = found.rows(f"SELECT position FROM decisions WHERE {condition}")
        others = found.rows(f"SELECT position FROM decisions WHERE NOT ({condition}) AND kind = 'play'")
    assert rows

    def fits(text: str) -> bool:
        position = parse_position_id(text)
        theirs = position.swapped().points
        return (
            sum(n for n in position.points[19:] if n > 0) == 2
            and position.points[6] > 1
            and max(theirs[19:25]) < 2
            and position.opponent_pips - position.pips >= 5
        )

    assert all(fits(text) for (text,) in rows)
    assert not any(fits(text) for (text,) in others)


def test_every_term_is_understood_and_documented(archive: Path) -> None:
    examples = [re.sub(r"\bN\b", "2", term.form) for term in TERMS]
    with open_archive(archive) as found:
        for example in [*examples, *(f"opponent {it}" for it in examples), "2+ behind"]:
            found.rows(f"SELECT count(*) FROM decisions WHERE {parse_pattern(example).condition}")
    for term in TERMS:
        assert f"| `{term.form}` | {term.meaning} |" in PAGE


@pytest.mark.parametrize("text", ["", "nonsense", "4 behind,", "99-point held", "'; DROP", "4HPwATDgc/ABM"])
def test_what_is_no_pattern_gets_one_line(archive: Path, text: str) -> None:
    with pytest.raises(PatternError) as refused:
        parse_pattern(text)
    assert "\n" not in str(refused.value)
    done = fibsbot("archive", "similar", "--archive", archive, "--", text)
    assert (2, 1) == (done.returncode, len(done.stderr.splitlines()))


def test_what_is_no_pattern_lists_all_terms() -> None:
    with pytest.raises(PatternError) as refused:
        parse_pattern("")
    assert {"centred cube", "opponent"} <= set(re.findall(r"centred cube|opponent", str(refused.value)))


def test_one_match_is_not_several(tmp_path: Path) -> None:
    add(tmp_path / "archive", *write_matches(tmp_path / "mat", 1, length=1))
    with open_archive(tmp_path / "archive") as found:
        assert Questions.of(found, pictures=False).similar("2+ behind", 1).sections[0].note.endswith(" in 1 match")


def test_take_points_that_are_unknown_are_left_out() -> None:
    assert "Too few takes to tell the take point." == _take_points(None, None)
    assert "Taking is right from a chance of 25.0% on." == _take_points(None, 0.25)
    assert "Half of the doubles are taken from a chance of 20.0% on; taking is right from a chance of 25.0% on." == (
        _take_points(0.2, 0.25)
    )


def test_the_most_similar_position_comes_first(archive: Path) -> None:
    start = Position.start()
    with open_archive(archive) as found:
        answer = Questions.of(found, pictures=False).similar("4HPwATDgc/ABMA", 10)
    distances = [row[-3] for row in answer.sections[-1].rows]
    assert sorted(distances) == distances
    ids = [row[-2].encode() for row in answer.sections[-1].rows]
    differences = np.abs(boards_of_ids(np.array(ids)) - np.array(start.points)).sum(axis=1)
    assert differences[0] <= differences.max()
    assert differences.min() > 0


def test_what_cannot_be_answered_says_why(archive: Path, tmp_path: Path) -> None:
    assert "no player 'nobody'" in fibsbot("archive", "profile", "nobody", "--archive", archive).stderr
    assert "study --plies 3" in fibsbot("archive", "takes", "--plies", "3", "--archive", archive).stderr
    add(tmp_path / "archive", *write_matches(tmp_path / "mat", 1, length=1))
    assert "study" in fibsbot("archive", "luck", "--archive", tmp_path / "archive").stderr
    assert 0 == fibsbot("archive", "openings", "--archive", tmp_path / "archive").returncode
