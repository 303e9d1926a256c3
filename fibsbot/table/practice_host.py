"""`fibsbot practice` in the browser: an exercise, the person's answer, the verdict, and the next one.

Matches are analysed in a thread meanwhile, and their exercises come as each is done. An answer is stored before its
verdict is shown, so that nothing is lost whatever ends the program.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

import structlog
from attrs import define, evolve, field, frozen

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.model import ValuedChoice, grade
from fibsbot.position import Play
from fibsbot.practice.deck import Deck, ExerciseFilter, PracticeItem, Recall, recall_of, when
from fibsbot.practice.exercises import Exercise, ExerciseKind, choices_of
from fibsbot.practice.wording import KINDS, origin, texts_to_choose
from fibsbot.strategies.loader import ReusedStrategies
from fibsbot.table.hosts import TableHost
from fibsbot.table.practice_model import PERSON, PracticeModel
from fibsbot.text import describe_error
from fibsbot.transcript import Decision, Entry, Step

_log = structlog.get_logger(__name__)


class AnswerStore(Protocol):
    """Keeps answers; each method may take a moment and may raise."""

    def save(self, item: PracticeItem, answer: Answered) -> None:
        """Save an answer, and when the exercise comes again. Raises an Exception whose text is one line."""
        ...


@frozen
class Answered:
    """An answer of the person."""

    at: dt.datetime
    recall: Recall
    choice: ValuedChoice | None
    """None if the person asked for the solution."""
    seconds: float
    """How long the person thought."""


class PracticeFeed:
    """Takes exercises and progress from the thread in which matches are analysed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, host: PracticeHost) -> None:
        self._loop, self._host = loop, host
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether nobody wants more."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Want no more."""
        self._stopped.set()

    def progress(self, text: str) -> None:
        """Say what is being done, in a few words; an empty text ends it."""
        self._call(self._host.show_progress, text)

    def add(self, exercises: Iterable[Exercise]) -> None:
        """Hand over the exercises of a match."""
        self._call(self._host.take, tuple(exercises))

    def fail(self, text: str) -> None:
        """Say what cannot be analysed, and why, in a line."""
        self._call(self._host.show_fault, text)

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        if not self.stopped and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)


@define
class _Asked:
    """The exercise that the person sees."""

    item: PracticeItem
    since: float
    """When it was shown, in the loop's time."""
    choices: tuple[ValuedChoice, ...] = ()
    """All that are known, the best first; shown with the verdict."""
    answer: ValuedChoice | None = None
    after: PracticeItem | None = None
    """With the schedule after the answer; None before it."""
    thinking: bool = field(default=False, kw_only=True)
    """Whether the answer is being valued."""


class PracticeHost(TableHost):
    """A person who practises."""

    def __init__(
        self, deck: Deck, store: AnswerStore, evaluator: str, feed: Callable[[PracticeFeed], None] | None = None
    ) -> None:
        """Ask the exercises of a deck.

        Args:
            deck: the exercises that are known already.
            store: keeps the answers.
            evaluator: the strategy that values plays that are not among the best ones.
            feed: analyses matches in a thread and hands over their exercises.
        """
        super().__init__()
        self._deck, self._store, self._evaluator, self._feeder = deck, store, evaluator, feed
        self._wanted = ExerciseFilter()
        self._model: PracticeModel | None = None
        self._asked: _Asked | None = None
        self._progress = ""
        self._faults: list[str] = []
        self._answers = dict.fromkeys(Recall, 0)
        self._strategies = ReusedStrategies()
        self._analyser: DecisionAnalyser | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="verdict")
        self._feed: PracticeFeed | None = None
        self._feeding: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def model(self) -> PracticeModel | None:
        """The exercise on the board; None while there is none."""
        return self._model

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the page shows beside the board."""
        return {"practice": self._to_json()}

    def _to_json(self) -> dict[str, Any]:
        counts, asked = self._deck.counts(self._wanted), self._asked
        return {
            "due": counts.due,
            "new": counts.new,
            "later": counts.later,
            "next": when(counts.next_due, self._deck.clock()) if counts.next_due else "",
            "progress": self._progress,
            "faults": self._faults,
            "answers": {recall.name.lower(): number for recall, number in self._answers.items()},
            "kind": self._wanted.kind.value if self._wanted.kind else "",
            "kinds": {kind.value: words for kind, words in KINDS.items()},
            "class": self._wanted.position_class or "",
            "classes": self._deck.classes(),
            "exercise": None if asked is None else self._exercise_to_json(asked),
        }

    def _exercise_to_json(self, asked: _Asked) -> dict[str, Any]:
        exercise = asked.item.exercise
        found: dict[str, Any] = {
            "about": origin(exercise),
            "again": asked.item.schedule is not None,
            "thinking": asked.thinking,
            "choices": [],
            "verdict": None,
        }
        if asked.after is not None and not asked.thinking:
            found["verdict"] = self._verdict_to_json(asked, asked.after)
        elif asked.after is None:
            found["choices"] = [[text, exercise.choice_name(text)] for text in texts_to_choose(exercise)]
        return found

    def _verdict_to_json(self, asked: _Asked, after: PracticeItem) -> dict[str, Any]:
        exercise, answer = asked.item.exercise, asked.answer
        made = answer.text if answer else None
        choices = [
            {
                "text": exercise.choice_name(choice.text),
                "equity": choice.equity,
                "loss": choice.loss,
                "chances": choice.chances,
                "plies": choice.plies,
                "moves": choice.play and [[move.source, move.target] for move in choice.play.moves],
                "marks": [
                    *(["yours"] if choice.text == made else []),
                    *(["in the match"] if choice.text == exercise.made else []),
                ],
            }
            for choice in asked.choices
        ]
        return {
            "recall": _recall_of(answer).name.lower(),
            "choices": choices,
            "chances": exercise.chances,
            "evaluator": exercise.evaluator,
            "next": self._comes_again(after),
        }

    def _comes_again(self, item: PracticeItem) -> str:
        """Return in words when an exercise comes again; empty if that is not to be said."""
        return when(item.schedule.due, self._deck.clock()) if item.schedule else ""

    # -- what is asked ------------------------------------------------------------------------------------------

    def request(self, address: str, asked: Mapping[str, Any]) -> bool:
        """Do what the page asks: an answer in words, the solution, the next exercise, another choice of exercises."""
        match address:
            case "answer":
                return self._answer_in_words(str(asked.get("choice")))
            case "solution":
                return self._decide(None)
            case "next":
                return self._next()
            case "choose":
                kind, position_class = asked.get("kind"), asked.get("class")
                self._wanted = ExerciseFilter(ExerciseKind(kind) if kind else None, str(position_class or "") or None)
                self._next(skip=True)
                self.tell()
                return True
        return super().request(address, asked)

    def _answer_in_words(self, text: str) -> bool:
        asked = self._asked
        if asked is None or asked.item.exercise.kind is ExerciseKind.PLAY:
            return False
        choice = next((choice for choice in asked.item.exercise.choices if choice.text == text), None)
        return choice is not None and self._decide(choice)

    def _answer_on_board(self, play: Play) -> None:
        asked = self._asked
        if asked is None or asked.thinking:
            return
        choice = asked.item.exercise.choice_of(play)
        if choice is not None:
            self._decide(choice)
            return
        asked.thinking = True
        self._begin(self._value(asked, play))

    async def _value(self, asked: _Asked, play: Play) -> None:
        """Value a play that is not among the best ones."""
        exercise = asked.item.exercise
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._thread, self._valued, exercise, play)
        except Exception as error:  # noqa: BLE001 - whatever an evaluator raises, practice goes on
            _log.warning("a play cannot be valued", reason=describe_error(error))
            self.show_fault(f"{self._evaluator} cannot value this play: {describe_error(error)}")
            asked.thinking = False
            self.tell()
            return
        asked.thinking = False
        if self._asked is asked:
            asked.choices = found
            self._decide(evolve(exercise, choices=found).choice_of(play))

    def _valued(self, exercise: Exercise, play: Play) -> tuple[ValuedChoice, ...]:
        """Return the choices of an exercise as they are valued together with a play, in a thread."""
        if self._analyser is None:
            self._analyser = DecisionAnalyser(self._strategies.fresh_evaluator(self._evaluator))
        game = exercise.state.game(PERSON)
        step = Step(exercise.game, 0, game, Entry(), game)
        return choices_of(self._analyser.analyse(Decision(step, PERSON, exercise.state, play)))

    def _decide(self, choice: ValuedChoice | None) -> bool:
        """Let an answer stand, or show the solution if there is none."""
        asked, model = self._asked, self._model
        if asked is None or model is None or asked.after is not None or asked.thinking:
            return False
        exercise = asked.item.exercise
        recall = _recall_of(choice)
        asked.answer, asked.choices = choice, asked.choices or exercise.choices
        asked.after = self._deck.answer(exercise, recall)
        self._answers[recall] += 1
        seconds = asyncio.get_running_loop().time() - asked.since
        answered = Answered(self._deck.clock(), recall, choice, seconds)
        asked.thinking = True
        self._begin(self._keep(asked, asked.after, answered, model))
        return True

    async def _keep(self, asked: _Asked, item: PracticeItem, answered: Answered, model: PracticeModel) -> None:
        """Keep an answer, and then show the verdict."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._store.save, item, answered)
        except Exception as error:  # noqa: BLE001 - the verdict is shown in any case
            self.show_fault(f"this answer is not kept: {error}")
        asked.thinking = False
        model.show_solution(_verdict(item.exercise, asked.choices, answered.choice))
        self.tell()

    def _next(self, *, skip: bool = False) -> bool:
        """Ask the next exercise; one that is not answered yet stays, unless it is to be skipped."""
        asked = self._asked
        if asked is not None and (asked.thinking or (asked.after is None and not skip)):
            return False
        item = self._next_item()
        self._asked = self._model = None
        if item is not None:
            self._asked = _Asked(item, asyncio.get_running_loop().time())
            self._model = PracticeModel(item.exercise, self._answer_on_board)
        self.tell()
        return True

    def _next_item(self) -> PracticeItem | None:
        """Return what is to be asked now."""
        return self._deck.next(self._wanted)

    # -- matches that are analysed ------------------------------------------------------------------------------

    def take(self, exercises: Iterable[Exercise]) -> None:
        """Take the exercises of a match, and ask the first one if none is asked."""
        self._deck.add(map(PracticeItem, exercises))
        if self._asked is None:
            self._next()
        self.tell()

    def show_progress(self, text: str) -> None:
        """Say what is being done."""
        self._progress = text
        self.tell()

    def show_fault(self, text: str) -> None:
        """Say what did not work."""
        self._faults = [*self._faults[-4:], text]
        self.tell()

    # -- beginning and end --------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Tell who listens."""
        self.tell()

    async def start(self) -> None:
        """Ask the first exercise, and let matches be analysed."""
        self._next()
        if self._feeder is not None:
            self._feed = PracticeFeed(asyncio.get_running_loop(), self)
            self._feeding = threading.Thread(target=self._feeder, args=(self._feed,), name="analysis", daemon=True)
            self._feeding.start()

    async def close(self) -> None:
        """End; answers that are being kept are waited for."""
        if self._feed is not None:
            self._feed.stop()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_PATIENCE)
        if self._feeding is not None:
            await asyncio.to_thread(self._feeding.join, _PATIENCE)
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._strategies.close()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.tell()


_PATIENCE: Final = 5.0
"""Seconds that the end waits for answers that are being kept, and for the analysis."""


def _recall_of(choice: ValuedChoice | None) -> Recall:
    return recall_of(None if choice is None else choice.loss)


def _verdict(exercise: Exercise, choices: Sequence[ValuedChoice], choice: ValuedChoice | None) -> str:
    best = exercise.choice_name(choices[0].text)
    if choice is None:
        return f"Best is {best}."
    made = exercise.choice_name(choice.text)
    if not choice.loss:
        return f"Right: {made} is best."
    found = grade(choice.loss)
    word = {None: "Good enough", "?!": "Doubtful", "?": "An error", "??": "A blunder"}[found and found.value]
    return f"{word}: {made} loses {choice.loss:.3f}; best is {best}."
