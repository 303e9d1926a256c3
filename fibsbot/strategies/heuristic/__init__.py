"""The heuristic strategy: hand-written knowledge of the game with fitted weights.

The modules:

    strategy.py the strategy
    contact.py  chances of positions with contact, and what the terms of such a position weigh
    race.py     races
    cube.py     the cube

It needs neither numpy nor a compiler; of the engine it uses only the match equities.
"""

from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

__all__ = ["HeuristicStrategy"]
