"""How Sphinx makes the site: `make docs`.

The source is the whole project, so that pages link to the README, the sample settings and each other as they do in a
checkout. Pages that hold `<!-- generated: NAME -->` get there what `generated_reference.py` writes from the program.
"""

from __future__ import annotations

import enum
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from pygments.lexers.special import TextLexer

ROOT: Final = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "protocol")]

from docs.generated_reference import GENERATORS, as_rst  # noqa: E402 - found by the path above
from fibsbot.version import __version__  # noqa: E402 - as above

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "fibsbot"
author = "the fibsbot authors"
project_copyright = "the fibsbot authors, MIT licence"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "bench/README.md", "protocol/README.md"]
exclude_patterns = [".*", "build", "dist", "README.md", "examples", "fibsbot", "tests"]

myst_enable_extensions = ["deflist", "html_image"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page for a forge may begin with a second-level heading

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "undoc-members": False}
napoleon_numpy_docstring = False
default_role = "code"
smartquotes = False  # `--option` and `"` are what is typed
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"fibsbot {__version__}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#2f5d8a", "color-brand-content": "#2f5d8a"},
    "dark_css_variables": {"color-brand-primary": "#8fb8de", "color-brand-content": "#8fb8de"},
}

_PLACE: Final = re.compile(r"<!-- generated: (\w+) -->")
_NAMED: Final = re.compile(r"\[[\w/-]+\.md\]\((?=[^)]*\.md[#)])")
"""A link to a page whose text is the name of its file, as it is good in a checkout; without text it gets the title."""
_DEFAULT: Final = re.compile(r"attr_dict\['(\w+)'\]\.default|NOTHING")
"""What attrs writes for a field's default in the signature of a class."""
_OF_ATTRIBUTES: Final[dict[str, list[str]]] = {}
"""Docstrings of attributes, by their names, until napoleon has seen them."""


def _fill(_: Sphinx, __: str, source: list[str]) -> None:
    """Put into a page what is generated, and titles in place of the names of pages."""
    source[0] = _PLACE.sub(lambda found: GENERATORS[found[1]](), _NAMED.sub("[](", source[0]))


def _docstring(_: Sphinx, kind: str, name: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Write a docstring's Markdown as reStructuredText."""
    lines[:] = as_rst(lines)
    if kind in {"attribute", "property"}:
        _OF_ATTRIBUTES[name] = list(lines)


def _without_type(_: Sphinx, __: str, name: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Undo what napoleon makes of an attribute's docstring: it takes what comes before a colon for a type."""
    lines[:] = _OF_ATTRIBUTES.pop(name, lines)


def _signature(
    _: Sphinx, kind: str, __: str, thing: Any, ___: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write the defaults of an attrs class as values."""
    if kind != "class" or signature is None or not attrs.has(thing):
        return signature, returned
    defaults = {field.name: field.default for field in attrs.fields(thing)}
    return _DEFAULT.sub(lambda found: _value(defaults.get(found[1], attrs.NOTHING)), signature), returned


def _value(default: object) -> str:
    """Return a default as Python; three dots for one that is made anew each time."""
    if isinstance(default, enum.Enum):
        return f"{type(default).__name__}.{default.name}"
    return repr(default) if isinstance(default, str | int | float | tuple | None) else "..."


def _front_door(app: Sphinx, error: Exception | None) -> None:
    """Lead from the site's folder to its front page."""
    if error is None and app.builder.name == "html":
        page = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html"><title>fibsbot</title>'
        Path(app.outdir, "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Tell Sphinx about the functions above."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=100)
    app.connect("autodoc-process-docstring", _without_type, priority=900)
    app.add_lexer("mermaid", TextLexer)  # drawn by forges, text here
    app.connect("build-finished", _front_door)
