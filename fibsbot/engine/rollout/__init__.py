"""Rollouts: a position played to its end, or some turns on, many times over. See `docs/search.md`."""

from __future__ import annotations

from fibsbot.engine.rollout.plan import Candidate, Plan, cube_actions, plays_of, position
from fibsbot.engine.rollout.result import RolledOut, RolloutResult

__all__ = ["Candidate", "Plan", "RolledOut", "RolloutResult", "cube_actions", "plays_of", "position"]
