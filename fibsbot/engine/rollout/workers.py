"""Blocks of a rollout on all cores: processes that play one after the other, each with an engine of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from multiprocessing.connection import Connection
from typing import TypeAlias

from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout.plan import Candidate, Plan
from fibsbot.engine.rollout.playing import Roller
from fibsbot.engine.rollout.result import RolloutError, Trials
from fibsbot.processes import LostError, share

Maker: TypeAlias = Callable[[], Engine]
"""Makes the engine in each process; it must be something that can be pickled, such as `Engine.load`."""
Block: TypeAlias = tuple[int, list[Trials]]
"""The number of a block, and what its games gave by candidate."""


def play_blocks(
    make: Maker, candidates: Sequence[Candidate], plan: Plan, numbers: Iterable[int], jobs: int
) -> Generator[Block, None, None]:
    """Play these blocks in so many processes and yield each when it is done, in any order.

    Even one job gets a process: so the libraries calculate as they do in several. Raises RolloutError where a process
    cannot make its engine or dies. However this ends, all processes are gone afterwards.
    """
    try:
        yield from share(_work, (make, tuple(candidates), plan), numbers, jobs)
    except LostError as error:
        raise RolloutError(f"a process of the rollout {error}") from None


def _work(way: Connection, make: Maker, candidates: Sequence[Candidate], plan: Plan) -> None:
    """Play the blocks that come, until there are no more or nobody is there any longer. The whole of a process."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), way:
        try:
            roller = Roller(make())
        except Exception as error:  # noqa: BLE001 - whatever it is, it has to be told in a line
            way.send(RolloutError(f"the engine cannot be made: {' '.join(str(error).split())}"))
            return
        while (number := way.recv()) is not None:
            way.send((number, roller.play(candidates, plan, number)))
