"""Our seat at a chouette: what we decide there in the box, as captain or as a member of the team, and when we leave.

While we are seated nothing is tracked: the server asks for each decision, and the board is requested before it is made.
After a lost line, a refusal or a long silence we send `chouette`, and the server asks again
(docs/explanation/agent.md).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final

from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import YOU
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue, QueuedCommand
from fibsbot.bot.context import AgentContext, Timer, on
from fibsbot.bot.decisions import (
    LOST_QUESTION,
    DecisionCommand,
    command_for,
    obvious_answer,
    question_for,
    xgid_of,
)
from fibsbot.bot.events_and_actions import Ask, DecisionKey
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited, Timeouts
from fibsbot.fibs_numbering import match_state
from fibsbot.match import MatchState, Phase
from fibsbot.strategies.questions import Question, StrategyAnswer, last_resort_answer

MAX_FAILURES: Final = 10
"""Refused or unanswered commands in a row, at most; after that we reconnect."""
LEAVE: Final = c.Chouette("leave")
ASK_AGAIN: Final = c.Chouette()
"""The server shows our seat, and asks again for what we have to decide."""
PHASES: Final[dict[type[Message], Phase]] = {
    m.RollOrDouble: Phase.ROLL,
    m.FirstMove: Phase.MOVE,
    m.MovePrompt: Phase.MOVE,
    m.OpponentDoubles: Phase.DOUBLED,
    m.ResignOffer: Phase.RESIGNED,
}
"""The messages that ask us for a decision."""
PROGRESS_MESSAGES: Final = (
    *(m.GameStarts, m.Rolls, m.Moves, m.CannotMove, m.OnlyMove, m.BearsOff, m.YouDouble, m.WatchedDouble),
    *(m.DoubleAccepted, m.ResignOffer, m.ResignAccepted, m.ResignRejected, m.GaveUp, m.GameWon),
    *(m.ChouetteResult, m.ChouetteLeft, m.WaitForJoin),
)
"""These lines show that the game goes on."""
NEWS: Final = (m.ChouetteNews, m.ChouetteTable, m.ChouettePass, m.ChouetteDropout, m.ChouetteCaptain)
"""What happens at the table besides the game at its board."""


class SeatedDecisionStage(enum.Enum):
    """The stages of a decision."""

    ASKED = "asked"
    """The server has asked for it; the board is not known yet."""
    THINKING = "thinking"
    ANSWERED = "answered"
    """The command waits until it is due."""
    SENT = "sent"


@define(eq=False)
class SeatedDecision:
    """A decision that the server has asked us for."""

    phase: Phase
    seen: float
    points: int = 0
    """What an offered resignation is worth."""
    stage: SeatedDecisionStage = SeatedDecisionStage.ASKED
    key: DecisionKey | None = None
    state: MatchState | None = None
    question: Question | None = None
    direction: int = -1
    reply: DecisionCommand | None = None
    due: float = 0.0
    equity: float | None = None
    seconds: float = 0.0
    fallback: str | None = None


@define
class JoinedChouette:
    """The chouette at which we sit, as far as we know it."""

    inviter: str
    """The player for whom we have sat down; when they leave, so do we."""
    inviter_left: bool = False
    game_on: bool = False
    """Whether a game is being played, so that we may have points at stake."""
    games: int = 0
    """Games whose end we have seen."""
    game: int = 0
    """The server's number of the last one."""
    result: m.ChouetteResult | None = None
    """A result whose ledger has not come yet."""
    resign_from: int = 1
    """The lowest level that we may still offer to resign in this game."""
    ledger: dict[str, int] = field(factory=dict)
    """The last one that was said."""
    ledger_before: dict[str, int] | None = None
    """That after the last game, or the first one after a login; None before."""
    table: m.ChouetteTable | None = None
    """The players of the current game when it began, or when we first saw it."""
    since: float = 0.0
    """When that was."""


@define
class ChouetteFlow:
    """Plays at a chouette: makes the decisions that the server asks us for."""

    _context: AgentContext
    _queue: CommandQueue
    _timeouts: Timeouts
    _lobby: Lobby
    _numbers: Iterator[int]
    """Numbers that no decision of the run has had yet."""
    _lost: JoinedChouette | None
    """The seat that we had when the connection was lost, and which the server keeps for a while."""
    seat: JoinedChouette | None = None
    _decision: SeatedDecision | None = None
    _progress: int = 0
    """Counts what happens at the table."""
    _progress_at: float = 0.0
    """When something happened there last, or we took our seat."""
    _failures: int = 0
    """Commands that were refused or unanswered since something happened at the table."""

    @property
    def kept_seat(self) -> JoinedChouette | None:
        """The seat that the server keeps when the connection is lost; it asks again after the login."""
        return self.seat or self._lost

    @property
    def inviter(self) -> str | None:
        """The player whose invitation we have taken, while we have a seat."""
        return None if self.seat is None else self.seat.inviter

    # -- the seat -----------------------------------------------------------------------------------------------

    @on(m.ChouetteSeat)
    def _on_seat(self, message: m.ChouetteSeat) -> None:
        if self.seat is None:
            self._progress_at = self._context.now
            resumed = self._lost is not None
            self.seat, self._lost = self._lost or JoinedChouette(message.host), None
            self._timeouts.stop(Awaited.MATCH)
            self._lobby.match_started(message.host)
            self._context.record("chouette_joined", host=self.seat.inviter, resumed=resumed)
        if message.host != self.seat.inviter:
            self.seat.inviter_left = True

    @on(m.ChouetteNoSeat)
    def _on_no_seat(self, _: m.ChouetteNoSeat) -> None:
        seat, self.seat, self._decision = self.seat, None, None
        self._timeouts.stop(Awaited.CHOUETTE)
        self._timeouts.stop(Awaited.STRATEGY)
        if seat is not None:
            self._leave_behind(seat)

    def on_lobby(self) -> None:
        """Note that the server has not kept the seat that we had when the connection was lost."""
        if self._lost is not None:
            lost, self._lost = self._lost, None
            self._leave_behind(lost)

    def _leave_behind(self, seat: JoinedChouette) -> None:
        """Count a chouette that we have left, if it had a game, as a match with the player who invited us."""
        context, points = self._context, seat.ledger.get(self._context.settings.name, 0)
        self._queue.drop(c.Chouette, c.ShowBoard, c.Join)
        context.record("chouette_left", host=seat.inviter, games=seat.games, points=points)
        if not seat.games:
            return
        context.memory.note_played(seat.inviter, context.now)
        context.counters.matches += 1
        context.counters.wins += points > 0
        limit = context.settings.play.matches
        context.finishing = context.finishing or (limit is not None and context.counters.matches >= limit)

    @on(m.ChouetteLeft)
    def _on_left(self, message: m.ChouetteLeft) -> None:
        if self.seat is not None and message.name == self.seat.inviter:
            self.seat.inviter_left = True

    @property
    def _wants_to_leave(self) -> bool:
        seat, context = self.seat, self._context
        return context.ending or context.paused or (seat is not None and seat.inviter_left)

    @on(m.JoinNextGame)
    def _on_join_next_game(self, _: m.JoinNextGame) -> None:
        if self.seat is not None:
            self.seat.game_on = False
            self._queue.send(LEAVE if self._wants_to_leave else c.Join())

    # -- the games ----------------------------------------------------------------------------------------------

    @on(m.GameStarts)
    def _on_game_starts(self, _: m.GameStarts) -> None:
        seat = self.seat
        if seat is not None:
            seat.game_on, seat.resign_from = True, 1
            seat.ledger_before = {} if seat.ledger_before is None else seat.ledger_before

    @on(m.ChouetteTable)
    def _on_table(self, message: m.ChouetteTable) -> None:
        seat = self.seat
        if seat is not None and (seat.table is None or seat.table.game != message.game):
            seat.table, seat.since = message, self._context.now

    @on(m.ChouetteResult)
    def _on_result(self, message: m.ChouetteResult) -> None:
        if self.seat is not None:
            self.seat.game_on, self.seat.result = False, message

    @on(m.ChouetteLedger)
    def _on_ledger(self, message: m.ChouetteLedger) -> None:
        """Record the end of a game once its result is known; players who drop out pay before that."""
        seat = self.seat
        if seat is None:
            return
        seat.ledger, before = message.points, seat.ledger_before
        if before is None:
            before = seat.ledger_before = seat.ledger
        result, seat.result = seat.result, None
        if result is None or result.game == seat.game:
            return
        seat.game, seat.ledger_before = result.game, seat.ledger
        name = self._context.settings.name
        opponent = None if seat.table is None else seat.table.opponent_of(name)
        if opponent is None:
            return  # it was on before we sat down
        seat.games += 1
        self._context.counters.games += 1
        self._context.record(
            "chouette_game",
            host=seat.inviter,
            game=result.game,
            opponent=opponent,
            result=result.text,
            points=seat.ledger.get(name, 0) - before.get(name, 0),
            ledger=seat.ledger,
            seconds=round(self._context.now - seat.since, 3),
        )

    # -- what we are asked --------------------------------------------------------------------------------------

    @on(*PROGRESS_MESSAGES, *NEWS, m.Board)
    def _on_progress(self, message: Message) -> None:
        """Note that something has happened, which shows that the server has accepted a decision that we sent before."""
        if isinstance(message, PROGRESS_MESSAGES):
            self._progress += 1
            self._progress_at = self._context.now
            self._failures = 0
        if self._decision is not None and self._decision.stage is SeatedDecisionStage.SENT:
            self._close()

    @on(*PHASES)
    def _on_asked(self, message: Message) -> None:
        match message:
            case m.FirstMove(player=player) if player != YOU:
                return
            case m.ResignOffer(winner=winner) if winner != YOU:
                return
        phase, points = PHASES[type(message)], getattr(message, "points", 0)
        open_one = self._decision
        if open_one is not None and open_one.phase is phase and open_one.stage is not SeatedDecisionStage.SENT:
            return  # the same question again
        self._decision = SeatedDecision(phase, self._context.now, points)
        self._queue.keep_only(None)
        self._queue.send(c.ShowBoard())

    @on(m.ResignRejected)
    def _on_resign_rejected(self, _: m.ResignRejected) -> None:
        """Have the server ask again: after a rejection nobody is asked to play on."""
        self._queue.send(ASK_AGAIN)

    @on(m.Board)
    def _on_board(self, message: m.Board) -> None:
        """Decide on the first board after the question; a member of the team sees it from the captain's side."""
        if self.seat is not None and message.state.turn is not None:
            self.seat.game_on = True
        decision = self._decision
        if decision is not None and decision.stage is SeatedDecisionStage.ASKED:
            self._decide(decision, message.state)

    def _decide(self, decision: SeatedDecision, board: BoardState) -> None:
        level = decision.points // max(board.cube, 1) if decision.phase is Phase.RESIGNED else 0
        state = match_state(board, phase=decision.phase, resignation=min(level, 3))
        if decision.phase is Phase.MOVE and state.dice is None:
            return  # the dice are on the board that comes next
        if decision.phase is Phase.ROLL and board.dice != (0, 0):
            self._close()  # an old question: we have rolled since
            return
        resign_from = 1 if self.seat is None else self.seat.resign_from
        decision.state, decision.direction = state, board.direction
        decision.key = DecisionKey(
            match=0,
            game=self.seat.game + 1 if self.seat else 0,
            turn=next(self._numbers),
            phase=decision.phase,
            score=state.score,
            board=state.position,
            dice=state.dice,
            cube=state.cube,
            offer=decision.points or (resign_from if decision.phase is Phase.ROLL else 0),
        )
        answer = obvious_answer(state, decision.points)
        if answer is not None:
            self._answer(decision, answer)
            return
        decision.stage = SeatedDecisionStage.THINKING
        settings = self._context.settings
        cube_closed = not board.may_double or self._failures > 0
        question = question_for(state, settings, cube_closed=cube_closed, resign_from=resign_from)
        decision.question = question
        self._context.actions.append(Ask(decision.key, question))

    def on_strategy_lost(self) -> None:
        """Let the last resort decide, because the answer to a question never came."""
        decision = self._decision
        if decision is not None and decision.key is not None and decision.question is not None:
            self.on_answer(decision.key, last_resort_answer(decision.question), LOST_QUESTION)

    def on_answer(self, key: DecisionKey, answer: StrategyAnswer | None, fallback: str | None) -> bool:
        """Take the strategy's answer; return whether it is one to a question of ours that is still open."""
        decision = self._decision
        if decision is None or decision.key != key or decision.stage is not SeatedDecisionStage.THINKING:
            return False
        if answer is None:
            self._fail()
            return True
        if fallback:
            self._context.counters.fallbacks += 1
            self._context.record("fallback", phase=key.phase.value, reason=fallback)
        timings = self._context.settings.timings
        think_time = self._context.rng.uniform(timings.think_least, max(timings.think_least, timings.think_most))
        self._answer(decision, answer, think_time, fallback)
        return True

    def _answer(
        self, decision: SeatedDecision, answer: StrategyAnswer, think_time: float = 0.0, fallback: str | None = None
    ) -> None:
        if decision.state is None:
            return
        decision.reply = command_for(decision.state, answer, decision.direction)
        decision.stage = SeatedDecisionStage.ANSWERED
        decision.due = decision.seen + (0.0 if isinstance(decision.reply.command, c.Roll) else think_time)
        decision.equity, decision.fallback = getattr(answer, "equity", None), fallback
        decision.seconds = round(self._context.now - decision.seen, 6)

    def _close(self) -> None:
        self._decision = None
        self._queue.keep_only(None)

    # -- what is done -------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Take the next step: send a decision that is due, leave the table, wait for what happens next."""
        seat, decision = self.seat, self._decision
        if self._context.session.state is not State.SEATED or seat is None:
            return
        # Each question stops the wait. A server may ask for ever, or take `chouette leave` and keep us seated.
        longest = 2 * TIMEOUT_RULES[Awaited.CHOUETTE].bound(self._context.settings.timings)
        if self._context.now - self._progress_at > longest and not self._context.disconnecting:
            self._stall("nothing happens at the chouette")
            return
        self._queue.keep_only(decision.key if decision else None)
        if decision is not None and decision.stage is SeatedDecisionStage.ANSWERED and decision.reply and decision.key:
            if decision.due <= self._context.now:
                self._queue.send(decision.reply.command, decision.key)
            elif Timer.THINK not in self._context.timers:
                self._context.set_timer(Timer.THINK, decision.due - self._context.now)
        if decision is not None and decision.stage is SeatedDecisionStage.THINKING:
            self._timeouts.stop(Awaited.CHOUETTE)
            self._timeouts.start(Awaited.STRATEGY, decision.key)
        else:
            self._timeouts.stop(Awaited.STRATEGY)
            self._timeouts.start(Awaited.CHOUETTE, self._progress)
        if self._wants_to_leave and not seat.game_on and not seat.games and self._queue.idle:
            self._queue.send(LEAVE)  # before the first game nothing asks us to join the next one

    def on_sent(self, queued: QueuedCommand) -> None:
        """Note that the command of a decision was sent, and record it."""
        decision = self._decision
        if decision is None or queued.key is None or queued.key != decision.key or decision.reply is None:
            return
        key, command = decision.key, decision.reply.command
        decision.stage = SeatedDecisionStage.SENT
        if isinstance(command, c.Resign) and self.seat is not None:
            self.seat.resign_from = 1 + command.level.multiplier
        self._context.counters.decisions += 1
        self._context.record(
            "chouette_decision",
            phase=key.phase.value,
            game=key.game,
            turn=key.turn,
            xgid=xgid_of(decision.state) if decision.state else None,
            dice=key.dice,
            offer=key.offer,
            answer=decision.reply.text,
            equity=decision.equity,
            seconds=decision.seconds,
            fallback=decision.fallback,
        )

    # -- what does not come -------------------------------------------------------------------------------------

    def on_answered(self, outcome: CommandOutcome) -> None:
        """React to a command that was refused, or got no answer in time: the server asks for what is open."""
        command, decision = outcome.queued.command, self._decision
        if not (outcome.refused or outcome.message is None) or self._context.disconnecting:
            return
        game_command = outcome.queued.key is not None or isinstance(command, c.ShowBoard | c.Join)
        if not game_command and not isinstance(command, c.Chouette):
            return
        if command == LEAVE and self.seat is not None:
            self.seat.game_on = True  # we have points at stake
        if decision is not None and outcome.queued.key in (None, decision.key):
            self._decision = None
        self._fail()

    def _fail(self) -> None:
        """Have the server ask for what is open, because something went wrong; reconnect after too many failures."""
        self._failures += 1
        if self._failures > MAX_FAILURES:
            self._stall("the server takes none of our commands at the chouette")
        else:
            self._decision = None
            self._queue.send(ASK_AGAIN)

    def _stall(self, reason: str) -> None:
        """Reconnect because the chouette does not go on."""
        self._context.counters.stalls += 1
        self._context.disconnect(reason)

    def on_time(self) -> None:
        """Have the server ask again while nothing happens; at last leave the table."""
        last = self._timeouts.on_time(Awaited.CHOUETTE)
        if self._decision is not None and self._decision.stage is not SeatedDecisionStage.ANSWERED:
            self._decision = None
            self._queue.keep_only(None)
        self._queue.send(LEAVE if last else ASK_AGAIN)
