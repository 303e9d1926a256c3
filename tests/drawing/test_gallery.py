"""The pictures in the documentation are those that the program draws.

`FIBSBOT_GOLDEN=write pytest tests/drawing/test_gallery.py` redraws them; look at them before committing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest

from fibsbot.cli.show import show
from tests.drawing.gallery import GALLERY

DOCS: Final = Path(__file__).parents[2] / "docs"
LARGEST: Final = 12_000


@pytest.mark.parametrize("name", GALLERY)
def test_a_picture_matches_the_golden_file(name: str) -> None:
    path, text = DOCS / "pictures" / f"{name}.svg", GALLERY[name]()
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    assert len(text.encode()) < LARGEST


def test_documented_pictures_are_the_gallery() -> None:
    shown = set(re.findall(r"pictures/([a-z]+)\.svg", (DOCS / "how-to" / "pictures.md").read_text()))
    stored = {path.stem for path in (DOCS / "pictures").iterdir() if path.suffix == ".svg"}
    assert shown == stored == set(GALLERY)


def test_every_option_is_documented() -> None:
    page = (DOCS / "how-to" / "pictures.md").read_text()
    options = {name for option in show.params for name in option.opts if name.startswith("-")}
    assert [] == [name for name in sorted(options - {"--json", "--output"}) if name not in page]
