"""The processors that functions are compiled for.

Values do not depend on the target: all arithmetic keeps to IEEE 754 in the order in which it is written, and what is
summed in vectors is summed in the same partial sums everywhere (`numerics`, `simd`). So each machine uses the fastest
target that it can run; the environment variable FIBSBOT_TARGET names another one.

`python -m fibsbot.engine.jit` lists those that this machine can run.
"""

from __future__ import annotations

import enum
import functools
import os
import platform
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import frozen

from fibsbot.engine import EngineUnavailableError

TARGET_VARIABLE: Final = "FIBSBOT_TARGET"
"""The environment variable that names the target."""


class TargetError(EngineUnavailableError):
    """The environment names a target that does not exist or that this machine cannot run; the text is one line."""


class VectorForm(enum.Enum):
    """How products are added: words per vector, and LLVM's name of the x86 instruction if there is one."""

    AVX2 = (16, "llvm.x86.avx2.pmadd.wd")
    SSE2 = (8, "llvm.x86.sse2.pmadd.wd")
    PORTABLE = (8, None)

    @property
    def lanes(self) -> int:
        """Return the number of words in a vector."""
        lanes: int = self.value[0]
        return lanes

    @property
    def instruction(self) -> str | None:
        """Return the name of the instruction."""
        instruction: str | None = self.value[1]
        return instruction


@frozen
class Target:
    """A kind of processor."""

    name: str
    machines: tuple[str, ...]
    """The processors as `platform.machine()` calls them, in lower case."""
    cpu: str
    """LLVM's name of the processor."""
    form: VectorForm
    level: int = 0
    """What `kernel_library.LEVEL` returns at least for a processor that can run it."""
    features: frozenset[str] = frozenset()
    """LLVM's names of the features that a processor must have besides those that all of its kind have."""

    @property
    def prefix(self) -> str:
        """The prefix of its functions in a library: letters, digits and underscores."""
        return f"{self.name.replace('-', '_')}__"


_X86_64: Final = ("x86_64", "amd64")
_V3: Final = frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
_V4: Final = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}

TARGETS: Final = (
    Target("x86-64-v3", _X86_64, "x86-64-v3", VectorForm.AVX2, 3, _V3),
    Target("x86-64", _X86_64, "x86-64", VectorForm.SSE2, 1),
    Target("x86-64-v4", _X86_64, "x86-64-v4", VectorForm.AVX2, 4, _V4),
    Target("aarch64", ("aarch64", "arm64"), "generic", VectorForm.PORTABLE),
)
"""The known targets, the preferred ones first: wider vectors than those of x86-64-v3 make nothing faster."""
LIBRARY_TARGETS: Final = tuple(target for target in TARGETS if target.name != "x86-64-v4")
"""The targets of which libraries have kernels."""
PORTABLE: Final = Target("portable", (), "generic", VectorForm.PORTABLE)
"""The target of all other processors."""


def targets_of(machine: str, features: Mapping[str, bool]) -> tuple[Target, ...]:
    """Return the targets that a processor with these features can run, the preferred one first."""
    known = [target for target in TARGETS if machine.lower() in target.machines]
    return tuple(target for target in known if all(features.get(name) for name in target.features)) or (PORTABLE,)


def targets_of_level(machine: str, level: int) -> tuple[Target, ...]:
    """Return the targets of a library that a processor of this level can run, the preferred one first."""
    return tuple(target for target in LIBRARY_TARGETS if machine.lower() in target.machines and target.level <= level)


@functools.cache
def host_targets() -> tuple[Target, ...]:
    """Return the targets that this machine can run, the preferred one first. Imports llvmlite."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - programs with compiled kernels do not need it

    features: Any = llvm.get_host_cpu_features()
    return targets_of(platform.machine(), features)


def chosen_target(targets: Iterable[Target]) -> Target:
    """Return the one of these targets that the environment names, else the first.

    Raises TargetError if it names another one.
    """
    by_name = {target.name: target for target in targets}
    wanted = os.environ.get(TARGET_VARIABLE)
    if not wanted:
        return next(iter(by_name.values()))
    if wanted not in by_name:
        raise TargetError(f"{TARGET_VARIABLE}: expected one of {', '.join(by_name)}, got {wanted!r}")
    return by_name[wanted]


@functools.cache
def host_target() -> Target:
    """Return the target that functions are compiled for in this process. Imports llvmlite; raises TargetError."""
    return chosen_target(host_targets())
