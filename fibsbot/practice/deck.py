"""A person's exercises, and when each comes again: spaced repetition by FSRS, which counts in days.

What was answered wrongly comes again after a day or a few, what was right after more days each time. Exercises that
have not been answered yet follow those that are due, the worst errors first.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from attrs import define, evolve, field, frozen
from fsrs import Card, Rating, Scheduler, State

from fibsbot.analysis.model import Grade, grade
from fibsbot.practice.exercises import Exercise, ExerciseKind

SAME_DAY: Final = dt.timedelta(hours=12)
"""How long before its time an exercise may be answered: days are days, not 24 hours."""
_SCHEDULER: Final = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
"""Without steps of minutes, so that an exercise comes at most once a day."""


class Recall(enum.IntEnum):
    """How well an exercise was answered; the values are the ratings of FSRS."""

    AGAIN = 1
    """Wrong, or the solution was asked for."""
    HARD = 2
    """Nearly right."""
    GOOD = 3


def recall_of(loss: float | None) -> Recall:
    """Return how well an answer was that lost so much; None is no answer."""
    if loss is None:
        return Recall.AGAIN
    return {None: Recall.GOOD, Grade.DOUBTFUL: Recall.HARD}.get(grade(loss), Recall.AGAIN)


@frozen
class Schedule:
    """When an exercise was answered, and comes again."""

    stability: float
    """Days until it is remembered with a chance of 90 %."""
    difficulty: float
    """From 1 to 10."""
    reviewed: dt.datetime
    """When it was answered last, UTC."""
    due: dt.datetime
    """When it comes again, UTC."""


def next_schedule(before: Schedule | None, recall: Recall, now: dt.datetime) -> Schedule:
    """Return the schedule of an exercise after an answer; `before` is None for the first one."""
    card = Card(card_id=0, due=now)
    if before is not None:
        card = Card(0, State.Review, None, before.stability, before.difficulty, before.due, before.reviewed)
    after, _ = _SCHEDULER.review_card(card, Rating(int(recall)), now)
    return Schedule(float(after.stability or 0.0), float(after.difficulty or 0.0), now, after.due)


@frozen
class PracticeItem:
    """An exercise of a person, with its schedule."""

    exercise: Exercise
    schedule: Schedule | None = None
    """None until it is answered for the first time."""

    def is_due(self, now: dt.datetime) -> bool:
        """Return whether it is to be answered."""
        return self.schedule is None or self.schedule.due - SAME_DAY <= now


@frozen
class ExerciseFilter:
    """Which exercises a person wants now."""

    kind: ExerciseKind | None = None
    position_class: str | None = None

    def takes(self, exercise: Exercise) -> bool:
        """Return whether an exercise is one of these."""
        return self.kind in {None, exercise.kind} and self.position_class in {None, exercise.position_class}


@frozen
class DeckCounts:
    """How many exercises there are."""

    due: int
    """That were answered before, and come again now."""
    new: int
    """That were never answered."""
    later: int
    """That come again another day."""
    next_due: dt.datetime | None
    """When the first of those comes."""


@define
class Deck:
    """The exercises of a person; `clock` says what time it is, UTC."""

    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)
    _items: dict[str, PracticeItem] = field(factory=dict)

    def add(self, items: Iterable[PracticeItem]) -> None:
        """Add exercises; one that is there already keeps its schedule."""
        for item in items:
            known = self._items.get(item.exercise.id)
            if known is None or (known.schedule is None and item.schedule is not None):
                self._items[item.exercise.id] = item

    def next(self, wanted: ExerciseFilter) -> PracticeItem | None:
        """Return the exercise to answer now: the longest due, then new ones, the worst first; None if there is none."""
        now = self.clock()
        ready = [item for item in self._items.values() if wanted.takes(item.exercise) and item.is_due(now)]
        return min(ready, key=_precedence, default=None)

    def answer(self, exercise: Exercise, recall: Recall) -> PracticeItem:
        """Note an answer to an exercise; return it with its new schedule."""
        item = self._items.get(exercise.id, PracticeItem(exercise))
        item = evolve(item, schedule=next_schedule(item.schedule, recall, self.clock()))
        self._items[exercise.id] = item
        return item

    def counts(self, wanted: ExerciseFilter) -> DeckCounts:
        """Return how many of the wanted exercises there are."""
        now = self.clock()
        found = [item for item in self._items.values() if wanted.takes(item.exercise)]
        scheduled = [(item, item.schedule) for item in found if item.schedule is not None]
        later = [schedule.due for item, schedule in scheduled if not item.is_due(now)]
        return DeckCounts(
            due=len(scheduled) - len(later),
            new=len(found) - len(scheduled),
            later=len(later),
            next_due=min(later, default=None),
        )

    def classes(self) -> list[tuple[str, int]]:
        """Return the classes of the positions that are to be answered now, with how many there are, most first."""
        now = self.clock()
        ready = (item.exercise.position_class for item in self._items.values() if item.is_due(now))
        return sorted(Counter(ready).items(), key=lambda found: (-found[1], found[0]))


def _precedence(item: PracticeItem) -> tuple[bool, float, str]:
    if item.schedule is None:
        return True, -item.exercise.loss, item.exercise.id
    return False, item.schedule.due.timestamp(), item.exercise.id


def when(due: dt.datetime, now: dt.datetime) -> str:
    """Return in words when something is due: `tomorrow`, `in 3 days`."""
    days = max(round((due - now) / dt.timedelta(days=1)), 1)
    return "tomorrow" if days == 1 else f"in {days} days"
