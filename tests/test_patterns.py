"""Regular expressions mean the same on every Python that the project supports.

Python 3.11.0 to 3.11.4 match possessive quantifiers and atomic groups wrongly (CPython issues 100061 and 106052).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from fibs_protocol.grammar.fields import FIELD_TYPES
from fibs_protocol.grammar.messages import WORDINGS

ROOT: Final = Path(__file__).parent.parent
FILES: Final = sorted(
    path for folder in ("fibsbot", "protocol", "tests", "bench") for path in (ROOT / folder).rglob("*.py")
)
_PARTS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|(\(\?>|(?:[*+?]|\{[0-9,]+\})\+)", re.DOTALL)
"""An escaped character, a set of characters, or what is looked for."""


def possessive(pattern: str) -> list[str]:
    """Return the possessive quantifiers and the beginnings of atomic groups in a pattern."""
    return [part[1] for part in _PARTS.finditer(pattern) if part[1]]


def _is_of_re(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"


def patterns(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts in a file that may be patterns, with their lines: raw ones, and all within a call of `re`."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    in_calls = {
        inner
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _is_of_re(call.func)
        for inner in ast.walk(call)
    }
    lines = source.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr | ast.Constant) or not hasattr(node, "lineno"):
            continue
        start = lines[node.lineno - 1].encode()[node.col_offset :].decode()[:4].lower()
        if node in in_calls or re.match("[bf]?r[bf]?[\"']", start):
            for text in _texts(node):
                yield node.lineno, text


def _texts(node: ast.JoinedStr | ast.Constant) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node.value, str):
        yield node.value
    elif isinstance(node.value, bytes):
        yield node.value.decode("latin-1")


@pytest.mark.parametrize("pattern", ["a*" + "+", "(?:x|y)?" + "+", "[+]{2,}" + "+", "\\+" + "+" + "+", "(?" + ">a)"])
def test_a_possessive_quantifier_is_found(pattern: str) -> None:
    assert possessive(pattern)


@pytest.mark.parametrize("pattern", [r"\?+", r"[*+]+", r"a+\+", r"(?:a|\*)+", r"[]*+]"])
def test_other_plus_signs_are_not_taken_for_one(pattern: str) -> None:
    assert not possessive(pattern)


@pytest.mark.slow
def test_no_pattern_has_a_possessive_quantifier_or_an_atomic_group() -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path in FILES for line, text in patterns(path) if possessive(text)]
    assert [] == found


def test_neither_have_the_patterns_that_are_put_together() -> None:
    whole = [*(wording.regex for wording in WORDINGS), *(form.regex for form in FIELD_TYPES.values())]
    assert [] == [it.pattern for it in whole if possessive(it.pattern)]
