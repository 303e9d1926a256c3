"""The evaluator of games with a network as a strategy that commands load by its file."""

from __future__ import annotations

from fibsbot.strategies.base import Opponent
from fibsbot.strategies.ruleset_evaluator import RulesetEvaluator


class RulesetPlayer(RulesetEvaluator):
    """Play without looking ahead."""

    name = "ruleset-player"

    def __init__(self) -> None:
        super().__init__(plies=0)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept everybody."""
        return None

    def close(self) -> None:
        """Release nothing."""
