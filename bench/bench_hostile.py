"""One bot against a hostile server: 10,000 connections, 100,000 lines, and matches on a real server in between.

What is measured: that the bot lives on and plays properly afterwards, what it said, what it wrote down, and how much
memory it takes at each stop. The hostile server is that of `tests/bot/test_hostile_server.py`.

    python bench/bench_hostile.py [--connections N] [--lines N] [--matches N] [--seed N]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from fibsbot.bot.runner import SessionResult

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.bot.hostility import Ordeal

CONNECTIONS: Final = 10_000
LINES: Final = 12
"""A connection, on average, but some connections end earlier: more than 100,000 in all."""


async def run(ordeal: Ordeal, connections: int, matches: int, log: Path) -> None:
    """Let the bot go through it, and say what became of it."""
    began = time.monotonic()
    result = await ordeal.run(connections, matches)
    report(ordeal, result, matches, log, time.monotonic() - began)


def report(ordeal: Ordeal, result: SessionResult, matches: int, log: Path, seconds: float) -> None:
    """Print what happened."""
    hostile, toll, counters = ordeal.hostile, ordeal.toll, result.counters
    rows = {
        "hostile connections": f"{hostile.connections:,}",
        "hostile lines": f"{hostile.lines:,} ({hostile.bytes / 2**20:.1f} MiB)",
        "messages read": f"{counters.messages:,}, {counters.unknown:,} unknown",
        "commands sent": f"{counters.commands:,}, {len(hostile.nonsense)} of them no commands",
        "decisions": f"{counters.decisions:,}",
        "questions waiting at once, at most": f"{toll.most_tasks}",
        "real matches finished": f"{toll.matches} of {matches}",
        "lines of the program's log": f"{toll.log_lines:,}",
        "session log": f"{sum(path.stat().st_size for path in log.parent.iterdir()) / 2**20:.1f} MiB",
        "memory at each stop": ", ".join(f"{mib:.0f}" for mib in toll.memory) + " MiB",
        "end": f"{result.end.value}: {result.reason}",
        "seconds": f"{seconds:.1f}",
    }
    table = Table(show_header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    console = Console()
    console.print(table)
    console.print("said to it:", ", ".join(f"{word} {count}" for word, count in hostile.heard.most_common()))
    console.print("noted:", ", ".join(f"{name} {count}" for name, count in ordeal.keeper.records.most_common()))
    if toll.matches != matches or hostile.nonsense:
        raise SystemExit(1)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="One bot against a hostile server.")
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--lines", type=int, default=LINES, help="on each connection, on average")
    parser.add_argument("--matches", type=int, default=5, help="on a real server, in between and at the end")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log" / "marvin.jsonl"
        asyncio.run(run(Ordeal(options.seed, log, options.lines), options.connections, options.matches, log))


if __name__ == "__main__":
    main()
