"""How each kind of fault is injected."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from attrs import define

from bench.chaos.proxy import ProxyConnection, ProxyStream, wait_until
from bench.chaos.schedule import Fault, FaultKind, Incident
from bench.chaos.shapers import (
    Break,
    CutAfter,
    Delay,
    DropLine,
    Duplicate,
    Fragment,
    Glue,
    Insert,
    Shaper,
    is_any_line,
    is_board_line,
    is_game_line,
)
from bench.chaos.testbed import BotPair, Testbed

TARGET_TIMEOUT: Final = 60.0
"""Seconds that a fault waits for its target; the end of a match, for instance, may be some time away."""
RESTART_NOTICE_TIME: Final = 15.0
"""Seconds between the announcement of a restart and the restart, on the bots' clock."""
LONGEST_DELAY: Final = 15.0
"""Maximum delay of a chunk in seconds, on the bots' clock."""
RESTART_NOTICE: Final = b"\r\n***\a ATTENTION ! FIBS will restart in 60 seconds\r\n"
GARBAGE_LINES: Final = (
    b"The server has a cold today.\r\n",
    b"** This refuses nothing that anybody has asked for.\r\n",
    b"12 nobody 5 board:You:nobody\r\n",
    b"5 half a line of who\r\n",
    b"board:You:somebody:5:0\r\n",
    b"\xff\xf1\x00\x07\x80\x81 \xe4\xf6\xfc\r\n",
    b"x" * 9000 + b"\r\n",
    b"99 no such number\r\n",
)
"""Lines without a meaning, for `FaultKind.GARBAGE`."""

Injection: TypeAlias = Callable[["FaultInjector", Incident, BotPair], Awaitable[None]]


@define
class FaultInjector:
    """Injects faults into a test bed."""

    testbed: Testbed

    async def inject(self, fault: Fault) -> None:
        """Wait for the time of a fault, inject it, and end it."""
        recoveries = self.testbed.recoveries
        await asyncio.sleep(max(fault.at - recoveries.now, 0))
        incident = recoveries.expect(fault)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TARGET_TIMEOUT):
                await INJECTIONS[fault.kind](self, incident, self.testbed.pairs[fault.pair])

    # -- shared by the kinds ----------------------------------------------------------------------------------------

    def struck(self, incident: Incident) -> None:
        """Note that a fault was injected."""
        self.testbed.recoveries.struck(incident)

    def over(self, incident: Incident, pair: BotPair) -> None:
        """Note the end of a fault from which one bot must recover."""
        self.testbed.recoveries.ended(incident, {pair.bot.account})

    def wall_seconds(self, seconds: float) -> float:
        """Convert seconds on the bots' clock to real seconds."""
        return seconds / self.testbed.plan.speed

    async def apply_shaper(
        self, incident: Incident, connection: ProxyConnection, stream: ProxyStream, shaper: Shaper
    ) -> bool:
        """Add a shaper until it has struck or the connection ends; return whether it has struck."""
        stream.add_shaper(shaper)
        try:
            await wait_until(lambda: shaper.struck or connection.over, TARGET_TIMEOUT)
        finally:
            stream.remove_shaper(shaper)
        if shaper.struck:
            self.struck(incident)
        return shaper.struck

    async def for_a_while(self, incident: Incident, pair: BotPair, make: Callable[[], Shaper], *, both: bool) -> None:
        """Add shapers to one direction of a connection or both while the fault lasts."""
        fault = incident.fault
        connection = await pair.bot_proxy.connected(logged_in=True)
        directions = (True, False) if both else (fault.to_server,)
        shapers = [(connection.stream(to_server=to_server), make()) for to_server in directions]
        self.struck(incident)
        for stream, shaper in shapers:
            stream.add_shaper(shaper)
        try:
            await asyncio.sleep(self.wall_seconds(fault.seconds))
        finally:
            for stream, shaper in shapers:
                stream.remove_shaper(shaper)
        self.over(incident, pair)

    async def one_line(
        self, incident: Incident, pair: BotPair, make: Callable[[bool], Shaper], *, to_server: bool = False
    ) -> None:
        """Add a shaper of one line; `make` gets whether the stream is in the middle of a line."""
        struck = False
        while not struck:
            connection = await pair.bot_proxy.connected(logged_in=True)
            stream = connection.stream(to_server=to_server)
            struck = await self.apply_shaper(incident, connection, stream, make(stream.mid_line))
        self.over(incident, pair)


# -- the kinds ----------------------------------------------------------------------------------------------------


async def _delay(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    seconds = injector.wall_seconds(LONGEST_DELAY) * (1 + incident.fault.choice % 10) / 10
    await injector.for_a_while(incident, pair, lambda: Delay(seconds), both=False)


async def _fragment(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await injector.for_a_while(incident, pair, Fragment, both=True)


def _cut(marker: Callable[[FaultInjector], bytes]) -> Injection:
    async def cut(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
        fault, found = incident.fault, marker(injector)
        to_server = fault.to_server and not found
        position = fault.position // 10 if to_server else fault.position
        struck = False
        while not struck:
            connection = await pair.bot_proxy.connected(logged_in=True)
            struck = await injector.apply_shaper(
                incident, connection, connection.stream(to_server=to_server), CutAfter(position, found)
            )
        injector.over(incident, pair)

    return cut


async def _cut_at_login(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    fault = incident.fault
    position = fault.position // 10 if fault.to_server else fault.position
    shaper = CutAfter(position)
    proxy = pair.bot_proxy
    proxy.shape_next = lambda connection: connection.stream(to_server=fault.to_server).add_shaper(shaper)
    (await proxy.connected()).break_off(Break.CUT)
    if await wait_until(lambda: shaper.struck, TARGET_TIMEOUT):
        injector.struck(incident)
        injector.over(incident, pair)


async def _reset(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    connection = await pair.bot_proxy.connected()
    connection.break_off(Break.RESET)
    injector.struck(incident)
    injector.over(incident, pair)


def _half_close(*, to_server: bool) -> Injection:
    async def close(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
        connection = await pair.bot_proxy.connected(logged_in=True)
        connection.half_close(to_server=to_server)
        injector.struck(incident)
        injector.over(incident, pair)

    return close


def _after(number: int, applies: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Return a predicate that skips the first `number` lines to which `applies` applies."""
    left = number

    def later(line: bytes) -> bool:
        nonlocal left
        if applies(line):
            left -= 1
        return left < 0 and applies(line)

    return later


async def _duplicate_board(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await injector.one_line(incident, pair, lambda mid: Duplicate(is_board_line, mid))


async def _drop_from_server(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    skip, kinds = divmod(incident.fault.choice % 32, 4)
    applies = is_game_line if kinds else is_any_line
    await injector.one_line(incident, pair, lambda mid: DropLine(_after(skip, applies), mid))


async def _drop_to_server(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await injector.one_line(incident, pair, lambda mid: DropLine(is_any_line, mid), to_server=True)


async def _glue(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    applies = is_board_line if incident.fault.choice % 2 else _after(incident.fault.choice % 7, is_game_line)
    await injector.one_line(incident, pair, lambda mid: Glue(applies, mid))


async def _garbage(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    text = GARBAGE_LINES[incident.fault.choice % len(GARBAGE_LINES)]
    await injector.one_line(incident, pair, lambda mid: Insert(is_any_line, mid, text=text))


async def _stall(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    connection = await pair.bot_proxy.connected(logged_in=True)
    streams = connection.to_server, connection.from_server
    injector.struck(incident)
    for stream in streams:
        stream.block()
    try:
        await asyncio.sleep(injector.wall_seconds(incident.fault.seconds))
    finally:
        for stream in streams:
            stream.unblock()
    injector.over(incident, pair)


async def _black_hole(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    connection = await pair.bot_proxy.connected(logged_in=True)
    connection.black_hole()
    injector.struck(incident)
    injector.over(incident, pair)


async def _refused(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    proxy = pair.bot_proxy
    connection = await proxy.connected()
    proxy.shut()
    connection.break_off(Break.RESET)
    injector.struck(incident)
    try:
        await asyncio.sleep(injector.wall_seconds(incident.fault.seconds))
    finally:
        await proxy.open()
    injector.over(incident, pair)


def _end_server(number: signal.Signals) -> Injection:
    async def end(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:  # noqa: ARG001 - it strikes all pairs
        testbed = injector.testbed
        async with testbed.server_busy:
            injector.struck(incident)
            if number is signal.SIGTERM:
                for connection in testbed.connections():
                    connection.from_server.inject(RESTART_NOTICE)
                await asyncio.sleep(injector.wall_seconds(RESTART_NOTICE_TIME))
            try:
                await testbed.server.end(number)
            finally:
                await testbed.start_server()
            testbed.recoveries.ended(incident, testbed.bots)

    return end


def _end_bot(*signals: signal.Signals) -> Injection:
    async def end(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
        injector.struck(incident)
        try:
            await pair.child.end(*signals)
        finally:
            await pair.child.start()
        injector.over(incident, pair)

    return end


async def _opponent_leaves(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    connection = await pair.opponent_proxy.connected(logged_in=True)
    await wait_until(lambda: pair.opponent.playing, TARGET_TIMEOUT)
    connection.to_server.inject(b"leave\r\n")
    injector.struck(incident)
    injector.over(incident, pair)


async def _opponent_drops(injector: FaultInjector, incident: Incident, pair: BotPair) -> None:
    (await pair.opponent_proxy.connected(logged_in=True)).break_off(Break.RESET)
    injector.struck(incident)
    injector.over(incident, pair)


INJECTIONS: Final[Mapping[FaultKind, Injection]] = {
    FaultKind.DELAY: _delay,
    FaultKind.FRAGMENT: _fragment,
    FaultKind.CUT: _cut(lambda _: b""),
    FaultKind.CUT_AT_LOGIN: _cut_at_login,
    FaultKind.CUT_AT_OPENING: _cut(lambda _: b"Starting a new game with"),
    FaultKind.CUT_AT_MATCH_END: _cut(lambda injector: b"the %d point match" % injector.testbed.plan.length),
    FaultKind.RESET: _reset,
    FaultKind.HALF_CLOSE_BY_SERVER: _half_close(to_server=False),
    FaultKind.HALF_CLOSE_BY_BOT: _half_close(to_server=True),
    FaultKind.DUPLICATE_BOARD: _duplicate_board,
    FaultKind.DROP_FROM_SERVER: _drop_from_server,
    FaultKind.DROP_TO_SERVER: _drop_to_server,
    FaultKind.STALL: _stall,
    FaultKind.BLACK_HOLE: _black_hole,
    FaultKind.SERVER_RESTART: _end_server(signal.SIGTERM),
    FaultKind.SERVER_CRASH: _end_server(signal.SIGKILL),
    FaultKind.BOT_KILL: _end_bot(signal.SIGKILL),
    FaultKind.BOT_RESTART: _end_bot(signal.SIGTERM, signal.SIGTERM),
    FaultKind.OPPONENT_LEAVES: _opponent_leaves,
    FaultKind.OPPONENT_DROPS: _opponent_drops,
    FaultKind.REFUSED: _refused,
    FaultKind.GLUE: _glue,
    FaultKind.GARBAGE: _garbage,
}
