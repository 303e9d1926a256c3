"""The pictures of docs/how-to/table.md and practice.md show the page as it is."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Final

import pytest

from tests.browser import chromium, requires_chromium
from tests.table.pictures import FOLDER, PICTURES, take

HOW_TO: Final = Path(__file__).parents[2] / "docs" / "how-to"
PAGES: Final = [HOW_TO / "table.md", HOW_TO / "practice.md"]
DIFFERENT: Final = """async (pictures) => {
  const [one, other] = await Promise.all(pictures.map(async (picture) => {
    const image = new Image();
    image.src = picture;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), drawn = canvas.getContext("2d");
    drawn.drawImage(image, 0, 0);
    return drawn.getImageData(0, 0, image.width, image.height);
  }));
  if (one.width !== other.width || one.height !== other.height) return 1;
  let different = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    different += [0, 1, 2].some((colour) => Math.abs(one.data[at + colour] - other.data[at + colour]) > 48);
  }
  return different / (one.width * one.height);
}"""
"""The share of the pixels of two pictures that differ clearly."""


def test_the_pages_of_the_documentation_have_all_pictures() -> None:
    shown = {name for page in PAGES for name in re.findall(r"pictures/([a-z]+)\.png", page.read_text(encoding="utf-8"))}
    assert shown == {path.stem for path in FOLDER.glob("*.png")}
    assert shown >= set(PICTURES)  # others are of other programs, such as Anki


@pytest.mark.slow
@pytest.mark.thorough  # it looks for what nobody has drawn anew
@requires_chromium
async def test_pictures_show_the_page_as_it_is() -> None:
    """Text may look otherwise, as fonts do."""
    async with chromium() as browser:
        tab = await browser.new_page()
        for name in PICTURES:
            pictures = ((FOLDER / f"{name}.png").read_bytes(), await take(browser, name))
            addresses = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in pictures]
            assert await tab.evaluate(DIFFERENT, addresses) < 0.05, f"{name}: run python -m tests.table.pictures"
