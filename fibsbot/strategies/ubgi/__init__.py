"""Engines that speak UBGI as strategies."""

from __future__ import annotations

from fibsbot.strategies.ubgi.strategy import UbgiStrategy

__all__ = ["UbgiStrategy"]
