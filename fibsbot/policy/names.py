"""Names with wildcards, for the lists of those who are blocked or allowed."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final, Self

from attrs import frozen

_SHORTEST: Final = 3
"""Characters of the shortest names on FIBS."""
_RULE: Final = re.compile(r"([A-Za-z_*?]{1,20})(?::(from|to))?")


@frozen
class NameRule:
    """A name, in which `*` and `?` stand for anything, and which invitations it is about. Case matters, as on FIBS."""

    pattern: str
    theirs: bool = True
    """Whether it is about their invitations."""
    ours: bool = True
    """Whether it is about our invitations."""

    @classmethod
    def parse(cls, word: str) -> Self:
        """Read `name`, `name:from` (their invitations) or `name:to` (ours). Raises ValueError that says so."""
        match = _RULE.fullmatch(word)
        if match is None:
            raise ValueError(f"expected a name with * and ? as wildcards, perhaps :from or :to, got {word!r}")
        return cls(match[1], theirs=match[2] != "to", ours=match[2] != "from")

    def fits(self, name: str) -> bool:
        """Whether the pattern fits this name."""
        return fnmatchcase(name, self.pattern)

    def covers(self, other: NameRule) -> bool:
        """Whether it is about all invitations that the other rule is about."""
        return (self.theirs or not other.theirs) and (self.ours or not other.ours)

    @property
    def fits_all(self) -> bool:
        """Whether there is no name that the pattern does not fit: names have at least three characters."""
        return self.pattern.count("?") <= _SHORTEST and set(self.pattern) in ({"*"}, {"*", "?"})

    @property
    def is_name(self) -> bool:
        """Whether it fits one name only."""
        return not set(self.pattern) & {"*", "?"}

    def __str__(self) -> str:
        """Write what `parse` reads."""
        return self.pattern + ("" if self.theirs and self.ours else ":from" if self.theirs else ":to")
