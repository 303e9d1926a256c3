"""Writes matches as eXtreme Gammon's `.xg` files, by the published layout; only the tests need it.

Refused resignations, rejected rolls, gaps and times within games cannot be said.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Final

from fibsbot.match import CubeAction
from fibsbot.position import OFF
from fibsbot.rules.plays import resulting_positions
from fibsbot.rules.state import Ending, GameState, Seat
from fibsbot.transcript import Cube, Game, Resign, Step, Throw, Transcript, after_roll, walk

HEADER_SIZE: Final = 8232
UNLIMITED: Final = 99999
VERSION: Final = 30
NOT_ANALYSED: Final = -1000.0
LOSS: Final = 0.25
"""What every play loses that is not the first by its position, in an analysis."""
LUCK: Final = 0.125
CUBE: Final = (0.1, 0.3, 1.0)
"""Equities of no double, double/take and double/pass in an analysis: a double and a take."""


def write_xg(match: Transcript, *, analysed: bool = False) -> bytes:
    """Return a match as a file; `analysed` adds an analysis, which says the same of every cube action."""
    return pack(b"".join(match_records(match, analysed=analysed)))


def pack(
    records: bytes, *, picture: bytes = b"", members: Sequence[tuple[str, bytes]] = (), fits: bool = True
) -> bytes:
    """Return a file with these records, and other members behind them; without `fits` the trailer is old."""
    archive, index = b"", b""
    for name, content in (("temp.xg", records), ("temp.xgi", records[:2560] + records[-2560:]), *members):
        packed = zlib.compress(content, 1)
        entry = struct.pack("<256p256xiii", name.encode(), len(content), len(packed), len(archive))
        index += entry + struct.pack("<IBB2x", zlib.crc32(content), 0, 2)
        archive += packed
    index_packed = zlib.compress(index)
    crc = zlib.crc32(archive + index_packed) ^ (not fits)
    header = struct.pack("<4sIIqI", b"RGMH", 1, HEADER_SIZE, 0, len(picture)).ljust(HEADER_SIZE, b"\0")
    trailer = struct.pack("<IiiiiB15x", crc, 2 + len(members), 1, len(index_packed), len(archive), 1)
    return header + picture + archive + index_packed + trailer


class Fields(bytearray):
    """A record whose fields are put in their places."""

    def __init__(self, kind: int) -> None:
        super().__init__(2560)
        self[8] = kind

    def integers(self, at: int, *values: int) -> None:
        """Put numbers of 4 bytes."""
        struct.pack_into(f"<{len(values)}i", self, at, *values)

    def reals(self, at: int, *values: float) -> None:
        """Put numbers of 8 bytes."""
        struct.pack_into(f"<{len(values)}d", self, at, *values)

    def singles(self, at: int, *values: float) -> None:
        """Put numbers of 4 bytes."""
        struct.pack_into(f"<{len(values)}f", self, at, *values)

    def cells(self, at: int, cells: Iterable[int]) -> None:
        """Put a position."""
        struct.pack_into("<26b", self, at, *cells)

    def wide_text(self, at: int, text: str) -> None:
        """Put a text in UTF-16."""
        data = text.encode("utf-16-le")[:256]
        self[at : at + len(data)] = data


def match_records(match: Transcript, *, analysed: bool = False) -> list[bytes]:
    """Return the records of a match."""
    records: list[bytes] = [bytes(_match_record(match))]
    for game in match.games:
        start = Fields(1)
        start.integers(12, *game.start.scores)
        start[20] = game.start.crawford
        start.cells(21, game.start.position_for(Seat.A).points)
        start.integers(48, game.number)
        start.integers(56, -1, -1)
        records += [bytes(start), *map(bytes, _turns(game, analysed=analysed)), *map(bytes, _game_end(game))]
    return records


def _match_record(match: Transcript) -> Fields:
    header, laws = Fields(0), match.games[0].start.laws
    header.integers(92, match.length or UNLIMITED, 0)
    header[100:103] = bytes((laws.crawford, laws.jacoby, laws.redoubles > 0))
    for seat, player in enumerate(match.players):
        header.reals(104 + 8 * seat, 1600.0 if player.rating is None else player.rating)
        header.integers(120 + 4 * seat, player.experience or 0)
        header.wide_text((880, 1138)[seat], player.name)
    if match.started:
        header.reals(128, match.started.timestamp() / 86400 + 25569)
    header.integers(552, VERSION)
    header[556:560] = b"DMLI"
    header.integers(576, -1, -1)
    header.integers(608, 1)
    header.wide_text(622, match.tags.get("Event", ""))
    return header


def _turns(game: Game, *, analysed: bool) -> Iterable[Fields]:
    """Yield the records of the cube and of plays: one of the cube is before every roll."""
    steps = [step for step in walk(game) if not isinstance(step.entry, Resign)]
    cube: Fields | None = None
    for place, step in enumerate(steps):
        entry = step.entry
        if isinstance(entry, Cube) and entry.action is CubeAction.DOUBLE:
            answers = [later.entry for later in steps[place + 1 : place + 4]]
            cube = _double(step, [answer.action for answer in answers if isinstance(answer, Cube)], analysed=analysed)
            yield cube
        elif isinstance(entry, Throw):
            if cube is None:
                cube = _cube(step.before, entry.seat, analysed=analysed)
                yield cube
            yield _play(step, entry, analysed=analysed)
            cube = None


def _sign(seat: Seat | None) -> int:
    return {Seat.A: 1, Seat.B: -1, None: 0}[seat]


def _cube(state: GameState, seat: Seat, *, analysed: bool, doubled: int = 0) -> Fields:
    record = Fields(2)
    opening = state.stage.value == "opening"
    record.integers(12, _sign(seat), -2 if opening else doubled, -1, -1, -1)
    record.integers(32, (state.cube.bit_length() - 1) * (_sign(state.owner) or 1))
    record.cells(36, state.position_for(Seat.A).points)
    record[208:211] = b"\x0277"
    record.reals(200, NOT_ANALYSED)
    record.reals(216, NOT_ANALYSED)
    record.integers(224, -1)
    struct.pack_into("<h", record, 64 + 56, -100)
    if analysed and not opening:
        struct.pack_into("<h", record, 64 + 56, 1)
        record.integers(64 + 28, 1001)
        record.singles(64 + 88, *CUBE)
        record.reals(200, 0.0 if doubled else CUBE[1] - CUBE[0])
    return record


def _double(step: Step, actions: Sequence[CubeAction], *, analysed: bool) -> Fields:
    entry = step.entry
    assert isinstance(entry, Cube)
    record = _cube(step.before, entry.seat, analysed=analysed, doubled=1)
    numbers = {CubeAction.PASS: 0, CubeAction.TAKE: 1, CubeAction.BEAVER: 2}
    for at, action in zip((20, 24, 28), actions, strict=False):
        record.integers(at, numbers[action])
        if action is not CubeAction.BEAVER:
            break
    if analysed and actions:
        record.reals(216, CUBE[1] - CUBE[2] if actions[0] is CubeAction.PASS else 0.0)
    return record


def _play(step: Step, entry: Throw, *, analysed: bool) -> Fields:
    record, seat = Fields(3), entry.seat
    before = after_roll(step.before, entry)
    position = before.position_for(seat)
    record.cells(9, before.position_for(Seat.A).points)
    record.integers(64, _sign(seat), *[-1] * 8)
    record.integers(100, max(entry.dice), min(entry.dice))
    record.integers(108, (before.cube.bit_length() - 1) * (_sign(before.owner) or 1))
    record.reals(2312, NOT_ANALYSED, NOT_ANALYSED)
    if entry.play is not None:
        after = position.play(entry.play).points
        record.cells(35, after)
        moves = [number for move in entry.play.moves for number in (move.source - 1, move.target - 1)]
        assert OFF == 0
        record.integers(68, *moves)
        record[2308] = 1
        results = sorted(resulting_positions(position.points, before.dice or ()))
        if analysed and results:
            record.integers(124 + 64, 1)
            record.cells(124 + 68, results[0])
            struct.pack_into("<h", record, 124 + 1156, 2)
            record.singles(124 + 1284 + 24, 0.5)
            record.reals(2312, 0.0 if after == results[0] else -LOSS, LUCK)
    return record


def _game_end(game: Game) -> Iterable[Fields]:
    result = game.result
    if result is None:
        return
    record, end = Fields(4), game.entries[-1] if game.entries else None
    record.integers(12, *game.scores)
    how = {Ending.DROPPED: 0, Ending.RESIGNED: 100 + result.level}.get(result.how, int(result.level))
    if isinstance(end, Resign):
        how = 100 + end.level
    record.integers(24, _sign(result.winner), result.points, how)
    yield record
