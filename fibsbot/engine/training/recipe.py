"""A recipe: everything that makes a network what it is, so that it can be made again."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import evolve, field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le

from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.training.random_positions import Variety
from fibsbot.text import one_line

MAX_UNITS: Final = 8192
"""Hidden units of a layer, at most."""
MOST: Final = 1_000_000_000
"""Games, positions or labels of a step, at most."""
LAST_SEED: Final = 41
"""Beyond that, seeds that follow from it would be longer than the 32 bits of numba's generator."""

_layers: Final = deep_iterable(and_(ge(1), le(MAX_UNITS)))
_rate: Final = and_(gt(0.0), le(1.0))


class RecipeError(ValueError):
    """A recipe that cannot be followed; the text is one line."""


@frozen
class TDRecipe:
    """TD(0) from nothing."""

    hidden: int = field(default=128, validator=[ge(1), le(MAX_UNITS)])
    games: int = field(default=400_000, validator=[ge(0), le(MOST)])
    lesson: int = field(default=500, validator=[ge(1), le(100_000)])
    """Games between two looks at the rate."""
    first_rate: float = field(default=0.1, validator=_rate)
    last_rate: float = field(default=0.002, validator=_rate)
    """The rate falls exponentially from the first to the last game."""
    seed: int = field(default=1, validator=[ge(0), le(MOST)])


@frozen
class FitRecipe:
    """How a network is fitted to labels; see `optimizer.FitPlan`."""

    epochs: int = field(validator=[ge(1), le(10_000)])
    rate: float = field(default=1e-3, validator=_rate)
    batch: int = field(default=1024, validator=[ge(1), le(1_000_000)])
    equity: float = field(default=1.0, validator=[ge(0.0), le(100.0)])


@frozen
class DistillRecipe:
    """A deep network learns what the TD network says of very many positions, which costs next to nothing."""

    positions: int = field(validator=[ge(1), le(MOST)])
    hidden: tuple[int, ...] = field(validator=_layers)
    """Units of the hidden layers."""
    fit: FitRecipe
    variety: Variety = Variety()  # noqa: RUF009 - frozen


@frozen
class Round:
    """Labels by what is best so far, and a network fitted to them."""

    labels: int = field(validator=[ge(1), le(MOST)])
    """Fresh positions, each labelled one roll ahead."""
    fit: FitRecipe
    trace: float = field(default=0.9, validator=[ge(0.0), le(1.0)])
    """How much of what the network misses a turn later is added to a label; see `labels.targets`."""
    hidden: tuple[int, ...] = field(default=(), validator=_layers)
    """Units of the hidden layers of a new network; without, the last one goes on learning."""
    window: int = field(default=3, validator=ge(1))
    """From how many rounds, this one the last, the network learns; of those before a checkpoint from none."""
    filter: PlayFilter = PlayFilter()  # noqa: RUF009 - frozen
    variety: Variety = Variety()  # noqa: RUF009 - frozen
    times: int = field(default=1, validator=[ge(1), le(1000)])
    """How often the round is done, one after the other."""
    checkpoint: bool = False
    """Whether another run can go on from here: the network and its pruner are kept as they are packed, at half
    precision, and nothing later needs what was made before."""


@frozen
class RaceRound:
    """Labels for races by what is best so far, and a network fitted to them."""

    sides: int = field(validator=[ge(1), le(MOST)])
    """How many sides are played home."""
    fit: FitRecipe
    trace: float = field(default=1.0, validator=[ge(0.0), le(1.0)])
    """How much of what the network misses a roll later is added to a label; see `races`."""
    hidden: tuple[int, ...] = field(default=(), validator=_layers)
    """Units of the hidden layers of new networks, one in each round; without, the last one goes on learning."""
    times: int = field(default=1, validator=[ge(1), le(1000)])
    """How often the round is done, one after the other."""


@frozen
class RaceRecipe:
    """A small network that learns races from itself, once the others are there; see `races`."""

    positions: int = field(validator=[ge(1), le(MOST)])
    """Of games, among which races are looked for."""
    hidden: tuple[int, ...] = field(validator=_layers)
    """Units of the hidden layers of the first network, which counts pips."""
    fit: FitRecipe
    rounds: tuple[RaceRound, ...]
    variety: Variety = Variety()  # noqa: RUF009 - frozen

    def expanded_rounds(self) -> tuple[RaceRound, ...]:
        """Return the rounds with each repeated as often as it says."""
        return tuple(one for one in self.rounds for _ in range(one.times))


@frozen
class Recipe:
    """The whole way from nothing to a network."""

    student: TDRecipe
    distilling: DistillRecipe
    rounds: tuple[Round, ...]
    pruner_hidden: int = field(default=64, validator=[ge(1), le(MAX_UNITS)])
    pruner_positions: int = field(default=1_000_000, validator=[ge(1), le(MOST)])
    """How many positions the first pruner learns from the student."""
    chunk: int = field(default=20_000, validator=[ge(1), le(1_000_000)])
    """Labels that are made and kept together."""
    seed: int = field(default=1, validator=[ge(0), le(LAST_SEED)])
    averaged: int = field(default=1, validator=[ge(1), le(1000)])
    """Of how many rounds' networks, the last ones, the weights are averaged in the end; see `network.mean_of`."""
    racing: RaceRecipe | None = None
    """Without it, the network of contact values races as well."""

    def __attrs_post_init__(self) -> None:
        if sum(one.times for one in self.rounds) >= 1000:
            raise ValueError("expected fewer than 1000 rounds")
        if any(one.labels > 99_999 * self.chunk for one in self.rounds):
            raise ValueError("expected fewer than 100,000 chunks a round")
        if self.averaged > max(len(self.expanded_rounds()), 1):
            raise ValueError(f"expected at least {self.averaged} rounds, whose networks are to be averaged")
        if any(one.hidden for one in self.expanded_rounds()[1 - self.averaged :] if self.averaged > 1):
            raise ValueError("expected networks that are averaged to have learned on from each other")
        if self.averaged > 1 and self.expanded_rounds()[-1].checkpoint:
            raise ValueError("expected no checkpoint in the end, where the mean of networks is packed")

    def expanded_rounds(self) -> tuple[Round, ...]:
        """Return the rounds with each repeated as often as it says.

        Only the first of equals begins a new network, only the last is a checkpoint.
        """
        return tuple(
            evolve(
                one,
                hidden=one.hidden if time == 0 else (),
                checkpoint=one.checkpoint and time == one.times - 1,
                times=1,
            )
            for one in self.rounds
            for time in range(one.times)
        )

    def learned(self, number: int, window: int) -> range:
        """Return from which rounds' labels is learned after a round: so many, it the last, none before a checkpoint."""
        rounds = self.expanded_rounds()
        first = max((before + 1 for before in range(number) if rounds[before].checkpoint), default=0)
        return range(max(first, number + 1 - window), number + 1)

    def chunks(self, number: int) -> int:
        """Return in how many chunks the labels of a round are kept."""
        return -(-self.expanded_rounds()[number].labels // self.chunk)


def read_recipe(path: Path) -> Recipe:
    """Read a recipe from a TOML file; raise RecipeError with what is wrong, OSError if it cannot be read."""
    try:
        return structure(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"{path}: expected a recipe in TOML, found {error}") from error
    except (cattrs.BaseValidationError, ValueError) as error:
        flaws = cattrs.transform_error(error, path="recipe", format_exception=_flaw)
        raise RecipeError(f"{path}: {one_line('; '.join(flaws))}") from error


def structure(page: dict[str, Any]) -> Recipe:
    """Return a recipe from what a TOML file says; unknown keys and values of another type are refused."""
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook(bool, _truth)
    converter.register_structure_hook(int, _whole)
    converter.register_structure_hook(float, _number)
    return converter.structure(page, Recipe)


def _truth(value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, found {value!r:.40}")
    return value


def _whole(value: Any, _: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected a whole number, found {value!r:.40}")
    return value


def _number(value: Any, _: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"expected a number, found {value!r:.40}")
    return float(value)


def _flaw(error: BaseException, type_: type | None) -> str:
    if isinstance(error, TypeError | ValueError) and not isinstance(error, cattrs.BaseValidationError):
        return "expected a table or a list, found neither" if "not iterable" in str(error) else str(error)
    return cattrs.v.format_exception(error, type_)
