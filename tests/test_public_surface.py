"""What is public is what tests/data/public_surface.txt lists; docs/reference/versions.md promises to keep it.

`FIBSBOT_GOLDEN=write pytest tests/test_public_surface.py` writes the file; it wants a line in the section "Library" of
CHANGELOG.md first.
"""

from __future__ import annotations

import enum
import hashlib
import importlib
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
GOLDEN: Final = ROOT / "tests/data/public_surface.txt"
MODULES: Final = (
    "fibsbot",
    "fibsbot.library.evaluations",
    "fibsbot.library.matches",
    "fibsbot.library.pictures",
    "fibsbot.testing",
    "fibsbot.strategies.base",
    "fibs_protocol",
)
"""Modules whose `__all__` is public."""


def signature(value: object) -> str:
    """Return the arguments of something that can be called, and what it returns; of an enumeration nothing.

    An enumeration is called by Python's own machinery, whose arguments change from one Python to the next.
    """
    if isinstance(value, enum.EnumMeta):
        return ""
    try:
        return str(inspect.signature(value)).replace(f"{ROOT}/", "")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def members(kind: type) -> Iterator[str]:
    """Yield the public attributes of a class, those of its own bases in this project included."""
    for name in sorted(dir(kind)):
        if name.startswith("_"):
            continue
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if owner is None or not owner.__module__.startswith(("fibsbot", "fibs_protocol")):
            continue
        value = vars(owner)[name]
        if isinstance(value, property) or not callable(getattr(kind, name)):
            yield f"    {name}"
        else:
            yield f"    {name}{signature(getattr(kind, name))}"


def surface() -> Iterator[str]:
    """Yield the lines of the list."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        yield f"[{module_name}]"
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if isinstance(value, type):
                yield f"class {name}{signature(value)}"
                yield from members(value)
            elif inspect.isroutine(value):
                yield f"{name}{signature(value)}"
            else:
                yield name


def changelog() -> str:
    """Return a digest of what the changelog says about the library."""
    section = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("### Library\n")[2].partition("\n### ")[0]
    return f"# Library section of CHANGELOG.md: {hashlib.sha256(section.encode()).hexdigest()[:16]}"


def test_the_public_surface_changes_only_with_a_line_in_the_changelog() -> None:
    found = list(surface())
    said, *known = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else [""]
    if os.environ.get("FIBSBOT_GOLDEN") == "write" and found != known:
        assert said != changelog(), "expected a line in the section Library of CHANGELOG.md about the change"
        GOLDEN.write_text("\n".join([changelog(), *found]) + "\n", encoding="utf-8")
        known = found
    assert known == found, "see the first lines of this file"


def test_a_class_is_listed_with_its_methods() -> None:
    found = list(surface())
    assert any(line.startswith("class Board(game: ") for line in found)
    assert any(line.startswith("    roll(") for line in found)
