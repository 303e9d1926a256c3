"""A script for the agent: the lines of the server, the expected commands, and the time that passes."""

from __future__ import annotations

from typing import Any

from fibs_protocol.grammar import write_command
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import Colour
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import (
    Action,
    Ask,
    Connected,
    ConnectionLost,
    DecisionKey,
    Disconnect,
    Event,
    FinishRequested,
    MessageReceived,
    Record,
    Send,
    SendLine,
    SendSecret,
    StrategyAnswered,
    WakeAt,
    Woken,
)
from fibsbot.bot.settings import AgentSettings, ChatSettings, Timings
from fibsbot.fibs_numbering import cells_from_position
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer
from fibsbot.strategies.questions import (
    AcceptAnswer,
    PlayQuestion,
    ResignationQuestion,
    RollQuestion,
    StrategyAnswer,
    TakeQuestion,
)
from tests.bot.live_bots import agent_settings

ME = "marvin"
OWN_INFO = f"2 {ME} 1 1 0 0 0 0 1 1 2396 0 1 0 1 1457.85 0 1 0 0 0 UTC"
"""Line 2 with all settings as the agent wants them."""
PROMPT = "It's your turn. Please roll or double"
TIME = "Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )"
"""The answer to `time`."""
START_CELLS = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
"""The opening position: O, from 24 to 1, has five checkers on 6."""


def board(
    *,
    player: str = "You",
    opponent: str = "ford",
    length: int = 5,
    score: str = "0:0",
    cells: str = START_CELLS,
    turn: int = 1,
    dice: str = "0:0",
    other_dice: str = "0:0",
    cube: int = 1,
    may: str = "1:1",
    doubled: int = 0,
    colour: int = 1,
    direction: int = -1,
    can_move: int = 2,
    crawford: int = 0,
) -> str:
    """Return a `board:` line. The numbers of checkers off and on the bar follow from the cells."""
    counts = [int(cell) for cell in cells.split(":")]
    own = [n * colour for n in counts]
    bars = {-1: (own[25], -own[0]), 1: (own[0], -own[25])}[direction]
    off = 15 - sum(n for n in own if n > 0)
    other_off = 15 + sum(n for n in own if n < 0)
    home = "0:25" if direction < 0 else "25:0"
    return (
        f"board:{player}:{opponent}:{length}:{score}:{cells}:{turn}:{dice}:{other_dice}:{cube}:{may}:{doubled}:"
        f"{colour}:{direction}:{home}:{off}:{other_off}:{bars[0]}:{bars[1]}:{can_move}:0:{crawford}:0"
    )


def after(cells: str, play: Play, colour: Colour = Colour.O, direction: int = -1) -> str:
    """Return the cells of a board after a play by the player of this colour and direction."""
    ordered = [int(n) * colour for n in cells.split(":")][::-direction]
    position = Position(tuple(ordered))
    return ":".join(str(n) for n in cells_from_position(position.play(play), colour, direction))


class Script:
    """An agent that is driven by a script."""

    def __init__(self, **settings: Any) -> None:
        """Create an agent called ME without any pauses, unless the settings have some."""
        settings.setdefault("timings", Timings(pause=0, invitation=1))
        settings.setdefault("strict", True)
        settings.setdefault("chat", ChatSettings(greet=False))
        self.agent = Agent(agent_settings(settings.pop("name", ME), "pass:word", **settings))
        self.now = 1000.0
        self.questions: list[Ask] = []
        """Questions without an answer yet."""
        self.records: list[Record] = []
        self.hang_ups: list[Disconnect] = []
        self.sent_so_far: list[str] = []
        self._reader = MessageReader()
        self._wake_at: float | None = None

    # -- events: each returns the lines that the agent sends ------------------------------------------------------

    def event(self, event: Event) -> list[str]:
        """Handle an event."""
        sent: list[str] = []
        for action in self.agent.handle(event):
            sent += self._do(action)
        self.sent_so_far += sent
        return sent

    def _do(self, action: Action) -> list[str]:
        match action:
            case Send(command):
                return [write_command(command)]
            case SendLine(line) | SendSecret(line):
                return [line]
            case Ask():
                self.questions.append(action)
            case Record():
                self.records.append(action)
            case WakeAt(at):
                self._wake_at = at
            case Disconnect():
                self.hang_ups.append(action)
        return []

    def connect(self) -> list[str]:
        """Connect."""
        self._reader = MessageReader()
        return self.event(Connected(self.now))

    def lose(self, *, by_server: bool = False) -> list[str]:
        """Lose the connection."""
        return self.event(ConnectionLost(self.now, "test", by_server))

    def finish(self) -> list[str]:
        """Request the end of the run."""
        return self.event(FinishRequested(self.now))

    def raw(self, data: bytes) -> list[str]:
        """Receive bytes."""
        self._reader.receive_data(data)
        sent: list[str] = []
        while (received := self._reader.next_message()) is not None:
            sent += self.event(MessageReceived(self.now, received.message))
        return sent

    def server(self, *lines: str) -> list[str]:
        """Receive lines of the server, a millisecond apart."""
        sent: list[str] = []
        for line in lines:
            self.now += 0.001
            sent += self.raw(line.encode() + b"\r\n")
        return sent

    def wait(self, seconds: float) -> list[str]:
        """Advance the clock, and wake the agent whenever it is due."""
        end = self.now + seconds
        sent: list[str] = []
        while self._wake_at is not None and self._wake_at <= end:
            self.now, self._wake_at = max(self.now, self._wake_at), None
            sent += self.event(Woken(self.now))
        self.now = end
        return sent

    def answer(self, answer: StrategyAnswer) -> list[str]:
        """Answer the oldest question."""
        ask = self.questions.pop(0)
        return self.event(StrategyAnswered(self.now, ask.key, answer))

    def roll(self) -> list[str]:
        """Answer the oldest question: roll."""
        return self.answer(CubeAnswer(CubeAction.ROLL))

    def cube(self, action: CubeAction) -> list[str]:
        """Answer the oldest question with a cube action."""
        return self.answer(CubeAnswer(action))

    def verdict(self, *, accepted: bool) -> list[str]:
        """Answer the oldest question: yes or no."""
        return self.answer(AcceptAnswer(accepted))

    def first_play(self) -> list[str]:
        """Answer the oldest question with the first of its plays."""
        return self.answer(PlayAnswer(self.plays()[0]))

    def plays(self) -> tuple[Play, ...]:
        """Return the plays of the oldest question."""
        question = self.questions[0].question
        assert isinstance(question, PlayQuestion)
        return question.plays

    @property
    def key(self) -> DecisionKey:
        """The key of the oldest question, about a decision in a game."""
        key = self.questions[0].key
        assert isinstance(key, DecisionKey)
        return key

    @property
    def state(self) -> MatchState:
        """The state of the oldest question."""
        question = self.questions[0].question
        assert isinstance(question, PlayQuestion | RollQuestion | TakeQuestion | ResignationQuestion)
        return question.state

    def to_my_move(self, length: int = 5) -> Script:
        """Roll 6 and 4, and wait for the question about the play."""
        self.to_my_roll(length)
        assert ["roll"] == self.roll()
        rolled = board(cells=AFTER_61, dice="6:4", length=length)
        assert [] == self.server("You roll 6 and 4.", rolled, "Please move 2 pieces.")
        return self

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of all records with this name."""
        return [dict(record.fields) for record in self.records if record.name == name]

    # -- common situations ----------------------------------------------------------------------------------------

    def to_lobby(
        self, own_info: str = OWN_INFO, saved: tuple[str, ...] = ("no saved games.",), seat: tuple[str, ...] = ()
    ) -> Script:
        """Log in with all settings right; `seat` comes from a server that keeps a seat at a chouette."""
        assert [] == self.connect()
        assert [f"login {AgentSettings('x', 'y').client} 1008 {ME} pass:word"] == self.raw(b"WELCOME\r\nlogin: ")
        who = f"5 {ME} - - 1 0 1500.00 0 0 1 h - -"
        sent = self.server(f"1 {ME} 1041253132 192.168.1.1", own_info, "3", "Be nice.", "4", who, "6")
        assert ["show saved"] == sent
        sent = self.server(*saved)
        if "laws on" in sent:
            sent = self.server("You will be shown invitations to matches by other laws than those of FIBS.")
        if "set games on" in sent:
            sent = self.server(*seat, "Value of 'games' set to on.")
        assert ["set boardstyle 3"] == sent
        self.server("Value of 'boardstyle' set to 3.")
        return self

    def to_match(self, length: int = 5) -> Script:
        """Accept ford's invitation."""
        self.to_lobby()
        assert [] == self.server(f"ford wants to play a {length} point match with you.", "Type 'join ford' to accept.")
        assert [] == self.verdict(accepted=True)
        assert ["join ford"] == self.wait(1.5)
        assert [] == self.server(
            f"** You are now playing a {length} point match with ford", "Starting a new game with ford."
        )
        return self

    def to_their_turn(self, length: int = 5) -> Script:
        """Let ford win the opening roll."""
        self.to_match(length)
        assert [] == self.server(
            "You rolled 1, ford rolled 6",
            "ford makes the first move.",
            board(length=length, turn=-1, other_dice="6:1"),
        )
        return self

    def to_my_roll(self, length: int = 5) -> Script:
        """Let ford play 8/2 6/5, seen from the other side; the prompt to roll follows."""
        self.to_their_turn(length)
        assert [] == self.server(
            "ford moves 17-23 19-20 .",
            board(length=length, cells=AFTER_61),
            PROMPT,
        )
        return self


AFTER_61 = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-2:0:-4:-1:0:0:-1:2:0"
"""The opening position after X played 17-23 19-20."""
ROLLED_64 = board(cells=AFTER_61, dice="6:4")
"""The board after our roll of 6 and 4 there."""
