"""The embedded server with bots and onlookers, where everything that each of them sees is recorded.

And what the server itself knows of the games, to hold transcripts against.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fibs_protocol.words import Colour
from fibsbot.bot.events_and_actions import Action, Record
from fibsbot.match import CubeAction, MatchState
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import hide_password
from fibsbot.rules.state import Result, Stage
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account
from fibsbot.server.audience import render
from fibsbot.server.users import ClientMode, ServerMatch, User
from fibsbot.strategies.base import CubeAnswer
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.simulation import NOON, PASSWORD_HASH, Bot, Simulation

BANNER: Final = "\r\nWelcome to the embedded server.\r\n\r\nlogin: "


class VariedStrategy(RandomStrategy):
    """Doubles, beavers and resigns by all levels all the time."""

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double often."""
        return CubeAnswer(CubeAction.DOUBLE if self._happens(0.12) else CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Beaver often, pass now and then."""
        if state.redoubles and self._happens(0.5):
            return CubeAnswer(CubeAction.BEAVER)
        return CubeAnswer(CubeAction.PASS if self._happens(0.2) else CubeAction.TAKE)

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - as above
        """Resign by any level."""
        return self._random.choice((1, 1, 2, 3)) if self._happens(0.03) else 0

    def accept_resignation(self, state: MatchState) -> bool:  # noqa: ARG002 - as above
        """Mostly play on."""
        return self._happens(0.3)


@frozen
class ServerGame:
    """A game as the server knows it, at its end."""

    names: tuple[str, str]
    lines: tuple[str, ...]
    """The list of moves, as `oldmoves` shows it, without the last line."""
    colours: tuple[Colour, Colour]
    result: Result
    scores: tuple[int, int]


class RecordingServer(Simulation):
    """Bots on the embedded server, and people who watch them."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        """Write session logs to a folder."""
        super().__init__(seed)
        self._folder = folder
        self._logs: dict[str, SessionLogWriter] = {}
        self.raw: dict[str, bytearray] = {}
        """What each bot or person has received, byte by byte."""
        self._people: dict[User, str] = {}
        self._tables: dict[int, ServerMatch] = {}
        self._over: set[int] = set()
        self.played: list[ServerGame] = []

    def log_of(self, name: str) -> Path:
        """Return where a bot's session log is."""
        return self._folder / f"{name}.jsonl"

    def capture_of(self, name: str) -> Path:
        """Write what somebody has received to a file; return where it is."""
        path = self._folder / f"{name}.txt"
        path.write_bytes(self.raw[name])
        return path

    def add(self, name: str, *args: Any, **settings: Any) -> Bot:
        """Put a bot in."""

        def clock() -> dt.datetime:
            return dt.datetime.fromtimestamp(NOON + self.now, dt.UTC)

        path = self.log_of(name)
        hide_password("pass:word", name)
        self._logs[name] = SessionLogWriter(
            path, secrets=["pass:word"], clock=clock, server="127.0.0.1:4321", user=name
        )
        self.raw[name] = bytearray()
        return super().add(name, *args, **settings)

    def close(self) -> None:
        """Close the logs."""
        for log in self._logs.values():
            log.close()
        super().close()

    def say(self, name: str, line: str) -> None:
        """Let a bot say something of which its agent knows nothing."""
        self._say(self.bots[name], line)

    # -- people -----------------------------------------------------------------------------------------------------

    def enter(self, name: str, *, moreboards: bool = True) -> None:
        """Let somebody log in with a client, who wants to see boards after throws, too, or not."""
        account = Account(name, PASSWORD_HASH)
        self._store.save_accounts(account)
        self.raw[name] = bytearray(BANNER.encode() + b"\r\n")
        user = sessions.log_in(self.world, account, ClientMode.CLIP, "127.0.0.1", "telnet")
        self._people[user] = name
        self._deliver_all()
        self.types(name, "set boardstyle 3")
        if not moreboards:
            self.types(name, "toggle moreboards")

    def types(self, name: str, line: str) -> None:
        """Let somebody type a line."""
        user = next(user for user, known in self._people.items() if known == name)
        dispatch.handle(self.world, user, line)
        self._deliver_all()

    # -- recording --------------------------------------------------------------------------------------------------

    def _deliver_all(self, bot: Bot | None = None, said: str = "") -> None:
        for user, message in self.world.outbox:
            if user in self._people:
                self.raw[self._people[user]] += "".join(f"{line}\r\n" for line in render(user, message)).encode()
        self._look_at_tables()
        super()._deliver_all(bot, said)

    def _look_at_tables(self) -> None:
        for user in self.world.users.values():
            if user.match is not None and user.match.game is None:
                self._tables[id(user.match)] = user.match
        for key, match in self._tables.items():
            if match.state.stage is not Stage.OVER:
                self._over.discard(key)
            elif key not in self._over and match.state.result is not None:
                self._over.add(key)
                lines = tuple(match.moves)
                self.played.append(
                    ServerGame(match.names, lines, match.colours, match.state.result, match.state.scores)
                )

    def _say(self, bot: Bot, text: str) -> None:
        self._logs[bot.name].sent(f"{text}\r\n".encode())
        super()._say(bot, text)

    def _arrive(self, bot: Bot, link: int, text: str) -> None:
        if bot.link == link and bot.up:
            self._logs[bot.name].received(text.encode())
            self.raw[bot.name] += text.encode()
        super()._arrive(bot, link, text)

    def _do(self, bot: Bot, action: Action) -> None:
        if isinstance(action, Record):
            self._logs[bot.name].event(action.name, **action.fields)
        super()._do(bot, action)
