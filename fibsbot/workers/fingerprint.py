"""What the results of a piece depend on besides its arguments: code, networks, tables and libraries.

Client and workers compute it each for itself; a worker refuses pieces of a client whose fingerprint differs. A journal
takes only results of its own fingerprint.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import fibs_protocol
from fibsbot.version import __version__

_LIBRARIES: Final = ("numpy",)
"""Libraries whose version changes random numbers."""
_ELSEWHERE: Final = {"bear-off tables": "fibsbot.engine.bearoff.storage:tables_in_use"}
"""Parts that a package above this one knows: their functions, which are imported by name."""
_DIGITS: Final = 12
"""Hexadecimal digits of a digest that are kept."""


def digest(*parts: Any) -> str:
    """Return a digest of values that JSON knows, bytes or attrs objects with a short `repr`; for keys of pieces."""
    found = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True, default=repr).encode()
        found.update(len(data).to_bytes(8) + data)
    return found.hexdigest()[: 2 * _DIGITS]


@functools.cache
def fingerprint() -> Mapping[str, str]:
    """Return the parts of the fingerprint of this process by name."""
    parts = {
        "fibsbot": f"{__version__} {_digest_of_files('.py')}",
        "networks and data": _digest_of_files(".npz", ".json", ".toml"),
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    parts |= {name: importlib.metadata.version(name) for name in _LIBRARIES}
    for name, place in _ELSEWHERE.items():
        module, _, function = place.partition(":")
        parts[name] = getattr(importlib.import_module(module), function)()
    return parts


def fingerprint_digest() -> str:
    """Return the fingerprint of this process in one word."""
    return digest(dict(fingerprint()))


def differing_parts(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Return in which parts a worker (`ours`) and its client (`theirs`) differ, in one line; empty if they agree."""
    names = [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]
    return "; ".join(f"{name} {ours.get(name, 'unknown')}, the client has {theirs.get(name, 'none')}" for name in names)


def _digest_of_files(*endings: str) -> str:
    found = hashlib.sha256()
    for name, data in _files(endings):
        found.update(f"{name} {len(data)}\n".encode() + data)
    return found.hexdigest()[:_DIGITS]


def _files(endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of the program that end so."""
    for folder in (Path(__file__).parents[1], Path(str(fibs_protocol.__file__)).parent):
        for path in sorted(file for ending in endings for file in folder.rglob(f"*{ending}")):
            yield path.relative_to(folder.parent).as_posix(), path.read_bytes()
