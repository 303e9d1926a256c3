"""A target of numba's whose functions end as LLVM's intermediate representation, for `jit_compiler` alone.

On numba's usual target each function is optimised and becomes machine code together with all that it calls, and so do
its callers in turn: of a function with deep calls that is most of the work, and what was optimised in pieces is slower
in the end. Functions of this target are only translated; the whole is linked and optimised once, for `jit_compiler`.

The target has contexts of its own, so that other functions of numba's in the same process are compiled as ever. It uses
numba's target extension API and names that are not public; see `jit_compiler` for a numba without them.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Final

from numba import jit
from numba.core import codegen, cpu, registry
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_registry

TARGET: Final = "fibsbot"
"""The target's name, for numba's option `_target`."""


class _Library(codegen.JITCodeLibrary):
    """A function; the functions that it calls are linked to it when its text is requested."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave them as they are."""

    def finalize(self) -> None:
        """Link nothing: each function would be copied into all its callers, and theirs, and linked there again."""
        self._finalized = True

    def get_llvm_str(self) -> str:
        """Return the function and all that it calls."""
        module = self._final_module.clone()
        needed: dict[Any, None] = {}
        found = [*self._linking_libraries]
        while found:
            if (library := found.pop()) not in needed:
                needed[library] = None
                module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001 - numba's name
                if isinstance(library, _Library):
                    found += library._linking_libraries  # noqa: SLF001 - of the same class
        return str(module)

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - numba's name
        """Finish the library; return a null pointer."""
        self._ensure_finalized()
        return 0


class _Generator(codegen.JITCPUCodegen):
    """Makes such libraries."""

    _library_class = _Library

    def _add_module(self, module: Any) -> None:
        """Keep it from numba's engine, which would make machine code of it."""

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: only calls from Python need the environment."""


class _Context(cpu.CPUContext):
    def init(self) -> None:
        """Use the generator above."""
        super().init()
        self._internal_codegen = _Generator(TARGET)


class _Processor(CPU):
    """The processor of this machine: what numba implements for it is used."""


class _Descriptor(registry.CPUTarget):
    @cached_property
    def _toplevel_target_context(self) -> _Context:
        return _Context(self.typing_context, TARGET)


target_registry[TARGET] = _Processor


class _Compiler(registry.CPUDispatcher):
    targetdescr = _Descriptor(TARGET)


dispatcher_registry[_Processor] = _Compiler
jit_registry[_Processor] = partial(jit, _target=TARGET)
