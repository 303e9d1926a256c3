"""Recovery after lost lines and expired timeouts (docs/reference/protocol.md, pitfalls 11, 12).

Lines get lost in both directions, and servers stop in the middle of a match. The board, or what else is missing, is
requested a few times; then the match is left and rejoined, then there is a new connection, and a match that still makes
no progress is given up: this server cannot continue it. Progress is a score, position or turn not seen before.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final

from attrs import define

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.session import IN_MATCH, State
from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Feature, on
from fibsbot.bot.current_match import Matches
from fibsbot.bot.match_search import MatchSearch
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited, Consequence, Timeouts, awaited_of
from fibsbot.bot.tracked_match import PlayerSide, cannot_move
from fibsbot.fast_evolve import fast_evolve

ROLL_WAIT_DIVISOR: Final = 8
"""The wait for a roll is divided by this after the server has once forgotten to roll for us."""
MAX_BOARD_REQUESTS: Final = 5
"""After this many boards without progress an active opponent is waiting for us, too."""
EMPTY_MOVE_AFTER: Final = 3
"""Waits after a roll without a legal play before an empty `move` is sent, once."""
MAX_POSTPONED: Final = 8
"""Times that a wait is postponed while commands of ours are still to be sent or answered."""

IN_MATCH_WAITS: Final = frozenset(
    {Awaited.DECISION, Awaited.STRATEGY, Awaited.BOARD, Awaited.ROLL, Awaited.GAME, Awaited.END, Awaited.OPPONENT}
)
"""The waits in a match, of which one is open at a time."""
_WAITS_OUTSIDE_THE_LOBBY: Final = IN_MATCH_WAITS | {Awaited.MATCH}
"""The same, and the search for a match, which is on in the lobby only."""

_AWAITED: Final = {
    **dict.fromkeys((State.UNCLEAR, State.MY_MOVE, State.THEY_DOUBLED, State.THEY_RESIGNED), Awaited.BOARD),
    **dict.fromkeys((State.THEIR_TURN, State.I_DOUBLED, State.I_RESIGNED), Awaited.OPPONENT),
    State.MY_ROLL: Awaited.ROLL,
    State.BETWEEN_GAMES: Awaited.GAME,
}
"""The wait in each state of a match while no decision of ours is open."""


class RecoveryStep(enum.Enum):
    """The steps for a match that makes no progress, in this order."""

    REJOIN = "leave and rejoin"
    RECONNECT = "reconnect"
    GIVE_UP = "give up"


RECOVERY_STEPS: Final = tuple(RecoveryStep)


@define
class Recovery:
    """Watches for progress while others have to act, and restores the match after lost lines."""

    _context: AgentContext
    _queue: CommandQueue
    _timeouts: Timeouts
    _matches: Matches
    _match_search: MatchSearch
    _probing: bool = False
    _joined: bool = False
    """Whether we have joined the next game and the opponent has not."""
    _postponed: int = 0
    leave_reason: str | None = None
    """Why we are leaving the current match."""
    _opponent_left_suspected: bool = False
    """Whether the opponent in the current match has logged in again, or plays with nobody or somebody else."""

    # -- what the server says -----------------------------------------------------------------------------------

    @on(m.WaitForJoin)
    def _on_wait_for_join(self, _: m.WaitForJoin) -> None:
        self._joined = True

    @on(m.JoinNextGame)
    def _on_join_next_game(self, _: m.JoinNextGame) -> None:
        """Join, or leave a match whose server has contradicted itself: the opponent may know another score, or winner.

        Each side would then wait for the other, or play on by a score of its own. The saved match has one score.
        """
        self._joined = False
        if not self._leave_disputed_match():
            self._queue.send(c.Join())

    def _leave_disputed_match(self) -> bool:
        """Leave the match if the server has contradicted itself about its score; return whether it has."""
        disputed = self._context.tracked.score_disputed
        if disputed:
            self.stall("the server contradicts itself about the points of a game")
        return disputed

    @on(m.LoggedIn)
    def _on_logged_in(self, message: m.LoggedIn) -> None:
        if message.name == self._context.tracked.opponent:
            self._note_opponent_sign()

    def on_moves(self, message: m.Moves) -> None:
        """Take a play as a sign that the opponent is there."""
        if message.player == self._context.tracked.opponent:
            self._opponent_left_suspected = False

    def on_own_roll(self) -> None:
        """Learn whether the server rolls by itself."""
        if self._timeouts.is_waiting_for(Awaited.ROLL):
            self._context.note_feature(Feature.ROLL)

    @on(m.WhoInfo)
    def _on_who(self, info: m.WhoInfo) -> None:
        """Reconnect where both players wait for each other: a line was lost that no board can make up for."""
        if info.name != self._context.tracked.opponent:
            return
        if info.opponent != self._context.settings.name:
            self._note_opponent_sign()
            return
        self._opponent_left_suspected = False
        active = info.idle < self._context.settings.timings.patience
        if active and self._timeouts.expired_count(Awaited.OPPONENT) >= MAX_BOARD_REQUESTS:
            self.stall(f"{info.name} and we wait for each other", RecoveryStep.RECONNECT)

    def _note_opponent_sign(self) -> None:
        """Note a sign that the opponent is not in a match with us; the first one restarts the wait.

        FIBS would have said before that the match is saved. A list that is a moment old is put right by what follows.
        """
        if not self._opponent_left_suspected and self._context.session.state in IN_MATCH:
            self._opponent_left_suspected = True
            self._timeouts.stop(Awaited.OPPONENT)

    def on_answered(self, outcome: CommandOutcome) -> None:
        """Work out where we are from the outcome of a command."""
        command, state = outcome.queued.command, self._context.session.state
        if isinstance(outcome.message, m.TwoGamesAtOnce) and state is State.BETWEEN_GAMES:
            # A game began unheard: the server does not let us join the next one.
            self._context.session.state = State.UNCLEAR
            self._context.tracked = fast_evolve(self._context.tracked, running=True, state=None)
            self._queue.send(c.ShowBoard())
        elif isinstance(outcome.message, m.MatchAlreadyOver):
            self._give_up_over()
        match command:
            case c.Leave():
                self._on_leave_answered(outcome)
            case c.Join() | c.ShowBoard() if outcome.message is None and state is State.LOBBY:
                self._match_search.start()
            case c.Unwatch() if state is State.WATCHING:
                self._context.session.state = State.LOBBY
            case c.Time() if state is State.BETWEEN_GAMES and self._timeouts.expired_count(Awaited.GAME):
                if not self._queue.is_join_open and self._context.tracked.game:
                    self._queue.send(c.Join())

    def on_overdue(self, outcome: CommandOutcome) -> None:
        """Count answers that do not come."""
        # A question is given up after half the time, twice: only both together are as long as any other wait.
        question = awaited_of(outcome.queued.command) is Awaited.QUESTION
        if self._timeouts.note_missed(Awaited.ANY_LINE, weight=0.5 if question else 1):
            self._context.disconnect("the server is silent")
        elif isinstance(outcome.queued.command, c.ShowBoard) and self._context.session.state is not State.SEATED:
            if self._timeouts.note_missed(Awaited.REQUESTED_BOARD):
                self.stall("the server does not show the board")
            elif self._context.session.state in IN_MATCH:
                self._queue.send(c.ShowBoard())

    def on_board(self) -> None:
        """Go by a board that was asked for, on which no decision of ours is open."""
        if self._probing and self._context.session.state is State.MY_ROLL:
            # It should have rolled for us, or asked us to, and has forgotten (pitfall 11). Some servers always do.
            self._context.note_lack(Feature.ROLL)
            self._context.tracked = fast_evolve(self._context.tracked, roll_prompted=True)
        self._probing = False

    # -- in a match: waiting ------------------------------------------------------------------------------------

    def watch(self, deciding: Hashable | None, decision_wait: Awaited | None, *, match_over: bool) -> None:
        """Find out who has to act, and until when. `deciding`: the open decision of ours, and what it waits for."""
        state, tracked = self._context.session.state, self._context.tracked
        if state not in IN_MATCH:
            self.leave_reason = None
            self._opponent_left_suspected = False
        self._joined = self._joined and state is State.BETWEEN_GAMES
        match = self._matches.current
        if match is not None:
            self._matches.progress.note(match.opponent, tracked)
        if match is not None and match.unwanted and self.leave_reason is None and not self._context.disconnecting:
            self.leave("this server could not go on with the match")
        awaited: Awaited | None  # None outside of matches, and while we pretend to think or leave
        if self.leave_reason is not None:
            awaited = None
        elif match_over and state in IN_MATCH:
            awaited = Awaited.END
        elif deciding is not None:
            awaited = decision_wait
        elif self._joined:
            awaited = Awaited.OPPONENT
        elif state is State.THEIR_TURN and tracked.state is None:
            awaited = Awaited.BOARD
        else:
            awaited = _AWAITED.get(state)
        subject = deciding if awaited in (Awaited.DECISION, Awaited.STRATEGY) else (state, tracked.turn_count)
        divisor = ROLL_WAIT_DIVISOR if awaited is Awaited.ROLL and self._context.lacks(Feature.ROLL) else 1
        among = IN_MATCH_WAITS if state is State.LOBBY else _WAITS_OUTSIDE_THE_LOBBY
        if self._timeouts.switch(among, awaited, subject, divisor=divisor):
            self._probing = False
            self._postponed = 0

    def on_time(self, awaited: Awaited) -> None:
        """Ask for what does not come, and at last do what follows."""
        if not self._queue.idle and self._postponed < MAX_POSTPONED:
            self._postponed += 1  # what we wait for may be the answer to what we have not even sent
            self._context.set_timer(awaited, TIMEOUT_RULES[awaited].seconds(self._context.settings.timings))
            return
        self._postponed = 0
        last = self._timeouts.on_time(awaited)
        if awaited is Awaited.MATCH:
            self._match_search.go_on(last=last)
            return
        if awaited not in (Awaited.OPPONENT, Awaited.END):
            self._context.counters.timeouts += 1
            self._context.record("no_step", expected=awaited.name.lower())
        if last:
            self._on_last_timeout(awaited)
        elif awaited is Awaited.OPPONENT:
            self._check_opponent()
        elif awaited is Awaited.GAME and self._context.tracked.game:
            self._join_again()
        elif (
            awaited is Awaited.BOARD
            and self._timeouts.expired_count(awaited) == EMPTY_MOVE_AFTER
            and self._cannot_move()
        ):
            self._queue.send(c.EmptyMove())
        else:
            self.probe()

    def _join_again(self) -> None:
        """Join the next game, but not again before the server is known to have dealt with the `join` before."""
        if self._leave_disputed_match():
            return
        asks = self._queue.is_join_open and not self._context.lacks(Feature.TIME)
        self._queue.send(c.Time() if asks else c.Join())

    def _on_last_timeout(self, awaited: Awaited) -> None:
        if awaited is Awaited.END:
            if self._matches.conclude():
                self.leave("the match is over")
        else:
            whole = TIMEOUT_RULES[awaited].then is Consequence.REJOIN
            self.stall(f"expected {awaited.value}", RecoveryStep.REJOIN if whole else RecoveryStep.RECONNECT)

    def _cannot_move(self) -> bool:
        """Whether we have rolled and cannot move: a server that was stopped at that moment may send nothing more."""
        tracked = self._context.tracked
        return (
            self._context.session.state is State.MY_MOVE and tracked.turn is PlayerSide.PLAYER and cannot_move(tracked)
        )

    def probe(self) -> None:
        """Ask for the board; if it shows that it is our turn to roll, we roll."""
        self._probing = self._timeouts.is_waiting_for(Awaited.ROLL)
        self._queue.send(c.ShowBoard())

    def _check_opponent(self) -> None:
        """Check whether we missed a move of the opponent, or the opponent is no longer in a match with us."""
        opponent, passed = self._context.tracked.opponent, self._timeouts.expired_count(Awaited.OPPONENT)
        asks = opponent is not None and not self._context.lacks(Feature.RAWWHO)
        if self._opponent_left_suspected and (passed > 1 or not asks):
            self.stall(f"{opponent} is logged in, but not in our match")
            return
        self._queue.send(c.ShowBoard())
        if asks and (self._opponent_left_suspected or passed >= MAX_BOARD_REQUESTS):
            self._queue.send(c.Rawwho(opponent))

    # -- in a match: what follows -------------------------------------------------------------------------------

    def stall(self, why: str, first: RecoveryStep = RecoveryStep.REJOIN) -> None:
        """Take the next step for a match that makes no progress, or `first` if that comes later."""
        match, context = self._matches.current, self._context
        if context.disconnecting or self.leave_reason is not None:
            return
        if match is None:
            context.disconnect(why)
            return
        if first is RecoveryStep.REJOIN and context.lacks(Feature.LEAVE):
            first = RecoveryStep.RECONNECT
        number = max(self._matches.progress.steps_taken.get(match.opponent, 0), RECOVERY_STEPS.index(first))
        self._matches.progress.steps_taken[match.opponent] = number + 1
        context.counters.stalls += 1
        step = RECOVERY_STEPS[number] if number < len(RECOVERY_STEPS) else RecoveryStep.RECONNECT
        context.record("stalled", opponent=match.opponent, why=why, step=step.value)
        if step is RecoveryStep.GIVE_UP:
            self._matches.give_up(why)
        if step is RecoveryStep.RECONNECT:
            context.disconnect(why)
        else:
            self.leave(why)

    def leave(self, why: str) -> None:
        """Leave the match, which the server saves; all commands that are waiting are dropped."""
        self.leave_reason = why
        self._queue.drop(c.Command)
        self._queue.send(c.Leave())

    def _on_leave_answered(self, outcome: CommandOutcome) -> None:
        if self._context.session.state not in IN_MATCH:
            self._timeouts.stop(Awaited.LEAVE)
            return
        if outcome.refused:
            self._context.note_lack(Feature.LEAVE)
        elif not self._timeouts.note_missed(Awaited.LEAVE):
            self._queue.send(c.Leave())
            return
        if (match := self._matches.current) is not None:
            self._matches.progress.steps_taken[match.opponent] = max(
                self._matches.progress.steps_taken.get(match.opponent, 0), RECOVERY_STEPS.index(RecoveryStep.GIVE_UP)
            )
        self._context.disconnect(self.leave_reason or "the server does not let us leave the match")

    def _give_up_over(self) -> None:
        """Leave a match that the server says is over, without saying how it ended."""
        if self._matches.current is None:
            return
        if self._context.tracked.final_score is None:
            self._matches.give_up("the server says that the match is already over")
        elif not self._matches.conclude():
            return
        self.leave("the match is already over")
