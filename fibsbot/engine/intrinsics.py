"""The intrinsics of `simd` and `numerics`, in LLVM's intermediate representation.

Imported only when something is compiled.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fibsbot.engine.arrays import CELLS
from fibsbot.engine.numerics import GROUP
from fibsbot.engine.simd import SHARED_TILE, TILE
from fibsbot.engine.targets import VectorForm

_BYTE: Final = ir.IntType(8)
_WORD: Final = ir.IntType(16)
_INT: Final = ir.IntType(32)
_LONG: Final = ir.IntType(64)
_FLOAT: Final = ir.FloatType()
_INTEGERS: Final = ir.VectorType(_INT, GROUP)
_FLOATS: Final = ir.VectorType(_FLOAT, GROUP)

_EXPONENT_OF_ONE: Final = 1023
"""The exponent of 1 as a number of double precision stores it."""
_MANTISSA_BITS: Final = 52

_COMPARED: Final = 16
"""Cells of a board that are compared at once."""
_CELLS: Final = ir.VectorType(_BYTE, _COMPARED)


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
            return _build_sums(context, builder, form, [*zip(called.args, given, strict=True)])

        return types.void(before, sums, unit, weights, begin, places, values, pairs), build

    return add


def accumulate_two(form: VectorForm) -> Any:
    """Return numba's form of what `simd.accumulate_two_by` returns."""

    @intrinsic
    def add(
        _: Any, sums: Any, sums_of_other: Any, unit: Any, weights: Any, begin: Any, places: Any, values: Any,
        values_of_other: Any, pairs: Any,
    ) -> Any:  # fmt: skip
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            return _build_sums(context, builder, form, [*zip(called.args, given, strict=True)])

        types_given = sums, sums_of_other, unit, weights, begin, places, values, values_of_other, pairs
        return types.void(*types_given), build

    return add


def _build_sums(context: Any, builder: ir.IRBuilder, form: VectorForm, given: list[tuple[Any, Any]]) -> Any:
    """Build a tile of the sums of one row, added to those before, or of two rows; `given` are arguments with types."""
    one, other, unit, weights, begin, places, *values, pairs = given
    first, begin, pairs = (context.cast(builder, typed[1], typed[0], types.int64) for typed in (unit, begin, pairs))
    arrays = [builder.gep(_address(context, builder, array, _INT), [first]) for array in (one, other)]
    tiles, width = ([(None, array) for array in arrays], SHARED_TILE) if len(values) > 1 else ([arrays], TILE)
    rows = builder.gep(_address(context, builder, weights, _WORD), [begin]), _address(context, builder, places, _INT)
    _build_tile(builder, form, tiles, rows, [_address(context, builder, value, _INT) for value in values], pairs, width)
    return context.get_dummy_value()


def _build_tile(
    builder: ir.IRBuilder, form: VectorForm, tiles: Any, rows: Any, values: list[Any], pairs: Any, width: int
) -> None:
    """Build the loop over pairs, for one row of sums or more.

    Args:
        builder: The builder.
        form: The form of the vectors.
        tiles: For each row of sums where to begin (None: with zeros) and where the results go.
        rows: The weights and the places.
        values: The values by row, which are read by pairs, each as one integer of 32 bits.
        pairs: The number of pairs.
        width: The number of sums.
    """
    lanes = form.lanes
    words, wide = ir.VectorType(_WORD, lanes), ir.VectorType(_INT, lanes // 2)
    weights, places = rows

    def vectors(tile: Any) -> list[Any]:
        firsts = range(0, width, lanes // 2)
        return [builder.bitcast(builder.gep(tile, [_LONG(first)]), wide.as_pointer()) for first in firsts]

    zeros = ir.Constant(wide, [0] * wide.count)
    held = [
        [_variable(builder, builder.load(place, align=4)) for place in vectors(before)]
        if before is not None
        else [_variable(builder, zeros) for _ in range(0, width, lanes // 2)]
        for before, _ in tiles
    ]
    with _loop(builder, pairs) as index:
        first = builder.shl(index, _LONG(1))
        pair = [
            builder.gep(weights, [builder.sext(builder.load(builder.gep(places, [at]), align=4), _LONG)])
            for at in (first, builder.add(first, _LONG(1)))
        ]
        both = [
            builder.bitcast(_same(builder, builder.load(builder.gep(address, [index]), align=2), wide), words)
            for address in values
        ]
        for number in range(len(held[0])):
            place = _LONG(number // 2 * lanes)
            one, other = (
                builder.load(builder.bitcast(builder.gep(row, [place]), words.as_pointer()), align=2) for row in pair
            )
            interleaved = builder.shuffle_vector(one, other, _interleaving(lanes, number % 2))
            for sums, value in zip(held, both, strict=True):
                products = _add_products(builder, form, interleaved, value)
                builder.store(builder.add(builder.load(sums[number]), products), sums[number])
    for (_, after), sums in zip(tiles, held, strict=True):
        for place, held_sum in zip(vectors(after), sums, strict=True):
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


def rectify() -> Any:
    """Return numba's form of `simd.rectify`."""

    @intrinsic
    def rectify_sums(
        _: Any, sums: Any, scales: Any, biases: Any, step: Any, units: Any, outputs: Any, total: Any, most: Any
    ) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            typed = [*zip(called.args, given, strict=True)]
            arrays = [_address(context, builder, typed[0], _INT)]
            arrays += [_address(context, builder, typed[number], _FLOAT) for number in (1, 2, 5)]
            step, *factors = (
                context.cast(builder, given[number], called.args[number], types.float32) for number in (3, 6, 7)
            )
            units = context.cast(builder, given[4], called.args[4], types.int64)
            return _build_rectify(builder, arrays, step, units, factors)

        return types.float32(sums, scales, biases, step, units, outputs, total, most), build

    return rectify_sums


def _build_rectify(builder: ir.IRBuilder, arrays: list[Any], step: Any, units: Any, factors: list[Any]) -> Any:
    """Build the loop over groups of units, of which there is an even number: sums of even and odd groups are apart."""
    zeros = ir.Constant(_FLOATS, [0.0] * GROUP)
    steps = _same(builder, step, _FLOATS)
    totals, mosts = ([_variable(builder, zeros) for _ in range(2)] for _ in range(2))
    with _loop(builder, builder.udiv(units, _LONG(2 * GROUP))) as index:
        for half in range(2):
            first = builder.add(builder.mul(index, _LONG(2 * GROUP)), _LONG(half * GROUP))
            places = [
                builder.bitcast(builder.gep(array, [first]), kind.as_pointer())
                for array, kind in zip(arrays, (_INTEGERS, _FLOATS, _FLOATS, _FLOATS), strict=True)
            ]
            sums, scales, biases = (builder.load(place, align=4) for place in places[:3])
            value = builder.fmul(builder.sitofp(sums, _FLOATS), builder.fmul(scales, steps))
            value = _larger(builder, builder.fadd(value, biases), zeros)
            builder.store(value, places[3], align=4)
            builder.store(builder.fadd(builder.load(totals[half]), value), totals[half])
            builder.store(_larger(builder, value, builder.load(mosts[half])), mosts[half])
    total = builder.fadd(*map(builder.load, totals))
    most = _larger(builder, *map(builder.load, mosts))
    while total.type.count > 1:
        total = builder.fadd(*_halves(builder, total))
        most = _larger(builder, *_halves(builder, most))
    total, most = (
        builder.fmul(builder.extract_element(vector, _INT(0)), factor)
        for vector, factor in zip((total, most), factors, strict=True)
    )
    return _larger(builder, total, most)


def _larger(builder: ir.IRBuilder, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def _halves(builder: ir.IRBuilder, vector: Any) -> list[Any]:
    """Return both halves of a vector."""
    half = vector.type.count // 2
    nothing = ir.Constant(vector.type, ir.Undefined)
    return [builder.shuffle_vector(vector, nothing, _mask(range(first, first + half))) for first in (0, half)]


def list_words(form: VectorForm) -> Any:
    """Return numba's form of what `simd.list_words_by` returns."""

    @intrinsic
    def find(
        _: Any, one: Any, other: Any, scale: Any, scale_of_other: Any, count: Any, table: Any, places: Any,
        values: Any, values_of_other: Any,
    ) -> Any:  # fmt: skip
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            given = [*zip(called.args, given, strict=True)]
            lists = _Lists(context, builder, form, SHARED_TILE, given[5:])
            numbers = [_Scaled(context, builder, *scaled) for scaled in zip(given[:2], given[2:4], strict=True)]
            with _loop(builder, _groups(context, builder, given[4])) as index:
                lists.add(index, [number.rounded(index) for number in numbers])
            return lists.count

        types_given = one, other, scale, scale_of_other, count, table, places, values, values_of_other
        return types.int64(*types_given), build

    return find


def list_changes(form: VectorForm) -> Any:
    """Return numba's form of what `simd.list_changes_by` returns."""

    @intrinsic
    def find(_: Any, numbers: Any, before: Any, scale: Any, count: Any, table: Any, places: Any, values: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            given = [*zip(called.args, given, strict=True)]
            lists = _Lists(context, builder, form, TILE, given[4:])
            scaled = _Scaled(context, builder, given[0], given[2])
            with _loop(builder, _groups(context, builder, given[3])) as index:
                now = scaled.rounded(index)
                place = _group(builder, _address(context, builder, given[1], _WORD), index)
                was = builder.load(place, align=2)
                builder.store(builder.trunc(now, was.type), place, align=2)
                lists.add(index, [builder.sub(now, builder.sext(was, now.type))])
            return lists.count

        return types.int64(numbers, before, scale, count, table, places, values), build

    return find


def _address(context: Any, builder: ir.IRBuilder, array: tuple[Any, Any], element: ir.Type) -> Any:
    """Return the address of the elements of an array, given with its type."""
    data = context.make_array(array[0])(context, builder, array[1]).data
    return builder.bitcast(data, element.as_pointer())


def _group(builder: ir.IRBuilder, address: Any, index: Any) -> Any:
    """Return the address of a group of elements, as one of a vector."""
    element = address.type.pointee
    place = builder.gep(address, [builder.mul(index, _LONG(GROUP))])
    return builder.bitcast(place, ir.VectorType(element, GROUP).as_pointer())


def _groups(context: Any, builder: ir.IRBuilder, count: tuple[Any, Any]) -> Any:
    return builder.udiv(context.cast(builder, count[1], count[0], types.int64), _LONG(GROUP))


class _Scaled:
    """Numbers that are scaled and rounded by groups."""

    def __init__(self, context: Any, builder: ir.IRBuilder, numbers: tuple[Any, Any], scale: tuple[Any, Any]) -> None:
        self._builder = builder
        self._numbers = _address(context, builder, numbers, _FLOAT)
        self._scales = _same(builder, context.cast(builder, scale[1], scale[0], types.float32), _FLOATS)

    def rounded(self, index: Any) -> Any:
        """Build a group of integers."""
        build = self._builder
        some = build.load(_group(build, self._numbers, index), align=4)
        rounding = ir.Constant(_FLOATS, [0.5] * GROUP)
        return build.fptosi(build.fadd(build.fmul(some, self._scales), rounding), _INTEGERS)


class _Lists:
    """The lists of words of one row or two, with the places where any of them is not 0."""

    def __init__(self, context: Any, builder: ir.IRBuilder, form: VectorForm, tile: int, given: Any) -> None:
        """`given` are the table, the places and the values by row; places are multiples of `tile`."""
        table, places, *values = given
        self._builder = builder
        self._form = form
        self._tile = tile
        self._table = _address(context, builder, table, _BYTE)
        self._places = _address(context, builder, places, _INT)
        self._values = [_address(context, builder, value, _WORD) for value in values]
        self._found = _variable(builder, _LONG(0))

    @property
    def count(self) -> Any:
        """The length of the lists."""
        return self._builder.load(self._found)

    def add(self, index: Any, rows: list[Any]) -> None:
        """Append a group of numbers of each row."""
        first = self._builder.trunc(self._builder.mul(index, _LONG(GROUP)), _INT)
        either = functools.reduce(self._builder.or_, rows)
        if self._form is VectorForm.AVX2:
            self._compress(first, either, rows)
        else:
            self._select(first, either, rows)

    def _compress(self, first: Any, either: Any, rows: list[Any]) -> None:
        """Append them all at once: the bits of a byte say which are not 0, and the table has the places of the bits."""
        build = self._builder
        mask = build.bitcast(build.icmp_signed("!=", either, ir.Constant(_INTEGERS, [0] * GROUP)), _BYTE)
        row = build.gep(self._table, [build.mul(build.zext(mask, _LONG), _LONG(GROUP))])
        bits = build.load(build.bitcast(row, ir.VectorType(_BYTE, GROUP).as_pointer()), align=1)
        which, known = build.zext(bits, _INTEGERS), self.count
        places = build.mul(
            build.add(which, _same(build, first, _INTEGERS)), ir.Constant(_INTEGERS, [self._tile] * GROUP)
        )
        build.store(places, build.bitcast(build.gep(self._places, [known]), _INTEGERS.as_pointer()), align=4)
        permuted = _declared(build.module, ir.FunctionType(_INTEGERS, [_INTEGERS, _INTEGERS]), "llvm.x86.avx2.permd")
        for values, numbers in zip(self._values, rows, strict=True):
            words = build.trunc(build.call(permuted, [numbers, which]), ir.VectorType(_WORD, GROUP))
            build.store(words, build.bitcast(build.gep(values, [known]), words.type.as_pointer()), align=2)
        build.store(build.add(known, build.zext(build.ctpop(mask), _LONG)), self._found)

    def _select(self, first: Any, either: Any, rows: list[Any]) -> None:
        """Append them one by one: a 0 is written over by the next."""
        build = self._builder
        for lane in range(GROUP):
            known = self.count
            place = build.mul(build.add(first, _INT(lane)), _INT(self._tile))
            build.store(place, build.gep(self._places, [known]), align=4)
            for values, numbers in zip(self._values, rows, strict=True):
                value = build.extract_element(numbers, _INT(lane))
                build.store(build.trunc(value, _WORD), build.gep(values, [known]), align=2)
            one = build.icmp_signed("!=", build.extract_element(either, _INT(lane)), _INT(0))
            build.store(build.add(known, build.zext(one, _LONG)), self._found)


def find_changes() -> Any:
    """Return numba's form of `simd.find_changes`."""

    @intrinsic
    def find(_: Any, board: Any, other: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            both = [_address(context, builder, value, _BYTE) for value in zip(called.args, given, strict=True)]
            return _build_mask(builder, both, lambda one, two: builder.icmp_signed("!=", one, two))

        return types.int64(board, other), build

    return find


def find_cells() -> Any:
    """Return numba's form of `simd.find_cells`."""

    @intrinsic
    def find(_: Any, board: Any, least: Any, most: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            limits = [
                _same(builder, context.cast(builder, given[number], called.args[number], types.int8), _CELLS)
                for number in (1, 2)
            ]

            def compare(cells: Any) -> Any:
                above = builder.icmp_signed(">=", cells, limits[0])
                return builder.and_(above, builder.icmp_signed("<=", cells, limits[1]))

            return _build_mask(builder, [_address(context, builder, (called.args[0], given[0]), _BYTE)], compare)

        return types.int64(board, least, most), build

    return find


def _build_mask(builder: ir.IRBuilder, boards: list[Any], compare: Callable[..., Any]) -> Any:
    """Build the integer whose bits are the results of comparing the cells of boards."""
    mask: Any = _LONG(0)
    for first in (0, CELLS - _COMPARED):  # two loads that overlap
        cells = [
            builder.load(builder.bitcast(builder.gep(board, [_LONG(first)]), _CELLS.as_pointer()), align=1)
            for board in boards
        ]
        bits = builder.bitcast(compare(*cells), _WORD)
        mask = builder.or_(mask, builder.shl(builder.zext(bits, _LONG), _LONG(first)))
    return mask


def dot(partial_sums: int) -> Any:
    """Return numba's form of `numerics._dot`, with this number of partial sums."""

    @intrinsic
    def dot_product(_: Any, one: Any, other: Any, count: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            typed = [*zip(called.args, given, strict=True)]
            arrays = [_address(context, builder, array, _FLOAT) for array in typed[:2]]
            count = context.cast(builder, given[2], called.args[2], types.int64)
            return _build_dot(builder, arrays, count, partial_sums // GROUP)

        return types.float32(one, other, count), build

    return dot_product


def _build_dot(builder: ir.IRBuilder, arrays: list[Any], count: Any, groups: int) -> Any:
    """Build the loop over groups of products, each of which is added to its own sums."""
    totals = [_variable(builder, ir.Constant(_FLOATS, [0.0] * GROUP)) for _ in range(groups)]
    with _loop(builder, builder.udiv(count, _LONG(groups * GROUP))) as index:
        for number, total in enumerate(totals):
            first = builder.add(builder.mul(index, _LONG(groups * GROUP)), _LONG(number * GROUP))
            places = [builder.bitcast(builder.gep(array, [first]), _FLOATS.as_pointer()) for array in arrays]
            product = builder.fmul(*(builder.load(place, align=4) for place in places))
            builder.store(builder.fadd(builder.load(total), product), total)
    return _added_up(builder, functools.reduce(builder.fadd, map(builder.load, totals)))


def rectified_dots(rows: int) -> Any:
    """Return numba's form of `numerics.rectified_dots_of`, for a number of rows."""

    @intrinsic
    def dot_products(_: Any, one: Any, others: Any, count: Any, sums: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            typed = [*zip(called.args, given, strict=True)]
            one, others, sums = (_address(context, builder, typed[number], _FLOAT) for number in (0, 1, 3))
            count = context.cast(builder, given[2], called.args[2], types.int64)
            starts = [builder.gep(others, [builder.mul(_LONG(row), count)]) for row in range(rows)]
            _build_dots(builder, one, starts, count, sums)
            return context.get_dummy_value()

        return types.void(one, others, count, sums), build

    return dot_products


def _build_dots(builder: ir.IRBuilder, one: Any, others: list[Any], count: Any, sums: Any) -> None:
    """Build the loop over groups of an array, rectified, each multiplied by that of every other array."""
    zeros = ir.Constant(_FLOATS, [0.0] * GROUP)
    totals = [_variable(builder, zeros) for _ in others]
    with _loop(builder, builder.udiv(count, _LONG(GROUP))) as index:
        some = _larger(builder, builder.load(_group(builder, one, index), align=4), zeros)
        for other, total in zip(others, totals, strict=True):
            product = builder.fmul(some, builder.load(_group(builder, other, index), align=4))
            builder.store(builder.fadd(builder.load(total), product), total)
    for place, total in enumerate(totals):
        builder.store(_added_up(builder, builder.load(total)), builder.gep(sums, [_LONG(place)]))


def _added_up(builder: ir.IRBuilder, total: Any) -> Any:
    """Build the sum of the elements of a vector, half to half."""
    while total.type.count > 1:
        total = builder.fadd(*_halves(builder, total))
    return builder.extract_element(total, _INT(0))


def two_to_the() -> Any:
    """Return numba's form of `numerics.two_to_the`."""

    @intrinsic
    def power(_: Any, exponent: Any) -> Any:
        def build(context: Any, builder: ir.IRBuilder, called: Any, given: Any) -> Any:
            exponent = context.cast(builder, given[0], called.args[0], types.int64)
            bits = builder.shl(builder.add(exponent, _LONG(_EXPONENT_OF_ONE)), _LONG(_MANTISSA_BITS))
            return builder.bitcast(bits, ir.DoubleType())

        return types.float64(exponent), build

    return power


def lowest_bit() -> Any:
    """Return numba's form of `simd.lowest_bit`."""
    return _of_mask(lambda builder, mask: builder.cttz(mask, ir.Constant(ir.IntType(1), 1)))


def highest_bit() -> Any:
    """Return numba's form of `simd.highest_bit`."""
    return _of_mask(lambda builder, mask: builder.sub(_LONG(63), builder.ctlz(mask, ir.Constant(ir.IntType(1), 1))))


def bit_count() -> Any:
    """Return numba's form of `simd.bit_count`."""
    return _of_mask(lambda builder, mask: builder.ctpop(mask))


def _of_mask(build_number: Callable[[ir.IRBuilder, Any], Any]) -> Any:
    """Return an intrinsic that makes a number of a mask."""

    @intrinsic
    def number_of(_: Any, mask: Any) -> Any:  # noqa: ARG001 - numba passes it
        def build(_: Any, builder: ir.IRBuilder, __: Any, given: Any) -> Any:
            return build_number(builder, given[0])

        return types.int64(types.int64), build

    return number_of


def _same(builder: ir.IRBuilder, number: Any, wide: ir.VectorType) -> Any:
    """Build a vector whose elements are all the same number."""
    nothing = ir.Constant(wide, ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, _INT(0)), nothing, _mask([0] * wide.count))


def _interleaving(lanes: int, half: int) -> ir.Constant:
    """Return the mask that interleaves the low or the high halves of two vectors, separately in each 128 bits."""
    places = [first + 4 * half + place for first in range(0, lanes, 8) for place in range(4)]
    return _mask(lane for place in places for lane in (place, place + lanes))


def _mask(places: Iterable[int]) -> ir.Constant:
    numbers = list(places)
    return ir.Constant(ir.VectorType(_INT, len(numbers)), numbers)
