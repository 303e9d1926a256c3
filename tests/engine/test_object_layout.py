"""Machine code reads Python's objects where they are; another layout is noticed before anything is read from it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from attrs import evolve, fields

from fibsbot.engine.object_layout import LayoutError, ObjectLayout, check_layout, layout_table

HERE = ObjectLayout.of_this_python()
OFFSETS = [it.name for it in fields(ObjectLayout) if it.name not in {"array_class", "tuple_items"}]


def test_the_layout_of_this_python_is_as_expected() -> None:
    check_layout(HERE)


def test_the_table_has_the_offsets_in_their_order() -> None:
    assert [getattr(HERE, it.name) for it in fields(ObjectLayout)] == [*layout_table(HERE)]


@pytest.mark.parametrize("name", OFFSETS)
def test_a_place_that_is_elsewhere_is_noticed(name: str) -> None:
    # 4 bytes on there is always something else of the same object: half of what was there, or of what follows.
    with pytest.raises(LayoutError, match=r"the engine cannot read the objects of Python .*: expected "):
        check_layout(evolve(HERE, **{name: getattr(HERE, name) + 4}))


def test_a_tuple_with_a_hash_before_its_items_is_noticed() -> None:
    """As Python 3.14 has it, seen by a layout of before, and the other way round."""
    other = 8 if sys.version_info < (3, 14) else -8
    with pytest.raises(LayoutError, match="the items of a tuple"):
        check_layout(evolve(HERE, tuple_items=HERE.tuple_items + other))


def test_another_python_than_cpython_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
    with pytest.raises(LayoutError, match="expected CPython of 64 bits"):
        check_layout(HERE)
