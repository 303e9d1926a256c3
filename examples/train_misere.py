"""A training recipe: a network for Misere that learns by playing against itself, some seconds for 20 000 games.

python examples/train_misere.py networks
fibsbot duel engine:networks=networks pips --game misere --games 500
"""

import sys
from pathlib import Path

from fibsbot.engine.training.rulesets import RulesetRecipe, RulesetTraining


def train(folder, games=20_000):
    """Learn a network, or go on where it was left; return its file."""
    training = RulesetTraining(RulesetRecipe("misere", games=games, hidden=20, rate=0.05, last_rate=0.005), folder)
    for block in training.run():
        print(f"{training.done} games: {block}")
    return training.path


if __name__ == "__main__":
    print(train(Path(sys.argv[1])))
