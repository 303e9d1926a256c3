"""A recipe: everything that makes a network what it is, so that it can be made again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import cattrs
from attrs import evolve, frozen

from fibsbot.engine.ply import Filter
from fibsbot.engine.training.positions import Variety


class RecipeError(ValueError):
    """A recipe that cannot be followed; the text is one line."""


@frozen
class StudentRecipe:
    """TD(0) from nothing."""

    hidden: int = 128
    games: int = 400_000
    lesson: int = 500
    """Games between two looks at the rate."""
    first_rate: float = 0.1
    last_rate: float = 0.002
    """The rate falls exponentially from the first to the last game."""
    seed: int = 1


@frozen
class Fit:
    """How a network is fitted to labels; see `fitting.Plan`."""

    epochs: int
    rate: float = 1e-3
    batch: int = 1024
    equity: float = 1.0


@frozen
class Distilling:
    """A deep network learns what the student says of very many positions, which costs next to nothing."""

    positions: int
    hidden: tuple[int, ...]
    """Units of the hidden layers."""
    fit: Fit
    variety: Variety = Variety()  # noqa: RUF009 - frozen


@frozen
class Round:
    """Labels by what is best so far, and a network fitted to them."""

    labels: int
    """Fresh positions, each labelled one roll ahead."""
    fit: Fit
    hidden: tuple[int, ...] = ()
    """Units of the hidden layers of a new network; without, the last one goes on learning."""
    window: int = 3
    """From how many rounds, this one the last, the network learns."""
    filter: Filter = Filter()  # noqa: RUF009 - frozen
    variety: Variety = Variety()  # noqa: RUF009 - frozen
    times: int = 1
    """How often the round is done, one after the other."""


@frozen
class Recipe:
    """The whole way from nothing to a network."""

    student: StudentRecipe
    distilling: Distilling
    rounds: tuple[Round, ...]
    pruner_hidden: int = 64
    pruner_positions: int = 1_000_000
    """How many positions the first pruner learns from the student."""
    chunk: int = 10_000
    """Labels that are made and kept together."""
    seed: int = 1

    def unrolled(self) -> tuple[Round, ...]:
        """Return the rounds with each repeated as often as it says; only the first of equals begins a new network."""
        return tuple(one if time == 0 else evolve(one, hidden=()) for one in self.rounds for time in range(one.times))


def read_recipe(path: Path) -> Recipe:
    """Read a recipe from a TOML file; raise RecipeError with what is wrong, OSError if it cannot be read."""
    try:
        return structure(tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: expected TOML, found {error}") from error
    except cattrs.BaseValidationError as error:
        raise RecipeError(f"{path}: {'; '.join(cattrs.transform_error(error))}") from error


def structure(page: dict[str, Any]) -> Recipe:
    """Return a recipe from what a TOML file says; unknown keys are refused."""
    return cattrs.Converter(forbid_extra_keys=True).structure(page, Recipe)
