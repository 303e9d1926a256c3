"""One bot against a hostile server, and the embedded server against hostile clients.

The bot: 10,000 connections, 100,000 lines, and matches on a real server in between. What is measured: that the bot
lives on and plays properly afterwards, what it said, what it wrote down, and how much memory it takes at each stop. The
hostile server is that of `tests/bot/test_hostile_server.py`.

    python bench/bench_hostile.py [--connections N] [--lines N] [--matches N] [--seed N]
    python bench/bench_hostile.py --flood 300

The server: 300 clients send without end, some logged in, some guessing passwords, some without ever ending a line.
What an honest client waits for its answers is measured before and meanwhile, in the same run, and so is SIGTERM.

With `--lies N` no server is started: a bot with a store and a live page is fed N lines of made-up boards, throws and
plays. Printed is how long a line took: nothing else in the bot's process runs meanwhile.

    python bench/bench_hostile.py --lies 20000

With `--files` nothing is started either: match files of nonsense are read, of 50,000 characters and of four times as
many. Printed is the processor time; what takes four times as long grows as the file does.

    python bench/bench_hostile.py --files
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from fibsbot.bot.runner import SessionResult
from fibsbot.formats import FormatError
from fibsbot.formats.mat_reader import read_mats

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.flood import measure, percentile
from bench.lies import feed_lies
from tests.bot.hostile_server import HostileRun
from tests.formats.test_mat_reader import NONSENSE

CONNECTIONS: Final = 10_000
COMMANDS: Final = 60
"""Commands of the honest client, before and during the flood."""
LATENCY: Final = 100
"""Milliseconds of the server's processor time until nine of ten commands are answered during the flood."""
LOGGED_IN: Final = 5
"""Seconds of its processor time until a login is answered."""
STOPPED: Final = 3
"""Seconds of its processor time until it has ended."""
GROWTH: Final = 8
"""How many times as long four times as much nonsense may take; 4 if the time grows as the file does."""
LINES: Final = 12
"""Lines per connection, on average; some connections end earlier. More than 100,000 in all."""


async def run(hostile_run: HostileRun, connections: int, matches: int, log: Path) -> None:
    """Run the bot against the hostile server and print the results."""
    began = time.monotonic()
    result = await hostile_run.run(connections, matches)
    report(hostile_run, result, matches, log, time.monotonic() - began)


def report(hostile_run: HostileRun, result: SessionResult, matches: int, log: Path, seconds: float) -> None:
    """Print the results."""
    hostile, results, counters = hostile_run.hostile, hostile_run.results, result.counters
    rows = {
        "hostile connections": f"{hostile.connections:,}",
        "hostile lines": f"{hostile.lines:,} ({hostile.bytes / 2**20:.1f} MiB)",
        "messages read": f"{counters.messages:,}, {counters.unknown:,} unknown",
        "commands sent": f"{counters.commands:,}, {len(hostile.nonsense)} of them no commands",
        "decisions": f"{counters.decisions:,}",
        "questions waiting at once, at most": f"{results.most_tasks}",
        "real matches finished": f"{results.matches} of {matches}",
        "lines of the program's log": f"{results.log_lines:,}",
        "session log": f"{sum(path.stat().st_size for path in log.parent.iterdir()) / 2**20:.1f} MiB",
        "memory at each stop": ", ".join(f"{mib:.0f}" for mib in results.memory) + " MiB",
        "end": f"{result.end.value}: {result.reason}",
        "seconds": f"{seconds:.1f}",
    }
    table = Table(show_header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    console = Console()
    console.print(table)
    console.print("said to it:", ", ".join(f"{word} {count}" for word, count in hostile.heard.most_common()))
    console.print(
        "noted:", ", ".join(f"{name} {count}" for name, count in hostile_run.record_counter.records.most_common())
    )
    if results.matches != matches or hostile.nonsense:
        raise SystemExit(1)


def report_flood(clients: int) -> None:
    """Flood the embedded server, and print the response times of an honest client."""
    flooded = measure(clients, COMMANDS)
    table = Table("processor time of the server, ms", "quiet", f"{clients} flooding", "limit")
    for title, share in (("command to answer, median", 0.5), ("command to answer, p90", 0.9)):
        before, meanwhile = (1000 * percentile(seen, share) for seen in (flooded.quiet, flooded.flooded))
        table.add_row(title, f"{before:.2f}", f"{meanwhile:.1f}", f"{LATENCY}")
    table.add_row("login", "", f"{1000 * flooded.login:.0f}", f"{1000 * LOGGED_IN}")
    table.add_row("SIGTERM to the end", "", f"{1000 * flooded.stop:.0f}", f"{1000 * STOPPED}")
    Console().print(table)
    slow = 1000 * percentile(flooded.flooded, 0.9) > LATENCY or flooded.login > LOGGED_IN or flooded.stop > STOPPED
    if slow:
        raise SystemExit(1)


def seconds_to_read(text: str) -> float:
    """Return the processor time to read a match file, or to refuse it: the best of three."""
    best = math.inf
    for _ in range(3):
        began = time.process_time()
        with contextlib.suppress(FormatError):
            read_mats(text)
        best = min(best, time.process_time() - began)
    return best


def report_files() -> None:
    """Print how long match files of nonsense take, each in two sizes."""
    table = Table("repeated", "50,000 characters, ms", "200,000", "ratio", "limit")
    growths = []
    for piece in NONSENSE:
        small, large = (
            seconds_to_read(" 3 point match\n Game 1\n" + piece * (size // len(piece))) for size in (50_000, 200_000)
        )
        growths.append(large / small)
        table.add_row(repr(piece), f"{1000 * small:.1f}", f"{1000 * large:.1f}", f"{growths[-1]:.1f}", f"{GROWTH}")
    Console().print(table)
    if max(growths) > GROWTH:
        raise SystemExit(1)


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(
        description="One bot against a hostile server; the server against hostile clients."
    )
    parser.add_argument("--flood", type=int, metavar="N", help="flood the embedded server with N clients instead")
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--lines", type=int, default=LINES, help="on each connection, on average")
    parser.add_argument("--matches", type=int, default=5, help="on a real server, in between and at the end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lies", type=int, default=0, metavar="LINES", help="feed so many made-up lines to a bot")
    parser.add_argument("--files", action="store_true", help="read match files of nonsense instead")
    options = parser.parse_args()
    if options.flood:
        report_flood(options.flood)
        return
    if options.files:
        report_files()
        return
    if options.lies:
        asyncio.run(feed_lies(options.seed, options.lies))
        return
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log" / "marvin.jsonl"
        asyncio.run(run(HostileRun(options.seed, log, options.lines), options.connections, options.matches, log))


if __name__ == "__main__":
    main()
