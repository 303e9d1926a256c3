"""The table in a terminal: from the command to the first board, and from a key to the frame that shows what it did.

Usage: python -m bench.bench_table_terminal [--runs N] [--keys N] [--size COLUMNSxLINES]

`fibsbot table --terminal` runs in a pseudo-terminal. The start goes from the command to the board; of several runs the
least counts, in seconds of the processor (those of the command alone) and of the clock. Keys move a checker and take it
back by turns, which the engine has no part in; the time goes from the key to the last byte of what is drawn. `cat` in
such a terminal shows how much of it is the machine's. The exit status is 1 if a figure is above its limit.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import resource
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

START: Final = 1.0
"""Seconds of the processor from the command to the first board."""
FRAME: Final = 50.0
"""Milliseconds from a key to its frame, of 99 in 100."""
OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
BOARD: Final = b"Your move."
SILENCE: Final = 0.06
"""Seconds without output after which a frame is complete."""
PATIENCE: Final = 60.0
"""Seconds after which a program that shows nothing has failed."""
WARM_UP: Final = 20
"""Keys that are not timed."""


@contextlib.contextmanager
def terminal(command: Sequence[str], size: tuple[int, int]) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a command in a terminal of so many columns and lines; yield its other end and the process."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(  # noqa: S603 - our own commands
        command, stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True
    )
    try:
        yield outer, process
    finally:
        process.kill()
        process.wait()
        os.close(outer)
        os.close(inner)


def table(folder: str) -> list[str]:
    """Return the command of a table at which the person has a play to make."""
    options = ("--level", "casual", "--output", folder, "--position", OPENING)
    return [sys.executable, "-m", "fibsbot", "table", "--terminal", *options]


def read_until(end: int, text: bytes) -> None:
    """Read until a text was shown."""
    shown = b""
    while text not in shown:
        if not select.select([end], [], [], PATIENCE)[0]:
            sys.exit(f"expected {text.decode()}, got {shown[-500:]!r}")
        shown += os.read(end, 2**16)


def processor_time() -> float:
    """Return the seconds of the processor that programs have taken which have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def start(folder: str, size: tuple[int, int]) -> tuple[float, float]:
    """Start a table and leave it; return seconds of the clock until the board, and of the processor altogether."""
    before, began = processor_time(), time.perf_counter()
    with terminal(table(folder), size) as (end, process):
        read_until(end, BOARD)
        took = time.perf_counter() - began
        while process.poll() is None:
            os.write(end, b"qy")
            if select.select([end], [], [], 0.1)[0]:
                os.read(end, 2**16)
    return took, processor_time() - before


def press(end: int, keys: Sequence[bytes], count: int) -> list[float]:
    """Press keys by turns; return the milliseconds from each to the last byte that it has drawn."""
    times = []
    for number in range(WARM_UP + count):
        began = last = time.perf_counter()
        os.write(end, keys[number % len(keys)])
        shown = False
        while select.select([end], [], [], SILENCE if shown else PATIENCE)[0]:
            os.read(end, 2**16)
            shown, last = True, time.perf_counter()
        if not shown:
            sys.exit("a key has drawn nothing")
        times.append(1000 * (last - began))
    return times[WARM_UP:]


def measure(runs: int, keys: int, size: tuple[int, int]) -> bool:
    """Measure and print; return whether every figure is within its limit."""
    with tempfile.TemporaryDirectory() as folder:
        starts = [start(folder, size) for _ in range(runs)]
        before = processor_time()
        with terminal(table(folder), size) as (end, _):
            read_until(end, BOARD)
            times = press(end, (b"\r", b"u"), keys)
        pressing = processor_time() - before
    with terminal(["cat"], size) as (end, _):
        tty.setraw(end)  # `cat` answers, not the terminal
        empty = press(end, (b"a", b"b"), keys)
    clock, processor = (min(column) for column in zip(*starts, strict=True))
    percentile, floor = (statistics.quantiles(one, n=100)[98] for one in (times, empty))
    each = 1000 * (pressing - processor) / (WARM_UP + keys)
    shown = Table(title=f"The table in a terminal of {size[0]}x{size[1]}", title_justify="left")
    for name in ("", "measured", "limit"):
        shown.add_column(name, justify="right" if name else "left")
    shown.add_row("command to first board, clock", f"{clock:.2f} s", "")
    shown.add_row("the same to its end, processor", f"{processor:.2f} s", f"{START:.0f} s")
    shown.add_row(f"key to frame, median of {keys}", f"{statistics.median(times):.1f} ms", "")
    shown.add_row("key to frame, 99 in 100", f"{percentile:.1f} ms", f"{FRAME:.0f} ms")
    shown.add_row("processor for each key", f"{each:.1f} ms", "")
    shown.add_row("key to answer of cat, median", f"{statistics.median(empty):.2f} ms", "")
    shown.add_row("key to answer of cat, 99 in 100", f"{floor:.2f} ms", "")
    Console().print(shown)
    return processor <= START and percentile <= FRAME


def size_of(text: str) -> tuple[int, int]:
    """Return the columns and lines that a text such as 80x24 names."""
    columns, lines = map(int, text.split("x"))
    return columns, lines


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description="How fast the table is in a terminal.")
    parser.add_argument("--runs", type=int, default=5, help="starts, of which the fastest counts")
    parser.add_argument("--keys", type=int, default=300, help="keys that are timed")
    parser.add_argument("--size", type=size_of, default=(80, 24), help="columns and lines, such as 200x60")
    options = parser.parse_args()
    if not measure(options.runs, options.keys, options.size):
        sys.exit("above its limit")


if __name__ == "__main__":
    main()
