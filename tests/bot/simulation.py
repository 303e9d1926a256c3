"""A server's world and complete bots in one process with a simulated clock: fast and repeatable.

Lines can be lost, duplicated, delayed or changed. Refusals are counted on the side of the server.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from bench.chaos.oracle import GAME_COMMANDS, shows_decision
from fibs_protocol import commands as c
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse_command, write_command
from fibs_protocol.messages import Refusal
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import Departure
from fibsbot.bot import events_and_actions as e
from fibsbot.bot.agent import Agent
from fibsbot.bot.settings import ChatSettings
from fibsbot.client.backoff import Backoff
from fibsbot.client.settings import BackoffSettings
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account
from fibsbot.server.audience import render
from fibsbot.server.database import Database
from fibsbot.server.dice import SeededDice
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import Quirks, World
from fibsbot.strategies.base import Strategy
from tests.bot.live_bots import agent_settings

NOON: Final = 1_795_176_000
LATENCY: Final = 0.05
"""Seconds that a line takes to arrive."""
THOUGHT: Final = 0.2
"""Seconds that a strategy thinks."""
LOST: Final = "connection lost"
PASSWORD_HASH: Final = "2$c2FsdA==$a2V5"


@frozen
class Passing:
    """A line to be delivered."""

    bot: str
    down: bool
    """Whether it goes from the server to the bot."""
    number: int
    """The number of the line in this direction, over all connections of the bot, from 0."""
    text: str


Fault: TypeAlias = Callable[[Passing], list[tuple[float, str]]]
"""Returns the lines to deliver instead of a line, each with its delay in seconds. The order of lines is kept."""


def unharmed(line: Passing) -> list[tuple[float, str]]:
    """Deliver every line."""
    return [(0.0, line.text)]


def losing(bot: str, number: int, *, down: bool) -> Fault:
    """Lose exactly one line."""
    lost = (bot, down, number)
    return lambda line: [] if (line.bot, line.down, line.number) == lost else [(0.0, line.text)]


def doubling(bot: str, number: int, *, down: bool) -> Fault:
    """Deliver exactly one line twice."""
    twice = (bot, down, number)
    return lambda line: [(0.0, line.text)] * (1 + ((line.bot, line.down, line.number) == twice))


class LateAnswers:
    """A fault: the answer to one command, and all lines after it, come late; an old board comes in the meantime."""

    def __init__(self, bot: str, number: int, board_after: float, answer_after: float) -> None:
        """Delay what follows the bot's command of this number; the old board and the answer have their own delays."""
        self._command = bot, number
        self._delays = board_after, answer_after
        self._board: str | None = None
        self._said = False

    def __call__(self, line: Passing) -> list[tuple[float, str]]:
        """Deliver a line, perhaps late."""
        bot, number = self._command
        if line.bot != bot:
            return unharmed(line)
        if not line.down:
            self._said = self._said or line.number == number
        elif self._said and self._board is not None:
            late = [*zip(self._delays, (self._board, line.text), strict=True)]
            self._board = None
            return late
        elif line.text.startswith("board:You:"):
            self._board = line.text
        return unharmed(line)


def stalling(bot: str, number: int, seconds: float, *, down: bool) -> Fault:
    """Delay all lines from one line on."""
    held = (bot, down, number)
    return lambda line: [(seconds * ((line.bot, line.down, line.number) == held), line.text)]


@define(eq=False)
class Bot:
    """A bot and its connection."""

    name: str
    agent: Agent
    strategy: Strategy
    backoff: Backoff
    reader: MessageReader = field(factory=MessageReader)
    link: int = 0
    """Number of the connection; events of an older one are dropped."""
    user: User | None = None
    """The user on the server."""
    up: bool = False
    since: float = 0.0
    """The time of the connection."""
    wake_at: float | None = None
    end: e.End | None = None
    reasons: list[str] = field(factory=list)
    """The reasons why connections ended."""
    lines: Counter[bool] = field(factory=Counter)
    """The number of lines in each direction; True is down."""
    arriving: dict[tuple[int, bool], float] = field(factory=dict)
    """The time of the last arrival by connection and direction."""
    records: list[e.Record] = field(factory=list)
    sent: list[tuple[float, str]] = field(factory=list)
    """The lines that it sent, with their times."""

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of all records with this name."""
        return [dict(record.fields) for record in self.records if record.name == name]


class Simulation:
    """Bots, and the world that they connect to."""

    def __init__(self, seed: int = 1, *, fault: Fault = unharmed, quirks: Quirks | None = None) -> None:
        """Start without bots. `seed` determines dice and pauses."""
        self.now = 0.0
        self.bots: dict[str, Bot] = {}
        self.refusals: list[tuple[str, str, str]] = []
        """The refused commands: name, command and refusal."""
        self.repeated: list[tuple[str, str]] = []
        """The answers to a decision that had been answered: name and command."""
        self._shown: set[User] = set()
        """The users who have been shown a decision since their last answer to one."""
        self._seed = seed
        self._fault = fault
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._store = Database(None, NOON)
        self.world = World(self._store, SeededDice(seed), lambda: NOON + self.now, quirks=quirks)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def add(self, name: str, strategy: Strategy, pauses: BackoffSettings | None = None, **settings: Any) -> Bot:
        """Add a bot, which connects at once."""
        settings = {"seed": self._seed, "chat": ChatSettings(greet=False), "matches": 1, **settings}
        agent = Agent(agent_settings(name, "pass:word", **settings))
        self._store.save_accounts(Account(name, PASSWORD_HASH))
        bot = self.bots[name] = Bot(
            name, agent, strategy, Backoff(pauses or BackoffSettings(), random.Random(f"{self._seed}{name}"))
        )
        self.later(0.0, lambda: self._connect(bot))
        return bot

    # -- time -----------------------------------------------------------------------------------------------------

    def later(self, delay: float, what: Callable[[], None]) -> None:
        """Schedule a call."""
        heapq.heappush(self._events, (self.now + delay, next(self._count), what))

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Advance the clock until all bots have ended, or a condition holds."""
        end = self.now + seconds
        while self._events and self._events[0][0] <= end and not until():
            if all(bot.end for bot in self.bots.values()):
                return
            self.now, _, what = heapq.heappop(self._events)
            what()

    # -- the bots -------------------------------------------------------------------------------------------------

    def handle(self, bot: Bot, event: e.Event) -> None:
        """Pass an event to a bot at the current time."""
        for action in bot.agent.handle(event):
            self._do(bot, action)

    def _do(self, bot: Bot, action: e.Action) -> None:
        match action:
            case e.Send(command):
                self._say(bot, write_command(command))
            case e.SendLine(line) | e.SendSecret(line):
                self._say(bot, line)
            case e.Ask(key, question):
                link = bot.link

                def answer() -> None:
                    if bot.link == link and bot.up:
                        thought = question.put_to(bot.strategy)
                        self.handle(bot, e.StrategyAnswered(self.now, key, thought))

                self.later(THOUGHT, answer)
            case e.Record():
                bot.records.append(action)
            case e.WakeAt(at):
                bot.wake_at = at
                self.later(max(at - self.now, 0.0), lambda: self._wake(bot, at))
            case e.Disconnect(reason, end):
                bot.end = bot.end or end
                self._hang_up(bot, reason, restarting=action.restarting)

    def lose(self, name: str) -> None:
        """Break a bot's connection, if it has one; it reconnects."""
        self._hang_up(self.bots[name], LOST)

    def _wake(self, bot: Bot, at: float) -> None:
        if bot.wake_at == at and bot.up:
            bot.wake_at = None
            self.handle(bot, e.Woken(self.now))

    def _connect(self, bot: Bot) -> None:
        bot.link += 1
        bot.up, bot.reader, bot.user, bot.since = True, MessageReader(), None, self.now
        self.handle(bot, e.Connected(self.now))
        self._deliver(bot, "login: ", ending="")

    def _hang_up(self, bot: Bot, reason: str, *, by_server: bool = False, restarting: bool = False) -> None:
        if not bot.up:
            return
        lasted = self.now - bot.since
        bot.up = False
        bot.reasons.append(reason)
        user, bot.user = bot.user, None
        if user is not None:
            self.later(LATENCY, partial(self._gone, user))

        def lost() -> None:
            bot.wake_at = None
            self.handle(bot, e.ConnectionLost(self.now, reason, by_server))
            if bot.end is None:
                self.later(bot.backoff.next_pause(lasted, restarting=restarting), partial(self._connect, bot))

        self.later(0.0, lost)

    # -- the server -----------------------------------------------------------------------------------------------

    def _say(self, bot: Bot, text: str) -> None:
        bot.sent.append((self.now, text))
        line = Passing(bot.name, down=False, number=bot.lines[False], text=text)
        bot.lines[False] += 1
        self._pass(bot, line, self._hear)

    def _pass(self, bot: Bot, line: Passing, arrive: Callable[[Bot, int, str], None], ending: str = "") -> None:
        way = bot.link, line.down
        for delay, passed in self._fault(line):
            at = bot.arriving[way] = max(self.now + LATENCY + delay, bot.arriving.get(way, 0.0))
            self.later(at - self.now, partial(arrive, bot, bot.link, passed + ending))

    def _hear(self, bot: Bot, link: int, text: str) -> None:
        if bot.link != link or not bot.up:
            return
        if bot.user is not None:
            self._note_answer(bot, bot.user, text)
            dispatch.handle(self.world, bot.user, text)
            self._deliver_all(bot, text)
            return
        try:
            command = parse_command(text)
        except CommandError:
            return
        account = self._store.account(bot.name)
        if isinstance(command, c.Login) and account is not None:
            bot.user = sessions.log_in(self.world, account, ClientMode.CLIP, "127.0.0.1", command.client)
            self._deliver_all(bot, text)

    def _note_answer(self, bot: Bot, user: User, text: str) -> None:
        try:
            command = parse_command(text)
        except CommandError:
            return
        if isinstance(command, GAME_COMMANDS):
            if user not in self._shown:
                self.repeated.append((bot.name, text))
            self._shown.discard(user)

    def _gone(self, user: User) -> None:
        sessions.log_out(self.world, user, Departure.DROPPED)
        self.world.save_matches()
        self._deliver_all()

    def _deliver_all(self, bot: Bot | None = None, said: str = "") -> None:
        outbox, self.world.outbox = self.world.outbox, []
        leaving, self.world.disconnecting = self.world.disconnecting, []
        by_user = {other.user: other for other in self.bots.values() if other.user}
        for user, message in outbox:
            if shows_decision(message):
                self._shown.add(user)
            if bot is not None and user is bot.user and isinstance(message, Refusal):
                self.refusals.append((bot.name, said, " ".join(render(user, message))))
            if other := by_user.get(user):
                for line in render(user, message):
                    self._deliver(other, line)
        for user in leaving:
            if other := by_user.get(user):
                at = max(self.now + LATENCY, other.arriving.get((other.link, True), 0.0))
                self.later(at - self.now, partial(self._closed, other, other.link))

    def _closed(self, bot: Bot, link: int) -> None:
        if bot.link == link:
            self._hang_up(bot, "closed by the server", by_server=True)

    def _deliver(self, bot: Bot, text: str, ending: str = "\r\n") -> None:
        line = Passing(bot.name, down=True, number=bot.lines[True], text=text)
        bot.lines[True] += 1
        self._pass(bot, line, self._arrive, ending)

    def _arrive(self, bot: Bot, link: int, text: str) -> None:
        if bot.link != link or not bot.up:
            return
        bot.reader.receive_data(text.encode("ascii", "replace"))
        for received in iter(bot.reader.next_message, None):
            if bot.link == link and bot.up:
                self.handle(bot, e.MessageReceived(self.now, received.message))
