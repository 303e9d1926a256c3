"""People at tables on a real server, for tests: who log in, and press what may be pressed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from fibs_protocol import messages as m
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.settings import Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.table.model import Action
from fibsbot.table.remote_match import RemoteMatch
from fibsbot.table.server_host import Recorder, ServerHost, ServerLogin
from fibsbot.table.server_session import person_settings
from tests.patience import SOON

QUICK = Timings(pause=0, watchdog=5, invitation=0.02)
PAUSES = BackoffSettings(first=0.05, longest=0.2)


class Refusals(Recorder):
    """Keeps what was refused, and the records of a session."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.records: list[Record] = []
        self.messages: list[m.Message] = []

    def on_message(self, message: m.Message) -> None:
        """Keep a refusal."""
        if isinstance(message, m.Refusal):
            self.messages.append(message)

    def on_record(self, record: Record) -> None:
        """Keep a record."""
        self.records.append(record)

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of the records of a name."""
        return [dict(record.fields) for record in self.records if record.name == name]


def login(port: int, name: str, *, log: Path | None = None, register: bool = True, ready: bool = True) -> ServerLogin:
    """Return the login of a person who has an account or makes one."""
    person = person_settings(name, f"secret_of_{name}", QUICK)
    return ServerLogin(ServerSettings("127.0.0.1", port), person, register, ready, log, PAUSES)


@asynccontextmanager
async def at_table(asked: ServerLogin, recorder: Recorder | None = None) -> AsyncIterator[ServerHost]:
    """Sit down at a table; the person is logged in."""
    host = ServerHost(asked, recorder)
    await host.start()
    try:
        await until(host, lambda: host.session.logged_in or host.finished.is_set())
        yield host
    finally:
        await host.close()


async def until(host: ServerHost, holds: Callable[[], object]) -> None:
    """Wait until something holds, whenever the table changes."""
    changed = asyncio.Event()
    host.listen(changed.set)
    async with asyncio.timeout(SOON):
        while not holds():
            changed.clear()
            try:
                async with asyncio.timeout(0.5):
                    await changed.wait()
            except TimeoutError:
                continue


def ready_players(host: ServerHost) -> list[str]:
    """Return the players who can be invited."""
    return [player["name"] for player in host.parts["lobby"]["players"].values() if player["state"] == "ready"]


def match_of(host: ServerHost) -> RemoteMatch:
    """Return the match at a table."""
    assert host.model is not None
    return host.model


async def begin_match(host: ServerHost, guest: ServerHost, game: str, length: int) -> None:
    """Let one person invite another, who joins."""
    names = [table.session.lobby.user for table in (host, guest)]
    await until(host, lambda: names[1] in ready_players(host))
    assert host.request("invite", {"name": names[1], "length": length, "game": game})
    await until(guest, lambda: names[0] in guest.session.lobby.invitations)
    assert guest.request("join", {"name": names[0]})
    await until(host, lambda: is_playing(host))
    await until(guest, lambda: is_playing(guest))


def is_playing(host: ServerHost) -> bool:
    """Whether a match of the person's own is on, and shown."""
    return host.session.playing and host.model is not None and not host.model.ended


def press(host: ServerHost, random: Random, resigns: float = 0.02) -> bool:
    """Do something at random that may be done in the match; return whether it was done."""
    model = host.model
    if model is None or not model.actions:
        return False
    doubtful = {Action.RESIGN: resigns, Action.UNDO: 0.1, Action.SWAP: 0.1, Action.REJECT_ROLL: 0.3, Action.PASS: 0.3}
    actions = [action for action in model.actions if random.random() < doubtful.get(action, 1)]
    action = random.choice(actions or list(model.actions))
    if action is Action.MOVE:
        move = random.choice(model.moves).move
        return host.act(action, (move.source, move.target))
    if action is Action.NAME:
        return host.act(action, (random.choice(model.names_offered),))
    if action is Action.RESIGN:
        return random.random() < resigns and host.act(action, (random.randint(1, 3),))
    return host.act(action)


async def play_on(host: ServerHost, random: Random, over: Callable[[], object]) -> None:
    """Press at random until something is over."""
    changed = asyncio.Event()
    host.listen(changed.set)
    async with asyncio.timeout(SOON):
        while not over():
            changed.clear()
            if not press(host, random):
                try:
                    async with asyncio.timeout(0.1):
                        await changed.wait()
                except TimeoutError:
                    continue
            await asyncio.sleep(0)
