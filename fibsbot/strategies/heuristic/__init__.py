"""The heuristic strategy: knowledge of the game that was written down by hand, with fitted weights.

It needs no engine.
"""

from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

__all__ = ["HeuristicStrategy"]
