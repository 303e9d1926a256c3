"""Three processes share twenty accounts through one store; one is killed, and the others take over its accounts.

Server and opponents run in this process. The three are real processes of `fibsbot run`; all must log in within a minute
of the kill, and the store must have every match of the opponents exactly once.

    python bench/bench_sharing.py [--store URL] [--accounts 20] [--seconds 60]

The store is a file by default; several machines would use PostgreSQL (`--store postgresql://...`, an empty database).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from attrs import define

from fibsbot.bot.orders import Order
from fibsbot.bot.settings import AgentSettings, PlaySettings, RunSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.records.store import Store
from fibsbot.server.limits import ServerLimits
from fibsbot.server.server import Server
from fibsbot.service.account import ELSEWHERE
from fibsbot.service.control_client import ControlError, send_order
from fibsbot.service.settings import ServiceSettings
from fibsbot.service.supervisor import Supervisor
from fibsbot.strategies.loader import load

PASSWORD: Final = "benchmark"  # noqa: S105 - of accounts that live for this run
UNHURRIED: Final = ServerLimits(commands_per_second=1e9, burst=10**6, password_cost=2**4)
PROCESSES: Final = 3
LIMIT: Final = 60.0
"""Seconds within which the accounts of a killed process must be logged in again."""
CONFIG: Final = """
[server]
host = "127.0.0.1"
port = {port}
[bot]
strategy = "random"
[timing]
pause = 0.02
retry = 2
[log]
directory = "logs{number}"
level = "warning"
[service]
store = "{store}"
control = "socket{number}"
share_accounts = true
"""
ACCOUNT: Final = '[[account]]\nname = "{name}"\npassword_env = "BENCH_PASSWORD"\n'


def account(number: int) -> str:
    """Return the name of a shared account: letters only."""
    return "bot_" + "".join(chr(97 + int(digit)) for digit in str(number))


@define
class BotProcess:
    """A process of `fibsbot run`."""

    folder: Path
    number: int
    child: subprocess.Popen[bytes]

    @classmethod
    def start(cls, folder: Path, number: int, port: int, store: str, names: list[str]) -> BotProcess:
        """Write its settings, and start it."""
        config = folder / f"bots{number}.toml"
        head = CONFIG.format(port=port, number=number, store=store)
        config.write_text(head + "".join(ACCOUNT.format(name=name) for name in names))
        command = [sys.executable, "-m", "fibsbot", "run", "--config", config.name]
        environment = {**os.environ, "BENCH_PASSWORD": PASSWORD, "PYTHONPATH": os.pathsep.join(sys.path)}
        return cls(folder, number, subprocess.Popen(command, cwd=folder, env=environment))  # noqa: S603 - this program

    async def accounts(self) -> dict[str, str]:
        """Return the state of every account as this process tells it; empty while it does not answer."""
        try:
            path = self.folder / f"socket{self.number}"
            answer = await asyncio.to_thread(send_order, path, Order.STATUS, None)
        except ControlError:
            return {}
        return {
            it["account"]: it["state"] if it["connected"] is None else "online" for it in answer["status"]["accounts"]
        }


async def until_online(processes: list[BotProcess], names: list[str], limit: float) -> tuple[float, list[int]]:
    """Wait until every account is logged in from exactly one process; return the seconds, and how many each has."""
    began = time.monotonic()
    while True:
        told = [await process.accounts() for process in processes]
        online = Counter(name for states in told for name, state in states.items() if state == "online")
        if set(online) == set(names) and set(online.values()) == {1}:
            everywhere = all(set(states) == set(names) for states in told)
            shown = all(state in {"online", ELSEWHERE} for states in told for state in states.values())
            if everywhere and shown:
                return time.monotonic() - began, [sum(it == "online" for it in states.values()) for states in told]
        if time.monotonic() - began > limit:
            raise SystemExit(f"not all accounts are online after {limit} s: {told}")
        await asyncio.sleep(0.25)


async def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run everything; return what was measured."""
    names = [account(number) for number in range(options.accounts)]
    store = options.store or str(folder / "store.db")
    async with Server(seed=1, limits=UNHURRIED) as server:
        for name in names:
            await server.register(name, PASSWORD)
            await server.register(f"foe_{name}", PASSWORD)
        foes = [
            RunSettings(
                ServerSettings("127.0.0.1", server.port),
                AgentSettings(
                    f"foe_{name}",
                    PASSWORD,
                    play=PlaySettings("random", invite=name, invite_length=3),
                    timings=Timings(pause=0.02, invitation=0.05, retry=1.0),
                ),
                backoff=BackoffSettings(first=0.5),
            )
            for name in names
        ]
        opponents = Supervisor(foes, ServiceSettings(store=None, control=None), load)
        playing = asyncio.create_task(opponents.run())
        processes = [BotProcess.start(folder, number, server.port, store, names) for number in range(PROCESSES)]
        try:
            started, shares = await until_online(processes, names, LIMIT)
            await asyncio.sleep(options.seconds / 2)
            processes[0].child.send_signal(signal.SIGKILL)
            processes[0].child.wait()
            taken_over, left = await until_online(processes[1:], names, LIMIT)
            await asyncio.sleep(options.seconds / 2)
            opponents.order(Order.FINISH)
            await asyncio.wait([playing], timeout=LIMIT)
            matches = {it.account: it.counters.matches for it in opponents.statuses()}
        finally:
            for process in processes:
                if process.child.poll() is None:
                    process.child.send_signal(signal.SIGTERM)
            for process in processes:
                await asyncio.to_thread(process.child.wait, LIMIT)
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
    with Store.open(store) as reader:
        stored = Counter(match.opponent for match in reader.matches() if match.finished)
    return {
        "accounts": len(names),
        "all online after s": round(started, 1),
        "accounts by process": shares,
        "taken over after s": round(taken_over, 1),
        "accounts by process then": left,
        "matches of the opponents": sum(matches.values()),
        "matches in the store": stored.total(),
        "opponents whose matches differ": {
            name: (count, stored[name]) for name, count in matches.items() if count != stored[name]
        },
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", help="URL of an empty database")
    parser.add_argument("--accounts", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    configure_log(LogFormat.JSON, LogLevel.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(options, Path(folder))), indent=2))


if __name__ == "__main__":
    main()
