"""Chat with people: greetings, answers to questions, orders of operators (docs/reference/chat.md).

It answers by `tell`, never shouts, and says nothing to other bots, so that no two of them talk to each other for ever.
Chat is sent while no decision of ours is due; lines that cannot be sent in time are dropped.
"""

from __future__ import annotations

import enum
import re
from collections import deque
from collections.abc import Callable, Hashable
from itertools import groupby
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import LOGGED_IN
from fibs_protocol.words import YOU
from fibsbot.bot.command_queue import CommandQueue, RecentTells
from fibsbot.bot.context import AgentContext, Counters, on
from fibsbot.bot.current_match import BotStatus, CurrentMatch, Matches
from fibsbot.bot.decision_flow import DecisionFlow
from fibsbot.bot.events_and_actions import OrderEvent, event_for_order
from fibsbot.bot.orders import TOLD_ORDERS, GivenOrder, Order, give_order, parse_order
from fibsbot.bot.players import Players
from fibsbot.bot.settings import ChatSettings, fill_in, placeholders_in
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.policy import describe_policy, is_bot
from fibsbot.policy.policy import UNLIMITED_WORD
from fibsbot.text import format_duration, plural

# -- texts ----------------------------------------------------------------------------------------------------------

MAX_QUESTION_LENGTH: Final = 80
"""Characters of a line that may be a question; longer ones are talk."""


class Topic(enum.Enum):
    """A topic that the bot answers questions about; the value is the word to ask with."""

    HELP = "help"
    SETTINGS = "settings"
    STATS = "stats"
    SCORE = "score"
    WHO = "who are you"
    EVALUATION = "eval"


class Nudge(enum.Enum):
    """A reminder by an opponent who waits for us."""

    LOOK = "move"
    """It is our turn in the game."""
    JOIN = "join"
    """The next game can be joined."""


_WORDINGS: Final[dict[Topic, tuple[str, ...]]] = {
    Topic.HELP: ("help", "help me", "commands", "info", "what can you do"),
    Topic.SETTINGS: ("settings", "setting", "policy", "rules", "what do you play"),
    Topic.STATS: ("stats", "stat", "statistics"),
    Topic.SCORE: ("score", "the score", "what is the score", "whats the score"),
    Topic.EVALUATION: ("eval", "evaluation", "equity", "who is winning", "whos winning"),
    Topic.WHO: (
        *("who are you", "who r u", "who are u", "who r you", "whoru", "who is this", "what are you", "what r u"),
        *("are you a bot", "are u a bot", "r u a bot", "are you bot", "r u bot", "you a bot", "a bot", "bot"),
        *("are you a computer", "are you a robot", "are you human", "are you a human", "are you real"),
    ),
}
_TOPICS: Final = {wording: topic for topic, wordings in _WORDINGS.items() for wording in wordings}
_NUDGES: Final = {
    **dict.fromkeys(("move", "roll", "play", "your turn", "your move", "your roll", "ur turn"), Nudge.LOOK),
    "join": Nudge.JOIN,
}
_CALLS: Final = frozenset({"hello", "hallo", "hi", "hey", "are you there", "you there"})
"""With a question mark they mean: why don't you move?"""
_COURTESIES: Final = frozenset(
    {
        *("hi", "hello", "hallo", "hey", "hi there", "good morning", "good evening", "good luck", "gl", "have fun"),
        *("thanks", "thank you", "thx", "ty", "tks", "tyvm", "ok", "okay", "well played", "wp", "nice", "lol", "sorry"),
        *("good game", "gg", "good match", "bye", "bye bye", "cu", "see you", "good night", "np", "yw", "congrats"),
    }
)
_PADDING: Final = frozenset({"please", "pls", "plz", "hi", "hello", "hey", "dear", "oh", "so", "ok", "now"})
"""Words that may precede or follow a question."""
_WORD: Final = re.compile(r"[a-z0-9_]+")


def topic_of(text: str, own_name: str) -> Topic | None:
    """Return the topic of a question; None for anything else."""
    return _TOPICS.get(_without_padding(text, own_name)) if len(text) <= MAX_QUESTION_LENGTH else None


def nudge_of(text: str, own_name: str) -> Nudge | None:
    """Return which nudge a line is; None for anything else."""
    if len(text) > MAX_QUESTION_LENGTH:
        return None
    called = "?" in text and " ".join(_words(text, own_name)) in _CALLS
    return Nudge.LOOK if called else _NUDGES.get(_without_padding(text, own_name))


def is_courtesy(text: str, own_name: str) -> bool:
    """Whether a line is empty or only polite, so that it needs no answer."""
    words = " ".join(_words(text, own_name))
    return not words or words in _COURTESIES


def _words(text: str, own_name: str) -> list[str]:
    """Return the words without case, punctuation, our own name and repetitions."""
    words = _WORD.findall(text.lower().replace("'", ""))
    return [word for word, _ in groupby(word for word in words if word != own_name.lower())]


def _without_padding(text: str, own_name: str) -> str:
    """Return the words without padding at either end."""
    words = _words(text, own_name)
    while words and words[0] in _PADDING:
        del words[0]
    while words and words[-1] in _PADDING:
        del words[-1]
    return " ".join(words)


HINT: Final = "I'm a bot and understand only a few commands. Tell me `help` for a list."
WELCOME: Final = "Welcome! I'm a bot; tell me `help` for what I understand."
"""For somebody who starts to watch us."""
QUITTING: Final = "Logging out now."


def as_sentence(text: str) -> str:
    """Return a text as a sentence: with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def help_text(*, operator: bool) -> str:
    """Return the answer to `help`; operators also get the list of orders."""
    topics = ", ".join(topic.value for topic in Topic if topic not in {Topic.HELP, Topic.EVALUATION})
    asked = f"Tell me one of these: {topics}. If I stop moving, kibitz move, roll or join."
    return asked + (f" Your orders: {', '.join(order.value for order in TOLD_ORDERS)}." if operator else "")


def who_text(program: str) -> str:
    """Return the answer to `who are you`."""
    return f"I'm a bot ({program}) and play without human help. I know only a few commands; tell me `help` for a list."


def stats_text(counters: Counters, seconds: float) -> str:
    """Return the answer to `stats`; the run started `seconds` ago."""
    since = f"Since I started {format_duration(seconds)} ago I have"
    if not counters.matches:
        return f"{since} not finished a match yet."
    return f"{since} finished {plural(counters.matches, 'match')} and won {counters.wins}."


def score_text(opponent: str | None, length: int | None, score: tuple[int, int] | None, *, to_opponent: bool) -> str:
    """Return the answer to `score`; `length` is 0 for unlimited, the score is ours first, None means unknown."""
    if opponent is None:
        return "I'm not in a match right now."
    match = {None: "a match", 0: "an unlimited match"}.get(length, f"a {length}-point match")
    played = f"we're playing {match}" if to_opponent else f"I'm playing {match} with {opponent}"
    if score is None:
        return as_sentence(f"{played}; I don't know the score yet")
    ours, theirs = score
    if ours == theirs:
        stands = f"it is {ours}-{theirs}"
    elif ours > theirs:
        stands = f"I lead {ours}-{theirs}"
    else:
        stands = f"{'you lead' if to_opponent else f'{opponent} leads'} {theirs}-{ours}"
    return as_sentence(f"{played}; {stands}")


def evaluation_text(equity: float | None, opponent: str) -> str:
    """Return the answer to `eval`; `equity` is ours at our last decision."""
    if equity is None:
        return "I have no evaluation of this game yet."
    return f"At my last decision against {opponent} my equity was {equity:+.3f}."


ONLY_WATCHERS: Final = "I say that only to those who watch my match and don't play."


# -- the chat -------------------------------------------------------------------------------------------------------

NUDGE_PAUSE: Final = 10.0
"""Seconds between two requests of the board because the opponent asks why we do not move."""
MAX_A_MINUTE: Final = 12
"""Answers within any minute, to all players together."""
MAX_GREETED: Final = 1_000
"""Opponents of unfinished matches who need no second greeting."""
MAX_WATCHERS: Final = 20
"""Watchers of a match who are greeted."""


@define
class ChatHistory:
    """What was said in the run."""

    told: RecentTells = field(factory=RecentTells)
    """Players whom we have answered, and the answers."""
    answers: deque[float] = field(factory=lambda: deque(maxlen=MAX_A_MINUTE))
    """When we answered last."""
    greeted: dict[str, None] = field(factory=dict)
    """Opponents who were greeted, and whose match is not over yet."""
    nudged: float | None = None
    """When we last did something because the opponent asked why we do not move."""
    began: float | None = None
    """When the first connection was made."""


@define
class Chat:
    """Greets people, answers their questions and carries out orders."""

    _context: AgentContext
    _queue: CommandQueue
    _players: Players
    _matches: Matches
    _decisions: DecisionFlow
    _status: Callable[[], BotStatus]
    """Returns a summary of the bot."""
    _carry_out: Callable[[OrderEvent], str | None]
    """Carries out an operator's order, and returns the answer if it has one of its own."""
    _history: ChatHistory
    match: CurrentMatch | None = None
    """The match when `on_match_changed` was last called."""
    _watchers: set[str] = field(factory=set)

    def start(self) -> None:
        """Note that a connection is made."""
        if self._history.began is None:
            self._history.began = self._context.now

    # -- listening ----------------------------------------------------------------------------------------------

    @on(m.Says)
    def _on_says(self, message: m.Says) -> None:
        if message.name not in self._settings.operators or not self._take_order(message.name, message.text):
            self._hear(message.name, message.text, direct=True)

    @on(m.Kibitzes)
    def _on_kibitzes(self, message: m.Kibitzes) -> None:
        if message.name == self._opponent:
            self._hear(message.name, message.text, direct=False)

    @on(m.LoggedOut)
    def _on_logged_out(self, message: m.LoggedOut) -> None:
        self._queue.drop_chat(message.name)

    @property
    def _opponent(self) -> str | None:
        return self._matches.current.opponent if self._matches.current else None

    @property
    def _settings(self) -> ChatSettings:
        return self._context.settings.chat

    def _listens_to(self, name: str) -> bool:
        """Whether to answer this player: not a bot, a reputation service or ourselves."""
        info = self._players.users.get(name)
        if name == self._context.settings.name or is_bot(name, info.client if info else None):
            return False
        return not any(rule.matches(name) for rule in self._settings.ignore)

    def _hear(self, name: str, text: str, *, direct: bool) -> None:
        own_name = self._context.settings.name
        if name == self._opponent and (nudge := nudge_of(text, own_name)):
            self._on_nudge(nudge)
        elif self._settings.answer and self._listens_to(name):
            topic = topic_of(text, own_name)
            if topic is Topic.EVALUATION and not (direct and self._settings.evaluation):
                topic = None  # in a kibitz the opponent would read the question, and at most its refusal
            if topic:
                self._tell_once(name, topic, self._answer(name, topic))
            elif direct and not is_courtesy(text, own_name):
                self._hint(name)

    # -- answering ----------------------------------------------------------------------------------------------

    def _answer(self, name: str, topic: Topic) -> str:
        context = self._context
        match topic:
            case Topic.HELP:
                return help_text(operator=name in self._settings.operators)
            case Topic.SETTINGS:
                return describe_policy(context.settings.policy, paused=context.paused, finishing=context.finishing)
            case Topic.STATS:
                return stats_text(context.counters, context.now - (self._history.began or context.now))
            case Topic.SCORE:
                return self._score(name)
            case Topic.EVALUATION:
                return self._evaluation(name)
            case Topic.WHO:
                return who_text(context.settings.client)

    def _score(self, name: str) -> str:
        status = self._status()
        if status.chouette is not None:
            return as_sentence(f"I'm {status.sentence}")
        return score_text(status.opponent, status.length, status.score, to_opponent=name == status.opponent)

    def _evaluation(self, name: str) -> str:
        opponent = self._opponent
        if opponent is None or not self._only_watches(name):
            return ONLY_WATCHERS
        return evaluation_text(self._decisions.last_equity(opponent), opponent)

    def _only_watches(self, name: str) -> bool:
        """Whether a player watches our match and plays none, by the server's last lines about both."""
        info = self._players.users.get(name)
        if name in {self._opponent, self._context.settings.name} or info is None or info.opponent is not None:
            return False
        return info.watching in {self._opponent, self._context.settings.name}

    def _hint(self, name: str) -> None:
        """Say where to find help, unless this player was told something recently."""
        if not self._was_told(name):
            self._tell_once(name, None, HINT)

    def _was_told(self, key: Hashable) -> bool:
        return self._history.told.contains(key, self._context.now, self._settings.window)

    def _tell_once(self, name: str, topic: Topic | None, text: str) -> None:
        """Answer a player, unless the same was said recently, or there were too many answers to anybody."""
        now = self._context.now
        # The time in the answer to `stats` always differs.
        key = (name, topic, self._context.counters.matches if topic is Topic.STATS else text)
        flooded = len(self._history.answers) == MAX_A_MINUTE and now < self._history.answers[0] + 60
        if flooded or self._was_told(key) or not self._say(c.Tell(name, text)):
            return
        self._history.answers.append(now)
        self._history.told.add(key, now)
        self._history.told.add(name, now)
        self._context.record("answered", to=name, topic=topic.value if topic else "hint")

    def _say(self, line: c.Tell | c.Kibitz) -> bool:
        return self._queue.send_chat(line)

    # -- the match ----------------------------------------------------------------------------------------------

    def on_match_changed(self, message: Message) -> None:
        """Greet a new opponent; drop what was to be said in a match that is over."""
        last, self.match = self.match, self._matches.current
        last_opponent, opponent = last.opponent if last else None, self._opponent
        begins = isinstance(message, m.OpponentJoined | m.YouJoined)
        if isinstance(message, m.MatchWon):
            self._history.greeted.pop(last_opponent or "", None)
            if last_opponent is not None:
                self._on_match_won(message, last_opponent)
        elif begins:
            self._history.greeted.pop(opponent or "", None)
        if opponent == last_opponent and not begins:
            if opponent is not None and last is not None and last.length is None:
                self._greet(opponent)
            return
        self._queue.drop_chat()
        self._watchers.clear()
        if opponent is not None:
            self._greet(opponent)

    def _on_match_won(self, message: m.MatchWon, opponent: str) -> None:
        """Say goodbye to the opponent of a match that was played to its end."""
        goodbye = self._settings.goodbye
        if goodbye is None or not self._listens_to(opponent):
            return
        points = message.winner_points, message.loser_points
        ours, theirs = points if message.winner == YOU else points[::-1]
        self._say(c.Tell(opponent, self._filled(goodbye, opponent, length_from_fibs(message.length), (ours, theirs))))

    def _filled(self, text: str, opponent: str, length: int, score: tuple[int, int]) -> str:
        values = {"opponent": opponent, "me": self._context.settings.name, "score": f"{score[0]}-{score[1]}"}
        return fill_in(text, {**values, "length": str(length) if length else UNLIMITED_WORD})

    def _greet(self, opponent: str) -> None:
        if opponent in self._history.greeted or not self._settings.greet or not self._listens_to(opponent):
            return
        match, state = self._matches.current, self._context.tracked.state
        length = match.length if match else None
        if length is None and placeholders_in(self._settings.greeting) & {"score", "length"}:
            return  # a match that is resumed: its first board says more
        score = state.score if state else (0, 0)
        if self._say(c.Kibitz(self._filled(self._settings.greeting, opponent, length or 0, score))):
            if len(self._history.greeted) >= MAX_GREETED:
                del self._history.greeted[next(iter(self._history.greeted))]
            self._history.greeted[opponent] = None

    @on(m.WatchesYou)
    def _on_watches_you(self, message: m.WatchesYou) -> None:
        """Greet somebody who watches our match, once."""
        watcher = message.name
        if self._opponent is None or not self._settings.greet_watchers or not self._listens_to(watcher):
            return
        if watcher not in self._watchers and len(self._watchers) < MAX_WATCHERS:
            self._watchers.add(watcher)
            self._say(c.Tell(watcher, WELCOME))

    def _on_nudge(self, nudge: Nudge) -> None:
        now = self._context.now
        if self._history.nudged is None or now >= self._history.nudged + NUDGE_PAUSE:
            self._history.nudged = now
            self._context.record("nudged", by=self._opponent, word=nudge.value)
            self._decisions.on_nudge(join=nudge is Nudge.JOIN)

    # -- obeying ------------------------------------------------------------------------------------------------

    def _take_order(self, operator: str, text: str) -> bool:
        """Carry out an operator's order; return whether it was one."""
        first, *arguments = text.split() or [""]
        order = parse_order(first, (order for order in TOLD_ORDERS if order.arguments))
        if order is None:
            order = parse_order(_without_padding(text, self._context.settings.name), TOLD_ORDERS)
            arguments = []
        if order is None:
            return False
        try:
            self._obey(operator, give_order(order, arguments))
        except ValueError as error:
            self._say(c.Tell(operator, as_sentence(str(error))))
        return True

    def _obey(self, operator: str, given: GivenOrder) -> None:
        context, order = self._context, given.order
        context.record("ordered", by=operator, order=order.value)
        if order is Order.QUIT and context.session.state in LOGGED_IN:
            self._queue.send_now(c.Tell(operator, QUITTING))  # there is no later
        wish = event_for_order(given, context.now)
        if wish and (answer := self._carry_out(wish)):
            self._say(c.Tell(operator, answer))
        elif order is not Order.QUIT:
            status = self._status()
            self._say(c.Tell(operator, as_sentence(status.sentence)))
