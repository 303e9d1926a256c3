"""A match on paper: who threw, played, doubled and resigned, in an order that the rules core can follow.

Whatever a match comes from (a session log, a capture, a store, a file of another program) and whatever it becomes
(a file, a page, a replay), in between it is a Transcript.
"""

from __future__ import annotations

from fibsbot.transcript.model import (
    Answer,
    Cube,
    Decision,
    Entry,
    Game,
    Gap,
    Player,
    Resign,
    Step,
    Throw,
    Transcript,
    TranscriptError,
    add_points,
    apply,
    count_decisions,
    decisions,
    end_game,
    walk,
)

__all__ = [
    "Answer",
    "Cube",
    "Decision",
    "Entry",
    "Game",
    "Gap",
    "Player",
    "Resign",
    "Step",
    "Throw",
    "Transcript",
    "TranscriptError",
    "add_points",
    "apply",
    "count_decisions",
    "decisions",
    "end_game",
    "walk",
]
