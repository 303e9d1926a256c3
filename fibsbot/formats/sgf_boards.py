"""Boards that are set up in SGF: games seen from their middle, and where something is missing.

Points have the letters a to x, a being White's ace point and Black's 24 point, y is the bar of either and z is off.
White is seat A.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import evolve

from fibsbot.formats.building import HIGHEST_CUBE
from fibsbot.formats.errors import FormatError, expected
from fibsbot.formats.sgf_trees import Node
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Flaw, Position
from fibsbot.rules.state import GameState, Seat, Stage

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
COLOURS: Final = {Seat.A: "W", Seat.B: "B"}
SEATS: Final = {colour: seat for seat, colour in COLOURS.items()}
BOARD: Final = ("AE", "AW", "AB")
"""Properties that clear points and put checkers on them."""
PROPERTIES: Final = (*BOARD, "PL", "CV", "CP", "DI")
"""Properties that set something up. PL is who is on turn, CV what the cube shows, CP who owns it, DI the dice."""
_OWNERS: Final = {"c": None, "w": Seat.A, "b": Seat.B}
_BAR_LETTER: Final = 24
"""Place of the bar's letter."""


def letter(point: int, seat: Seat) -> str:
    """Return the letter of a point that a player calls by this number, bar and off included."""
    if point in {BAR, OFF}:
        return "y" if point == BAR else "z"
    return LETTERS[point - 1 if seat is Seat.A else 24 - point]


def point(name: str, seat: Seat) -> int:
    """Return what a player calls the point of this letter."""
    place = LETTERS.index(name)
    if place >= _BAR_LETTER:
        return BAR if place == _BAR_LETTER else OFF
    return place + 1 if seat is Seat.A else 24 - place


def write_board(state: GameState, turn: Seat) -> list[str]:
    """Return the nodes that set a board up, with the cube, and the dice if they lie on the board."""
    white = state.position if state.turn is Seat.A else state.position.swapped()
    # MN is the number of the turn that comes next; GNU Backgammon passes over it.
    text = f"PL[{COLOURS[turn]}]MN[{state.turns + 1}]AE[a:y]"
    for seat, position in ((Seat.A, white), (Seat.B, white.swapped())):
        counts = ((letter(place, seat), count) for place, count in enumerate(position.points) if place and count > 0)
        checkers = "".join(f"[{name}]" * count for name, count in sorted(counts))
        text += f"A{COLOURS[seat]}{checkers}" if checkers else ""
    owner = next(name for name, seat in _OWNERS.items() if seat is state.owner)
    cube = state.cube >> state.redoubles if state.stage is Stage.DOUBLED else state.cube
    nodes = [f"{text}CV[{cube}]CP[{owner}]"]
    if state.dice:  # in a node of its own: GNU Backgammon takes either a board or dice from one
        nodes.append(write_dice(turn, state.dice))
    return nodes


def write_dice(seat: Seat, dice: Dice) -> str:
    """Return the node that puts dice on the board."""
    return f"PL[{COLOURS[seat]}]DI[{dice[0]}{dice[1]}]"


def sets_up(node: Node) -> bool:
    """Whether a node changes the board, the cube or the dice; who is on turn alone says nothing."""
    return any(name in node.properties for name in PROPERTIES if name != "PL")


def has_board(node: Node) -> bool:
    """Whether a node moves checkers without anybody playing."""
    return any(name in node.properties for name in BOARD)


def read_board(node: Node, state: GameState) -> GameState:
    """Return the state that a node sets up, from what it was. Raises FormatError."""
    turn = SEATS.get((node.value("PL") or "").strip().upper()[:1], state.turn)
    position = _position(node, state).swapped() if turn is Seat.B else _position(node, state)
    # Without a number it is some turn, though not the first.
    turns = read_number(node, "MN", max(state.turns, 1) + 1) - 1 if has_board(node) else state.turns
    changed = evolve(
        state,
        position=position,
        turn=turn,
        turns=turns,
        cube=read_number(node, "CV", state.cube, HIGHEST_CUBE),
        owner=_OWNERS.get((node.value("CP") or "").strip().lower()[:1], state.owner),
    )
    if state.stage is Stage.OPENING and not has_board(node):
        return changed
    changed = evolve(changed, stage=Stage.ROLL, dice=None, offered=0, answering=None, redoubles=0, resignation=None)
    dice = read_dice(node.value("DI") or "")
    return evolve(changed, stage=Stage.MOVE, dice=dice) if dice else changed


def read_number(node: Node, name: str, otherwise: int, most: int = 1 << 30) -> int:
    """Return the number that a property says, from 1 to `most`; raise FormatError for anything else."""
    value = node.value(name)
    if value is None:
        return otherwise
    if not re.fullmatch(r"\s*[0-9]{1,10}\s*", value) or not 1 <= int(value) <= most:
        raise expected(f"{name} with a number from 1 to {most}", value, node.line)
    return int(value)


def read_dice(value: str) -> Dice | None:
    """Return the two dice that a value begins with; None if it does not."""
    found = re.match(r"\s*([1-6])([1-6])", value)
    return (int(found[1]), int(found[2])) if found else None


def _position(node: Node, state: GameState) -> Position:
    """Return the position that a node leaves, seen by White."""
    white = state.position if state.turn is Seat.A else state.position.swapped()
    counts = {seat: _counts(white if seat is Seat.A else white.swapped(), seat) for seat in Seat}
    for place in _places(node, "AE"):
        for seat in Seat:
            counts[seat][place] = 0
    for seat, colour in COLOURS.items():
        for place in _places(node, f"A{colour}"):
            counts[seat][place] += 1
    a, b = counts[Seat.A], counts[Seat.B]
    position = Position.from_sides(own=a, opponent=[*reversed(b[:24]), b[24]])
    if position.status() is not Flaw.VALID or any(a[place] and b[place] for place in range(24)):
        raise FormatError(f"line {node.line}: expected a board of 15 checkers a side, each point held by one of them")
    return position


def _counts(position: Position, seat: Seat) -> list[int]:
    """Count a player's checkers by the letters a to y; `position` is seen by the player."""
    counts = [0] * 25
    for place in range(1, 26):
        counts[LETTERS.index(letter(place, seat))] = max(position.points[place], 0)
    return counts


def _places(node: Node, name: str) -> list[int]:
    """Return the places of the letters that a property lists, singly or as `a:y`."""
    places: list[int] = []
    for value in node.properties.get(name, ())[:64]:
        found = re.fullmatch(r"\s*([a-y])(?::([a-y]))?\s*", value)
        if found:
            first, last = found[1], found[2] or found[1]
            places += range(LETTERS.index(first), LETTERS.index(last) + 1)
        elif value.strip():
            raise expected(f"{name} with points from a to y", value, node.line)
    return places
