"""The tables of docs/reference/rules.md agree with the program and with the tests."""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Final

import attrs
import pytest

from fibsbot.rules.laws import LAWS, Laws

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "reference" / "rules.md"
OPTIONS: Final = [field.name for field in attrs.fields(Laws) if field.name != "name"]


def written(value: object) -> str:
    """Return a value as the page writes it."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


@pytest.mark.parametrize("option", OPTIONS)
def test_the_page_gives_every_option_its_value_under_each_set_of_laws(option: str) -> None:
    row = re.search(rf"^\| `{option}` \|(.*)\|.*\|$", PAGE.read_text(), re.MULTILINE)
    assert row is not None
    expected = [written(getattr(laws, option)) for laws in LAWS.values()]
    assert expected == [cell.strip() for cell in row[1].split("|")]


def test_the_columns_have_the_order_of_the_sets() -> None:
    assert f"| option | {' | '.join(LAWS)} |" in PAGE.read_text()


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text()))
    existing = {
        name
        for file in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert set() == named - existing


def test_every_sentence_has_a_test_or_says_who_decides_it() -> None:
    rows = PAGE.read_text().split("## The sentences of the documents", 1)[1]
    here = [row.strip("|").split("|")[-1] for row in re.findall(r"^\|.*\|$", rows, re.MULTILINE)]
    answered = ("`test_", "over the board: the server", "no law", "---", " here ")
    assert [] == [cell for cell in here if not any(text in cell for text in answered)]
    assert len(here) > 120
