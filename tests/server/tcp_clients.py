"""Raw clients over TCP, which send and read bytes without using our own client code."""

from __future__ import annotations

import asyncio
import random
from typing import ClassVar, Final

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import parse
from fibsbot.fibs_numbering import play_to_fibs, player_position
from fibsbot.rules.plays import legal_plays
from fibsbot.server.limits import ServerLimits
from tests.patience import SOON

PASSWORD: Final = "secret_word"
CHEAP: Final = ServerLimits(password_cost=2**4)
"""Limits as usual, with passwords that cost no time."""


class Raw:
    """A connection."""

    opened: ClassVar[list[Raw]] = []
    """Every connection of the running test, to be closed after it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Wrap the streams of a connection, see `connect`."""
        self.reader = reader
        self.writer = writer
        self.seen = b""
        """Everything read so far."""
        self.opened.append(self)

    @classmethod
    async def connect(cls, port: int) -> Raw:
        """Connect and read up to the first prompt."""
        raw = cls(*await asyncio.open_connection("127.0.0.1", port))
        await raw.until("login: ")
        return raw

    @classmethod
    async def log_in(cls, port: int, name: str) -> Raw:
        """Connect and log in as a client."""
        raw = await cls.connect(port)
        await raw.ask(f"login test 1008 {name} {PASSWORD}", "\n6\r\n")
        return raw

    def send(self, line: str | bytes) -> None:
        """Send a line."""
        self.writer.write((line.encode() if isinstance(line, str) else line) + b"\r\n")

    async def until(self, text: str) -> str:
        """Read until a text is received; return everything up to its end."""
        async with asyncio.timeout(SOON):
            data = await self.reader.readuntil(text.encode())
        self.seen += data
        return data.decode("latin-1")

    async def ask(self, line: str, text: str) -> str:
        """Send a line and read until a text is received."""
        self.send(line)
        return await self.until(text)

    async def rest(self) -> str:
        """Read until the server closes the connection."""
        async with asyncio.timeout(SOON):
            data = await self.reader.read()
        self.seen += data
        return data.decode("latin-1")

    async def close(self) -> None:
        """Close the connection."""
        self.writer.close()
        await asyncio.wait([asyncio.ensure_future(self.writer.wait_closed())], timeout=SOON)


async def register(port: int, *names: str) -> None:
    """Register users as guests do."""
    for name in names:
        raw = await Raw.connect(port)
        for line, prompt in (("guest", "> "), (f"name {name}", "password: ")):
            await raw.ask(line, prompt)
        await raw.ask(PASSWORD, "retype your password: ")
        await raw.ask(PASSWORD, "Type 'help beginner' to get started.")
        raw.send("bye")
        await raw.rest()


@define
class Player:
    """A client that plays whole matches: random legal plays, sometimes a double or a resignation."""

    raw: Raw
    opponent: str
    random: random.Random
    doubles: float = 0.1
    """Probability of doubling when it is allowed."""
    resigns: float = 0.0
    """Probability of offering to resign before a move."""
    board: BoardState | None = None
    refusals: list[str] = field(factory=list)
    """`**` lines that refused a command."""
    unknown: list[str] = field(factory=list)
    """Lines of a game that the grammar does not know."""
    boards: int = 0
    _to_open: bool = False
    """Whether to move at the next board."""
    _asked: bool = False
    """Whether a board was requested and has not been received."""

    async def play(self) -> m.MatchWon:
        """Play until the match ends; return its last message."""
        while True:
            async with asyncio.timeout(SOON):
                line = (await self.raw.reader.readline()).decode().rstrip("\r\n")
            if self.raw.reader.at_eof():
                raise EOFError
            message = parse(line)
            if isinstance(message, m.MatchWon):
                return message
            self.react(message, line)

    def react(self, message: m.Message, line: str) -> None:
        """Answer a message."""
        match message:
            case m.Refusal():
                self.refusals.append(line)
            case m.Unknown() | m.RefusedBoard() if line:
                self.unknown.append(line)
            case m.Board(state):
                self.board = state
                self.boards += 1
                self._asked = False
                if self._to_open:
                    self._to_open = False
                    self.move()
            case m.CannotMove() | m.YouResumed() | m.OpponentResumed():
                self._asked = True
                self.raw.send("board")
            case m.FirstMove("You"):
                self._to_open = True
            case m.MovePrompt() if self._asked:
                self._to_open = True
            case m.MovePrompt() | m.ResignRejected("alice" | "bob"):
                self.move()
            case _:
                self.answer(message)

    def answer(self, message: m.Message) -> None:
        """Answer a question about the cube, a resignation or the next game."""
        match message:
            case m.RollOrDouble():
                self.raw.send("double" if self.random.random() < self.doubles else "roll")
            case m.OpponentDoubles() | m.OpponentRedoubles():
                self.raw.send("accept" if self.random.random() < 0.8 else "reject")
            case m.ResignOffer(_, "You"):
                self.raw.send("accept" if self.random.random() < 0.5 else "reject")
            case m.JoinNextGame():
                self.raw.send("join")

    def move(self) -> None:
        """Make a random legal play, or offer to resign."""
        if self.random.random() < self.resigns:
            self.raw.send(f"resign {self.random.choice('ngb')}")
            return
        board = self.board
        assert board is not None
        play = self.random.choice(legal_plays(player_position(board), board.dice))
        moves = play_to_fibs(play, board.direction)
        self.raw.send("move " + " ".join(f"{move.source or 'bar'}-{move.target or 'off'}" for move in moves))


async def two_raw_players(port: int, seed: int, *names: str) -> tuple[Player, Player]:
    """Log in two players who are ready and read raw boards."""
    players = []
    for name, opponent in zip(names, reversed(names), strict=True):
        raw = await Raw.log_in(port, name)
        for command in ("set boardstyle 3", "toggle ready", "toggle notify"):
            raw.send(command)
        await raw.ask("port", "running on port")
        players.append(Player(raw, opponent, random.Random(f"{seed}{name}")))
    return players[0], players[1]
