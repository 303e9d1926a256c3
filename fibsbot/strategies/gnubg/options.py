"""What can be said after `gnubg:` in the name of the strategy."""

from __future__ import annotations

import re
from typing import Final, Self

from attrs import frozen

MOST_PLIES: Final = 3
_PLIES: Final = ("plies", "chequer", "cube")


@frozen
class GnubgOptions:
    """How gnubg decides. Plies are counted as gnubg does: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    deadline: float = 20.0
    """Seconds for a decision, the start of the program included."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=2`, `chequer=2`, `cube=0` and `deadline=20` with commas between them.

        Raises ValueError.
        """
        values: dict[str, float] = {}
        for part in filter(None, text.split(",")):
            name, equals, number = part.partition("=")
            if not equals:
                name, number = "plies", part
            name = name.strip()
            if name == "deadline" and re.fullmatch(r" *[0-9]{1,5}(\.[0-9]{1,3})? *", number) and float(number) > 0:
                values[name] = float(number)
            elif name in _PLIES and re.fullmatch(rf" *[0-{MOST_PLIES}] *", number):
                values |= dict.fromkeys(("chequer", "cube") if name == "plies" else (name,), int(number))
            else:
                raise ValueError(
                    f"expected plies from 0 to {MOST_PLIES}, or plies=, chequer=, cube= and deadline= with commas "
                    f"between them, got {part!r}"
                )
        default = cls()
        return cls(
            chequer=int(values.get("chequer", default.chequer)),
            cube=int(values.get("cube", default.cube)),
            deadline=values.get("deadline", default.deadline),
        )
