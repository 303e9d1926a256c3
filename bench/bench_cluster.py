"""A Dask cluster on this machine: speed beside local processes, the same bytes whatever dies, 256 simulated workers.

Usage: bench_cluster.py speed [--repetitions N] [--pieces N]
       bench_cluster.py bytes [--kills N] [--seed N]
       bench_cluster.py scale [--workers N] [--seconds S,S] [--lasting S]

`speed` plays blocks of a rollout with the engine: one worker, two workers and two local processes in turn, so that
other work on the machine meets all of them alike. The clock of the local pool starts when each process has loaded the
engine; the workers have loaded it before. `bytes` analyses matches and rolls out plays in this process, in two
processes, with two workers, and with two workers while workers and scheduler are killed at random times (SIGKILL; the
scheduler is started again), and compares the results byte by byte. `scale` runs workers whose pieces only sleep, many
in one process, on a real scheduler.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import importlib
import multiprocessing
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.analysis.match_analysis import analyse_matches
from fibsbot.cli.engine import with_roll
from fibsbot.cli.positions import read_state
from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout import Candidate, RolloutPlan, play_candidates
from fibsbot.engine.rollout.driver import BlockSettings, play_block, play_blocks
from fibsbot.notation import format_play
from fibsbot.workers import cluster_worker
from fibsbot.workers.opening import open_pool
from fibsbot.workers.pool import InProcessPool, LocalPool, Piece, PoolProgress, WorkerPool

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.formats.simulated_matches import simulate
from tests.workers.conftest import Cluster, running_cluster

psutil: Any = importlib.import_module("psutil")  # comes with the extra; without types
OPENING: Final = "4HPwATDgc/ABMA"
PLAYS: Final = 3
TRUNCATED: Final = 11
RESULT_SIZE: Final = 4_000
"""Bytes of a simulated result, as of a match that was analysed."""
SIMULATORS: Final = 2
"""Processes in which simulated workers run."""


def candidates(roll: str) -> tuple[Candidate, ...]:
    """Return the best plays of an opening roll."""
    state = with_roll(read_state(OPENING), roll)
    plays = [it.play for it in Engine.load().rank(state).plays[:PLAYS]]
    return play_candidates(state, plays, [format_play(it, state.position) for it in plays])


# -- speed ------------------------------------------------------------------------------------------------------------


@frozen
class Speed:
    """How fast pieces were done."""

    per_second: float
    """By the clock."""
    per_cpu_second: float
    """By the processor time of all processes that took part, the client too."""


def cpu_seconds(cluster: Cluster | None) -> float:
    """Return the processor time of this process, and of a cluster or the local workers."""
    tops = [it.pid for it in cluster.processes] if cluster else [it.pid for it in multiprocessing.active_children()]
    total = time.process_time()
    for top in tops:
        with contextlib.suppress(psutil.Error):
            for process in (psutil.Process(top), *psutil.Process(top).children(recursive=True)):
                times = process.cpu_times()
                total += times.user + times.system
    return total


def measure(pool: WorkerPool, settings: BlockSettings, pieces: int, cluster: Cluster | None) -> Speed:
    """Play blocks and return how fast that was, without the time in which processes start."""
    unclocked = 0 if cluster else 2 * pool.size
    numbers = (Piece(f"block {number}", number) for number in range(pieces + unclocked))
    started, cpu, done = time.perf_counter(), cpu_seconds(cluster), 0
    with contextlib.closing(pool.run(play_block, numbers, shared=settings, ordered=False)) as played:
        for _ in played:
            done += 1
            if done == unclocked:
                started, cpu = time.perf_counter(), cpu_seconds(cluster)
            if done == pieces + unclocked:
                return Speed(pieces / (time.perf_counter() - started), pieces / (cpu_seconds(cluster) - cpu))
    raise AssertionError(done)


def speed(repetitions: int, pieces: int) -> None:
    """Compare one worker, two workers and two local processes."""
    settings = BlockSettings(Engine.load, candidates("32"), RolloutPlan(truncated=TRUNCATED))
    with contextlib.ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        ways: dict[str, tuple[WorkerPool, Cluster | None]] = {}
        for count, name in ((1, "one worker"), (2, "two workers")):
            (folder / str(count)).mkdir()
            running = held.enter_context(running_cluster(folder / str(count), count))
            pool = held.enter_context(open_pool(running.address))
            for _ in range(2):
                measure(pool, settings, 6 * count, running)  # loads the engine
            ways[name] = pool, running
        ways["two processes"] = LocalPool(2), None
        found: dict[str, list[Speed]] = {name: [] for name in ways}
        for repetition in range(repetitions):
            for name, (pool, cluster) in ways.items():
                found[name].append(measure(pool, settings, pieces, cluster))
                latest = found[name][-1]
                note = f"{latest.per_second:.2f} pieces/s, {latest.per_cpu_second:.2f} per second of the processor"
                print(f"{repetition + 1}. {name:15}{note}  (load {os.getloadavg()[0]:.1f})", flush=True)
    one, two, local = (found[name] for name in ways)
    for what, over, asked in (("one worker", one, 1.85), ("two processes", local, 0.9)):
        ratios = [mine.per_second / theirs.per_second for mine, theirs in zip(two, over, strict=True)]
        middle = statistics.median(ratios)
        share = statistics.median(
            mine.per_cpu_second / theirs.per_cpu_second for mine, theirs in zip(two, over, strict=True)
        )
        listed = ", ".join(f"{it:.2f}" for it in ratios)
        print(f"two workers / {what}: {middle:.2f} (asked {asked}; {listed}); per second of the processor {share:.3f}")


# -- the same bytes ---------------------------------------------------------------------------------------------------


def work(pool: WorkerPool, blocks: int, ticks: Iterator[object]) -> bytes:
    """Return the results of an analysis and of a rollout; `ticks` is advanced with each piece."""
    matches = [simulate(seed, 3, games=3) for seed in (11, 12, 13)]
    matches = [
        evolve(it, games=tuple(evolve(game, entries=game.entries[:48], result=None) for game in it.games))
        for it in matches
    ]
    analyses = analyse_matches(matches, "engine:0", pool=pool, tick=lambda *_: next(ticks))
    found = [repr(it).encode() for it in analyses]
    plan = RolloutPlan(truncated=TRUNCATED)
    played = dict[int, Any]()
    for number, trials in play_blocks(Engine.load, candidates("43"), plan, range(blocks), pool):
        next(ticks)
        played[number] = trials
    found += [part.tobytes() for number in range(blocks) for part in played[number]]
    return b"".join(found)


def nothing() -> Iterator[None]:
    """Do nothing at each piece."""
    while True:
        yield None


@contextlib.contextmanager
def killer(cluster: Cluster, kills: int, chance: random.Random, struck: list[str]) -> Iterator[None]:
    """Kill workers and the scheduler at random times, and start the scheduler again."""
    over = threading.Event()

    def strike() -> None:
        while len(struck) < kills and not over.wait(chance.uniform(1.0, 6.0)):
            if chance.random() < 0.4:
                cluster.processes[0].kill()
                cluster.processes[0].wait()
                over.wait(chance.uniform(0.0, 2.0))
                cluster.processes.pop(0)
                cluster.start_scheduler()
                cluster.processes.insert(0, cluster.processes.pop())
                struck.append("scheduler")
            elif workers := cluster.worker_processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(workers), signal.SIGKILL)
                    struck.append("worker")

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def same_bytes(kills: int, seed: int) -> None:
    """Do the same work in all ways, and compare."""
    found: dict[str, bytes] = {}
    blocks = 24

    def note(name: str, result: bytes, more: str = "") -> None:
        found[name] = result
        print(f"{name:28}{len(result):,} bytes, sha256 {hashlib.sha256(result).hexdigest()[:16]}{more}", flush=True)

    note("this process", work(InProcessPool(), blocks, nothing()))
    note("two processes", work(LocalPool(2), blocks, nothing()))
    with (
        tempfile.TemporaryDirectory() as folder,
        running_cluster(Path(folder), 2) as cluster,
        open_pool(cluster.address) as pool,
    ):
        note("two workers", work(pool, blocks, nothing()))
        struck: list[str] = []
        runs = 0
        with killer(cluster, kills, random.Random(seed), struck):
            while len(struck) < kills:  # a fast machine is through before
                runs += 1
                name = f"two workers, killed, run {runs}"
                note(name, work(pool, blocks, nothing()), f"; killed so far: {len(struck)}")
        what = ", ".join(f"{struck.count(it)} times the {it}" for it in ("scheduler", "worker"))
        print(f"killed {what}; all {'the same' if len(set(found.values())) == 1 else 'DIFFERENT'}")
    sys.exit(len(set(found.values())) != 1)


# -- simulated workers ------------------------------------------------------------------------------------------------


def sleep(_: None, seconds: float) -> bytes:
    """Do nothing for some seconds, and return as much as an analysis does."""
    time.sleep(seconds)
    return os.urandom(RESULT_SIZE)


def simulate_workers(address: str, count: int) -> None:
    """Run workers in this process until it is killed. Their pieces only sleep, so that they may do so together."""
    import distributed  # noqa: PLC0415 - an extra

    cluster_worker._at_work = contextlib.nullcontext()  # type: ignore[assignment]  # noqa: SLF001 - as many processes would

    async def run() -> None:
        workers = [
            distributed.Worker(
                address,
                nthreads=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                name=f"{os.getpid()}-{it}",
            )
            for it in range(count)
        ]
        await asyncio.gather(*workers)
        await asyncio.Event().wait()

    asyncio.run(run())


def scale(workers: int, durations: list[float], lasting: float) -> None:
    """Measure scheduler and client with many workers."""
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_cluster(Path(folder), 0) as cluster,
        contextlib.ExitStack() as held,
    ):
        scheduler = psutil.Process(cluster.processes[0].pid)
        for number in range(SIMULATORS):
            share = (workers + number) // SIMULATORS
            simulator = context.Process(target=simulate_workers, args=(cluster.address, share), daemon=True)
            simulator.start()
            held.callback(simulator.kill)
        with open_pool(cluster.address) as pool:
            while pool.size < workers:
                time.sleep(0.5)
            print(f"{workers} workers, scheduler {scheduler.memory_info().rss / 1e6:.0f} MB")
            for seconds in durations:
                one_duration(pool, scheduler, workers, seconds, lasting)


def one_duration(pool: WorkerPool, scheduler: Any, workers: int, seconds: float, lasting: float) -> None:
    """Measure with pieces of one duration."""

    def cpu() -> tuple[float, float]:
        return sum(scheduler.cpu_times()[:2]), time.process_time()

    pieces = round(workers * lasting / seconds)
    seen: list[PoolProgress] = []
    before, started = cpu(), time.perf_counter()
    run = pool.run(
        sleep,
        (Piece(f"piece {number}", seconds) for number in range(pieces)),
        ordered=False,
        on_progress=lambda it: seen.append(it) if it.done else None,
    )
    done = sum(1 for _ in run)
    elapsed = time.perf_counter() - started
    middle = [it for it in seen if 0.2 * pieces < it.done < 0.8 * pieces]
    steady = (middle[-1].done - middle[0].done) / (middle[-1].seconds - middle[0].seconds)
    ideal = workers / seconds
    spent = [after - was for after, was in zip(cpu(), before, strict=True)]
    print(
        f"{done:,} pieces of {seconds:g} s: {steady:.0f}/s in the middle of the run, {steady / ideal:.0%} of the ideal"
    )
    print(f"  over all of it {done / elapsed:.0f}/s; load {os.getloadavg()[0]:.1f}")
    for name, it in zip(("scheduler", "client"), spent, strict=True):
        print(f"  {name}: {1e3 * it / done:.2f} ms of the processor per piece, {it / elapsed:.0%} of a core")
    memory = [it.memory_info().rss / 1e6 for it in (scheduler, psutil.Process())]
    print(f"  memory: scheduler {memory[0]:.0f} MB, client {memory[1]:.0f} MB", flush=True)


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ways = parser.add_subparsers(dest="way", required=True)
    way = ways.add_parser("speed")
    way.add_argument("--repetitions", type=int, default=5)
    way.add_argument("--pieces", type=int, default=60)
    way = ways.add_parser("bytes")
    way.add_argument("--kills", type=int, default=10)
    way.add_argument("--seed", type=int, default=1)
    way = ways.add_parser("scale")
    way.add_argument("--workers", type=int, default=256)
    way.add_argument("--seconds", default="1,5")
    way.add_argument("--lasting", type=float, default=60.0, help="seconds of ideal work per duration")
    chosen = parser.parse_args()
    os.environ.update({"OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"})
    if chosen.way == "speed":
        speed(chosen.repetitions, chosen.pieces)
    elif chosen.way == "bytes":
        same_bytes(chosen.kills, chosen.seed)
    else:
        scale(chosen.workers, [float(it) for it in chosen.seconds.split(",")], chosen.lasting)


if __name__ == "__main__":
    main()
