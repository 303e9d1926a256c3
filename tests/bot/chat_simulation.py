"""A simulated world with an agent and people; everything that the people read is recorded."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import YOU, Departure, Toggle
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import (
    Action,
    Ask,
    Connected,
    ConnectionLost,
    Disconnect,
    Event,
    MessageReceived,
    Record,
    Send,
    StrategyAnswered,
    WakeAt,
    Woken,
)
from fibsbot.fibs_numbering import play_to_fibs, player_position
from fibsbot.match import MatchState
from fibsbot.rules.plays import legal_plays
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account
from fibsbot.server.audience import render
from fibsbot.server.database import Database
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import World
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import agent_settings
from tests.server.simulated_world import NOON, ListedDice

HOUR: Final = 3600
PACE: Final = 4.0
"""Seconds that people need for a play."""
PLAYED: Final = (
    *(m.Board, m.OpeningRoll, m.FirstMove, m.RollOrDouble, m.Rolls, m.MovePrompt, m.OnlyMove, m.BearsOff, m.CannotMove),
    *(m.Moves, m.CubeRaised, m.Score, m.YouSay, m.YouKibitz, m.YouInvited, m.YouInvitedToResume, m.Heard, m.ToggleSet),
    *(m.RatingStart, m.RatingDifference, m.RatingLength, m.RatingExperience, m.RatingUpset, m.RatingProbability),
    *(m.RatingFactor, m.RatingChange, m.ResumeTurn, m.ResumeLength, m.ResumePoints, m.WatchesYou, m.StopsWatching),
    *(m.Unknown, m.MotdLine, m.YouShout, m.YouWatch, m.StartsWatching),
)
"""Messages that are not recorded: the game itself, and answers to people's own commands."""


class Resigning(LastResort):
    """A strategy that resigns on request."""

    level: int = 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Resign once."""
        level, self.level = self.level, 0
        return level


class ChatSimulation:
    """The bot, the people, and their conversation."""

    def __init__(self, **settings: Any) -> None:
        """Start at eight in the evening; the bot, marvin, is not logged in yet."""
        self.now = float(NOON + 8 * HOUR)
        self._store = Database(None, self.now)
        self._world = World(self._store, ListedDice(), lambda: self.now)
        self.strategy = Resigning()
        self._settings = agent_settings("marvin", "pass_word", strict=True, **settings)
        self.agent = Agent(self._settings)
        self.lines: list[str] = []
        """The lines that people typed and read, each with the time and the name."""
        self.sent: list[str] = []
        """The commands of the bot."""
        self.records: list[Record] = []
        self._reader = MessageReader()
        self._bot: User | None = None
        self._wake_at: float | None = None
        self._players: dict[str, User] = {}
        self._typing: list[tuple[float, str, str]] = []
        self._delivering = False
        self._questions: list[Ask] = []

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    @property
    def present(self) -> set[str]:
        """The people who are logged in."""
        return set(self._world.users)

    # -- the steps of a scene -----------------------------------------------------------------------------------------

    def title(self, text: str) -> None:
        """Record a heading."""
        self.lines += ["", f"# {text}"]

    def enter(self, name: str, rating: float = 1500, *, client: str | None = None, notify: bool = False) -> None:
        """Log in a person who reads plain lines, with `notify` also about the logins of others."""
        account = self._account(name, rating, 500)
        account.settings.boardstyle = 3
        for toggle in (Toggle.READY, Toggle.AUTOBOARD, Toggle.MOREBOARDS, Toggle.NOTIFY, Toggle.AUTOMOVE):
            account.settings[toggle] = notify if toggle is Toggle.NOTIFY else toggle is not Toggle.AUTOMOVE
        self._players[name] = sessions.log_in(self._world, account, ClientMode.TELNET, "127.0.0.1", client)
        self._world.outbox = [(user, message) for user, message in self._world.outbox if user.name != name]
        self._deliver()

    def leave(self, name: str, how: Departure = Departure.LOGGED_OUT) -> None:
        """Log out a person."""
        self._note(name, "(logs out)" if how is Departure.LOGGED_OUT else "(loses the connection)")
        sessions.log_out(self._world, self._players.pop(name), how)
        self._deliver()

    def types(self, name: str, *lines: str) -> None:
        """Type lines as a person, and run for ten seconds after each."""
        for line in lines:
            self._note(name, f"> {line}")
            self._carry_out(name, line)
            self.wait(10)

    def connect(self) -> None:
        """Log in the bot."""
        self._reader = MessageReader()
        self._event(Connected(self.now))
        self._hear(b"login: ")
        self.wait(30)

    def lose_connection(self) -> None:
        """Break the bot's connection."""
        assert self._bot is not None
        sessions.log_out(self._world, self._bot, Departure.DROPPED)
        self._bot = None
        self._deliver()
        self._event(ConnectionLost(self.now, "test"))

    def wait(self, seconds: float) -> None:
        """Advance the clock: people play, and the bot is woken when it is due."""
        end = self.now + seconds
        while due := self._next_due(end):
            self.now = max(self.now, due)
            if self._wake_at is not None and self._wake_at <= due:
                self._wake_at = None
                self._event(Woken(self.now))
            else:
                _, name, line = self._typing.pop(0)
                if name in self._players and self._players[name].match is not None:
                    self._carry_out(name, line)
        self.now = end

    # -- implementation -----------------------------------------------------------------------------------------------

    def _next_due(self, end: float) -> float | None:
        times = [at for at in (self._wake_at, self._typing[0][0] if self._typing else None) if at is not None]
        due = min(times, default=end + 1)
        return due if due <= end else None

    def _account(self, name: str, rating: float, experience: int) -> Account:
        account = self._store.account(name) or Account(name, "", rating, experience)
        self._store.save_accounts(account)
        return account

    def _note(self, name: str, text: str) -> None:
        time = dt.datetime.fromtimestamp(self.now, dt.UTC)
        self.lines.append(f"{time:%H:%M:%S}  {name:<11}  {text}".rstrip())

    def _carry_out(self, name: str, line: str) -> None:
        dispatch.handle(self._world, self._players[name], line)
        self._deliver()

    def _deliver(self) -> None:
        """Deliver the messages of the server in their order, then execute the actions of the bot."""
        if self._delivering:
            return
        self._delivering = True
        while self._world.outbox:
            user, message = self._world.outbox.pop(0)
            if user is self._bot:
                self._hear("".join(f"{line}\r\n" for line in render(user, message)).encode())
            elif user.name in self._players:
                self._read(user, message)
        self._world.disconnecting.clear()
        self._delivering = False

    def _read(self, user: User, message: Message) -> None:
        of_others = isinstance(message, m.Shouts | m.Kibitzes) and message.name != "marvin"
        if not isinstance(message, PLAYED) and not of_others:
            for line in render(user, message):
                self._note(user.name, line)
        match message:
            case m.Board(board) if board.player == YOU:
                if board.turn is board.colour and board.dice != (0, 0):
                    self._later(user, _first_play(board))
            case m.CannotMove("You"):
                self._typing = [item for item in self._typing if item[1] != user.name]
            case m.RollOrDouble():
                self._later(user, "roll")
            case m.JoinNextGame():
                self._later(user, "join")

    def _later(self, user: User, line: str) -> None:
        self._typing = [item for item in self._typing if item[1] != user.name]
        self._typing.append((self.now + PACE, user.name, line))

    def _hear(self, data: bytes) -> None:
        self._reader.receive_data(data)
        while (received := self._reader.next_message()) is not None:
            self._event(MessageReceived(self.now, received.message))

    def _event(self, event: Event) -> None:
        for action in self.agent.handle(event):
            self._do(action)
        while self._questions:
            ask = self._questions.pop(0)
            self._event(StrategyAnswered(self.now, ask.key, ask.question.put_to(self.strategy)))
        self._deliver()

    def _do(self, action: Action) -> None:
        match action:
            case Send(c.Login(client=client)):
                account = self._account("marvin", 1650, 2000)
                self._bot = sessions.log_in(self._world, account, ClientMode.CLIP, "127.0.0.1", client)
            case Send(command) if self._bot:
                self.sent.append(write_command(command))
                dispatch.handle(self._world, self._bot, self.sent[-1])
            case Ask():
                self._questions.append(action)
            case Record():
                self.records.append(action)
            case WakeAt(at):
                self._wake_at = at
            case Disconnect():
                self._wake_at = None


def _first_play(board: BoardState) -> str:
    play = legal_plays(player_position(board), board.dice)[0]
    return write_command(c.Move(play_to_fibs(play, board.direction)))
