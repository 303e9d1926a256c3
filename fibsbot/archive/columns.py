"""Rows as columns: numpy arrays that travel between processes and that DuckDB reads without a copy of each value.

Also what the tables have of many positions at once: Position IDs, pip counts, points held.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.archive.rows import MatchRows
from fibsbot.archive.schema import ADDED, Column, TableSchema
from fibsbot.archive.tracking import Checkers
from fibsbot.games.sides_text import format_sides
from fibsbot.position import BAR, CHECKERS, OFF
from fibsbot.rules.sides import Sides

Boards: TypeAlias = npt.NDArray[np.int8]
"""Positions, one per row, each seen by the player who decides; see `Position.points`."""
ColumnData: TypeAlias = npt.NDArray[Any]
TableData: TypeAlias = dict[str, ColumnData]
"""The columns of a table by name. Masked arrays and None are NULL."""
YEAR: Final = "year"
"""The column that becomes the name of a folder."""

_ALPHABET: Final = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_BITS: Final = 80
"""Bits of a Position ID."""
_LETTERS: Final = 14
_KINDS: Final = {
    "TINYINT": np.int8,
    "SMALLINT": np.int16,
    "INTEGER": np.int32,
    "BIGINT": np.int64,
    "FLOAT": np.float32,
    "BOOLEAN": np.bool_,
}
_POINTS: Final = 1 << np.arange(24)


def position_ids(boards: Boards) -> npt.NDArray[np.bytes_]:
    """Return the Position ID of each position: the same text as `notation.position_ids.position_id`."""
    own, theirs = boards[:, 1:].clip(0), (-boards[:, -2::-1]).clip(0)
    counts = np.concatenate([theirs, own], axis=1).astype(np.int64)
    zeros = np.cumsum(counts, axis=1) + np.arange(counts.shape[1])
    ends = zeros[:, -1]
    bits = (np.arange(_BITS) < ends[:, None]).astype(np.uint8)
    bits[np.arange(len(boards))[:, None], zeros] = 0
    ordered = bits.reshape(-1, _BITS // 8, 8)[:, :, ::-1].reshape(-1, _BITS)  # base 64 begins with the highest bit
    padded = np.concatenate([ordered, np.zeros((len(boards), 6 * _LETTERS - _BITS), np.uint8)], axis=1)
    letters = padded.reshape(-1, _LETTERS, 6) @ np.array([32, 16, 8, 4, 2, 1], np.uint8)
    return np.ascontiguousarray(_ALPHABET[letters]).view(f"S{_LETTERS}").reshape(-1)


def boards_of_ids(ids: npt.NDArray[np.bytes_]) -> Boards:
    """Return the positions of Position IDs, as `notation.position_ids.parse_position_id` does for valid ones."""
    values = np.full(256, 0, np.uint8)
    values[_ALPHABET] = np.arange(64, dtype=np.uint8)
    letters = values[np.ascontiguousarray(ids).view(np.uint8).reshape(-1, _LETTERS)]
    bits = np.unpackbits(letters[:, :, None], axis=2)[:, :, 2:].reshape(-1, 6 * _LETTERS)[:, :_BITS]
    ordered = bits.reshape(-1, _BITS // 8, 8)[:, :, ::-1].reshape(-1, _BITS)
    rows, places = np.nonzero(ordered == 0)
    first = np.searchsorted(rows, np.arange(len(ids)))
    zeros = places[first[:, None] + np.arange(50)]
    counts = np.diff(zeros, axis=1, prepend=-1) - 1
    boards = np.zeros((len(ids), BAR + 1), np.int8)
    boards[:, 1:] = counts[:, 25:]
    boards[:, -2::-1] -= counts[:, :25].astype(np.int8)
    return boards


def position_columns(boards: Boards) -> TableData:
    """Return the columns of `decisions` that follow from the positions."""
    return {"position": position_ids(boards), **_side_columns(*_rows_of(boards))}


def checkers_columns(checkers: Sequence[Checkers]) -> TableData:
    """Return the columns that follow from where the checkers stand, in every game."""
    boards = np.array([board for board in checkers if not isinstance(board, Sides)], np.int8).reshape(-1, BAR + 1)
    if len(boards) == len(checkers):
        return position_columns(boards)
    has_sides = np.array([isinstance(board, Sides) for board in checkers], np.bool_)
    sides = [board for board in checkers if isinstance(board, Sides)]
    texts = np.empty(len(checkers), object)
    texts[~has_sides] = position_ids(boards).astype(str)
    texts[has_sides] = [format_sides(board) for board in sides]
    own, theirs = np.empty((2, len(checkers), BAR + 1), np.int8)
    own[~has_sides], theirs[~has_sides] = _rows_of(boards)
    own[has_sides], theirs[has_sides] = [board.own.row for board in sides], [board.opponent.row for board in sides]
    return {"position": texts, **_side_columns(own, theirs)}


def _rows_of(boards: Boards) -> tuple[Boards, Boards]:
    """Return the checkers of both sides, each in its own numbering, those that are off first."""
    own, theirs = boards.clip(0), (-boards[:, ::-1]).clip(0)
    for counts in (own, theirs):
        counts[:, OFF] = CHECKERS - counts.sum(axis=1)
    return own, theirs


def _side_columns(own: Boards, theirs: Boards) -> TableData:
    found: TableData = {}
    for side, counts in (("own", own), ("opponent", theirs)):
        points = counts[:, 1:BAR]
        found[f"{side}_pips"] = (counts.astype(np.int16) @ np.arange(BAR + 1, dtype=np.int16)).astype(np.int16)
        found[f"{side}_back"] = counts[:, 19:].sum(axis=1).astype(np.int8)
        found[f"{side}_bar"] = counts[:, BAR]
        found[f"{side}_off"] = counts[:, OFF]
        found[f"{side}_held"] = ((points > 1) @ _POINTS).astype(np.int32)
        found[f"{side}_blots"] = ((points == 1) @ _POINTS).astype(np.int32)
    return found


def columns_of(matches: Sequence[MatchRows]) -> dict[str, TableData]:
    """Return the tables of some matches, each with a column `year`."""
    rows: dict[str, list[Sequence[object]]] = {table.name: [] for table in ADDED}
    years: dict[str, list[int]] = {table.name: [] for table in ADDED}
    for match in matches:
        parts: Mapping[str, Sequence[Sequence[object]]] = {
            "matches": [match.match],
            "games": match.games,
            "decisions": match.decisions,
            "players": match.players,
        }
        for name, part in parts.items():
            rows[name] += part
            years[name] += [match.year] * len(part)
    computed = {"decisions": checkers_columns([position for match in matches for position in match.positions])}
    return {
        table.name: {
            YEAR: np.array(years[table.name], np.int16),
            **_table(table, rows[table.name], computed.get(table.name, {})),
        }
        for table in ADDED
    }


def _table(table: TableSchema, rows: list[Sequence[object]], computed: TableData) -> TableData:
    """Return the columns of a table; rows have those that are not computed, in the order of the schema."""
    given = [column for column in table.columns if column.name not in computed]
    values: Iterable[Sequence[object]] = zip(*rows, strict=True) if rows else ((),) * len(given)
    found = {column.name: column_of(column, one) for column, one in zip(given, values, strict=True)}
    return {name: computed.get(name, found.get(name, _NONE)) for name in table.column_names}


_NONE: Final = np.empty(0, object)


def column_of(column: Column, values: Sequence[Any]) -> ColumnData:
    """Return a column of values; None is NULL. Numbers beyond the type's range become its ends."""
    if column.type == "TIMESTAMP":
        return np.array([_NAT if value is None else value for value in values], "datetime64[us]")
    if column.type == "VARCHAR":
        texts = np.empty(len(values), object)
        texts[:] = [
            text if text is None or text.isascii() else text.encode("utf-8", "replace").decode() for text in values
        ]
        return texts
    kind = _KINDS[column.type]
    if None not in values:
        return _numbers(values, kind)
    missing = np.array([value is None for value in values], np.bool_)
    return np.ma.masked_array(_numbers([value or 0 for value in values], kind), missing)


def _numbers(values: Sequence[Any], kind: npt.DTypeLike) -> ColumnData:
    try:
        return np.array(values, kind)
    except OverflowError:
        ends = np.iinfo(np.dtype(kind))
        return np.array([min(max(value, ends.min), ends.max) for value in values], kind)


_NAT: Final = np.datetime64("NaT", "us")


def concatenated(parts: Sequence[TableData]) -> TableData:
    """Return tables of the same columns as one."""
    return {name: _joined([part[name] for part in parts]) for name in parts[0]} if parts else {}


def _joined(parts: list[ColumnData]) -> ColumnData:
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        joined: ColumnData = np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
        return joined
    return np.concatenate(parts)


def chosen(table: TableData, rows: npt.NDArray[Any] | slice) -> TableData:
    """Return some rows of a table: by a mask, by their indices, or a range."""
    return {name: column[rows] for name, column in table.items()}


def for_database(table: TableData) -> TableData:
    """Return columns as DuckDB takes them: texts as objects."""
    return {
        name: column.astype(str).astype(object) if column.dtype.kind == "S" else column
        for name, column in table.items()
    }


def count_rows(table: TableData) -> int:
    """Return the number of rows."""
    return len(next(iter(table.values()), _NONE))


def match_bounds(table: TableData) -> list[int]:
    """Return the first row of each match in a table sorted by match, and the number of rows."""
    keys = table["match"]
    return [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]


def now() -> dt.datetime:
    """Return the present time in UTC without its zone, as Parquet has it."""
    return dt.datetime.now(dt.UTC).replace(tzinfo=None, microsecond=0)
