"""Our decisions in a game: seen, asked, answered, sent, and seen through (docs/protocol.md, pitfalls 8 to 14).

After every event `look` finds out what is open now, so that it does not matter which message opened it. A decision is
known by its key and made once. Only when a board that we asked for shows it still open, although the command went out,
is the command sent again: then the server has lost it, or has refused it. `time` after `board` makes sure that it is
that board and no older one.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final

from attrs import define, evolve, frozen

from fibsbot.bot.actions import Ask
from fibsbot.bot.decisions import ANSWERING, LEVELS, Reply, obvious_answer, open_key, question_for, reply_to, xgid_of
from fibsbot.bot.desk import Desk
from fibsbot.bot.fallback import LastResort
from fibsbot.bot.features import Feature
from fibsbot.bot.outbox import Answered, Errand, Outbox
from fibsbot.bot.questions import Answer, Key, Question
from fibsbot.bot.recovery import Recovery
from fibsbot.bot.track import Side, Track
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
"""A decision is sent so often at most; then the match is left."""
MOST_REFUSED: Final = 5
"""So many different plays may be refused in one situation; then the match is left."""
MOST_DECISIONS: Final = 1000
"""Decisions of a game that are kept in mind; no real game has so many."""
MOST_ASKED: Final = 8
"""Questions that the strategy may owe us an answer to; a server that makes up positions could pile them up."""


NEWS: Final = (
    *(m.Moves, m.CannotMove, m.ResignOffer, m.ResignRejected, m.NothingToAnswer),
    *(m.DoubleAccepted, m.RedoubleAccepted, m.OpponentDoubles),
)
"""After these lines, and after the opponent's throw, a command that was refused may be taken."""


SETTLING: Final = (
    *(m.GameStarts, m.GameWon, m.GaveUp, m.ResignOffer, m.ResignAccepted, m.ResignRejected, m.NothingToAnswer),
    *(m.OpponentGone, m.YouLeft),
)
"""After these lines no offer to resign waits for our answer, unless the line makes one."""


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
    REFUSED = "refused"
    """The command was refused, and there is no other: it goes out again when something new has happened."""


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
    attempts: int = 0
    looks: int = 0
    """Boards that were seen since it is in doubt."""

    @property
    def situation(self) -> Hashable:
        """What a refusal of its command is about: the same throw in the same position may come again."""
        key = self.key
        return key.game, key.phase, key.score, key.position, tuple(sorted(key.dice or ())), key.cube, key.offer


@frozen
class Seen:
    """What was there to be decided when we looked last."""

    track: Track
    state: State
    rest: tuple[int, bool]
    """The least level that we may offer to resign, and whether an offer of the opponent's still waits."""
    key: Key | None


def _state_of(track: Track) -> State:
    """Return who has to do what in a game whose board is known and in which nothing is offered."""
    if not track.running or not track.board_seen or track.doubled_by or track.resigned_by or track.turn is None:
        return State.UNCLEAR
    if track.turn is Side.OPPONENT:
        return State.THEIR_TURN
    return State.MY_MOVE if track.dice else State.MY_ROLL


class Turns:
    """Makes our decisions in a game, and notices when the server does not go on."""

    def __init__(self, desk: Desk, outbox: Outbox, recovery: Recovery) -> None:
        """Have nothing to decide."""
        self._desk = desk
        self._outbox = outbox
        self._recovery = recovery
        self._decisions: dict[Key, Decision] = {}
        self._open: Decision | None = None
        self._seen: Seen | None = None
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
        self._news += isinstance(message, NEWS) or (isinstance(message, m.Rolls) and message.player != YOU)
        if isinstance(message, SETTLING):
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
            self._resign_from = 1 + next(number for number, level in LEVELS.items() if level is command.level)

    def on_answered(self, answered: Answered) -> None:
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
    def _doubted(self) -> Decision | None:
        """The decision that seems open although its command went out."""
        key = self._open_key()
        decision = self._decisions.get(key) if key else None
        return decision if decision is not None and decision.stage in (Stage.IN_DOUBT, Stage.REFUSED) else None

    def _doubt(self, decision: Decision, *, refused: bool) -> None:
        self._standing = False  # it has been answered, as far as we know
        decision.stage = Stage.IN_DOUBT
        decision.looks = 0
        self._outbox.say(c.ShowBoard())
        if refused and decision.reply:
            self._refused.setdefault(decision.situation, {})[decision.reply.shown] = self._news
            if isinstance(decision.reply.command, c.Double):
                self._cube_closed = decision.key.turn
                decision.reply = Reply(c.Roll(), "roll")

    def _believe_board(self) -> None:
        """Go by a board that was asked for: what is open after it is open.

        Boards look alike: while lines come late, the first board after `board` may be one that was on its way before.
        A decision that is in doubt is sent again only when the answer to a further command has come: by then the board
        that was asked for has come, too. A refusal makes no difference: it may have been that of another command.
        """
        decision = self._doubted
        if decision is None or decision.reply is None:
            self._recovery.on_board()
        elif decision.attempts >= MOST_ATTEMPTS:
            self._recovery.stall("the server takes none of our commands")
        else:
            self._send_unless_refused(decision, decision.reply)

    def _send_unless_refused(self, decision: Decision, reply: Reply) -> None:
        """Have an answer sent, or another play where the server has refused this one; nothing is refused twice."""
        refused = self._refused.get(decision.situation, {})
        decision.reply, decision.stage = reply, Stage.ANSWERED
        if reply.play is None:
            if refused.get(reply.shown) == self._news:
                decision.stage = Stage.REFUSED
        elif reply.shown in refused:
            replies = (reply_to(decision.key, PlayAnswer(play), decision.direction) for play in self._plays(decision))
            another = next((other for other in replies if other.shown not in refused), None)
            if another is None or len(refused) >= MOST_REFUSED:
                decision.stage = Stage.REFUSED
                self._recovery.stall("the server refuses our plays")
            else:
                decision.reply, decision.made = another, Made(self._seconds(decision), None, "the play was refused")

    def _plays(self, decision: Decision) -> tuple[Play, ...]:
        return legal_plays(decision.key.position, decision.key.dice or (1, 1))

    def _seconds(self, decision: Decision) -> float:
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

    def _leaves_offer(self, key: Key | None) -> bool:
        """Whether the opponent has played on before we answered an offer to resign."""
        last = self._open
        if last is None or last.key.phase is not Phase.RESIGNED or last.attempts or self._recovery.held:
            return False
        later = key is None or (key.phase is not Phase.RESIGNED and key.game == last.key.game)
        return later and self._desk.session.state in ANSWERING and last.key in self._decisions

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
        track, state, rest = self._desk.track, self._desk.session.state, (self._resign_from, self._standing)
        seen = self._seen
        if seen is None or seen.track is not track or seen.state is not state or seen.rest != rest:
            key = open_key(track, state, self._resign_from, standing=self._standing)
            self._seen = seen = Seen(track, state, rest, key)
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
        reply = reply_to(decision.key, answer, decision.direction)
        if not isinstance(reply.command, c.Roll):
            decision.due = decision.seen + decision.thought
        decision.made = Made(self._seconds(decision), getattr(answer, "equity", None), fallback)
        self._send_unless_refused(decision, reply)

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
            self._recovery.probe()
