"""Parses pages without a browser, and checks that elements are nested correctly."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any, Final

from attrs import define, field

VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})


@define(slots=False)
class Page(HTMLParser):
    """A parsed page; `faults` are errors in its structure."""

    faults: list[str] = field(factory=list)
    elements: list[tuple[str, dict[str, str]]] = field(factory=list)
    text: str = ""
    scripts: dict[str, str] = field(factory=dict)
    """Contents of script and style elements by id, or by their tag's name."""
    _open: list[str] = field(factory=list)

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    @classmethod
    def read(cls, html: str) -> Page:
        """Parse a page."""
        page = cls()
        page.feed(html)
        page.close()
        page.faults += [f"{name} is not closed" for name in page._open]
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element."""
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"an attribute of {tag} is repeated")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element of a picture, which may close itself."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost element is closed."""
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"{tag} is closed at line {self.getpos()[0]}, but not open")

    def handle_data(self, data: str) -> None:
        """Collect the text; that of scripts separately."""
        if self._open and self._open[-1] in {"script", "style"}:
            name = self.elements[-1][1].get("id", self._open[-1])
            self.scripts[name] = self.scripts.get(name, "") + data
        else:
            self.text += data

    def values(self, attribute: str) -> list[str]:
        """Return all values of an attribute."""
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]

    def data(self, name: str) -> Any:
        """Return the data of a match."""
        return json.loads(self.scripts[name])
