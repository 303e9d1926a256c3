"""Recipes: everything that determines a network, so that its training can be reproduced."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import evolve, field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le

from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.training.decision_labels import Comparison
from fibsbot.engine.training.random_positions import Variety
from fibsbot.files import DocumentError, read_toml
from fibsbot.text import one_line

MAX_UNITS: Final = 8192
"""Hidden units of a layer, at most."""
MOST: Final = 1_000_000_000
"""Games, positions or labels of a step, at most."""
LAST_SEED: Final = 41
"""Seeds derived from a larger one would not fit into the 32 bits of numba's generator."""

_layers: Final = deep_iterable(and_(ge(1), le(MAX_UNITS)))
_rate: Final = and_(gt(0.0), le(1.0))


class RecipeError(ValueError):
    """A recipe is invalid; the text is one line."""


@frozen
class TDRecipe:
    """How the first network is trained from scratch, by TD(0)."""

    hidden: int = field(default=128, validator=[ge(1), le(MAX_UNITS)])
    games: int = field(default=400_000, validator=[ge(0), le(MOST)])
    lesson: int = field(default=500, validator=[ge(1), le(100_000)])
    """Games between two changes of the learning rate."""
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
    sparsity: float = field(default=0.0, validator=[ge(0.0), le(1.0)])


@frozen
class DistillRecipe:
    """How a deep network is fitted to the TD network's evaluations of many positions, which are cheap."""

    positions: int = field(validator=[ge(1), le(MOST)])
    hidden: tuple[int, ...] = field(validator=_layers)
    """Units of the hidden layers."""
    fit: FitRecipe
    variety: Variety = Variety()  # noqa: RUF009 - frozen


@frozen
class Round:
    """Labels made with the best network so far, and a network fitted to them."""

    labels: int = field(validator=[ge(1), le(MOST)])
    """Fresh positions, each labelled one roll ahead."""
    fit: FitRecipe
    trace: float = field(default=0.9, validator=[ge(0.0), le(1.0)])
    """Share of the network's error one turn later that is added to a label; see `labels.targets`."""
    hidden: tuple[int, ...] = field(default=(), validator=_layers)
    """Units of the hidden layers of a new network; if empty, the last one is trained further."""
    window: int = field(default=3, validator=ge(1))
    """Number of rounds, this one included, whose labels are used; those before a checkpoint never are."""
    filter: PlayFilter = PlayFilter()  # noqa: RUF009 - frozen
    variety: Variety = Variety()  # noqa: RUF009 - frozen
    times: int = field(default=1, validator=[ge(1), le(1000)])
    """Number of times that the round is repeated."""
    checkpoint: bool = False
    """Whether another run can start from here: the network and its pruner are kept as they are packed, at half
    precision, and no later round needs anything made before."""


@frozen
class RaceRound:
    """Labels for races made with the best network so far, and a network fitted to them."""

    sides: int = field(validator=[ge(1), le(MOST)])
    """Number of sides that are played home."""
    fit: FitRecipe
    trace: float = field(default=1.0, validator=[ge(0.0), le(1.0)])
    """Share of the network's error one roll later that is added to a label; see `races`."""
    hidden: tuple[int, ...] = field(default=(), validator=_layers)
    """Units of the hidden layers of new networks, one in each round; if empty, the last one is trained further."""
    times: int = field(default=1, validator=[ge(1), le(1000)])
    """Number of times that the round is repeated."""


@frozen
class RaceRecipe:
    """How a small network learns races from itself, after the others are finished; see `races`."""

    positions: int = field(validator=[ge(1), le(MOST)])
    """Number of positions from games, among which races are looked for."""
    hidden: tuple[int, ...] = field(validator=_layers)
    """Units of the hidden layers of the first network, which counts pips."""
    fit: FitRecipe
    rounds: tuple[RaceRound, ...]
    variety: Variety = Variety()  # noqa: RUF009 - frozen

    def expanded_rounds(self) -> tuple[RaceRound, ...]:
        """Return the rounds, each as often as it is repeated."""
        return tuple(one for one in self.rounds for _ in range(one.times))


@frozen
class DecisionRecipe:
    """Labels for the plays of decisions; see `decision_labels`."""

    labels: int = field(validator=[ge(1), le(MOST)])
    """Positions after plays."""
    chunk: int = field(default=10_000, validator=[ge(1), le(1_000_000)])
    """Number of these that are made and stored together."""
    comparison: Comparison = Comparison()  # noqa: RUF009 - frozen
    variety: Variety = Variety()  # noqa: RUF009 - frozen
    weight: float = field(default=10.0, validator=[ge(0.0), le(1000.0)])
    """The weight of the differences between plays in the fit."""


@frozen
class Refinement:
    """Labels made with the finished networks, for races too, and the network for contact trained further on them.

    The level of the evaluations is learned from games, the differences between the plays of a roll from decisions.
    """

    labels: int = field(validator=[ge(1), le(MOST)])
    """Positions of games, each labelled one roll ahead."""
    decisions: DecisionRecipe
    fit: FitRecipe
    by_plan: bool = False
    """Whether there is a network for each pair of game plans from here on; the first ones are copies of the last one.

    Each learns from its positions alone; see `game_plans`.
    """
    hidden: tuple[int, ...] = field(default=(), validator=_layers)
    """Units of the hidden layers that a network keeps, those that matter most for its positions; if empty, all."""
    sweeps: int = field(default=1, validator=[ge(1), le(100)])
    """Number of fits, each to the games' labels as corrected by the network that the one before has given."""
    trace: float = field(default=0.9, validator=[ge(0.0), le(1.0)])
    filter: PlayFilter = PlayFilter()  # noqa: RUF009 - frozen
    variety: Variety = Variety()  # noqa: RUF009 - frozen


@frozen
class Recipe:
    """All steps from nothing to a network."""

    student: TDRecipe
    distilling: DistillRecipe
    rounds: tuple[Round, ...]
    pruner_hidden: int = field(default=64, validator=[ge(1), le(MAX_UNITS)])
    pruner_positions: int = field(default=1_000_000, validator=[ge(1), le(MOST)])
    """Number of positions, evaluated by the TD network, that the first pruner is fitted to."""
    chunk: int = field(default=20_000, validator=[ge(1), le(1_000_000)])
    """Number of labels that are made and stored together."""
    seed: int = field(default=1, validator=[ge(0), le(LAST_SEED)])
    averaged: int = field(default=1, validator=[ge(1), le(1000)])
    """Number of networks, those of the last rounds, whose weights are averaged in the end; see `network.mean_of`."""
    racing: RaceRecipe | None = None
    """If missing, the contact network evaluates races, too."""
    refining: tuple[Refinement, ...] = ()
    """What is done in the end."""

    def __attrs_post_init__(self) -> None:
        if sum(one.times for one in self.rounds) >= 1000:
            raise ValueError("expected fewer than 1000 rounds")
        if any(one.labels > 99_999 * self.chunk for one in self.rounds):
            raise ValueError("expected fewer than 100,000 chunks a round")
        if any(
            one.labels > 99_999 * self.chunk or one.decisions.labels > 99_999 * one.decisions.chunk
            for one in self.refining
        ):
            raise ValueError("expected fewer than 100,000 chunks a refinement")
        hidden = next((one.hidden for one in reversed(self.rounds) if one.hidden), self.distilling.hidden)
        for one in self.refining:
            kept = one.hidden or hidden
            if len(kept) != len(hidden) or any(many > before for many, before in zip(kept, hidden, strict=True)):
                raise ValueError(f"expected a refinement to keep at most {hidden} hidden units, found {kept}")
            hidden = kept
        if self.averaged > max(len(self.expanded_rounds()), 1):
            raise ValueError(f"expected at least {self.averaged} rounds, whose networks are to be averaged")
        if any(one.hidden for one in self.expanded_rounds()[1 - self.averaged :] if self.averaged > 1):
            raise ValueError("expected networks that are averaged to have learned on from each other")
        if self.averaged > 1 and self.expanded_rounds()[-1].checkpoint:
            raise ValueError("expected no checkpoint in the end, where the mean of networks is packed")

    def expanded_rounds(self) -> tuple[Round, ...]:
        """Return the rounds, each as often as it is repeated.

        Only the first repetition begins a new network, only the last is a checkpoint.
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

    def averaged_rounds(self) -> range:
        """Return the rounds whose networks are averaged in the end."""
        rounds = len(self.expanded_rounds())
        return range(rounds - self.averaged, rounds)

    def learned(self, number: int, window: int) -> range:
        """Return the rounds whose labels a round uses: the last `window` ones, none before a checkpoint."""
        rounds = self.expanded_rounds()
        first = max((before + 1 for before in range(number) if rounds[before].checkpoint), default=0)
        return range(max(first, number + 1 - window), number + 1)

    def chunks(self, number: int) -> int:
        """Return the number of chunks that the labels of a round are stored in."""
        return -(-self.expanded_rounds()[number].labels // self.chunk)


def read_recipe(path: Path) -> Recipe:
    """Read a recipe from a TOML file; raise RecipeError if it is wrong, OSError if it cannot be read."""
    try:
        return structure(read_toml(path.read_bytes()))
    except (DocumentError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: expected a recipe in TOML, found {error}") from error
    except (cattrs.BaseValidationError, ValueError) as error:
        errors = cattrs.transform_error(error, path="recipe", format_exception=_error_text)
        raise RecipeError(f"{path}: {one_line('; '.join(errors))}") from error


def structure(document: dict[str, Any]) -> Recipe:
    """Return a recipe from the contents of a TOML file; reject unknown keys and values of a wrong type."""
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook(bool, _bool)
    converter.register_structure_hook(int, _int)
    converter.register_structure_hook(float, _float)
    return converter.structure(document, Recipe)


def _bool(value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, found {value!r:.40}")
    return value


def _int(value: Any, _: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected a whole number, found {value!r:.40}")
    return value


def _float(value: Any, _: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"expected a number, found {value!r:.40}")
    return float(value)


def _error_text(error: BaseException, type_: type | None) -> str:
    if isinstance(error, TypeError | ValueError) and not isinstance(error, cattrs.BaseValidationError):
        return "expected a table or a list, found neither" if "not iterable" in str(error) else str(error)
    return cattrs.v.format_exception(error, type_)
