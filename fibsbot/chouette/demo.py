"""`fibsbot demo --game chouette`: players at one table of the embedded server, and what is shown of it.

The player is small: one connection, and a strategy that decides as box, captain or member of the team. `fibsbot run`
plays matches, whose two players stay the same until the end; at a chouette the opponent changes with every game, and
members decide without playing. So this is a client of its own. It asks for the board before each decision, and needs
nothing else to know the position. It never resigns.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field
from rich.box import SIMPLE_HEAD
from rich.table import Table

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.commands import Command
from fibs_protocol.grammar import write, write_command
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import YOU, Dice, FibsMove, Setting
from fibsbot.arena.demo import Display
from fibsbot.arena.match_board import roll_text
from fibsbot.bot.decisions import BOARD_LINES, command_for, obvious_answer, question_for
from fibsbot.bot.settings import AgentSettings, PlaySettings
from fibsbot.chouette.bot import PHASES
from fibsbot.chouette.rules import BOX, Chouette
from fibsbot.chouette.table import all_tables
from fibsbot.client.connection import Connection, connect
from fibsbot.fibs_numbering import match_state, play_from_fibs, player_position
from fibsbot.match import Phase
from fibsbot.notation import format_play
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.rules.laws import Level
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import StrategyChain, TimedAnswer
from fibsbot.strategies.questions import Question, StrategyAnswer

CLIENT: Final = "chouette"
"""The name by which the player logs in as a client."""
SILENCE: Final = 600.0
"""Seconds without a line after which a connection is given up; the server drops a late player sooner."""
DEADLINE: Final = 30.0
"""Seconds that a strategy has for a decision."""
NEXT_GAME: Final = "next game: "
"""How the server's last line about a game begins."""
_SETTINGS: Final = AgentSettings("", "", play=PlaySettings(resign=False))
"""The players decide as a bot with these settings."""


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
                self.send(c.SetCommand(Setting.BOARDSTYLE, "3"))
                self.send(c.Chouette("open" if self.host is None else f"join {self.host}"))
            case m.Refusal():
                raise ChouetteError(f"the server refuses a command of {self.name}: {message}")
            case m.ChouetteNews(text):
                self._read_news(text)
            case m.RollOrDouble() | m.MovePrompt() | m.FirstMove(player="You") | m.OpponentDoubles():
                self._awaited = PHASES[type(message)]
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
        question = question_for(state, _SETTINGS, cube_closed=not board.may_double, resign_from=1)
        answer = obvious_answer(state, 0) or await _ask(chain, question)
        command = command_for(state, answer, BOARD_LINES, board.direction).command
        if self.pause:
            await asyncio.sleep(self.pause)
        self.observer.on_command(command, board)
        self.send(command)


async def _ask(chain: StrategyChain, question: Question) -> StrategyAnswer:
    """Return the answer of the first strategy that has one."""
    answered: asyncio.Future[StrategyAnswer] = asyncio.get_running_loop().create_future()

    def on_answer(answer: TimedAnswer) -> None:
        if answered.done():
            return
        if answer.answer is None:
            answered.set_exception(ChouetteError(f"no strategy has an answer: {answer.fallback}"))
        else:
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


NAMES: Final = ("alice", "bob", "carol", "dave", "erin", "frank")
"""The players of the demo; the first one opens the table, and the table is shown from this player's side."""


@define
class ChouetteSheet:
    """The games of a chouette and the ledger after each of them."""

    games: list[Chouette] = field(factory=list)
    """Each as it was when it ended."""

    def table(self) -> Table:
        """Return the sheet as a table."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))  # narrow: six players fit into 80 columns
        names = list(self.games[-1].ledger)
        for name in ("game", "box", "captain", "winner", "cube", "points", *names):
            table.add_column(name, no_wrap=True)
        for column in (table.columns[0], *table.columns[4:]):
            column.justify = "right"
        for number, game in enumerate(self.games, 1):
            result = game.game.result
            points = 0 if result is None or not game.in_game else result.points
            winner = "box" if result is not None and result.winner is BOX else "team"
            ledger = (f"{game.ledger[name]:+d}" if game.ledger[name] else "0" for name in names)
            table.add_row(str(number), game.box, game.captain, winner, str(game.game.cube), str(points), *ledger)
        return table


@define(eq=False)
class ChouetteCommentator(ChouetteObserver):
    """Prints a chouette as one of its players sees it, and fills the sheet."""

    display: Display
    sheet: ChouetteSheet
    player: str
    state: Callable[[], Chouette]
    """Returns the state of the table, which does not change before this player has acted or joined the next game."""
    _board: BoardState | None = None
    _dice: Dice = (0, 0)
    _doubled: bool = False
    """Whether the double that waits has been printed."""
    _doubler: str = ""
    """Who has doubled last."""

    def on_message(self, message: Message) -> None:
        """Print the meaning of a message."""
        match message:
            case m.ChouetteNews() | m.ChouetteTable() | m.ChouettePass() | m.ChouetteDropout() | m.ChouetteCaptain():
                self._print_news(write(message).removeprefix("chouette: "))
            case m.ChouetteResult(text=text):
                self.display.print(text)
            case m.ChouetteLedger(text):
                self.display.print(f"Ledger: {text}")
            case m.Board(state):
                self._board = state
                self.display.show_board(message)
            case m.FirstMove(player):
                self.display.print(f"{self._name(player)} has the first move.")
            case m.Rolls(player, dice):
                self._dice = dice
            case m.Moves(player, moves):
                self._print_play(player, moves)
            case m.CannotMove(player):
                self.display.print(f"{self._name(player)} {roll_text(self._dice)} cannot move")
            case m.GameWon(winner, points):
                self.display.print(f"{self._name(winner)} bears off and wins a {self._level(points)}.")
            case _:
                self._note_double(message)

    def _note_double(self, message: Message) -> None:
        """Print a double, and the answer of the box; those of the members are news of the table."""
        match message:
            case m.OpponentDoubles(player) | m.WatchedDouble(player):
                self._print_double(player)
            case m.DoubleAccepted() | m.GaveUp() if self._doubled:
                self._doubled = False
                if self._doubler != self.state().box:
                    answer = "takes" if isinstance(message, m.DoubleAccepted) else "passes"
                    self.display.print(f"{self.state().box} {answer}.")

    def on_command(self, command: Command, board: BoardState) -> None:
        """Print what the player does, which the server does not repeat; members' answers are news of the table."""
        if isinstance(command, c.Move):
            self._dice = board.dice
            self._board = board
            self._print_play(YOU, command.moves)
        elif isinstance(command, c.Double):
            self._print_double(YOU)

    def _print_news(self, text: str) -> None:
        if text.startswith(NEXT_GAME):
            self.sheet.games.append(self.state())
            self.display.print(text[:1].upper() + text[1:] + "\n")
        else:
            self.display.print(text)

    def _print_play(self, player: str, moves: tuple[FibsMove, ...]) -> None:
        board = self._board
        if board is None:
            return
        own = player == board.player
        direction = board.direction if own else -board.direction
        position = player_position(board) if own else player_position(board).swapped()
        dice = self._dice if any(self._dice) else board.dice if any(board.dice) else board.opponent_dice
        play = play_from_fibs(moves, direction)
        self.display.print(f"{self._name(player)} {roll_text(dice)} {format_play(play, position)}")
        self._dice = (0, 0)

    def _print_double(self, player: str) -> None:
        if not self._doubled:
            self._doubled = True
            self._doubler = self._name(player)
            value = 2 * self.state().game.cube
            self.display.print(f"{self._doubler} doubles to {value}.", with_board=True)

    def _level(self, points: int) -> str:
        level = Level(points // self.state().game.cube)
        return "single game" if level is Level.SINGLE else level.name.lower()

    def _name(self, player: str) -> str:
        return self.player if player == YOU else player


async def play(  # noqa: PLR0913 - what the command was given
    display: Display,
    strategies: Sequence[tuple[Strategy, Strategy]],
    *,
    games: int,
    seed: int | None,
    pause: float,
    log_path: Path | None,
) -> ChouetteSheet:
    """Play games of a chouette over TCP and show them; each player has a strategy and its fallback.

    Raises the errors of a ChouettePlayer in an ExceptionGroup.
    """
    sheet = ChouetteSheet()
    names = NAMES[: len(strategies)]
    async with Server(seed=seed, limits=SHORT_LIVED) as server:

        def state() -> Chouette:
            (table,) = all_tables(server.world)
            if table.state is None:
                raise AssertionError("a game has begun")
            return table.state

        players = [
            ChouettePlayer(name, secrets.token_urlsafe(16), *pair, games=games, host=names[0], pause=pause)
            for name, pair in zip(names, strategies, strict=True)
        ]
        first = players[0]
        first.host, first.log_path = None, log_path
        first.observer = ChouetteCommentator(display, sheet, first.name, state)
        with display:
            await play_chouette(server, players)
    return sheet
