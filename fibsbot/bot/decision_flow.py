"""The flow of a decision: found open, put to the strategy, answered, sent, confirmed.

See docs/protocol.md, pitfalls 8 to 14.

After every event `look` finds out which decision is open, so it does not matter which message opened it. A decision
is identified by its key and made once. Its command is sent again only when a board that we asked for shows the
decision still open: then the server has lost or refused the command. `time` after `board` makes sure that it is that
board and no older one.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final

from attrs import define, evolve, frozen
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import IN_MATCH, State
from fibs_protocol.words import YOU

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, QueuedCommand
from fibsbot.bot.context import AgentContext, Feature
from fibsbot.bot.decisions import (
    RESIGN_LEVELS,
    RESIGNATION_WAITS_STATES,
    DecisionCommand,
    command_for,
    obvious_answer,
    open_decision_key,
    question_for,
    xgid_of,
)
from fibsbot.bot.interface import Ask, DecisionKey
from fibsbot.bot.recovery import Recovery
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.questions import Question, StrategyAnswer

MAX_ATTEMPTS: Final = 5
"""A decision is sent so often at most; then the match is left."""
MAX_REFUSED: Final = 5
"""So many different plays may be refused in one situation; then the match is left."""
MAX_DECISIONS: Final = 1000
"""Decisions of a game that are kept in mind; no real game has so many."""
MAX_ASKED: Final = 8
"""Questions that the strategy may owe us an answer to; a server that makes up positions could pile them up."""


PROGRESS_MESSAGES: Final = (
    *(m.Moves, m.CannotMove, m.ResignOffer, m.ResignRejected, m.NothingToAnswer),
    *(m.DoubleAccepted, m.RedoubleAccepted, m.OpponentDoubles),
)
"""After these lines, and after the opponent's throw, a command that was refused may be taken."""


RESIGNATION_SETTLED_MESSAGES: Final = (
    *(m.GameStarts, m.GameWon, m.GaveUp, m.ResignOffer, m.ResignAccepted, m.ResignRejected, m.NothingToAnswer),
    *(m.OpponentGone, m.YouLeft),
)
"""After these lines no offer to resign waits for our answer, unless the line makes one."""


class DecisionStage(enum.Enum):
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
    REFUSED = "refused"
    """The command was refused, and there is no other: it goes out again when something new has happened."""


@frozen
class AnswerDetails:
    """How a decision was made."""

    seconds: float
    """From when it was seen to the answer."""
    equity: float | None
    fallback: str | None


@define
class PendingDecision:
    """One decision on its way."""

    key: DecisionKey
    direction: int
    seen: float
    """On the agent's clock."""
    state: MatchState
    question: Question | None = None
    """None for a decision that has only one answer."""
    stage: DecisionStage = DecisionStage.SEEN
    thought: float = 0.0
    """How long it should seem to be thought about, in seconds since it was seen."""
    due: float = 0.0
    """When it may go out at the earliest."""
    reply: DecisionCommand | None = None
    made: AnswerDetails | None = None
    """What is to be remembered of the reply; None once it is."""
    attempts: int = 0
    looks: int = 0
    """Boards that were seen since it is in doubt."""

    @property
    def situation(self) -> Hashable:
        """What a refusal of its command is about: the same throw in the same position may come again."""
        key = self.key
        return key.game, key.phase, key.score, key.position, tuple(sorted(key.dice or ())), key.cube, key.offer


@frozen
class CachedKey:
    """What was there to be decided when we looked last."""

    track: TrackedMatch
    state: State
    rest: tuple[int, bool]
    """The least level that we may offer to resign, and whether an offer of the opponent's still waits."""
    key: DecisionKey | None


def _state_of(track: TrackedMatch) -> State:
    """Return who has to do what in a game whose board is known and in which nothing is offered."""
    if not track.running or not track.board_seen or track.doubled_by or track.resigned_by or track.turn is None:
        return State.UNCLEAR
    if track.turn is PlayerSide.OPPONENT:
        return State.THEIR_TURN
    return State.MY_MOVE if track.dice else State.MY_ROLL


class DecisionFlow:
    """Makes our decisions in a game, and notices when the server does not go on."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, recovery: Recovery) -> None:
        """Have nothing to decide."""
        self._desk = desk
        self._outbox = outbox
        self._recovery = recovery
        self._decisions: dict[DecisionKey, PendingDecision] = {}
        self._open: PendingDecision | None = None
        self._seen: CachedKey | None = None
        self._asked = 0
        self._resign_from = 1
        self._cube_closed: int | None = None
        self._refused: dict[Hashable, dict[str, int]] = {}
        """By situation, the answers that the server has refused, and how much had happened then."""
        self._standing = False
        """Whether an offer to resign waits for our answer, although the opponent has played on."""
        self._news = 0
        """Counts what may change the server's mind about a command that it has refused."""

    def disconnected(self) -> None:
        """Forget all decisions; a new connection may change the server's mind."""
        self._decisions.clear()
        self._refused.clear()
        self._standing = False
        self._open = None
        self._asked = 0

    # -- what the server says -----------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Take note of what bears on decisions."""
        self._news += isinstance(message, PROGRESS_MESSAGES) or (isinstance(message, m.Rolls) and message.player != YOU)
        if isinstance(message, RESIGNATION_SETTLED_MESSAGES):
            self._standing = False
        match message:
            case m.GameStarts() if not self._desk.track.turns:
                self._decisions.clear()
                self._refused.clear()
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
            self._resign_from = 1 + next(number for number, level in RESIGN_LEVELS.items() if level is command.level)

    def on_answered(self, answered: CommandOutcome) -> None:
        """Go on after a command was answered or refused, or got no answer in time (message None)."""
        command = answered.errand.command
        decision = self._decisions.get(answered.errand.key) if answered.errand.key else None
        if decision is not None:
            self._doubt(decision, refused=answered.refused)
        elif isinstance(command, c.ShowBoard) and isinstance(answered.message, m.Board):
            self._on_board()
        elif isinstance(command, c.ShowBoard) and isinstance(answered.message, m.UnknownCommand):
            self._on_no_board()
        elif isinstance(command, c.Time) and (answered.message is not None or self._doubted):
            self._believe_board()
        elif (
            answered.message is None
            and not isinstance(command, c.ShowBoard | c.Leave)
            and self._desk.session.state in IN_MATCH
        ):
            self._outbox.say(c.ShowBoard())

    def _on_board(self) -> None:
        """Take a board that was asked for; it may be an older one, but what answers the next question is not."""
        decision = self._doubted
        if decision is None or (decision.looks and self._desk.lacks(Feature.TIME)):
            self._believe_board()
            return
        decision.looks += 1
        self._outbox.say(c.ShowBoard() if self._desk.lacks(Feature.TIME) else c.Time())

    def _on_no_board(self) -> None:
        """Go by the last board that came: some servers show one after each step, and know no `board`.

        A decision whose command got no answer is not made again by that: the board may be older than the command.
        """
        if self._desk.session.state is State.UNCLEAR:
            self._desk.session.state = _state_of(self._desk.track)
        decision = self._doubted
        if decision is None or decision.situation in self._refused:
            self._believe_board()

    @property
    def _doubted(self) -> PendingDecision | None:
        """The decision that seems open although its command went out."""
        key = self._open_key()
        decision = self._decisions.get(key) if key else None
        return (
            decision
            if decision is not None and decision.stage in (DecisionStage.IN_DOUBT, DecisionStage.REFUSED)
            else None
        )

    def _doubt(self, decision: PendingDecision, *, refused: bool) -> None:
        self._standing = False  # it has been answered, as far as we know
        decision.stage = DecisionStage.IN_DOUBT
        decision.looks = 0
        self._outbox.say(c.ShowBoard())
        if refused and decision.reply:
            self._refused.setdefault(decision.situation, {})[decision.reply.shown] = self._news
            if isinstance(decision.reply.command, c.Double):
                self._cube_closed = decision.key.turn
                decision.reply = DecisionCommand(c.Roll(), "roll")

    def _believe_board(self) -> None:
        """Go by a board that was asked for: what is open after it is open.

        Boards look alike: while lines come late, the first board after `board` may be one that was on its way before.
        A decision that is in doubt is sent again only when the answer to a further command has come: by then the board
        that was asked for has come, too. A refusal makes no difference: it may have been that of another command.
        """
        decision = self._doubted
        if decision is None or decision.reply is None:
            self._recovery.on_board()
        elif decision.attempts >= MAX_ATTEMPTS:
            self._recovery.stall("the server takes none of our commands")
        else:
            self._send_unless_refused(decision, decision.reply)

    def _send_unless_refused(self, decision: PendingDecision, reply: DecisionCommand) -> None:
        """Have an answer sent, or another play where the server has refused this one; nothing is refused twice."""
        refused = self._refused.get(decision.situation, {})
        decision.reply, decision.stage = reply, DecisionStage.ANSWERED
        if reply.play is None:
            if refused.get(reply.shown) == self._news:
                decision.stage = DecisionStage.REFUSED
        elif reply.shown in refused:
            replies = (
                command_for(decision.key, PlayAnswer(play), decision.direction) for play in self._plays(decision)
            )
            another = next((other for other in replies if other.shown not in refused), None)
            if another is None or len(refused) >= MAX_REFUSED:
                decision.stage = DecisionStage.REFUSED
                self._recovery.stall("the server refuses our plays")
            else:
                decision.reply, decision.made = (
                    another,
                    AnswerDetails(self._seconds(decision), None, "the play was refused"),
                )

    def _plays(self, decision: PendingDecision) -> tuple[Play, ...]:
        return legal_plays(decision.key.position, decision.key.dice or (1, 1))

    def _seconds(self, decision: PendingDecision) -> float:
        return round(self._desk.now - decision.seen, 6)

    # -- deciding -----------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find out which decision is open now, and have it made."""
        key = None if self._recovery.held else self._open_key()
        self._outbox.decision_closed(key)
        if self._leaves_offer(key):
            self._standing = True
            key = self._open_key()
        if key is None:
            self._open = None
        elif self._open is None or self._open.key != key:
            self._open = self._decisions.get(key) or self._begin(key)
        self._outbox.withdraw(but=key)
        if self._open:
            self._go_on(self._open)
        open_one = self._open
        sent = open_one is not None and (open_one.attempts > 0 or open_one.situation in self._refused)
        self._recovery.watch(open_one.situation if open_one else None, sent=sent)

    def _leaves_offer(self, key: DecisionKey | None) -> bool:
        """Whether the opponent has played on before we answered an offer to resign."""
        last = self._open
        if last is None or last.key.phase is not Phase.RESIGNED or last.attempts or self._recovery.held:
            return False
        later = key is None or (key.phase is not Phase.RESIGNED and key.game == last.key.game)
        return later and self._desk.session.state in RESIGNATION_WAITS_STATES and last.key in self._decisions

    def _go_on(self, decision: PendingDecision) -> None:
        if decision.stage is DecisionStage.SEEN and decision.question and self._asked < MAX_ASKED:
            decision.stage = DecisionStage.ASKED
            self._asked += 1
            self._desk.act(Ask(decision.key, decision.question))
        elif decision.stage is DecisionStage.ANSWERED and decision.reply:
            if decision.due <= self._desk.now:
                self._outbox.say(decision.reply.command, decision.key)
            else:
                self._desk.wake("think", decision.due - self._desk.now)

    def _open_key(self) -> DecisionKey | None:
        """Return what is to be decided now; that is worked out again only when something has changed."""
        track, state, rest = self._desk.track, self._desk.session.state, (self._resign_from, self._standing)
        seen = self._seen
        if seen is None or seen.track is not track or seen.state is not state or seen.rest != rest:
            key = open_decision_key(track, state, self._resign_from, standing=self._standing)
            self._seen = seen = CachedKey(track, state, rest, key)
        return seen.key

    def _begin(self, key: DecisionKey) -> PendingDecision:
        track, desk = self._desk.track, self._desk
        if len(self._decisions) >= MAX_DECISIONS:
            self._decisions.clear()
        decision = PendingDecision(key, track.direction or -1, desk.now, track.decision(key.phase))
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

    def on_answer(self, key: DecisionKey, answer: StrategyAnswer, fallback: str | None) -> None:
        """Take the strategy's answer, unless it comes too late."""
        self._asked = max(self._asked - 1, 0)
        decision = self._decisions.get(key)
        if decision is None or decision.stage is not DecisionStage.ASKED or decision.question is None:
            self._desk.counters.late_answers += 1
            self._desk.record("late_answer", phase=key.phase.value)
            return
        if fallback:
            self._desk.counters.fallbacks += 1
            self._desk.record("fallback", phase=key.phase.value, reason=fallback)
        self._answer(decision, answer, fallback)

    def _answer(self, decision: PendingDecision, answer: StrategyAnswer, fallback: str | None = None) -> None:
        reply = command_for(decision.key, answer, decision.direction)
        if not isinstance(reply.command, c.Roll):
            decision.due = decision.seen + decision.thought
        decision.made = AnswerDetails(self._seconds(decision), getattr(answer, "equity", None), fallback)
        self._send_unless_refused(decision, reply)

    def on_sent(self, errand: QueuedCommand) -> None:
        """Take note that a command went out."""
        decision = self._decisions.get(errand.key) if errand.key else None
        if decision is None or decision.reply is None:
            return
        decision.stage = DecisionStage.SENT
        decision.attempts += 1
        self._desk.track = evolve(self._desk.track, own_play=decision.reply.play)
        made, decision.made = decision.made, None
        if made is not None:
            self._remember(decision, decision.reply, made)

    def _remember(self, decision: PendingDecision, reply: DecisionCommand, made: AnswerDetails) -> None:
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
        if self._open is not None and self._open.stage in (
            DecisionStage.SEEN,
            DecisionStage.ASKED,
            DecisionStage.ANSWERED,
        ):
            return
        if join and self._desk.session.state is State.BETWEEN_GAMES and self._desk.track.game:
            self._outbox.say(c.Join())
        elif self._desk.session.state in IN_MATCH:
            self._recovery.probe()
