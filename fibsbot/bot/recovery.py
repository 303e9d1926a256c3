"""What is done when something does not come: carries out the table of `waits.py` (docs/protocol.md, pitfalls 11, 12).

Lines get lost in both directions, and servers stop in the middle of a match. Whatever is waited for in a match is asked
for a few times; then the match is left and rejoined, then there is a new connection, and a match that makes no progress
all the same is given up: this server cannot go on with it. Progress is a score, position or turn not seen before.

Only a match's own lines lead into it, so that a copy of an old board does not. What else speaks of a match of ours,
such as our own `5` line, makes us ask for the board.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Hashable
from typing import Final

from attrs import evolve
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import IN_MATCH, State
from fibs_protocol.words import YOU

from fibsbot.bot.command_queue import CommandOutcome, CommandQueue
from fibsbot.bot.context import AgentContext, Feature
from fibsbot.bot.current_match import Matches
from fibsbot.bot.timeouts import TIMEOUT_RULES, Awaited, Consequence, Timeouts, awaited_of
from fibsbot.bot.tracked_match import PlayerSide, cannot_move

ROLL_WAIT_DIVISOR: Final = 8
"""A server that has once forgotten to roll for us is waited for so many times less."""
MAX_LOOKS: Final = 5
"""After so many looks at a board on which nothing happens, an opponent who is active waits for us, too."""
EMPTY_MOVE_AFTER: Final = 3
"""When we have waited so often for what follows a throw without a play, we say `move` without moves, once."""
MAX_PUT_OFF: Final = 8
"""A wait is put off so often while commands of ours are still to be sent or answered."""
MAX_UNSEEN: Final = 2
"""New connections for a match of which only our own `5` line speaks; then that line is not believed."""
MAX_SEEN: Final = 2_000
"""Situations of a match that are kept in mind to notice progress."""

IN_MATCH_WAITS: Final = frozenset(
    {Awaited.DECISION, Awaited.BOARD, Awaited.ROLL, Awaited.GAME, Awaited.END, Awaited.OPPONENT}
)
"""What is waited for in a match, one at a time."""


_AWAITED: Final = {
    **dict.fromkeys((State.UNCLEAR, State.MY_MOVE, State.THEY_DOUBLED, State.THEY_RESIGNED), Awaited.BOARD),
    **dict.fromkeys((State.THEIR_TURN, State.I_DOUBLED, State.I_RESIGNED), Awaited.OPPONENT),
    State.MY_ROLL: Awaited.ROLL,
    State.BETWEEN_GAMES: Awaited.GAME,
}
"""What is waited for in each state of a match while no decision of ours is open."""


class RecoveryStep(enum.Enum):
    """What is done for a match that makes no progress, in this order."""

    REJOIN = "leave and rejoin"
    RECONNECT = "reconnect"
    GIVE_UP = "give up"


RECOVERY_STEPS: Final = tuple(RecoveryStep)


class Recovery:
    """Keeps an eye on the clock while it is for others to act."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, waits: Timeouts, matches: Matches) -> None:
        """Wait for nothing."""
        self._desk = desk
        self._outbox = outbox
        self._waits = waits
        self._matches = matches
        self._probing = False
        self._joined = False
        self._put_off = 0
        self._leaving: str | None = None
        """Why we are leaving the match that is on."""
        self._steps: dict[str, int] = {}
        """How many steps of the ladder were taken with each opponent since the match made progress."""
        self._seen: set[Hashable] = set()
        """Situations of the match that is on."""
        self._with: str | None = None
        """The opponent of these situations."""
        self._named: str | None = None
        """With whom we play, as our own `5` line says."""
        self._claimed: str | None = None
        """Who plays with us, as their `5` line says; servers do not always agree with themselves."""
        self._alone = False
        """Whether the opponent of the match that is on has logged in anew, or plays with nobody or somebody else."""
        self._board_asked = False
        """Whether the board was asked for last, and not who we play with."""
        self._unseen: Counter[str] = Counter()
        """New connections made for a match that only our own `5` line speaks of."""

    def connected(self) -> None:
        """Begin with a new connection."""
        self._named = self._claimed = None

    def disconnected(self) -> None:
        """Wait for nothing; the situations of the match are not forgotten, for it may go on."""
        self._waits.clear()
        self._probing = self._joined = False
        self._leaving = None

    # -- what the server says -----------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Take note of what bears on who has to act, and on where we are."""
        self._waits.met(Awaited.WORD)
        state = self._desk.session.state
        if state is State.WATCHING:
            self._outbox.say(c.Unwatch())  # we never watch anybody
        match message:
            case m.WhoInfo():
                self._on_who(message)
            case m.Board():
                self._waits.met(Awaited.VIEW)
            case m.GameStarts() | m.GameWon() | m.GaveUp() | m.ResignAccepted() | m.OpponentGone() | m.YouLeft():
                self._joined = False
            case m.WaitForJoin():
                self._joined = True
            case m.LoggedIn() if message.name == self._desk.track.opponent:
                self._note_alone()
            case m.Moves() if message.player == self._desk.track.opponent:
                self._alone = False
            case m.Rolls(player=player) if player == YOU and self._waits.waits_for(Awaited.ROLL):
                self._desk.note_feature(Feature.ROLL)
        if state is State.LOBBY:
            self._look_for_signs(message)

    def _look_for_signs(self, message: Message) -> None:
        """Look for signs of a match that we do not know of."""
        match message:
            case m.GameStarts() | m.OpeningRoll() | m.FirstMove():
                self._suspect()
            case m.Board() if message.state.player == YOU:
                self._suspect()
            case m.NotPlaying() if self._partner:
                self._suspect()
            case m.YouArePlaying() | m.TwoGamesAtOnce():
                self._outbox.say(c.ShowBoard())

    def _on_who(self, info: m.WhoInfo) -> None:
        us, before = self._desk.settings.name, self._partner
        if info.name == us:
            self._named = info.opponent
        elif info.opponent == us:
            self._claimed = info.name
        elif info.name == self._claimed:
            self._claimed = None
        if us in (info.name, info.opponent) or self._partner != before:
            self._on_partner()
        if info.name == self._desk.track.opponent:
            self._on_opponent(info)

    @property
    def _partner(self) -> str | None:
        """With whom we play, as `5` lines say."""
        return self._named or self._claimed

    def _on_partner(self) -> None:
        """Go by what `5` lines say of a match of ours."""
        if self._partner is None:
            self._waits.met(Awaited.MATCH)
        elif self._desk.session.state is State.LOBBY and self._unseen[self._partner] <= MAX_UNSEEN:
            self._suspect()

    def _on_opponent(self, info: m.WhoInfo) -> None:
        """Begin anew where both wait: a line was lost that no board can make up for."""
        if info.opponent != self._desk.settings.name:
            self._note_alone()
            return
        self._alone = False
        active = info.idle < self._desk.settings.timings.patience
        if active and self._waits.passed(Awaited.OPPONENT) >= MAX_LOOKS:
            self.stall(f"{info.name} and we wait for each other", RecoveryStep.RECONNECT)

    def _note_alone(self) -> None:
        """Take note of a sign that the opponent knows of no match with us; a whole wait begins with the first one.

        FIBS would have said before that the match is saved. A list that is a moment old is put right by what follows.
        """
        if not self._alone and self._desk.session.state in IN_MATCH:
            self._alone = True
            self._waits.met(Awaited.OPPONENT)

    def on_answered(self, answered: CommandOutcome) -> None:
        """Notice where we are from what became of a command."""
        command, state = answered.errand.command, self._desk.session.state
        if isinstance(answered.message, m.TwoGamesAtOnce) and state is State.BETWEEN_GAMES:
            # A game began unheard: the server does not let us join the next one.
            self._desk.session.state = State.UNCLEAR
            self._desk.track = evolve(self._desk.track, running=True, state=None)
            self._outbox.say(c.ShowBoard())
        elif isinstance(answered.message, m.MatchAlreadyOver):
            self._give_up_over()
        match command:
            case c.Leave():
                self._on_leave_answered(answered)
            case c.Join() | c.ShowBoard() if answered.message is None and state is State.LOBBY:
                self._suspect()
            case c.Unwatch() if state is State.WATCHING:
                self._desk.session.state = State.LOBBY

    def on_overdue(self, answered: CommandOutcome) -> None:
        """Count answers that do not come."""
        # A question is given up after half the time, twice: only both together are as long as any other wait.
        question = awaited_of(answered.errand.command) is Awaited.QUESTION
        if self._waits.missed(Awaited.WORD, weight=0.5 if question else 1):
            self._desk.disconnect("the server is silent")
        elif isinstance(answered.errand.command, c.ShowBoard):
            if self._waits.missed(Awaited.VIEW):
                self.stall("the server does not show the board")
            elif self._desk.session.state in IN_MATCH:
                self._outbox.say(c.ShowBoard())

    def on_board(self) -> None:
        """Go by a board that was asked for, on which no decision of ours is open."""
        if self._probing and self._desk.session.state is State.MY_ROLL:
            # It should have rolled for us, or asked us to, and has forgotten (pitfall 11). Some servers always do.
            self._desk.note_lack(Feature.ROLL)
            self._desk.track = evolve(self._desk.track, prompted=True)
        self._probing = False

    # -- in a match: waiting ------------------------------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether no decision is to be made: the match is over, or we leave it."""
        return self._leaving is not None or self._matches.final_score is not None

    def watch(self, deciding: Hashable | None, *, sent: bool) -> None:
        """Find out who has to act, and until when. `deciding`: the open decision of ours; `sent`: it went out."""
        state = self._desk.session.state
        if state not in IN_MATCH:
            self._leaving = None
            self._alone = False
        if state is not State.LOBBY:
            self._waits.met(Awaited.MATCH)
        self._note_progress()
        if self._matches.unwanted and self._leaving is None and not self._desk.hung_up:
            self.leave("this server could not go on with the match")
        awaited = None if self._leaving is not None else self._next(deciding, sent=sent)
        self._waits.only(awaited, IN_MATCH_WAITS)
        if awaited is None:
            return
        subject = deciding if awaited is Awaited.DECISION else (state, self._desk.track.turns)
        if not self._waits.waits_for(awaited):
            self._probing = False
            self._put_off = 0
        hurry = ROLL_WAIT_DIVISOR if awaited is Awaited.ROLL and self._desk.lacks(Feature.ROLL) else 1
        self._waits.expect(awaited, subject, hurry=hurry)

    def _next(self, deciding: Hashable | None, *, sent: bool) -> Awaited | None:
        """Return what has to come next; None outside of matches, and while we think."""
        state, track = self._desk.session.state, self._desk.track
        if state in IN_MATCH and self._matches.final_score is not None:
            return Awaited.END
        if deciding is not None:
            return Awaited.DECISION if sent else None
        if state is State.BETWEEN_GAMES and self._joined:
            return Awaited.OPPONENT
        if state is State.THEIR_TURN and track.state is None:
            return Awaited.BOARD
        return _AWAITED.get(state)

    def on_time(self, awaited: Awaited) -> None:
        """Ask for what does not come, and at last do what follows."""
        if not self._outbox.idle and self._put_off < MAX_PUT_OFF:
            self._put_off += 1  # what we wait for may be the answer to what we have not even sent
            self._desk.wake(awaited.timer, TIMEOUT_RULES[awaited].seconds(self._desk.settings.timings))
            return
        self._put_off = 0
        last = self._waits.on_time(awaited)
        if awaited is Awaited.MATCH:
            self._look_for_match(last=last)
            return
        if awaited not in (Awaited.OPPONENT, Awaited.END):
            self._desk.counters.timeouts += 1
            self._desk.record("no_step", expected=awaited.name.lower())
        if last:
            self._follow(awaited)
        elif awaited is Awaited.OPPONENT:
            self._look()
        elif awaited is Awaited.GAME and self._desk.track.game:
            self._outbox.say(c.Join())
        elif awaited is Awaited.BOARD and self._waits.passed(awaited) == EMPTY_MOVE_AFTER and self._dances():
            self._outbox.say(c.Move(()))
        else:
            self.probe()

    def _follow(self, awaited: Awaited) -> None:
        if awaited is Awaited.END:
            if self._matches.conclude():
                self.leave("the match is over")
        else:
            whole = TIMEOUT_RULES[awaited].then is Consequence.REJOIN
            self.stall(f"expected {awaited.value}", RecoveryStep.REJOIN if whole else RecoveryStep.RECONNECT)

    def _dances(self) -> bool:
        """Whether we have thrown and have no play: a server that was stopped at that very moment may say no more."""
        track = self._desk.track
        return self._desk.session.state is State.MY_MOVE and track.turn is PlayerSide.PLAYER and cannot_move(track)

    def probe(self) -> None:
        """Ask for the board; where it shows that it is for us to roll, we do."""
        self._probing = self._waits.waits_for(Awaited.ROLL)
        self._outbox.say(c.ShowBoard())

    def _look(self) -> None:
        """Look whether the opponent has acted unheard, or knows of no match with us any more."""
        opponent, passed = self._desk.track.opponent, self._waits.passed(Awaited.OPPONENT)
        asks = opponent is not None and not self._desk.lacks(Feature.RAWWHO)
        if self._alone and (passed > 1 or not asks):
            self.stall(f"{opponent} is there, and does not play with us")
            return
        self._outbox.say(c.ShowBoard())
        if asks and (self._alone or passed >= MAX_LOOKS):
            self._outbox.say(c.Rawwho(opponent))

    # -- in a match: what follows -------------------------------------------------------------------------------

    def _note_progress(self) -> None:
        """Forget the steps that were taken for a match which goes on."""
        track = self._desk.track
        if track.state is None or self._matches.current is None:
            return
        opponent = self._matches.current.opponent
        situation = track.game, track.state.score, track.state.position.points, track.state.cube, track.turn
        if opponent != self._with:
            self._with, self._seen = opponent, set()
        elif situation in self._seen:
            return
        elif self._seen:
            self._steps.pop(opponent, None)
            self._unseen.pop(opponent, None)
        if len(self._seen) >= MAX_SEEN:
            self._seen.clear()
        self._seen.add(situation)

    def stall(self, why: str, first: RecoveryStep = RecoveryStep.REJOIN) -> None:
        """Take the next step for a match that makes no progress, or `first` if that comes later."""
        match, desk = self._matches.current, self._desk
        if desk.hung_up or self._leaving is not None:
            return
        if match is None:
            desk.disconnect(why)
            return
        if first is RecoveryStep.REJOIN and desk.lacks(Feature.LEAVE):
            first = RecoveryStep.RECONNECT
        number = max(self._steps.get(match.opponent, 0), RECOVERY_STEPS.index(first))
        self._steps[match.opponent] = number + 1
        desk.counters.stalls += 1
        step = RECOVERY_STEPS[number] if number < len(RECOVERY_STEPS) else RecoveryStep.RECONNECT
        desk.record("stalled", opponent=match.opponent, why=why, step=step.value)
        if step is RecoveryStep.GIVE_UP:
            self._matches.give_up(why)
        if step is RecoveryStep.RECONNECT:
            desk.disconnect(why)
        else:
            self.leave(why)

    def leave(self, why: str) -> None:
        """Leave the match; the server saves it, and whatever else waits to be said is not said."""
        self._leaving = why
        self._outbox.drop(c.Command)
        self._outbox.say(c.Leave())

    def _on_leave_answered(self, answered: CommandOutcome) -> None:
        if self._desk.session.state not in IN_MATCH:
            self._waits.met(Awaited.LEAVE)
            return
        if answered.refused:
            self._desk.note_lack(Feature.LEAVE)
        elif not self._waits.missed(Awaited.LEAVE):
            self._outbox.say(c.Leave())
            return
        if (match := self._matches.current) is not None:
            self._steps[match.opponent] = max(
                self._steps.get(match.opponent, 0), RECOVERY_STEPS.index(RecoveryStep.GIVE_UP)
            )
        self._desk.disconnect(self._leaving or "the server does not let us leave the match")

    def _give_up_over(self) -> None:
        """Leave a match of which the server says that it is over, and does not say how it ended."""
        if self._matches.current is None:
            return
        if self._matches.final_score is None:
            self._matches.give_up("the server says that the match is already over")
        elif not self._matches.conclude():
            return
        self.leave("the match is already over")

    # -- outside of matches ---------------------------------------------------------------------------------------

    @property
    def wonders(self) -> bool:
        """Whether we may be in a match: then nobody is invited or joined."""
        return self._waits.waits_for(Awaited.MATCH) or (self.asks and self._desk.session.state is State.LOBBY)

    @property
    def asks(self) -> bool:
        """Whether a board would be the answer to our question, and not a copy of an old one."""
        in_flight = self._outbox.in_flight
        return in_flight is not None and isinstance(in_flight.command, c.ShowBoard)

    def _suspect(self) -> None:
        """Find out whether we are in a match."""
        if not self._waits.waits_for(Awaited.MATCH):
            self._put_off = 0
            self._board_asked = False
            self._waits.expect(Awaited.MATCH)

    def _look_for_match(self, *, last: bool) -> None:
        """Ask for the board of a match that we seem to be in, and who we play with."""
        name = self._partner
        if last and name:
            self._unseen[name] += 1
            if self._unseen[name] <= MAX_UNSEEN:
                self._desk.disconnect(f"the server says that we play with {name}, and shows no board")
            else:
                self._matches.note_stuck(name, None, "the server says that we play, and shows no board")
        elif last:
            return
        elif name and (not self._board_asked or self._desk.lacks(Feature.RAWWHO)):
            self._board_asked = True
            self._outbox.say(c.ShowBoard())
        elif not self._desk.lacks(Feature.RAWWHO):
            self._board_asked = False
            self._outbox.say(c.Rawwho(self._desk.settings.name))
        else:
            self._waits.met(Awaited.MATCH)
