"""Networks for the tables games, learned by self-play: TD(lambda) with the returns of whole games (Sutton 1988).

A game is played to its end; then the network is moved, from the last roll back to the first, towards a mixture of what
it said one roll later and of how the game ended. Nothing but the rules goes in. Hyper-backgammon is solved, so that its
network is moved towards the exact chances of the positions that its games come near.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import Floats32, IntVector64, Matrix32, Vector32
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import load_arrays, save_arrays
from fibsbot.engine.rulesets.evaluator import turn_over
from fibsbot.engine.rulesets.game_loop import LEARNER, GameBuffers, new_game_buffers, next_random, play_game
from fibsbot.engine.rulesets.moves import copy_state
from fibsbot.engine.rulesets.network import (
    OUTPUTS,
    Activations,
    GameNetwork,
    encode,
    forward,
    new_network,
    save_network,
)
from fibsbot.engine.rulesets.parameters import DICE, Rules, State, parameters_of, start_of
from fibsbot.engine.rulesets.plays import search_plays
from fibsbot.engine.rulesets.turns import divide, note_roll, outcome
from fibsbot.engine.training.hyper import NO_TABLE, SCALE, ExactTable, exact_table, number_of, solve_all
from fibsbot.engine.training.td_network import move_hidden_layer
from fibsbot.games import load_ruleset
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.ruleset import Ruleset

BLOCK: Final = 200
"""Games between two looks at the result, and the unit of the schedule."""
_CHECKPOINT_INTERVAL: Final = 5.0
"""Seconds between two checkpoints, at least."""
RECIPES: Final = Path(__file__).parent.parent / "recipes/games.toml"
"""The recipes of the bundled networks."""


@frozen
class RulesetRecipe:
    """How a network is learned. The same recipe gives the same network on the same kind of processor."""

    game: str
    games: int
    hidden: int = 40
    seed: int = 1
    rate: float = 0.05
    """The learning rate of the first game; it falls geometrically."""
    last_rate: float = 0.005
    trace: float = 0.95
    """Lambda: the share of the game's end in what a position is moved towards; it falls to a half of this."""
    exact: bool = False
    """Whether exact chances are learned in place of the returns of games; only Hyper-backgammon is solved."""

    def rate_and_trace(self, done: int) -> tuple[float, float]:
        """Return rate and lambda after this number of games."""
        share = min(1.0, done / self.games)
        return self.rate * (self.last_rate / self.rate) ** share, self.trace * (1 - share / 2)


class NoNetworkError(ValueError):
    """A game has no network of its own."""


def bundled_recipe(game: str) -> RulesetRecipe:
    """Return the recipe of a game, by its name with options, which has that of the game without them.

    Raises UnknownGameError if there is none of this name, and NoNetworkError if the game needs no network.
    """
    rules = load_ruleset(game)
    if is_backgammon(rules):
        raise NoNetworkError(
            f"{rules.title} has the rules of backgammon, whose networks play it: it needs none of its own"
        )
    recipes = tomllib.loads(RECIPES.read_text("utf-8"))
    return RulesetRecipe(rules.full_name, **recipes[rules.name])


UNIT_POINTS: Final = {"swedish": (1.0, 14.0, 0.0), "ticktack": (1.0, 1.0, 0.0), "plakoto": (1.0, 1.0, 1.0)}
"""What the first, second and third unit of a game's outcome count, where the laws of scoring do not say it."""


def unit_points(rules: Ruleset) -> tuple[float, float, float]:
    """Return what the first, second and third unit of an outcome count in a game."""
    laws = rules.laws
    usual = (1.0, 1.0 if laws.gammon else 0.0, 1.0 if laws.gammon and laws.triple else 0.0)
    return UNIT_POINTS.get(rules.name, usual)


class LearnBuffers(NamedTuple):
    """Working memory of learning."""

    game: GameBuffers
    kinds: IntVector64
    values: Matrix32
    """The outputs for each recorded board, shape (rolls, OUTPUTS)."""
    target: Vector32
    errors: Vector32
    """Gradients of the hidden units."""
    counts: IntVector64
    """Rolls, drawn games (abandoned ones among them), abandoned games, and points won."""


@frozen
class BlockStats:
    """What a block of games was like."""

    done: int
    """Games so far."""
    rolls: float
    """Mean number of rolls."""
    draws: float
    """Share of games that nobody won."""
    points: float
    """Mean points of a won game."""


class RulesetTraining:
    """The learning of one game's network in a folder; it can be stopped and continued."""

    def __init__(self, recipe: RulesetRecipe, folder: Path) -> None:
        """Continue from the checkpoint in the folder, if there is one of this recipe.

        Raises UnknownGameError if there is no such game.
        """
        self.recipe = recipe
        rules = load_ruleset(recipe.game)
        self._parameters = parameters_of(rules)
        name = recipe.game.replace(":", "-")
        self.path = folder / f"{name}.npz"
        """The file of the network, at half precision."""
        self._checkpoint = folder / f"{name}.checkpoint.npz"
        self.network = new_network(recipe.hidden, unit_points(rules), recipe.seed)
        self.done = 0
        """Games so far."""
        if self._checkpoint.exists():
            saved = load_arrays(self._checkpoint)
            if str(saved.get("recipe")) == repr(recipe):
                self.network = GameNetwork(*(np.ascontiguousarray(saved[name]) for name in GameNetwork._fields))
                self.done = int(saved["done"])
        game = new_game_buffers(start_of(rules), self.network)
        self._buffers = LearnBuffers(
            game=game,
            kinds=np.array([LEARNER, LEARNER], np.int64),
            values=np.zeros((len(game.record), OUTPUTS), np.float32),
            target=np.zeros(OUTPUTS, np.float32),
            errors=np.zeros(recipe.hidden, np.float32),
            counts=np.zeros(4, np.int64),
        )

    def prepare(self) -> Iterator[float]:
        """Solve the game if the recipe wants exact chances and the cache has none; yield the largest change each time.

        What was not prepared is done by `run`, silently.
        """
        if self.recipe.exact and self.done < self.recipe.games:
            yield from solve_all()

    def run(self) -> Iterator[BlockStats]:
        """Play blocks of games, learn from them, and save the network; yield after each block."""
        table = exact_table() if self.recipe.exact and self.done < self.recipe.games else None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        saved = time.monotonic()
        while self.done < self.recipe.games:
            count = min(BLOCK, self.recipe.games - self.done)
            rate, trace = self.recipe.rate_and_trace(self.done)
            counts = self._buffers.counts
            counts.fill(0)
            seed = self.recipe.seed * 1_000_003 + self.done
            speed, share = np.float32(rate), np.float32(trace)
            exact = table is not None
            _learn(self._parameters, self.network, self._buffers, table or NO_TABLE, exact, count, seed, speed, share)
            self.done += count
            if self.done >= self.recipe.games or time.monotonic() - saved > _CHECKPOINT_INTERVAL:
                self.save()
                saved = time.monotonic()
            rolls, draws, _, points = counts.tolist()
            yield BlockStats(self.done, rolls / count, draws / count, points / max(1, count - draws))

    def save(self) -> None:
        """Write the checkpoint and the network."""
        arrays = {**self.network._asdict(), "done": np.array(self.done), "recipe": np.array(repr(self.recipe))}
        save_arrays(self._checkpoint, **arrays)
        save_network(self.network, self.path)


@inner
def _final_target(points: int, target: Floats32) -> None:
    """Write the outputs that are true for a player who won or lost this number of points."""
    for unit in range(3):
        target[unit] = 1.0 if points > unit else 0.0
        target[unit + 3] = 1.0 if -points > unit else 0.0


@inner
def _turn_target(target: Floats32) -> None:
    """Make a target that of the other player."""
    for unit in range(3):
        target[unit], target[unit + 3] = target[unit + 3], target[unit]


@inner
def _update(
    network: GameNetwork, activations: Activations, errors: Floats32, target: Floats32, rate: np.float32
) -> None:
    """Move the outputs for the inputs in the buffers towards the target."""
    hidden, inputs, outputs = activations.hidden, activations.inputs, activations.outputs
    units = len(hidden)
    for unit in range(units):
        errors[unit] = 0.0
    for output in range(OUTPUTS):
        step = rate * (target[output] - outputs[output])
        network.output_bias[output] += step
        for unit in range(units):
            errors[unit] += step * network.output_weights[output, unit]
            network.output_weights[output, unit] += step * hidden[unit]
    move_hidden_layer(network, inputs, hidden, errors)


@inner
def _self_play(rules: Rules, network: GameNetwork, buffers: LearnBuffers, seed: int) -> int:
    """Play and count a game of the network against itself; return the points of the first player."""
    game, counts = buffers.game, buffers.counts
    for which in range(2):
        game.random[which] = seed * 2654435769 + which * 7919
    game.counts[1] = 0
    points = play_game(rules, buffers.kinds, network, network, game)
    counts[0] += game.counts[0]
    counts[1] += 1 if points == 0 else 0
    counts[3] += abs(points)
    return points


@compiled
def _learn(
    rules: Rules,
    network: GameNetwork,
    buffers: LearnBuffers,
    table: ExactTable,
    exact: bool,  # noqa: FBT001 - compiled
    games: int,
    seed: int,
    rate: np.float32,
    trace: np.float32,
) -> None:
    """Play games of the network against itself, and learn from each: its returns, or the exact chances of a table."""
    for number in range(games):
        points = _self_play(rules, network, buffers, seed + number)
        if exact:
            _learn_exactly(rules, network, buffers, table, rate)
        elif buffers.game.counts[1]:
            buffers.counts[2] += 1
        else:
            _learn_returns(rules, network, buffers, points, rate, trace)


@inner
def _learn_returns(
    rules: Rules, network: GameNetwork, buffers: LearnBuffers, points: int, rate: np.float32, trace: np.float32
) -> None:
    """Learn from the last game, whose first player won these points, backwards from its end."""
    game, target = buffers.game, buffers.target
    activations = game.activations
    rolls = game.counts[0]
    for roll in range(rolls):
        encode(rules, game.record[roll], activations.inputs)
        forward(network, activations)
        for output in range(OUTPUTS):
            buffers.values[roll, output] = activations.outputs[output]
    last = rolls - 1
    _final_target(points if game.movers[last] == 0 else -points, target)
    for roll in range(last, -1, -1):
        if roll < last:
            for output in range(OUTPUTS):
                target[output] = trace * target[output] + (np.float32(1.0) - trace) * buffers.values[roll + 1, output]
            if game.movers[roll] != game.movers[roll + 1]:
                _turn_target(target)
        encode(rules, game.record[roll], activations.inputs)
        forward(network, activations)
        _update(network, activations, buffers.errors, target, rate)


@inner
def _learn_exactly(
    rules: Rules, network: GameNetwork, buffers: LearnBuffers, table: ExactTable, rate: np.float32
) -> None:
    """Learn the exact chances after every play of random rolls in the last game."""
    game = buffers.game
    for roll in range(game.counts[0]):
        for die in range(2):
            game.dice[die] = next_random(game.random, 0, 6) + 1
        copy_state(game.record[roll], game.board)
        note_roll(rules, game.board, game.dice[0], game.dice[1])
        divide(rules, game.board, game.dice, rules[DICE], 1, game.todo)
        count = search_plays(rules, game.board, game.todo[0], game.search)
        for place in range(count):
            after = game.search.nodes[game.search.results[place]]
            if not outcome(rules, game.board, after):
                turn_over(after, game.seen)
                _learn_position(rules, network, buffers, table, game.seen, rate)


@inner
def _learn_position(
    rules: Rules, network: GameNetwork, buffers: LearnBuffers, table: ExactTable, state: State, rate: np.float32
) -> None:
    """Move the outputs for a position towards its exact chances."""
    target, activations = buffers.target, buffers.game.activations
    number = number_of(table, state)
    share = np.float32(1.0 / SCALE)
    for chance in range(3):
        target[chance] = table.chances[number, chance] * share
    target[3] = np.float32(1.0) - target[0]
    target[4] = table.chances[number, 3] * share
    target[5] = table.chances[number, 4] * share
    encode(rules, state, activations.inputs)
    forward(network, activations)
    _update(network, activations, buffers.errors, target, rate)
