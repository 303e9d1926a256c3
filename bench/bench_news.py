"""Processor time that a bot spends on a `5` line about another player, and on the `6` line after it.

Whenever a match begins or ends, everybody on the server hears of both players. The bots of a process read that at the
same time, and a decision that is due then waits for all of them. Measured is everything that a bot left running does
with such lines, from the bytes on: reading, the agent, and the sheets for the store.

    python bench/bench_news.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory
from fibsbot.bot.driver import Driver
from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.client.connection import Connection
from fibsbot.client.settings import ServerSettings
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.service.account import BotAccount, Hooks
from fibsbot.strategies.pool import StrategyChain

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.bot.agent_script import ME, OWN_INFO, board

PIECES: Final = 20_000
"""Lines per round."""
LINE: Final = "5 somebody_{} {} - 1 0 {:.2f} 23 0 1593791615 localhost fibsbot -\r\n"
LOGIN: Final = f"login: 1 {ME} 1 h\r\n{OWN_INFO}\r\n6\r\n"
MATCH: Final = f"{LOGIN}** Player ford has joined you for a 5 point match.\r\nStarting a new game with ford\r\n"
SITUATIONS: Final = {
    "in the lobby": LOGIN,
    "while the opponent thinks": f"{MATCH}{board(turn=-1, other_dice='3:1')}\r\n",
    "while a decision of ours is open": f"{MATCH}{board(dice='3:1')}\r\n",
}


class Talker:
    """A connection that sends an introduction, then news, then nothing, and ignores what the bot sends."""

    def __init__(self, said: str, *, end: bool) -> None:
        """`end`: a `6` follows each `5` line."""
        self.seconds = 0.0
        """Processor time spent on the news."""
        self._pieces = self._talk(said, end=end)

    def _talk(self, said: str, *, end: bool) -> Iterator[bytes]:
        news = [LINE.format("abcdefgh"[n % 8], "-x"[n // 8 % 2], 1500 + n % 97) for n in range(PIECES)]
        yield said.encode()
        began = time.process_time()
        for line in news:
            yield (line + "6\r\n" * end).encode()
        self.seconds = time.process_time() - began
        yield b""

    async def read(self, _: float | None) -> bytes:
        """Return the next data."""
        return next(self._pieces)

    def write(self, data: bytes) -> None:
        """Ignore what is sent."""

    def close(self) -> None:
        """Do nothing."""


async def cost(said: str, *, end: bool) -> float:
    """Return the microseconds per line for a bot that has received an introduction."""
    settings = AgentSettings(ME, "secret")
    agent, thinker = Agent(settings), StrategyChain([], 1.0)
    plan = RunSettings(ServerSettings("localhost", 4321), settings)
    account = BotAccount(plan, thinker, AgentMemory(), Hooks(store_record=lambda *_: None))
    driver = Driver(agent, thinker, time.monotonic, on_message=lambda message: account.on_message(message, agent))
    talker = Talker(said, end=end)
    await driver.drive(cast("Connection", talker))
    return 1e6 * talker.seconds / PIECES


async def main(rounds: int) -> None:
    """Measure and print the table."""
    configure_log(LogFormat.JSON, LogLevel.WARNING)
    print(f"{'microseconds':32} {'5 line':>8} {'and 6':>8}")
    for situation, said in SITUATIONS.items():
        best = [min([await cost(said, end=end) for _ in range(rounds)]) for end in (False, True)]
        print(f"{situation:32} {best[0]:8.1f} {best[1]:8.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts: the machine may be busy")
    asyncio.run(main(parser.parse_args().rounds))
