"""Sums of products of 16-bit integers by the processor's vectors, for compiled functions.

They are written in LLVM's intermediate representation: numba has no vectors, and its loops do not become the
instruction that this work is done with. On x86 that is `pmaddwd`, which multiplies 16-bit integers and adds
neighbouring products as 32-bit integers, 16 products at a time with AVX2, else 8. For other processors LLVM lowers a
portable form. All forms give the same sums, to the last bit.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, cast

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.int16]
Sums: TypeAlias = npt.NDArray[np.int32]
Accumulate: TypeAlias = Callable[[Sums, Sums, int, Words, int, Sums, Words, int], None]

TILE: Final = 64
"""Sums that are added to together: they fill half of the registers that a processor with AVX2 has."""
GROUP: Final = 8
"""Words that `find_nonzero` looks at together."""
PLACES: Final = np.array(
    [[place for place in range(GROUP) if mask >> place & 1] + [0] * (GROUP - mask.bit_count()) for mask in range(256)],
    np.uint8,
).reshape(-1)
"""The places of the bits that are set in a byte, shape (256 * GROUP,)."""

_tools: Any = cgutils
"""Without types."""
_BYTE: Final = ir.IntType(8)
_WORD: Final = ir.IntType(16)
_SUM: Final = ir.IntType(32)
_SIZE: Final = ir.IntType(64)


class Form(enum.Enum):
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


def form_of_host() -> Form:
    """Return the fastest form that this processor knows."""
    if not llvm.get_process_triple().startswith(("x86_64", "amd64")):
        return Form.PORTABLE
    return Form.AVX2 if llvm.get_host_cpu_features().get("avx2") else Form.SSE2


def layout(form: Form) -> npt.NDArray[np.intp]:
    """Return the order in which `accumulate` takes the weights of a tile, shape (TILE,): the unit of each place.

    Instructions interleave two vectors in each 128 bits by themselves. In this order sums come out in their own.
    """
    if form is not Form.AVX2:
        return np.arange(TILE)
    return np.arange(TILE).reshape(-1, 2, 2, 4).swapaxes(1, 2).reshape(-1)


def accumulate_by(form: Form) -> Accumulate:
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

    @intrinsic
    def accumulate(
        _: Any, before: Any, sums: Any, unit: Any, weights: Any, begin: Any, places: Any, values: Any, pairs: Any
    ) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            def size(number: int) -> Any:
                return context.cast(builder, given[number], called.args[number], types.int64)

            def pointer(number: int, element: ir.Type, first: Any = None) -> Any:
                begin = _pointer(context, builder, called.args[number], given[number], element)
                return begin if first is None else builder.gep(begin, [first])

            tiles = [pointer(number, _SUM, size(2)) for number in range(2)]
            rows = pointer(3, _WORD, size(4)), pointer(5, _SUM)
            _build_tile(builder, form, tiles, rows, pointer(6, _SUM), size(7))
            return context.get_dummy_value()

        return types.void(before, sums, unit, weights, begin, places, values, pairs), build

    return cast("Accumulate", accumulate)


def _build_tile(builder: ir.IRBuilder, form: Form, tiles: Any, rows: Any, values: Any, pairs: Any) -> None:
    """Build the loop over pairs. `values` are read by pairs, each as one integer of 32 bits."""
    lanes = form.lanes
    words, wide = ir.VectorType(_WORD, lanes), ir.VectorType(_SUM, lanes // 2)
    weights, places = rows
    before, after = (
        [builder.bitcast(builder.gep(tile, [_SIZE(first)]), wide.as_pointer()) for first in range(0, TILE, lanes // 2)]
        for tile in tiles
    )
    held = [_tools.alloca_once_value(builder, builder.load(place, align=4)) for place in before]
    with _tools.for_range(builder, pairs, intp=_SIZE) as loop:
        first = builder.shl(loop.index, _SIZE(1))
        pair = [
            builder.gep(weights, [builder.sext(builder.load(builder.gep(places, [it]), align=4), _SIZE)])
            for it in (first, builder.add(first, _SIZE(1)))
        ]
        value = builder.load(builder.gep(values, [loop.index]), align=2)
        both = builder.bitcast(_same(builder, value, wide), words)
        for number, held_sum in enumerate(held):
            place = _SIZE(number // 2 * lanes)
            one, other = (
                builder.load(builder.bitcast(builder.gep(row, [place]), words.as_pointer()), align=2) for row in pair
            )
            interleaved = builder.shuffle_vector(one, other, _interleaving(lanes, number % 2))
            products = _add_products(builder, form, interleaved, both)
            builder.store(builder.add(builder.load(held_sum), products), held_sum)
    for place, held_sum in zip(after, held, strict=True):
        builder.store(builder.load(held_sum), place, align=4)


def _add_products(builder: ir.IRBuilder, form: Form, one: Any, other: Any) -> Any:
    """Build the products of two vectors of words, neighbours added."""
    lanes = form.lanes
    if form.instruction:
        function = ir.FunctionType(ir.VectorType(_SUM, lanes // 2), [one.type, other.type])
        return builder.call(_tools.get_or_insert_function(builder.module, function, form.instruction), [one, other])
    longer = ir.VectorType(_SUM, lanes)
    product = builder.mul(builder.sext(one, longer), builder.sext(other, longer))
    nothing = ir.Constant(longer, ir.Undefined)
    even, odd = (builder.shuffle_vector(product, nothing, _mask(range(first, lanes, 2))) for first in range(2))
    return builder.add(even, odd)


@intrinsic
def _find_nonzero(_: Any, words: Any, count: Any, table: Any, places: Any) -> Any:
    def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
        words, table, places = (
            _pointer(context, builder, called.args[number], given[number], element)
            for number, element in ((0, _WORD), (2, _BYTE), (3, _SUM))
        )
        size = context.cast(builder, given[1], called.args[1], types.int64)
        return _build_find(builder, words, table, places, size)

    return types.int64(words, count, table, places), build


find_nonzero: Final = cast("Callable[[Words, int, Bytes, Sums], int]", _find_nonzero)
"""Write TILE times the place of each word that is not 0, and return how many they are; for compiled functions.

Its arguments:
    words: int16.
    count: How many words are looked at, a multiple of GROUP.
    table: PLACES.
    places: int32, with room for GROUP more than are found.
"""


def _build_find(builder: ir.IRBuilder, words: Any, table: Any, places: Any, count: Any) -> Any:
    """Build the loop over groups: which words are not 0 makes a byte, and the table has the places of its bits."""
    group, wide = ir.VectorType(_WORD, GROUP), ir.VectorType(_SUM, GROUP)
    found = _tools.alloca_once_value(builder, _SIZE(0))
    with _tools.for_range(builder, builder.udiv(count, _SIZE(GROUP)), intp=_SIZE) as loop:
        first = builder.mul(loop.index, _SIZE(GROUP))
        some = builder.load(builder.bitcast(builder.gep(words, [first]), group.as_pointer()), align=2)
        mask = builder.bitcast(builder.icmp_signed("!=", some, ir.Constant(group, [0] * GROUP)), _BYTE)
        row = builder.gep(table, [builder.mul(builder.zext(mask, _SIZE), _SIZE(GROUP))])
        bits = builder.load(builder.bitcast(row, ir.VectorType(_BYTE, GROUP).as_pointer()), align=1)
        which = builder.add(builder.zext(bits, wide), _same(builder, builder.trunc(first, _SUM), wide))
        known = builder.load(found)
        target = builder.bitcast(builder.gep(places, [known]), wide.as_pointer())
        builder.store(builder.mul(which, ir.Constant(wide, [TILE] * GROUP)), target, align=4)
        builder.store(builder.add(known, builder.zext(builder.ctpop(mask), _SIZE)), found)
    return builder.load(found)


def _pointer(context: Any, builder: ir.IRBuilder, of: Any, array: Any, element: ir.Type) -> Any:
    """Return where the elements of an array begin."""
    return builder.bitcast(context.make_array(of)(context, builder, array).data, element.as_pointer())


def _same(builder: ir.IRBuilder, number: Any, wide: ir.VectorType) -> Any:
    """Build a vector that has one number everywhere."""
    nothing = ir.Constant(wide, ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, _SUM(0)), nothing, _mask([0] * wide.count))


def _interleaving(lanes: int, half: int) -> ir.Constant:
    """Return the mask that interleaves the low or the high halves of two vectors, in each 128 bits by themselves."""
    places = [first + 4 * half + place for first in range(0, lanes, 8) for place in range(4)]
    return _mask(it for place in places for it in (place, place + lanes))


def _mask(places: Iterable[int]) -> ir.Constant:
    numbers = list(places)
    return ir.Constant(ir.VectorType(_SUM, len(numbers)), numbers)
