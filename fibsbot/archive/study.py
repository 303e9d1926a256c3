"""Studying an archive: the decisions that an engine has not judged yet are handed out by matches and judged.

Judgements are kept by the judge's name, which has version, plies and networks; those of another judge are other rows.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import define, field

from fibsbot.archive.columns import YEAR, TableData, chosen, concatenated, count_rows, match_bounds
from fibsbot.archive.dataset import Dataset, file_name, quoted
from fibsbot.archive.schema import DECISIONS, GAMES, JUDGEMENTS, MATCHES
from fibsbot.workers.journal import Journal
from fibsbot.workers.pool import Piece, ProgressCallback, WorkerPool

if TYPE_CHECKING:
    from fibsbot.archive.entry_judge import EntryJudge
    from fibsbot.archive.judge import Judge

PIECE_DECISIONS: Final = {0: 8000, 1: 400}
"""Decisions of a piece, at least, by plies: one to some seconds of work. With more plies each match is a piece."""
BLOCK_DECISIONS: Final = 60_000
"""Decisions that are read together, about."""
BATCH_ROWS: Final = 250_000
"""Judgements that are written together."""
BATCH_SECONDS: Final = 120.0
"""Time after which judgements are written, however few they are."""

_READ: Final = (
    *("match", "game", "number", "turn", "seat", "player", "kind", "position", "dice", "action", "length"),
    *("own_score", "opponent_score", "cube", "owner", "crawford", "post_crawford", "redoubles"),
    *("resignation", "stage", "own_move", "entry"),
)


@define
class StudySettings:
    """What workers need: they open the engine once, and keep it."""

    plies: int
    _judge: Judge | None = field(default=None, init=False, repr=False)
    _entry_judge: EntryJudge | None = field(default=None, init=False, repr=False)

    @property
    def judge(self) -> Judge:
        """The judge of this process."""
        if self._judge is None:
            from fibsbot.archive.judge import Judge  # noqa: PLC0415 - the engine
            from fibsbot.engine.engine import Engine  # noqa: PLC0415

            self._judge = Judge(Engine.load(), self.plies)
        return self._judge

    @property
    def entry_judge(self) -> EntryJudge:
        """The judge of this process for games whose boards are not those of backgammon."""
        if self._entry_judge is None:
            from fibsbot.archive.entry_judge import EntryJudge  # noqa: PLC0415 - the engine

            self._entry_judge = EntryJudge.of(self.judge)
        return self._entry_judge


def judge_matches(settings: StudySettings, rows: TableData) -> TableData:
    """Judge the decisions of some matches, in a worker."""
    parts = []
    for first, end in itertools.pairwise(match_bounds(rows)):
        judge = settings.entry_judge if rows["entry"][first] else settings.judge
        parts.append(judge.judge(chosen(rows, slice(first, end))))
    return {YEAR: rows[YEAR], **concatenated(parts)}


class OpenMatches(NamedTuple):
    """Matches that are to be judged, as columns: there may be millions."""

    years: npt.NDArray[np.int16]
    keys: npt.NDArray[np.int64]
    decisions: npt.NDArray[np.int32]
    """Their numbers."""


class OpenMatch(NamedTuple):
    """A match that is to be judged."""

    year: int
    key: int
    decisions: int
    """Their number."""


@define
class StudyResult:
    """What a run has judged."""

    matches: int = 0
    decisions: int = 0


@define
class Study:
    """A run that judges what one judge has not judged yet."""

    dataset: Dataset
    judge: str
    """The name of the judge; see `judge.judge_name`."""
    plies: int
    limit: int | None = None
    """Matches that are judged at most."""
    journal: Journal | None = None
    """Keeps pieces until they are written."""
    tick: Callable[[], object] = lambda: None
    """Called after each piece."""
    on_progress: ProgressCallback = lambda _: None
    result: StudyResult = field(factory=StudyResult)
    _batch: list[TableData] = field(factory=list, init=False)
    _keys: list[str] = field(factory=list, init=False)
    _written: float = field(factory=time.monotonic, init=False)

    @property
    def fingerprint(self) -> str:
        """A short name of the judge, which files and the journal have."""
        return hashlib.sha256(self.judge.encode()).hexdigest()[:8]

    def open_matches(self) -> OpenMatches:
        """Return the matches to judge, in the order of the files.

        Those of the Point Game are left out: what its results count depends on the position of each decision.
        """
        matches, judgements, games = (self.dataset.rows_from(table) for table in (MATCHES, JUDGEMENTS, GAMES))
        limit = "" if self.limit is None else f"LIMIT {self.limit}"
        found = self.dataset.connection.execute(
            f"SELECT year, match, decisions FROM {matches} WHERE decisions > 0 AND match NOT IN "
            f"(SELECT DISTINCT match FROM {judgements} WHERE judge = {quoted(self.judge)}) AND match NOT IN "
            f"(SELECT DISTINCT match FROM {games} WHERE point_game) ORDER BY 1, 2 {limit}"
        )
        return OpenMatches(*map(_plain, found.fetchnumpy().values()))

    def run(self, pool: WorkerPool) -> StudyResult:
        """Judge; after an interruption the archive has all batches that were complete, the journal the other pieces."""
        settings = StudySettings(self.plies)
        pieces = (Piece(_key(rows), rows) for rows in self._pieces(self.open_matches()))
        results = pool.run(
            judge_matches, pieces, shared=settings, ordered=True, journal=self.journal, on_progress=self.on_progress
        )
        try:
            for piece, judged in results:
                self._take(piece.key, judged)
        finally:
            results.close()
            self._write()
        self.dataset.compact(finish=True)
        return self.result

    def _pieces(self, matches: OpenMatches) -> Iterator[TableData]:
        """Yield the decisions of matches, some together.

        Where the pieces are cut depends only on the matches from the first one on, so that a run that goes on has the
        same pieces as the interrupted one.
        """
        block: list[list[OpenMatch]] = []
        size = 0
        for piece in _cut(map(OpenMatch, *matches), PIECE_DECISIONS.get(self.plies, 1)):
            if block and (size >= BLOCK_DECISIONS or piece[0].year != block[0][0].year):
                yield from self._read(block)
                block, size = [], 0
            block.append(piece)
            size += sum(match.decisions for match in piece)
        if block:
            yield from self._read(block)

    def _read(self, block: list[list[OpenMatch]]) -> Iterator[TableData]:
        """Yield the decisions of the matches of each piece, all of one year, with the laws of their games."""
        year, first, last = block[0][0].year, block[0][0].key, block[-1][-1].key
        keys = np.array([match.key for piece in block for match in piece], np.int64)
        self.dataset.connection.register("wanted", {"key": keys})
        try:
            where = f"year = {year} AND match BETWEEN {first} AND {last}"
            columns = ", ".join(f"d.{name}" for name in _READ)
            found = self.dataset.connection.execute(
                f"SELECT {columns}, g.jacoby, NOT g.cube AS cubeless, g.triple, g.point_game "
                f"FROM (SELECT * FROM {self.dataset.rows_from(DECISIONS)} WHERE {where}) d "
                f"JOIN (SELECT * FROM {self.dataset.rows_from(GAMES)} WHERE {where}) g USING (match, game) "
                "WHERE match IN (SELECT key FROM wanted) ORDER BY match, game, number"
            ).fetchnumpy()
        finally:
            self.dataset.connection.unregister("wanted")
        rows = {name: _plain(column) for name, column in found.items()}
        rows["position"] = np.where(rows["entry"] == "", rows["position"], "").astype("S14")
        rows = {YEAR: np.full(count_rows(rows), year, np.int16), **rows}
        ends = np.searchsorted(rows["match"], [piece[-1].key for piece in block], "right").tolist()
        for begin, end in itertools.pairwise([0, *ends]):
            yield chosen(rows, slice(begin, end))

    def _take(self, key: str, judged: TableData) -> None:
        self._batch.append(judged)
        self._keys.append(key)
        self.result.matches += len(np.unique(judged["match"]))
        self.result.decisions += count_rows(judged)
        self.tick()
        rows = sum(map(count_rows, self._batch))
        if rows >= BATCH_ROWS or time.monotonic() > self._written + BATCH_SECONDS:
            self._write()

    def _write(self) -> None:
        if self._batch:
            self.dataset.write(file_name(self.fingerprint, self._keys), {JUDGEMENTS.name: concatenated(self._batch)})
            if self.journal is not None:
                self.journal.discard(self._keys)
            self._batch, self._keys = [], []
        self._written = time.monotonic()


def _cut(matches: Iterable[OpenMatch], least: int) -> Iterator[list[OpenMatch]]:
    """Yield groups of matches of one year, each of at least `least` decisions but for the last of a year."""
    piece: list[OpenMatch] = []
    size = 0
    for match in matches:
        if piece and (size >= least or match.year != piece[0].year):
            yield piece
            piece, size = [], 0
        piece.append(match)
        size += match.decisions
    if piece:
        yield piece


def _plain(column: Any) -> Any:
    """Return a column of DuckDB without its mask; a missing text is empty."""
    if isinstance(column, np.ma.MaskedArray):
        return column.filled("" if column.dtype == object else 0)
    return column


def _key(rows: TableData) -> str:
    """Return the key of a piece, made of its content."""
    digest = hashlib.sha256()
    for name in ("match", "position"):
        digest.update(np.ascontiguousarray(rows[name]).tobytes())
    for name in ("dice", "action", "entry"):
        digest.update("\0".join(rows[name].tolist()).encode())
    return digest.hexdigest()
