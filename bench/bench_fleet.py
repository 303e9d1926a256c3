"""Many bots in one process: matches per minute, time from prompt to command, memory.

Three processes: the embedded server, the service with its bots, and another one with their opponents, so that time and
memory are the service's own. Every bot plays 1-point matches against an opponent of its own, one after the other.

The time of a decision counts from the moment at which the bytes that open it have been read to the moment at which its
command is written, or waits for the pause between two commands. What the strategy took of it is left out and told
apart, and so is the time that the decision waited because all strategies were at work for other bots.

The service remembers everything in a store, as where bots are left running, and with --logs in session logs too.

    python bench/bench_fleet.py [--bots 20] [--minutes 0.75] [--pause 0.2] [--json OUT]
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fibsbot.bot.settings import AgentSettings, PlaySettings, RunSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.config.settings import LogSettings
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.records.store import StoreWriter
from fibsbot.server.limits import ServerLimits
from fibsbot.server.server import Server
from fibsbot.service.account import Hooks
from fibsbot.service.settings import ServiceSettings
from fibsbot.service.supervisor import Supervisor
from fibsbot.strategies.loader import load
from fibsbot.strategies.pool import TimedAnswer

PASSWORD: Final = "benchmark"  # noqa: S105 - of accounts that live for this run
AIM: Final = 5.0
"""Milliseconds from prompt to command, without the strategy, in 99 of 100 decisions."""
UNHURRIED: Final = ServerLimits(commands_per_second=1e9, burst=10**6, password_cost=2**4)
"""No rate limit and cheap password hashes, because neither is measured here."""
WARM_UP: Final = 5.0
"""Seconds after the start that are not measured."""
BEHIND: Final = 10
"""Niceness of server and opponents, which in reality run on other machines than the service."""
NAP: Final = 0.01
"""Seconds that the sleeper sleeps."""
SAMPLE: Final = 5.0
"""Seconds between two measurements of the service."""
GOLDEN: Final = 0.618
"""Varies the bots' pauses by up to a fifth: bots that started together would otherwise act together forever."""
COUNTED: Final = ("refusals", "differences", "timeouts", "fallbacks", "interruptions")
"""Counters that should stay 0."""
TROUBLES: Final = frozenset(
    {"refused", "difference", "no_answer", "no_step", "fallback", "match_saved", "connection_lost"}
)
"""Records that should not occur."""
MARGIN: Final = 42
"""Width of the first column."""
EXAMPLES: Final = 20
"""Maximum number of different failures that are quoted."""


def name(number: int, *, opponent: bool = False) -> str:
    """Return a bot's name: letters only."""
    return ("foe_" if opponent else "bot_") + "".join(chr(97 + int(digit)) for digit in str(number))


# -- the processes --------------------------------------------------------------------------------------------------


def stand_back() -> None:
    """Lower the priority of this process, so that the service gets the processor first, also under chrt."""
    os.nice(BEHIND)
    if (policy := os.sched_getscheduler(0)) in (os.SCHED_FIFO, os.SCHED_RR):
        behind = os.sched_getparam(0).sched_priority - BEHIND
        os.sched_setscheduler(0, policy, os.sched_param(max(behind, os.sched_get_priority_min(policy))))


async def serve(bots: int) -> None:
    """Run the server: register all users, print the port, and end at the end of standard input."""
    configure_log(LogFormat.JSON, LogLevel.WARNING)
    async with Server(seed=1, limits=UNHURRIED) as server:
        for number in range(bots):
            await server.register(name(number), PASSWORD)
            await server.register(name(number, opponent=True), PASSWORD)
        print(server.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


class Times:
    """A histogram of times whose size does not grow with their number; its buckets are 1% wide."""

    def __init__(self) -> None:
        """Start empty."""
        self._buckets = array("Q", bytes(8 * 2000))
        self.count = 0

    def add(self, seconds: float) -> None:
        """Add a time, from a microsecond to some minutes."""
        bucket = int(100 * math.log(max(seconds, 1e-6) * 1e6))
        self._buckets[min(bucket, 1999)] += 1
        self.count += 1

    def quantile(self, share: float) -> float:
        """Return a quantile, in milliseconds."""
        left = share * self.count
        for bucket, count in enumerate(self._buckets):
            left -= count
            if left <= 0 and count:
                return math.exp((bucket + 1) / 100) / 1000
        return 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the summary that is printed."""
        return {title: round(self.quantile(share), 3) for title, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))}


@define
class Meter:
    """Measurements inside the service."""

    begins: float
    own: Times = field(factory=Times)
    """From prompt to command, without the strategy and the wait for it."""
    engine: Times = field(factory=Times)
    waited: Times = field(factory=Times)
    whole: Times = field(factory=Times)
    minute: Times = field(factory=Times)
    """As `own`, within the current minute."""
    minutes: list[float] = field(factory=list)
    """The p99 of `own` in each full minute, in milliseconds, which shows other load on the machine."""
    troubles: Counter[str] = field(factory=Counter)
    """Failures, in words, and their number."""

    def keep(self, _: str, record: str, fields: Mapping[str, Any], __: dt.datetime) -> None:
        """Count a record."""
        if record in TROUBLES and len(self.troubles) < EXAMPLES:
            facts = ", ".join(f"{key} {value}" for key, value in fields.items())
            self.troubles[re.sub(r"(bot|foe)_[a-j]+", r"\1", f"{record}: {facts}")] += 1

    def note(self, _: str, thought: TimedAnswer, seconds: float) -> None:
        """Count a decision."""
        now = time.monotonic()
        if now >= self.begins:
            if now >= self.begins + 60 * (len(self.minutes) + 1):
                self.minutes.append(round(self.minute.quantile(0.99), 3))
                self.minute = Times()
            self.minute.add(seconds - thought.seconds - thought.waited)
            self.own.add(seconds - thought.seconds - thought.waited)
            self.engine.add(thought.seconds)
            self.waited.add(thought.waited)
            self.whole.add(seconds)


def plans(port: int, options: argparse.Namespace) -> Iterator[RunSettings]:
    """Yield the accounts of this process; those of the service invite."""
    for number in range(options.bots):
        opponent = options.be == "opponents"
        pause = options.pause * (0.8 + 0.4 * (number * GOLDEN % 1))
        own, other = name(number, opponent=opponent), name(number, opponent=not opponent)
        agent = AgentSettings(
            own,
            PASSWORD,
            play=PlaySettings(options.strategy, invite=None if opponent else other, invite_length=options.length),
            timings=Timings(pause=pause, invitation=0.05, retry=5.0),
        )
        log = Path(options.folder) / f"{own}.jsonl" if options.logs and not opponent else None
        yield RunSettings(
            ServerSettings("127.0.0.1", port),
            agent,
            backoff=BackoffSettings(first=1.0),
            log_path=log,
            rotation=LogSettings().rotation,
        )


async def play(options: argparse.Namespace) -> None:
    """Run the service or the opponents: play, print a line of JSON every few seconds, end with standard input."""
    configure_log(LogFormat.JSON, LogLevel.WARNING)
    meter = Meter(time.monotonic() + WARM_UP)
    settings = ServiceSettings(store=None, control=None, thinkers=options.thinkers)
    store = StoreWriter(Path(options.folder) / "store.db") if options.be == "service" else None

    def keep(account: str, record: str, fields: Mapping[str, Any], at: dt.datetime) -> None:
        meter.keep(account, record, fields, at)
        if store:
            store.put(account, record, fields, at)

    hooks = Hooks(store_record=keep, on_decision=meter.note) if store else Hooks()
    supervisor = Supervisor(plans(options.port, options), settings, load, hooks=hooks)
    running = asyncio.create_task(supervisor.run())
    reading = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    while not running.done():
        await asyncio.wait({reading, running}, timeout=SAMPLE, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            break
        if store:  # nobody reads what the opponents say
            print(json.dumps(told(supervisor, meter, store)), flush=True)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    if store:
        store.close()


def told(supervisor: Supervisor, meter: Meter, store: StoreWriter | None) -> dict[str, Any]:
    """Return the service's own statistics."""
    statuses = supervisor.statuses()
    counters = {key: sum(getattr(status.counters, key) for status in statuses) for key in ("matches", "decisions")}
    troubles = {key: sum(getattr(status.counters, key) for status in statuses) for key in COUNTED}
    return {
        "at": time.monotonic(),
        "begun": time.monotonic() >= meter.begins,
        **counters,
        "measured": meter.own.count,
        "own_ms": meter.own.as_dict(),
        "own_p99_by_minute_ms": meter.minutes,
        "engine_ms": meter.engine.as_dict(),
        "waited_ms": meter.waited.as_dict(),
        "whole_ms": meter.whole.as_dict(),
        "errors": {
            **troubles,
            "crashes": sum(status.crashes for status in statuses),
            "reconnects": sum(status.reconnects for status in statuses),
            "lost records": store.lost if store else 0,
        },
        "troubles": dict(meter.troubles),
    }


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run this file as another process; it ends when its standard input does."""
    command = [sys.executable, __file__, *arguments]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this file
    try:
        yield child
    finally:
        try:
            child.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()


class Sleeper(threading.Thread):
    """Sleeps repeatedly and measures how late this machine wakes it: a lower bound for all other times."""

    def __init__(self) -> None:
        """Start with no measurements."""
        super().__init__(daemon=True)
        self.late = Times()
        self._over = threading.Event()

    def run(self) -> None:
        """Sleep and measure until cancelled."""
        while not self._over.is_set():
            due = time.monotonic() + NAP
            time.sleep(NAP)
            self.late.add(time.monotonic() - due)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def spent(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Return a process's resident memory in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


# -- measuring ------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace, bots: int, seconds: float, progress: Progress) -> dict[str, Any]:
    """Let a number of bots play for some time; return the measurements."""
    task = progress.add_task(f"{bots} bot{'s' * (bots != 1)}", total=seconds)
    shared = ["--bots", str(bots), "--length", str(options.length), "--strategy", options.strategy]
    with ExitStack() as stack:
        server = stack.enter_context(process("--be", "server", "--bots", str(bots)))
        port = ["--port", _line(server).strip()]
        opponents = ["--be", "opponents", *port, *shared, "--thinkers", "1", "--pause", str(options.pause)]
        stack.enter_context(process(*opponents))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet"))
        own = ["--thinkers", str(options.thinkers), "--pause", str(options.pause), "--folder", folder]
        own += ["--logs"] * options.logs
        service = stack.enter_context(process("--be", "service", *port, *shared, *own))
        sleeper = stack.enter_context(Sleeper())
        memory: list[tuple[float, float]] = []
        used = 0.0
        first: dict[str, Any] = {}
        last: dict[str, Any] = {}
        while not first or last["at"] - first["at"] < seconds:
            last = json.loads(_line(service))
            if last["begun"] and not first:
                first, used = last, spent(service.pid)
            if first:
                memory.append((round(last["at"] - first["at"], 1), round(resident(service.pid), 2)))
                progress.update(task, completed=last["at"] - first["at"])
        used = spent(service.pid) - used
    lasted = last["at"] - first["at"]
    return {
        **{key: last[key] for key in ("own_ms", "own_p99_by_minute_ms", "engine_ms", "waited_ms", "whole_ms")},
        **{key: last[key] for key in ("errors", "troubles")},
        "bots": bots,
        "seconds": round(lasted, 1),
        "matches": last["matches"] - first["matches"],
        "matches_a_minute": round(60 * (last["matches"] - first["matches"]) / lasted, 1),
        "decisions": last["decisions"] - first["decisions"],
        "measured": last["measured"],
        "processor_share": round(used / lasted, 3),
        "sleeper_ms": sleeper.late.as_dict(),
        "memory_mb": memory,
    }


def _line(child: subprocess.Popen[str]) -> str:
    line = child.stdout.readline() if child.stdout else ""
    if not line:
        raise SystemExit(f"a process has ended: {' '.join(map(str, child.args[2:4]))}")  # type: ignore[index]  # a list
    return line


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one bot alone, then all of them."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        one = run(options, 1, min(20.0, options.minutes * 20), progress)
        many = run(options, options.bots, options.minutes * 60, progress)
    extra = many["memory_mb"][-1][1] - one["memory_mb"][-1][1]
    return {
        "options": {key: getattr(options, key) for key in ("length", "strategy", "pause", "thinkers", "logs")},
        "one": one,
        "all": many,
        "memory_a_bot_mb": round(extra / max(options.bots - 1, 1), 3),
    }


def rows(result: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the table: name, value, and a value to compare with."""
    for run_of in (result["one"], result["all"]):
        bots = f"{run_of['bots']} bot{'s' * (run_of['bots'] != 1)}"
        own, engine = run_of["own_ms"], run_of["engine_ms"]
        played = f"{run_of['decisions']} decisions, {run_of['processor_share']:.0%} of a processor"
        whole, waited = run_of["whole_ms"], run_of["waited_ms"]
        yield f"{bots}: matches a minute", f"{run_of['matches_a_minute']:.0f}", played
        yield f"{bots}: prompt to command, median", f"{own['p50']:.2f} ms", f"strategy {engine['p50']:.2f} ms"
        late = f"this machine wakes a sleeper {run_of['sleeper_ms']['p99']:.2f} ms late"
        yield f"{bots}: prompt to command, p99", f"{own['p99']:.2f} ms", f"aim {AIM:.0f} ms; {late}"
        if minutes := run_of["own_p99_by_minute_ms"]:
            best = f"best {min(minutes):.2f} ms, worst {max(minutes):.2f} ms"
            yield f"{bots}: p99 of a minute, median", f"{median(minutes):.2f} ms", best
        yield (
            f"{bots}: with the strategy, p99",
            f"{whole['p99']:.2f} ms",
            f"strategy alone {engine['p99']:.2f} ms, wait for it {waited['p99']:.2f} ms",
        )
    memory = [megabytes for _, megabytes in result["all"]["memory_mb"]]
    yield "memory of the service", f"{memory[-1]:.1f} MB", f"at first {memory[0]:.1f} MB, most {max(memory):.1f} MB"
    yield "memory a bot", f"{result['memory_a_bot_mb']:.2f} MB", f"one alone {result['one']['memory_mb'][-1][1]:.1f} MB"
    troubles = {key: count for key, count in result["all"]["errors"].items() if count}
    yield "errors", str(sum(troubles.values())), ", ".join(f"{key} {count}" for key, count in troubles.items())
    for trouble, count in result["all"]["troubles"].items():
        yield f"  {trouble}"[:MARGIN], str(count), ""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=20, help="in the service; as many play against them")
    parser.add_argument("--minutes", type=float, default=0.75, help="that all of them play")
    parser.add_argument("--length", type=int, default=1, help="points of a match")
    parser.add_argument("--strategy", default="heuristic", help="who decides, on both sides")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two commands of a bot; 0 for no rest")
    parser.add_argument("--thinkers", type=int, default=2, help="decisions at the same time")
    parser.add_argument("--logs", action="store_true", help="write session logs too")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write everything that was measured to this file")
    parser.add_argument("--be", choices=("server", "opponents", "service"), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be:
        if options.be != "service":
            stand_back()
        asyncio.run(serve(options.bots) if options.be == "server" else play(options))
        return
    result = measure(options)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    for what, value, beside in rows(result):
        print(f"{what:<{MARGIN}} {value:>12}   {beside}".rstrip())


if __name__ == "__main__":
    main()
