"""Rollouts: many games from a position, played to the end or truncated. See `docs/explanation/search.md`."""

from __future__ import annotations

from fibsbot.engine.rollout.driver import CandidateResult, RolloutError, RolloutResult, rollout
from fibsbot.engine.rollout.games import Candidate, RolloutPlan, cube_candidates, play_candidates, position_candidate

__all__ = [
    "Candidate",
    "CandidateResult",
    "RolloutError",
    "RolloutPlan",
    "RolloutResult",
    "cube_candidates",
    "play_candidates",
    "position_candidate",
    "rollout",
]
