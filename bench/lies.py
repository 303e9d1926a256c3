"""A server that makes up boards and plays, and the time a bot takes for each of its lines; used by bench_hostile.py."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from typing import Final, cast

from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory
from fibsbot.bot.driver import Driver
from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.client.connection import Connection
from fibsbot.client.settings import ServerSettings
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.service.account import BotAccount, Hooks
from fibsbot.service.live.page_server import LivePage
from fibsbot.strategies.pool import StrategyChain
from tests.bot.agent_script import ME, OWN_INFO, board


class Liar:
    """A connection on which a server makes up a game and ignores what the bot sends."""

    def __init__(self, seed: int, lines: int) -> None:
        """Send this number of lines."""
        self.took: list[tuple[float, str]] = []
        """Processor time of each line in milliseconds, and the line."""
        self._pieces = self._talk(random.Random(seed), lines)

    def _talk(self, rng: random.Random, lines: int) -> Iterator[bytes]:
        yield f"login: 1 {ME} 1 h\r\n{OWN_INFO}\r\n6\r\n** Player ford has joined you for a 5 point match.\r\n".encode()
        yield b"Starting a new game with ford\r\n"
        last = lie(rng, None)
        for _ in range(lines):
            if rng.random() < 0.5:
                line = last = lie(rng, last)
            else:
                line = rng.choice(TOLD).format(a=rng.randint(1, 6), b=rng.randint(1, 6), p=rng.randint(7, 24))
            began = time.process_time()
            yield f"{line}\r\n".encode()
            self.took.append((1e3 * (time.process_time() - began), line))
        yield b""

    async def read(self, _: float | None) -> bytes:
        """Return the next data."""
        return next(self._pieces)

    def write(self, data: bytes) -> None:
        """Ignore what is sent."""

    def close(self) -> None:
        """Do nothing."""


TOLD: Final = (
    *("ford rolls {a} and {b}.", "You roll {a} and {b}.", "ford rolls {a} and {a}.", "You roll {a} and {a}."),
    *("ford moves {p}-{b} .", "ford can't move.", "ford moves 1-{a} 1-{b} .", "You can't move.", "ford doubles."),
    *("It's your turn. Please roll or double", "ford accepts the double.", "ford moves 12-14 12-14 1-3 1-3 ."),
)
"""Lines sent between two boards."""


def lie(rng: random.Random, last: str | None) -> str:
    """Return a board with many blots, or one that unseen plays may have made from the last."""
    cells = [0] * 26
    if last is None or rng.random() < 0.2:
        places = rng.sample(range(1, 25), 24)
        for sign, own in ((1, places[:12]), (-1, places[12:])):
            for place in own + rng.choices(own, k=3):
                cells[place] += sign
    else:
        cells = [int(cell) for cell in last.split(":")[6:32]]
        for _ in range(rng.choice((1, 2, 4, 8))):
            _move_any(rng, cells)
    dice = rng.choice(("0:0", "1:1", f"{rng.randint(1, 6)}:{rng.randint(1, 6)}"))
    turn = rng.choice((1, -1))
    ours, theirs = (dice, "0:0") if turn > 0 else ("0:0", dice)
    return board(cells=":".join(map(str, cells)), turn=turn, dice=ours, other_dice=theirs)


def _move_any(rng: random.Random, cells: list[int]) -> None:
    """Move one checker by a few points, hitting a blot."""
    sign = rng.choice((1, -1))
    source = rng.choice([place for place, count in enumerate(cells) if count * sign > 0])
    target = source - sign * rng.randint(1, 6)
    if 0 < target < 25 and cells[target] * sign >= -1:
        cells[source] -= sign
        if cells[target] == -sign:
            cells[target] = 0
            cells[25 if sign < 0 else 0] -= sign
        cells[target] += sign


async def feed_lies(seed: int, lines: int) -> None:
    """Feed made-up lines to a bot with recording and a live page, and print the time per line."""
    configure_log(LogFormat.JSON, LogLevel.ERROR)
    settings = AgentSettings(ME, "secret")
    agent, thinker = Agent(settings), StrategyChain([], 1.0)
    gc.freeze()  # what was made until now is no work for the collector, as in a bot that runs
    live = LivePage({ME: "secret"}, list)
    hooks = Hooks(store_record=lambda *_: None, on_match_event=live.on_match_event, on_message=live.on_message)
    account = BotAccount(RunSettings(ServerSettings("localhost", 4321), settings), thinker, AgentMemory(), hooks)
    liar = Liar(seed, lines)
    driver = Driver(agent, thinker, time.monotonic, on_message=lambda it: account.on_message(it, agent))
    await driver.drive(cast("Connection", liar))
    took = sorted(liar.took, reverse=True)
    print(f"{len(took):,} lines: mean {sum(it for it, _ in took) / len(took):.2f} ms, longest:")
    for milliseconds, line in took[:4]:
        print(f"{milliseconds:8.1f} ms  {line}")
