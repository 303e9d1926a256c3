"""Live bots on the embedded server, over TCP: whole matches, strategies that fail, logins that fail."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.runner import RegistrationError, Runner, SessionResult
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.records.session_log import Header, ProgramEvent, Received, Sent, read_session_log
from fibsbot.server.server import Server
from fibsbot.server.world import Quirks
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, Babbling, Broken, Counting, Sleepy, Watcher, play_session, settings
from tests.patience import SOON


async def play(
    server: Server, strategy: Strategy, *, length: int = 1, log: Path | None = None, deadline: float = 5
) -> tuple[SessionResult, SessionResult]:
    """Play a match of `marvin` with this strategy against `ford`."""
    marvin = settings(server.port, "marvin", log, deadline=deadline)
    ford = settings(server.port, "ford", invite="marvin", length=length)
    async with asyncio.timeout(SOON):
        return await asyncio.gather(play_session(marvin, strategy), play_session(ford, LastResort()))


async def test_a_match_is_played_to_its_end_without_errors(tmp_path: Path) -> None:
    log = tmp_path / "marvin.jsonl"
    async with Server(seed=4, limits=CHEAP) as server:
        results = await play(server, load("heuristic"), length=3, log=log)
    for result in results:
        counters = result.counters
        assert End.FINISHED is result.end
        assert (1, 1) == (counters.matches, counters.connections)
        assert (0, 0, 0, 0) == (counters.refusals, counters.differences, counters.timeouts, counters.fallbacks)
    assert 1 == sum(result.counters.wins for result in results)
    records = list(read_session_log(log))
    assert isinstance(records[0], Header)
    assert {"server": f"127.0.0.1:{server.port}", "user": "marvin"} == dict(records[0].fields)
    assert {Header, Received, Sent, ProgramEvent} == {type(record) for record in records}
    assert b"pw-of-marvin" not in log.read_bytes()
    assert b"login fibsbot" in b"".join(record.data for record in records if isinstance(record, Sent))


@pytest.mark.parametrize("quirks", [Quirks(glue_moves=True), Quirks(board_after_resume=True)])
async def test_a_match_is_played_on_a_server_with_quirks(quirks: Quirks) -> None:
    async with Server(seed=5, limits=CHEAP, quirks=quirks) as server:
        for result in await play(server, load("random")):
            assert (1, 0, 0) == (result.counters.matches, result.counters.refusals, result.counters.differences)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [Broken(), Babbling()])
async def test_a_strategy_that_fails_costs_decisions_but_not_the_match(strategy: Strategy) -> None:
    async with Server(seed=6, limits=CHEAP) as server:
        result, _ = await play(server, strategy)
    assert (1, 0) == (result.counters.matches, result.counters.refusals)
    assert 10 < result.counters.fallbacks


async def test_a_strategy_that_never_answers_costs_its_deadline_but_not_the_match() -> None:
    strategy = Sleepy()
    try:
        async with Server(seed=7, limits=CHEAP) as server:
            result, _ = await play(server, strategy, deadline=0.01)
    finally:
        strategy.woken.set()
    assert (1, 0) == (result.counters.matches, result.counters.refusals)
    assert 10 < result.counters.fallbacks


async def test_the_fallback_strategy_decides_before_the_last_resort() -> None:
    watcher = Watcher()
    async with Server(seed=8, limits=CHEAP) as server:
        marvin = settings(server.port, "marvin")
        ford = settings(server.port, "ford", invite="marvin")
        async with asyncio.timeout(SOON):
            await asyncio.gather(
                play_session(marvin, Broken(), fallback=load("random"), observer=watcher),
                play_session(ford, LastResort()),
            )
    reasons = {fields["reason"] for fields in watcher.named("fallback")}
    assert {"broken raised SystemExit: 3", "broken raised KeyError: 'equity\\nof what'"} >= reasons
    assert reasons


async def test_a_wrong_password_is_tried_once() -> None:
    async with Server(limits=CHEAP) as server:
        await play(server, LastResort())
        wrong = settings(server.port, "marvin", password="not-it", register=False)
        async with asyncio.timeout(SOON):
            result = await play_session(wrong, LastResort())
    assert (End.REFUSED, 1) == (result.end, result.counters.connections)


@pytest.mark.slow
async def test_an_account_that_exists_is_not_registered_again(tmp_path: Path) -> None:
    logs = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    async with Server(limits=CHEAP) as server:
        for log in logs:
            result, _ = await play(server, LastResort(), log=log)
            assert (End.FINISHED, 1) == (result.end, result.counters.matches)
    outcomes = []
    for log in logs:
        records = list(read_session_log(log))
        (ended,) = (it for it in records if isinstance(it, ProgramEvent) and it.name == "registration_ended")
        before = records[: records.index(ended)]
        outcomes.append((ended.fields["outcome"], sum(isinstance(it, Sent) and b"**" in it.data for it in before)))
    assert [("", 2), ("the name 'marvin' is taken", 0)] == outcomes, "how it ended, and how often the password was sent"


async def test_a_failed_registration_of_a_live_bot_is_reported() -> None:
    async with Server(limits=CHEAP) as server:
        with pytest.raises(RegistrationError, match="longer password"):
            await play_session(settings(server.port, "marvin", password="abc"), LastResort())


async def test_the_run_ends_if_the_first_connection_is_refused() -> None:
    with pytest.raises(ConnectionFailedError, match="refused"):
        await play_session(settings(1, "marvin", register=False), LastResort())


async def test_a_request_to_finish_while_reconnecting_ends_the_run() -> None:
    runner = Runner(settings(1, "marvin", register=False, retry_first=True), LastResort())
    run = asyncio.create_task(runner.run())
    await asyncio.sleep(0.3)
    runner.finish()
    async with asyncio.timeout(SOON):
        assert End.FINISHED is (await run).end


async def test_a_second_login_of_the_same_name_ends_the_first() -> None:
    async with Server(limits=CHEAP) as server:
        watcher = Counting(1, "logged_in")
        run = settings(server.port, "marvin", matches=None)
        first = asyncio.create_task(play_session(run, LastResort(), observer=watcher))
        await watcher.reached.wait()
        await asyncio.sleep(1)  # logins of the same second may be told to be those of one bot, and either may end
        second = Runner(settings(server.port, "marvin", matches=None), LastResort())
        other = asyncio.create_task(second.run())
        async with asyncio.timeout(SOON):
            assert End.REPLACED is (await first).end
            second.finish()
            assert End.FINISHED is (await other).end
