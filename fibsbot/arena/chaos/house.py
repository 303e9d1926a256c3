"""Everybody who takes part in a run: the server, the bots, their opponents, and the proxy between them."""

from __future__ import annotations

import asyncio
import random
import secrets
import signal
import socket
from pathlib import Path
from typing import Final

from attrs import AttrsInstance, asdict, define, field

from fibsbot.arena.chaos.children import Child, listening
from fibsbot.arena.chaos.ledger import Ledger
from fibsbot.arena.chaos.proxy import Gate, Link
from fibsbot.arena.chaos.recovery import Recoveries
from fibsbot.arena.chaos.schedule import Plan
from fibsbot.arena.soak import letters
from fibsbot.bot.runner import Runner
from fibsbot.bot.settings import AgentSettings, RunSettings, Timings
from fibsbot.client.backoff import Pauses
from fibsbot.policy import Lengths, Policy
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load

PASSWORD: Final = "FIBSBOT_PASSWORD"  # noqa: S105 - the name of a variable
PORTS: Final = range(20_000, 32_000)
"""Where ports are looked for: below those that a system gives away by itself, so that a port stays free while nobody
listens on it."""
STORE: Final = "fibsbot.db"
"""File of a bot's store, in its folder."""
LONGEST: Final = 160.0
"""Seconds between two attempts to connect at most, by the bots' clock: faults come every few minutes, and a bot that
pauses for a quarter of an hour after them would see none."""
HEALTHY: Final = 60.0
"""Seconds after which a connection counts as healthy, for the same reason."""


@define(eq=False)
class Pair:
    """A bot and its opponent."""

    number: int
    bot: Ledger
    foe: Ledger
    bot_gate: Gate
    foe_gate: Gate
    child: Child
    runner: Runner
    folder: Path
    """Where the bot's files are."""
    playing: asyncio.Task[object] | None = None
    """The opponent's run."""


@define(eq=False)
class House:
    """All that runs."""

    plan: Plan
    folder: Path
    port: int
    """Of the server."""
    server: Child
    pairs: list[Pair]
    recoveries: Recoveries
    server_busy: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by whoever ends and starts the server."""

    @property
    def database(self) -> Path:
        """The server's."""
        return self.folder / "server.db"

    @property
    def bots(self) -> list[str]:
        """The bots' names."""
        return [pair.bot.account for pair in self.pairs]

    def links(self) -> list[Link]:
        """Return the connections that are there."""
        gates = [gate for pair in self.pairs for gate in (pair.bot_gate, pair.foe_gate)]
        return [gate.link for gate in gates if gate.link is not None and not gate.link.over]

    async def open(self) -> None:
        """Start everything."""
        await self.start_server()
        for pair in self.pairs:
            await pair.bot_gate.open()
            await pair.foe_gate.open()
            pair.playing = asyncio.create_task(pair.runner.run())
        await asyncio.gather(*(pair.child.start() for pair in self.pairs))

    async def start_server(self) -> None:
        """Start the server and wait until it listens."""
        await self.server.start()
        await listening(self.port)

    async def close(self) -> None:
        """End everything that still runs, the bots at once."""
        for pair in self.pairs:
            if pair.playing is not None:
                pair.runner.finish()
                _, late = await asyncio.wait({pair.playing}, timeout=5.0)
                for task in late:
                    task.cancel()
                await asyncio.gather(*late, return_exceptions=True)
            if pair.child.running:
                await pair.child.end(signal.SIGKILL)
            await pair.bot_gate.close()
            await pair.foe_gate.close()
        if self.server.running:
            await self.server.end(signal.SIGTERM)


async def build(plan: Plan, folder: Path, strategies: tuple[str, str]) -> House:
    """Make ready what a run needs, in an empty folder; nothing runs yet. `strategies`: the bots', the opponents'."""
    ports = _free_ports(1 + 2 * plan.pairs)
    port = ports.pop()
    names = [(f"bot_{letters(number)}", f"foe_{letters(number)}") for number in range(plan.pairs)]
    passwords = {name: secrets.token_urlsafe(16) for pair in names for name in pair}
    server = Server(db=folder / "server.db")
    try:
        for name, password in passwords.items():
            await server.register(name, password)
    finally:
        await server.stop()
    recoveries = Recoveries()
    pairs = []
    for number, (bot, foe) in enumerate(names):
        ledgers = Ledger(bot, recoveries.progressed), Ledger(foe, recoveries.progressed)
        gates = [Gate(ports.pop(), port, ledger) for ledger in ledgers]
        own = folder / bot
        own.mkdir()
        config = own / "fibsbot.toml"
        config.write_text(config_text(plan, gates[0].port, bot, foe, own, strategies[0]), "utf-8")
        pairs.append(
            Pair(
                number,
                bot=ledgers[0],
                foe=ledgers[1],
                bot_gate=gates[0],
                foe_gate=gates[1],
                child=Child(bot, launch(config), {PASSWORD: passwords[bot]}, log=own / "stderr.jsonl"),
                runner=_opponent(plan, gates[1].port, foe, passwords[foe], strategies[1]),
                folder=own,
            )
        )
    command = ("serve", "--port", str(port), "--db", str(folder / "server.db"), "--seed", str(plan.seed))
    return House(plan, folder, port, Child("server", command), pairs, recoveries)


def launch(config: Path) -> tuple[str, ...]:
    """Return the arguments of `fibsbot` that start a bot."""
    return ("run", "--config", str(config))


def config_text(plan: Plan, port: int, name: str, foe: str, folder: Path, strategy: str) -> str:  # noqa: PLR0913, PLR0917 - what a bot has to be told
    """Return a bot's configuration, with all waits shortened."""
    return f"""\
[server]
port = {port}

[account]
name = "{name}"
password_env = "{PASSWORD}"

[bot]
strategy = "{strategy}"
invite = "{foe}"
invite_length = {plan.length}

[timing]
{_lines(Timings().scaled(1 / plan.speed))}

[reconnect]
{_lines(_pauses(plan))}

[log]
directory = "{folder / "logs"}"
format = "json"

[service]
store = "{folder / STORE}"
control = "{folder / "fibsbot.sock"}"
"""


def _lines(settings: AttrsInstance) -> str:
    """Return settings as a section of a configuration has them: by the same names."""
    return "\n".join(f"{name} = {value}" for name, value in asdict(settings).items())


def _opponent(plan: Plan, port: int, name: str, password: str, strategy: str) -> Runner:
    agent = AgentSettings(
        name=name,
        password=password,
        policy=Policy(lengths=Lengths(((1, plan.length),))),
        timings=Timings().scaled(1 / plan.speed),
    )
    settings = RunSettings("127.0.0.1", port, agent, pauses=_pauses(plan), retry_first=True)
    return Runner(settings, load(strategy))


def _pauses(plan: Plan) -> Pauses:
    waits = {"first": Pauses().first, "longest": LONGEST, "restart": LONGEST, "healthy": HEALTHY}
    return Pauses(**{name: seconds / plan.speed for name, seconds in waits.items()})


def _free_ports(count: int) -> list[int]:
    """Return ports on which nobody listens now."""
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found
