"""The heuristic strategy: hand-written knowledge of the game with fitted weights.

It needs neither numpy nor a compiler; of the engine it uses only the match equities.
"""

from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

__all__ = ["HeuristicStrategy"]
