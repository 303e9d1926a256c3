"""The files in the folder of a training, and the paths of those that are read again.

student.npz               the TD network, and how many games it has played
distilled.npz             the deep network that knows what the TD network knows
pruner-0.npz, ...         the pruner that each round uses
labels-0/0000.npz, ...    the labels of each round
network-0.npz, ...        the network after each round
mean-7-9.npz              the mean of the networks of the last rounds
race-0.npz, ...           the race network that counts pips, and that of each of its rounds
sides-1.npz, ...          the labels of these rounds
games-0/0000.npz, ...     the labels of each refinement: of games
decisions-0/0000.npz, ... and of decisions
refined-0-0.npz, ...      the network after each sweep of a refinement
refined-0.npz, ...        the network after each refinement
history.jsonl             what was measured after each step, and how long it took
"""

from __future__ import annotations

from pathlib import Path

from fibsbot.engine.training.recipe import Recipe


def network_path(folder: Path, number: int) -> Path:
    """Return the path of the network of a round."""
    return folder / f"network-{number}.npz"


def pruner_path(folder: Path, number: int) -> Path:
    """Return the path of the pruner that a round uses, which the round before it has made."""
    return folder / f"pruner-{number}.npz"


def mean_path(folder: Path, recipe: Recipe) -> Path:
    """Return the path of the mean of the last rounds' networks."""
    rounds = recipe.averaged_rounds()
    return folder / f"mean-{rounds[0]}-{rounds[-1]}.npz"


def race_path(folder: Path, recipe: Recipe) -> Path:
    """Return the path of the finished race network."""
    return folder / f"race-{len(recipe.racing.expanded_rounds()) if recipe.racing else 0}.npz"


def refined_path(folder: Path, number: int) -> Path:
    """Return the path of the network of a refinement."""
    return folder / f"refined-{number}.npz"
