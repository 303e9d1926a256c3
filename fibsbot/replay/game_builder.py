"""Builds one game entry by entry, each checked against the rules before it is added.

An entry is added once it is certain: a roll together with its play, an offer to resign together with its answer. A
line that cannot follow from the entries so far means that another line is missing: later ones are then set aside
until a board shows the game again, and transcript/reconstruction.py works out what happened in between.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen
from fibs_protocol.board import BoardState

from fibsbot.evolve import evolve
from fibsbot.match import CubeAction, Dice
from fibsbot.position import CHECKERS, Play
from fibsbot.replay.board_view import BoardView, board_shows_state
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import redoubles_left
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import has_choice, resulting_positions
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Step, Throw, apply
from fibsbot.transcript.reconstruction import KnownEvent, PlayWithoutRoll, find_play, possible_rolls, reconstruct

MAX_SET_ASIDE: Final = 8
"""So many things are put aside while the game is not known; with more of them it is a gap all the same."""


@frozen
class SentPlay:
    """A play that was sent, or announced: it counts when something shows that it was made."""

    play: Play
    at: dt.datetime | None


@frozen
class PendingResignation:
    """An offer to resign that waits for its answer."""

    seat: Seat
    level: Level | None
    """None where what was offered fits no level."""


class GameBuilder:
    """One game."""

    def __init__(self, number: int, start: GameState) -> None:
        """Begin with the game as it was first seen."""
        self.number = number
        self.start = start
        self.base = start
        """The game after the entries that are written."""
        self.entries: list[Entry] = []
        self.steps: list[Step] = []
        """Those that nobody has fetched yet."""
        self.thrown: Throw | None = None
        """The dice on the board, whose play is not known yet."""
        self.made: SentPlay | None = None
        self.quiet: Seat | None = None
        """Whose plays nobody tells: our own, in a capture without what we have sent. Only boards show them."""
        self.resumed = False
        """Whether the match goes on after a break, and nothing has happened since: what waits is told again then."""
        self.remarks: dict[str, Mapping[str, Any]] = {}
        """What a log told of our last decisions, by phase."""
        self._offer: PendingResignation | None = None
        self._aside: list[KnownEvent] | None = None
        """What was told since the game is not known any more; None while it is."""
        self._told: Result | None = None
        self._before: GameState | None = None
        """The game before the last entry."""
        self._state: GameState | None = start

    # -- what others look at ----------------------------------------------------------------------------------------

    @property
    def state(self) -> GameState:
        """The game with the dice that lie on the board."""
        if self._state is None:
            self._state = self.base if self.thrown is None else apply(self.base, self.thrown)
        return self._state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._told is not None or self.base.stage is Stage.OVER

    @property
    def is_known(self) -> bool:
        """Whether the game is on, and nothing waits for the next board to show where it stands."""
        return self._aside is None and not self.over

    @property
    def result(self) -> Result | None:
        """How it ended, as it was told or else as the entries show."""
        return self._told or self.base.result

    @property
    def game(self) -> Game:
        """The game as far as it is written."""
        return Game(self.number, self.start, tuple(self.entries), self.result)

    @property
    def scores(self) -> tuple[int, int]:
        """Points of both after this game, as far as they are known."""
        a, b = self.start.scores
        result = self.result
        if result is None:
            return (a, b)
        return (a + result.points, b) if result.winner is Seat.A else (a, b + result.points)

    # -- throws and plays -------------------------------------------------------------------------------------------

    def throw(self, seat: Seat, dice: Dice, at: dt.datetime | None) -> None:
        """A player throws."""
        state, entry = self.state, Throw(seat=seat, dice=dice, at=at)
        if self._aside is not None:
            self._put_aside(entry)
        elif state.stage is Stage.MOVE and state.turn is seat and sorted(state.dice or ()) == sorted(dice):
            return  # told twice, or shown by a board before
        elif not self._settle() or not self._lay(entry):
            self._put_aside(entry)

    def play(self, seat: Seat, play: Play, at: dt.datetime | None) -> None:
        """A player plays; no moves: cannot move."""
        if self._was_shown(seat, play):
            return
        if self._aside is None and self.state.stage is Stage.MOVE and self.state.turn is not seat:
            self._settle()
        entry = self._played(seat, play, at)
        if self._aside is not None or entry is None or not self._write(entry):
            self._put_aside(entry or PlayWithoutRoll(seat, play, at))

    def _was_shown(self, seat: Seat, play: Play) -> bool:
        """Whether a board has shown this very play right before: some servers send the board first."""
        last, before = self.entries[-1] if self.entries else None, self._before
        if self._aside is not None or self.thrown is not None or before is None:
            return False
        if not isinstance(last, Throw) or not last.rebuilt or last.seat is not seat or self.base.turn is seat:
            return False
        said = evolve(last, play=Play(play.ordered), rebuilt=False)
        try:
            agrees = apply(before, said).position == self.base.position
        except RuleError:
            return False
        if agrees:
            self.entries[-1] = said
            if self.steps and self.steps[-1].entry is last:
                self.steps[-1] = evolve(self.steps[-1], entry=said)
        return agrees

    def _played(self, seat: Seat, play: Play, at: dt.datetime | None) -> Throw | None:
        """Return the whole throw of a play, where the dice are known or follow from it."""
        if self._aside is not None:
            last = self._aside[-1] if self._aside else None
            if isinstance(last, Throw) and last.play is None and last.seat is seat:
                self._aside.pop()
                return evolve(last, play=play, at=at)
            return None
        state = self.state
        if self.thrown is not None:
            return self._completed(self.thrown, play, at) if self.thrown.seat is seat else None
        possible = possible_rolls(state, PlayWithoutRoll(seat, play, at))
        return possible[0] if len(possible) == 1 else None

    def _completed(self, thrown: Throw, play: Play, at: dt.datetime | None) -> Throw:
        """Return a throw with its play, in the order in which plays stand in transcripts."""
        seconds = (at - thrown.at).total_seconds() if at and thrown.at and at > thrown.at else None
        ordered = Play(play.ordered)
        return Throw(seat=thrown.seat, dice=thrown.dice, play=ordered, at=at or thrown.at, seconds=seconds)

    def say(self, play: Play, at: dt.datetime | None) -> None:
        """A play was sent, or announced."""
        self.made = SentPlay(play, at)

    def refuse(self) -> None:
        """What was sent has been refused."""
        self.made = None

    # -- the cube ---------------------------------------------------------------------------------------------------

    def double(self, seat: Seat, at: dt.datetime | None) -> None:
        """A player doubles."""
        self._turn_cube(Cube(seat=seat, action=CubeAction.DOUBLE, at=at))

    def answer(self, seat: Seat, action: CubeAction, at: dt.datetime | None) -> None:
        """A player takes, passes or redoubles at once; if nobody was heard to double, somebody has."""
        state = self.state
        if action is CubeAction.TAKE and state.stage is Stage.ROLL and state.owner is seat is state.turn.other:
            return  # told twice
        if self._aside is None and state.stage is not Stage.DOUBLED and self._settle():
            self._write(Cube(seat=seat.other, action=CubeAction.DOUBLE, at=at, rebuilt=True))
        elif self._aside is None and state.answering is seat.other and action is not CubeAction.BEAVER:
            self._write(Cube(seat=seat.other, action=CubeAction.BEAVER, at=at, rebuilt=True))
        self._turn_cube(Cube(seat=seat, action=action, at=at))

    def _turn_cube(self, entry: Cube) -> None:
        state = self.state
        doubling = entry.action in (CubeAction.DOUBLE, CubeAction.BEAVER)
        if doubling and state.stage is Stage.DOUBLED and state.answering is entry.seat.other:
            if self.resumed or entry.action is CubeAction.DOUBLE:
                return  # told again, when the match goes on after a break
            if self._aside is None:
                self._write(Cube(seat=entry.seat.other, action=CubeAction.BEAVER, at=entry.at, rebuilt=True))
        if self._aside is None and doubling and state.stage is not Stage.DOUBLED:
            self._settle()
            if self.base.crawford and entry.seat is self.base.turn:
                self._lift_crawford()
        if self._aside is not None or self.thrown is not None or not self._write(entry):
            self._put_aside(entry)

    def _lift_crawford(self) -> None:
        """Somebody doubles in what would be the Crawford game: then it is played without the rule."""
        self.start, self.base = (
            evolve(state, crawford=False, laws=evolve(state.laws, crawford=False)) for state in (self.start, self.base)
        )
        self._state = None

    # -- resignations and ends --------------------------------------------------------------------------------------

    def offer(self, seat: Seat, points: int) -> None:
        """A player wants to resign."""
        self._offer = PendingResignation(seat, self._level(points))
        if self.thrown is not None and self.made is not None:
            self._write(self._completed(self.thrown, self.made.play, self.made.at))

    def reject(self, at: dt.datetime | None, *, rebuilt: bool = False) -> None:
        """What was offered to resign is rejected."""
        offer, self._offer = self._offer, None
        if self._aside is not None:
            return
        level = offer.level if offer else None
        thrown, made = self.thrown, self.made
        if offer is None or level is None:
            self._write(Gap(reason="an offer to resign is missing", then=self.base, at=at))
        else:
            self._write(Resign(seat=offer.seat, level=level, accepted=False, at=at, rebuilt=rebuilt))
        if thrown is not None:
            self._lay(thrown)
            self.made = made

    def resigned(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """The game ends with a resignation."""
        offer, self._offer = self._offer, None
        level = self._level(points)
        if self._aside is None and level is not None:
            if self.thrown is not None:
                self._write(self.thrown)
            entry = Resign(seat=winner.other, level=level, accepted=True, at=at, rebuilt=offer is None)
            self._write(entry)
        self._end(winner, points, Ending.RESIGNED, at)

    def passed(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """The game ends because a double was refused."""
        if self._aside is None:
            self.answer(winner.other, CubeAction.PASS, at)
        self._end(winner, points, Ending.DROPPED, at)

    def won(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """The game ends because somebody has borne off all checkers."""
        if not self.over and self._aside is None and self.state.stage is Stage.MOVE:
            if self.state.turn is winner.other:
                self._settle()
            self._bear_the_rest_off(at)
        self._end(winner, points, Ending.BORNE_OFF, at)

    def _bear_the_rest_off(self, at: dt.datetime | None) -> None:
        """Write the last play, which was not told: whatever bears off all that is left."""
        thrown, state = self.thrown, self.state
        if thrown is None:
            return
        if self.made and self._write(self._completed(thrown, self.made.play, self.made.at)):
            return
        if CHECKERS - state.position.off > 4:
            return
        last = [
            steps for cells, steps in resulting_positions(state.position.points, thrown.dice).items() if max(cells) <= 0
        ]
        if len(last) == 1:
            play = Play.of(*sorted(last[0], reverse=True))
            self._write(evolve(thrown, play=play, at=at, rebuilt=thrown.seat is not self.quiet))

    def _level(self, points: int) -> Level | None:
        """Return what so many points mean; there are servers that leave the cube out where somebody resigns."""
        level, rest = divmod(points, self.base.cube)
        if rest:
            level = points
        return Level(level) if level in list(Level) else None

    def conclude(self, scores: tuple[int, int] | None) -> None:
        """Find out how the game ended, whose end was not told, from the scores after it."""
        if self.over or scores is None:
            return
        gains = [new - old for new, old in zip(scores, self.start.scores, strict=True)]
        if min(gains) != 0 or max(gains) <= 0:
            return
        winner = Seat(gains.index(max(gains)))
        self._conclude(winner, gains[winner])

    def _conclude(self, winner: Seat, points: int) -> None:
        state, offer = self.state, self._offer
        if self._aside is not None:
            return
        self._offer = None
        if offer and offer.seat is winner.other and offer.level and offer.level * state.cube == points:
            self._write(Resign(seat=offer.seat, level=offer.level, accepted=True, rebuilt=True))
        elif state.stage is Stage.DOUBLED and state.answering is winner.other and points == state.cube:
            self._write(Cube(seat=winner.other, action=CubeAction.PASS, rebuilt=True))
        elif state.stage is Stage.MOVE and state.turn is winner:
            self._bear_the_rest_off(None)
        seen = self.base.result
        if seen and (seen.winner, seen.points) != (winner, points):
            self._told = Result(winner, points, seen.level, seen.how)

    def miss(self, winner: Seat, points: int, how: Ending) -> None:
        """Nothing is known of the game but how it ended."""
        self._end(winner, points, how, None, "the game is missing: no board has shown it")

    def _end(
        self,
        winner: Seat,
        points: int,
        how: Ending,
        at: dt.datetime | None,
        missing: str = "the end of the game is missing",
    ) -> None:
        """Take note of the end as it was told; what led there and is not known is a gap."""
        seen = self.base.result
        if seen is not None and (seen.winner, seen.points) == (winner, points):
            return
        if self._told is not None:
            return
        level = None if how is Ending.DROPPED else self._level(points)
        self._told = Result(winner, points, level or Level.SINGLE, how)
        if seen is None:
            a, b = self.base.scores
            scores = (a + points, b) if winner is Seat.A else (a, b + points)
            ended = evolve(self.base, stage=Stage.OVER, scores=scores, result=self._told, dice=None, resignation=None)
            ended = evolve(ended, offered=0, answering=None, redoubles=0)
            self._aside = self.thrown = None
            self._write(Gap(reason=missing, then=ended, at=at))

    def give_up(self) -> None:
        """Nothing more will be seen of the game: write the throw whose play was not seen any more."""
        if self.thrown is not None and not self.over:
            self._write(self.thrown)

    def lose_end(self) -> None:
        """The match went on, and how this game ended was not seen."""
        if self.entries and not self.over and not isinstance(self.entries[-1], Gap):
            self._write(Gap(reason="the end of the game is missing", then=self.base))

    # -- boards -----------------------------------------------------------------------------------------------------

    def look(self, sight: BoardView, at: dt.datetime | None) -> None:
        """Hold a board of this game, with the same scores, against what is written; rebuild what is missing."""
        if self._aside is None and (sight.agrees(self.state) or self.shows_what_was_made(sight.board, sight.seat)):
            return
        seen = sight.state(self.state)
        if seen is None:
            return
        if self._offer is not None:
            self.reject(at, rebuilt=True)
        entries = self._last_play(seen) or self._played_to(seen, at) or self._between(seen, at)
        self._aside = self.thrown = None
        for entry in entries:
            self._write(entry)
        if seen.stage is Stage.MOVE and seen.dice is not None:
            self.thrown = Throw(seat=seen.turn, dice=seen.dice, at=at)
        self._state = None

    def shows_what_was_made(self, board: BoardState, seat: Seat) -> bool:
        """Write the play that was sent if a board shows just that, as most do; then nothing has to be searched for."""
        thrown, made = self.thrown, self.made
        if thrown is None or made is None or self._offer is not None or board.double_pending:
            return False
        if self.base.stage is Stage.MOVE:  # first seen with the dice on the board: there may be another way here
            return False
        entry = self._completed(thrown, made.play, made.at)
        try:
            after = rules.play(self.state, entry.seat, made.play)
        except RuleError:
            return False
        if after.stage is not Stage.ROLL or not board_shows_state(board, seat, after):
            return False
        self._add(entry, after)
        return True

    def _last_play(self, seen: GameState) -> tuple[Entry, ...]:
        """Return our play that ended the game, if a board shows it before a line says that the game is over."""
        if self.thrown is None or self.made is None or self._aside is not None or not seen.position.over:
            return ()
        entry = self._completed(self.thrown, self.made.play, self.made.at)
        try:
            after = apply(self.base, entry)
        except RuleError:
            return ()
        return (entry,) if after.position_for(Seat.A) == seen.position_for(Seat.A) else ()

    def _played_to(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        """Return the play that a board shows to have been made with the dice that lay there, if it shows just that."""
        thrown, state = self.thrown, self.state
        if thrown is None or self.made is not None or self._aside is not None or seen.turn is not state.turn.other:
            return ()
        if (seen.cube, seen.owner, seen.stage) not in (
            (state.cube, state.owner, it) for it in (Stage.ROLL, Stage.MOVE)
        ):
            return ()
        play = find_play(state.position.points, thrown.dice, seen.position_for(state.turn).points)
        if play is None:
            return ()
        return (evolve(thrown, play=play, at=at or thrown.at, rebuilt=thrown.seat is not self.quiet),)

    def _between(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        thrown, aside = self.thrown, tuple(self._aside or ())
        if self._aside is not None and len(self._aside) > MAX_SET_ASIDE:
            return (Gap(reason="several turns are missing", then=seen, at=at),)
        if thrown is not None and self.made is not None:
            entry = self._completed(thrown, self.made.play, self.made.at)
            ways = reconstruct(self.base, seen, (entry, *aside), at=at)
            if not any(isinstance(it, Gap) for it in ways):
                return ways
        return reconstruct(self.base, seen, (thrown, *aside) if thrown else aside, at=at)

    # -- writing ----------------------------------------------------------------------------------------------------

    def _lay(self, entry: Throw) -> bool:
        """Put dice on the board; False where the rules forbid it."""
        try:
            self._state = apply(self.base, entry)
        except RuleError:
            return False
        self.thrown = entry
        return True

    def begin(self, entry: Throw) -> None:
        """Put the opening throw on the board."""
        if not self._lay(entry):
            self._put_aside(entry)

    def _settle(self) -> bool:
        """Bring to its end what a new turn shows to be over; False where that is not certain."""
        if self._offer is not None:
            self.reject(None, rebuilt=True)
        self._settle_if_certain()
        asked = self.base.answering
        if asked is not None and not redoubles_left(self.base):
            self._write(Cube(seat=asked, action=CubeAction.TAKE, rebuilt=True))
        return self.thrown is None and self.base.stage is Stage.ROLL

    def _settle_if_certain(self) -> None:
        """Write the play with the dice on the board: what was sent, a dance, or the only one."""
        thrown = self.thrown
        if thrown is None:
            return
        if self.made and self._write(self._completed(thrown, self.made.play, self.made.at)):
            return
        cells = self.state.position.points
        if not has_choice(cells, thrown.dice):
            plays = resulting_positions(cells, thrown.dice)
            steps = next(iter(plays.values()), ())
            self._write(evolve(thrown, play=Play.of(*sorted(steps, reverse=True)), rebuilt=bool(steps)))

    def _write(self, entry: Entry) -> bool:
        """Write an entry; False where the rules forbid it."""
        thrown = self.thrown
        try:
            if thrown is not None and isinstance(entry, Throw) and entry.play is not None and entry.dice == thrown.dice:
                after = rules.play(self.state, entry.seat, entry.play)  # the dice lie there
            else:
                after = apply(self.base, entry)
        except RuleError:
            return False
        self._add(entry, after)
        return True

    def _add(self, entry: Entry, after: GameState) -> None:
        """Write an entry that the rules allow, after which the game stands so."""
        entry = self._with_remark(entry) if self.remarks else entry
        self.steps.append(Step(self.number, len(self.entries), self.base, entry, after))
        self.entries.append(entry)
        self._before = self.base
        self.base = self._state = after
        self.thrown = self.made = None
        self.resumed = False

    def _with_remark(self, entry: Entry) -> Entry:
        """Add to an entry of ours what the log told of the decision."""
        match entry:
            case Throw(seat=Seat.A, dice=dice):
                self.remarks.pop("roll", None)
                remark = self.remarks.pop("move", {})
                told = remark.get("dice") or ()
                fits = told == list(dice) or sorted(map(str, told)) == sorted(map(str, dice))
            case Cube(seat=Seat.A, action=action):
                remark = self.remarks.pop("roll" if action is CubeAction.DOUBLE else "doubled", {})
                fits = remark.get("answer") == action.value
            case Resign(seat=seat, level=level):
                remark = self.remarks.pop("roll" if seat is Seat.A else "resigned", {})
                fits = seat is Seat.B or remark.get("answer") == f"resign {level.value}"
            case _:
                return entry
        if not fits:
            return entry
        equity, seconds = _finite_number(remark.get("equity")), _finite_number(remark.get("seconds"))
        return evolve(entry, equity=equity, seconds=entry.seconds if seconds is None else seconds)

    def _put_aside(self, fact: KnownEvent) -> None:
        """Keep something for the next board, which shows the game again."""
        if self._aside is None:
            self._aside = [self.thrown] if self.thrown else []
            self.thrown = self._state = None
        if len(self._aside) <= MAX_SET_ASIDE:
            self._aside.append(fact)


def _finite_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
