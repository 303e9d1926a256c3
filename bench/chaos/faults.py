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
"""Seconds that a fault waits for something to strike; the end of a match, for one, may be some time away."""
RESTART_NOTICE_TIME: Final = 15.0
"""Seconds between the announcement of a restart and the restart, by the bots' clock."""
LONGEST_DELAY: Final = 15.0
"""Seconds that a chunk is delayed at most, by the bots' clock."""
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
"""What `GARBAGE_LINES` says: nothing of it means anything."""

Injection: TypeAlias = Callable[["FaultInjector", Incident, BotPair], Awaitable[None]]


@define
class FaultInjector:
    """Lets faults happen."""

    house: Testbed

    async def strike(self, fault: Fault) -> None:
        """Wait for the fault's time, let it strike and end."""
        recoveries = self.house.recoveries
        await asyncio.sleep(max(fault.at - recoveries.now, 0))
        incident = recoveries.expect(fault)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TARGET_TIMEOUT):
                await INJECTIONS[fault.kind](self, incident, self.house.pairs[fault.pair])

    # -- what the kinds share ---------------------------------------------------------------------------------------

    def struck(self, incident: Incident) -> None:
        """Note that a fault has struck."""
        self.house.recoveries.struck(incident)

    def over(self, incident: Incident, pair: BotPair) -> None:
        """Note that a fault has ended that only one bot has to recover from."""
        self.house.recoveries.ended(incident, {pair.bot.account})

    def real(self, seconds: float) -> float:
        """Return seconds of the bots' clock as seconds."""
        return seconds / self.house.plan.speed

    async def shape(self, incident: Incident, link: ProxyConnection, lane: ProxyStream, shaper: Shaper) -> bool:
        """Shape a lane until the shaper has struck; return whether it has, which it has not if the link ends before."""
        lane.shape(shaper)
        try:
            await wait_until(lambda: shaper.struck or link.over, TARGET_TIMEOUT)
        finally:
            lane.unshape(shaper)
        if shaper.struck:
            self.struck(incident)
        return shaper.struck

    async def for_a_while(self, incident: Incident, pair: BotPair, make: Callable[[], Shaper], *, both: bool) -> None:
        """Shape one direction of a link or both for as long as the fault lasts."""
        fault = incident.fault
        link = await pair.bot_gate.connected(logged_in=True)
        directions = (True, False) if both else (fault.to_server,)
        shapers = [(link.lane(to_server=to_server), make()) for to_server in directions]
        self.struck(incident)
        for lane, shaper in shapers:
            lane.shape(shaper)
        try:
            await asyncio.sleep(self.real(fault.seconds))
        finally:
            for lane, shaper in shapers:
                lane.unshape(shaper)
        self.over(incident, pair)

    async def one_line(
        self, incident: Incident, pair: BotPair, make: Callable[[bool], Shaper], *, to_server: bool = False
    ) -> None:
        """Do something to one line; `make` is told whether the stream is in the middle of one."""
        struck = False
        while not struck:
            link = await pair.bot_gate.connected(logged_in=True)
            lane = link.lane(to_server=to_server)
            struck = await self.shape(incident, link, lane, make(lane.mid_line))
        self.over(incident, pair)


# -- the kinds ----------------------------------------------------------------------------------------------------


async def _delay(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    seconds = by.real(LONGEST_DELAY) * (1 + incident.fault.choice % 10) / 10
    await by.for_a_while(incident, pair, lambda: Delay(seconds), both=False)


async def _fragment(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await by.for_a_while(incident, pair, Fragment, both=True)


def _cut(marker: Callable[[FaultInjector], bytes]) -> Injection:
    async def cut(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
        fault, found = incident.fault, marker(by)
        to_server = fault.to_server and not found
        position = fault.position // 10 if to_server else fault.position
        struck = False
        while not struck:
            link = await pair.bot_gate.connected(logged_in=True)
            struck = await by.shape(incident, link, link.lane(to_server=to_server), CutAfter(position, found))
        by.over(incident, pair)

    return cut


async def _cut_at_login(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    fault = incident.fault
    position = fault.position // 10 if fault.to_server else fault.position
    shaper = CutAfter(position)
    gate = pair.bot_gate
    gate.shape_next = lambda link: link.lane(to_server=fault.to_server).shape(shaper)
    (await gate.connected()).break_off(Break.CUT)
    if await wait_until(lambda: shaper.struck, TARGET_TIMEOUT):
        by.struck(incident)
        by.over(incident, pair)


async def _reset(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    link = await pair.bot_gate.connected()
    link.break_off(Break.RESET)
    by.struck(incident)
    by.over(incident, pair)


def _half_close(*, to_server: bool) -> Injection:
    async def close(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
        link = await pair.bot_gate.connected(logged_in=True)
        link.half_close(to_server=to_server)
        by.struck(incident)
        by.over(incident, pair)

    return close


def _after(number: int, applies: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Let so many lines pass that it applies to."""
    left = number

    def later(line: bytes) -> bool:
        nonlocal left
        if applies(line):
            left -= 1
        return left < 0 and applies(line)

    return later


async def _duplicate_board(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await by.one_line(incident, pair, lambda mid: Duplicate(is_board_line, mid))


async def _drop_from_server(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    skip, kinds = divmod(incident.fault.choice % 32, 4)
    applies = is_game_line if kinds else is_any_line
    await by.one_line(incident, pair, lambda mid: DropLine(_after(skip, applies), mid))


async def _drop_to_server(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    await by.one_line(incident, pair, lambda mid: DropLine(is_any_line, mid), to_server=True)


async def _glue(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    applies = is_board_line if incident.fault.choice % 2 else _after(incident.fault.choice % 7, is_game_line)
    await by.one_line(incident, pair, lambda mid: Glue(applies, mid))


async def _garbage(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    text = GARBAGE_LINES[incident.fault.choice % len(GARBAGE_LINES)]
    await by.one_line(incident, pair, lambda mid: Insert(is_any_line, mid, text=text))


async def _stall(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    link = await pair.bot_gate.connected(logged_in=True)
    lanes = link.to_server, link.from_server
    by.struck(incident)
    for lane in lanes:
        lane.block()
    try:
        await asyncio.sleep(by.real(incident.fault.seconds))
    finally:
        for lane in lanes:
            lane.unblock()
    by.over(incident, pair)


async def _black_hole(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    link = await pair.bot_gate.connected(logged_in=True)
    link.black_hole()
    by.struck(incident)
    by.over(incident, pair)


async def _refused(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    gate = pair.bot_gate
    link = await gate.connected()
    gate.shut()
    link.break_off(Break.RESET)
    by.struck(incident)
    try:
        await asyncio.sleep(by.real(incident.fault.seconds))
    finally:
        await gate.open()
    by.over(incident, pair)


def _end_server(number: signal.Signals) -> Injection:
    async def end(by: FaultInjector, incident: Incident, pair: BotPair) -> None:  # noqa: ARG001 - it strikes all pairs
        house = by.house
        async with house.server_busy:
            by.struck(incident)
            if number is signal.SIGTERM:
                for link in house.links():
                    link.from_server.inject(RESTART_NOTICE)
                await asyncio.sleep(by.real(RESTART_NOTICE_TIME))
            try:
                await house.server.end(number)
            finally:
                await house.start_server()
            house.recoveries.ended(incident, house.bots)

    return end


def _end_bot(*signals: signal.Signals) -> Injection:
    async def end(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
        by.struck(incident)
        try:
            await pair.child.end(*signals)
        finally:
            await pair.child.start()
        by.over(incident, pair)

    return end


async def _opponent_leaves(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    link = await pair.foe_gate.connected(logged_in=True)
    await wait_until(lambda: pair.foe.playing, TARGET_TIMEOUT)
    link.to_server.inject(b"leave\r\n")
    by.struck(incident)
    by.over(incident, pair)


async def _opponent_drops(by: FaultInjector, incident: Incident, pair: BotPair) -> None:
    (await pair.foe_gate.connected(logged_in=True)).break_off(Break.RESET)
    by.struck(incident)
    by.over(incident, pair)


INJECTIONS: Final[Mapping[FaultKind, Injection]] = {
    FaultKind.DELAY: _delay,
    FaultKind.FRAGMENT: _fragment,
    FaultKind.CUT: _cut(lambda _: b""),
    FaultKind.CUT_AT_LOGIN: _cut_at_login,
    FaultKind.CUT_AT_OPENING: _cut(lambda _: b"Starting a new game with"),
    FaultKind.CUT_AT_MATCH_END: _cut(lambda by: b"the %d point match" % by.house.plan.length),
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
