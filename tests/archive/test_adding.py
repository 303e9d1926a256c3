"""Adding matches: each once, whatever file it comes from; broken files and killed processes cost nothing else."""

from __future__ import annotations

import gzip
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="an archive needs the extra `archive` (DuckDB)")

from fibsbot.archive import open_archive
from fibsbot.archive.columns import TableData, count_rows
from fibsbot.archive.dataset import ArchiveError, Dataset, connect
from fibsbot.archive.schema import TABLES
from fibsbot.archive.sources import sources_of
from fibsbot.formats import Format
from fibsbot.formats.conversion import WRITERS
from tests.archive.matches import add, write_matches
from tests.commands import fibsbot
from tests.forked import start
from tests.records.store.recorder import Teller

DATA = Path(__file__).parents[1] / "data"


def count(archive: Path, table: str = "matches") -> int:
    with open_archive(archive) as found:
        ((rows,),) = found.rows(f"SELECT count(*) FROM {table}")
    return int(rows)


@pytest.mark.slow
def test_the_same_match_from_several_formats_is_one_match(tmp_path: Path) -> None:
    for kind in (Format.MAT, Format.SGF, Format.OLDMOVES, Format.JSON):
        write_matches(tmp_path / kind.value, 3, kind)
    result = add(tmp_path / "archive", *(tmp_path / kind for kind in ("mat", "sgf", "oldmoves", "json")))
    assert (12, 12, 3, 0) == (result.files, result.matches, result.new, result.problems)
    assert 3 == count(tmp_path / "archive")


def test_logs_and_captures_of_all_who_were_there_are_one_match(tmp_path: Path) -> None:
    logs = sorted((DATA / "replay").glob("three_points_*.*l.gz")) + sorted(
        (DATA / "replay").glob("three_points_*.txt.gz")
    )
    result = add(tmp_path / "archive", *(path for path in logs if "zaphod" not in path.name))  # who came later
    assert (6, 1) == (result.matches, result.new)


def test_tar_zip_and_gzip_files_are_read_without_unpacking(tmp_path: Path) -> None:
    paths = write_matches(tmp_path / "mat", 4)
    with tarfile.open(tmp_path / "some.tar.gz", "w:gz") as packed:
        for path in paths[:2]:
            packed.add(path, path.name)
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as zipped:
        zipped.write(paths[2], "folder/match.mat")
    (tmp_path / "last.mat.gz").write_bytes(gzip.compress(paths[3].read_bytes()))
    packs = [tmp_path / name for name in ("some.tar.gz", "more.zip", "last.mat.gz")]
    assert 4 == add(tmp_path / "archive", *packs).new
    assert (0, 3) == (add(tmp_path / "archive", *packs).new, add(tmp_path / "archive", tmp_path / "mat").skipped)


def test_the_parts_of_a_session_log_in_a_tar_file_are_one_log(tmp_path: Path) -> None:
    content = gzip.decompress((DATA / "replay" / "three_points_marvin.jsonl.gz").read_bytes())
    place = content.index(b"\n", len(content) // 2) + 1
    (tmp_path / "marvin-20260101T000000Z.jsonl").write_bytes(content[:place])
    header = content[: content.index(b"\n")].replace(b"}", b', "continues": "marvin-20260101T000000Z.jsonl"}')
    (tmp_path / "marvin.jsonl").write_bytes(header + b"\n" + content[place:])
    with tarfile.open(tmp_path / "logs.tar", "w") as packed:
        for name in ("marvin.jsonl", "marvin-20260101T000000Z.jsonl"):
            packed.add(tmp_path / name, name)
    add(tmp_path / "archive", tmp_path / "logs.tar")
    assert 0 == add(tmp_path / "archive", DATA / "replay" / "three_points_marvin.jsonl.gz").new


@pytest.mark.slow
def test_matches_of_a_store_are_known_in_files(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with Teller(str(store)) as bot:
        bot.start()
        bot.sheet("s")
        bot.enter("throw", 1, "s", dice=(3, 1), play="8/5 6/5")
        bot.enter("throw", 2, "s", own=False, dice=(6, 4), play="24/18 18/14")
        bot.win_game(5, (5, 0))
        bot.end(score=(5, 0))
        match = bot.transcript()
    (tmp_path / "match.json").write_text(WRITERS[Format.JSON](match))
    archive = tmp_path / "archive"
    done = fibsbot("archive", "add", "--store", store, "--archive", archive, "--jobs", "1")
    assert (0, "") == (done.returncode, done.stderr)
    assert "1 match added" in done.stdout
    again = fibsbot("archive", "add", tmp_path / "match.json", "--store", store, "--archive", archive, "--jobs", "1")
    assert "0 matches added (0 decisions), 2 known" in again.stdout
    with open_archive(archive) as found:
        assert [("store", str(store))] == found.rows("SELECT format, source FROM matches")


@pytest.mark.parametrize("place", ["nostore.db", "postgresql+psycopg://localhost:1/none"])
def test_a_store_that_cannot_be_read_is_refused_before_an_archive_is_made(tmp_path: Path, place: str) -> None:
    done = fibsbot("archive", "add", "--store", place, "--jobs", "1", cwd=tmp_path)
    assert (2, "", 1) == (done.returncode, done.stdout, len(done.stderr.splitlines()))
    assert "store" in done.stderr
    assert not list(tmp_path.iterdir())


def test_broken_files_are_listed_and_cost_nothing_else(tmp_path: Path) -> None:
    good = write_matches(tmp_path / "mat", 2)
    (tmp_path / "mat" / "bad.mat").write_text(good[0].read_text().replace("/", "-", 3)[:400] + "\0nonsense")
    (tmp_path / "mat" / "bad.sgf").write_text("(;FF[4]GM[6]")
    (tmp_path / "mat" / "notes.txt").write_text("nothing of a match")
    (tmp_path / "mat" / "empty.mat").write_text("")
    (tmp_path / "bad.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    with tarfile.open(tmp_path / "cut.tar.gz", "w:gz") as packed:
        packed.add(good[0], "match.mat")
    (tmp_path / "cut.tar.gz").write_bytes((tmp_path / "cut.tar.gz").read_bytes()[:200])
    problems: dict[str, str] = {}
    result = add(tmp_path / "archive", tmp_path, problems=problems)
    assert 2 <= result.new <= 3  # the damaged one may have a beginning that can be read
    assert {"bad.sgf", "notes.txt", "empty.mat", "cut.tar.gz"} <= {Path(name).name for name in problems}
    assert all("\n" not in problem and problem for problem in problems.values())
    assert all("damaged" in problem for name, problem in problems.items() if name.endswith(".tar.gz"))
    with open_archive(tmp_path / "archive") as found:
        assert result.problems == len(found.rows("SELECT * FROM sources WHERE problem IS NOT NULL"))
    again = add(tmp_path / "archive", tmp_path)
    assert (0, result.problems) == (again.new, again.problems)
    with open_archive(tmp_path / "archive") as found:  # another run has nothing to add to what is known of them
        assert result.problems == len(found.rows("SELECT * FROM sources WHERE problem IS NOT NULL"))


def test_the_rows_of_one_match(tmp_path: Path) -> None:
    add(tmp_path / "archive", *write_matches(tmp_path / "mat", 1))
    with open_archive(tmp_path / "archive") as found:
        ((decisions, games),) = found.rows("SELECT decisions, games FROM matches")
        assert decisions == count(tmp_path / "archive", "decisions")
        assert games == count(tmp_path / "archive", "games")
        assert ["alice", "bob"] == [name for (name,) in found.rows("SELECT player FROM players ORDER BY 1")]
        first = found.rows("SELECT turn, kind, position, own_pips FROM decisions WHERE game = 1 AND number = 1")
        assert [(1, "play", "4HPwATDgc/ABMA", 167)] == first


@pytest.mark.slow
@pytest.mark.parametrize("writes", [4, 12, 15, 18])
def test_a_killed_run_leaves_whole_batches_and_goes_on(tmp_path: Path, writes: int) -> None:
    write_matches(tmp_path / "mat", 3, length=1)
    done = start("tests.archive.killed_adding", tmp_path / "mat", tmp_path / "archive", writes).finish()
    assert -signal.SIGKILL == done.returncode
    Dataset.open(tmp_path / "archive").__enter__()  # completes or drops the batch in flight
    with open_archive(tmp_path / "archive") as found:
        ((wrong,),) = found.rows(
            "SELECT count(*) FROM matches m WHERE decisions <> "
            "(SELECT count(*) FROM decisions d WHERE d.match = m.match) "
            "OR games <> (SELECT count(*) FROM games g WHERE g.match = m.match)"
        )
        ((orphans,),) = found.rows("SELECT count(*) FROM decisions WHERE match NOT IN (SELECT match FROM matches)")
    assert (0, 0) == (wrong, orphans)


@pytest.mark.slow
def test_a_run_after_a_killed_one_adds_the_rest(tmp_path: Path) -> None:
    write_matches(tmp_path / "mat", 3, length=1)
    start("tests.archive.killed_adding", tmp_path / "mat", tmp_path / "archive", 14).finish()
    before = count(tmp_path / "archive")
    result = add(tmp_path / "archive", tmp_path / "mat")
    assert 3 == before + result.new == count(tmp_path / "archive")
    assert not list((tmp_path / "archive").rglob("*.part"))


def test_what_was_read_is_written_after_a_while_however_little_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = Dataset.write

    def noted(dataset: Dataset, name: str, tables: dict[str, TableData]) -> None:
        written.append(count_rows(tables["matches"]))
        write(dataset, name, tables)

    monkeypatch.setattr(Dataset, "write", noted)
    monkeypatch.setattr("fibsbot.archive.adding.BATCH_SECONDS", -1.0)
    monkeypatch.setattr("fibsbot.archive.sources.PIECE_BYTES", 1)
    add(tmp_path / "archive", *write_matches(tmp_path / "mat", 3, length=1))
    assert [1, 1, 1] == written


@pytest.mark.slow
def test_small_files_are_merged_and_stay_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.archive.adding.BATCH_ROWS", 1)
    monkeypatch.setattr("fibsbot.archive.sources.PIECE_BYTES", 1)
    result = add(tmp_path / "archive", *write_matches(tmp_path / "mat", 10, length=1))
    files = list((tmp_path / "archive" / "decisions").rglob("*.parquet"))
    years = {path.parent for path in files}
    assert len(files) == len(years)
    rows = connect().execute(f"SELECT match, game, number FROM read_parquet('{files[0]}')").fetchall()
    assert sorted(rows) == rows
    assert (10, result.decisions) == (count(tmp_path / "archive"), count(tmp_path / "archive", "decisions"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["games [2026]", "it's [ä] *r?"])
def test_the_name_of_the_folder_may_have_any_characters(tmp_path: Path, name: str) -> None:
    for number, path in enumerate(write_matches(tmp_path / "mat", 3), 1):
        add(tmp_path / name, path)
        assert number == count(tmp_path / name)
    with Dataset.open(tmp_path / name) as dataset:
        dataset.compact(finish=True)
    assert 3 == count(tmp_path / name, "sources")
    assert 1 == len(list((tmp_path / name / "sources").glob("*.parquet")))


def test_a_path_that_is_not_utf_8_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    (match,), archive = write_matches(tmp_path / "mat", 1), tmp_path / "a\udcff"
    for line in (("add", match, "--jobs", "1"), ("query", "SELECT 1")):
        done = fibsbot("archive", *line, "--archive", archive)
        assert 2 == done.returncode
        assert f"fibsbot: expected a path in UTF-8 for an archive, got {tmp_path}/a\\udcff\n" == done.stderr
    assert not archive.exists()


def test_a_damaged_file_of_an_archive_is_one_clear_line(tmp_path: Path) -> None:
    matches, archive = write_matches(tmp_path / "mat", 2), tmp_path / "archive"
    add(archive, matches[0])
    (damaged,) = (archive / "matches").glob("*/*.parquet")
    damaged.write_bytes(damaged.read_bytes()[:100])
    for line in (("query", "SELECT 1"), ("add", matches[1], "--jobs", "1")):
        done = fibsbot("archive", *line, "--archive", archive)
        assert 2 == done.returncode
        assert 1 == len(done.stderr.splitlines())
        assert damaged.name in done.stderr


@pytest.mark.slow
def test_matches_that_the_disk_has_no_room_for_are_not_counted(tmp_path: Path) -> None:
    (match,), archive = write_matches(tmp_path / "mat", 1), tmp_path / "archive"
    # -B: bytecode would be kept with its end missing, and no later program could load it.
    command = f"{sys.executable} -B -m fibsbot archive add {match} --archive {archive} --jobs 1"
    ended = subprocess.run(
        ["sh", "-c", f"ulimit -f 2; exec {command}"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert 2 == ended.returncode
    assert ended.stdout.startswith(f"{archive}: 0 matches added (0 decisions), 0 known; 1 file")
    assert re.fullmatch(r'fibsbot: Could not write file ".*\.part": File too large\n', ended.stderr)
    assert (1, 0) == ((result := add(archive, match)).new, result.known)


@pytest.mark.slow
def test_while_somebody_reads_files_are_not_merged(tmp_path: Path) -> None:
    paths = write_matches(tmp_path / "mat", 2, length=1)
    add(tmp_path / "archive", paths[0])
    with open_archive(tmp_path / "archive") as found:
        add(tmp_path / "archive", paths[1])
        assert 1 <= len(found.rows("SELECT * FROM matches")) <= 2
    assert 2 == count(tmp_path / "archive")


def test_only_one_process_writes(tmp_path: Path) -> None:
    with Dataset.open(tmp_path / "archive"), pytest.raises(ArchiveError, match="another process"):
        add(tmp_path / "archive")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear...")
    with pytest.raises(ArchiveError, match="expected an archive or an empty folder"):
        add(tmp_path)
    assert {"letter.txt", ".lock"} >= {path.name for path in tmp_path.iterdir()}


WHEN = "TIMESTAMP '2026-01-02 03:04:05'"


def make_version_1(archive: Path) -> None:
    """Take out of an archive what later versions have added."""
    for table in TABLES.values():
        kept = [f'"{it.name}"' for it in table.columns if it.since == 1]
        columns = ", ".join(kept + [f'{WHEN} AS "at"'] * (table.name == "decisions"))
        for path in (archive / table.name).rglob("*.parquet"):
            old = path.with_suffix(".old")
            source = f"read_parquet('{path}', hive_partitioning = false)"
            connect().execute(f"COPY (SELECT {columns} FROM {source}) TO '{old}' (FORMAT parquet)")
            old.replace(path)
    (archive / "archive.json").write_text('{"fibsbot_archive": 1}')


@pytest.mark.slow
def test_an_archive_of_an_older_version_is_read_and_added_to(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    old, new = write_matches(tmp_path / "mat", 2, length=1)
    before = add(archive, old).decisions
    make_version_1(archive)
    with open_archive(archive) as found:
        assert [(before, 0)] == found.rows("SELECT count(*), count(stage) FROM decisions")
        assert [(before,)] == found.rows(f"SELECT count(*) FROM decisions WHERE decided = {WHEN}")
        assert [] == found.rows("SELECT settled FROM judgements")
    assert (0, 1) == (add(archive, old).new, add(archive, new).new)
    assert '{"fibsbot_archive": 4}\n' == (archive / "archive.json").read_text()
    with open_archive(archive) as found:  # the files of both versions together
        assert [(before,)] == found.rows(f"SELECT count(*) FROM decisions WHERE decided = {WHEN}")
    with open_archive(archive) as found:
        ((decisions, offers, stages),) = found.rows(
            "SELECT count(*), count(*) FILTER (kind IN ('resign', 'accept')), count(stage) FROM decisions"
        )
    assert before < decisions
    assert stages <= offers


def test_an_archive_of_another_version_is_refused(tmp_path: Path) -> None:
    add(tmp_path / "archive")
    (tmp_path / "archive" / "archive.json").write_text('{"fibsbot_archive": 99}')
    with pytest.raises(ArchiveError, match="version 1 to 4, got version 99"), open_archive(tmp_path / "archive"):
        pass
    shutil.rmtree(tmp_path / "archive")
    with pytest.raises(ArchiveError, match="found none"), open_archive(tmp_path / "archive"):
        pass


@pytest.mark.parametrize("content", ["[" * 10_000, '{"fibsbot_archive": ' + "1" * 5_000 + "}", "\xff", "no JSON"])
def test_a_damaged_description_of_an_archive_is_one_clear_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "archive.json").write_text(content, encoding="latin-1")
    with pytest.raises(ArchiveError) as caught, open_archive(tmp_path / "archive"):
        pass
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_members_of_a_zip_file_that_would_fill_the_memory_are_refused_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("one", "two"):
            with packed.open(f"{name}.mat", "w") as file:
                for _ in range(20):
                    file.write(bytes(1 << 20))
        packed.writestr("match.mat", "nothing")
    tracemalloc.start()
    try:
        found = list(sources_of([path]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    refused = "expected at most 256 MiB, and at most 200 times the packed size, got more"
    assert [refused, refused, ""] == [it.problem for it in found if it.name]
