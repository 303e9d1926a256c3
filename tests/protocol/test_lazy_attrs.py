"""A class that attrs completes when it is first used behaves as one that was complete from the beginning."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, Final

import attrs
import pytest
from attrs.exceptions import FrozenInstanceError

from fibs_protocol import messages as m
from fibs_protocol.grammar.blocks import BLOCKS
from fibs_protocol.grammar.messages import WORDINGS
from fibs_protocol.lazy_attrs import frozen


@frozen
class Base:
    """A class with a field that has a default."""

    first: int
    second: str = "two"


@frozen
class Derived(Base):
    """One that has another field."""

    third: tuple[int, ...] = ()


def fresh() -> tuple[type[Base], type[Derived]]:
    """Return two classes that nobody has used."""
    base = frozen(type("Base", (), {"__annotations__": dict(Base.__annotations__), "second": "two"}))
    derived = frozen(type("Derived", (base,), {"__annotations__": {"third": "tuple[int, ...]"}, "third": ()}))
    return base, derived


USES: Final[dict[str, Callable[[Any], object]]] = {
    "instance": lambda cls: repr(cls(1)).endswith("Derived(first=1, second='two', third=())"),
    "fields": lambda cls: [it.name for it in attrs.fields(cls)] == ["first", "second", "third"],
    "match": lambda cls: cls.__match_args__ == ("first", "second", "third"),
    "signature": lambda cls: list(inspect.signature(cls).parameters) == ["first", "second", "third"],
    "without a constructor": lambda cls: cls.__new__(cls) != 1,
    "subclass": lambda cls: type("Plain", (cls,), {})(1, third=(3,)).third == (3,),
    "attrs' subclass": lambda cls: attrs.frozen(type("Own", (cls,), {"__annotations__": {"x": int}, "x": 4}))(1).x == 4,
}


@pytest.mark.parametrize("use", USES)
def test_any_first_use_completes_a_class(use: str) -> None:
    base, derived = fresh()
    assert USES[use](derived)
    assert base(5) == base(first=5, second="two") != derived(5)


def test_objects_are_those_of_attrs() -> None:
    it = Derived(1, third=(2, 3))
    assert (it, hash(it)) == (attrs.evolve(Derived(7, "two", (2, 3)), first=1), hash(Derived(1, "two", (2, 3))))
    assert it == copy.copy(it) == copy.deepcopy(it) == pickle.loads(pickle.dumps(it))  # noqa: S301 - our own
    with pytest.raises(FrozenInstanceError):
        it.first = 2  # type: ignore[misc] # what is shown
    with pytest.raises(TypeError, match="first"):
        Derived()  # type: ignore[call-arg] # what is shown


def test_threads_complete_a_class_once() -> None:
    for _ in range(20):
        _, derived = fresh()
        barrier = Barrier(8)

        def make(number: int, cls: type[Derived] = derived, barrier: Barrier = barrier) -> Derived:
            barrier.wait()
            return cls(number)

        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(make, range(8)))
        assert [(number, "two", ()) for number in range(8)] == [(it.first, it.second, it.third) for it in made]


def test_a_message_of_another_process_completes_its_class() -> None:
    code = """if True:
        import pickle, sys
        from fibs_protocol import messages as m
        from fibs_protocol.board import BoardState
        pairs = pickle.load(sys.stdin.buffer)
        assert [one for one, _ in pairs] == [other for _, other in pairs]
        print(pairs[0][0], len({one for one, _ in pairs}))"""
    data = pickle.dumps([(m.Rolls("bob", (3, 1)), m.Rolls("bob", (3, 1)))])
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert b"Rolls(player='bob', dice=(3, 1)) 1" == done.stdout.strip()


def test_the_grammar_completes_no_message_before_it_is_used() -> None:
    """There are 400, and attrs takes a third of a millisecond for each."""
    code = """if True:
        import fibs_protocol.grammar, fibs_protocol.stream, fibs_protocol.session
        from fibs_protocol import commands, messages
        from fibs_protocol.lazy_attrs import _Placeholder
        kinds = [it for module in (commands, messages) for it in vars(module).values() if isinstance(it, type)]
        kinds = [it for it in kinds if issubclass(it, (commands.Command, messages.Message))]
        kinds = [it for it in kinds if it.__bases__ != (object,)]
        print(*(it.__name__ for it in kinds if not isinstance(vars(it)["__init__"], _Placeholder)), len(kinds))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    *complete, count = done.stdout.split()
    assert [] == complete
    assert int(count) > 400


def test_every_wording_sets_the_fields_that_the_constructor_would() -> None:
    """The functions that read lines set the fields themselves: no class has a converter, a validator or a hook."""
    in_blocks = [wording for block in BLOCKS.values() for wording in (block.row, block.end) if wording]
    for wording in (*WORDINGS, *in_blocks):
        assert callable(wording.read)  # it says every field, or raises TypeError
        assert not hasattr(wording.cls, "__attrs_post_init__")
        assert [] == [it.name for it in attrs.fields(wording.cls) if it.converter or it.validator or not it.init]
