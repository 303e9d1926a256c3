"""What can be said after `engine:` in the name of the strategy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Self

from attrs import frozen

from fibsbot.engine import MOST_PLIES

_PLIES: Final = ("plies", "chequer", "cube")


@frozen
class EngineOptions:
    """How far the engine looks. Plies are counted as GNU Backgammon does: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    time: float | None = None
    """Seconds for a decision, within which it looks as many of these plies ahead as it can."""
    networks: Path | None = None
    """The folder of other networks than those that come along."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=3`, `chequer=2`, `cube=1`, `time=0.5` and `networks=FOLDER` with commas between them.

        With a time and no plies it looks as far as there is time. Raises ValueError.
        """
        values: dict[str, float] = {}
        networks = None
        for part in filter(None, text.split(",")):
            name, equals, number = part.partition("=")
            if not equals:
                name, number = "plies", part
            name = name.strip()
            if name == "networks" and number.strip():
                networks = Path(number.strip())
            elif name == "time" and re.fullmatch(r" *[0-9]{1,5}(\.[0-9]{1,3})? *", number) and float(number) > 0:
                values[name] = float(number)
            elif name in _PLIES and re.fullmatch(rf" *[0-{MOST_PLIES}] *", number):
                values |= dict.fromkeys(("chequer", "cube") if name == "plies" else (name,), int(number))
            else:
                raise ValueError(
                    f"expected plies from 0 to {MOST_PLIES}, or plies=, chequer=, cube=, time= and networks= with "
                    f"commas between them, got {part!r}"
                )
        time = values.get("time")
        default = cls() if time is None else cls(MOST_PLIES, MOST_PLIES)
        chequer, cube = (int(values.get(name, getattr(default, name))) for name in ("chequer", "cube"))
        return cls(chequer, cube, time, networks)
