"""The only module that imports numba: compiles functions to machine code. Imported only when nothing is cached.

Numba translates a function and all that it calls to LLVM's intermediate representation (`numba_target`). We add an
entry point that Python can call without numba: it unpacks the arguments, checks that they have the compiled types, and
calls numba's code. The whole is optimised once and becomes an object file. `intrinsics` builds those of `simd`.

Uses of numba that its documentation covers, here and in `intrinsics`: `njit`, the types, `inspect_llvm` and
`intrinsic`. Not covered are the calling convention, `fndesc.llvm_func_name` of a compiled function,
`BaseTuple.from_types`, `make_array` and `get_dummy_value` of a code generation context, three options of the compiler,
and the names in `numba_target`. The options are left out where numba does not have them; where it lacks a name of
`numba_target`, its usual target compiles, which takes two to three times as long. If any of the others is missing or
works differently, `compile_for` raises `CompilerError`.
"""

from __future__ import annotations

import functools
import importlib
import types as python_types
from collections.abc import Callable, Iterator
from typing import Any, Final

import llvmlite.binding as llvm
import numba
import numpy as np
from attrs import fields
from llvmlite import ir
from numba import from_dtype, njit, types

from fibsbot.engine.arrays import ArrayType
from fibsbot.engine.code_cache import Code, target_machine
from fibsbot.engine.object_layout import ALIGNED, CONTIGUOUS, IS_TUPLE, ObjectLayout
from fibsbot.engine.signatures import (
    TYPE_MISMATCH,
    DeclaredFunction,
    InnerFunction,
    Intrinsic,
    ObjectType,
    Signature,
    TupleType,
)

_FAST_MATH: Final = {"nnan", "ninf", "nsz"}
"""Assumptions about numbers that change no result: there is no NaN and no infinity, and zero has no sign.

Whatever else LLVM calls fast math lets it round in other ways, so that results would depend on the processor.
"""
_OPTIONS: Final = {"nogil": True, "fastmath": _FAST_MATH, "error_model": "numpy", "no_cpython_wrapper": True}
_LEAN: Final = {"_nrt": False, "no_rewrites": True, "no_cfunc_wrapper": True}
"""Parts of the compiler that are not needed: reference counts of arrays, rewriting of array expressions, calls from C.

Not all of these options are public. Those that a version of numba does not have are left out.
"""

_BYTE: Final = ir.IntType(8)
_INT: Final = ir.IntType(32)
_LONG: Final = ir.IntType(64)
_POINTER: Final = _BYTE.as_pointer()
_NUMBERS: Final[dict[str, tuple[Any, ir.Type, ir.Type]]] = {
    "bool": (types.boolean, _LONG, _BYTE),
    "int": (types.int64, _LONG, _LONG),
    "np.int64": (types.int64, _LONG, _LONG),
    "float": (types.float64, ir.DoubleType(), ir.DoubleType()),
    "np.float32": (types.float32, ir.FloatType(), ir.FloatType()),
}
"""For each annotation numba's type, the type that Python passes, and the type that numba's code takes."""


class CompilerError(RuntimeError):
    """This version of numba works differently from what is expected here."""


def compile_for(function: DeclaredFunction, key: str) -> Code:
    """Compile a function for one of its signatures.

    Raises CompilerError where numba lacks a name that is used here, or calls its functions differently.
    """
    try:
        module, entry = translate(function, key)
        machine = target_machine()
        optimise(module, machine)
        needs = sorted(
            symbol.name for symbol in module.functions if symbol.is_declaration and not symbol.name.startswith("llvm.")
        )
        return Code(key, entry, tuple(needs), machine.emit_object(module))
    except AttributeError as error:
        raise CompilerError(f"numba {numba.__version__} lacks a name that is used here: {error}") from error


def translate(function: DeclaredFunction, key: str) -> tuple[Any, str]:
    """Return a module of LLVM's intermediate representation for one of a function's signatures, and its entry's name.

    Everything but the entry is internal to the module, which is not optimised yet.
    """
    kinds = function.signatures[key]
    signature = tuple(_numba_type(kind) for kind in kinds)
    compiler = _compiler_of(function)
    compiler.compile(signature)
    module = llvm.parse_assembly(compiler.inspect_llvm(signature))
    name = compiler.overloads[signature].fndesc.llvm_func_name
    returned = compiler.overloads[signature].signature.return_type
    entry = f"entry.{name}"
    built = _entry(entry, name, kinds, function.returned, returned)
    _check(module.get_function(name), built.get_global(name))
    module.link_in(llvm.parse_assembly(str(built)))
    for symbol in [*module.functions, *module.global_variables]:
        if not symbol.is_declaration and symbol.name != entry and not symbol.name.startswith("llvm."):
            symbol.linkage = "internal"
    return module, entry


def optimise(module: Any, machine: Any) -> None:
    """Remove from a module what its entry does not need, and optimise the rest."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization, tuning.slp_vectorization = True, False
    builder = llvm.create_pass_builder(machine, tuning)
    needed = llvm.create_new_module_pass_manager()
    needed.add_global_dead_code_eliminate_pass()
    needed.run(module, builder)
    builder.getModulePassManager().run(module, builder)


def make_symbols_known() -> None:
    """Make numba's own functions, such as its random numbers, known to compiled code."""
    _njit(_nothing).compile(())


def _nothing() -> None:
    """Do nothing; numba makes them known when it compiles for the first time."""


# -- numba -------------------------------------------------------------------------------------------------------------


@functools.cache
def _compiler_of(function: InnerFunction) -> Any:
    """Return numba's compiler of a function, in which all that it uses are numba's."""
    plain: Any = function.function
    known = plain.__globals__
    names = {name: _for_numba(known[name]) for name in plain.__code__.co_names if name in known}
    cells = plain.__closure__ and tuple(
        python_types.CellType(_for_numba(cell.cell_contents)) for cell in plain.__closure__
    )
    copy = python_types.FunctionType(plain.__code__, {"__name__": plain.__module__, **names}, closure=cells)
    return _njit(_target=_target(), **_OPTIONS, **_lean())(copy)


def _for_numba(value: Any) -> Any:
    if isinstance(value, InnerFunction):
        return _compiler_of(value)
    return _instruction(value) if isinstance(value, Intrinsic) else value


@functools.cache
def _target() -> str:
    """Return the target that leaves optimisation to us, or the usual one if this numba lacks what that needs."""
    try:
        return str(importlib.import_module("fibsbot.engine.numba_target").TARGET)
    except (ImportError, AttributeError, TypeError):
        return "cpu"


@functools.cache
def _instruction(wanted: Intrinsic) -> Any:
    made = getattr(importlib.import_module(wanted.module), wanted.name)
    return made(*wanted.arguments)


@functools.cache
def _lean() -> dict[str, bool]:
    """Return the options that this numba knows."""
    known = getattr(getattr(_njit(_nothing), "targetdescr", None), "options", None)
    return {name: value for name, value in _LEAN.items() if hasattr(known, name)}


def _numba_type(kind: ObjectType | str) -> Any:
    if isinstance(kind, str):
        return _NUMBERS[kind][0]
    if isinstance(kind, ArrayType):
        return types.Array(from_dtype(np.dtype(kind.element)), kind.dimensions, "C")
    tuple_types: Any = types.BaseTuple
    return tuple_types.from_types([_numba_type(part) for part in kind.types], kind.name)


# -- the entry ---------------------------------------------------------------------------------------------------------


def _parts(kind: ObjectType | str) -> Iterator[ir.Type]:
    """Yield the types of the values that numba's code takes for an argument."""
    if isinstance(kind, str):
        yield _NUMBERS[kind][2]
    elif isinstance(kind, ArrayType):
        # Owner of the memory (null here), number and size of the elements, their address, shape, strides.
        yield from (_POINTER, _POINTER, _LONG, _LONG, _POINTER, *[_LONG] * (2 * kind.dimensions))
    else:
        for part in kind.types:
            yield from _parts(part)


def _entry(entry: str, name: str, kinds: Signature, annotation: str, returned: Any) -> ir.Module:
    """Return a module with the function that Python calls: with the table of `object_layout`, then the arguments."""
    module = ir.Module()
    module.triple = llvm.get_process_triple()
    double = annotation == "float"
    result = ir.DoubleType() if double else _LONG
    passed = [_NUMBERS[kind][1] if isinstance(kind, str) else _POINTER for kind in kinds]
    function = ir.Function(module, ir.FunctionType(result, [_POINTER, *passed]), entry)
    parts = [part for kind in kinds for part in _parts(kind)]
    called = ir.Function(module, ir.FunctionType(_INT, [_POINTER, _POINTER, *parts]), name)
    refused = function.append_basic_block("refused")
    other = ir.IRBuilder(refused)
    other.ret(result(float("nan")) if double else result(TYPE_MISMATCH))
    builder = ir.IRBuilder(function.append_basic_block("begin"))
    layout, *given = function.args
    taken = _Unpacker(builder, layout, refused)
    values = [part for kind, value in zip(kinds, given, strict=True) for part in taken.values(kind, value)]
    returned_at, errors = builder.alloca(_LONG), builder.alloca(_POINTER)
    builder.store(_LONG(0), returned_at)
    status = builder.call(called, [builder.bitcast(returned_at, _POINTER), builder.bitcast(errors, _POINTER), *values])
    taken.require(builder.or_(_is(builder, status, 0), _is(builder, status, -2)))  # -2: returns nothing
    builder.ret(_result(builder, returned_at, returned, result))
    # The entry block has to come first.
    function.blocks.append(function.blocks.pop(0))
    return module


def _is(builder: ir.IRBuilder, value: Any, number: int) -> Any:
    return builder.icmp_signed("==", value, value.type(number))


def _result(builder: ir.IRBuilder, returned_at: Any, returned: Any, result: ir.Type) -> Any:
    """Return the value that numba's code has written, converted to the type that Python gets."""
    if returned == types.none:
        return result(0)
    if returned in {types.float64, types.float32}:
        element = ir.DoubleType() if returned == types.float64 else ir.FloatType()
        value = builder.load(builder.bitcast(returned_at, element.as_pointer()), typ=element)
        value = value if element == ir.DoubleType() else builder.fpext(value, ir.DoubleType())
        return value if result == ir.DoubleType() else builder.fptosi(value, result)
    bits = 8 if returned == types.boolean else returned.bitwidth
    element = ir.IntType(bits)
    value = builder.load(builder.bitcast(returned_at, element.as_pointer()), typ=element)
    if bits < _LONG.width:
        widen = builder.sext if getattr(returned, "signed", False) else builder.zext
        value = widen(value, _LONG)
    return value if result == _LONG else builder.sitofp(value, result)


class _Unpacker:
    """Builds code that unpacks arguments, and jumps to `refused` if one is of another type."""

    def __init__(self, builder: ir.IRBuilder, layout: Any, refused: ir.Block) -> None:
        """Use a builder; `layout` is the address of the table of `object_layout`."""
        self._builder = builder
        self._refused = refused
        table = builder.bitcast(layout, _LONG.as_pointer())
        self._layout = {
            attribute.name: builder.load(builder.gep(table, [_LONG(place)]))
            for place, attribute in enumerate(fields(ObjectLayout))
        }

    def require(self, condition: Any) -> None:
        """Continue only if a condition is true."""
        follows = self._builder.append_basic_block()
        self._builder.cbranch(condition, follows, self._refused)
        self._builder.position_at_end(follows)

    def values(self, kind: ObjectType | str, value: Any) -> list[Any]:
        """Return the values that numba's code takes for an argument."""
        if isinstance(kind, str):
            wanted = _NUMBERS[kind][2]
            return [self._builder.trunc(value, wanted) if wanted == _BYTE else value]
        return self._array(kind, value) if isinstance(kind, ArrayType) else self._tuple(kind, value)

    def _array(self, kind: ArrayType, value: Any) -> list[Any]:
        build, element = self._builder, np.dtype(kind.element)
        self.require(build.icmp_unsigned("==", self._read(value, "type", _LONG), self._layout["array_class"]))
        self.require(_is(build, self._read(value, "dimensions", _INT), kind.dimensions))
        flags = build.and_(self._read(value, "flags", _INT), _INT(CONTIGUOUS | ALIGNED))
        self.require(_is(build, flags, CONTIGUOUS | ALIGNED))
        description = self._read(value, "element_type", _POINTER)
        self.require(_is(build, self._read(description, "type_number", _INT), element.num))
        order = self._read(description, "byte_order", _BYTE)
        self.require(build.or_(_is(build, order, ord("=")), _is(build, order, ord("|"))))
        shape, strides = (
            [self._at(self._read(value, what, _POINTER), _LONG(8 * number), _LONG) for number in range(kind.dimensions)]
            for what in ("shape", "strides")
        )
        count = functools.reduce(build.mul, shape, _LONG(1))
        null = ir.Constant(_POINTER, None)
        return [null, null, count, _LONG(element.itemsize), self._read(value, "data", _POINTER), *shape, *strides]

    def _tuple(self, kind: TupleType, value: Any) -> list[Any]:
        build = self._builder
        flags = self._read(self._read(value, "type", _POINTER), "type_flags", _LONG)
        self.require(build.icmp_unsigned("!=", build.and_(flags, _LONG(IS_TUPLE)), _LONG(0)))
        self.require(_is(build, self._read(value, "tuple_size", _LONG), len(kind.types)))
        first = self._layout["tuple_items"]
        items = [self._at(value, build.add(first, _LONG(8 * place)), _POINTER) for place in range(len(kind.types))]
        return [part for inner, item in zip(kind.types, items, strict=True) for part in self.values(inner, item)]

    def _read(self, begin: Any, what: str, element: ir.Type) -> Any:
        """Build a load of what an object has at a place of the layout."""
        return self._at(begin, self._layout[what], element)

    def _at(self, begin: Any, offset: Any, element: ir.Type) -> Any:
        """Build a load of the value `offset` bytes after the start of an object."""
        place = self._builder.gep(begin, [offset], source_etype=_BYTE)
        return self._builder.load(self._builder.bitcast(place, element.as_pointer()), typ=element)


def _check(theirs: Any, ours: ir.Function) -> None:
    """Raise CompilerError if numba's function takes other arguments than we pass."""
    expected, found = ([_word(argument.type) for argument in arguments] for arguments in (ours.args, theirs.arguments))
    if expected != found:
        raise CompilerError(f"expected a numba whose functions take {expected}, got {found}")


def _word(kind: Any) -> str:
    return "ptr" if "*" in str(kind) or str(kind) == "ptr" else str(kind)


_njit: Final[Callable[..., Any]] = njit  # which has no annotations
