"""The handmade strategy: knowledge of the game that was written down before there were engines, with weights."""

from fibsbot.strategies.handmade.strategy import HandmadeStrategy

__all__ = ["HandmadeStrategy"]
