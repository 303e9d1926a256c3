"""The timeline of a chaos run: a row for each pair, each fault where it struck, and how long it took to recover."""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as ET

from fibsbot.arena.chaos.report import Report, Struck
from fibsbot.arena.chaos.schedule import Kind

LEFT: Final = 60
ROW: Final = 44
WIDTH: Final = 1200
LEGEND: Final = 18
COLUMNS: Final = 4
TICKS: Final = 10


def drawn(report: Report) -> str:
    """Return the timeline as SVG."""
    kinds = [kind.value for kind in Kind]
    rows = -(-len(kinds) // COLUMNS)
    bottom = report.pairs * ROW + 30
    height = bottom + 20 + rows * LEGEND + 10
    seconds = 60 * report.minutes
    frame = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {LEFT + WIDTH + 20} {height}"}
    root = ET.Element("svg", {**frame, "font-family": "sans-serif", "font-size": "12"})
    _add(root, "desc", f"{report.faults} faults of {report.kinds} kinds, and how long it took to recover from each")
    _add(root, "rect", width="100%", height="100%", fill="white")
    for pair in range(report.pairs):
        ground = str((pair + 1) * ROW)
        _add(root, "text", f"pair {pair + 1}", x="4", y=ground)
        _add(root, "line", x1=str(LEFT), x2=str(LEFT + WIDTH), y1=ground, y2=ground, stroke="#ccc")
    for tick in range(TICKS + 1):
        x = f"{LEFT + WIDTH * tick / TICKS:.1f}"
        _add(root, "line", x1=x, x2=x, y1="10", y2=str(bottom - 16), stroke="#eee")
        _add(root, "text", f"{seconds * tick / TICKS:.0f} s", x=x, y=str(bottom), **{"text-anchor": "middle"})
    for fault in report.struck:
        _draw_fault(root, fault, WIDTH / seconds, _colour(kinds.index(fault.kind), len(kinds)))
    for number, name in enumerate(kinds):
        column, row = divmod(number, rows)
        left, y = LEFT + column * WIDTH // COLUMNS, bottom + 20 + row * LEGEND
        _add(root, "circle", cx=str(left), cy=str(y), r="5", fill=_colour(number, len(kinds)))
        _add(root, "text", name, x=str(left + 10), y=str(y + 4))
    return ET.tostring(root, encoding="unicode")


def _draw_fault(root: ET.Element, fault: Struck, scale: float, colour: str) -> None:
    """Draw when it struck, a thin line while it lasted, and a thick one until all had recovered."""
    x, y = LEFT + fault.struck * scale, (fault.pair + 1) * ROW - 4 - 6 * (fault.number % 5)
    for begin, end, width in ((fault.struck, fault.ended, 2), (fault.ended, fault.recovered, 5)):
        if begin is not None and end is not None:
            x1, x2 = LEFT + begin * scale, LEFT + end * scale
            ends = {"x1": f"{x1:.1f}", "x2": f"{max(x2, x1 + 1):.1f}", "y1": str(y), "y2": str(y)}
            _add(root, "line", stroke=colour, **ends, **{"stroke-width": str(width)})
    circle = _add(root, "circle", cx=f"{x:.1f}", cy=str(y), r="4", fill=colour)
    _add(circle, "title", f"{fault.kind} at {fault.struck:.1f} s")


def _colour(number: int, count: int) -> str:
    return f"hsl({360 * number // count}, 70%, {45 + 15 * (number % 2)}%)"


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = text or None
    return element
