"""The flow of a decision: found open, put to the strategy, answered, sent, confirmed.

See docs/reference/protocol.md, pitfalls 8 to 14.

After every event `step` finds out which decision is open, so it does not matter which message opened it. A decision
is identified by its key and made once. Its command is sent again only when a board that is newer than the command shows
the decision still open: then the server has lost or refused the command. Boards look alike, but answers come in order:
once a `time` that was sent later is answered, there is a newer one. If no answer comes there is a new connection.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import IN_MATCH, State
from fibs_protocol.words import YOU
from fibsbot.bot import decisions
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, QueuedCommand
from fibsbot.bot.context import AgentContext, Feature, Timer, on
from fibsbot.bot.current_match import Matches
from fibsbot.bot.decisions import LOST_QUESTION, AnswerDetails, DecisionCommand, DecisionStage, PendingDecision
from fibsbot.bot.events_and_actions import Ask, DecisionKey
from fibsbot.bot.recovery import Recovery, RecoveryStep
from fibsbot.bot.timeouts import Awaited
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch
from fibsbot.fast_evolve import fast_evolve
from fibsbot.match import Phase
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.questions import StrategyAnswer, last_resort_answer

MAX_ATTEMPTS: Final = 5
"""Times that one decision is sent at most; then the match is left."""
MAX_TIMES: Final = 2
"""Times that `time` is sent before a decision counts as one of which nothing can be known on this connection."""
MAX_REFUSED: Final = 5
"""Different plays that may be refused in one situation; then the match is left."""
MAX_DECISIONS: Final = 1000
"""Decisions of a game that are remembered; no real game has as many."""
MAX_ASKED: Final = 8
"""Unanswered questions to the strategy at most; a server that makes up positions could pile them up."""


def _state_of(tracked: TrackedMatch) -> State:
    """Return who has to do what in a game whose board is known and in which nothing is offered."""
    if (
        not tracked.running
        or not tracked.board_seen
        or tracked.doubled_by
        or tracked.resigned_by
        or tracked.turn is None
    ):
        return State.UNCLEAR
    if tracked.turn is PlayerSide.OPPONENT:
        return State.THEIR_TURN
    return State.MY_MOVE if tracked.dice else State.MY_ROLL


@define
class DecisionFlow:
    """Makes our decisions in a game, from finding them open to their confirmation."""

    _context: AgentContext
    _queue: CommandQueue
    _matches: Matches
    _recovery: Recovery
    _decisions: dict[DecisionKey, PendingDecision] = field(factory=dict)
    _open: PendingDecision | None = None
    _key_source: tuple[TrackedMatch, State, int, bool] | None = None
    """What the next two were found by last."""
    _key: DecisionKey | None = None
    """The key of the open decision."""
    _is_won: bool = False
    """Whether somebody has all points of the match."""
    _questions_open: int = 0
    _cube_closed: int | None = None
    """The turn on which the server has refused a double."""
    _refused: dict[Hashable, dict[str, int]] = field(factory=dict)
    """By situation, the answers that the server has refused, and how much had happened then."""
    _resignation_pending: bool = False
    """Whether an offer to resign waits for our answer, although the opponent has played on."""
    _last_equity: tuple[str, float | None] = ("", None)
    """The opponent of the last decision, and what the strategy said that it is worth to us."""
    _progress: int = 0
    """Counts what may change the server's mind about a command that it has refused: plays, the opponent's rolls, and
    what becomes of offers."""

    # -- what the server says -----------------------------------------------------------------------------------

    @on(m.CannotMove, m.DoubleAccepted, m.RedoubleAccepted, m.OpponentDoubles)
    def _on_step(self, _: Message) -> None:
        self._progress += 1

    @on(m.Moves)
    def _on_moves(self, message: m.Moves) -> None:
        self._progress += 1
        self._recovery.on_moves(message)

    @on(m.Rolls)
    def _on_rolls(self, message: m.Rolls) -> None:
        if message.player == YOU:
            self._recovery.on_own_roll()
        else:
            self._progress += 1

    @on(m.GameStarts)
    def _on_game_starts(self, _: m.GameStarts) -> None:
        self._last_equity = "", None
        self._resignation_pending = False
        if not self._context.tracked.turn_count:
            self._decisions.clear()
            self._refused.clear()
            self._matches.progress.resign_from = 1
            self._cube_closed = None

    @on(m.GameWon, m.GaveUp, m.ResignAccepted, m.GameWonBy, m.GameDrawn, m.OpponentGone, m.YouLeft)
    def _on_game_over(self, _: Message) -> None:
        self._resignation_pending = False
        self._decisions.clear()

    @on(m.NothingToAnswer)
    def _on_offer_settled(self, _: Message) -> None:
        """Note that no offer to resign waits for our answer any more."""
        self._progress += 1
        self._resignation_pending = False

    @on(m.ResignOffer)
    def _on_resign_offer(self, message: m.ResignOffer) -> None:
        self._on_offer_settled(message)  # this one takes the place of any other
        if message.player == YOU:
            self._note_resignation()

    @on(m.ResignRejected)
    def _on_resign_rejected(self, message: m.ResignRejected) -> None:
        self._on_offer_settled(message)
        self._note_resignation()
        # The same offer may come again on the same turn: it is a new one and needs a new answer.
        self._decisions = {
            key: decision for key, decision in self._decisions.items() if key.phase is not Phase.RESIGNED
        }
        self._queue.send(c.ShowBoard())

    @on(m.MovePrompt)
    def _on_move_prompt(self, _: m.MovePrompt) -> None:
        """Request the board that should have come before; in other games than backgammon a line comes after this."""
        match = self._matches.current
        if not self._context.tracked.board_seen and not (match and match.game):
            self._queue.send(c.ShowBoard())

    def _note_resignation(self) -> None:
        """Remember the level that we offered: after a rejection no level as low is offered in this game."""
        command = self._open.reply.command if self._open and self._open.reply else None
        if isinstance(command, c.Resign):
            self._matches.progress.resign_from = 1 + command.level.multiplier

    def on_answered(self, outcome: CommandOutcome) -> None:
        """React to a command that was answered or refused, or got no answer in time (message None)."""
        command = outcome.queued.command
        decision = self._decisions.get(outcome.queued.key) if outcome.queued.key else None
        if decision is not None:
            self._mark_unconfirmed(decision, refused=outcome.refused)
        elif isinstance(command, c.ShowBoard) and isinstance(outcome.message, m.Board | m.TableBoard):
            self._on_board()
        elif isinstance(command, c.ShowBoard) and isinstance(outcome.message, m.UnknownCommand):
            self._on_no_board()
        elif isinstance(command, c.Time) and (decision := self._unconfirmed) is not None:
            self._ask_time(decision)
        elif (
            outcome.message is None
            and not isinstance(command, c.ShowBoard | c.Leave)
            and self._context.session.state in IN_MATCH
        ):
            self._queue.send(c.ShowBoard())

    def _on_board(self) -> None:
        """Take a board that was asked for: it may be an older one, so ask for what can only be newer."""
        decision = self._unconfirmed
        if decision is None:
            self._act_on_board()
            return
        decision.boards_seen += 1
        if not self._context.lacks(Feature.TIME) or self._queue.is_dealt_with(decision.place):
            self._ask_time(decision)
        elif decision.boards_seen > 1:
            self._act_on_board()
        else:
            self._queue.send(c.ShowBoard())

    def _ask_time(self, decision: PendingDecision) -> None:
        """Go by the last board if everything has come that the server has said to a decision's command.

        That is so once it has answered a `time` that was sent later. One more is sent if no answer comes; after that
        nothing will be known on this connection.
        """
        dealt_with = self._queue.is_dealt_with(decision.place)
        if dealt_with and decision.boards_seen:
            self._act_on_board()
        elif dealt_with or self._context.lacks(Feature.TIME):
            self._queue.send(c.ShowBoard())
        elif decision.times_asked < MAX_TIMES:
            decision.times_asked += 1
            self._queue.send(c.Time())
        else:
            self._recovery.stall("no answer tells whether a command was carried out", RecoveryStep.RECONNECT)

    def _on_no_board(self) -> None:
        """Go by the last board that came: some servers show one after each step, and know no `board`.

        A decision whose command got no answer is not made again by that: the board may be older than the command.
        """
        if self._context.session.state is State.UNCLEAR:
            self._context.session.state = _state_of(self._context.tracked)
        decision = self._unconfirmed
        if decision is None or decision.situation in self._refused:
            self._act_on_board()

    @property
    def _unconfirmed(self) -> PendingDecision | None:
        """The decision that seems to be open although its command was sent."""
        key = self._open_key()
        decision = self._decisions.get(key) if key else None
        return (
            decision
            if decision is not None and decision.stage in (DecisionStage.UNCONFIRMED, DecisionStage.REFUSED)
            else None
        )

    def _mark_unconfirmed(self, decision: PendingDecision, *, refused: bool) -> None:
        self._resignation_pending = False  # it has been answered, as far as we know
        decision.stage = DecisionStage.UNCONFIRMED
        decision.times_asked = decision.boards_seen = 0
        self._queue.send(c.ShowBoard())
        if refused and decision.reply:
            self._refused.setdefault(decision.situation, {})[decision.reply.text] = self._progress
            if isinstance(decision.reply.command, c.Double):
                self._cube_closed = decision.key.turn
                decision.reply = DecisionCommand(c.Roll(), "roll")

    def _act_on_board(self) -> None:
        """Trust a board that we asked for: a decision that is open on it has to be made.

        A refusal makes no difference: it may have been that of another command.
        """
        decision = self._unconfirmed
        if decision is None or decision.reply is None:
            self._recovery.on_board()
        elif decision.attempts >= MAX_ATTEMPTS:
            self._recovery.stall("the server takes none of our commands")
        else:
            self._set_reply(decision, decision.reply)

    def _set_reply(self, decision: PendingDecision, reply: DecisionCommand) -> None:
        """Answer a decision, with another play where the server has refused this one before."""
        refused = self._refused.get(decision.situation, {})
        decision.reply, decision.stage = reply, DecisionStage.ANSWERED
        if reply.play is None:
            if refused.get(reply.text) == self._progress:
                decision.stage = DecisionStage.REFUSED
        elif reply.text in refused:
            replies = (
                decisions.command_for(decision.state, PlayAnswer(play), decision.direction)
                for play in decisions.plays_of(decision)
            )
            another = next((other for other in replies if other.text not in refused), None)
            if another is None or len(refused) >= MAX_REFUSED:
                decision.stage = DecisionStage.REFUSED
                self._recovery.stall("the server refuses our plays")
            else:
                seconds = round(self._context.now - decision.seen, 6)
                decision.reply = another
                decision.details = AnswerDetails(seconds, None, "the play was refused")

    # -- deciding -----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Find the decision that is open now, and take its next step."""
        key = self._open_key()
        match_over = self._matches.current is not None and self._is_won
        suspended = match_over or self._recovery.leave_reason is not None
        key = None if suspended else key
        self._queue.keep_only(key)
        last = self._open
        if last and last.key.phase is Phase.RESIGNED and not suspended and self._opponent_played_on(last, key):
            self._resignation_pending = True
            key = self._open_key()
        if key is None:
            self._open = None
        elif self._open is None or self._open.key != key:
            self._open = self._decisions.get(key) or self._begin(key)
        decision = self._open
        if decision is None:
            self._recovery.watch(None, None, match_over=match_over)
            return
        if decision.stage is DecisionStage.SEEN and decision.question and self._questions_open < MAX_ASKED:
            decision.stage = DecisionStage.ASKED
            self._questions_open += 1
            self._context.actions.append(Ask(decision.key, decision.question))
        elif decision.stage is DecisionStage.ANSWERED and decision.reply:
            if decision.due <= self._context.now:
                self._queue.send(decision.reply.command, decision.key)
            else:
                self._context.set_timer(Timer.THINK, decision.due - self._context.now)
        awaited = None
        if decision.question and decision.stage in (DecisionStage.SEEN, DecisionStage.ASKED):
            awaited = Awaited.STRATEGY
        elif decision.attempts > 0 or decision.situation in self._refused:
            awaited = Awaited.DECISION
        self._recovery.watch(decision.situation, awaited, match_over=match_over)

    def _opponent_played_on(self, last: PendingDecision, key: DecisionKey | None) -> bool:
        """Whether the opponent has played on before we answered an offer to resign."""
        later = key is None or (key.phase is not Phase.RESIGNED and key.game == last.key.game)
        unanswered = not last.attempts and last.key in self._decisions
        return later and unanswered and self._context.session.state in decisions.RESIGNATION_WAITS_STATES

    def _open_key(self) -> DecisionKey | None:
        """Return the key of the open decision; computed again only when something has changed."""
        tracked, state, pending = self._context.tracked, self._context.session.state, self._resignation_pending
        resign_from = self._matches.progress.resign_from
        source = tracked, state, resign_from, pending
        if source != self._key_source:
            self._key_source, self._is_won = source, tracked.final_score is not None
            self._key = decisions.open_key(tracked, state, resign_from, resignation_pending=pending)
        return self._key

    def _begin(self, key: DecisionKey) -> PendingDecision:
        tracked, context = self._context.tracked, self._context
        if len(self._decisions) >= MAX_DECISIONS:
            self._decisions.clear()
        state = tracked.decision_state(key.phase)
        decision = PendingDecision(key, tracked.direction or -1, context.now, state)
        answer = decisions.obvious_answer(state, state.resignation_points)
        self._decisions[key] = decision
        if answer is not None:
            decision.details = AnswerDetails(0.0, None, None)
            self._set_reply(decision, decisions.command_for(state, answer, decision.direction))
            return decision
        closed = tracked.cube_closed or self._cube_closed == tracked.turn_count
        decision.question = decisions.question_for(
            state, context.settings, cube_closed=closed, resign_from=self._matches.progress.resign_from
        )
        timings = context.settings.timings
        decision.think_time = context.rng.uniform(timings.think_least, max(timings.think_least, timings.think_most))
        return decision

    def on_answer(self, key: DecisionKey, answer: StrategyAnswer | None, fallback: str | None) -> bool:
        """Accept the strategy's answer; return whether it is one to a question of ours that is still open."""
        decision = self._decisions.get(key)
        if decision is None or decision.stage is not DecisionStage.ASKED or decision.question is None:
            return False
        self._questions_open = max(self._questions_open - 1, 0)
        if answer is None:
            self._recovery.stall("a question has no answer")
            return True
        if fallback:
            self._context.counters.fallbacks += 1
            self._context.record("fallback", phase=key.phase.value, reason=fallback)
        reply = decisions.command_for(decision.state, answer, decision.direction)
        if not isinstance(reply.command, c.Roll):
            decision.due = decision.seen + decision.think_time
        seconds = round(self._context.now - decision.seen, 6)
        decision.details = AnswerDetails(seconds, getattr(answer, "equity", None), fallback)
        self._set_reply(decision, reply)
        return True

    def on_strategy_lost(self) -> None:
        """Let the last resort decide, because the answer to a question never came."""
        decision = self._open
        if decision is None or decision.question is None:
            return
        self._questions_open = max(self._questions_open, 1)
        decision.stage = DecisionStage.ASKED
        self.on_answer(decision.key, last_resort_answer(decision.question), LOST_QUESTION)

    def on_late_answer(self, key: DecisionKey) -> None:
        """Count an answer of the strategy to a decision that is no longer open."""
        self._questions_open = max(self._questions_open - 1, 0)
        self._context.counters.late_answers += 1
        self._context.record("late_answer", phase=key.phase.value)

    def on_sent(self, queued: QueuedCommand) -> None:
        """Record a decision whose command was sent; whatever else a server has made us think about does not count."""
        decision = self._decisions.get(queued.key) if queued.key else None
        if decision is None or decision.reply is None:
            return
        decision.stage = DecisionStage.SENT
        decision.place = self._queue.sent_count
        decision.attempts += 1
        self._context.tracked = fast_evolve(self._context.tracked, own_play=decision.reply.play)
        details, decision.details = decision.details, None
        if details is None:
            return  # it was recorded when it was sent first
        key = decision.key
        self._last_equity = self._matches.current.opponent if self._matches.current else "", details.equity
        self._context.counters.decisions += 1
        self._context.record(
            "decision",
            phase=key.phase.value,
            game=key.game,
            turn=key.turn,
            **decisions.recorded_board(decision.state),
            dice=key.dice,
            offer=key.offer,
            answer=decision.reply.text,
            equity=details.equity,
            seconds=details.seconds,
            fallback=details.fallback,
        )

    def last_equity(self, opponent: str) -> float | None:
        """Return what our last decision in the game with this opponent is worth to us, if the strategy said so."""
        against, equity = self._last_equity
        return equity if against == opponent else None

    # -- waiting ------------------------------------------------------------------------------------------------

    def on_nudge(self, *, join: bool) -> None:
        """Request the board because the opponent waits for us (pitfall 12), unless we are about to act anyway.

        `join`: the opponent waits for the next game.
        """
        if self._open is not None and self._open.stage in (
            DecisionStage.SEEN,
            DecisionStage.ASKED,
            DecisionStage.ANSWERED,
        ):
            return
        if join and self._context.session.state is State.BETWEEN_GAMES and self._context.tracked.game:
            self._queue.send(c.Join())
        elif self._context.session.state in IN_MATCH:
            self._recovery.probe()
