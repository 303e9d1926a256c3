"""The intermediate representation of `vectors`; loaded when something is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from fibsbot.engine.vectors import GROUP, TILE, Form

_tools: Any = cgutils
"""Without types."""
_BYTE: Final = ir.IntType(8)
_WORD: Final = ir.IntType(16)
_SUM: Final = ir.IntType(32)
_SIZE: Final = ir.IntType(64)


def accumulate(form: Form) -> Any:
    """Return numba's form of what `vectors.accumulate_by` returns."""

    @intrinsic
    def add(
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

    return add


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


def find_nonzero() -> Any:
    """Return numba's form of `vectors.find_nonzero`."""

    @intrinsic
    def find(_: Any, words: Any, count: Any, table: Any, places: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            words, table, places = (
                _pointer(context, builder, called.args[number], given[number], element)
                for number, element in ((0, _WORD), (2, _BYTE), (3, _SUM))
            )
            size = context.cast(builder, given[1], called.args[1], types.int64)
            return _build_find(builder, words, table, places, size)

        return types.int64(words, count, table, places), build

    return find


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
