"""The pool of strategies: shared by many, in order, and nothing that a strategy does holds up anybody else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import define, field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import MAX_HANGING, PooledStrategy, StrategyChain, StrategyPool, TimedAnswer
from fibsbot.strategies.questions import AcceptAnswer, LastResort, Question, StrategyAnswer

SOON = 5.0
"""Seconds after which a test has waited too long."""


class Plain(LastResort):
    """A strategy that knows who it is."""

    name = "plain"

    def __init__(self) -> None:
        """Be somebody."""
        self.closed = threading.Event()

    def close(self) -> None:
        """Take note of the end."""
        self.closed.set()


@frozen
class Does:
    """A question that does whatever a test wants, in the strategy's thread."""

    what: Callable[[Strategy], StrategyAnswer]

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Do it; the last resort always has an answer."""
        return AcceptAnswer(accepted=False) if type(strategy) is LastResort else self.what(strategy)


@define
class Factory:
    """Makes strategies, and keeps them."""

    made: list[Plain] = field(factory=list)

    def __call__(self) -> Plain:
        """Make another one."""
        self.made.append(Plain())
        return self.made[-1]


YES = Does(lambda _: AcceptAnswer(accepted=True))


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Hold up whoever waits for it until the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def hang(event: threading.Event) -> Does:
    """Make a question that is answered when the event is set."""

    def wait(_: Strategy) -> StrategyAnswer:
        event.wait()
        return AcceptAnswer(accepted=True)

    return Does(wait)


def raising(error: BaseException) -> Does:
    """Make a question over which a strategy stumbles."""

    def stumble(_: Strategy) -> StrategyAnswer:
        raise error

    return Does(stumble)


async def answer(thinker: StrategyChain, question: Question) -> TimedAnswer:
    """Ask, and wait for the answer; whoever is cancelled does not want it any more."""
    told: asyncio.Future[TimedAnswer] = asyncio.get_running_loop().create_future()
    inquiry = thinker.ask(question, told.set_result)
    try:
        return await told
    finally:
        inquiry.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110 - threads set no asyncio.Event
            await asyncio.sleep(0.002)


async def test_many_share_few_instances_and_each_answers_one_question_at_a_time() -> None:
    factory, busy, most = Factory(), set[int](), [0]
    pool = StrategyPool(3)
    kind = pool.add("plain", factory)

    def work(strategy: Strategy) -> StrategyAnswer:
        assert id(strategy) not in busy
        busy.add(id(strategy))
        most[0] = max(most[0], len(busy))
        time.sleep(0.001)
        busy.discard(id(strategy))
        return AcceptAnswer(accepted=True)

    thinkers = [StrategyChain([kind], SOON) for _ in range(20)]
    thoughts = await asyncio.gather(*(answer(thinker, Does(work)) for thinker in thinkers for _ in range(5)))
    assert [None] * 100 == [thought.fallback for thought in thoughts]
    assert len(factory.made) <= 3
    assert most[0] <= 3
    pool.close()


async def test_questions_are_answered_in_the_order_in_which_they_came(release: threading.Event) -> None:
    answered: list[int] = []
    pool = StrategyPool(1)
    kind = pool.add("plain", Factory())

    def note(number: int) -> Does:
        def do(_: Strategy) -> StrategyAnswer:
            answered.append(number)
            return AcceptAnswer(accepted=True)

        return Does(do)

    first = asyncio.create_task(answer(StrategyChain([kind], SOON), hang(release)))
    await asyncio.sleep(0)
    others = [asyncio.create_task(answer(StrategyChain([kind], SOON), note(number))) for number in range(10)]
    await asyncio.sleep(0)
    assert 10 == pool.waiting
    release.set()
    await asyncio.gather(first, *others)
    assert list(range(10)) == answered
    pool.close()


async def test_an_instance_that_hangs_costs_its_own_decision_and_another_takes_its_place(
    release: threading.Event,
) -> None:
    factory = Factory()
    pool = StrategyPool(1)
    kind = pool.add("plain", factory)
    stuck = asyncio.create_task(answer(StrategyChain([kind], 0.05), hang(release)))
    await asyncio.sleep(0)
    other = await answer(StrategyChain([kind], SOON), YES)
    thought = await stuck
    assert "plain gave no answer within 0.05 s" == thought.fallback
    assert (None, True) == (other.fallback, other.waited > 0)
    assert (2, 1) == (len(factory.made), pool.hanging)
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_what_hangs_again_and_again_is_passed_over_at_once(release: threading.Event) -> None:
    factory = Factory()
    pool = StrategyPool(2)
    kind = pool.add("plain", factory)
    for _ in range(MAX_HANGING):
        await answer(StrategyChain([kind], 0.005), hang(release))
    began = time.monotonic()
    assert "plain hangs" == (await answer(StrategyChain([kind], SOON), YES)).fallback
    assert SOON > time.monotonic() - began
    assert MAX_HANGING == pool.hanging
    await until(lambda: len(factory.made) == MAX_HANGING)  # a thread may begin later than its question is given up
    release.set()
    await until(lambda: pool.hanging == 0)
    assert (await answer(StrategyChain([kind], SOON), YES)).fallback is None, "it has come back, and is asked again"
    pool.close()
    await until(lambda: all(strategy.closed.is_set() for strategy in factory.made))


async def test_a_single_strategy_that_is_late_is_passed_over_until_it_comes_back(release: threading.Event) -> None:
    thinker = StrategyChain([Plain()], 0.02)
    assert "plain gave no answer within 0.02 s" == (await answer(thinker, hang(release))).fallback
    assert "plain hangs" == (await answer(thinker, YES)).fallback
    release.set()
    async with asyncio.timeout(SOON):
        while (await answer(thinker, YES)).fallback is not None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.002)
    thinker.close()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("a\nb"), "plain raised KeyError: 'a\\nb'"),
        (SystemExit(3), "plain raised SystemExit: 3"),
        (KeyboardInterrupt(), "plain raised KeyboardInterrupt: "),
        (asyncio.CancelledError(), "plain raised CancelledError: "),
        (StopIteration(), "plain raised StopIteration: "),
    ],
)
async def test_an_instance_that_raises_is_kept(error: BaseException, text: str) -> None:
    factory = Factory()
    pool = StrategyPool(1)
    kind = pool.add("plain", factory)
    for _ in range(3):
        assert text == (await answer(StrategyChain([kind], SOON), raising(error))).fallback
    assert (await answer(StrategyChain([kind], SOON), YES)).fallback is None
    assert 1 == len(factory.made)
    pool.close()


async def test_one_that_cannot_be_made_is_passed_over_and_tried_again() -> None:
    attempts: list[int] = []

    def make() -> Strategy:
        attempts.append(1)
        if len(attempts) < 3:
            raise RuntimeError("no weights")
        return Plain()

    pool = StrategyPool(1)
    thinker = StrategyChain([pool.add("plain", make)], SOON)
    assert "plain raised RuntimeError: no weights" == (await answer(thinker, YES)).fallback
    assert "plain raised RuntimeError: no weights" == (await answer(thinker, YES)).fallback
    assert (await answer(thinker, YES)).fallback is None
    pool.close()


async def test_the_fallback_goes_before_those_who_wait(release: threading.Event) -> None:
    asked: list[str] = []
    pool = StrategyPool(1)
    kinds = [pool.add(name, Factory()) for name in ("first", "second")]

    def note(name: str) -> Does:
        def do(_: Strategy) -> StrategyAnswer:
            asked.append(name)
            return AcceptAnswer(accepted=True)

        return Does(do)

    @frozen
    class FirstHangs(Does):
        """A question over which only the first strategy that is asked hangs."""

        def put_to(self, strategy: Strategy) -> StrategyAnswer:
            if not asked:
                asked.append("hung")
                release.wait()
            return super().put_to(strategy)

    one = asyncio.create_task(answer(StrategyChain(kinds, 0.05), FirstHangs(note("fallback").what)))
    await until(lambda: bool(asked))
    others = [asyncio.create_task(answer(StrategyChain(kinds, SOON), note("other"))) for _ in range(3)]
    thought = await one
    await asyncio.gather(*others)
    assert "first gave no answer within 0.05 s" == thought.fallback
    assert asked.index("fallback") <= 2, "whoever has lost time already waits behind one at most"
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_whoever_asks_no_longer_leaves_the_pool_as_it_was(release: threading.Event) -> None:
    pool = StrategyPool(1)
    kind = pool.add("plain", Factory())
    thinking = asyncio.create_task(answer(StrategyChain([kind], 0.05), hang(release)))
    waiting = asyncio.create_task(answer(StrategyChain([kind], SOON), YES))
    await asyncio.sleep(0.01)
    for task in (thinking, waiting):
        task.cancel()
    assert (await answer(StrategyChain([kind], SOON), YES)).fallback is None, (
        "the one that hangs was given up all the same"
    )
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_who_waits_too_long_for_a_strategy_goes_on_without(release: threading.Event) -> None:
    pool = StrategyPool(1)
    kind = pool.add("plain", Factory())
    first = asyncio.create_task(answer(StrategyChain([kind], SOON), hang(release)))
    await asyncio.sleep(0)
    assert "plain was busy for 0.02 s" == (await answer(StrategyChain([kind], 0.02), YES)).fallback
    release.set()
    assert (await first).fallback is None
    pool.close()


async def test_what_the_pool_made_it_closes_and_what_it_was_given_it_does_not() -> None:
    factory, given_one = Factory(), Plain()
    others = set(threading.enumerate())
    pool = StrategyPool(2)
    kinds = [pool.add("made", factory), pool.add("given", instance=given_one)]
    for kind in kinds:
        await answer(StrategyChain([kind], SOON), YES)
    pool.close()
    await until(factory.made[0].closed.is_set)
    await until(lambda: not any(it.name.startswith("strategy ") for it in set(threading.enumerate()) - others))
    assert not given_one.closed.is_set()
    assert "made cannot be asked" == (await answer(StrategyChain([kinds[0]], SOON), YES)).fallback


async def test_a_strategy_that_cannot_be_closed_harms_nobody() -> None:
    class Clinging(Plain):
        def close(self) -> None:
            super().close()
            raise SystemExit(1)

    made: list[Clinging] = []

    def make() -> Strategy:
        made.append(Clinging())
        return made[-1]

    pool = StrategyPool(1)
    kind = pool.add("clinging", make)
    await answer(StrategyChain([kind], SOON), YES)
    pool.close()
    await until(made[0].closed.is_set)


async def test_how_long_it_took_is_told_apart() -> None:
    def work(_: Strategy) -> StrategyAnswer:
        time.sleep(0.02)
        return AcceptAnswer(accepted=True)

    pool = StrategyPool(1)
    kind = pool.add("plain", Factory())
    first, second = await asyncio.gather(*(answer(StrategyChain([kind], SOON), Does(work)) for _ in range(2)))
    assert 0.02 <= first.seconds < 1
    assert first.waited < 0.02 <= second.seconds
    assert second.waited >= 0.01
    pool.close()


@pytest.mark.slow
@given(st.lists(st.sampled_from(["answers", "raises", "hangs", "gone"]), max_size=25), st.integers(1, 3))
@settings(max_examples=25)
def test_whatever_strategies_do_every_question_is_answered(deeds: list[str], size: int) -> None:
    release = threading.Event()
    questions = {"answers": YES, "gone": YES, "raises": raising(ValueError("x")), "hangs": hang(release)}

    async def play() -> None:
        pool = StrategyPool(size)
        kinds: list[PooledStrategy] = [pool.add("plain", Factory()), pool.add("fallback", Factory())]
        tasks = [asyncio.create_task(answer(StrategyChain(kinds, 0.01), questions[deed])) for deed in deeds]
        for task, deed in zip(tasks, deeds, strict=True):
            if deed == "gone":
                task.cancel()
        async with asyncio.timeout(2 * SOON):
            done = await asyncio.gather(*tasks, return_exceptions=True)
        for thought, deed in zip(done, deeds, strict=True):
            assert isinstance(thought, asyncio.CancelledError) is (deed == "gone")
        assert 0 == pool.waiting
        release.set()
        await until(lambda: pool.hanging == 0)
        assert (await answer(StrategyChain(kinds, SOON), YES)).fallback is None
        pool.close()

    with ThreadPoolExecutor(1) as apart:  # hypothesis runs inside a loop already
        apart.submit(asyncio.run, play()).result()
