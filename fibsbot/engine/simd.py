"""Vector instructions for compiled functions: sums of products of 16-bit integers, and comparing boards.

They are written in LLVM's intermediate representation (`intrinsics`): numba has no vectors, and its loops do not
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

from fibsbot.engine.arrays import Board
from fibsbot.engine.jit import Intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.int16]
Sums: TypeAlias = npt.NDArray[np.int32]
Accumulate: TypeAlias = Callable[[Sums, Sums, int, Words, int, Sums, Words, int], None]

TILE: Final = 64
"""Sums that are accumulated together: they fill half of the vector registers of a processor with AVX2."""
GROUP: Final = 8
"""Words that `find_nonzero` tests together."""
BIT_PLACES: Final = np.array(
    [[place for place in range(GROUP) if mask >> place & 1] + [0] * (GROUP - mask.bit_count()) for mask in range(256)],
    np.uint8,
).reshape(-1)
"""The positions of the bits that are set in each byte, shape (256 * GROUP,)."""

_CODE: Final = "fibsbot.engine.intrinsics"
"""The module that builds the intrinsics; only the compiler imports it."""


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


def host_form() -> VectorForm:
    """Return the fastest form that this processor supports."""
    if not llvm.get_process_triple().startswith(("x86_64", "amd64")):
        return VectorForm.PORTABLE
    return VectorForm.AVX2 if llvm.get_host_cpu_features().get("avx2") else VectorForm.SSE2


def layout(form: VectorForm) -> npt.NDArray[np.intp]:
    """Return the order in which `accumulate` expects the weights of a tile, shape (TILE,): the unit at each index.

    The instructions interleave two vectors within each 128 bits. With this order the sums come out in order of units.
    """
    if form is not VectorForm.AVX2:
        return np.arange(TILE)
    return np.arange(TILE).reshape(-1, 2, 2, 4).swapaxes(1, 2).reshape(-1)


def accumulate_by(form: VectorForm) -> Accumulate:
    """Return the compiled function that adds a tile of products.

    Its arguments:
        before: Sums to add to, int32.
        sums: Receives the results, int32.
        unit: The first unit of the tile, in both.
        weights: int16, rows of TILE weights in the order of `layout`, none of them -32768.
        begin: The index in `weights` from which rows are counted.
        places: The start of the row of each value, int32.
        values: int16, each multiplied by the weights of its row.
        pairs: Half the number of values to use.
    """
    return cast("Accumulate", Intrinsic(_CODE, "accumulate", form))


find_nonzero: Final = cast("Callable[[Words, int, Bytes, Sums], int]", Intrinsic(_CODE, "find_nonzero"))
"""Write TILE times the index of each word that is not 0, and return their number; for compiled functions.

Its arguments:
    words: int16.
    count: The number of words, a multiple of GROUP.
    table: BIT_PLACES.
    places: int32, longer than the number of nonzero words by GROUP or more.
"""

find_changes: Final = cast("Callable[[Board, Board], int]", Intrinsic(_CODE, "find_changes"))
"""Return an integer whose bit n is set if cell n of two boards differs; for compiled functions."""
lowest_bit: Final = cast("Callable[[int], int]", Intrinsic(_CODE, "lowest_bit"))
"""Return the number of the lowest bit that is set in a number other than 0; for compiled functions."""
