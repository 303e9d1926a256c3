"""What comes next and when, by a clock of the test's own."""

from __future__ import annotations

import datetime as dt

from attrs import define, evolve

from fibsbot.practice.deck import Deck, ExerciseFilter, PracticeItem, Recall, Schedule, next_schedule, recall_of, when
from fibsbot.practice.exercises import Exercise, ExerciseKind
from tests.practice.test_exercises import every_exercise, match

NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)
EVERY = ExerciseFilter()


@define
class Clock:
    """A clock that the test sets."""

    now: dt.datetime = NOON

    def __call__(self) -> dt.datetime:
        """Return the time."""
        return self.now


def errors() -> list[Exercise]:
    return [exercise for exercise in every_exercise(match()) if exercise.loss > 0.04]


def deck_of(clock: Clock) -> Deck:
    deck = Deck(clock)
    deck.add(map(PracticeItem, errors()))
    return deck


def answered(deck: Deck, recall: Recall) -> Exercise:
    """Answer the next exercise."""
    item = deck.next(EVERY)
    assert item is not None
    deck.answer(item.exercise, recall)
    return item.exercise


def test_new_exercises_come_by_what_they_cost_and_each_once_a_day() -> None:
    deck = deck_of(Clock())
    came = [answered(deck, Recall.AGAIN) for _ in errors()]
    assert sorted(errors(), key=lambda one: (-one.loss, one.id)) == came
    assert None is deck.next(EVERY)
    assert (0, 0, len(came)) == (deck.counts(EVERY).due, deck.counts(EVERY).new, deck.counts(EVERY).later)


def test_what_was_wrong_comes_again_the_next_day_and_before_what_is_new() -> None:
    clock = Clock()
    deck = deck_of(clock)
    wrong, right = answered(deck, Recall.AGAIN), answered(deck, Recall.GOOD)
    clock.now += dt.timedelta(hours=11)
    assert wrong is not answered(deck, Recall.GOOD)
    clock.now = NOON + dt.timedelta(hours=20)  # the next morning, although not 24 hours later
    assert wrong is answered(deck, Recall.GOOD)
    clock.now = NOON + dt.timedelta(days=2)
    assert right in [answered(deck, Recall.GOOD), answered(deck, Recall.GOOD)]


def test_days_between_right_answers_grow_and_shrink_after_a_wrong_one() -> None:
    schedule: Schedule | None = None
    now, pauses = NOON, []
    for recall in (*[Recall.GOOD] * 4, Recall.AGAIN):
        schedule = next_schedule(schedule, recall, now)
        pauses.append((schedule.due - now).days)
        now = schedule.due
    assert sorted(set(pauses[:4])) == pauses[:4]
    assert 1 <= pauses[4] < pauses[3]
    assert all((schedule.due - schedule.reviewed) % dt.timedelta(days=1) == dt.timedelta() for _ in [0] if schedule)


def test_the_same_answers_at_the_same_times_give_the_same_dates() -> None:
    assert next_schedule(None, Recall.HARD, NOON) == next_schedule(None, Recall.HARD, NOON)


def test_answers_are_judged_by_what_they_lose() -> None:
    found = [recall_of(loss) for loss in (0.0, 0.019, 0.02, 0.039, 0.04, 0.5, None)]
    assert [3, 3, 2, 2, 1, 1, 1] == found


def test_a_person_may_choose_kind_and_class() -> None:
    deck = deck_of(Clock())
    first = errors()[0]
    for wanted in (ExerciseFilter(ExerciseKind.PLAY), ExerciseFilter(position_class=first.position_class)):
        item = deck.next(wanted)
        assert item is not None
        assert wanted.takes(item.exercise)
        assert sum(map(wanted.takes, errors())) == deck.counts(wanted).new
    assert None is deck.next(ExerciseFilter(position_class="nowhere"))
    assert len(errors()) == sum(number for _, number in deck.classes())


def test_an_exercise_that_comes_again_from_its_match_keeps_its_schedule() -> None:
    deck = deck_of(Clock())
    exercise = answered(deck, Recall.GOOD)
    deck.add([PracticeItem(evolve(exercise, source="elsewhere.mat"))])
    assert 1 == deck.counts(EVERY).later


def test_dates_in_words() -> None:
    assert ["tomorrow", "tomorrow", "in 2 days", "in 30 days"] == [
        when(NOON + dt.timedelta(days=days), NOON) for days in (0.4, 1, 2, 30)
    ]
