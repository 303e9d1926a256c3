"""Sums of products of 16-bit integers by the processor's vector instructions, for compiled functions.

They are written in LLVM's intermediate representation (`jit_compiler`): numba has no vectors, and its loops do not
become the instruction needed. On x86 that is `pmaddwd`, which multiplies 16-bit integers and adds neighbouring
products as 32-bit integers, 16 products at a time with AVX2, else 8. For other processors LLVM lowers a portable
form. All forms give the same sums, to the last bit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt

from fibsbot.engine.jit import Intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.int16]
Sums: TypeAlias = npt.NDArray[np.int32]
Accumulate: TypeAlias = Callable[[Sums, Sums, int, Words, int, Sums, Words, int], None]

TILE: Final = 64
"""Sums that are added to together: they fill half of the registers that a processor with AVX2 has."""
GROUP: Final = 8
"""Words that `find_nonzero` looks at together."""
BIT_PLACES: Final = np.array(
    [[place for place in range(GROUP) if mask >> place & 1] + [0] * (GROUP - mask.bit_count()) for mask in range(256)],
    np.uint8,
).reshape(-1)
"""The places of the bits that are set in a byte, shape (256 * GROUP,)."""

_CODE: Final = "fibsbot.engine.jit_compiler"
"""Where they are written, which only the compiler needs."""


class VectorForm(enum.Enum):
    """How products are added: words in a vector, and the x86 instruction, as LLVM calls it, if there is one."""

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


def host_form() -> VectorForm:
    """Return the fastest form that this processor knows."""
    if not llvm.get_process_triple().startswith(("x86_64", "amd64")):
        return VectorForm.PORTABLE
    return VectorForm.AVX2 if llvm.get_host_cpu_features().get("avx2") else VectorForm.SSE2


def layout(form: VectorForm) -> npt.NDArray[np.intp]:
    """Return the order in which `accumulate` takes the weights of a tile, shape (TILE,): the unit of each place.

    Instructions interleave two vectors in each 128 bits by themselves. In this order sums come out in their own.
    """
    if form is not VectorForm.AVX2:
        return np.arange(TILE)
    return np.arange(TILE).reshape(-1, 2, 2, 4).swapaxes(1, 2).reshape(-1)


def accumulate_by(form: VectorForm) -> Accumulate:
    """Return the compiled function that adds a tile of products.

    Its arguments:
        before: Sums to add to, int32.
        sums: Where the results are written, int32.
        unit: The first unit of the tile, in both.
        weights: int16, each row TILE of them in the order of `layout`, none of them -32768.
        begin: The place in `weights` from which rows are counted.
        places: Where the row of each value begins, int32.
        values: int16, each multiplied by the weights of its row.
        pairs: Half the number of values that are used.
    """
    return cast("Accumulate", Intrinsic(_CODE, "accumulate", form))


find_nonzero: Final = cast("Callable[[Words, int, Bytes, Sums], int]", Intrinsic(_CODE, "find_nonzero"))
"""Write TILE times the place of each word that is not 0, and return how many they are; for compiled functions.

Its arguments:
    words: int16.
    count: How many words are looked at, a multiple of GROUP.
    table: BIT_PLACES.
    places: int32, with room for GROUP more than are found.
"""
