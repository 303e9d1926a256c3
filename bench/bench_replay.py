"""Speed and memory of replaying captures, compared with only splitting and parsing their lines.

Usage: bench_replay.py [--sizes MB,MB] [--gigabyte] [--folder FILES]

A recorded session is repeated, each time with other names and later times, until the file has the wanted size: once as
a session log, once as the raw bytes that the server sent. It holds games and hardly anything else, so that there are
more decisions in a megabyte than in most captures. Every figure comes from a process of its own, all on the same files
in the same run; seconds are those of the processor, so that other work on the machine does not count. What nobody can
beat is `bytes.splitlines`, which finds the lines; the parser of the protocol makes messages of them; what comes on top
is the tracking, the rules, and the text.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from attrs import asdict, frozen
from rich.console import Console
from rich.table import Table

from fibs_protocol.stream import MessageReader
from fibsbot.cli import GC_THRESHOLD
from fibsbot.formats import CHUNK
from fibsbot.replay.batch import ReplayTask, replay_all, replay_source
from fibsbot.replay.match_files import ReplaySource, find_sources
from fibsbot.workers.pool import LocalPool

SESSION: Final = Path(__file__).parent.parent / "tests" / "data" / "bot" / "tigergammon.jsonl"
NAMES: Final = (b"bot_a", b"foe_a")
"""Names of the players in it."""
TIME: Final = re.compile(rb'"time": "([^"]+)"')
SIZES: Final = (10, 200)
"""Megabytes: memory has to be the same for both."""


@frozen
class Measured:
    """Measurements of one process."""

    seconds: float
    """Processor time, in seconds."""
    decisions: int
    peak: int
    """Peak memory, in bytes."""


# -- captures -------------------------------------------------------------------------------------------------------


def sessions() -> Iterator[bytes]:
    """Yield the recorded session repeatedly, each time a day later and with other players."""
    pieces = TIME.split(SESSION.read_bytes())
    times = [dt.datetime.fromisoformat(it.decode()) for it in pieces[1::2]]
    for number in range(10**6):
        letters = "".join(chr(97 + number // 26**place % 26) for place in range(3)).encode()
        later = dt.timedelta(minutes=10 * number)
        pieces[1::2] = [b'"time": "%s"' % (it + later).isoformat().encode() for it in times]
        session = b"".join(pieces)
        for name in NAMES:
            session = session.replace(name, name[:3] + letters)
        yield session


def received(session: bytes) -> bytes:
    """Return only the bytes that the server sent."""
    records = map(json.loads, session.splitlines())
    return b"".join(it["received"].encode("latin-1") for it in records if "received" in it)


def make(path: Path, megabytes: float, form: Callable[[bytes], bytes]) -> None:
    """Write a capture of this size."""
    with path.open("wb") as file:
        left = megabytes * 1e6
        for session in map(form, sessions()):
            file.write(session)
            left -= len(session)
            if left <= 0:
                return


# -- what is measured -----------------------------------------------------------------------------------------------


def split(path: Path) -> int:
    """Split into lines only."""
    rest = b""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            *_, rest = (rest + chunk).splitlines(keepends=True)
    return 0


def parse(path: Path) -> int:
    """Parse the messages of a capture or of a session log."""
    reader = MessageReader()
    with path.open("rb") as file:
        logged = path.suffix == ".jsonl"
        for data in map(received, file) if logged else iter(lambda: file.read(CHUNK), b""):
            if data:
                reader.receive_data(data)
            while reader.next_message():
                pass
    return 0


def replayed(path: Path, task: ReplayTask) -> int:
    """Replay, and discard the text."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        return replay_source(ReplaySource((path,)), task, nowhere.write, lambda _: None).counts.decisions


WORKS: Final[dict[str, Callable[[Path], int]]] = {
    "bytes.splitlines": split,
    "the protocol's parser": parse,
    "replay -q": lambda path: replayed(path, ReplayTask(quiet=True)),
    "replay > list": lambda path: replayed(path, ReplayTask()),
    "replay --json": lambda path: replayed(path, ReplayTask(as_json=True)),
}
FEW: Final = ("the protocol's parser", "replay --json")
"""Benchmarks that also run on the larger captures."""
Results: TypeAlias = dict[str, Measured]


def measure(name: str, path: Path) -> Measured:
    """Run one benchmark in a process of its own."""
    command = [sys.executable, __file__, "--child", name, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - ourselves
    return Measured(**json.loads(done.stdout))


def child(name: str, path: Path) -> None:
    """Run one benchmark, and print its measurements."""
    gc.set_threshold(GC_THRESHOLD)  # as the command line does
    began = time.process_time()
    decisions = WORKS[name](path)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(asdict(Measured(seconds, decisions, peak))))


# -- tables ---------------------------------------------------------------------------------------------------------


def compare(path: Path, works: Iterable[str], title: str, console: Console) -> Results:
    """Run benchmarks on one capture, and print the measurements."""
    table = Table(title=title, title_justify="left")
    for name in ("", "seconds", "MB/s", "x parser", "decisions/s", "peak MiB"):
        table.add_column(name, justify="right" if name else "left")
    results = {name: measure(name, path) for name in works}
    parser = results["the protocol's parser"].seconds
    for name, it in results.items():
        size = path.stat().st_size / 1e6
        speed = f"{it.decisions / it.seconds:,.0f}" if it.decisions else ""
        row = (f"{it.seconds:.2f}", f"{size / it.seconds:.1f}", f"{it.seconds / parser:.2f}", speed)
        table.add_row(name, *row, f"{it.peak / 2**20:.0f}")
    console.print(table)
    return results


def folder(path: Path, files: int, console: Console) -> None:
    """Replay a directory with one process and with one per core."""
    place = path / "folder"
    place.mkdir()
    for number in range(files):
        make(place / f"{number}.txt", 1, received)
    seconds = {}
    for jobs in (1, os.cpu_count() or 1):
        began = time.perf_counter()
        sources = find_sources([place])
        for _ in replay_all(sources, ReplayTask(quiet=True), lambda _: None, lambda _: None, LocalPool(jobs)):
            pass
        seconds[jobs] = time.perf_counter() - began
    for jobs, took in seconds.items():
        console.print(f"{files} files of 1 MB, {jobs} processes: {took:.1f} s, {seconds[1] / took:.2f} x one")


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description="How fast captures are replayed, and in how much memory.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="megabytes of the captures")
    parser.add_argument("--gigabyte", action="store_true", help="one of 1,000 MB too")
    parser.add_argument("--folder", type=int, default=16, help="files of a folder that is replayed on all cores")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], Path(options.child[1]))
        return
    console = Console()
    sizes = [float(it) for it in options.sizes.split(",")] + [1000.0] * options.gigabyte
    with tempfile.TemporaryDirectory() as directory:
        for title, suffix, form in (("raw capture", ".txt", received), ("session log", ".jsonl", bytes)):
            peaks: list[int] = []
            for size in sizes:
                path = Path(directory) / f"capture{suffix}"
                make(path, size, form)
                works = FEW if peaks else WORKS
                peaks.append(compare(path, works, f"{title}, {size:g} MB", console)["replay --json"].peak)
                path.unlink()
            ratios = ", ".join(f"{size:g} MB {peak / peaks[0]:.2f}" for size, peak in zip(sizes, peaks, strict=True))
            console.print(f"Peak memory against that of {sizes[0]:g} MB: {ratios}\n")
        if options.folder:
            folder(Path(directory), options.folder, console)


if __name__ == "__main__":
    main()
