"""Transcripts of matches: rolls, plays, cube actions and resignations, in an order that the rules core can follow.

Every source of matches (a session log, a capture, a store, a file of another program) is read as a Transcript, and
every output (a file, a page, a replay) is made from one.

    model.py          transcripts, and the states before and after each entry
    missing_parts.py  what must have happened where something was not seen, by the kind of board
    reconstruction.py what happened between two views of a game of backgammon
"""

from __future__ import annotations

from fibsbot.transcript.model import (
    Answer,
    Contest,
    Continuation,
    Cube,
    Decision,
    Entry,
    Game,
    Gap,
    Named,
    Player,
    RejectedRoll,
    Resign,
    Step,
    Throw,
    Transcript,
    TranscriptError,
    Verdict,
    add_points,
    after_roll,
    apply,
    count_decisions,
    decisions,
    end_game,
    name_text,
    walk,
)

__all__ = [
    "Answer",
    "Contest",
    "Continuation",
    "Cube",
    "Decision",
    "Entry",
    "Game",
    "Gap",
    "Named",
    "Player",
    "RejectedRoll",
    "Resign",
    "Step",
    "Throw",
    "Transcript",
    "TranscriptError",
    "Verdict",
    "add_points",
    "after_roll",
    "apply",
    "count_decisions",
    "decisions",
    "end_game",
    "name_text",
    "walk",
]
