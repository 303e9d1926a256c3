"""The kernels, compiled when the package was built: a shared library that platform wheels bring.

With it a program needs neither numba nor llvmlite, compiles nothing, and makes no memory executable. `make kernels`
builds the libraries of all platforms into the folder `kernels` beside this file (`kernel_builder`), and `make wheels`
puts each into its wheel. In a checkout a library is used only if it was built from these sources: its name has their
digest.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import sys
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from fibsbot.engine.targets import Target, chosen_target, targets_of_level

FOLDER: Final = Path(__file__).parent / "kernels"
"""Where the libraries are, by platform and digest: `linux-x86_64-0123456789ab.so`."""
PACKAGE: Final = Path(__file__).parent.parent
_SYSTEMS: Final = {"linux": ("linux", ".so"), "darwin": ("macos", ".dylib"), "win32": ("windows", ".dll")}
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_SOURCES: Final = ("engine/**/*.py", "games/**/*.py", "match.py", "position.py")
"""The files of the package that kernels are made of, and those whose constants they contain."""
_OTHERS: Final = ("engine/training/", "engine/rollout/", "engine/kernel_")
"""The beginnings of names among these that have nothing to do with kernels."""
_DIGITS: Final = 12
LEVEL: Final = "fibsbot_level"
"""The function of a library that returns the level of the processor, as `Target.level`."""


@frozen(eq=False)
class KernelLibrary:
    """A library of kernels for this machine."""

    path: Path
    targets: tuple[Target, ...]
    """Those of its targets that this machine can run, the preferred one first."""
    target: Target
    """The target whose kernels are called."""
    _library: Any = field(repr=False)

    def symbol(self, name: str) -> tuple[str, Any] | None:
        """Return a kernel as ctypes' prototypes take it, by the name of `kernel_name`; None if it has none."""
        symbol = f"{self.target.prefix}{name}"
        return (symbol, self._library) if hasattr(self._library, symbol) else None


def kernel_name(module: str, function: str, variant: int) -> str:
    """Return the name of a function in a library without the prefix of its target, for a set of argument types."""
    return f"{module.removeprefix('fibsbot.engine.').replace('.', '_')}__{function}__{variant}"


def library_name(system: str, machine: str, digest: str) -> str:
    """Return the name of the file for a system as `sys.platform` has it, and a processor as `platform.machine()`."""
    name, ending = _SYSTEMS.get(system, (system, ".so"))
    machine = machine.lower()
    return f"{name}-{_MACHINES.get(machine, machine)}-{digest}{ending}"


@functools.cache
def source_digest() -> str:
    """Return a digest of the sources of the kernels."""
    found = hashlib.sha256()
    for name in sorted(path.relative_to(PACKAGE).as_posix() for pattern in _SOURCES for path in PACKAGE.glob(pattern)):
        if not name.startswith(_OTHERS):
            data = (PACKAGE / name).read_bytes()
            found.update(f"{name} {len(data)}\n".encode() + data)
    return found.hexdigest()[:_DIGITS]


def load_library(folder: Path = FOLDER) -> KernelLibrary | None:
    """Return the library for this machine; None if there is none, or none of these sources.

    Raises TargetError if the environment names a target that this machine cannot run.
    """
    is_checkout = (PACKAGE.parent / "pyproject.toml").exists()
    wanted = library_name(sys.platform, platform.machine(), "*")
    for path in sorted(folder.glob(wanted)):
        if not is_checkout or path.stem.endswith(f"-{source_digest()}"):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                return None
            targets = targets_of_level(platform.machine(), int(getattr(library, LEVEL)()))
            return KernelLibrary(path, targets, chosen_target(targets), library)
    return None
