"""What happened between two states of a game, where only one thing can have.

It stands beside the transcript, and not with the replay, because the match store joins what it has of a match too.
"""

from __future__ import annotations

from attrs import evolve

from fibsbot.rules.state import GameState
from fibsbot.transcript.model import Entry


def rebuild(before: GameState, after: GameState) -> tuple[Entry, ...] | None:
    """Return the only entries that can lead from one state to the other, marked as rebuilt; none if nothing happened.

    None: more than one way leads there, or no way at all. How many turns a state counts does not matter.
    """
    return () if evolve(before, turns=after.turns) == after else None
