"""What is locked is what the project asks for, the same for uv and for pip, and comes from where everybody gets it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fibs_protocol

ROOT: Final = Path(__file__).parent.parent
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROTOCOL: Final[dict[str, Any]] = tomllib.loads((ROOT / "protocol" / "pyproject.toml").read_text())
EXTRAS: Final = (
    "archive",
    "cluster",
    "dev",
    "docs",
    "jit",
    "kernels",
    "keyring",
    "postgresql",
    "release",
    "train",
    "web",
)
OWN: Final = {"fibsbot", "fibs-protocol"}
"""What this repository has itself."""
LOCK: Final[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())
UNBOUNDED: Final = {"attrs", "cattrs", "structlog"}
"""Their versions are years, which say nothing about what has changed."""


def constraints() -> list[Requirement]:
    return [Requirement(line) for line in (ROOT / "config" / "constraints.txt").read_text().splitlines()]


def wanted(name: str = "") -> list[Requirement]:
    """Return what the project asks for, or one of its extras."""
    project = PROJECT["project"]
    asked = project["optional-dependencies"][name] if name else project["dependencies"]
    return [it for it in map(Requirement, asked) if it.name not in OWN]


def pinned(name: str) -> set[str]:
    """Return the versions that are locked of a package; there may be one for each version of Python."""
    return {package["version"] for package in LOCK["package"] if package["name"] == canonicalize_name(name)}


def test_nothing_comes_from_anywhere_but_the_common_index() -> None:
    hosts = set(re.findall(r"\w+://[^/\"]*", (ROOT / "uv.lock").read_text()))
    assert {"https://pypi.org", "https://files.pythonhosted.org"} == hosts
    assert {"https://pypi.org/simple", None} == {package["source"].get("registry") for package in LOCK["package"]}


def test_the_lock_has_what_the_project_asks_for() -> None:
    asked = [
        *wanted(),
        *(it for name in EXTRAS for it in wanted(name)),
    ]
    assert [] == [str(it) for it in asked if not any(it.specifier.contains(version) for version in pinned(it.name))]
    (own,) = (package for package in LOCK["package"] if package["name"] == "fibsbot")
    locked = {(it["name"], it.get("specifier", "")) for it in own["metadata"]["requires-dist"] if it["name"] not in OWN}
    assert {(it.name, "".join(sorted(str(it.specifier).split(",")))) for it in asked} == {
        (name, "".join(sorted(specifier.split(",")))) for name, specifier in locked
    }


def test_pip_gets_the_versions_of_the_lock() -> None:
    found = {(canonicalize_name(it.name), str(it.specifier).removeprefix("==")) for it in constraints()}
    assert found <= {(package["name"], package.get("version")) for package in LOCK["package"]}
    needed, left = set(), [canonicalize_name(it.name) for it in [*wanted(), *wanted("dev")]]
    while left:
        name = left.pop()
        if name not in needed and name not in OWN:
            needed.add(name)
            packages = [package for package in LOCK["package"] if package["name"] == name]
            left += [it["name"] for package in packages for it in package.get("dependencies", ())]
    assert needed <= {name for name, _ in found}


def test_what_may_break_with_its_next_major_version_has_an_upper_bound() -> None:
    asked = [it for name in ("", *EXTRAS) if name != "dev" for it in wanted(name)]
    assert UNBOUNDED == {it.name for it in asked if "<" not in {part.operator for part in it.specifier}}


def test_the_protocol_is_found_in_this_repository_and_needs_attrs_alone() -> None:
    (asked,) = (it for it in map(Requirement, PROJECT["project"]["dependencies"]) if it.name == "fibs-protocol")
    assert asked.specifier.contains(fibs_protocol.__version__)
    (own,) = (package for package in LOCK["package"] if package["name"] == "fibs-protocol")
    assert {"editable": "protocol"} == own["source"]
    assert PROTOCOL["project"]["dependencies"] == [str(it) for it in wanted() if it.name == "attrs"]
    assert [{"name": "attrs"}] == own["dependencies"]
