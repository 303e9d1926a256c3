"""A small player for chouettes: one connection, and a strategy that decides as box, captain or member of the team.

`fibsbot run` plays matches, whose two players stay the same until the end; at a chouette the opponent changes with
every game, and members decide without playing. So this is a client of its own. It asks for the board before each
decision, and needs nothing else to know the position. It never resigns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import Setting, Toggle
from fibsbot.client.connection import Connection, connect
from fibsbot.fibs_numbering import match_state, play_to_fibs
from fibsbot.match import Phase
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.rules.plays import legal_plays
from fibsbot.server.server import Server
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.pool import StrategyChain, TimedAnswer
from fibsbot.strategies.questions import PlayQuestion, Question, RollQuestion, StrategyAnswer, TakeQuestion

CLIENT: Final = "chouette"
"""The name by which the player logs in as a client."""
SILENCE: Final = 600.0
"""Seconds without a line after which a connection is given up; the server drops a late player sooner."""
DEADLINE: Final = 30.0
"""Seconds that a strategy has for a decision."""
NEXT_GAME: Final = "next game: "
"""How the server's last line about a game begins."""
_PHASES: Final[dict[type[Message], Phase]] = {
    m.RollOrDouble: Phase.ROLL,
    m.FirstMove: Phase.MOVE,
    m.MovePrompt: Phase.MOVE,
    m.OpponentDoubles: Phase.DOUBLED,
}
"""The decisions that the server asks for."""
_CUBE_COMMANDS: Final[dict[CubeAction, Command]] = {
    CubeAction.ROLL: c.Roll(),
    CubeAction.DOUBLE: c.Double(),
    CubeAction.TAKE: c.Accept(),
    CubeAction.PASS: c.Reject(),
}


class ChouetteError(Exception):
    """A chouette cannot go on; the text is one line and says why."""


class ChouetteObserver:
    """Sees what a player receives and sends; does nothing."""

    def on_message(self, message: Message) -> None:
        """Note a message of the server, before it is acted on."""

    def on_command(self, command: Command, board: BoardState) -> None:
        """Note a decision, with the board on which it was made, before it is sent."""


@define(eq=False)
class ChouettePlayer:
    """A player who takes a seat at a table and plays until enough games are over."""

    name: str
    password: str = field(repr=False)
    strategy: Strategy
    fallback: Strategy
    """Decides when the strategy is late, raises or answers nonsense."""
    games: int
    """The number of games to play."""
    host: str | None = None
    """The player whose table to join; None opens one."""
    observer: ChouetteObserver = field(factory=ChouetteObserver)
    pause: float = 0.0
    """Seconds before each decision is sent."""
    log_path: Path | None = None
    """Where to write the session log."""
    seated: asyncio.Event = field(factory=asyncio.Event)
    """Set once the player has a seat."""
    finished: bool = False
    _connection: Connection | None = None
    _log: SessionLogWriter | None = None
    _awaited: Phase | None = None
    """The decision for which the board has been requested."""
    _asked_to_join: int = 0
    """How often the server has asked to join the next game."""
    _announced: int = 0
    """How many games' last line has come."""

    async def run(self, server: Server) -> None:
        """Log in and play.

        Raises:
            ChouetteError: if the server closes the connection or refuses a command.
            ConnectionFailedError: if the connection breaks.
        """
        reader = MessageReader(banner=True)
        chain = StrategyChain((self.strategy, self.fallback), DEADLINE)
        self._log = (
            None
            if self.log_path is None
            else SessionLogWriter(self.log_path, server=f"{server.host}:{server.port}", user=self.name)
        )
        self._connection = await connect(server.host, server.port)
        try:
            while not self.finished:
                data = await self._connection.read(SILENCE)
                if not data:
                    raise ChouetteError(f"the server has closed the connection of {self.name}")
                if self._log is not None:
                    self._log.received(data)
                reader.receive_data(data)
                await self._handle_all(reader, chain)
        finally:
            self._connection.close()
            chain.close()
            if self._log is not None:
                self._log.close()

    async def _handle_all(self, reader: MessageReader, chain: StrategyChain) -> None:
        """Handle what has been received, up to the last line of the last game."""
        while (item := reader.next_message()) is not None:
            self.observer.on_message(item.message)
            await self._handle(item.message, chain)
            if self.finished:
                return

    def send(self, *commands: Command) -> None:
        """Send commands."""
        if self._connection is None:
            raise ChouetteError(f"{self.name} is not connected")
        for command in commands:
            data = write_command(command).encode("ascii") + b"\r\n"
            if self._log is not None:
                self._log.sent(data)
            self._connection.write(data)

    async def _handle(self, message: Message, chain: StrategyChain) -> None:
        match message:
            case m.LoginPrompt():
                self.send(c.Login(CLIENT, self.name, self.password))
            case m.OwnInfo():
                self.send(c.SetCommand(Setting.BOARDSTYLE, "3"), c.ToggleCommand(Toggle.AUTOMOVE))
                self.send(c.Chouette("open" if self.host is None else f"join {self.host}"))
            case m.Refusal():
                raise ChouetteError(f"the server refuses a command of {self.name}: {message}")
            case m.ChouetteNews(text):
                self._read_news(text)
            case m.RollOrDouble() | m.MovePrompt() | m.FirstMove(player="You") | m.OpponentDoubles():
                self._awaited = _PHASES[type(message)]
                self.send(c.ShowBoard())
            case m.JoinNextGame():
                self._asked_to_join += 1
                if self._asked_to_join < self.games:
                    self.send(c.Join())
                self._finish_if_over()
            case m.Board(state) if self._awaited is not None:
                phase, self._awaited = self._awaited, None
                await self._decide(state, phase, chain)

    def _read_news(self, text: str) -> None:
        if text.startswith((f"{self.name} takes a seat", "your table is open")):
            self.seated.set()
        elif text.startswith(NEXT_GAME):
            self._announced += 1
            self._finish_if_over()

    def _finish_if_over(self) -> None:
        """Finish after the last game; box and captain are asked to join before its last line, the others after it."""
        self.finished = min(self._asked_to_join, self._announced) >= self.games

    async def _decide(self, board: BoardState, phase: Phase, chain: StrategyChain) -> None:
        """Decide on a board, which a member of the team sees from the captain's side."""
        state = match_state(board, phase=phase)
        command: Command
        if phase is Phase.MOVE:
            plays = legal_plays(state.position, board.dice)
            play = plays[0]
            if len(plays) > 1:
                answer = await _ask(chain, PlayQuestion(state, plays))
                play = answer.play if isinstance(answer, PlayAnswer) else play
            command = c.Move(play_to_fibs(play, board.direction))
        else:
            question: Question = (
                TakeQuestion(state)
                if phase is Phase.DOUBLED
                else RollQuestion(state, may_double=board.may_double, resign_to=0)
            )
            answer = await _ask(chain, question)
            action = answer.action if isinstance(answer, CubeAnswer) else CubeAction.ROLL
            command = _CUBE_COMMANDS[action]
        if self.pause:
            await asyncio.sleep(self.pause)
        self.observer.on_command(command, board)
        self.send(command)


async def _ask(chain: StrategyChain, question: Question) -> StrategyAnswer:
    """Return the answer of the first strategy that has one."""
    answered: asyncio.Future[StrategyAnswer] = asyncio.get_running_loop().create_future()

    def on_answer(answer: TimedAnswer) -> None:
        if not answered.done():
            answered.set_result(answer.answer)

    chain.ask(question, on_answer)
    return await answered


async def play_chouette(server: Server, players: Sequence[ChouettePlayer]) -> None:
    """Register players, let them take their seats one after the other, the first of whom opens the table, and play.

    Raises the errors of `ChouettePlayer.run` in an ExceptionGroup.
    """
    for player in players:
        await server.register(player.name, player.password)
    async with asyncio.TaskGroup() as group:
        for player in players:
            group.create_task(player.run(server))
            await player.seated.wait()
        players[0].send(c.Chouette("start"))
