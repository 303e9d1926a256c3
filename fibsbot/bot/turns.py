"""Our decisions in a game: seen, asked, answered, sent, and seen through (docs/protocol.md, pitfalls 8 to 14).

After every event `look` finds out what is open now, so that it does not matter which message opened it. A decision is
known by its key and made once. Only when a board that we asked for shows it still open, although the command went out,
is the command sent again: then the server has lost it, or has refused it. `time` after `board` makes sure that it is
that board and no older one.
"""

from __future__ import annotations

import enum
from typing import Final

from attrs import define, evolve, field, frozen

from fibsbot.bot.actions import Ask
from fibsbot.bot.decisions import LEVELS, Reply, obvious_answer, open_key, question_for, reply_to, xgid_of
from fibsbot.bot.desk import Desk
from fibsbot.bot.fallback import LastResort
from fibsbot.bot.outbox import Answered, Errand, Outbox
from fibsbot.bot.questions import Answer, Key, Question
from fibsbot.bot.track import Track
from fibsbot.bot.watchdog import Watchdog
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import PlayAnswer
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import IN_MATCH, State
from protocol.words import YOU

MOST_ATTEMPTS: Final = 5
"""A decision is sent so often at most; then the connection is given up."""
MOST_DECISIONS: Final = 1000
"""Decisions of a game that are kept in mind; no real game has so many."""
MOST_ASKED: Final = 8
"""Questions that the strategy may owe us an answer to; a server that makes up positions could pile them up."""


class Stage(enum.Enum):
    """How far a decision is."""

    SEEN = "seen"
    """The strategy is not asked yet."""
    ASKED = "asked"
    """The strategy thinks."""
    ANSWERED = "answered"
    """The command waits to be sent."""
    SENT = "sent"
    IN_DOUBT = "in doubt"
    """The command was refused, or got no answer; a board has to tell whether the decision is still open."""


@frozen
class Made:
    """How a decision was made."""

    seconds: float
    """From when it was seen to the answer."""
    equity: float | None
    fallback: str | None


@define
class Decision:
    """One decision on its way."""

    key: Key
    direction: int
    seen: float
    """On the agent's clock."""
    state: MatchState
    question: Question | None = None
    """None for a decision that has only one answer."""
    stage: Stage = Stage.SEEN
    thought: float = 0.0
    """How long it should seem to be thought about, in seconds since it was seen."""
    due: float = 0.0
    """When it may go out at the earliest."""
    reply: Reply | None = None
    made: Made | None = None
    """What is to be remembered of the reply; None once it is."""
    refused: list[Play] = field(factory=list)
    """Plays that the server has refused."""
    attempts: int = 0


@frozen
class Seen:
    """What was there to be decided when we looked last."""

    track: Track
    state: State
    resign_from: int
    key: Key | None


class Turns:
    """Makes our decisions in a game, and notices when the server does not go on."""

    def __init__(self, desk: Desk, outbox: Outbox, watchdog: Watchdog) -> None:
        """Have nothing to decide."""
        self._desk = desk
        self._outbox = outbox
        self._watchdog = watchdog
        self._decisions: dict[Key, Decision] = {}
        self._open: Decision | None = None
        self._seen: Seen | None = None
        self._asked = 0
        self._resign_from = 1
        self._cube_closed: int | None = None

    def disconnected(self) -> None:
        """Forget all decisions."""
        self._decisions.clear()
        self._open = None
        self._asked = 0

    # -- what the server says -----------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Take note of what bears on decisions."""
        match message:
            case m.GameStarts():
                self._decisions.clear()
                self._resign_from = 1
                self._cube_closed = None
            case m.GameWon() | m.GaveUp() | m.ResignAccepted() | m.OpponentGone() | m.YouLeft():
                self._decisions.clear()
            case m.ResignOffer(player=player) if player == YOU:
                self._note_resignation()
            case m.ResignRejected():
                self._note_resignation()
                # The same offer may come again on the same turn: it is a new one, and wants a new answer.
                self._decisions = {key: it for key, it in self._decisions.items() if key.phase is not Phase.RESIGNED}
                self._outbox.say(c.ShowBoard())
            case m.MovePrompt() if not self._desk.track.board_seen:
                self._outbox.say(c.ShowBoard())

    def _note_resignation(self) -> None:
        """Remember what we offered: who rejects it once is not asked again for as little in this game."""
        command = self._open.reply.command if self._open and self._open.reply else None
        if isinstance(command, c.Resign):
            self._resign_from = 1 + next(number for number, level in LEVELS.items() if level is command.level)

    def on_answered(self, answered: Answered) -> None:
        """Go on after a command was answered or refused, or got no answer in time (message None)."""
        command = answered.errand.command
        decision = self._decisions.get(answered.errand.key) if answered.errand.key else None
        if decision is not None:
            self._doubt(decision, refused=answered.refused)
        elif isinstance(command, c.ShowBoard) and isinstance(answered.message, m.Board):
            if self._doubted:
                self._outbox.say(c.Time())  # the board may be an older one, but what answers this comes after ours
            else:
                self._believe_board()
        elif isinstance(command, c.Time) and isinstance(answered.message, m.ServerTime | m.UnknownCommand):
            self._believe_board()
        elif answered.message is None and self._desk.session.state in IN_MATCH:
            self._outbox.say(c.ShowBoard())

    @property
    def _doubted(self) -> Decision | None:
        """The decision that seems open although its command went out."""
        key = self._open_key()
        decision = self._decisions.get(key) if key else None
        return decision if decision is not None and decision.stage is Stage.IN_DOUBT else None

    def _doubt(self, decision: Decision, *, refused: bool) -> None:
        decision.stage = Stage.IN_DOUBT
        self._outbox.say(c.ShowBoard())
        if refused and decision.reply:
            if decision.reply.play is not None:
                decision.refused.append(decision.reply.play)
            elif isinstance(decision.reply.command, c.Double):
                self._cube_closed = decision.key.turn
                decision.reply = Reply(c.Roll(), "roll")

    def _believe_board(self) -> None:
        """Go by a board that was asked for: what is open after it is open.

        Boards look alike: while lines come late, the first board after `board` may be one that was on its way before.
        A decision that is in doubt is sent again only when the answer to a further command has come: by then the board
        that was asked for has come, too. A refusal makes no difference: it may have been that of another command.
        """
        if (decision := self._doubted) is not None:
            if decision.attempts >= MOST_ATTEMPTS:
                self._desk.disconnect("the server takes none of our commands")
            elif decision.reply and decision.reply.play in decision.refused:
                self._answer(decision, PlayAnswer(self._another_play(decision)))
            else:
                decision.stage = Stage.ANSWERED
        else:
            self._watchdog.on_board()

    def _another_play(self, decision: Decision) -> Play:
        """Return a legal play that the server has not refused yet, the first one when there is none."""
        plays = legal_plays(decision.key.position, decision.key.dice or (1, 1))
        return next((play for play in plays if play not in decision.refused), plays[0])

    # -- deciding -----------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find out which decision is open now, and have it made."""
        key = self._open_key()
        self._outbox.decision_closed(key)
        if key is None:
            self._open = None
        elif self._open is None or self._open.key != key:
            self._open = self._decisions.get(key) or self._begin(key)
        self._outbox.withdraw(but=key)
        if self._open:
            self._go_on(self._open)
        self._watchdog.watch(deciding=self._open is not None)

    def _go_on(self, decision: Decision) -> None:
        if decision.stage is Stage.SEEN and decision.question and self._asked < MOST_ASKED:
            decision.stage = Stage.ASKED
            self._asked += 1
            self._desk.act(Ask(decision.key, decision.question))
        elif decision.stage is Stage.ANSWERED and decision.reply:
            if decision.due <= self._desk.now:
                self._outbox.say(decision.reply.command, decision.key)
            else:
                self._desk.wake("think", decision.due - self._desk.now)

    def _open_key(self) -> Key | None:
        """Return what is to be decided now; that is worked out again only when something has changed."""
        track, state, resign_from = self._desk.track, self._desk.session.state, self._resign_from
        seen = self._seen
        if seen is None or seen.track is not track or seen.state is not state or seen.resign_from != resign_from:
            self._seen = seen = Seen(track, state, resign_from, open_key(track, state, resign_from))
        return seen.key

    def _begin(self, key: Key) -> Decision:
        track, desk = self._desk.track, self._desk
        if len(self._decisions) >= MOST_DECISIONS:
            self._decisions.clear()
        decision = Decision(key, track.direction or -1, desk.now, track.decision(key.phase))
        self._decisions[key] = decision
        answer = obvious_answer(track, key.phase)
        if answer is not None:
            self._answer(decision, answer)
            return decision
        closed = self._cube_closed == track.turns
        decision.question = question_for(
            track, key.phase, desk.settings, cube_closed=closed, resign_from=self._resign_from
        )
        timings = desk.settings.timings
        decision.thought = desk.chance.uniform(timings.think_least, max(timings.think_least, timings.think_most))
        return decision

    def on_answer(self, key: Key, answer: Answer, fallback: str | None) -> None:
        """Take the strategy's answer, unless it comes too late."""
        self._asked = max(self._asked - 1, 0)
        decision = self._decisions.get(key)
        if decision is None or decision.stage is not Stage.ASKED or decision.question is None:
            self._desk.counters.late_answers += 1
            self._desk.record("late_answer", phase=key.phase.value)
            return
        if fault := decision.question.fault(answer):
            answer, fallback = decision.question.put_to(LastResort()), fault
        if fallback:
            self._desk.counters.fallbacks += 1
            self._desk.record("fallback", phase=key.phase.value, reason=fallback)
        self._answer(decision, answer, fallback)

    def _answer(self, decision: Decision, answer: Answer, fallback: str | None = None) -> None:
        decision.reply = reply_to(decision.key, answer, decision.direction)
        decision.stage = Stage.ANSWERED
        if not isinstance(decision.reply.command, c.Roll):
            decision.due = decision.seen + decision.thought
        seconds = round(self._desk.now - decision.seen, 6)
        decision.made = Made(seconds, getattr(answer, "equity", None), fallback)

    def on_sent(self, errand: Errand) -> None:
        """Take note that a command went out."""
        decision = self._decisions.get(errand.key) if errand.key else None
        if decision is None or decision.reply is None:
            return
        decision.stage = Stage.SENT
        decision.attempts += 1
        self._desk.track = evolve(self._desk.track, own_play=decision.reply.play)
        made, decision.made = decision.made, None
        if made is not None:
            self._remember(decision, decision.reply, made)

    def _remember(self, decision: Decision, reply: Reply, made: Made) -> None:
        """Have a decision remembered: only what went out is one, whatever a server has made us think about."""
        key = decision.key
        self._desk.counters.decisions += 1
        self._desk.record(
            "decision",
            phase=key.phase.value,
            game=key.game,
            turn=key.turn,
            xgid=xgid_of(decision.state),
            dice=key.dice,
            offer=key.offer,
            answer=reply.shown,
            equity=made.equity,
            seconds=made.seconds,
            fallback=made.fallback,
        )

    # -- waiting ------------------------------------------------------------------------------------------------

    def look_again(self, *, join: bool) -> None:
        """Look because the opponent waits for us (pitfall 12), unless we know that we are to act and are about to.

        `join`: the opponent waits for the next game.
        """
        if self._open is not None and self._open.stage in (Stage.SEEN, Stage.ASKED, Stage.ANSWERED):
            return
        if join and self._desk.session.state is State.BETWEEN_GAMES and self._desk.track.game:
            self._outbox.say(c.Join())
        elif self._desk.session.state in IN_MATCH:
            self._watchdog.probe()
