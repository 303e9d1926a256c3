"""Adding matches: workers turn contents of files into rows, the client leaves out what it has and writes batches.

The archive itself says how far an interrupted run has come: matches that it has are left out, and so are files whose
content it has read to the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.archive.columns import TableData, chosen, column_of, columns_of, concatenated, count_rows, now
from fibsbot.archive.dataset import Dataset, file_name
from fibsbot.archive.rows import MatchPlace, MatchRows, match_rows
from fibsbot.archive.schema import MATCHES, SOURCES
from fibsbot.archive.sources import Source, pieces_of
from fibsbot.formats import FormatError
from fibsbot.replay.log_reading import CaptureError
from fibsbot.replay.match_files import read_content
from fibsbot.text import describe_error, one_line, plural
from fibsbot.transcript import Transcript, TranscriptError
from fibsbot.version import __version__
from fibsbot.workers.pool import Piece, ProgressCallback, WorkerPool

if TYPE_CHECKING:
    from fibsbot.records.store import Store

BATCH_ROWS: Final = 250_000
"""Decisions that are written together: some ten seconds of reading by each of several workers."""
BATCH_SECONDS: Final = 20.0
"""Time after which what was read is written in any case, so that a killed run loses no more."""
STORE_PIECE: Final = 20
"""Matches of a store that are handed out together."""

CAPTURE: Final = "capture"
STORE: Final = "store"
Tick: TypeAlias = Callable[[int], object]
"""Called with the bytes of the command's files that have been dealt with."""
Report: TypeAlias = Callable[[str, str], object]
"""Called with the name of a file and what could not be read of it."""


@frozen
class SourceReport:
    """What was read of a source."""

    name: str
    digest: str
    size: int
    progress: int
    explicit: bool
    format: str | None
    keys: tuple[int, ...] = ()
    """Those of its matches."""
    problem: str = ""


@frozen
class ReadPiece:
    """Sources that were read, and the rows of all their matches."""

    reports: tuple[SourceReport, ...]
    tables: dict[str, TableData]


def read_sources(_shared: object, sources: tuple[Source, ...]) -> ReadPiece:
    """Read sources, in a worker."""
    rows: dict[int, MatchRows] = {}
    reports = []
    for source in sources:
        found, report = _read_source(source)
        for row in found:
            rows.setdefault(row.key, row)
        reports.append(report)
    return ReadPiece(tuple(reports), columns_of(list(rows.values())) if rows else {})


def _read_source(source: Source) -> tuple[list[MatchRows], SourceReport]:
    rows: list[MatchRows] = []
    problems = [source.problem] if source.problem else []
    kind = STORE
    transcripts: Iterable[Transcript] = source.transcripts
    try:
        if source.parts:
            found, transcripts = read_content(source.name, source.parts)
            kind = CAPTURE if found is None else found.value
        for number, transcript in enumerate(transcripts, 1):
            try:
                row = match_rows(transcript, MatchPlace(source.name, number, kind))
            except TranscriptError as error:
                problems.append(f"match {number}: {one_line(error)}")
            else:
                rows += [row] if row.games else []
    except (FormatError, CaptureError) as error:
        problems.append(one_line(error))
    except Exception as error:  # noqa: BLE001 - a file that breaks a reader must not end the run
        problems.append(describe_error(error))
    if not rows and not problems and source.parts:
        problems.append("expected a match, found none")
    keys = tuple(row.key for row in rows)
    problem = "; ".join(problems)
    report = SourceReport(
        source.name, source.digest, source.size, source.progress, source.explicit, kind if keys else None, keys, problem
    )
    return rows, report


@define
class AddResult:
    """What a run has added."""

    files: int = 0
    """Files that were read."""
    skipped: int = 0
    """Files whose content was read before."""
    problems: int = 0
    """Files of which something could not be read."""
    matches: int = 0
    """Matches that were found."""
    known: int = 0
    """Those of them that the archive had, or that were found before."""
    new: int = 0
    """Matches that were written."""
    decisions: int = 0
    """Decisions of these."""


@define
class Adding:
    """A run that adds matches to an archive."""

    dataset: Dataset
    tick: Tick = lambda _: None
    report: Report = lambda _name, _problem: None
    on_progress: ProgressCallback = lambda _: None
    result: AddResult = field(factory=AddResult)
    _known: set[int] = field(factory=set, init=False)
    """Keys of the matches that the archive has, or that are in the batch."""
    _read: set[int] = field(factory=set, init=False)
    """Digests of the contents that were read to the end, their first 8 bytes: there may be millions."""
    _unreadable: set[tuple[str, str, str]] = field(factory=set, init=False)
    """Name, digest and problem of the sources of which the archive has a problem: it needs no row for each run."""
    _batch: list[dict[str, TableData]] = field(factory=list, init=False)
    _sources: list[tuple[Any, ...]] = field(factory=list, init=False)
    _new: int = field(default=0, init=False)
    """Matches of the batch."""
    _rows: int = field(default=0, init=False)
    """Decisions of the batch."""
    _written: float = field(factory=time.monotonic, init=False)
    """When the last batch was written."""

    def run(self, sources: Iterable[Source], pool: WorkerPool) -> AddResult:
        """Add the matches of sources. After an interruption the archive has all batches that were complete."""
        self._load_known()
        pieces = (Piece(_key(piece), piece) for piece in pieces_of(self._unread(sources)))
        results = pool.run(read_sources, pieces, ordered=True, on_progress=self.on_progress)
        try:
            for _, read in results:
                self._take(read)
                if self._rows >= BATCH_ROWS or time.monotonic() - self._written > BATCH_SECONDS:
                    self._write()
        finally:
            results.close()
            self._write()
        self.dataset.compact(finish=True)
        return self.result

    def _load_known(self) -> None:
        matches, sources = (self.dataset.rows_from(table) for table in (MATCHES, SOURCES))
        self._known = set(self.dataset.values(f"SELECT match FROM {matches}"))
        digests = self.dataset.values(f"SELECT digest FROM {sources} WHERE problem IS NULL AND digest <> ''")
        self._read = set(map(_short, digests))
        with_problem = f"SELECT source, digest, problem FROM {sources} WHERE problem IS NOT NULL"
        self._unreadable = set(self.dataset.connection.execute(with_problem).fetchall())

    def _unread(self, sources: Iterable[Source]) -> Iterator[Source]:
        """Yield the sources that were not read before."""
        for source in sources:
            if not source.name:  # the end of a tar or zip file
                self.tick(source.progress)
            elif source.parts and _short(source.digest) in self._read:
                self.result.skipped += 1
                self.tick(source.progress)
            else:
                yield source

    def _take(self, read: ReadPiece) -> None:
        """Take the rows of a piece, without those of matches that are known."""
        new: set[int] = set()
        for report in read.reports:
            self.result.files += 1
            self.result.matches += len(report.keys)
            fresh = [key for key in dict.fromkeys(report.keys) if key not in self._known]
            self.result.known += len(report.keys) - len(fresh)
            self._known.update(fresh)
            new.update(fresh)
            said = (report.name, report.digest, report.problem)
            if fresh or said not in self._unreadable:
                self._sources.append(
                    (
                        report.name,
                        report.digest,
                        report.size,
                        report.format,
                        len(report.keys),
                        len(fresh),
                        report.problem or None,
                        __version__,
                        now(),
                    )
                )
            if report.problem:
                self._unreadable.add(said)
                self.result.problems += 1
                self.report(report.name, report.problem)
            self.tick(report.progress)
        if new:
            tables = {name: chosen(table, _rows_of(table, new)) for name, table in read.tables.items()}
            self._batch.append(tables)
            self._new += len(new)
            self._rows += count_rows(tables["decisions"])

    def _write(self) -> None:
        """Write the batch, if there is anything in it."""
        if not self._sources:
            return
        tables = {name: concatenated([part[name] for part in self._batch]) for name in (self._batch or [{}])[0]}
        keys = tables["matches"]["match"].tolist() if tables else []
        values = zip(*self._sources, strict=True)
        tables["sources"] = {
            column.name: column_of(column, one) for column, one in zip(SOURCES.columns, values, strict=True)
        }
        self.dataset.write(file_name("", [*keys, *self._sources]), tables)
        self._read.update(_short(row[1]) for row in self._sources if row[1] and row[6] is None)
        self.result.new += self._new
        self.result.decisions += self._rows
        self._batch, self._sources, self._new, self._rows = [], [], 0, 0
        self._written = time.monotonic()


def _short(digest: str) -> int:
    return int(digest[:16], 16)


def _key(piece: tuple[Source, ...]) -> str:
    return f"{piece[0].name} and {plural(len(piece) - 1, 'more file')}" if len(piece) > 1 else piece[0].name


def _rows_of(table: TableData, keys: set[int]) -> npt.NDArray[np.bool_]:
    """Return which rows of a table are of these matches."""
    return np.isin(table["match"], np.fromiter(keys, np.int64, len(keys)))


def store_sources(store: Store) -> Iterator[Source]:
    """Yield the matches of a store of which there are transcripts, some at a time. Raises StoreError."""
    from fibsbot.records.store import StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import
    from fibsbot.records.store.database import public_url  # noqa: PLC0415

    name = public_url(store.url)
    waiting: list[Transcript] = []
    for match in store.matches():
        try:
            waiting.append(store.transcript(match))
        except StoreError:
            continue  # only its result is known
        if len(waiting) == STORE_PIECE:
            yield Source(name, transcripts=tuple(waiting))
            waiting = []
    if waiting:
        yield Source(name, transcripts=tuple(waiting))
