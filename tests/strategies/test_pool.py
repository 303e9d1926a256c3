"""The pool of strategies: shared, answered in order, and no strategy delays the questions of others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import structlog
from attrs import define, field, frozen
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import (
    MAX_HANGING,
    PooledStrategy,
    StrategyChain,
    StrategyPool,
    TimedAnswer,
    close_strategy_in_time,
)
from fibsbot.strategies.questions import MAX_REASON, AcceptAnswer, LastResort, Question, StrategyAnswer
from tests.examples import examples
from tests.patience import SOON


class Plain(LastResort):
    """A strategy that remembers whether it was closed."""

    name = "plain"

    def __init__(self) -> None:
        """Start open."""
        self.closed = threading.Event()

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed.set()


@frozen
class Does:
    """A question that calls a function of a test in the strategy's thread."""

    what: Callable[[Strategy], StrategyAnswer]

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Call the function; the last resort always has an answer."""
        return AcceptAnswer(accepted=False) if type(strategy) is LastResort else self.what(strategy)


@define
class Factory:
    """Makes strategies, and remembers them."""

    made: list[Plain] = field(factory=list)

    def __call__(self) -> Plain:
        """Make another strategy."""
        self.made.append(Plain())
        return self.made[-1]


YES = Does(lambda _: AcceptAnswer(accepted=True))


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """An event that is set at the end of the test at the latest."""
    event = threading.Event()
    yield event
    event.set()


def hang(event: threading.Event) -> Does:
    """Return a question that is answered when the event is set."""

    def wait(_: Strategy) -> StrategyAnswer:
        event.wait()
        return AcceptAnswer(accepted=True)

    return Does(wait)


def raising(error: BaseException) -> Does:
    """Return a question that raises an error."""

    def raise_error(_: Strategy) -> StrategyAnswer:
        raise error

    return Does(raise_error)


def one_plain() -> tuple[StrategyPool, PooledStrategy]:
    """Return a pool with one instance of a plain strategy."""
    pool = StrategyPool(1)
    return pool, pool.add("plain", Factory())


async def answer(chain: StrategyChain, question: Question) -> TimedAnswer:
    """Ask and wait for the answer; a cancelled task cancels its question."""
    result: asyncio.Future[TimedAnswer] = asyncio.get_running_loop().create_future()
    pending = chain.ask(question, result.set_result)
    try:
        return await result
    finally:
        pending.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110 - threads set no asyncio.Event
            await asyncio.sleep(0.002)


async def test_many_chains_share_few_instances_and_each_answers_one_question_at_a_time() -> None:
    factory, busy, most = Factory(), set[int](), [0]
    pool = StrategyPool(3)
    pooled = pool.add("plain", factory)

    def work(strategy: Strategy) -> StrategyAnswer:
        assert id(strategy) not in busy
        busy.add(id(strategy))
        most[0] = max(most[0], len(busy))
        time.sleep(0.001)
        busy.discard(id(strategy))
        return AcceptAnswer(accepted=True)

    chains = [StrategyChain([pooled], SOON) for _ in range(20)]
    answers = await asyncio.gather(*(answer(chain, Does(work)) for chain in chains for _ in range(5)))
    assert [None] * 100 == [timed.fallback for timed in answers]
    assert len(factory.made) <= 3
    assert most[0] <= 3
    pool.close()


async def test_questions_are_answered_in_order(release: threading.Event) -> None:
    answered: list[int] = []
    pool, pooled = one_plain()

    def note(number: int) -> Does:
        def do(_: Strategy) -> StrategyAnswer:
            answered.append(number)
            return AcceptAnswer(accepted=True)

        return Does(do)

    first = asyncio.create_task(answer(StrategyChain([pooled], SOON), hang(release)))
    await asyncio.sleep(0)
    others = [asyncio.create_task(answer(StrategyChain([pooled], SOON), note(number))) for number in range(10)]
    await asyncio.sleep(0)
    assert 10 == pool.waiting
    release.set()
    await asyncio.gather(first, *others)
    assert list(range(10)) == answered
    pool.close()


async def test_an_instance_that_hangs_is_replaced(
    release: threading.Event,
) -> None:
    factory = Factory()
    pool = StrategyPool(1)
    pooled = pool.add("plain", factory)
    stuck = asyncio.create_task(answer(StrategyChain([pooled], 0.05), hang(release)))
    await asyncio.sleep(0)
    other = await answer(StrategyChain([pooled], SOON), YES)
    timed = await stuck
    assert "plain gave no answer within 0.05 s" == timed.fallback
    assert (None, True) == (other.fallback, other.waited > 0)
    assert (2, 1) == (len(factory.made), pool.hanging)
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_a_strategy_whose_instances_all_hang_fails_at_once(release: threading.Event) -> None:
    factory = Factory()
    pool = StrategyPool(2)
    pooled = pool.add("plain", factory)
    for _ in range(MAX_HANGING):
        await answer(StrategyChain([pooled], 0.005), hang(release))
    began = time.monotonic()
    assert "plain hangs" == (await answer(StrategyChain([pooled], SOON), YES)).fallback
    assert SOON > time.monotonic() - began
    assert MAX_HANGING == pool.hanging
    await until(lambda: len(factory.made) == MAX_HANGING)  # a thread may start after its question has timed out
    release.set()
    await until(lambda: pool.hanging == 0)
    assert (await answer(StrategyChain([pooled], SOON), YES)).fallback is None, "it has returned, and is asked again"
    pool.close()
    await until(lambda: all(strategy.closed.is_set() for strategy in factory.made))


async def test_a_single_instance_that_hangs_is_not_asked_until_it_returns(release: threading.Event) -> None:
    chain = StrategyChain([Plain()], 0.02)
    assert "plain gave no answer within 0.02 s" == (await answer(chain, hang(release))).fallback
    assert "plain hangs" == (await answer(chain, YES)).fallback
    release.set()
    async with asyncio.timeout(SOON):
        while (await answer(chain, YES)).fallback is not None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.002)
    chain.close()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("a\nb"), "plain raised KeyError: 'a\\nb'"),
        (SystemExit(3), "plain raised SystemExit: 3"),
        pytest.param(
            RuntimeError("boom\n" * 10**5),
            f"plain {('raised RuntimeError: ' + 'boom ' * MAX_REASON)[:MAX_REASON]}...",
            id="a long text",
        ),
        (KeyboardInterrupt(), "plain raised KeyboardInterrupt"),
        (asyncio.CancelledError(), "plain raised CancelledError"),
        (StopIteration(), "plain raised StopIteration"),
    ],
)
async def test_an_instance_that_raises_is_kept(error: BaseException, text: str) -> None:
    factory = Factory()
    pool = StrategyPool(1)
    pooled = pool.add("plain", factory)
    for _ in range(3):
        assert text == (await answer(StrategyChain([pooled], SOON), raising(error))).fallback
    assert (await answer(StrategyChain([pooled], SOON), YES)).fallback is None
    assert 1 == len(factory.made)
    pool.close()


async def test_a_strategy_that_cannot_be_made_fails_and_is_tried_again() -> None:
    attempts: list[int] = []

    def make() -> Strategy:
        attempts.append(1)
        if len(attempts) < 3:
            raise RuntimeError("no weights")
        return Plain()

    pool = StrategyPool(1)
    chain = StrategyChain([pool.add("plain", make)], SOON)
    assert "plain raised RuntimeError: no weights" == (await answer(chain, YES)).fallback
    assert "plain raised RuntimeError: no weights" == (await answer(chain, YES)).fallback
    assert (await answer(chain, YES)).fallback is None
    pool.close()


async def test_a_fallback_goes_before_waiting_questions(release: threading.Event) -> None:
    asked: list[str] = []
    pool = StrategyPool(1)
    strategies = [pool.add(name, Factory()) for name in ("first", "second")]

    def note(name: str) -> Does:
        def do(_: Strategy) -> StrategyAnswer:
            asked.append(name)
            return AcceptAnswer(accepted=True)

        return Does(do)

    @frozen
    class FirstHangs(Does):
        """A question over which only the first strategy hangs."""

        def put_to(self, strategy: Strategy) -> StrategyAnswer:
            if not asked:
                asked.append("hung")
                release.wait()
            return super().put_to(strategy)

    one = asyncio.create_task(answer(StrategyChain(strategies, 0.5), FirstHangs(note("fallback").what)))
    await until(lambda: bool(asked))
    others = [asyncio.create_task(answer(StrategyChain(strategies, SOON), note("other"))) for _ in range(3)]
    timed = await one
    await asyncio.gather(*others)
    assert "first gave no answer within 0.5 s" == timed.fallback
    assert asked.index("fallback") <= 2, "a fallback waits for one other question at most"
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_cancelled_questions_leave_the_pool_usable(release: threading.Event) -> None:
    pool, pooled = one_plain()
    thinking = asyncio.create_task(answer(StrategyChain([pooled], 0.05), hang(release)))
    waiting = asyncio.create_task(answer(StrategyChain([pooled], SOON), YES))
    await asyncio.sleep(0.01)
    for task in (thinking, waiting):
        task.cancel()
    assert (await answer(StrategyChain([pooled], SOON), YES)).fallback is None, (
        "the instance that hangs was abandoned all the same"
    )
    release.set()
    await until(lambda: pool.hanging == 0)
    pool.close()


async def test_a_question_fails_if_no_instance_becomes_idle_in_time(release: threading.Event) -> None:
    pool, pooled = one_plain()
    first = asyncio.create_task(answer(StrategyChain([pooled], SOON), hang(release)))
    await asyncio.sleep(0)
    assert "plain was busy for 0.02 s" == (await answer(StrategyChain([pooled], 0.02), YES)).fallback
    release.set()
    assert (await first).fallback is None
    pool.close()


async def test_the_pool_closes_the_instances_that_it_made_and_no_others() -> None:
    factory, given_instance = Factory(), Plain()
    others = set(threading.enumerate())
    pool = StrategyPool(2)
    strategies = [pool.add("made", factory), pool.add("given", instance=given_instance)]
    for pooled in strategies:
        await answer(StrategyChain([pooled], SOON), YES)
    pool.close()
    await until(factory.made[0].closed.is_set)
    await until(lambda: not any(it.name.startswith("strategy ") for it in set(threading.enumerate()) - others))
    assert not given_instance.closed.is_set()
    assert "made cannot be asked" == (await answer(StrategyChain([strategies[0]], SOON), YES)).fallback


async def test_an_error_of_closing_a_strategy_is_caught() -> None:
    class Clinging(Plain):
        def close(self) -> None:
            super().close()
            raise SystemExit(1)

    made: list[Clinging] = []

    def make() -> Strategy:
        made.append(Clinging())
        return made[-1]

    pool = StrategyPool(1)
    pooled = pool.add("clinging", make)
    await answer(StrategyChain([pooled], SOON), YES)
    pool.close()
    await until(made[0].closed.is_set)


async def test_working_and_waiting_times_are_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def work(_: Strategy) -> StrategyAnswer:
        clock[0] += 7.0
        return AcceptAnswer(accepted=True)

    now = SimpleNamespace(monotonic=lambda: clock[0], perf_counter=lambda: clock[0])
    monkeypatch.setattr("fibsbot.strategies.pool.time", now)
    pool, pooled = one_plain()
    first, second = await asyncio.gather(*(answer(StrategyChain([pooled], SOON), Does(work)) for _ in range(2)))
    assert (0.0, 7.0) == (first.waited, first.seconds)
    assert (7.0, 7.0) == (second.waited, second.seconds)
    pool.close()


@pytest.mark.slow
@given(st.lists(st.sampled_from(["answers", "raises", "hangs", "gone"]), max_size=25), st.integers(1, 3))
@examples(25)
def test_every_question_is_answered_whatever_strategies_do(behaviours: list[str], size: int) -> None:
    release = threading.Event()
    questions = {"answers": YES, "gone": YES, "raises": raising(ValueError("x")), "hangs": hang(release)}

    async def play() -> None:
        pool = StrategyPool(size)
        strategies: list[PooledStrategy] = [pool.add("plain", Factory()), pool.add("fallback", Factory())]
        tasks = [
            asyncio.create_task(answer(StrategyChain(strategies, 0.01), questions[behaviour]))
            for behaviour in behaviours
        ]
        for task, behaviour in zip(tasks, behaviours, strict=True):
            if behaviour == "gone":
                task.cancel()
        async with asyncio.timeout(2 * SOON):
            done = await asyncio.gather(*tasks, return_exceptions=True)
        for timed, behaviour in zip(done, behaviours, strict=True):
            assert isinstance(timed, asyncio.CancelledError) is (behaviour == "gone")
        assert 0 == pool.waiting
        release.set()
        await until(lambda: pool.hanging == 0)
        assert (await answer(StrategyChain(strategies, SOON), YES)).fallback is None
        pool.close()

    with ThreadPoolExecutor(1) as apart:  # hypothesis runs inside a loop already
        apart.submit(asyncio.run, play()).result()


def test_the_end_of_the_program_does_not_wait_for_a_strategy_that_never_closes() -> None:
    hanging = threading.Event()

    class Hanging(Plain):
        """A strategy that closes when the test lets it."""

        def close(self) -> None:
            """Wait first."""
            hanging.wait(SOON)
            super().close()

    strategy = Hanging()
    with structlog.testing.capture_logs() as logs:
        close_strategy_in_time(strategy, "hanging", 0.05)
    assert not strategy.closed.is_set()
    assert ["still closing after 0.05 s"] == [it["error"] for it in logs]
    hanging.set()
    assert strategy.closed.wait(SOON)


class Senseless:
    """A question that nobody can answer."""

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Fail."""
        raise IndexError(strategy.name)


async def test_a_question_without_any_answer_is_delivered_as_one() -> None:
    for strategies in ([], [Plain()]):
        chain = StrategyChain(strategies, SOON)
        delivered = await asyncio.wait_for(answer(chain, Senseless()), 10)
        chain.close()
        assert delivered.answer is None
        assert "the last resort raised IndexError" in (delivered.fallback or "")
