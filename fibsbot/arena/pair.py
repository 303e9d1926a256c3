"""Two bots that play each other on an embedded server, over real TCP."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import Final

from attrs import field, frozen

from fibsbot.bot.runner import Observer, Runner, SessionResult
from fibsbot.bot.settings import AgentSettings, RunSettings, Timings
from fibsbot.policy import Lengths, Policy
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy

QUICK: Final = Timings(pause=0.0, invitation=0.05, retry=0.5)
"""Waits for bots among themselves: nobody has to be spared, only what may really be lost is waited for."""


@frozen
class Entrant:
    """One of the two bots."""

    name: str
    strategy: Strategy
    observer: Observer = field(factory=Observer)
    log_path: Path | None = None
    """Where to write the session log."""


async def play_pair(  # noqa: PLR0913 - what there is to choose about a run
    server: Server,
    host: Entrant,
    guest: Entrant,
    *,
    matches: int,
    length: int,
    timings: Timings = QUICK,
    strict: bool = False,
) -> tuple[SessionResult, SessionResult]:
    """Register both, log both in, and let the host invite the guest until they have finished so many matches.

    Raises whatever a Runner raises; the other bot is stopped then.
    """
    passwords = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
    for entrant, password in zip((host, guest), passwords, strict=True):
        await server.register(entrant.name, password)

    def runner(entrant: Entrant, password: str, invite: str | None) -> Runner:
        agent = AgentSettings(
            name=entrant.name,
            password=password,
            invite=invite,
            length=length,
            policy=Policy(lengths=Lengths(((1, max(length, 1)),))),
            matches=matches,
            strict=strict,
            timings=timings,
        )
        settings = RunSettings(server.host, server.port, agent, log_path=entrant.log_path)
        return Runner(settings, entrant.strategy, observer=entrant.observer)

    async with asyncio.TaskGroup() as group:
        first = group.create_task(runner(host, passwords[0], guest.name).run())
        second = group.create_task(runner(guest, passwords[1], None).run())
    return first.result(), second.result()
