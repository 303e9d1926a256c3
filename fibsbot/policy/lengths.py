"""Which lengths of matches are played: single ones, ranges, unlimited."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, Self

from attrs import frozen

LONGEST: Final = 99
"""Points of the longest match that FIBS plays."""
UNLIMITED: Final = "unlimited"
_SPAN: Final = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


@frozen
class Lengths:
    """A set of match lengths."""

    spans: tuple[tuple[int, int], ...] = ((1, 25),)
    """Shortest and longest of each range, in points."""
    unlimited: bool = False
    """Whether matches without an end belong to it."""

    @classmethod
    def parse(cls, words: Iterable[str]) -> Self:
        """Read words such as `1-9`, `11` and `unlimited`. Raises ValueError with what was expected."""
        spans: list[tuple[int, int]] = []
        unlimited = False
        for word in words:
            if word == UNLIMITED:
                unlimited = True
                continue
            match = _SPAN.fullmatch(word)
            span = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 1 <= span[0] <= span[1]:
                raise ValueError(f"expected a length such as 5, 1-9 or unlimited, got {word!r}")
            spans.append(span)
        return cls(tuple(sorted(spans)), unlimited)

    def __contains__(self, length: object) -> bool:
        """Whether a match of so many points belongs to it; 0 is unlimited."""
        if not isinstance(length, int):
            return False
        return any(least <= length <= most for least, most in self.spans) if length else self.unlimited

    def longest(self, limit: int = LONGEST) -> int | None:
        """Return the most points, up to `limit`, that belong to it; None when there are none."""
        return max((min(most, limit) for least, most in self.spans if least <= limit), default=None)

    @property
    def shortest(self) -> int | None:
        """The fewest points that belong to it; None when there are none."""
        return min((least for least, _ in self.spans), default=None)

    def words(self) -> tuple[str, ...]:
        """Return the words that `parse` reads."""
        spans = tuple(str(least) if least == most else f"{least}-{most}" for least, most in self.spans)
        return spans + ((UNLIMITED,) if self.unlimited else ())

    def __str__(self) -> str:
        """Say it in English, after `matches of`: `1 to 9 or 11 points`."""
        spans = [str(least) if least == most else f"{least} to {most}" for least, most in self.spans]
        said = " or ".join(spans)
        parts = [f"{said} point{'' if said == '1' else 's'}"] if spans else []
        return " or ".join([*parts, *(["unlimited length"] if self.unlimited else [])]) or "no length"

    @property
    def overlapping(self) -> bool:
        """Whether some length is named twice."""
        return any(one[1] >= other[0] for one, other in pairwise(self.spans))
