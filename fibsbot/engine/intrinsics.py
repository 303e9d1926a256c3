"""The intrinsics of `simd`, in LLVM's intermediate representation. Imported only when something is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fibsbot.engine.arrays import CELLS
from fibsbot.engine.simd import GROUP, TILE, VectorForm

_BYTE: Final = ir.IntType(8)
_WORD: Final = ir.IntType(16)
_INT: Final = ir.IntType(32)
_LONG: Final = ir.IntType(64)

_COMPARED: Final = 16
"""Cells of a board that are compared at once."""


def _variable(builder: ir.IRBuilder, value: Any) -> Any:
    """Build a local variable with an initial value; return its address."""
    with builder.goto_entry_block():
        address = builder.alloca(value.type)
    builder.store(value, address)
    return address


@contextlib.contextmanager
def _loop(builder: ir.IRBuilder, count: Any) -> Iterator[Any]:
    """Build a loop around the code built in this context; yield its index, from 0 to below the count."""
    before = builder.basic_block
    head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(_LONG)
    index.add_incoming(_LONG(0), before)
    builder.cbranch(builder.icmp_signed("<", index, count), body, end)
    builder.position_at_end(body)
    yield index
    index.add_incoming(builder.add(index, _LONG(1)), builder.basic_block)
    builder.branch(head)
    builder.position_at_end(end)


def _declared(module: ir.Module, function: ir.FunctionType, name: str) -> Any:
    """Return the declaration of a function in a module, added where it is missing."""
    return module.globals.get(name) or ir.Function(module, function, name)


def accumulate(form: VectorForm) -> Any:
    """Return numba's form of what `simd.accumulate_by` returns."""

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

            tiles = [pointer(number, _INT, size(2)) for number in range(2)]
            rows = pointer(3, _WORD, size(4)), pointer(5, _INT)
            _build_tile(builder, form, tiles, rows, pointer(6, _INT), size(7))
            return context.get_dummy_value()

        return types.void(before, sums, unit, weights, begin, places, values, pairs), build

    return add


def _build_tile(builder: ir.IRBuilder, form: VectorForm, tiles: Any, rows: Any, values: Any, pairs: Any) -> None:
    """Build the loop over pairs. `values` are read by pairs, each as one integer of 32 bits."""
    lanes = form.lanes
    words, wide = ir.VectorType(_WORD, lanes), ir.VectorType(_INT, lanes // 2)
    weights, places = rows
    before, after = (
        [builder.bitcast(builder.gep(tile, [_LONG(first)]), wide.as_pointer()) for first in range(0, TILE, lanes // 2)]
        for tile in tiles
    )
    held = [_variable(builder, builder.load(place, align=4)) for place in before]
    with _loop(builder, pairs) as index:
        first = builder.shl(index, _LONG(1))
        pair = [
            builder.gep(weights, [builder.sext(builder.load(builder.gep(places, [it]), align=4), _LONG)])
            for it in (first, builder.add(first, _LONG(1)))
        ]
        value = builder.load(builder.gep(values, [index]), align=2)
        both = builder.bitcast(_same(builder, value, wide), words)
        for number, held_sum in enumerate(held):
            place = _LONG(number // 2 * lanes)
            one, other = (
                builder.load(builder.bitcast(builder.gep(row, [place]), words.as_pointer()), align=2) for row in pair
            )
            interleaved = builder.shuffle_vector(one, other, _interleaving(lanes, number % 2))
            products = _add_products(builder, form, interleaved, both)
            builder.store(builder.add(builder.load(held_sum), products), held_sum)
    for place, held_sum in zip(after, held, strict=True):
        builder.store(builder.load(held_sum), place, align=4)


def _add_products(builder: ir.IRBuilder, form: VectorForm, one: Any, other: Any) -> Any:
    """Build the products of two vectors of words, neighbours added."""
    lanes = form.lanes
    if form.instruction:
        function = ir.FunctionType(ir.VectorType(_INT, lanes // 2), [one.type, other.type])
        return builder.call(_declared(builder.module, function, form.instruction), [one, other])
    longer = ir.VectorType(_INT, lanes)
    product = builder.mul(builder.sext(one, longer), builder.sext(other, longer))
    nothing = ir.Constant(longer, ir.Undefined)
    even, odd = (builder.shuffle_vector(product, nothing, _mask(range(first, lanes, 2))) for first in range(2))
    return builder.add(even, odd)


def find_nonzero() -> Any:
    """Return numba's form of `simd.find_nonzero`."""

    @intrinsic
    def find(_: Any, words: Any, count: Any, table: Any, places: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            words, table, places = (
                _pointer(context, builder, called.args[number], given[number], element)
                for number, element in ((0, _WORD), (2, _BYTE), (3, _INT))
            )
            size = context.cast(builder, given[1], called.args[1], types.int64)
            return _build_find(builder, words, table, places, size)

        return types.int64(words, count, table, places), build

    return find


def _build_find(builder: ir.IRBuilder, words: Any, table: Any, places: Any, count: Any) -> Any:
    """Build the loop over groups: a byte says which words are not 0, and the table has the places of its bits."""
    group, wide = ir.VectorType(_WORD, GROUP), ir.VectorType(_INT, GROUP)
    found = _variable(builder, _LONG(0))
    with _loop(builder, builder.udiv(count, _LONG(GROUP))) as index:
        first = builder.mul(index, _LONG(GROUP))
        some = builder.load(builder.bitcast(builder.gep(words, [first]), group.as_pointer()), align=2)
        mask = builder.bitcast(builder.icmp_signed("!=", some, ir.Constant(group, [0] * GROUP)), _BYTE)
        row = builder.gep(table, [builder.mul(builder.zext(mask, _LONG), _LONG(GROUP))])
        bits = builder.load(builder.bitcast(row, ir.VectorType(_BYTE, GROUP).as_pointer()), align=1)
        which = builder.add(builder.zext(bits, wide), _same(builder, builder.trunc(first, _INT), wide))
        known = builder.load(found)
        target = builder.bitcast(builder.gep(places, [known]), wide.as_pointer())
        builder.store(builder.mul(which, ir.Constant(wide, [TILE] * GROUP)), target, align=4)
        builder.store(builder.add(known, builder.zext(builder.ctpop(mask), _LONG)), found)
    return builder.load(found)


def find_changes() -> Any:
    """Return numba's form of `simd.find_changes`."""

    @intrinsic
    def find(_: Any, board: Any, other: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            both = [_pointer(context, builder, of, array, _BYTE) for of, array in zip(called.args, given, strict=True)]
            some = ir.VectorType(_BYTE, _COMPARED)
            mask: Any = _LONG(0)
            for first in (0, CELLS - _COMPARED):  # two loads that overlap
                one, two = (
                    builder.load(builder.bitcast(builder.gep(it, [_LONG(first)]), some.as_pointer()), align=1)
                    for it in both
                )
                bits = builder.bitcast(builder.icmp_signed("!=", one, two), _WORD)
                mask = builder.or_(mask, builder.shl(builder.zext(bits, _LONG), _LONG(first)))
            return mask

        return types.int64(board, other), build

    return find


def lowest_bit() -> Any:
    """Return numba's form of `simd.lowest_bit`."""

    @intrinsic
    def lowest(_: Any, mask: Any) -> Any:  # noqa: ARG001 - numba passes it
        def build(_: Any, builder: ir.IRBuilder, __: Any, given: Any) -> Any:
            return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.int64), build

    return lowest


def _pointer(context: Any, builder: ir.IRBuilder, of: Any, array: Any, element: ir.Type) -> Any:
    """Return the address of the elements of an array."""
    return builder.bitcast(context.make_array(of)(context, builder, array).data, element.as_pointer())


def _same(builder: ir.IRBuilder, number: Any, wide: ir.VectorType) -> Any:
    """Build a vector whose elements are all the same number."""
    nothing = ir.Constant(wide, ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, _INT(0)), nothing, _mask([0] * wide.count))


def _interleaving(lanes: int, half: int) -> ir.Constant:
    """Return the mask that interleaves the low or the high halves of two vectors, separately in each 128 bits."""
    places = [first + 4 * half + place for first in range(0, lanes, 8) for place in range(4)]
    return _mask(it for place in places for it in (place, place + lanes))


def _mask(places: Iterable[int]) -> ir.Constant:
    numbers = list(places)
    return ir.Constant(ir.VectorType(_INT, len(numbers)), numbers)
