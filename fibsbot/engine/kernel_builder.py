"""Build the libraries of kernels for all platforms, on one machine: `python -m fibsbot.engine.kernel_builder`.

Numba translates each kernel once for each form of vectors, LLVM makes objects of it for every target, and the linkers
that the package `ziglang` brings make a library of them for each platform. None of that needs the platform itself or a
compiler of this machine. Libraries need nothing of other libraries but `memset` and the like on Linux, where Python has
always loaded them.
"""

from __future__ import annotations

import argparse
import importlib
import platform as host
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
from attrs import frozen
from llvmlite import ir

from fibsbot.engine import jit
from fibsbot.engine.jit import CompiledFunction
from fibsbot.engine.kernel_library import FOLDER, LEVEL, kernel_name, library_name, source_digest
from fibsbot.engine.targets import LIBRARY_TARGETS, Target, VectorForm

_MODULES: Final = (
    "bearoff.solver",
    "bearoff.tables",
    "cube.janowski",
    "rulesets.evaluator",
    "rulesets.game_loop",
    "rulesets.moves",
    "rulesets.network",
    "rulesets.plays",
    "features",
    "game_plans",
    "generator",
    "hash_tables",
    "network",
    "network_evaluator",
    "numerics",
    "pruner",
    "quantized",
    "search.lookahead",
)
"""The modules with kernels. Those of training are left to the compiler: they draw random numbers as numba does."""
_ELSEWHERE: Final = {"memcpy", "memmove", "memset"}
"""Functions of the C library that LLVM may call."""


class BuildError(Exception):
    """A library cannot be built; the text is one line."""


@frozen
class Platform:
    """A system and a processor."""

    system: str
    """As `sys.platform`."""
    machine: str
    """As `platform.machine()`."""
    triple: str
    """LLVM's name."""
    wheel: str
    """The tag of its wheels."""

    @property
    def name(self) -> str:
        """The beginning of the library's file name."""
        return library_name(self.system, self.machine, "").split("-.")[0]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets whose kernels its library has."""
        return tuple(target for target in LIBRARY_TARGETS if self.machine.lower() in target.machines)


PLATFORMS: Final = (
    Platform("linux", "x86_64", "x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    Platform("linux", "aarch64", "aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
    Platform("darwin", "x86_64", "x86_64-apple-macosx11.0.0", "macosx_11_0_x86_64"),
    Platform("darwin", "arm64", "arm64-apple-macosx11.0.0", "macosx_11_0_arm64"),
    Platform("win32", "AMD64", "x86_64-pc-windows-gnu", "win_amd64"),
)


# -- objects -----------------------------------------------------------------------------------------------------------


def kernels() -> Iterator[CompiledFunction[..., Any]]:
    """Yield all kernels; imports their modules."""
    for name in _MODULES:
        module = importlib.import_module(f"fibsbot.engine.{name}")
        for value in vars(module).values():
            if isinstance(value, CompiledFunction) and value.function.__module__ == module.__name__:
                yield value


def write_objects(form: VectorForm, platforms: list[Platform], folder: Path) -> None:
    """Write the object files of all targets with this form of vectors, one for each kernel, platform and target.

    Must be called before any module with kernels is imported: some of these depend on the form.
    """
    from fibsbot.engine import jit_compiler  # noqa: PLC0415 - loads numba

    every = [(platform, target) for platform in platforms for target in platform.targets if target.form is form]
    jit.compile_for_target(every[0][1])
    for kernel in kernels():
        for variant, key in enumerate(kernel.signatures):
            module, entry = jit_compiler.translate(kernel, key)
            text = str(module)
            name = kernel_name(kernel.function.__module__, kernel.function.__name__, variant)
            for platform, target in every:
                machine = _machine(platform, target)
                module = llvm.parse_assembly(text)
                _adapt(module, platform, machine)
                function = module.get_function(entry)
                function.name = target.prefix + name
                if platform.system == "win32":
                    function.storage_class = "dllexport"
                jit_compiler.optimise(module, machine)
                _check_needs(module, function.name)
                (folder / f"{platform.name}-{function.name}.o").write_bytes(machine.emit_object(module))


def _machine(platform: Platform, target: Target) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for the instructions of `_level_module`
    found = llvm.Target.from_triple(platform.triple)
    return found.create_target_machine(cpu=target.cpu, opt=3, reloc="pic", codemodel="default", jit=False)


def _adapt(module: Any, platform: Platform, machine: Any) -> None:
    module.triple = platform.triple
    module.data_layout = str(machine.target_data)


def _check_needs(module: Any, name: str) -> None:
    declared = {
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    }
    if more := declared - _ELSEWHERE:
        raise BuildError(
            f"{name}: expected a kernel that needs no other library, found calls of {', '.join(sorted(more))}"
        )


def _write_level(platform: Platform, folder: Path) -> None:
    """Write the object with the function that returns the level of the processor."""
    target = platform.targets[-1]
    machine = _machine(platform, target)
    built = _level_module(target)
    if platform.system == "win32":  # Windows calls it when the library is loaded, and expects a 1
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        start = ir.Function(built, ir.FunctionType(number, [pointer, number, pointer]), "DllMainCRTStartup")
        ir.IRBuilder(start.append_basic_block()).ret(number(1))
    module = llvm.parse_assembly(str(built))
    _adapt(module, platform, machine)
    if platform.system == "win32":
        module.get_function(LEVEL).storage_class = "dllexport"
    (folder / f"{platform.name}-{LEVEL}.o").write_bytes(machine.emit_object(module))


def _level_module(target: Target) -> ir.Module:
    """Return the function that returns the level: 0 but on x86-64, else 3 if the processor has what x86-64-v3 needs.

    What it has is in the bits of CPUID (Intel's manual, volume 2A); XGETBV says whether the system keeps registers of
    256 bits.
    """
    number = ir.IntType(32)
    module = ir.Module()
    builder = ir.IRBuilder(ir.Function(module, ir.FunctionType(number, []), LEVEL).append_basic_block())
    if target.level == 0:
        builder.ret(number(0))
        return module
    four = ir.LiteralStructType([number] * 4)

    def cpuid(leaf: int) -> list[Any]:
        kind = ir.FunctionType(four, [number, number])
        found = builder.asm(kind, "cpuid", "={eax},={ebx},={ecx},={edx},{eax},{ecx}", [number(leaf), number(0)], False)  # noqa: FBT003
        return [builder.extract_value(found, place) for place in range(4)]

    def require(register: Any, *bits: int) -> None:
        wanted = number(sum(1 << bit for bit in bits))
        has = builder.icmp_unsigned("==", builder.and_(register, wanted), wanted)
        more, less = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(has, more, less)
        builder.position_at_end(less)
        builder.ret(number(1))
        builder.position_at_end(more)

    enough = builder.icmp_unsigned(">=", cpuid(0)[0], number(7))
    require(builder.zext(enough, number), 0)
    require(cpuid(1)[2], 12, 22, 27, 28, 29)  # FMA, MOVBE, OSXSAVE, AVX, F16C
    two = ir.LiteralStructType([number] * 2)
    kept = builder.asm(ir.FunctionType(two, [number]), "xgetbv", "={eax},={edx},{ecx}", [number(0)], False)  # noqa: FBT003
    require(builder.extract_value(kept, 0), 1, 2)
    require(cpuid(7)[1], 3, 5, 8)  # BMI1, AVX2, BMI2
    require(cpuid(0x80000001)[2], 5)  # LZCNT
    builder.ret(number(3))
    return module


# -- libraries ---------------------------------------------------------------------------------------------------------


def link(platform: Platform, objects: list[Path], library: Path) -> None:
    """Make a shared library of objects."""
    files = [*map(str, objects)]
    zig = [sys.executable, "-m", "ziglang"]
    if platform.system == "linux":
        command = [*zig, "ld.lld", "-shared", "-s", "-z", "noexecstack", "--hash-style=gnu", "-o", str(library), *files]
    elif platform.system == "darwin":
        machine = {"arm64": "aarch64"}.get(platform.machine, platform.machine)
        command = [*zig, "cc", "-target", f"{machine}-macos.11.0", "-shared", "-o", str(library), *files]
    else:
        command = [
            *zig,
            "build-lib",
            "-dynamic",
            "-target",
            "x86_64-windows-gnu",
            "-fstrip",
            f"-femit-bin={library}",
            *files,
        ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=library.parent)  # noqa: S603
    if done.returncode or not library.exists():
        raise BuildError(f"{platform.name}: the linker failed: {done.stderr.strip()[-300:]}")


def build(platforms: list[Platform], folder: Path) -> Iterator[Path]:
    """Build the libraries of some platforms into a folder, in place of those there; yield each when it is done."""
    digest = source_digest()
    with tempfile.TemporaryDirectory() as place:
        objects = Path(place)
        forms = {target.form for platform in platforms for target in platform.targets}
        running = [
            subprocess.Popen(  # noqa: S603 - ourselves
                [
                    sys.executable,
                    "-m",
                    __spec__.name,
                    "--objects",
                    form.name,
                    place,
                    *(platform.name for platform in platforms),
                ]
            )
            for form in sorted(forms, key=lambda form: form.name)
        ]
        statuses = [process.wait() for process in running]
        if any(statuses):
            raise BuildError("a compiler failed")
        folder.mkdir(parents=True, exist_ok=True)
        for platform in platforms:
            _write_level(platform, objects)
            library = objects / library_name(platform.system, platform.machine, digest)
            link(platform, sorted(objects.glob(f"{platform.name}-*.o")), library)
            for old in folder.glob(f"{platform.name}-*"):
                old.unlink()
            yield Path(shutil.copy(library, folder))


def main(arguments: list[str] | None = None) -> int:
    """Build the libraries of the platforms that are named, by default of all."""
    if (arguments or sys.argv[1:])[:1] == ["--objects"]:
        form, folder, *names = (arguments or sys.argv[1:])[1:]
        write_objects(VectorForm[form], [platform for platform in PLATFORMS if platform.name in names], Path(folder))
        return 0
    parser = argparse.ArgumentParser(prog="kernel_builder", description=main.__doc__)
    parser.add_argument(
        "platforms", nargs="*", metavar="PLATFORM", help=", ".join(platform.name for platform in PLATFORMS)
    )
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder of the libraries")
    parser.add_argument("--host", action="store_true", help="print the platform of this machine and its wheel's tag")
    parser.add_argument("--list", action="store_true", help="print the platforms and the tags of their wheels")
    given = parser.parse_args(arguments)
    if unknown := set(given.platforms) - {platform.name for platform in PLATFORMS}:
        parser.error(f"expected platforms such as {PLATFORMS[0].name}, got {', '.join(sorted(unknown))}")
    chosen = [platform for platform in PLATFORMS if not given.platforms or platform.name in given.platforms]
    if given.list or given.host:
        here = library_name(sys.platform, host.machine(), "")
        listed = [platform for platform in chosen if given.list or here.startswith(f"{platform.name}-")]
        print(*(f"{platform.name} {platform.wheel}" for platform in listed), sep="\n")  # noqa: T201
        return 0 if listed else 1
    started = time.monotonic()
    try:
        for library in build(chosen, given.output):
            print(f"{library.name} {library.stat().st_size / 1000:.0f} kB", flush=True)  # noqa: T201
    except BuildError as error:
        print(f"kernel_builder: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"built in {time.monotonic() - started:.0f} s")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
