"""The walls of docs/architecture.md stand: an import only ever points down."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent

ROOMS: Final = (
    ("protocol",),
    ("fibsbot.redaction",),
    (
        "fibsbot.log",
        "fibsbot.evolve",
        "fibsbot.json_lines",
        "fibsbot.files",
        "fibsbot.position",
        "fibsbot.processes",
        "fibsbot.setting",
        "fibsbot.text",
    ),
    ("fibsbot.match",),
    ("fibsbot.rules",),
    ("fibsbot.notation",),
    ("fibsbot.fibs",),
    ("fibsbot.transcript",),
    ("fibsbot.draw", "fibsbot.formats", "fibsbot.engine"),
    ("fibsbot.strategies", "fibsbot.records", "fibsbot.policy"),
    ("fibsbot.analysis",),
    ("fibsbot.report",),
    ("fibsbot.client", "fibsbot.server", "fibsbot.external"),
    ("fibsbot.bot",),
    ("fibsbot.replay",),
    ("fibsbot.service",),
    ("fibsbot.config",),
    ("fibsbot.arena",),
    ("fibsbot.cli",),
    ("fibsbot.__main__",),
)
"""From the ground up. Rooms on one floor know nothing of each other."""


def floor_and_room(module: str) -> tuple[int, str] | None:
    """Find the room of a module; None for modules that are none of ours."""
    for floor, rooms in enumerate(ROOMS):
        for room in rooms:
            if module == room or module.startswith(f"{room}."):
                return floor, room
    return None


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of every module that a file imports, in functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


@functools.cache
def sources() -> list[Path]:
    """List the files of the program."""
    return sorted([*ROOT.glob("protocol/**/*.py"), *ROOT.glob("fibsbot/**/*.py")])


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the program."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_file_has_a_room() -> None:
    homeless = [name for path in sources() if floor_and_room(name := module_name(path)) is None]
    assert ["fibsbot"] == homeless, "docs/architecture.md says where a file belongs"


@pytest.mark.parametrize(("floor", "room"), [(floor, room) for floor, rooms in enumerate(ROOMS) for room in rooms])
def test_imports_only_point_down(floor: int, room: str) -> None:
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in sources()
        if floor_and_room(module_name(path)) == (floor, room)
        for line, imported in imports(path)
        if (target := floor_and_room(imported)) and target[1] != room and target[0] >= floor
    ]
    assert [] == upward


def test_the_package_does_not_import_what_is_not_installed_with_it() -> None:
    outside = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in sources()
        for line, imported in imports(path)
        if imported.partition(".")[0] in {"bench", "tests"}
    ]
    assert [] == outside


def test_every_room_is_described() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    missing = [path.name for path in ROOT.glob("fibsbot/*") if path.is_dir() and not path.name.startswith("_")]
    assert [] == [name for name in missing if f"`fibsbot/{name}/`" not in text]
