"""The session of `fibsbot practice`: matches that are analysed meanwhile, and answers that are kept."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import define, frozen

from fibsbot.analysis.model import MatchAnalysis
from fibsbot.analysis.selection import DecisionSelection
from fibsbot.cli import ProgressDisplay
from fibsbot.cli.matches import AnalysisRun, MatchSelection, SelectedMatch, checked_matches
from fibsbot.cli.options import WorkerOptions, store_errors
from fibsbot.cli.page_session import serve_page
from fibsbot.drawing.markup import clean
from fibsbot.practice.deck import Deck, PracticeItem, Schedule
from fibsbot.practice.exercises import Exercise, ExerciseError, exercises_of, is_selected, own_seats
from fibsbot.records.store import Store
from fibsbot.records.store.database import database_url, is_sqlite
from fibsbot.records.store.practice_cards import CardWriter, StoredCard, StoredReview, read_cards
from fibsbot.rules.state import Seat
from fibsbot.table.practice_host import Answered, PracticeFeed, PracticeHost
from fibsbot.text import describe_error, plural
from fibsbot.transcript import Transcript


def stored_items(place: str, selection: DecisionSelection) -> list[PracticeItem]:
    """Return the exercises that were answered before and are selected; none if there is no store yet.

    Raises StoreError for a store that cannot be read. A card that cannot be read is left out with a line on stderr.
    """
    url = database_url(place)
    if is_sqlite(url) and not Path(str(url.database)).exists():
        return []
    items = []
    with Store.open(place) as store:
        for card in read_cards(store, selection.player):
            try:
                exercise = Exercise.from_json(json.loads(card.exercise))
            except (ExerciseError, ValueError) as error:
                click.echo(f"exercise {card.exercise_id} is left out: {clean(str(error), 200)}", err=True)
                continue
            schedule = Schedule(card.stability, card.difficulty, card.reviewed, card.due)
            if is_selected(exercise, selection):
                items.append(PracticeItem(exercise, schedule))
    return items


@define
class AnswersInStore:
    """Keeps answers in a store."""

    _writer: CardWriter

    def save(self, item: PracticeItem, answer: Answered) -> None:
        """Write an answer. Raises StoreError."""
        exercise, schedule, choice = item.exercise, item.schedule, answer.choice
        if schedule is None:
            raise ValueError("expected an exercise that was answered")
        card = StoredCard(
            player=exercise.player,
            exercise_id=exercise.id,
            exercise=json.dumps(exercise.to_json()),
            stability=schedule.stability,
            difficulty=schedule.difficulty,
            reviewed=schedule.reviewed,
            due=schedule.due,
        )
        self._writer.write(
            card,
            StoredReview(
                at=answer.at,
                rating=int(answer.recall),
                answer=None if choice is None else choice.text,
                loss=None if choice is None else choice.loss,
                seconds=answer.seconds,
            ),
        )


class _StoppedError(Exception):
    """Nobody wants more exercises."""


class _PageProgress(ProgressDisplay):
    """Shows on the page how far the analysis is."""

    def __init__(self, feed: PracticeFeed, names: list[str]) -> None:
        self._feed, self._names = feed, names
        self.matches = 0
        """How many matches are done."""

    def __call__(self, done: float, of: float | None) -> None:
        if self._feed.stopped:
            raise _StoppedError
        place = min(self.matches, len(self._names) - 1)
        text = f"Analysing {clean(self._names[place], 60)}" if self._names else "Analysing"
        number = f" ({place + 1} of {len(self._names)})" if len(self._names) > 1 else ""
        self._feed.progress(f"{text}{number}: {done:.0f} of {of:.0f} turns" if of else f"{text}{number}")


@frozen(kw_only=True)
class PracticeSession:
    """What is practised."""

    selection: MatchSelection
    evaluator: str
    workers: WorkerOptions
    journal: Path
    kept: DecisionSelection
    """Which of the exercises that were answered before."""

    def feed(self, feed: PracticeFeed) -> None:
        """Analyse the matches and hand over their exercises, in a thread; what fails is said on the page."""
        try:
            self._analyse(feed)
        except _StoppedError:
            return
        except Exception as error:  # noqa: BLE001 - whatever fails, the exercises that are there can be practised
            text = error.message if isinstance(error, click.ClickException) else describe_error(error)
            feed.fail(clean(text, 300))
            click.echo(clean(text, 300), err=True)
        finally:
            feed.progress("")

    def _analyse(self, feed: PracticeFeed) -> None:
        feed.progress("Reading the matches")
        with store_errors():
            found = list(checked_matches(self.selection, self.evaluator))
        ours = [match for match in found if self._seats(match.transcript)]
        for match in found:
            if not self._seats(match.transcript):
                feed.fail(f"{clean(match.short_name, 80)} does not say whose it is: --player NAME does")
        display = _PageProgress(feed, [match.short_name for match in ours])
        with AnalysisRun.open(self.evaluator, self.workers, self.journal, luck=False, display=display) as work:
            for match, analysis in work.analyses_of_all(ours):
                feed.add(self._exercises(match, analysis))
                display.matches += 1
            if work.failed:
                feed.fail(f"{plural(work.failed, 'match')} could not be analysed; the terminal says why")
        for reason in self.selection.skipped:
            feed.fail(f"skipped: {clean(reason, 200)}")
        if self.selection.undated:
            feed.fail(f"left out by --since: {self.selection.without_date}")
        if not found and not self.selection.skipped:
            raise self.selection.none_found()

    def _seats(self, transcript: Transcript) -> list[Seat]:
        """Return whose decisions are practised."""
        return own_seats(transcript, self.selection.decisions.player)

    def _exercises(self, match: SelectedMatch, analysis: MatchAnalysis) -> Iterator[Exercise]:
        seats = self._seats(analysis.transcript)
        return exercises_of(analysis, seats, selection=self.selection.decisions, source=match.short_name)


def open_session(session: PracticeSession, place: str, port: int, *, browse: bool) -> None:
    """Serve the page of a session until a signal."""
    deck = Deck()
    with store_errors():
        if session.selection.store is not None:
            Store.open(session.selection.store).close()  # before a file is made at a place that was mistyped
        writer = CardWriter.open(place)
    with store_errors(), contextlib.closing(writer):
        deck.add(stored_items(place, session.kept))
        feed = None if session.selection.is_empty else session.feed
        serve_page(
            lambda: PracticeHost(deck, AnswersInStore(writer), session.evaluator, feed),
            port,
            f"Your answers are kept in {place}.",
            browse=browse,
        )
    if any(thread.name == "analysis" for thread in threading.enumerate()):
        sys.stdout.flush()
        os._exit(0)  # Python would wait for an analysis that does not end by itself
