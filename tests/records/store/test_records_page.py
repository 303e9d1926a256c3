"""docs/reference/records.md describes the tables as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from fibsbot.records.store.schema import METADATA
from fibsbot.records.stored_rows import Fact, MatchOutcome

PAGE: Final = (Path(__file__).parents[3] / "docs" / "reference" / "records.md").read_text("utf-8")


def described(table: str) -> list[str]:
    """Return the columns that the page has for a table."""
    section = PAGE.partition(f"\n### {table}\n")[2].partition("\n#")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)]


def test_every_column_of_every_table_is_described() -> None:
    columns = {name: [column.name for column in table.columns] for name, table in METADATA.tables.items()}
    assert {name: sorted(names) for name, names in columns.items()} == {
        name: sorted(described(name)) for name in re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
    }


def test_every_fact_and_outcome_is_described() -> None:
    for word in (*Fact, *MatchOutcome):
        assert f"`{word.value}`" in PAGE
