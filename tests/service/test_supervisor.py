"""Several accounts in one process: each plays on, whatever happens to another one."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
import structlog
from attrs import evolve, field, frozen
from structlog.testing import capture_logs

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import End, Event
from fibsbot.bot.orders import Order
from fibsbot.bot.runner import Observer, Runner
from fibsbot.bot.settings import RunSettings
from fibsbot.client.settings import BackoffSettings
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.redaction import redact
from fibsbot.server.server import Server
from fibsbot.service.account import Hooks, make_runner
from fibsbot.service.settings import UnknownAccountError
from fibsbot.service.supervisor import ReloadResult
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.pool import StrategyChain, TimedAnswer
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, Broken, Sleepy
from tests.patience import SOON
from tests.service.accounts import opponent, plan, running, supervisor, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


class Kept:
    """Keeps the records of a run, as the store would."""

    def __init__(self) -> None:
        """Have nothing."""
        self.records: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(self, account: str, name: str, fields: Mapping[str, Any], at: dt.datetime) -> None:
        """Take a record."""
        assert at.tzinfo is not None
        self.records.append((account, name, dict(fields)))

    def count(self, account: str, name: str) -> int:
        """Return how many records of this name an account has."""
        return sum((account, name) == record[:2] for record in self.records)


async def test_accounts_play_side_by_side_and_the_process_ends_with_the_last(server: Server) -> None:
    kept, thoughts = Kept(), Counter[str]()

    def note(account: str, thought: TimedAnswer, seconds: float) -> None:
        assert 0 <= thought.seconds + thought.waited <= seconds
        thoughts[account] += 1

    fleet = supervisor(
        plan(server.port, "marvin", invite="ford", matches=2),
        plan(server.port, "ford", matches=2),
        plan(server.port, "arthur", invite="trillian", matches=1),
        plan(server.port, "trillian", matches=1),
        hooks=Hooks(store_record=kept, on_decision=note),
    )
    async with asyncio.timeout(SOON):
        await fleet.run()
    for name, matches in (("marvin", 2), ("ford", 2), ("arthur", 1), ("trillian", 1)):
        account = fleet.accounts[name]
        assert (End.FINISHED, matches, 0) == (account.end, account.totals().matches, account.crashes)
        assert matches == kept.count(name, "match_ended")
        assert 5 < thoughts[name] <= kept.count(name, "decision")


class Fit(BaseException):
    """Something that nobody catches."""


@frozen
class Crashing:
    """Makes runs, the first ones of which crash for one account, each with another of these errors."""

    account: str
    errors: Sequence[BaseException]
    made: list[str] = field(factory=list)

    def __call__(self, plan: RunSettings, thinker: StrategyChain, observer: Observer, memory: AgentMemory) -> Runner:
        """Make a run that crashes once the account is logged in."""
        runner = make_runner(plan, thinker, observer, memory)
        name = plan.agent.name
        self.made.append(name)
        if name == self.account and (times := self.made.count(name)) <= len(self.errors):
            error, secret = self.errors[times - 1], plan.agent.password

            async def run() -> NoReturn:
                local = f"a local with {secret}"
                await asyncio.sleep(0.01)
                error.args = (f"{local} in its text",)
                raise error

            runner.run = run  # type: ignore[method-assign]
        return runner


async def test_a_crashed_run_is_restarted_without_affecting_other_accounts(server: Server) -> None:
    errors = (
        *(RuntimeError(), SystemExit(3), Fit(), asyncio.CancelledError(), MemoryError()),
        *(ExceptionGroup("", [OSError()]), RuntimeError()),
    )
    crashing = plan(server.port, "arthur", matches=1)
    fleet = supervisor(
        plan(server.port, "marvin", invite="ford", matches=1),
        plan(server.port, "ford", matches=1),
        evolve(crashing, backoff=BackoffSettings(first=0.01, longest=0.05)),
        hooks=Hooks(make_runner=Crashing("arthur", errors)),
    )
    async with opponent(server.port, "trillian", invite="arthur"):
        with capture_logs() as logs:
            async with asyncio.timeout(SOON):
                await fleet.run()
    assert [0, 0, len(errors)] == [account.crashes for account in fleet.accounts.values()]
    assert {(End.FINISHED, 1)} == {(it.end, it.totals().matches) for it in fleet.accounts.values()}
    crashes = [log for log in logs if log["event"] == "account crashed"]
    assert list(range(1, len(errors) + 1)) == [log["crashes"] for log in crashes]
    for error, log in zip(errors, crashes, strict=True):
        assert "Traceback" in log["exception"]
        assert type(error).__name__ in log["exception"]
    leaked = "pw-of-arthur" in redact(str(logs))
    assert not leaked, "as every sink shows them"
    assert "crashed: RuntimeError" in str(fleet.accounts["arthur"].status().last_error)


async def test_a_session_log_that_cannot_be_opened_is_reported_in_one_line_and_retried(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "logs").write_text("in the way")
    one = plan(server.port, "marvin", matches=1, invite="ford", log_path=tmp_path / "logs" / "marvin.jsonl")
    fleet = supervisor(one)
    account = fleet.accounts["marvin"]
    async with opponent(server.port, "ford"), running(fleet) as task:
        with capture_logs() as logs:
            await until(lambda: account.status().last_error is not None)
        assert f"cannot write {tmp_path / 'logs'}" in str(account.status().last_error)
        assert "exception" not in str(logs)
        (tmp_path / "logs").unlink()
        async with asyncio.timeout(SOON):
            await task
    assert (1, 0) == (account.totals().matches, account.crashes)


async def test_the_pauses_between_crashes_grow(server: Server) -> None:
    crashing = Crashing("arthur", [ValueError()] * 99)
    one = plan(server.port, "arthur")
    one = evolve(one, backoff=BackoffSettings(first=0.01, longest=0.1, jitter=0))
    with capture_logs() as logs:
        fleet = supervisor(one, hooks=Hooks(make_runner=crashing))
        async with running(fleet):
            await until(lambda: fleet.accounts["arthur"].crashes == 6)
    pauses = [log["pause"] for log in logs if log["event"] == "account starts again"]
    assert [0.01, 0.02, 0.04, 0.08, 0.1] == pauses[:5]


async def test_counters_survive_a_crash(server: Server) -> None:
    kept = Kept()
    fleet = supervisor(plan(server.port, "marvin", invite="ford", strict=False), hooks=Hooks(store_record=kept))
    account = fleet.accounts["marvin"]
    async with opponent(server.port, "ford"), running(fleet):
        await until(lambda: account.totals().matches >= 1)
        runner = account._runner
        assert runner is not None

        def stumble(_: Event) -> NoReturn:
            raise ValueError("stumbled")

        before = account.totals()
        runner.agent.handle = stumble  # type: ignore[assignment, method-assign]  # a test's mishap
        await until(lambda: account.crashes == 1)
        await until(lambda: account.totals().matches > before.matches)
    after = account.totals()
    assert (2, 0) == (after.connections, after.refusals)
    assert after.decisions > before.decisions


async def test_a_refused_password_ends_that_account_alone(server: Server) -> None:
    await server.register("ford", "another")
    fleet = supervisor(
        plan(server.port, "marvin", matches=1), plan(server.port, "ford", password="wrong", register=False)
    )
    async with opponent(server.port, "arthur", invite="marvin"):
        async with asyncio.timeout(SOON):
            await fleet.run()
    assert [End.FINISHED, End.REFUSED] == [account.end for account in fleet.accounts.values()]
    ford = fleet.accounts["ford"].status()
    assert ("REFUSED", False, 1) == (ford.state, ford.healthy, ford.counters.connections)


async def test_an_account_that_cannot_be_made_ends_alone(server: Server) -> None:
    fleet = supervisor(plan(server.port, "ford", password="abc"))
    async with asyncio.timeout(SOON):
        await fleet.run()
    assert (End.REFUSED, "cannot register") == (fleet.accounts["ford"].end, fleet.accounts["ford"].reason[:15])


async def test_a_login_from_elsewhere_ends_that_account_alone(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin"), plan(server.port, "ford"))
    async with running(fleet) as task:
        await fleet.first_attempts()
        async with opponent(server.port, "ford"):
            await until(lambda: fleet.accounts["ford"].end is not None)
        assert [None, End.REPLACED] == [account.end for account in fleet.accounts.values()]
        fleet.order(Order.FINISH)
        async with asyncio.timeout(SOON):
            await task


async def test_an_account_waits_for_an_unreachable_server() -> None:
    fleet = supervisor(plan(1, "marvin"), plan(1, "ford", register=False))
    async with running(fleet) as task:
        async with asyncio.timeout(SOON):
            await fleet.first_attempts()
        assert [None, None] == [account.end for account in fleet.accounts.values()]
        assert all(account.is_responsive() for account in fleet.accounts.values()), "waiting is healthy"
        fleet.order(Order.FINISH)
        async with asyncio.timeout(SOON):
            await task
    assert {End.FINISHED} == {account.end for account in fleet.accounts.values()}


@pytest.mark.slow
async def test_a_hanging_strategy_delays_no_other_account(server: Server) -> None:
    sleepy = Sleepy()
    fleet = supervisor(
        plan(server.port, "marvin", invite="ford"),
        plan(server.port, "ford", strategy="sleepy"),
        plan(server.port, "arthur", invite="trillian", matches=1),
        plan(server.port, "trillian", matches=1),
        strategies={"sleepy": lambda: sleepy},
        deadline=1.0,  # far more than an answer of the others takes
        thinkers=1,
    )
    try:
        async with running(fleet):
            await until(lambda: fleet.accounts["trillian"].end is not None)
            await until(lambda: fleet.accounts["ford"].totals().fallbacks > 3)
    finally:
        sleepy.woken.set()
    assert 0 == fleet.accounts["trillian"].totals().fallbacks


class Weird(LastResort):
    """Raises something else each time."""

    name = "weird"
    errors = itertools.cycle(
        (SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), Fit(), RecursionError(), StopIteration())
    )

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Fail."""
        raise next(self.errors)


async def test_strategies_that_raise_any_exception_affect_only_their_decisions(server: Server) -> None:
    fleet = supervisor(
        plan(server.port, "marvin", strategy="weird", invite="ford", matches=1),
        plan(server.port, "ford", strategy="broken", matches=1),
        strategies={"weird": Weird, "broken": Broken},
    )
    async with asyncio.timeout(SOON):
        await fleet.run()
    for account in fleet.accounts.values():
        assert (End.FINISHED, 0) == (account.end, account.crashes)
        assert account.totals().fallbacks > 5


async def test_accounts_of_the_same_strategy_share_its_instances(server: Server) -> None:
    made: list[LastResort] = []

    def make() -> LastResort:
        made.append(LastResort())
        return made[-1]

    names = [f"bot_{letter}" for letter in "abcdef"]
    pairs = list(zip(names[::2], names[1::2], strict=True))
    fleet = supervisor(
        *(plan(server.port, one, "own", invite=other, matches=1) for one, other in pairs),
        *(plan(server.port, other, "own", matches=1) for _, other in pairs),
        strategies={"own": make},
        thinkers=2,
    )
    async with asyncio.timeout(SOON):
        await fleet.run()
    assert 1 <= len(made) <= 2
    await until(lambda: not any(it.name == "strategy own" for it in threading.enumerate()))


# -- orders ---------------------------------------------------------------------------------------------------------


async def test_orders_reach_one_account_or_all(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin"), plan(server.port, "ford"))
    async with running(fleet) as task:
        await fleet.first_attempts()

        def paused() -> list[bool]:
            return [bool(it.agent and it.agent.paused) for it in fleet.statuses()]

        assert ("marvin", "ford") == fleet.order(Order.STATUS)
        assert ("ford",) == fleet.order(Order.PAUSE, "ford")
        assert [False, True] == paused()
        assert ("marvin", "ford") == fleet.order(Order.PAUSE)
        assert [True, True] == paused()
        fleet.order(Order.RESUME, "marvin")
        assert [False, True] == paused()
        with pytest.raises(UnknownAccountError, match="expected one of marvin, ford, got 'zaphod'"):
            fleet.order(Order.QUIT, "zaphod")
        fleet.order(Order.FINISH, "marvin")
        await until(lambda: fleet.accounts["marvin"].end is End.FINISHED)
        fleet.order(Order.QUIT)
        async with asyncio.timeout(SOON):
            await task
    assert End.FINISHED is fleet.accounts["ford"].end


async def test_orders_stay_in_effect_after_a_crash(server: Server) -> None:
    crashing = Crashing("marvin", [ValueError()])
    fleet = supervisor(plan(server.port, "marvin"), hooks=Hooks(make_runner=crashing))
    account = fleet.accounts["marvin"]
    async with running(fleet):
        await until(lambda: account.crashes == 1)
        fleet.order(Order.PAUSE)
        await until(lambda: account.status().connected is not None)
        status = account.status()
        assert status.agent is not None
        assert status.agent.paused


@pytest.mark.parametrize("order", [Order.FINISH, Order.QUIT])
async def test_an_order_to_finish_between_two_runs_ends_the_account(server: Server, order: Order) -> None:
    one = plan(server.port, "marvin")
    one = evolve(one, backoff=BackoffSettings(first=60))
    fleet = supervisor(one, hooks=Hooks(make_runner=Crashing("marvin", [ValueError()])))
    async with running(fleet) as task:
        await until(lambda: fleet.accounts["marvin"].crashes == 1)
        assert "before the next attempt" in fleet.accounts["marvin"].status().sentence
        fleet.order(order)
        async with asyncio.timeout(SOON):
            await task
    assert End.FINISHED is fleet.accounts["marvin"].end


async def test_quitting_saves_the_match(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin", invite="ford"))
    async with opponent(server.port, "ford"), running(fleet) as task:
        await until(lambda: fleet.accounts["marvin"].totals().decisions > 5)
        fleet.order(Order.QUIT)
        async with asyncio.timeout(SOON):
            await task
    again = supervisor(plan(server.port, "marvin", invite="ford", matches=1))
    async with opponent(server.port, "ford"):
        async with asyncio.timeout(SOON):
            await again.run()
    assert 1 == again.accounts["marvin"].totals().matches


# -- new settings ---------------------------------------------------------------------------------------------------


async def test_new_settings_take_effect_at_once(server: Server) -> None:
    old = plan(server.port, "marvin")
    new = evolve(old, agent=evolve(old.agent, play=evolve(old.agent.play, invite="ford")))
    reloaded = ReloadResult({"marvin": new, "zaphod": new}, ("bot.invite",), ("server.host",), warnings=("hm",))
    fleet = supervisor(old, reload=lambda: reloaded)
    async with opponent(server.port, "ford"), running(fleet):
        await fleet.first_attempts()
        with capture_logs() as logs:
            assert reloaded == await fleet.reload()
        await until(lambda: fleet.accounts["marvin"].totals().decisions > 0)
    assert {"hm", "setting changed", "setting changed, but needs a restart"} <= {log["event"] for log in logs}


async def test_bad_settings_change_nothing(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin"), reload=lambda: ReloadResult(problems=("server.port: bad",)))
    async with running(fleet):
        await fleet.first_attempts()
        with capture_logs() as logs:
            await fleet.reload()
        assert fleet.accounts["marvin"].status().connected is not None
    assert [("server.port: bad", "error")] == [(log["problem"], log["log_level"]) for log in logs]


async def test_reloading_without_a_file_is_an_error(server: Server) -> None:
    assert (await supervisor(plan(server.port, "marvin")).reload()).problems


# -- what is told ---------------------------------------------------------------------------------------------------


async def test_the_status_describes_each_account(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin", invite="ford", length=5), plan(1, "arthur", register=False))
    marvin, arthur = fleet.accounts.values()
    assert ("RESTING", "starting", True) == (marvin.status().state, marvin.status().sentence, marvin.status().healthy)
    async with opponent(server.port, "ford"), running(fleet):
        await until(lambda: bool((agent := marvin.status().agent) and agent.score))
        told = marvin.status().as_dict()
        assert ("marvin", "ford", 5, None) == tuple(
            told[key] for key in ("account", "opponent", "length", "last_error")
        )
        assert told["sentence"].startswith("playing ford, ")
        assert told["connected"] <= told["uptime"]
        await until(lambda: arthur.status().reconnects >= 2)
        told = arthur.status().as_dict()
        assert (None, None, True) == (told["opponent"], told["connected"], told["healthy"])
        assert "refused" in told["last_error"]
        assert dt.datetime.fromisoformat(told["last_error_at"]) <= dt.datetime.now(dt.UTC)


async def test_log_lines_name_their_account(server: Server) -> None:
    fleet = supervisor(plan(server.port, "marvin", matches=1), plan(server.port, "ford", invite="marvin", matches=1))
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        async with asyncio.timeout(SOON):
            await fleet.run()
    assert {"marvin", "ford"} == {log["account"] for log in logs if log["event"] == "match_ended"}
