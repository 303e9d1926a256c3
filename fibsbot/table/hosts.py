"""What brings a table to life between its model and its faces: who answers, and who is told that something changed."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog
from attrs import frozen

from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.questions import (
    LastResort,
    Question,
    StrategyAnswer,
    StrategyFailedError,
    ask_strategy,
    first_decisions,
    last_resort_answer,
    question_of,
)
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.learning import ADVISER, Learning, Lesson
from fibsbot.table.model import Action, Preference, TableModel
from fibsbot.web.content_policy import PLAIN_POLICY

_log = structlog.get_logger(__name__)


@frozen
class Document:
    """A page of its own, beside that of the table."""

    html: str
    policy: str
    """Its content security policy."""
    refresh: int | None = None
    """Seconds after which the browser asks again; None if the page is done."""


class TableHost(ABC):
    """A person's table: the model, the inputs of its faces, and whoever else takes part."""

    learning: Learning | None = None
    """The lessons, which only a table against the bot has."""

    def __init__(self) -> None:
        """Begin with nobody who listens."""
        self._listeners: list[Callable[[], None]] = []

    @property
    @abstractmethod
    def model(self) -> TableModel | None:
        """The match at the table; None while there is none."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """What a page shows beside the match, in JSON types: by the name of the part, whose script shows it."""
        return {}

    def request(self, address: str, asked: Mapping[str, Any]) -> bool:  # noqa: ARG002 - for subclasses
        """Do what a part of a page asks at an address of its own; return whether it could be done.

        Raises LookupError for an unknown address, ValueError with what was expected for an impossible request.
        """
        raise LookupError(address)

    def document(self, address: str) -> Document | None:  # noqa: ARG002 - for subclasses
        """Return the page at an address beside that of the table; None if there is none."""
        return None

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` in the event loop whenever something has changed."""
        self._listeners.append(listener)

    def tell(self) -> None:
        """Say that something has changed."""
        for listener in self._listeners:
            listener()

    def act(self, action: Action, numbers: Sequence[int] = ()) -> bool:
        """Do what the person asks; return whether it may be done now."""
        done = self.model is not None and self.model.act(action, numbers)
        if done:
            self.changed()
        return done

    def type_play(self, text: str) -> None:
        """Make the moves of a whole play as people write it. Raises PlayError or RollFirstError, as the model does."""
        if self.model is not None:
            self.model.type_play(text)
            self.changed()

    def prefer(self, preference: Preference, *, wanted: bool) -> None:
        """Leave something to the table, or take it back."""
        if self.model is not None:
            self.model.prefer(preference, wanted=wanted)
            self.changed()

    @abstractmethod
    def changed(self) -> None:
        """Tell who listens after an input, and let the others go on."""

    @abstractmethod
    async def start(self) -> None:
        """Begin; called once, in the event loop."""

    @abstractmethod
    async def close(self) -> None:
        """End; what is being waited for is given up."""


class BotHost(TableHost):
    """A match against a strategy, which thinks in a thread, with lessons for the person."""

    def __init__(self, match: BotMatch, bot: Strategy, adviser: str = ADVISER) -> None:
        """Let `bot` play seat B of the match; `adviser` is the strategy that values for the lessons."""
        super().__init__()
        self.match = match
        self.learning: Learning = Learning(self, adviser)
        self._bot = bot
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bot")
        self._playing: asyncio.Task[None] | None = None

    @property
    def model(self) -> BotMatch:
        """The match."""
        return self.match

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the lessons show."""
        return {"learning": self.learning.to_json()}

    def request(self, address: str, asked: Mapping[str, Any]) -> bool:
        """Do what a page asks of the lessons."""
        match address:
            case "learn":
                return self.learning.ask(Lesson(asked.get("lesson")))
            case "tutor":
                self.learning.switch_tutor(wanted=bool(asked.get("wanted")))
                return True
            case "set-up":
                self.learning.set_up(asked.get("position"))
                return True
        return super().request(address, asked)

    def document(self, address: str) -> Document | None:
        """Return the report of the match as far as it is made, which asking for it begins."""
        report = self.learning.wanted_report() if address == "report" else None
        if report is None:
            return None
        if report.page is not None:
            return Document(report.page, report.policy)
        return Document(report.progress, PLAIN_POLICY, None if report.fault else 1)

    async def start(self) -> None:
        """Warm the bot up, and let it play if it begins."""
        self._thread.submit(_warm_up, self._bot, self.match.state.rules)
        self._let_bot_play()

    async def close(self) -> None:
        """Stop; a bot that thinks is not waited for."""
        if self._playing:
            self._playing.cancel()
        self.learning.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def act(self, action: Action, numbers: Sequence[int] = ()) -> bool:
        """Do what the person asks, after the tutor has looked at it."""
        return self.learning.consider(action, numbers) or self.stand(action, numbers)

    def stand(self, action: Action, numbers: Sequence[int]) -> bool:
        """Do what the person asks, whatever the tutor thinks."""
        return super().act(action, numbers)

    def type_play(self, text: str) -> None:
        """Make the moves of a whole play; not while the tutor warns."""
        if not self.match.held:
            self.learning.stop_judging()
            super().type_play(text)

    def sit_down(self, match: BotMatch) -> None:
        """Go on with another match; what the person leaves to the table stays."""
        match.preferences |= self.match.preferences
        self.match = match
        self.changed()

    def changed(self) -> None:
        """Tell who listens, and let the bot decide."""
        self.tell()
        self._let_bot_play()

    def _let_bot_play(self) -> None:
        """Let the bot think, unless it does or has nothing to decide."""
        if self.match.question is not None and (self._playing is None or self._playing.done()):
            self._playing = asyncio.create_task(self._play())

    async def _play(self) -> None:
        """Let the bot decide until the person has to; what it thought about a game that has changed is forgotten."""
        loop = asyncio.get_running_loop()
        while (question := self.match.question) is not None:
            match, state = self.match, self.match.state
            answer = await loop.run_in_executor(self._thread, answer_of, self._bot, question)
            if self.match is not match or match.state is not state:
                continue
            if answer is None:
                return
            match.answer(answer)
            self.tell()


class LateBotHost(BotHost):
    """A match against a strategy that is loaded in a thread, which takes half a second: the board is there before."""

    def __init__(self, match: BotMatch, load: Callable[[], Strategy]) -> None:
        """Let the strategy that `load` returns play seat B of the match."""
        super().__init__(match, LastResort())
        self._load = load
        self._loaded = False

    async def start(self) -> None:
        """Load the bot, warm it up, and let it play if it begins. Raises what `load` raises."""
        self._bot = await asyncio.to_thread(self._load)
        self._loaded = True
        await super().start()

    def _let_bot_play(self) -> None:
        if self._loaded:
            super()._let_bot_play()


def answer_of(bot: Strategy, question: Question) -> StrategyAnswer | None:
    """Return the bot's answer, or that of the last resort if the bot has none; None to a question without sense."""
    try:
        return ask_strategy(bot, question)
    except StrategyFailedError as error:
        _log.warning("the bot has no answer", reason=str(error))
        return last_resort_answer(question)


def _warm_up(bot: Strategy, rules: Ruleset) -> None:
    """Ask the bot about the first decisions of a game, as its very first start compiles what it needs."""
    for state in first_decisions(rules):
        answer_of(bot, question_of(state))
