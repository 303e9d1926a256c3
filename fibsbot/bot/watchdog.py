"""Notices what does not come: the server's next step, or the opponent's (docs/protocol.md, pitfalls 11, 12 and 20).

Lines get lost in both directions, and there is no state of a match in which a lost line could make us wait for ever:

- the server owes a step: after the watchdog's time we ask for the board, or join the next game, and go by what comes;
- the opponent has to act: after the patience's time we ask for the board again and again, and who the opponent is;
- an offer to resign shows on no board. Where the opponent, too, has done something lately and nothing has come of it,
  both wait for each other, and a new connection makes the server tell both what is open.
"""

from __future__ import annotations

import enum
from typing import Final

from attrs import evolve

from fibsbot.bot.desk import Desk
from fibsbot.bot.outbox import Answered, Outbox
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import State
from protocol.words import YOU

IMPATIENCE: Final = 8
"""A server that has once forgotten to roll for us is waited for so many times less."""
MOST_LOOKS: Final = 5
"""After so many looks at a board on which nothing happens, an opponent who is active waits for us, too."""


class Step(enum.Enum):
    """What has to come next."""

    BOARD = "board"
    """A board, or whatever tells what is open."""
    ROLL = "roll"
    """Dice that the server throws for us, or its question whether we double."""
    GAME = "game"
    """The question whether we join the next game."""
    OPPONENT = "opponent"
    """Whatever the opponent does."""


class Watchdog:
    """Keeps an eye on the clock while it is for others to act."""

    def __init__(self, desk: Desk, outbox: Outbox) -> None:
        """Wait for nothing."""
        self._desk = desk
        self._outbox = outbox
        self._expected: tuple[Step, State, int] | None = None
        self._looks = 0
        self._probing = False
        self._rolls_itself = True
        self._joined = False

    def disconnected(self) -> None:
        """Wait for nothing; how the server rolls is not forgotten, for it will be the same one."""
        self._expected = None
        self._probing = False
        self._joined = False

    # -- what the server says -----------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """Take note of what bears on who has to act."""
        match message:
            case m.GameStarts() | m.GameWon() | m.GaveUp() | m.ResignAccepted() | m.OpponentGone() | m.YouLeft():
                self._joined = False
            case m.WaitForJoin():
                self._joined = True
            case m.Rolls(player=player) if player == YOU and self._expected and self._expected[0] is Step.ROLL:
                self._rolls_itself = True
            case m.WhoInfo() if message.name == self._desk.track.opponent:
                self._on_opponent(message)

    def _on_opponent(self, info: m.WhoInfo) -> None:
        """Begin anew where both wait: a line was lost that no board can make up for."""
        waiting = self._expected is not None and self._expected[0] is Step.OPPONENT
        active = info.opponent == self._desk.settings.name and info.idle < self._desk.settings.timings.patience
        if waiting and active and self._looks >= MOST_LOOKS:
            self._desk.disconnect(f"{info.name} and we wait for each other")

    def on_answered(self, answered: Answered) -> None:
        """Notice a game that began unheard: the server does not let us join the next one."""
        if isinstance(answered.message, m.TwoGamesAtOnce) and self._desk.session.state is State.BETWEEN_GAMES:
            self._desk.session.state = State.UNCLEAR
            self._desk.track = evolve(self._desk.track, running=True, state=None)
            self._outbox.say(c.ShowBoard())

    def on_board(self) -> None:
        """Go by a board that was asked for, on which no decision of ours is open."""
        if self._probing and self._desk.session.state is State.MY_ROLL:
            # It should have rolled for us, or asked us to, and has forgotten (pitfall 11). Some servers always do.
            self._rolls_itself = False
            self._desk.track = evolve(self._desk.track, prompted=True)
        self._probing = False

    # -- waiting ------------------------------------------------------------------------------------------------

    def watch(self, *, deciding: bool) -> None:
        """Find out who has to act, and until when. `deciding`: a decision of ours is open."""
        state, step = self._desk.session.state, None if deciding else self._next_step()
        expected = (step, state, self._desk.track.turns) if step else None
        if expected == self._expected:
            return
        self._expected = expected
        self._probing = False
        self._looks = 0
        if step is None:
            self._desk.cancel("step")
            return
        timings = self._desk.settings.timings
        hurry = IMPATIENCE if step is Step.ROLL and not self._rolls_itself else 1
        self._desk.wake("step", timings.patience if step is Step.OPPONENT else timings.watchdog / hurry)

    def _next_step(self) -> Step | None:
        """Return what has to come next; None outside of matches."""
        match self._desk.session.state:
            case State.UNCLEAR | State.MY_MOVE | State.THEY_DOUBLED | State.THEY_RESIGNED:
                return Step.BOARD
            case State.MY_ROLL:
                return Step.ROLL
            case State.BETWEEN_GAMES:
                return Step.OPPONENT if self._joined else Step.GAME
            case State.THEIR_TURN:
                return Step.BOARD if self._desk.track.state is None else Step.OPPONENT
            case State.I_DOUBLED | State.I_RESIGNED:
                return Step.OPPONENT
        return None

    def on_time(self) -> None:
        """Ask for what does not come."""
        if self._expected is None or self._expected[1] is not self._desk.session.state:
            return
        step, timings = self._expected[0], self._desk.settings.timings
        self._desk.wake("step", timings.patience if step is Step.OPPONENT else timings.watchdog)
        if not self._outbox.idle:
            return  # what we wait for may be the answer to what we have not even sent
        if step is Step.OPPONENT:
            self._look()
            return
        self._desk.counters.timeouts += 1
        self._desk.record("no_step", expected=step.value)
        if step is Step.GAME and self._desk.track.game:
            self._outbox.say(c.Join())
        else:
            self.probe()

    def probe(self) -> None:
        """Ask for the board; where it shows that it is for us to roll, we do."""
        self._probing = self._expected is not None and self._expected[0] is Step.ROLL
        self._outbox.say(c.ShowBoard())

    def _look(self) -> None:
        """Look whether the opponent has acted unheard."""
        self._looks += 1
        self._outbox.say(c.ShowBoard())
        if self._looks >= MOST_LOOKS and self._desk.track.opponent:
            self._outbox.say(c.Rawwho(self._desk.track.opponent))
