"""An exercise in words: kinds, buttons, and where it is from; for the page of `practice` and for Anki."""

from __future__ import annotations

import datetime as dt
from typing import Final

from fibsbot.drawing.markup import clean
from fibsbot.practice.exercises import NAME_LENGTH, Exercise, ExerciseKind
from fibsbot.rules.backgammon import BACKGAMMON

KINDS: Final = {
    ExerciseKind.PLAY: "plays",
    ExerciseKind.OFFER: "doubles",
    ExerciseKind.ANSWER: "answers to doubles",
    ExerciseKind.RESIGNATION: "resignations",
    ExerciseKind.ACCEPTANCE: "answers to resignations",
    ExerciseKind.NAME: "numbers to name",
}
"""What a person may choose to practise, in words."""
_USUAL: Final = ("roll", "double", "take", "pass", "beaver", "accept", "reject")
"""Choices in their usual order."""


def texts_to_choose(exercise: Exercise) -> list[str]:
    """Return the texts of the choices in an order that says nothing of their values; none of a play."""
    if exercise.kind is ExerciseKind.PLAY:
        return []
    return sorted((choice.text for choice in exercise.choices), key=_usual_order)


def _usual_order(text: str) -> tuple[int, str]:
    return (_USUAL.index(text) if text in _USUAL else len(_USUAL), text.zfill(20))


def origin(exercise: Exercise) -> str:
    """Return where an exercise is from, in a line; empty if it is from no match."""
    if not exercise.game:
        return ""
    parts = [f"against {clean(exercise.opponent, NAME_LENGTH)}", f"game {exercise.game}, turn {exercise.turn}"]
    if exercise.date:
        parts.append(f"{exercise.date.astimezone(dt.UTC):%Y-%m-%d}")
    if exercise.state.rules is BACKGAMMON:
        parts.append(exercise.position_class)
    return ", ".join(parts)
