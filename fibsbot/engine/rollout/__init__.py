"""Rollouts: many games from a position, played to the end or truncated. See `docs/search.md`."""

from __future__ import annotations

from fibsbot.engine.rollout.driver import rollout
from fibsbot.engine.rollout.plan import Candidate, RolloutPlan, cube_candidates, play_candidates, position_candidate
from fibsbot.engine.rollout.results import CandidateResult, RolloutError, RolloutResult

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
