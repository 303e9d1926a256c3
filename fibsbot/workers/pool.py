"""Pieces of work and the pools that do them: processes of this machine, or the workers of a Dask cluster.

A piece must depend on nothing but its function, `shared` and its own arguments, seeds included, so that any number of
workers, in any order, gives the same results. It should last 1 to 5 seconds: below a tenth of a second handing it out
costs more than a hundredth of the work, and a worker that dies loses the piece it has begun.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from attrs import define, field, frozen

from fibsbot.workers.journal import Journal
from fibsbot.workers.processes import WorkerProcesses

Result = TypeVar("Result")
AHEAD: Final = 64
"""Pieces at least that may be finished while an earlier one, whose result is due, is not."""
POLL_SECONDS: Final = 0.2
"""Seconds between two calls of `on_progress` while no result arrives."""


@frozen
class Piece:
    """A piece of work: the arguments of one call."""

    key: str
    """Unique within a run, and shown in errors. With a journal it must be made of the content: two pieces of one key
    have the same result."""
    arguments: Any
    """Whatever can be pickled. Files are passed as their content: workers may be other machines."""


@frozen
class PoolProgress:
    """How far a run has come."""

    done: int
    """Pieces that were finished in this run."""
    resumed: int
    """Pieces whose results were in the journal."""
    workers: int
    """Workers at present."""
    seconds: float
    """Since the run began."""

    @property
    def rate(self) -> float:
        """Pieces per second, without those of the journal."""
        return self.done / self.seconds if self.seconds else 0.0

    def remaining(self, pieces: int) -> float | None:
        """Return the seconds that are left if there are `pieces` in all; None until a piece is done."""
        return (pieces - self.resumed - self.done) / self.rate if self.done else None


ProgressCallback: TypeAlias = Callable[[PoolProgress], object]


class PoolSession(Protocol):
    """Workers that do the pieces of one run, each piece known by its number."""

    @property
    def free(self) -> int:
        """How many more pieces to submit at present."""
        ...

    @property
    def in_flight(self) -> int:
        """Pieces submitted whose results were not collected."""
        ...

    @property
    def workers(self) -> int:
        """Workers at present."""
        ...

    def submit(self, number: int, piece: Piece) -> None:
        """Hand out a piece."""
        ...

    def collect(self, seconds: float) -> list[tuple[int, Any]]:
        """Return number and result of finished pieces; wait for one, but no longer than `seconds`.

        Raises what the function has raised, and WorkError.
        """
        ...


class WorkerPool(ABC):
    """Does pieces of work. Opened by `open_pool`."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of workers, at least 1; those of a cluster may change."""

    @property
    def is_local(self) -> bool:
        """Whether all workers are on this machine, with its files and programs."""
        return True

    @abstractmethod
    def _open(self, function: Callable[[Any, Any], Any], shared: Any) -> AbstractContextManager[PoolSession]:
        """Start a run; on leaving, all that is not finished is given up."""

    def run(  # noqa: PLR0913 - what is done, and how its results come back
        self,
        function: Callable[[Any, Any], Result],
        pieces: Iterable[Piece],
        *,
        shared: Any = None,
        ordered: bool = True,
        journal: Journal | None = None,
        on_progress: ProgressCallback = lambda _: None,
    ) -> Generator[tuple[Piece, Result], None, None]:
        """Yield each piece with its result, `function(shared, arguments)`.

        An exception of the function is raised here and ends the run. Closing the generator ends the run at once.

        Args:
            function: a function of a module of this package, which workers import by its name.
            pieces: may be endless or a generator; only a few are taken ahead of the results.
            shared: what all pieces need, such as networks or settings. Each worker process unpickles it once, and may
                keep in it what is expensive to open. If it has a method `close`, the worker calls it in the end.
            ordered: whether the results come in the order of the pieces.
            journal: keeps finished pieces; those that are in it already are not done again.
            on_progress: called after each result, and several times a second while there is none.
        """
        run = _Run(iter(pieces), journal, ordered=ordered)
        with self._open(function, shared) as session:
            ahead = AHEAD
            while run.is_open:
                ahead = max(ahead, 2 * (session.free + session.in_flight))
                while session.free > 0 and run.may_begin(ahead):
                    if begun := run.next_piece():
                        session.submit(*begun)
                    else:
                        yield from run.due()  # from the journal
                if session.in_flight:
                    for number, result in session.collect(POLL_SECONDS):
                        run.add(number, result)
                        on_progress(run.progress(session.workers))
                        yield from run.due()
                on_progress(run.progress(session.workers))


@define
class _Run:
    """The pieces of a run between their submission and their turn to be yielded."""

    pieces: Iterator[Piece]
    journal: Journal | None
    ordered: bool = field(kw_only=True)
    started: float = field(factory=time.monotonic)
    exhausted: bool = False
    count: int = 0
    """Pieces taken."""
    next_due: int = 0
    """Number of the next piece to be yielded, if the results are ordered."""
    begun: dict[int, Piece] = field(factory=dict)
    finished: dict[int, tuple[Piece, Any]] = field(factory=dict)
    done: int = 0
    resumed: int = 0

    @property
    def is_open(self) -> bool:
        return not self.exhausted or bool(self.begun) or bool(self.finished)

    def may_begin(self, ahead: int) -> bool:
        """Return whether another piece may be begun; at most `ahead` wait for an earlier one."""
        return not self.exhausted and len(self.begun) + len(self.finished) < ahead

    def next_piece(self) -> tuple[int, Piece] | None:
        """Return the next piece to be done; None if there is none, or if the journal had its result."""
        piece = next(self.pieces, None)
        if piece is None:
            self.exhausted = True
            return None
        number = self.count
        self.count += 1
        if self.journal is not None and piece.key in self.journal:
            self.finished[number] = piece, self.journal.result(piece.key)
            self.resumed += 1
            return None
        self.begun[number] = piece
        return number, piece

    def add(self, number: int, result: Any) -> None:
        """Take the result of a piece."""
        piece = self.begun.pop(number)
        if self.journal is not None:
            self.journal.add(piece.key, result)
        self.finished[number] = piece, result
        self.done += 1

    def due(self) -> Iterator[tuple[Piece, Any]]:
        """Yield the results whose turn it is."""
        if not self.ordered:
            while self.finished:
                yield self.finished.pop(next(iter(self.finished)))
        while self.next_due in self.finished:
            yield self.finished.pop(self.next_due)
            self.next_due += 1

    def progress(self, workers: int) -> PoolProgress:
        return PoolProgress(self.done, self.resumed, workers, time.monotonic() - self.started)


@frozen
class LocalPool(WorkerPool):
    """Processes of this machine. They start with a run, and end with it."""

    jobs: int
    background: bool = field(default=False, kw_only=True)
    """Whether other processes come first where there are not enough cores for all."""

    @property
    def size(self) -> int:
        """Number of processes."""
        return self.jobs

    def _open(self, function: Callable[[Any, Any], Any], shared: Any) -> AbstractContextManager[PoolSession]:
        work = (_do_pieces, (function, shared), self.jobs)
        return closing(WorkerProcesses(*work, graceful=hasattr(shared, "close"), background=self.background))


def _do_pieces(pieces: Iterator[Piece], function: Callable[[Any, Any], Any], shared: Any) -> Iterator[Any]:
    """Do pieces in a worker process."""
    try:
        for piece in pieces:
            yield function(shared, piece.arguments)
    finally:
        if hasattr(shared, "close"):
            shared.close()


@frozen
class InProcessPool(WorkerPool):
    """This process itself, for work that is not worth the start of another one."""

    @property
    def size(self) -> int:
        """Return 1."""
        return 1

    @contextmanager
    def _open(self, function: Callable[[Any, Any], Any], shared: Any) -> Iterator[PoolSession]:
        try:
            yield _InProcessSession(function, shared)
        finally:
            if hasattr(shared, "close"):
                shared.close()


@define
class _InProcessSession:
    """Does a piece when its result is collected."""

    function: Callable[[Any, Any], Any]
    shared: Any
    waiting: tuple[int, Piece] | None = None

    @property
    def free(self) -> int:
        return 0 if self.waiting else 1

    @property
    def in_flight(self) -> int:
        return 1 - self.free

    @property
    def workers(self) -> int:
        return 1

    def submit(self, number: int, piece: Piece) -> None:
        self.waiting = number, piece

    def collect(self, seconds: float) -> list[tuple[int, Any]]:  # noqa: ARG002 - the interface
        if self.waiting is None:
            return []
        (number, piece), self.waiting = self.waiting, None
        return [(number, self.function(self.shared, piece.arguments))]
