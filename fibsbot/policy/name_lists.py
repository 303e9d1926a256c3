"""Lists of players that are kept outside of the configuration: names and patterns, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from attrs import field, frozen

from fibsbot.policy.policy import Direction, NamePattern
from fibsbot.setting import DAY, seconds, setting

MAX_NAMES: Final = 100_000
"""Names and patterns of one list."""
MAX_PATTERNS: Final = 1_000
"""Those of them that have wildcards, which are compared one by one."""


@frozen
class NameList:
    """The names and patterns of one or several lists."""

    names: dict[str, tuple[NamePattern, ...]] = field(factory=dict)
    """The entries without wildcards, by name."""
    patterns: tuple[NamePattern, ...] = ()
    """The others."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a list: an entry per line, as in `policy.block`; empty lines and what follows a `#` do not count.

        Raises ValueError, whose text is one line, if any line is something else, or an entry matches everybody.
        """
        names: dict[str, tuple[NamePattern, ...]] = {}
        patterns: list[NamePattern] = []
        for number, line in enumerate(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines(), 1):
            word = line.partition("#")[0].strip()
            if not word:
                continue
            try:
                entry = NamePattern.parse(word)
            except ValueError:
                raise ValueError(f"line {number} is no name") from None
            if entry.matches_all:
                raise ValueError(f"line {number} matches everybody")
            if entry.is_name:
                names[entry.pattern] = (*names.get(entry.pattern, ()), entry)
            else:
                patterns.append(entry)
            if len(names) > MAX_NAMES or len(patterns) > MAX_PATTERNS:
                raise ValueError(f"more than {MAX_NAMES} names or {MAX_PATTERNS} with wildcards")
        return cls(names, tuple(patterns))

    @classmethod
    def union(cls, lists: Iterable[NameList]) -> Self:
        """Return a list with the entries of all."""
        names: dict[str, tuple[NamePattern, ...]] = {}
        patterns: tuple[NamePattern, ...] = ()
        for one in lists:
            patterns += one.patterns
            for name, entries in one.names.items():
                names[name] = names.get(name, ()) + entries
        return cls(names, patterns)

    def has(self, name: str, direction: Direction) -> bool:
        """Return whether a player is listed for invitations in this direction."""
        found = (*self.names.get(name, ()), *(pattern for pattern in self.patterns if pattern.matches(name)))
        return any(entry.from_them if direction is Direction.THEIRS else entry.to_them for entry in found)


@frozen
class PlayerLists:
    """What the lists of an account say."""

    block: NameList = field(factory=NameList)
    allow: NameList | None = None
    """None: there is no such list."""


@frozen
class ListSettings:
    """Lists of players in files or at web addresses, which `fibsbot run` and `play` read again and again.

    An entry per line as in `policy.block` and `policy.allow`, with which they count together; `#` begins a comment. A
    list that cannot be read, or has anything else in it, changes nothing: the last good copy stays in use.
    """

    block: tuple[str, ...] = setting(
        (),
        "Files or addresses of lists of players who are not played.",
        blanks=True,
        secret=True,
        example=("/etc/fibsbot/blocked.txt", "https://example.org/quitters.txt"),
    )
    allow: tuple[str, ...] = setting(
        (),
        "Files or addresses of lists of players; if there are any, only players on one of them or in `policy.allow` are"
        " played, and nobody is on a list that could never be read.",
        blanks=True,
        secret=True,
        example=("friends.txt",),
    )
    interval: float = seconds(3600.0, "Time between two readings.", minimum=10, maximum=DAY)
