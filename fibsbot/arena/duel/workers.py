"""Pairs on all cores: processes that play one pair after the other, each with strategies of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Iterable
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from fibsbot.arena.duel.asking import Asker
from fibsbot.arena.duel.pairs import Room
from fibsbot.arena.duel.plan import DuelError, Plan
from fibsbot.arena.duel.tally import Pair
from fibsbot.processes import LostError, share
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.study.many import opened_judge

STOP: Final = signal.SIGUSR1
"""What ends a process in the middle of a pair. Ctrl-C and SIGTERM often go to all processes at once; these are heard by
whoever started the others, and by nobody else."""


def play_pairs(plan: Plan, numbers: Iterable[int], jobs: int, mats: Path | None = None) -> Generator[Pair, None, None]:
    """Play these pairs in so many processes and yield each when it is finished.

    Raises DuelError where a strategy cannot be made, a file cannot be written or a process dies. However this ends, all
    processes are gone afterwards.
    """
    unheard = (signal.SIGINT, signal.SIGTERM)
    try:
        yield from share(_work, (plan, mats), numbers, jobs, unheard=unheard, stop=_stop)
    except LostError as error:
        raise DuelError(f"a process that played pair {error.item + 1} {error}") from None


def _stop(process: BaseProcess) -> None:
    if process.pid is not None:
        os.kill(process.pid, STOP)


def _work(way: Connection, plan: Plan, mats: Path | None) -> None:
    """Play the pairs that come, until there are no more or nobody is there any longer. The whole of a process."""
    signal.signal(STOP, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: None)  # not ignored, lest programs that a strategy starts ignore it, too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a strategy prints is no result
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), contextlib.ExitStack() as held:
        held.callback(way.close)
        try:
            room = _opened(held, plan, mats)
            while (number := way.recv()) is not None:
                way.send(room.play(number))
        except StrategyError as error:
            way.send(DuelError(str(error)))
        except DuelError as error:
            way.send(error)
        finally:
            signal.signal(STOP, signal.SIG_IGN)  # it goes anyway


def _opened(held: contextlib.ExitStack, plan: Plan, mats: Path | None) -> Room:
    askers = []
    for label, name in zip(plan.labels, plan.strategies, strict=True):
        askers.append(asker := Asker(label, partial(load, name), plan.deadline))
        held.callback(asker.close)
    judge = held.enter_context(opened_judge(plan.judge)) if plan.judge else None
    return Room(plan, (askers[0], askers[1]), judge, mats)
