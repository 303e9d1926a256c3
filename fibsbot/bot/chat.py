"""What the bot says to people, and what it understands (docs/chat.md).

It answers by tell, never shouts, and says nothing to other bots, so that no two of them talk to each other for ever.
What it says goes out when no decision of ours is due; what could not be said in time is not said at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import LOGGED_IN

from fibsbot.bot import chat_text
from fibsbot.bot.chat_text import Nudge, Topic, is_courtesy, nudge_of, topic_of
from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext
from fibsbot.bot.current_match import Matches, bot_status
from fibsbot.bot.decision_flow import DecisionFlow
from fibsbot.bot.interface import FinishRequested, PauseRequested, QuitRequested, event_for_order
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.orders import Order, parse_order
from fibsbot.bot.settings import ChatSettings
from fibsbot.policy import describe_policy, is_bot

REPLY_MAX_AGE: Final = 60.0
"""Seconds in which an answer is still one; a line that could not be said by then is dropped."""
NUDGE_PAUSE: Final = 10.0
"""Seconds between two looks because the opponent wonders."""
MAX_A_MINUTE: Final = 12
"""Answers within any minute, whoever asks."""
MAX_TOLD: Final = 2_000
"""Answers that are kept in mind, so as not to repeat them."""
MAX_GREETED: Final = 1_000
"""Opponents of unfinished matches who need no second greeting."""
MAX_WATCHERS: Final = 20
"""Watchers of a match who are greeted."""


OperatorEvent: TypeAlias = FinishRequested | QuitRequested | PauseRequested
"""What an order can come to."""


class Chat:
    """Talks to people."""

    def __init__(  # noqa: PLR0913 - the parts that it speaks about or acts through
        self,
        desk: AgentContext,
        outbox: CommandQueue,
        lobby: Lobby,
        matches: Matches,
        *,
        turns: DecisionFlow,
        carry_out: Callable[[OperatorEvent], None],
    ) -> None:
        """Have said nothing; `carry_out` does what an operator orders."""
        self._desk = desk
        self._outbox = outbox
        self._lobby = lobby
        self._matches = matches
        self._turns = turns
        self._carry_out = carry_out
        self._began: float | None = None
        self._told: dict[tuple[str, Topic | None], float] = {}
        """When who was told what; None is the hint."""
        self._answers: deque[float] = deque(maxlen=MAX_A_MINUTE)
        self._opponent: str | None = None
        self._greeted: dict[str, None] = {}
        """Opponents who were greeted, and whose match is not over yet."""
        self._watchers: set[str] = set()
        self._nudged: float | None = None

    # -- listening ----------------------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Listen."""
        self._began = self._desk.now if self._began is None else self._began
        self._follow_match(message)
        match message:
            case m.Says(name=name, text=text):
                if name in self._settings.operators and (order := parse_order(text)):
                    self._obey(name, order)
                else:
                    self._hear(name, text, direct=True)
            case m.Kibitzes(name=name, text=text) if name == self._opponent:
                self._hear(name, text, direct=False)
            case m.WatchesYou(name=name):
                self._welcome(name)
            case m.LoggedOut(name=name):
                self._outbox.hush(name)

    @property
    def _settings(self) -> ChatSettings:
        return self._desk.settings.chat

    def _listens_to(self, name: str) -> bool:
        """Whether this is somebody to talk to: no bot, no reputation service, not ourselves."""
        info = self._lobby.who.get(name)
        if name == self._desk.settings.name or is_bot(name, info.client if info else None):
            return False
        return not any(rule.matches(name) for rule in self._settings.ignore)

    def _hear(self, name: str, text: str, *, direct: bool) -> None:
        own_name = self._desk.settings.name
        if name == self._opponent and (nudge := nudge_of(text, own_name)):
            self._look_again(nudge)
        elif self._settings.answer and self._listens_to(name):
            if topic := topic_of(text, own_name):
                self._tell_once(name, topic, self._answer(name, topic))
            elif direct and not is_courtesy(text, own_name):
                self._hint(name)

    # -- answering ----------------------------------------------------------------------------------------------

    def _answer(self, name: str, topic: Topic) -> str:
        desk = self._desk
        match topic:
            case Topic.HELP:
                return chat_text.help_text(operator=name in self._settings.operators)
            case Topic.SETTINGS:
                return describe_policy(desk.settings.policy)
            case Topic.STATS:
                return chat_text.stats_text(desk.counters, desk.now - (self._began or desk.now))
            case Topic.SCORE:
                status = bot_status(desk, self._matches, self._lobby)
                to_opponent = name == status.opponent
                return chat_text.score_text(status.opponent, status.length, status.score, to_opponent=to_opponent)
            case Topic.WHO:
                return chat_text.who_text(desk.settings.client)

    def _hint(self, name: str) -> None:
        """Say where to find help, unless we have told this player anything lately."""
        if not any(self._was_told(name, topic) for topic in (None, *Topic)):
            self._tell_once(name, None, chat_text.HINT)

    def _was_told(self, name: str, topic: Topic | None) -> bool:
        at = self._told.get((name, topic))
        return at is not None and self._desk.now < at + self._settings.window

    def _tell_once(self, name: str, topic: Topic | None, text: str) -> None:
        """Tell somebody something, unless it was told lately, or too much was told to everybody."""
        now = self._desk.now
        flooded = len(self._answers) == MAX_A_MINUTE and now < self._answers[0] + 60
        if flooded or self._was_told(name, topic) or not self._say(c.Tell(name, chat_text.chat_line(text))):
            return
        self._answers.append(now)
        self._told.pop((name, topic), None)
        if len(self._told) >= MAX_TOLD:
            del self._told[next(iter(self._told))]
        self._told[name, topic] = now
        self._desk.record("answered", to=name, topic=topic.value if topic else "hint")

    def _say(self, line: c.Tell | c.Kibitz) -> bool:
        return self._outbox.talk(line, fresh=REPLY_MAX_AGE)

    # -- the match ----------------------------------------------------------------------------------------------

    def _follow_match(self, message: Message) -> None:
        """Notice that a match begins, goes on or ends."""
        current = self._matches.current
        opponent = current.opponent if current else None
        begins = isinstance(message, m.OpponentJoined | m.YouJoined)
        if isinstance(message, m.MatchWon):
            self._greeted.pop(self._opponent or "", None)
        elif begins:
            self._greeted.pop(opponent or "", None)
        if opponent == self._opponent and not begins:
            return
        self._outbox.hush()  # what was to be kibitzed belongs to the match that is over
        self._watchers.clear()
        self._opponent = opponent
        if opponent is not None:
            self._greet(opponent)

    def _greet(self, opponent: str) -> None:
        if opponent in self._greeted or not self._settings.greet or not self._listens_to(opponent):
            return
        if self._say(c.Kibitz(chat_text.chat_line(self._settings.greeting))):
            if len(self._greeted) >= MAX_GREETED:
                del self._greeted[next(iter(self._greeted))]
            self._greeted[opponent] = None

    def _welcome(self, watcher: str) -> None:
        """Greet somebody who watches our match, once."""
        if self._opponent is None or not self._settings.greet_watchers or not self._listens_to(watcher):
            return
        if watcher not in self._watchers and len(self._watchers) < MAX_WATCHERS:
            self._watchers.add(watcher)
            self._say(c.Tell(watcher, chat_text.WELCOME))

    def _look_again(self, nudge: Nudge) -> None:
        now = self._desk.now
        if self._nudged is None or now >= self._nudged + NUDGE_PAUSE:
            self._nudged = now
            self._desk.record("nudged", by=self._opponent, word=nudge.value)
            self._turns.look_again(join=nudge is Nudge.JOIN)

    # -- obeying ------------------------------------------------------------------------------------------------

    def _obey(self, operator: str, order: Order) -> None:
        desk = self._desk
        desk.record("ordered", by=operator, order=order.value)
        if order is Order.QUIT and desk.session.state in LOGGED_IN:
            self._outbox.say_at_once(c.Tell(operator, chat_text.QUITTING))  # there is no later
        if wish := event_for_order(order, desk.now):
            self._carry_out(wish)
        if order is not Order.QUIT:
            status = bot_status(desk, self._matches, self._lobby)
            self._say(c.Tell(operator, chat_text.chat_line(chat_text.as_sentence(status.sentence))))
