"""Puts questions to strategies in threads, each with a deadline and somebody to ask next."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence

from attrs import frozen

from fibsbot.bot.fallback import LastResort
from fibsbot.bot.questions import Answer, NonsenseError, Question
from fibsbot.strategies.base import Strategy


@frozen
class Thought:
    """An answer, and why it is not the first strategy's, if it is not."""

    answer: Answer
    fallback: str | None = None


class Thinker:
    """Asks the first strategy; if it is late, raises or answers nonsense, the next; in the end the last resort.

    A strategy gets one question at a time. One that never returns keeps its thread, and is passed over from then on.
    """

    def __init__(self, strategies: Sequence[Strategy], deadline: float) -> None:
        """Ask these strategies in their order, each for at most `deadline` seconds."""
        self._workers = [_Worker(strategy) for strategy in strategies]
        self._deadline = deadline

    async def answer(self, question: Question) -> Thought:
        """Return an answer, whatever the strategies do."""
        faults: list[str] = []
        for worker in self._workers:
            try:
                async with asyncio.timeout(self._deadline):
                    answer = await worker.ask(question)
            except TimeoutError:
                faults.append(f"{worker.name} gave no answer within {self._deadline:g} s")
            except NonsenseError as error:
                faults.append(f"{worker.name} answered nonsense: {error}")
            except _RaisedError as error:
                faults.append(f"{worker.name} raised {error}")
            else:
                return Thought(answer, "; ".join(faults) or None)
        return Thought(question.put_to(LastResort()), "; ".join(faults) or "no strategy to ask")


class _RaisedError(Exception):
    """A strategy raised something; the text says what."""


class _Worker:
    """One strategy, asked in a thread of its own, which does not keep the program from ending."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._free = asyncio.Lock()
        self.name = strategy.name

    async def ask(self, question: Question) -> Answer:
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()

        def finish(answer: Answer | None, error: Exception | None) -> None:
            self._free.release()
            if future.done():
                return  # too late, nobody waits any more
            if error is not None:
                future.set_exception(error)
            elif answer is not None:
                future.set_result(answer)

        def think() -> None:
            answer: Answer | None = None
            failure: Exception | None = None
            try:
                answer = question.put_to(self._strategy)
            except NonsenseError as error:
                failure = error
            except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
                failure = _RaisedError(f"{type(error).__name__}: {' '.join(str(error).split())}")
            with contextlib.suppress(RuntimeError):  # the loop is gone, and so is the question
                loop.call_soon_threadsafe(finish, answer, failure)

        threading.Thread(target=think, name=f"strategy {self.name}", daemon=True).start()
        return await future
