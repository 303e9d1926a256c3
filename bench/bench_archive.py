"""An archive of matches: rates of adding and studying, memory, size on disk, and questions over millions of decisions.

Usage: bench_archive.py [--jobs N] [MATCHES [STUDIED [SEARCHED [FOLDER]]]]
       bench_archive.py --questions ARCHIVE [DECISIONS]

The matches are made by match_generator.py, to 1, 3, 5, 7 and 9 points. They are added by the command line ten thousand
at a time; then STUDIED of them are studied at 0-ply, by default all, and SEARCHED at 2-ply, by N worker processes (1).
Rates are matches per second of the processor, of all processes together; the memory is the largest of the client and of
a worker. In FOLDER the matches, the archive and what was measured are kept, and an interrupted run goes on.

At the end the archive is asked, as with --questions; its rows are copied, under other keys, until it has that many
DECISIONS, by default ten million for a run with FOLDER. To those copies a few matches are added, and they are studied:
the memory is that of a small one.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from attrs import asdict, define, field, frozen

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.match_generator import PACKED, generate_files
from fibsbot.archive import open_archive
from fibsbot.archive.dataset import FILE_ROWS, ArchiveError, connect, make_folder, source_of
from fibsbot.archive.questions import Questions
from fibsbot.archive.schema import DECISIONS, GAMES, JUDGEMENTS, MATCHES, PLAYERS

MATCHES_ADDED: Final = 200
SEARCHED: Final = 1
"""Matches that are studied at 2-ply."""
STEP: Final = 10_000
"""Matches that are added by one command."""
STUDIED_STEP: Final = 4_000
SEARCHED_STEP: Final = 100
MANY_DECISIONS: Final = 10_000_000
FEW: Final = 20
"""Matches that are added to a large archive and studied, for the memory that this takes."""
YEARS: Final = 3
"""Years in which matches are generated."""
POLL: Final = 0.25
LIMIT: Final = 2.0
"""Seconds that a question over 10 million decisions may take on two cores."""
LARGEST_MEMORY: Final = 1000.0
"""Megabytes of a process."""
MEASURED: Final = "measured.jsonl"


@frozen
class Measured:
    """What a command took."""

    work: str
    matches: int
    total: int
    """Matches after it."""
    decisions: int
    seconds: float
    """Of the processor, of all processes together."""
    client: float
    """Memory of the command, in megabytes."""
    worker: float
    """Memory of the worker."""

    def __str__(self) -> str:
        """Write one line."""
        return (
            f"{self.work} {self.matches:,} matches ({self.total:,} in all): {self.matches / self.seconds:.2f} matches "
            f"and {self.decisions / self.seconds:,.0f} decisions per second; client {self.client:.0f} MB, "
            f"worker {self.worker:.0f} MB"
        )


def run(*words: str) -> tuple[float, float, float]:
    """Run a command; return its processor time, the largest memory of its process and of one of its workers, in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "fibsbot", "archive", *words]
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
    """Return the largest resident memory of a process so far in MB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM:")), 0.0)


@define
class Bench:
    """A run in a folder."""

    place: Path
    jobs: int = 1
    measured: list[Measured] = field(factory=list)

    @property
    def archive(self) -> Path:
        """The archive."""
        return self.place / "archive"

    def __attrs_post_init__(self) -> None:
        """Read what an interrupted run has measured."""
        path = self.place / MEASURED
        for line in path.read_text().splitlines() if path.exists() else ():
            self.measured.append(Measured(**json.loads(line)))
            print(self.measured[-1])

    def counted(self, sql: str) -> tuple[int, int]:
        """Return a number of matches and one of decisions."""
        try:
            with open_archive(self.archive) as found:
                ((matches, decisions),) = found.rows(sql)
        except ArchiveError:
            return 0, 0
        return matches, decisions or 0

    def measure(self, work: str, sql: str, *words: str) -> None:
        """Run a command and keep what it took; `sql` counts the matches and decisions that it works on."""
        before = self.counted(sql)
        seconds, client, worker = run(*words, "--jobs", str(self.jobs), "--archive", str(self.archive))
        after = self.counted(sql)
        found = Measured(
            work, after[0] - before[0], after[0], after[1] - before[1], round(seconds, 1), round(client), round(worker)
        )
        self.measured.append(found)
        with (self.place / MEASURED).open("a") as file:
            file.write(json.dumps(asdict(found)) + "\n")
        print(found, flush=True)
        assert max(client, worker) < LARGEST_MEMORY

    def add(self, matches: int) -> None:
        """Generate and add matches."""
        while (present := self.counted(_ADDED)[0]) < matches:
            count = min(STEP, matches - present)
            files = generate_files(count, self.place / "matches", first=-(-present // PACKED))
            self.measure("added", _ADDED, "add", *map(str, files))

    def study(self, matches: int, plies: int, step: int) -> None:
        """Study matches."""
        sql = _STUDIED.format(plies)
        while (present := self.counted(sql)[0]) < matches:
            limit = str(min(step, matches - present))
            self.measure(f"studied at {plies}-ply", sql, "study", "--plies", str(plies), "--limit", limit)
            if self.measured[-1].matches == 0:
                break  # other networks had judged them before: what these judge is nothing new to count

    def summary(self) -> None:
        """Print rates and memory of the first and the last command of each kind, and the size on disk."""
        for work in dict.fromkeys(it.work for it in self.measured):
            found = [it for it in self.measured if it.work == work]
            seconds, matches = sum(it.seconds for it in found), sum(it.matches for it in found)
            first, last = found[0], found[-1]
            print(
                f"{work}: {matches:,} matches, {matches / seconds:.2f}/s, "
                f"{sum(it.decisions for it in found) / seconds:,.0f} decisions/s; memory of client and worker "
                f"{first.client:.0f} and {first.worker:.0f} MB up to {first.total:,} matches, {last.client:.0f} and "
                f"{last.worker:.0f} MB up to {last.total:,} (limit {LARGEST_MEMORY:g})"
            )
        added = self.counted(_ADDED)[0]
        judged = self.counted("SELECT count(DISTINCT (match, judge)), 0 FROM judgements")[0]
        size = {it.name: sum(path.stat().st_size for path in it.rglob("*.parquet")) for it in self.archive.iterdir()}
        each = {
            name: round(total / (judged if name == "judgements" else added)) for name, total in size.items() if total
        }
        print("bytes per match, and per match and judge:", each)


_ADDED: Final = "SELECT count(*), sum(decisions) FROM matches"
_STUDIED: Final = "SELECT count(DISTINCT match), count(*) FROM judgements WHERE plies = {}"


def measure(matches: int, studied: int, searched: int, place: Path, jobs: int) -> None:
    """Generate, add, study and ask."""
    bench = Bench(place, jobs)
    bench.add(matches)
    bench.study(studied, 0, STUDIED_STEP)
    bench.study(searched, 2, SEARCHED_STEP)
    bench.summary()


def multiplied(archive: Path, target: Path, decisions: int) -> None:
    """Copy the rows of an archive, under other keys, until there are so many decisions."""
    make_folder(target)
    connection = connect()
    connection.execute(f"SET temp_directory = '{target}/.tmp'")
    source = {it.name: source_of(connection, archive, it) for it in _COPIED}
    ((present,),) = connection.execute(f"SELECT count(*) FROM {source['decisions']}").fetchall()  # noqa: S608 - ours
    copies = -(-decisions // present)
    together = -(-YEARS * FILE_ROWS // present)  # files that are not merged any more
    for first in range(0, copies, together):
        last = min(first + together, copies)
        for table in _COPIED:
            columns = ", ".join(f'"{name}"' for name in table.column_names if name != "match")
            connection.execute(
                f"COPY (SELECT year, hash(match, copy) >> 1 AS match, {columns} FROM {source[table.name]} "  # noqa: S608 - ours
                f"CROSS JOIN range({first}, {last}) AS copies(copy) ORDER BY year, match) TO '{target}/{table.name}' "
                "(FORMAT parquet, PARTITION_BY (year), APPEND, COMPRESSION zstd, COMPRESSION_LEVEL 3, "
                "PARQUET_VERSION v2)"
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


def ask_many(archive: Path, decisions: int) -> None:
    """Ask an archive whose rows are copied until it has that many decisions, then add and study a few matches.

    One that has as many is asked as it is, and nothing is added.
    """
    with open_archive(archive) as found:
        ((present,),) = found.rows("SELECT count(*) FROM decisions")
    if present >= decisions:
        ask(archive)
        return
    with tempfile.TemporaryDirectory(prefix="bench-archive-", dir=archive.parent) as place:
        bench = Bench(Path(place))
        multiplied(archive, bench.archive, decisions)
        ask(bench.archive)
        present, _ = bench.counted(_ADDED)
        bench.add(present + FEW)
        bench.study(bench.counted(_STUDIED.format(0))[0] + FEW, 0, FEW)


def main(words: list[str]) -> None:
    """Do what the command line says."""
    if words[:1] == ["--questions"]:
        archive = Path(words[1])
        ask_many(archive, int(words[2])) if len(words) > 2 else ask(archive)
        return
    jobs = 1
    if words[:1] == ["--jobs"]:
        jobs, words = int(words[1]), words[2:]
    matches = int(words[0]) if words else MATCHES_ADDED
    studied = int(words[1]) if len(words) > 1 else matches
    searched = int(words[2]) if len(words) > 2 else SEARCHED
    if len(words) > 3:
        place = Path(words[3])
        place.mkdir(parents=True, exist_ok=True)
        measure(matches, studied, searched, place, jobs)
        ask_many(place / "archive", MANY_DECISIONS)
        return
    with tempfile.TemporaryDirectory(prefix="bench-archive-") as temporary:
        measure(matches, studied, searched, Path(temporary), jobs)
        ask(Path(temporary) / "archive")


if __name__ == "__main__":
    main(sys.argv[1:])
