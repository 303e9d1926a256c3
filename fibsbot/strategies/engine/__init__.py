"""The strategy that decides by our own engine."""

from fibsbot.strategies.engine.strategy import EngineStrategy

__all__ = ["EngineStrategy"]
