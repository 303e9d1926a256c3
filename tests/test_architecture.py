"""The code is as docs/explanation/architecture.md says: layers, packages, the path of a board line."""

import ast
import functools
import importlib
import re
import sys
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from tests.bot.agent_script import Script, board

ROOT: Final = Path(__file__).parent.parent
ARCHITECTURE: Final = (ROOT / "docs/explanation/architecture.md").read_text()

LAYERS: Final = (
    ("fibs_protocol",),
    ("fibsbot.redaction", "fibsbot.version"),
    (
        "fibsbot.log",
        "fibsbot.early_signals",
        "fibsbot.fast_evolve",
        "fibsbot.extensions",
        "fibsbot.fibs_ratings",
        "fibsbot.json_lines",
        "fibsbot.files",
        "fibsbot.position",
        "fibsbot.setting",
        "fibsbot.text",
        "fibsbot.web",
    ),
    ("fibsbot.workers",),
    ("fibsbot.rules",),
    ("fibsbot.games", "fibsbot.match"),
    ("fibsbot.notation",),
    ("fibsbot.fibs_numbering",),
    ("fibsbot.table_lines",),
    ("fibsbot.transcript",),
    ("fibsbot.drawing", "fibsbot.formats", "fibsbot.engine"),
    ("fibsbot.strategies", "fibsbot.records", "fibsbot.policy"),
    ("fibsbot.analysis",),
    ("fibsbot.practice",),
    ("fibsbot.report",),
    ("fibsbot.client", "fibsbot.server", "fibsbot.external"),
    ("fibsbot.bot", "fibsbot.notify"),
    ("fibsbot.replay",),
    ("fibsbot.archive", "fibsbot.table"),
    ("fibsbot.service",),
    ("fibsbot.config",),
    ("fibsbot.arena",),
    ("fibsbot.chouette", "fibsbot.library"),
    ("fibsbot.testing",),
    ("fibsbot.cli",),
    ("fibsbot.__main__",),
)
"""Packages and modules by layer, lowest first. Those of one layer do not import each other."""


@functools.cache
def layer_and_package(module: str) -> tuple[int, str] | None:
    """Return the layer of a module and its entry there; None for modules of others."""
    for layer, packages in enumerate(LAYERS):
        for package in packages:
            if module == package or module.startswith(f"{package}."):
                return layer, package
    return None


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """List line and name of every module that a file imports, in functions too."""
    found: list[tuple[int, str]] = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.lineno, node.module))
            found += ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Return every statement in another; what is in expressions, which import nothing, is most of a file."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from statements(inner)


@functools.cache
def sources() -> list[Path]:
    """List the files of the program."""
    return sorted([*ROOT.glob("protocol/**/*.py"), *ROOT.glob("fibsbot/**/*.py")])


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the program."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return name.removeprefix("protocol.")


def test_every_module_is_in_a_layer() -> None:
    missing = [name for path in sources() if layer_and_package(name := module_name(path)) is None]
    assert ["fibsbot"] == missing, "docs/explanation/architecture.md says where a file belongs"


def test_the_house_is_drawn_as_it_stands() -> None:
    """No floor imports from one above it: it has no layer above the lowest one there."""
    (drawing,) = re.findall(r"^ at the door.*?^```$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    floors = [
        [layer_and_package(name if name == "fibs_protocol" else f"fibsbot.{name}") for name in names]
        for floor in drawing.split("-+\n")
        if (names := re.findall(r"(?<= {2})(\w+):", floor))
    ]
    layers = [[found[0] for found in floor if found] for floor in floors]
    assert list(map(len, floors)) == list(map(len, layers))
    assert [] == [upper for upper, lower in pairwise(layers) if min(upper) < max(lower)]
    assert len(layers) == 8


def test_imports_only_point_to_lower_layers() -> None:
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in sources()
        if (place := layer_and_package(module_name(path)))
        for line, imported in imports(path)
        if (target := layer_and_package(imported)) and target[1] != place[1] and target[0] >= place[0]
    ]
    assert [] == upward


def test_the_protocol_needs_attrs_alone() -> None:
    roots = {
        name.partition(".")[0]
        for path in sources()
        if path.is_relative_to(ROOT / "protocol")
        for _, name in imports(path)
    }
    assert {"attrs", "fibs_protocol"} == roots - sys.stdlib_module_names


@pytest.mark.slow
def test_the_package_does_not_import_what_is_not_installed_with_it() -> None:
    outside = [
        f"{path.relative_to(ROOT)}:{line} imports {imported}"
        for path in sources()
        for line, imported in imports(path)
        if imported.partition(".")[0] in {"bench", "tests"}
    ]
    assert [] == outside


def test_every_package_is_described() -> None:
    packages = [path.name for path in ROOT.glob("fibsbot/*") if (path / "__init__.py").exists()]
    assert [] == [name for name in packages if f"`fibsbot/{name}/`" not in ARCHITECTURE]


def test_packages_that_list_their_modules_list_them_all() -> None:
    """The docstring of a package says what is where, a line per module."""
    lists: dict[str, set[str]] = {}
    for path in sources():
        if path.name == "__init__.py":
            listed = set(
                re.findall(r"^    (\w+\.py) ", ast.get_docstring(ast.parse(path.read_text())) or "", re.MULTILINE)
            )
            if listed:
                modules = {it.name for it in path.parent.glob("*.py") if not it.name.startswith("__")}
                lists[str(path.relative_to(ROOT))] = listed ^ modules
    assert len(lists) > 20
    assert {} == {package: wrong for package, wrong in lists.items() if wrong}


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:fibsbot|protocol|tests|bench)/[\w./]*)`", ARCHITECTURE)
    assert len(named) > 50
    assert [] == [name for name in named if not (ROOT / name).exists()]


def test_every_name_in_the_code_exists() -> None:
    """Classes, functions and constants; options and settings are checked elsewhere."""
    written = "\n".join(path.read_text() for path in [*sources(), *ROOT.glob("tests/*.py"), ROOT / "pyproject.toml"])
    words = set(re.findall(r"\w+", written))
    named = re.findall(r"`@?(\w*[A-Z_]\w*(?:\.\w+)?)(?:\(\.\.\.\))?`", ARCHITECTURE)
    assert len(named) > 60
    assert [] == [name for name in named if not words.issuperset(name.split("."))]


def test_modules_import_from_rows_above_their_own() -> None:
    rows = re.findall(r"^\| (`(?:fibsbot|protocol)/.*?) \|", ARCHITECTURE, re.MULTILINE)
    places = {
        (ROOT / name if "/" in name else ROOT / "protocol/fibs_protocol" / name): number
        for number, row in enumerate(rows)
        for name in re.findall(r"`(.*?)`", row)
    }
    modules = {module_name(path): path for path in sources()}

    def row_of(path: Path) -> Path | None:
        return next((it for it in (path, *path.parents) if it in places), None)

    upward = {
        f"{own.relative_to(ROOT)} imports {other.relative_to(ROOT)}"
        for path in sources()
        if (own := row_of(path))
        for _, imported in imports(path)
        if imported in modules and (other := row_of(modules[imported])) and places[other] > places[own]
        if not other.is_relative_to(own)
    }
    assert set() == upward


def test_slow_libraries_are_imported_where_the_page_says() -> None:
    (numpy, store, connection) = re.search(
        r"numpy is imported by (.*?) alone.*SQLAlchemy by (.*?), telnetlib3 by\s(.*?)\.\s", ARCHITECTURE, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    for library, homes in (("numpy", numpy), ("sqlalchemy", store), ("telnetlib3", connection)):
        documented = set(re.findall(r"`(.*?)`", homes))
        users = [
            str(path.relative_to(ROOT / "fibsbot"))
            for path in sources()
            if any(name.partition(".")[0] == library for _, name in imports(path))
        ]
        outside = [user for user in users if not user.startswith(tuple(documented))]
        assert [] == outside, library
        assert documented == {home for home in documented if any(user.startswith(home) for user in users)}, library


# -- the path of a board line ----------------------------------------------------------------------------------------


def documented_path() -> list[tuple[str, str]]:
    """Return file and function of each step of the path of a board line, in the documented order."""
    section = ARCHITECTURE.partition("## The path of a board line")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", section, flags=re.MULTILINE)


def calls_during(action: Callable[[], object]) -> list[tuple[str, str]]:
    """Run something; return the file and the qualified name of each function of the program, by its first call."""
    seen: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            seen.setdefault((str(Path(frame.f_code.co_filename).relative_to(ROOT)), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(seen)


def test_a_board_line_goes_the_documented_path() -> None:
    """From the bytes to the question, and from the answer to the command; the edges are checked by name."""
    script = Script().to_match()
    script.server("You rolled 6, ford rolled 4", "It's your turn to move.")
    asked = calls_during(lambda: script.raw(f"{board(dice='6:4')}\r\n".encode()))
    answered = calls_during(script.first_play)
    path = documented_path()
    edges = [step for step in path if step[0] in {"fibsbot/client/connection.py", "fibsbot/bot/driver.py"}]
    assert 4 <= len(edges) < len(path)
    for file, function in edges:
        owner, _, method = function.partition(".")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        assert callable(getattr(getattr(module, owner), method)), function
    inner = [step for step in path if step not in edges]
    to_question = inner[: inner.index(("fibsbot/bot/decision_flow.py", "DecisionFlow.on_answer"))]
    to_command = inner[len(to_question) :]
    assert to_question == [step for step in asked if step in to_question]
    assert to_command == [step for step in answered if step in to_command]


def test_no_module_imports_itself_through_others() -> None:
    """Imports in functions and for type checkers count, too."""
    modules = {module_name(path): path for path in sources()}
    graph = {name: imported_modules(path, modules) - {name} for name, path in modules.items()}
    circles = [circle for circle in strong_components(graph) if len(circle) > 1]
    assert [] == circles


def imported_modules(path: Path, modules: Collection[str]) -> set[str]:
    """Return the modules that a file imports, and not the packages in which they are."""
    found = imports(path)
    packages = {(line, it.rpartition(".")[0]) for line, it in found if it in modules}
    return {it for line, it in found if it in modules and (line, it) not in packages}


def strong_components(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules each of which leads to all others of its set."""

    def reached(start: str) -> set[str]:
        found, left = set[str](), [start]
        while left:
            new = graph[left.pop()] - found
            found |= new
            left += new
        return found

    all_reached = {name: reached(name) for name in graph}
    components = {
        frozenset(it for it in seen if name in all_reached[it]) for name, seen in all_reached.items() if name in seen
    }
    return [set(it) for it in components]
