"""Writes matches as BGBlitz' `.bgf` files, by what is known of their layout, and SMILE; only the tests need it.

Refused resignations, beavers, gaps and times cannot be said.
"""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from fibsbot.match import CubeAction
from fibsbot.position import Play, Position
from fibsbot.rules.plays import can_move
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Cube, Game, Resign, Step, Throw, Transcript, after_roll, walk

HEADER: Final = {"format": "BGF", "version": "1.0", "compress": True, "useSmile": True}
LOSS: Final = 0.25
"""What every play loses, in an analysis."""
LUCK: Final = 0.125
UNKNOWN: Final = -999
PACKERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "gzip": partial(gzip.compress, mtime=0),
    "zlib": zlib.compress,
    "plain": bytes,
}


def write_bgf(match: Transcript, *, analysed: bool = False, smile: bool = True, packed: str = "gzip") -> bytes:
    """Return a match as a file; `analysed` adds an analysis, which says the same of every decision."""
    return pack(match_object(match, analysed=analysed), smile=smile, packed=packed)


def pack(content: object, *, smile: bool = True, packed: str = "gzip", **header: object) -> bytes:
    """Return a file with this object, and other fields of its first line."""
    first = HEADER | {"compress": packed != "plain", "useSmile": smile} | header
    body = write_smile(content) if smile else json.dumps(content).encode()
    return json.dumps(first).encode() + b"\n" + PACKERS[packed](body)


def match_object(match: Transcript, *, analysed: bool = False) -> dict[str, Any]:
    """Return a match as the object of a file."""
    laws, last = match.games[0].start.laws, match.games[-1]
    return {
        "matchlen": match.length,
        "nameGreen": match.players[0].name,
        "nameRed": match.players[1].name,
        "date": f"{match.started:%Y.%m.%d}" if match.started else None,
        "event": match.tags.get("Event", ""),
        "site": match.site,
        "useCube": laws.cube,
        "useCrawford": laws.crawford,
        "useJacoby": laws.jacoby,
        "useBeaver": laws.redoubles > 0,
        "finalGreen": last.scores[0],
        "finalRed": last.scores[1],
        "games": [_game(game, analysed=analysed) for game in match.games],
    }


def _game(game: Game, *, analysed: bool) -> dict[str, Any]:
    start, result = game.start, game.result
    steps = [step for step in walk(game) if not isinstance(step.entry, Resign)]
    records: list[dict[str, Any]] = []
    for place, step in enumerate(steps):
        if isinstance(step.entry, Throw):
            records.append(_play(step, step.entry, analysed=analysed))
        elif isinstance(step.entry, Cube) and step.entry.action is CubeAction.DOUBLE:
            answer = steps[place + 1].entry if place + 1 < len(steps) else None
            records += _double(step.entry.seat, answer, analysed=analysed)
    end = game.entries[-1] if game.entries else None
    if isinstance(end, Resign):
        records.append(_record(end.seat) | {"red": 9, "green": 7})
    if result:
        records.append(_record(result.winner) | {"red": 4, "green": 7})
    return {
        "scoreGreen": start.scores[0],
        "scoreRed": start.scores[1],
        "isCrawford": start.crawford,
        "wonPoints": result.points if result else 0,
        "wasResignation": isinstance(end, Resign),
        "initial": {"points": [*points_of(start.position_for(Seat.A)), 0, 0], "cube": start.cube, "cubeOwner": 0},
        "moves": records,
    }


def points_of(position: Position) -> list[int]:
    """Return the 26 numbers of a position that seat A, green, sees."""
    cells = position.points
    return [*reversed(cells[1:25]), cells[25], -cells[0]]


def sign(seat: Seat) -> int:
    """Return the number of a player."""
    return -1 if seat is Seat.A else 1


def _record(seat: Seat) -> dict[str, Any]:
    return {"type": "amove", "player": sign(seat), "red": 0, "green": 0, "from": [-1] * 4, "to": [-1] * 4, "ply": 2}


def _double(seat: Seat, answer: object, *, analysed: bool) -> list[dict[str, Any]]:
    accepted = isinstance(answer, Cube) and answer.action is CubeAction.TAKE
    cube = _cube("DOUBLE", analysed=analysed)
    cube["cubeDecision"] |= {"hasDoubled": True} | ({} if answer is None else {"hasAccepted": accepted})
    answers = [] if answer is None else [_record(seat.other) | {"equity": cube}]
    return [_record(seat) | {"equity": cube}, *answers]


def _cube(state: str, *, analysed: bool) -> dict[str, Any]:
    """Return figures that make a double and a take right: as chances, from 0 to 1 for an equity of -1 to 1."""
    if not analysed:
        return {"hasEMG": False, "emg": UNKNOWN, "matchEquity": UNKNOWN, "cubeDecision": {"eqNoDouble": UNKNOWN}}
    chances = {"eqNoDouble": "0.55", "eqDoubleTake": 0.65, "eqDoublePass": 1.0, "stateOnMove": state}
    return {"hasEMG": True, "emg": 0.1, "matchEquity": 0.55, "cubeDecision": chances}


def _play(step: Step, entry: Throw, *, analysed: bool) -> dict[str, Any]:
    state: GameState = after_roll(step.before, entry)
    before = state.position_for(entry.seat)
    luck = {"mode": "Match", "luckPlain": UNKNOWN, "luckWeighted": LUCK}
    record = _record(entry.seat) | {"red": entry.dice[0], "green": entry.dice[1]}
    if entry.play is None:
        return record
    if not can_move(before, entry.dice):
        pair = {"from": [entry.dice[0], -1, -1, -1], "to": [entry.dice[1], -1, -1, -1]}
        said = {"dancingEquity": {"hasEMG": True, "emg": 0.5}, "luck": luck} if analysed else {}
        return record | {"red": 7, "green": 7} | pair | said
    record |= _move(entry.play)
    if analysed:
        options = [{"eq": {"hasEMG": True, "emg": 0.5 - LOSS}, "move": _move(entry.play), "played": True, "ply": 2}]
        options += [options[0] | {"eq": {"hasEMG": True, "emg": "0.5"}, "played": False}]
        return record | {"equity": _cube("DOUBLE", analysed=True), "moveAnalysis": options, "luck": luck}
    return record


def _move(play: Play) -> dict[str, list[int]]:
    unused = [-1] * (4 - len(play.moves))
    return {
        "from": [*(move.source for move in play.moves), *unused],
        "to": [*(move.target for move in play.moves), *unused],
    }


# -- SMILE ------------------------------------------------------------------------------------------------------------


def write_smile(value: object, *, names: bool = True, texts: bool = True) -> bytes:
    """Return a value of JSON as a SMILE document; `names` and `texts` that come again become references."""
    return SmileWriter(names=names, texts=texts).document(value)


class SmileWriter:
    """Writes a document as Jackson does: whatever comes again becomes a reference."""

    def __init__(self, *, names: bool, texts: bool) -> None:
        self.flags = names | texts << 1
        self.names: list[str] | None = [] if names else None
        self.texts: list[str] | None = [] if texts else None

    def document(self, value: object) -> bytes:
        """Return the whole document."""
        return b":)\n" + bytes([self.flags]) + self.value(value)

    def value(self, value: object) -> bytes:  # noqa: PLR0911 - a return for each kind of value
        """Return a value."""
        if isinstance(value, dict):
            return b"\xfa" + b"".join(self._name(name) + self.value(it) for name, it in value.items()) + b"\xfb"
        if isinstance(value, list):
            return b"\xf8" + b"".join(map(self.value, value)) + b"\xf9"
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return b"\x29" + sevens(int.from_bytes(struct.pack(">d", value), "big"), 10)
        if isinstance(value, int) and not isinstance(value, bool):
            if -16 <= value <= 15:
                return bytes([0xC0 | zigzag(value)])
            return (b"\x24" if -(2**31) <= value < 2**31 else b"\x25") + unsigned(zigzag(value))
        return {None: b"\x21", False: b"\x22", True: b"\x23"}[value]  # type: ignore[index]

    def _name(self, name: str) -> bytes:
        data = name.encode()
        if not data:
            return b"\x20"
        if self.names is not None and name in self.names:
            number = self.names.index(name)
            return bytes([0x40 | number]) if number < 64 else bytes([0x30 | number >> 8, number & 0xFF])
        if len(data) > (64 if name.isascii() else 57):
            return b"\x34" + data + b"\xfc"
        remember(self.names, name)
        return bytes([0x80 + len(data) - 1 if name.isascii() else 0xC0 + len(data) - 2]) + data

    def _text(self, text: str) -> bytes:
        data = text.encode()
        if not data:
            return b"\x20"
        if self.texts is not None and text in self.texts:
            number = self.texts.index(text)
            return bytes([number + 1]) if number < 31 else bytes([0xEC | number >> 8, number & 0xFF])
        if len(data) > 64:
            return (b"\xe0" if text.isascii() else b"\xe4") + data + b"\xfc"
        remember(self.texts, text)
        return bytes([0x40 + len(data) - 1 if text.isascii() else 0x80 + len(data) - 2]) + data


def remember(known: list[str] | None, text: str) -> None:
    """Keep a text for references; of more than 1024 none is kept."""
    if known is not None:
        if len(known) == 1024:
            known.clear()
        known.append(text)


def zigzag(number: int) -> int:
    """Return a number with its sign as the lowest bit."""
    return number << 1 if number >= 0 else (~number << 1) | 1


def unsigned(number: int) -> bytes:
    """Return a number of variable length: 6 bits in the last byte, which has the highest bit, and 7 in the others."""
    found = [0x80 | number & 0x3F]
    number >>= 6
    while number:
        found.append(number & 0x7F)
        number >>= 7
    return bytes(reversed(found))


def sevens(bits: int, count: int) -> bytes:
    """Return bits as bytes of 7 bits."""
    return bytes(bits >> 7 * place & 0x7F for place in reversed(range(count)))
