"""An archive of matches: rates of adding and studying, memory, size on disk, and questions over millions of decisions.

Usage: bench_archive.py [MATCHES [PLIES2_MATCHES]]
       bench_archive.py --questions ARCHIVE [DECISIONS]

The matches are made by match_generator.py, to 1, 3, 5, 7 and 9 points. They are added and studied by the command line
with one worker process; rates are matches per second of the processor, of all processes together. The memory is the
largest of the client and of a worker.

With --questions a studied archive is asked; its rows are copied, under other keys, until it has that many DECISIONS.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.match_generator import generate_files
from fibsbot.archive import open_archive
from fibsbot.archive.dataset import connect, make_folder
from fibsbot.archive.questions import Questions
from fibsbot.archive.schema import DECISIONS, GAMES, JUDGEMENTS, MATCHES, PLAYERS

MATCHES_ADDED: Final = 200
SEARCHED: Final = 1
"""Matches that are studied at 2-ply."""
POLL: Final = 0.25
LIMIT: Final = 2.0
"""Seconds that a question over 10 million decisions may take on two cores."""
LARGEST_MEMORY: Final = 1000.0
"""Megabytes of a process."""


def run(*words: str) -> tuple[float, float, float]:
    """Run a command; return its processor time, the largest memory of its process and of one of its workers, in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "fibsbot", "archive", *words, "--jobs", "1"]
    process = subprocess.Popen(command)  # noqa: S603 - our own words
    client = worker = 0.0
    while process.poll() is None:
        client = max(client, memory(process.pid))
        worker = max([worker, *map(memory, children(process.pid))])
        time.sleep(POLL)
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, client, worker


def children(process: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    try:
        text = "".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    except OSError:
        return []
    return [it for child in map(int, text.split()) for it in (child, *children(child))]


def memory(process: int) -> float:
    """Return the resident memory of a process in MB; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def measure(matches: int, searched: int) -> None:
    """Generate, add, study and ask."""
    with tempfile.TemporaryDirectory(prefix="bench-archive-") as place:
        folder, archive = Path(place) / "matches", Path(place) / "archive"
        began = time.process_time()
        generate_files(matches, folder)
        print(f"generated: {matches / (time.process_time() - began):.0f} matches/s")
        for label, count, words in (
            ("added", matches, ("add", str(folder))),
            ("studied at 0-ply", matches, ("study",)),
            ("studied at 2-ply", searched, ("study", "--plies", "2", "--limit", str(searched))),
        ):
            seconds, client, worker = run(*words, "--archive", str(archive))
            print(f"{label}: {count / seconds:.2f} matches/s; client {client:.0f} MB, worker {worker:.0f} MB")
            assert max(client, worker) < LARGEST_MEMORY
        size = {it.name: sum(path.stat().st_size for path in it.rglob("*.parquet")) for it in archive.iterdir()}
        print("bytes per match:", {name: round(total / matches) for name, total in size.items() if total})
        ask(archive)


def multiplied(archive: Path, target: Path, decisions: int) -> None:
    """Copy the rows of an archive, under other keys, until there are so many decisions."""
    make_folder(target)
    connection = connect()
    connection.execute(f"SET temp_directory = '{target}/.tmp'")
    source = {it.name: f"read_parquet('{archive}/{it.name}/*/*.parquet', hive_partitioning = true)" for it in _COPIED}
    ((present,),) = connection.execute(f"SELECT count(*) FROM {source['decisions']}").fetchall()  # noqa: S608 - ours
    for copy in range(-(-decisions // present)):
        for table in _COPIED:
            columns = ", ".join(f'"{name}"' for name in table.column_names if name != "match")
            connection.execute(
                f"COPY (SELECT year, hash(match, {copy}) >> 1 AS match, {columns} FROM {source[table.name]} "  # noqa: S608 - ours
                f"ORDER BY year, match) TO '{target}/{table.name}' (FORMAT parquet, PARTITION_BY (year), APPEND, "
                "COMPRESSION zstd, COMPRESSION_LEVEL 3, PARQUET_VERSION v2)"
            )
    connection.close()


_COPIED: Final = (MATCHES, GAMES, DECISIONS, PLAYERS, JUDGEMENTS)


def ask(archive: Path) -> None:
    """Ask each ready question, and some in SQL; print the seconds of each."""
    with open_archive(archive) as found:
        ((decisions,),) = found.rows("SELECT count(*) FROM decisions")
        ((player,),) = found.rows("SELECT mode(player) FROM players")
        ((match,),) = found.rows("SELECT min(match) FROM matches")
        questions = Questions.of(found, pictures=False)
        asked: dict[str, Any] = {
            "openings": questions.openings,
            "profile": lambda: questions.profile(player),
            "takes": questions.takes,
            "luck": questions.luck,
            "blunders": lambda: questions.blunders(20),
            "similar ID": lambda: questions.similar("4HPwATDgc/ABMA", 20),
            "similar pattern": lambda: questions.similar("4 behind, 5-point held", 20),
            "PR by class": lambda: found.rows("SELECT class, avg(loss) FILTER (counts) FROM judgements GROUP BY 1"),
            "one match": lambda: found.rows(f"SELECT * FROM decisions WHERE match = {match}"),  # noqa: S608 - ours
            "join with matches": lambda: found.rows(
                "SELECT m.length, count(*) FROM decisions d JOIN matches m USING (match) GROUP BY 1"
            ),
        }
        print(f"questions over {decisions:,} decisions:")
        for name, question in asked.items():
            began, cpu = time.perf_counter(), time.process_time()
            question()
            seconds = time.perf_counter() - began
            print(f"  {name}: {seconds:.2f} s, processor {time.process_time() - cpu:.2f} s (limit {LIMIT:g} s)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--questions"]:
        if len(sys.argv) > 3:
            with tempfile.TemporaryDirectory(prefix="bench-archive-", dir=Path(sys.argv[2]).parent) as place:
                multiplied(Path(sys.argv[2]), Path(place) / "archive", int(sys.argv[3]))
                ask(Path(place) / "archive")
        else:
            ask(Path(sys.argv[2]))
    else:
        given = [int(it) for it in sys.argv[1:3]]
        measure(*[*given, *(MATCHES_ADDED, SEARCHED)[len(given) :]])
