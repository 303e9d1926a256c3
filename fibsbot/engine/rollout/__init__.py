"""Rollouts: a position played to its end, or some turns on, many times over. See `docs/search.md`."""

from __future__ import annotations

from fibsbot.engine.rollout.plan import Candidate, Plan, cube_actions, plays_of, position
from fibsbot.engine.rollout.result import RolledOut, RolloutError, RolloutResult
from fibsbot.engine.rollout.rolling import rollout

__all__ = [
    "Candidate",
    "Plan",
    "RolledOut",
    "RolloutError",
    "RolloutResult",
    "cube_actions",
    "plays_of",
    "position",
    "rollout",
]
