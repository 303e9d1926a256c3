"""Studying an archive: the decisions that an engine has not judged yet are handed out by matches and judged.

Judgements are kept by the judge's name, which has version, plies and networks; those of another judge are other rows.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from attrs import define, field

from fibsbot.archive.columns import YEAR, TableData, chosen, concatenated, count_rows, match_bounds
from fibsbot.archive.dataset import Dataset, file_name, quoted
from fibsbot.archive.schema import DECISIONS, GAMES, JUDGEMENTS, MATCHES
from fibsbot.workers.journal import Journal
from fibsbot.workers.pool import Piece, WorkerPool

if TYPE_CHECKING:
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
    *("resignation", "stage", "own_move"),
)


@define
class StudySettings:
    """What workers need: they open the engine once, and keep it."""

    plies: int
    _judge: Judge | None = field(default=None, init=False, repr=False)

    @property
    def judge(self) -> Judge:
        """The judge of this process."""
        if self._judge is None:
            from fibsbot.archive.judge import Judge  # noqa: PLC0415 - the engine
            from fibsbot.engine.engine import Engine  # noqa: PLC0415

            self._judge = Judge(Engine.load(), self.plies)
        return self._judge


def judge_matches(settings: StudySettings, rows: TableData) -> TableData:
    """Judge the decisions of some matches, in a worker."""
    judge = settings.judge
    matches = itertools.pairwise(match_bounds(rows))
    parts = [judge.judge(chosen(rows, slice(first, end))) for first, end in matches]
    return {YEAR: rows[YEAR], **concatenated(parts)}


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
    tick: Callable[[], object] = lambda: None
    """Called after each piece."""
    result: StudyResult = field(factory=StudyResult)
    _batch: list[TableData] = field(factory=list, init=False)
    _keys: list[str] = field(factory=list, init=False)
    _written: float = field(factory=time.monotonic, init=False)

    @property
    def fingerprint(self) -> str:
        """A short name of the judge, which files and the journal have."""
        return hashlib.sha256(self.judge.encode()).hexdigest()[:8]

    def open_matches(self) -> list[tuple[int, int, int]]:
        """Return year, key and number of decisions of the matches to judge, in the order of the files."""
        matches, judgements = (self.dataset.rows_from(table) for table in (MATCHES, JUDGEMENTS))
        limit = "" if self.limit is None else f"LIMIT {self.limit}"
        found = self.dataset.connection.execute(
            f"SELECT year, match, decisions FROM {matches} WHERE decisions > 0 AND match NOT IN "
            f"(SELECT DISTINCT match FROM {judgements} WHERE judge = {quoted(self.judge)}) ORDER BY 1, 2 {limit}"
        )
        return found.fetchall()

    def run(self, pool: WorkerPool, journal: Journal | None = None) -> StudyResult:
        """Judge; after an interruption the archive has all batches that were complete, the journal the pieces."""
        settings = StudySettings(self.plies)
        pieces = (Piece(_key(rows), rows) for rows in self._pieces(self.open_matches()))
        results = pool.run(judge_matches, pieces, shared=settings, ordered=True, journal=journal)
        try:
            for piece, judged in results:
                self._take(piece.key, judged)
        finally:
            results.close()
            self._write()
        self.dataset.compact(finish=True)
        return self.result

    def _pieces(self, matches: list[tuple[int, int, int]]) -> Iterator[TableData]:
        """Yield the decisions of matches, some together."""
        least = PIECE_DECISIONS.get(self.plies, 1)
        block: list[tuple[int, int, int]] = []
        size = 0
        for place, match in enumerate(matches):
            block.append(match)
            size += match[2]
            following = matches[place + 1] if place + 1 < len(matches) else None
            if size >= BLOCK_DECISIONS or following is None or following[0] != match[0]:
                yield from _cut(self._read(block), least)
                block, size = [], 0

    def _read(self, block: list[tuple[int, int, int]]) -> TableData:
        """Return the decisions of matches of one year, with the laws of their games."""
        year, first, last = block[0][0], block[0][1], block[-1][1]
        keys = np.array([key for _, key, _ in block], np.int64)
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
        rows["position"] = rows["position"].astype("S14")
        return {YEAR: np.full(count_rows(rows), year, np.int16), **rows}

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
            self._batch, self._keys = [], []
        self._written = time.monotonic()


def _cut(rows: TableData, least: int) -> Iterator[TableData]:
    """Yield the rows of whole matches, with at least `least` decisions together."""
    first, *ends = match_bounds(rows)
    for end in ends:
        if end - first >= least or end == ends[-1]:
            yield chosen(rows, slice(first, end))
            first = end


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
    for name in ("dice", "action"):
        digest.update("\0".join(rows[name].tolist()).encode())
    return digest.hexdigest()
