"""The options of the strategies `engine` and `gnubg`, which stand after the colon of their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, Self

from attrs import frozen

from fibsbot.engine import DEFAULT_TRIALS, MAX_PLIES, MAX_TRIALS
from fibsbot.games import GAMES

_PLIES: Final = {
    None: ("chequer", "cube"),
    "plies": ("chequer", "cube"),
    "chequer": ("chequer",),
    "cube": ("cube",),
}
"""The fields that are set by each option about plies; a number without a name sets both."""
_ROLLING: Final = {"trials": range(1, MAX_TRIALS + 1), "seed": range(1_000_000), "threads": range(1, 1_000_000)}
"""The values of each option of rollouts."""


class EngineOption(NamedTuple):
    """One of the options between commas."""

    text: str
    name: str | None
    """None for a value alone."""
    value: str

    def plies(self, most: int) -> dict[str, int]:
        """Return the plies that it sets, for `chequer` and `cube`; none if it sets none, or invalid ones."""
        valid = self.name in _PLIES and re.fullmatch(f"[0-{most}]", self.value)
        return dict.fromkeys(_PLIES[self.name], int(self.value)) if valid else {}

    def seconds(self) -> float:
        """Return the value as a time, 0 if it is none."""
        return float(self.value) if re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", self.value) else 0.0


def split_options(text: str) -> Iterator[EngineOption]:
    """Yield the options of a text such as `2,cube=1`."""
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        yield (
            EngineOption(part, name.strip(), value.strip(" ")) if equals else EngineOption(part, None, part.strip(" "))
        )


@frozen
class EngineOptions:
    """How far the engine looks ahead. Plies are counted as by GNU Backgammon: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    time: float | None = None
    """Seconds for a decision, in which it looks as many of these plies ahead as it can."""
    networks: Path | None = None
    """Folder of networks to use instead of the bundled ones."""
    rollout: bool = False
    """Whether close decisions are rolled out."""
    trials: int = DEFAULT_TRIALS
    """The maximum number of games of a candidate."""
    seed: int = 1
    """The random seed of the dice of rollouts."""
    threads: int = 1
    """How many candidates are rolled out at the same time."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=3`, `chequer=2`, `cube=1`, `time=0.5` and `networks=FOLDER` with commas between them.

        With a time and no plies it looks ahead as far as the time allows. With `rollout` it rolls out close decisions,
        as long as the time allows if there is one; `trials=144`, `seed=1` and `threads=2` belong to that. Raises
        ValueError.
        """
        plies: dict[str, int] = {}
        rolling: dict[str, int] = {}
        time, networks, rollout = None, None, False
        for option in split_options(text):
            name, value = option.name, option.value
            if name is None and value.strip() == "rollout":
                rollout = True
            elif name == "networks" and value.strip():
                networks = Path(value.strip())
            elif name == "time" and option.seconds():
                time = option.seconds()
            elif name in _ROLLING and re.fullmatch(r"[0-9]{1,7}", value) and int(value) in _ROLLING[name]:
                rolling[name] = int(value)
            elif found := option.plies(MAX_PLIES):
                plies |= found
            else:
                raise ValueError(
                    f"expected plies from 0 to {MAX_PLIES}, or plies=, chequer=, cube=, time=, networks=, rollout, "
                    f"trials=, seed= and threads= with commas between them, got {option.text!r}"
                )
        if rolling and not rollout:
            raise ValueError(f"expected {next(iter(rolling))}= with rollout, got it without")
        default = cls() if time is None or rollout else cls(MAX_PLIES, MAX_PLIES)
        chequer, cube = plies.get("chequer", default.chequer), plies.get("cube", default.cube)
        return cls(chequer, cube, time, networks, rollout, **rolling)


def is_of_other_games(folder: Path) -> bool:
    """Return whether a folder has networks of games that are not like backgammon, and so perhaps no others."""
    return any((folder / f"{game}.npz").is_file() for game in GAMES)
