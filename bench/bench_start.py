"""Start-up time of each command and of the protocol's package, compared with importing what nearly all of them need.

Usage: bench_start.py [--runs N] [COMMAND ...]

Each command prints its help, in a process of its own; `show` and `legal` also do their work. Seconds are those of the
processor, so that other work on the machine does not count, and of several runs the least counts. The floor is Python
that imports these packages and does nothing; a help text needs neither rich nor cattrs. The exit status is 1 if a
command is above its limit.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from fibsbot.cli import COMMANDS

PROTOCOL: Final = ("-c", "import fibs_protocol.grammar")
FLOOR: Final = ("-c", "import click, rich.console, attrs, cattrs")
POSITION: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
WORK: Final = {name: (name, POSITION) for name in ("legal", "show")}
"""Commands that are also measured at work, and what they get."""
LIMITS: Final = {
    **dict.fromkeys(("demo", "play", "replay", "run"), 3.0),
    **dict.fromkeys(("legal", "show", "legal XGID", "show XGID"), 2.2),
}
"""How many times as long as the floor a command may take: 0.25 and 0.18 s where the floor takes 0.083 s."""


def seconds(arguments: Sequence[str]) -> float:
    """Run Python once; return the time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)  # noqa: S603 - ourselves
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description="How long each command takes to start.")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command, of which the fastest counts")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="commands to measure; all by default")
    options = parser.parse_args()
    starts: dict[str, Sequence[str]] = {"the floor": FLOOR}
    chosen = options.commands or list(COMMANDS)
    if not options.commands:
        starts |= {"import attrs": ("-c", "import attrs"), "import fibs_protocol.grammar": PROTOCOL}
    starts |= {name: ("-m", "fibsbot", name, "--help") for name in chosen}
    starts |= {f"{name} XGID": ("-m", "fibsbot", *words) for name, words in WORK.items() if name in chosen}
    took = dict.fromkeys(starts, float("inf"))
    for _ in range(options.runs):  # one after the other, so that a busy minute spoils a run of each
        for name, arguments in starts.items():
            took[name] = min(took[name], seconds(arguments))
    table = Table(title="CPU seconds of --help, and of two commands at work", title_justify="left")
    for name in ("", "seconds", "x floor", "limit"):
        table.add_column(name, justify="right" if name else "left")
    above: list[str] = []
    for name, least in took.items():
        times, limit = least / took["the floor"], LIMITS.get(name)
        above += [name] if limit is not None and times > limit else []
        table.add_row(name, f"{least:.2f}", f"{times:.1f}", "" if limit is None else f"{limit:.1f}")
    Console().print(table)
    if above:
        sys.exit(f"above their limits: {', '.join(above)}")


if __name__ == "__main__":
    main()
