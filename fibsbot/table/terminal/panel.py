"""The panel beside the board: the players, what the game is played for, and its score sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final

from attrs import frozen
from rich.style import Style

from fibsbot.drawing.scene import DrawnSide, Scene, scene_of_game
from fibsbot.match import Owner
from fibsbot.rules.sides import START, Course
from fibsbot.rules.state import Seat
from fibsbot.table.model import Preference, SheetEntry, TableModel
from fibsbot.table.terminal.board import OPPONENT_SIGN, OWN_SIGN
from fibsbot.table.terminal.canvas import Canvas
from fibsbot.table.terminal.colours import Colours

NARROWEST: Final = 19
"""Columns that the panel needs."""
_PREFERENCES: Final = {Preference.ROLL: "roll", Preference.FORCED: "forced", Preference.GREEDY: "bear off"}

Line = tuple[str, Style]


@frozen
class Aside:
    """What the lessons of a table add to the panel."""

    advice: Sequence[Sequence[Line]] = ()
    """A hint, in blocks of lines."""
    notes: Sequence[str] = ()
    """What is being done."""


def draw_panel(model: TableModel, width: int, height: int, colours: Colours, aside: Aside | None = None) -> Canvas:
    """Draw the panel: the opponent above, the person below, and as much of the score sheet as there is room for.

    Advice is in place of the score sheet, as many whole blocks as there is room for; notes are above the person.
    """
    aside = aside or Aside()
    scene = scene_of_game(model.shown, model.seat, model.names)
    canvas = Canvas(width, height, colours.screen)
    head = [
        *_player(scene, scene.above, OPPONENT_SIGN, colours.opponent, colours),
        *_game(scene, width, colours),
    ]
    foot = [
        ("─" * width, colours.faint),
        *_preferences(model, width, colours),
        *((line, colours.faint) for note in aside.notes for line in wrap(note, width, subsequent_indent=" ")),
        *_player(scene, scene.below, OWN_SIGN, colours.own, colours),
    ]
    room = max(height - len(head) - len(foot), 0)
    between = _whole_blocks(aside.advice, room) if aside.advice else _sheet(model, room, width, colours)
    for y, (text, style) in enumerate([*head, *between]):
        canvas.write(0, y, text, style)
    for y, (text, style) in enumerate(foot, height - len(foot)):
        canvas.write(0, y, text, style)
    return canvas


def _whole_blocks(blocks: Sequence[Sequence[Line]], room: int) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        if len(lines) + len(block) > room:
            break
        lines += block
    return lines


def _sheet(model: TableModel, room: int, width: int, colours: Colours) -> list[Line]:
    """Return the end of the score sheet."""
    entries = model.sheet[len(model.sheet) - room :] if room < len(model.sheet) else model.sheet
    sheet = [line for entry in entries for line in _entry(entry, model.seat, width, colours)]
    return sheet[max(len(sheet) - room, 0) :]


def _player(scene: Scene, side: DrawnSide, sign: str, style: Style, colours: Colours) -> list[Line]:
    turn = " ◄" if side.on_turn else ""
    score = f"{side.score}/{scene.length}" if scene.length else f"{side.score}"
    return [(f"{sign} {side.name}{turn}", style), (f"  {score}   {side.pips} pips", colours.screen)]


def _game(scene: Scene, width: int, colours: Colours) -> list[Line]:
    """Return what game it is, and what it is played for."""
    words = [scene.rules.full_name]
    if scene.has_cube:
        owned = scene.cube > 1 and scene.owner is not Owner.CENTRED
        owner = f" ({scene.names[scene.owner is Owner.OPPONENT]})" if owned else ""
        words.append("Crawford game" if scene.crawford else f"cube {scene.cube}{owner}")
    elif scene.cube > 1:
        words.append(f"stake {scene.cube}")
    if scene.course is not Course.CONTRARY:
        start, end = scene.course.facing(START), scene.course.facing(1)
        words.append(f"{OPPONENT_SIGN} goes the same way, from {start} to {end}")
    if scene.remarks and "small letter" not in scene.remarks[0]:
        words.append(scene.remarks[0])
    lines = [line for word in words for line in wrap(word, width, subsequent_indent=" ")]
    return [(line, colours.faint) for line in [*lines, "─" * width]]


def _preferences(model: TableModel, width: int, colours: Colours) -> list[Line]:
    """Return what the person leaves to the table."""
    chosen = [_PREFERENCES[one] for one in Preference if one in model.preferences]
    lines = wrap(f"auto: {', '.join(chosen)}", width, subsequent_indent=" ") if chosen else []
    return [(line, colours.faint) for line in lines]


def _entry(entry: SheetEntry, seat: Seat, width: int, colours: Colours) -> Iterable[Line]:
    own = entry.seat is seat
    sign, style = (OWN_SIGN, colours.own) if own else (OPPONENT_SIGN, colours.opponent)
    dice = entry.dice.replace("-", "") + ": " if entry.dice else ""
    plain = style + Style(bold=False)
    return [(line, plain) for line in wrap(f"{sign} {dice}{entry.text}", width, subsequent_indent="  ")]
