"""Speed of the engine's parts on one core, compared with gnubg's evaluations in the same run, and start-up times.

Usage: bench_engine.py [FOLDER]

FOLDER has networks (those that come along, if no other); where there are none, networks of random weights and the usual
shapes stand for them, which are as fast. Figures a second are of the processor's time, so that other work on the
machine counts little; the best of some runs. Starts are of the clock, each the best of some, the engine's first with
nothing compiled and then from what was kept: these need an idle core.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


import numpy as np

from fibsbot.engine import code_cache
from fibsbot.engine.arrays import Board, Boards, boards_of
from fibsbot.engine.engine import CARDS, CONTACT, NETWORKS_FOLDER, PRUNER, load_networks
from fibsbot.engine.features import encode_all
from fibsbot.engine.game_plans import networks_of
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network
from fibsbot.engine.pruner import Pruner, pruner_equity, raw_columns
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, quantize
from fibsbot.engine.training.random_positions import Variety, play_positions
from fibsbot.engine.training.td_network import TDBuffers, TDNetwork, new_td_buffers, new_td_network, value
from fibsbot.position import Position
from tests.engine.perft import perft

GNUBG: Final = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
ROUNDS: Final = 400
"""Rounds of gnubg's `calibrate`, of EVALUATIONS each."""
EVALUATIONS: Final = 1024
BOARDS: Final = 20_000
REPEATS: Final = 5
STARTS: Final = 5
OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


@compiled
def prune_all(pruner: Pruner, boards: Boards) -> float:
    """Evaluate boards in batches, as search and labelling do."""
    total = 0.0
    for row in range(boards.shape[0]):
        total += pruner_equity(pruner, boards[row])
    return total


@compiled
def value_all(student: TDNetwork, desk: TDBuffers, boards: Boards) -> float:
    """Evaluate boards one after the other, as TD self-play does."""
    total = 0.0
    for row in range(boards.shape[0]):
        total += value(student, desk, boards[row])
    return total


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the smallest processor time of several runs."""
    return min(timeit.repeat(work, timer=time.process_time, repeat=repeats, number=1))


def in_batches(network: QuantizedNetwork, inputs: np.ndarray[tuple[int, int], np.dtype[np.float32]], size: int) -> None:
    """Evaluate inputs in batches of this size."""
    for first in range(0, len(inputs), size):
        output_sums(network, inputs[first : first + size])


def gnubg_rate() -> float:
    """Return gnubg's static evaluations per second of processor time, without its start."""
    return (ROUNDS - 1) * EVALUATIONS / (_gnubg_seconds(ROUNDS) - _gnubg_seconds(1))


def _of_children() -> float:
    """Return the processor time of all child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _gnubg_seconds(rounds: int) -> float:
    assert GNUBG is not None
    before = _of_children()
    commands = f"set threads 1\ncalibrate {rounds}\nquit\n"
    done = subprocess.run([GNUBG, "-t", "-q"], input=commands, capture_output=True, text=True, timeout=120, check=True)  # noqa: S603 - our own words
    assert re.search(r"static evaluations/second", done.stdout), done.stdout
    return _of_children() - before


def rates(folder: Path) -> None:
    """Measure and print the rates of all parts per second."""
    networks = load_networks(folder)
    start: Board = boards_of([Position.start()])[0]
    perft(start, 1)
    print(f"{'generator, perft 3':34}{116_154_993 / seconds(partial(perft, start, 3), 2) / 1e6:8.2f} M positions/s")
    boards = play_positions(networks.pruner, BOARDS, Variety(), 1)
    inputs = encode_all(boards)
    integers = quantize(networks_of(networks.contact)[0])
    student = new_td_network(128, 1)
    works: dict[str, Callable[[], object]] = {
        "inputs": partial(encode_all, boards),
        f"pruner, {len(networks.pruner.hidden)} hidden": partial(prune_all, networks.pruner, boards),
        "student, 128 hidden, with inputs": partial(value_all, student, new_td_buffers(student), boards),
        **{
            f"{networks.contact.shape}, by {size}": partial(in_batches, integers, inputs, size)
            for size in (16, 64, 512)
        },
        "the same with inputs, by 512": lambda: output_sums(integers, encode_all(boards)),
    }
    gnubg = gnubg_rate() if GNUBG else None
    for name, work in works.items():
        work()
        rate = BOARDS / seconds(work)
        beside = f"{rate / gnubg:8.2f} x gnubg" if gnubg else ""
        print(f"{name:34}{rate / 1e3:8.0f} k positions/s{beside}")
    print(f"{'gnubg, with inputs':34}{gnubg / 1e3:8.0f} k positions/s" if gnubg else "gnubg is not installed")


def begin(*arguments: str, cache: Path | None = None) -> float:
    """Return the seconds that a command takes."""
    environment = {**os.environ, **({code_cache.FOLDER_VARIABLE: str(cache)} if cache else {})}
    begun = time.perf_counter()
    command = [sys.executable, "-m", "fibsbot", *arguments]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=300, check=True)  # noqa: S603 - our own words
    return time.perf_counter() - begun


def starts(folder: Path) -> None:
    """Measure and print the response times of commands."""
    for arguments in (("--help",), ("show", OPENING), ("legal", OPENING)):
        least = min(begin(*arguments) for _ in range(STARTS))
        print(f"{'fibsbot ' + arguments[0]:34}{least:8.2f} s")
    ask = ("best", OPENING, "--networks", str(folder))
    with tempfile.TemporaryDirectory() as cache:
        for plies in ("0", "2"):
            before = _of_children()
            cold = begin(*ask, "--plies", plies, cache=Path(cache) / plies)
            busy = _of_children() - before
            warm = min(begin(*ask, "--plies", plies, cache=Path(cache) / plies) for _ in range(STARTS))
            name = f"fibsbot best --plies {plies}"
            print(f"{name:34}{warm:8.2f} s, {cold:.2f} s with nothing compiled ({busy:.2f} s of work)")


def random_networks(folder: Path) -> Path:
    """Write networks with random weights; return their directory."""
    files = {CONTACT: Network.new((512, 256, 128), 1), PRUNER: Network.new((64,), 1, len(raw_columns()))}
    cards = []
    for name, network in files.items():
        network.save(folder / name, np.float16)
        cards += [f"[{Path(name).stem}]", f'sha256 = "{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"']
    (folder / CARDS).write_text("\n".join(cards))
    return folder


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else NETWORKS_FOLDER
        if not (folder / CARDS).exists():
            print(f"no networks in {folder}: random ones stand for them")
            folder = random_networks(Path(scratch))
        rates(folder)
        starts(folder)


if __name__ == "__main__":
    main()
