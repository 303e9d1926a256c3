"""Studies many matches, in as many processes as the work is worth, each of which studies a few entries at a time.

What is found does not depend on how matches are cut: a judge remembers nothing that changes its answers.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from multiprocessing.connection import Connection
from typing import Final, TypeAlias

from attrs import define, field, frozen

from fibsbot import processes
from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import StrategyError, find, load
from fibsbot.strategies.names import quick_judge
from fibsbot.study.analysis import Desk, Found, StudyError, match_study
from fibsbot.study.model import MatchStudy
from fibsbot.transcript import Step, Transcript, TranscriptError, walk

Studied: TypeAlias = MatchStudy | StudyError | TranscriptError
"""A studied match, or why it cannot be studied."""
Tick: TypeAlias = Callable[[int, int], object]
"""Takes how many entries have just been studied, and how many their match has."""
PIECE: Final = 16
"""Entries in a row that one of several processes studies at a time: about a second of work, so progress is seen. In
smaller pieces less of what a judge remembers is used again: 4 entries at a time take a tenth longer."""
WORTHWHILE: Final = 100
"""Entries for each process before another one is started: to load the engine takes as long as to study 20."""

_NO_JUDGE: Final = "strategy {!r} is no judge: it cannot say what positions are worth"


def entries_of(transcript: Transcript) -> int:
    """Return how many entries a match has: throws, cube actions, resignations."""
    return sum(len(game.entries) for game in transcript.games)


@contextlib.contextmanager
def opened_judge(name: str) -> Iterator[Judge]:
    """Make the strategy of that name, and close it afterwards; raise StrategyError where it is no judge."""
    strategy = load(name)
    try:
        if not isinstance(strategy, Judge):
            raise StrategyError(_NO_JUDGE.format(name))
        yield strategy
    finally:
        strategy.close()


@contextlib.contextmanager
def _opened_desk(judge: str) -> Iterator[Desk]:
    quick = quick_judge(judge)
    with contextlib.ExitStack() as held:
        ours = held.enter_context(opened_judge(judge))
        yield Desk(ours, held.enter_context(opened_judge(quick)) if quick != judge else None)


def study_all(
    transcripts: Iterable[Transcript],
    judge: str,
    *,
    luck: bool = True,
    cores: int | None = None,
    tick: Tick = lambda _done, _of: None,
) -> Generator[Studied, None, None]:
    """Yield a study of each match in their order; one that cannot be studied yields its error, and stops nothing.

    `judge` is the name of a strategy, which every process makes for itself; luck is judged by its `quick_judge`.
    `cores` is how many are used; by default as many as there are and the work is worth. With one there is no further
    process. `tick` is called for each piece of work that is done. Closed or interrupted, it ends its processes at once.
    Raises StrategyError where a strategy is no judge, or takes its process down with it.
    """
    if not find(judge).is_judge():
        raise StrategyError(_NO_JUDGE.format(judge))
    left = iter(transcripts)
    known: list[Transcript] = []
    jobs = cores or _worthwhile(left, known)
    size = 1 if jobs == 1 else PIECE
    waiting: deque[_Match] = deque()
    given: dict[int, tuple[_Match, int]] = {}
    pieces = _pieces(chain(known, left), judge, size, waiting, given)
    answers = _alone(pieces, judge, luck=luck) if jobs == 1 else _together(pieces, judge, jobs, luck=luck)
    with contextlib.closing(answers):
        for answer in answers:
            match, first = given.pop(answer.number)
            match.take(first, answer)
            tick(min(size, len(match.steps) - first), len(match.steps))
            while waiting and waiting[0].is_done:
                yield waiting.popleft().studied()
    yield from (match.studied() for match in waiting)


def _worthwhile(transcripts: Iterator[Transcript], known: list[Transcript]) -> int:
    """Return how many processes are worth their start; the transcripts that had to be seen for that become known."""
    cores = processes.cores()
    entries = 0
    while entries < cores * WORTHWHILE and (transcript := next(transcripts, None)):
        known.append(transcript)
        entries += entries_of(transcript)
    return max(1, min(cores, entries // WORTHWHILE))


def _pieces(
    transcripts: Iterable[Transcript],
    judge: str,
    size: int,
    waiting: deque[_Match],
    given: dict[int, tuple[_Match, int]],
) -> Iterator[_Piece]:
    """Yield the pieces of matches, and note which matches these are and where in them each piece begins."""
    number = 0
    for transcript in transcripts:
        match = _Match.of(transcript, judge)
        waiting.append(match)
        for first in range(0, len(match.steps), size):
            if match.error:
                break
            match.open += 1
            given[number] = match, first
            yield _Piece(number, match.steps[first : first + size])
            number += 1
        match.all_given = True


def _alone(pieces: Iterable[_Piece], judge: str, *, luck: bool) -> Generator[_Answer, None, None]:
    """Study pieces in this process; without any the judge need not get ready."""
    every = iter(pieces)
    first = next(every, None)
    if first is None:
        return
    with _opened_desk(judge) as desk:
        for piece in chain((first,), every):
            yield _answer(desk, piece, luck=luck)


def _together(pieces: Iterable[_Piece], judge: str, jobs: int, *, luck: bool) -> Generator[_Answer, None, None]:
    """Study pieces in several processes, in any order."""
    try:
        yield from processes.share(_work, (judge, luck), pieces, jobs)
    except processes.LostError:
        raise StrategyError(f"a process in which {judge!r} judged has died") from None


def _work(way: Connection, judge: str, luck: bool) -> None:  # noqa: FBT001 - called by position
    """Study the pieces that come, until there are no more or nobody is there any longer. The whole of a process."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), way:
        try:
            with _opened_desk(judge) as desk:
                while (piece := way.recv()) is not None:
                    way.send(_answer(desk, piece, luck=luck))
        except StrategyError as error:
            way.send(error)


@frozen
class _Piece:
    """Entries that follow each other in a match, studied in one go."""

    number: int
    steps: tuple[Step, ...]


@frozen
class _Answer:
    """What the entries of a piece show, or why they cannot be studied."""

    number: int
    """Of the piece."""
    judge: str
    """What the strategy that judged calls itself."""
    details: str
    found: tuple[Found, ...] | StudyError


def _answer(desk: Desk, piece: _Piece, *, luck: bool) -> _Answer:
    found: tuple[Found, ...] | StudyError
    try:
        found = tuple(desk.entry(step, luck=luck) for step in piece.steps)
    except StudyError as error:
        found = error
    return _Answer(piece.number, desk.judge, desk.details, found)


@define
class _Match:
    """A match that is being studied."""

    transcript: Transcript
    judge: str
    """What the strategy that judges calls itself."""
    details: str = ""
    steps: tuple[Step, ...] = ()
    error: TranscriptError | StudyError | None = None
    open: int = 0
    """Pieces that are being studied."""
    all_given: bool = False
    found: dict[int, tuple[Found, ...]] = field(factory=dict)
    """By the place of the first entry."""
    failed: int = 0
    """Place of the piece that `error` is about."""

    @classmethod
    def of(cls, transcript: Transcript, judge: str) -> _Match:
        """Walk through a match."""
        try:
            return cls(transcript, judge, steps=tuple(step for game in transcript.games for step in walk(game)))
        except TranscriptError as error:
            return cls(transcript, judge, error=error)

    @property
    def is_done(self) -> bool:
        """Whether nothing is missing."""
        return self.all_given and not self.open

    def take(self, first: int, answer: _Answer) -> None:
        """Keep what was found from an entry on; of several errors that of the earliest entry."""
        self.open -= 1
        self.judge, self.details = answer.judge, answer.details
        if not isinstance(answer.found, StudyError):
            self.found[first] = answer.found
        elif self.error is None or first < self.failed:
            self.error, self.failed = answer.found, first

    def studied(self) -> Studied:
        """Return the study of the whole match, or why there is none."""
        if self.error:
            return self.error
        found = [it for _, part in sorted(self.found.items(), key=lambda it: it[0]) for it in part]
        return match_study(self.transcript, self.judge, found, self.details)
