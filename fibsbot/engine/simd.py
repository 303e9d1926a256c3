"""Vector instructions for compiled functions: sums of products of 16-bit integers, and comparing boards.

They are written in LLVM's intermediate representation (`intrinsics`): numba has no vectors, and its loops do not
become the instruction needed. On x86 that is `pmaddwd`, which multiplies 16-bit integers and adds neighbouring
products as 32-bit integers, 16 products at a time with AVX2, else 8. For other processors LLVM lowers a portable
form. All forms give the same sums, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import ArrayType, Board, Floats32, IntVector32
from fibsbot.engine.numerics import GROUP
from fibsbot.engine.signatures import Intrinsic
from fibsbot.engine.targets import VectorForm

Bytes: TypeAlias = Annotated[npt.NDArray[np.uint8], ArrayType("uint8", 1)]
Words: TypeAlias = Annotated[npt.NDArray[np.int16], ArrayType("int16", 1)]
WordMatrix: TypeAlias = Annotated[npt.NDArray[np.int16], ArrayType("int16", 2)]
Sums: TypeAlias = IntVector32
Accumulate: TypeAlias = Callable[[Sums, Sums, int, Words, int, Sums, Words, int], None]
AccumulateTwo: TypeAlias = Callable[[Sums, Sums, int, Words, int, Sums, Words, Words, int], None]
ListWords: TypeAlias = Callable[[Floats32, Floats32, np.float32, np.float32, int, Bytes, Sums, Words, Words], int]
ListChanges: TypeAlias = Callable[[Floats32, Words, np.float32, int, Bytes, Sums, Words], int]

TILE: Final = 64
"""Sums of a row that are accumulated together: they fill half of the vector registers of a processor with AVX2."""
SHARED_TILE: Final = TILE // 2
"""The same for two rows that share the weights; what a block of rows needs of such a tile fits into the nearest cache.
"""
BIT_PLACES: Final = np.array(
    [[place for place in range(GROUP) if mask >> place & 1] + [0] * (GROUP - mask.bit_count()) for mask in range(256)],
    np.uint8,
).reshape(-1)
"""The positions of the bits that are set in each byte, shape (256 * GROUP,)."""

_CODE: Final = "fibsbot.engine.intrinsics"
"""The module that builds the intrinsics; only the compiler imports it."""


def layout(form: VectorForm, tile: int) -> npt.NDArray[np.intp]:
    """Return the order in which `accumulate` expects the weights of a tile, shape (tile,): the unit at each index.

    The instructions interleave two vectors within each 128 bits. With this order the sums come out in order of units.
    """
    if form is not VectorForm.AVX2:
        return np.arange(tile)
    return np.arange(tile).reshape(-1, 2, 2, 4).swapaxes(1, 2).reshape(-1)


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


def accumulate_two_by(form: VectorForm) -> AccumulateTwo:
    """Return the compiled function that adds a tile of products for two rows, which share the weights.

    Its arguments:
        sums, sums_of_other: Receive the results, int32.
        unit, begin, places: As above.
        weights: int16, rows of SHARED_TILE weights, otherwise as above.
        values, values_of_other: int16, for each row.
        pairs: As above.
    """
    return cast("AccumulateTwo", Intrinsic(_CODE, "accumulate_two", form))


def list_words_by(form: VectorForm) -> ListWords:
    """Return the compiled function that rounds the numbers of two rows and lists those that are not 0 in both.

    It returns how many there are. Its arguments:
        numbers, numbers_of_other: float32.
        scale, scale_of_other: The factors by which they become integers.
        count: How many there are, a multiple of GROUP.
        table: BIT_PLACES.
        places: Receives SHARED_TILE times the index of each, int32; longer than the list by GROUP or more.
        values, values_of_other: Receive the integers, int16; as long.
    """
    return cast("ListWords", Intrinsic(_CODE, "list_words", form))


def list_changes_by(form: VectorForm) -> ListChanges:
    """Return the compiled function that rounds the numbers of a row and lists how those that are new differ.

    It returns how many there are. Its arguments:
        numbers: float32.
        before: The integers of the row before, int16, which are replaced.
        scale, count, table: As above.
        places: Receives TILE times the index of each, otherwise as above.
        values: Receives the differences, int16.
    """
    return cast("ListChanges", Intrinsic(_CODE, "list_changes", form))


rectify: Final = cast(
    "Callable[[Sums, Floats32, Floats32, np.float32, int, Floats32, np.float32, np.float32], np.float32]",
    Intrinsic(_CODE, "rectify"),
)
"""Write the activations of a layer, and return the larger one of a multiple of their sum and one of the largest.

Its arguments:
    sums: The integer sums, int32.
    scales, biases: float32; an activation is its sum times its scale and the step, its bias added, or 0 if negative.
    step: The value of a word of 1.
    units: Their number, a multiple of 2 GROUP.
    outputs: Receives the activations, float32.
    by_total, by_most: The factors of the two results.
"""

find_changes: Final = cast("Callable[[Board, Board], int]", Intrinsic(_CODE, "find_changes"))
"""Return an integer whose bit n is set if cell n of two boards differs; for compiled functions."""
find_cells: Final = cast("Callable[[Board, int, int], int]", Intrinsic(_CODE, "find_cells"))
"""Return an integer whose bit n is set if cell n of a board is not below a number nor above another; likewise."""
lowest_bit: Final = cast("Callable[[int], int]", Intrinsic(_CODE, "lowest_bit"))
"""Return the number of the lowest bit that is set in a number other than 0; for compiled functions."""
highest_bit: Final = cast("Callable[[int], int]", Intrinsic(_CODE, "highest_bit"))
"""Return the number of the highest bit that is set in a number other than 0; for compiled functions."""
bit_count: Final = cast("Callable[[int], int]", Intrinsic(_CODE, "bit_count"))
"""Return how many bits of a number are set; for compiled functions."""
