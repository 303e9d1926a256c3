"""Help for a person who plays against the bot: hints, a tutor, decisions taken back, positions set up, reports.

It belongs to the host of a match against the bot alone. Tables at which people play each other have none of it, nor
any of its addresses.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import structlog
from attrs import define

from fibsbot.rules.partial_plays import PartialPlay
from fibsbot.rules.sides import START
from fibsbot.rules.state import GameState, Stage
from fibsbot.strategies.loader import ReusedStrategies
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.hints import BLUNDER, Adviser, Hint, Judgement, answer_to_judge
from fibsbot.table.model import IN_PLAY, Action
from fibsbot.table.set_up import SetUp, SetUpError, read_position
from fibsbot.text import describe_error
from fibsbot.transcript import Answer, RejectedRoll

if TYPE_CHECKING:
    from fibsbot.table.match_report import MatchReport

ADVISER: Final = "engine:2,time=1"
"""The strategy that values for hints and the tutor: two plies in backgammon, less where that takes over a second; in
other games as far as it can look ahead."""

_log = structlog.get_logger(__name__)
_T = TypeVar("_T")


class Lesson(enum.Enum):
    """What a person may ask of a table against the bot, besides playing."""

    HINT = "hint"
    """Show the best choices, or hide them again."""
    TAKE_BACK = "take-back"
    """Undo the last own decision, and what the bot did since."""
    THINK_AGAIN = "think-again"
    """After a warning: decide anew."""
    SHOW = "show"
    """After a warning: show the best decision."""
    PLAY_IT = "play-it"
    """After a warning: let the decision stand."""
    REPORT = "report"
    """Analyse the match."""
    AGAIN = "again"
    """Play a new match with the same settings."""


class _Purpose(enum.Enum):
    """What the thread is asked for."""

    WARMING = "getting ready"
    HINT = "looking for a hint"
    JUDGEMENT = "looking at a decision"


@define
class BlunderWarning:
    """A decision that costs too much, and does not stand yet."""

    action: Action
    numbers: tuple[int, ...]
    play: PartialPlay | None
    """The play that it ends, if it is one."""
    judgement: Judgement
    shown: bool = False
    """Whether the best decision is shown."""


class Classroom(Protocol):
    """What the lessons need of their table."""

    @property
    def match(self) -> BotMatch:
        """The match that is played."""
        ...

    def tell(self) -> None:
        """Say that something has changed."""
        ...

    def changed(self) -> None:
        """Say so, and let the bot go on."""
        ...

    def stand(self, action: Action, numbers: Sequence[int]) -> bool:
        """Let a decision of the person stand."""
        ...

    def sit_down(self, match: BotMatch) -> None:
        """Go on with another match."""
        ...


class Learning:
    """The lessons at one table."""

    def __init__(self, table: Classroom, evaluator: str = ADVISER, dice: Callable[[], Random] = SystemRandom) -> None:
        """Help at a table by an evaluator, which is loaded when it is first needed; new matches get such `dice`."""
        self._table, self._evaluator, self._dice = table, evaluator, dice
        self.tutor = False
        """Whether the tutor looks at every decision; switched by `switch_tutor`."""
        self.threshold = BLUNDER
        """The loss from which on the tutor speaks."""
        self.warning: BlunderWarning | None = None
        """What the tutor says; the match is held meanwhile, and only the lessons of a warning are possible."""
        self._report: MatchReport | None = None
        self._reported: GameState | None = None
        """The end of the last game that it analyses."""
        self.fault = ""
        """Why there is no hint and no tutor, in a line."""
        self._hint: tuple[GameState, Hint] | None = None
        self._strategies = ReusedStrategies()
        self._adviser: Adviser | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="adviser")
        self._task: asyncio.Task[None] | None = None
        self._purpose: _Purpose | None = None
        """What the task is for."""

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def hint(self) -> Hint | None:
        """The hint for the decision that the person has to make; None while there is none."""
        return self._hint[1] if self._hint and self._hint[0] is self._table.match.state else None

    @property
    def report(self) -> MatchReport | None:
        """The report of the match as it is now over, which may still be made; None while there is none."""
        match = self._table.match
        if self._report is None or match.state.stage is not Stage.OVER:
            return None
        return self._report if self._reported is match.state else None

    @property
    def thinking(self) -> str:
        """What is being done, in words: a hint is looked for, or the tutor looks at a decision; empty if nothing is."""
        return self._purpose.value if self._purpose else ""

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """What the person may ask now."""
        if self.warning is not None:
            return Lesson.THINK_AGAIN, *(() if self.warning.shown else (Lesson.SHOW,)), Lesson.PLAY_IT
        match = self._table.match
        over = match.state.stage is Stage.OVER
        possible = {
            Lesson.HINT: match.state.decides is PERSON,
            Lesson.TAKE_BACK: match.may_take_back,
            Lesson.REPORT: over and self.report is None,
            Lesson.AGAIN: match.match_over,
        }
        return tuple(lesson for lesson, there in possible.items() if there)

    def to_json(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        hint, warning, report = self.hint, self.warning, self.report
        return {
            "lessons": [lesson.value for lesson in self.lessons],
            "tutor": self.tutor,
            "thinking": self.thinking,
            "fault": self.fault,
            "hint": hint and _hint_to_json(hint),
            "warning": warning and _warning_to_json(warning),
            "report": report and _report_to_json(report),
            "set_up": _set_up_to_json(self._table.match.state),
        }

    # -- what may be asked --------------------------------------------------------------------------------------

    def ask(self, lesson: Lesson) -> bool:
        """Do what the person asks; return False, and change nothing, if it may not be done now."""
        if lesson not in self.lessons:
            return False
        {
            Lesson.HINT: self._ask_hint,
            Lesson.TAKE_BACK: self._take_back,
            Lesson.THINK_AGAIN: self._think_again,
            Lesson.SHOW: self._show,
            Lesson.PLAY_IT: self._play_it,
            Lesson.REPORT: self._make_report,
            Lesson.AGAIN: self._again,
        }[lesson]()
        return True

    def switch_tutor(self, *, wanted: bool) -> None:
        """Let the tutor look at every decision, or no longer."""
        self.tutor = wanted
        self._set_warning(None)
        if wanted:
            self._begin(_Purpose.WARMING, self._warm_up())
        else:
            self._give_up()
        self._table.tell()

    def set_up(self, position: object) -> None:
        """Play on from a position: an ID, a text, or the values of a `SetUp`. Raises SetUpError."""
        state = self._table.match.state
        if isinstance(position, str):
            start = read_position(position, state.rules, state.laws)
        elif isinstance(position, Mapping):
            start = SetUp.from_json(position).game(state.rules, state.laws)
        else:
            raise SetUpError(f"expected an ID or the values of a position, got {str(position)[:40]!r}")
        self._sit_down(BotMatch(start.rules, start.laws, start.length, self._table.match.names, self._dice(), start))

    def consider(self, action: Action, numbers: Sequence[int]) -> bool:
        """Look at a decision before it stands; return False where the tutor has nothing to say about it."""
        match = self._table.match
        if action in IN_PLAY:
            self.stop_judging()
        else:
            self._give_up()
        if not self.tutor or action not in match.actions:
            return False
        play = None if match.play is None else match.play.play
        answer = answer_to_judge(match.state, PERSON, action, numbers, play)
        if answer is None:
            return False
        self._begin(_Purpose.JUDGEMENT, self._judge(action, tuple(numbers), answer))
        self._table.tell()
        return True

    def stop_judging(self) -> None:
        """Look no longer at a decision that the person changes; a hint is still looked for."""
        if self._purpose is _Purpose.JUDGEMENT:
            self._give_up()

    def close(self) -> None:
        """End; nobody waits for what is being looked at."""
        self._give_up()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._strategies.close()
        self._drop_report()

    # -- how it is done -----------------------------------------------------------------------------------------

    def _ask_hint(self) -> None:
        if self.hint is None and self._purpose is not _Purpose.HINT:
            self._begin(_Purpose.HINT, self._find_hint())
        else:
            self._give_up()
            self._hint = None
        self._table.tell()

    def _take_back(self) -> None:
        self._give_up()
        self._drop_report()
        self._table.match.take_back()
        self._table.changed()

    def _set_warning(self, warning: BlunderWarning | None) -> None:
        self.warning = warning
        self._table.match.held = warning is not None

    def _think_again(self) -> None:
        self._set_warning(None)
        self._table.tell()

    def _show(self) -> None:
        """Show the best decision, on the board before the play."""
        match = self._table.match
        if self.warning is not None:
            self.warning.shown = True
        if match.play is not None:
            match.play = PartialPlay.of(match.state)
        self._table.tell()

    def _play_it(self) -> None:
        warning = self.warning
        self._set_warning(None)
        if warning is not None:
            self._table.match.play = warning.play
            self._table.stand(warning.action, warning.numbers)

    def _make_report(self) -> None:
        from fibsbot.table.match_report import MatchReport  # noqa: PLC0415 - most people want none

        self._drop_report()
        match = self._table.match
        self._reported, self._report = match.state, MatchReport(match.transcript, self._table.tell)
        self._table.tell()

    def wanted_report(self) -> MatchReport | None:
        """Return the report, after beginning it if that may be done now; the last one while the next game is on."""
        self.ask(Lesson.REPORT)
        return self._report

    def _again(self) -> None:
        self._sit_down(self._table.match.again(self._dice()))

    def _sit_down(self, match: BotMatch) -> None:
        self._give_up()
        self._drop_report()
        self._hint = None
        self._set_warning(None)
        self._table.sit_down(match)

    def _drop_report(self) -> None:
        if self._report is not None:
            self._report.stop()
            self._report = None

    def _begin(self, purpose: _Purpose, work: Coroutine[Any, Any, None]) -> None:
        """Look for something, in place of what was looked for before."""
        self._give_up()
        task = self._task = asyncio.create_task(work)
        self._purpose = purpose
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        if self._task is task:
            self._task = self._purpose = None
            self._table.tell()

    def _give_up(self) -> None:
        """Want no longer what is looked for: the thread ends by itself, and nobody hears of it."""
        if self._task is not None:
            task = self._task
            self._task = self._purpose = None
            task.cancel()

    async def _warm_up(self) -> None:
        await self._in_thread(lambda _: None)

    async def _find_hint(self) -> None:
        state = self._table.match.state
        hint = await self._in_thread(lambda adviser: adviser.hint(state, PERSON))
        if hint is not None and self._table.match.state is state:
            self._hint = (state, hint)

    async def _judge(self, action: Action, numbers: tuple[int, ...], answer: Answer | RejectedRoll) -> None:
        state = self._table.match.state
        judgement = await self._in_thread(lambda adviser: adviser.judge(state, PERSON, answer))
        if self._table.match.state is not state:
            return
        self._task = self._purpose = None
        if judgement is not None and judgement.loss > self.threshold - 1e-9:
            self._set_warning(BlunderWarning(action, numbers, self._table.match.play, judgement))
            self._table.tell()
        else:
            self._table.stand(action, numbers)

    async def _in_thread(self, ask: Callable[[Adviser], _T]) -> _T | None:
        """Ask the adviser; None if it fails, and why is said."""
        loop, rules = asyncio.get_running_loop(), self._table.match.state.rules

        def asked() -> _T:
            if self._adviser is None:
                self._adviser = Adviser(self._strategies.fresh_evaluator(self._evaluator))
                self._adviser.warm_up(rules)
            return ask(self._adviser)

        try:
            found = await loop.run_in_executor(self._thread, asked)
        except Exception as error:  # noqa: BLE001 - whatever an evaluator raises, the match goes on
            self.fault = f"{self._evaluator} cannot value this: {describe_error(error)}"
            _log.warning("no hint", reason=self.fault)
            return None
        self.fault = ""
        return found


def _hint_to_json(hint: Hint) -> dict[str, Any]:
    return {
        "choices": [
            {
                "text": choice.text,
                "equity": choice.equity,
                "loss": choice.loss,
                "chances": choice.chances,
                "plies": choice.plies,
                "moves": choice.play and [[move.source, move.target] for move in choice.play.moves],
            }
            for choice in hint.choices
        ],
        "plies": hint.plies,
        "chances": hint.chances,
    }


def _set_up_to_json(state: GameState) -> dict[str, Any]:
    """Return what the editor of positions begins with; `facing` has the opponent's number of each point."""
    facing = [0, *map(state.rules.course.facing, range(1, START + 1))]
    return {"position": SetUp.of(state).to_json(), "facing": facing, "checkers": state.rules.checkers}


def _report_to_json(report: MatchReport) -> dict[str, Any]:
    return {"done": report.done, "of": report.of, "ready": report.page is not None, "fault": report.fault}


def _warning_to_json(warning: BlunderWarning) -> dict[str, Any]:
    judgement, play = warning.judgement, warning.judgement.play
    return {
        "sentence": judgement.sentence,
        "loss": judgement.loss,
        "best": judgement.best if warning.shown else None,
        "moves": [[move.source, move.target] for move in play.moves] if play and warning.shown else None,
    }
