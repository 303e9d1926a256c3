"""What can be wrong with a configuration, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import evolve, frozen


@frozen
class ConfigProblem:
    """One thing that is wrong with a configuration."""

    path: str
    """`section.setting`, `account[2].policy.lengths`, or the file when it cannot be read at all."""
    expected: str
    got: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.path}: expected {self.expected}, got {self.got}"

    def below(self, path: str) -> ConfigProblem:
        """Return the same problem as it is seen from further up."""
        if not self.path:
            return evolve(self, path=path)
        return evolve(self, path=f"{path}{'' if self.path.startswith('[') else '.'}{self.path}")


class ConfigProblemsError(ValueError):
    """A configuration cannot be used; the text has a line for each problem."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def told(path: Path, problems: Iterable[ConfigProblem]) -> str:
    """Return a line for each problem of a file, all of which begin with the file."""
    return "\n".join(str(it) if it.path == str(path) else f"{path}: {it}" for it in problems)


def shown(value: Any) -> str:
    """Return a value of a file as a message shows it: whole if it is short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
