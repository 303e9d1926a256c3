"""Builds one game entry by entry, each checked against the rules before it is added.

An entry is added once it is certain: a roll together with its play, an offer to resign together with its answer. A
line that cannot follow from the entries so far means that another line is missing: later ones are then set aside
until a board shows the game again, and transcript/reconstruction.py works out what happened in between.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from fibs_protocol.board import BoardState
from fibsbot.evolve import evolve
from fibsbot.fibs_numbering import player_position
from fibsbot.match import CubeAction, Dice
from fibsbot.position import CHECKERS, Play
from fibsbot.replay.board_view import BoardView, board_shows_state
from fibsbot.replay.logged_decisions import with_logged_details
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import redoubles_left
from fibsbot.rules.plays import has_choice, resulting_positions
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, RejectedRoll, Resign, Step, Throw, after_roll, apply, end_game
from fibsbot.transcript.reconstruction import KnownEvent, PlayWithoutRoll, find_play, possible_rolls, reconstruct

MAX_SET_ASIDE: Final = 8
"""Events that are set aside while the state of the game is unknown; more of them become a gap in any case."""


@frozen
class SentPlay:
    """A play that was sent or announced. It counts once something shows that it was made."""

    play: Play
    at: dt.datetime | None


@frozen
class PendingResignation:
    """An offer to resign that has not been answered."""

    seat: Seat
    level: Level | None
    """None if the points offered fit no level."""


class GameBuilder:
    """One game that is being built."""

    def __init__(
        self, number: int, start: GameState, on_step: Callable[[Step], None], silent_seat: Seat | None = None
    ) -> None:
        """Start in the state that was seen first; `on_step` is called with each entry before it is added."""
        self.number = number
        self.start = start
        self.settled_state = start
        """The game after the entries so far."""
        self.entries: list[Entry] = []
        self.rolled: Throw | None = None
        """The roll on the board whose play is not known yet."""
        self.sent_play: SentPlay | None = None
        self.silent_seat = silent_seat
        """The player whose plays only boards show: the user, in a capture without the user's own commands."""
        self.resumed = False
        """Whether the match was resumed and nothing has happened since; the server repeats a pending double then."""
        self.decision_logs: dict[str, Mapping[str, Any]] = {}
        """The log's records of the user's latest decisions, by phase."""
        self._on_step = on_step
        self._resignation: PendingResignation | None = None
        self._set_aside: list[KnownEvent] | None = None
        """The events since the state became unknown; None while it is known."""
        self._reported_result: Result | None = None
        self._before: GameState | None = None
        """The game before the last entry."""
        self._state: GameState | None = start

    # -- the state ----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> GameState:
        """The game with the dice on the board."""
        if self._state is None:
            self._state = self.settled_state if self.rolled is None else after_roll(self.settled_state, self.rolled)
        return self._state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._reported_result is not None or self.settled_state.result is not None

    @property
    def is_known(self) -> bool:
        """Whether the game is running and its state is known."""
        return self._set_aside is None and self._reported_result is None and self.settled_state.result is None

    @property
    def result(self) -> Result | None:
        """How the game ended, as the server reported it or else as the entries show."""
        return self._reported_result or self.settled_state.result

    @property
    def transcript(self) -> Game:
        """The game as far as it is known."""
        return Game(self.number, self.start, tuple(self.entries), self.result)

    # -- rolls and plays ----------------------------------------------------------------------------------------------

    def roll(self, seat: Seat, dice: Dice, at: dt.datetime | None) -> None:
        """Add a roll."""
        state, entry = self.state, Throw(seat=seat, dice=dice, at=at)
        if self._set_aside is not None:
            self._defer(entry)
        elif state.stage is Stage.MOVE and state.turn is seat and sorted(state.dice or ()) == sorted(dice):
            return  # reported twice, or shown by a board before
        elif not self._finish_turn() or not self._put_dice_on_board(entry):
            self._defer(entry)

    def roll_opening(self, entry: Throw) -> None:
        """Add the opening roll."""
        if not self._put_dice_on_board(entry):
            self._defer(entry)

    def reject_roll(self, seat: Seat, at: dt.datetime | None) -> None:
        """Add the rejection of the roll on the board, after which the same player rolls again."""
        rolled = self.rolled
        if self._set_aside is None and rolled is not None and rolled.seat is seat:
            self._try_entry(RejectedRoll(seat=seat, dice=rolled.dice, at=at))

    def play(self, seat: Seat, play: Play, at: dt.datetime | None) -> None:
        """Add a play; one without moves means that the player cannot move."""
        if self._board_came_first(seat, play):
            return
        if self._set_aside is None and self.state.stage is Stage.MOVE and self.state.turn is not seat:
            self._finish_turn()
        entry = self._with_roll(seat, play, at)
        if self._set_aside is not None or entry is None or not self._try_entry(entry):
            self._defer(entry or PlayWithoutRoll(seat, play, at))

    def _board_came_first(self, seat: Seat, play: Play) -> bool:
        """Whether a board has just shown this very play, as some servers send the board first."""
        last, before = self.entries[-1] if self.entries else None, self._before
        if self._set_aside is not None or self.rolled is not None or before is None:
            return False
        if not isinstance(last, Throw) or not last.rebuilt or last.seat is not seat or self.settled_state.turn is seat:
            return False
        reported = evolve(last, play=Play(tuple(play.ordered)), rebuilt=False)
        try:
            matches = apply(before, reported).position == self.settled_state.position
        except RuleError:
            return False
        if matches:
            self.entries[-1] = reported
        return matches

    def _with_roll(self, seat: Seat, play: Play, at: dt.datetime | None) -> Throw | None:
        """Return a play together with its roll, where the dice are known or follow from the play."""
        if self._set_aside is not None:
            last = self._set_aside[-1] if self._set_aside else None
            if isinstance(last, Throw) and last.play is None and last.seat is seat:
                self._set_aside.pop()
                return evolve(last, play=play, at=at)
            return None
        if self.rolled is not None:
            return _with_play(self.rolled, play, at) if self.rolled.seat is seat else None
        possible = possible_rolls(self.state, PlayWithoutRoll(seat, play, at))
        return possible[0] if len(possible) == 1 else None

    def note_sent_play(self, play: Play, at: dt.datetime | None) -> None:
        """Note a play that was sent or announced."""
        self.sent_play = SentPlay(play, at)

    def drop_sent_play(self) -> None:
        """Forget the play that was sent, because the server refused it."""
        self.sent_play = None

    def _sent_entry(self) -> Throw | None:
        """Return the roll on the board together with the play that was sent."""
        if self.rolled is None or self.sent_play is None:
            return None
        return _with_play(self.rolled, self.sent_play.play, self.sent_play.at)

    # -- the cube -----------------------------------------------------------------------------------------------------

    def double(self, seat: Seat, at: dt.datetime | None) -> None:
        """Add a double."""
        self._add_cube_action(Cube(seat=seat, action=CubeAction.DOUBLE, at=at))

    def answer(self, seat: Seat, action: CubeAction, at: dt.datetime | None) -> None:
        """Add a take, a pass or an instant redouble, after the double itself if that was not reported."""
        state = self.state
        if action is CubeAction.TAKE and state.stage is Stage.ROLL and state.owner is seat is state.turn.other:
            return  # reported twice
        if self._set_aside is None and state.stage is not Stage.DOUBLED and self._finish_turn():
            self._try_entry(Cube(seat=seat.other, action=CubeAction.DOUBLE, at=at, rebuilt=True))
        elif self._set_aside is None and state.answering is seat.other and action is not CubeAction.BEAVER:
            self._try_entry(Cube(seat=seat.other, action=CubeAction.BEAVER, at=at, rebuilt=True))
        self._add_cube_action(Cube(seat=seat, action=action, at=at))

    def _add_cube_action(self, entry: Cube) -> None:
        state = self.state
        doubling = entry.action in (CubeAction.DOUBLE, CubeAction.BEAVER)
        if doubling and state.stage is Stage.DOUBLED and state.answering is entry.seat.other:
            if self.resumed or entry.action is CubeAction.DOUBLE:
                return  # repeated when the match is resumed
            if self._set_aside is None:
                self._try_entry(Cube(seat=entry.seat.other, action=CubeAction.BEAVER, at=entry.at, rebuilt=True))
        if self._set_aside is None and doubling and state.stage is not Stage.DOUBLED:
            self._finish_turn()
            if self.settled_state.crawford and entry.seat is self.settled_state.turn:
                self._lift_crawford()
        if self._set_aside is not None or self.rolled is not None or not self._try_entry(entry):
            self._defer(entry)

    def _lift_crawford(self) -> None:
        """Drop the Crawford rule, because a player doubles in what would be the Crawford game."""
        self.start, self.settled_state = (evolve(state, crawford=False) for state in (self.start, self.settled_state))
        self._change_laws(crawford=False)

    def allow_redouble(self) -> None:
        """Note that the double that waits may be redoubled at once, which no drawn board shows."""
        state = self.settled_state
        if state.answering is not None and not state.length and state.redoubles >= state.laws.redoubles:
            self._change_laws(redoubles=state.redoubles + 1)

    def _change_laws(self, **changes: Any) -> None:
        self.start, self.settled_state = (
            evolve(state, laws=evolve(state.laws, **changes)) for state in (self.start, self.settled_state)
        )
        self._state = None

    # -- resignations and ends ----------------------------------------------------------------------------------------

    def offer(self, seat: Seat, points: int) -> None:
        """Note an offer to resign."""
        self._resignation = PendingResignation(seat, self._level(points))
        if entry := self._sent_entry():
            self._try_entry(entry)

    def reject(self, at: dt.datetime | None, *, rebuilt: bool = False) -> None:
        """Add the rejection of the offered resignation."""
        offer, self._resignation = self._resignation, None
        if self._set_aside is not None:
            return
        rolled, sent_play = self.rolled, self.sent_play
        if offer is None or offer.level is None:
            self._try_entry(Gap(reason="an offer to resign is missing", then=self.settled_state, at=at))
        else:
            self._try_entry(Resign(seat=offer.seat, level=offer.level, accepted=False, at=at, rebuilt=rebuilt))
        if rolled is not None:
            self._put_dice_on_board(rolled)
            self.sent_play = sent_play

    def resigned(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """End the game with a resignation."""
        offer, self._resignation = self._resignation, None
        level = self._level(points)
        if self._set_aside is None and level is not None:
            if self.rolled is not None:
                self._try_entry(self.rolled)
            self._try_entry(Resign(seat=winner.other, level=level, accepted=True, at=at, rebuilt=offer is None))
        self._end(winner, points, Ending.RESIGNED, at)

    def passed(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """End the game with a double that was passed."""
        if self._set_aside is None:
            self.answer(winner.other, CubeAction.PASS, at)
        self._end(winner, points, Ending.DROPPED, at)

    def won(self, winner: Seat, points: int, at: dt.datetime | None) -> None:
        """End the game with all of the winner's checkers borne off."""
        if not self.over and self._set_aside is None and self.state.stage is Stage.MOVE:
            if self.state.turn is winner.other:
                self._finish_turn()
            self._add_last_bear_off(at)
        self._end(winner, points, Ending.BORNE_OFF, at)

    def _add_last_bear_off(self, at: dt.datetime | None) -> None:
        """Add the last play, which was not reported, if only one play bears off all remaining checkers."""
        rolled, state = self.rolled, self.state
        if rolled is None or self._try_sent_play() or CHECKERS - state.position.off > 4:
            return
        reached = resulting_positions(state.position.points, rolled.dice)
        last = [steps for cells, steps in reached.items() if max(cells) <= 0]
        if len(last) == 1:
            play = Play.of(*sorted(last[0], reverse=True))
            self._try_entry(evolve(rolled, play=play, at=at, rebuilt=rolled.seat is not self.silent_seat))

    def _level(self, points: int) -> Level | None:
        """Return the level of a resignation by its points, from which some servers leave out the cube.

        In the Point Game all levels count the same, and the server does not say which one was offered.
        """
        if self.settled_state.laws.point_game:
            return Level.SINGLE
        level, rest = divmod(points, self.settled_state.cube)
        if rest:
            level = points
        return Level(level) if level in list(Level) else None

    def end_by_scores(self, scores: tuple[int, int] | None) -> None:
        """Infer from the scores after the game how it ended, if its end was not reported."""
        if self.over or scores is None:
            return
        gains = [new - old for new, old in zip(scores, self.start.scores, strict=True)]
        points, state, offer = max(gains), self.state, self._resignation
        if min(gains) != 0 or points <= 0 or self._set_aside is not None:
            return
        winner = Seat(gains.index(points))
        self._resignation = None
        if offer and offer.seat is winner.other and offer.level and offer.level * state.cube == points:
            self._try_entry(Resign(seat=offer.seat, level=offer.level, accepted=True, rebuilt=True))
        elif state.stage is Stage.DOUBLED and state.answering is winner.other and points == state.cube:
            self._try_entry(Cube(seat=winner.other, action=CubeAction.PASS, rebuilt=True))
        elif state.stage is Stage.MOVE and state.turn is winner:
            self._add_last_bear_off(None)
        result = self.settled_state.result
        if result and (result.winner, result.points) != (winner, points):
            self._reported_result = Result(winner, points, result.level, result.how)

    def end_unseen(self, winner: Seat, points: int, how: Ending) -> None:
        """End a game of which nothing but its result is known."""
        self._end(winner, points, how, None, "the game is missing: no board has shown it")

    def _end(
        self,
        winner: Seat,
        points: int,
        how: Ending,
        at: dt.datetime | None,
        missing: str = "the end of the game is missing",
    ) -> None:
        """Note the reported end, with a gap before it if the entries do not lead there."""
        known = self.settled_state.result
        if self._reported_result is not None or (
            known is not None and (known.winner, known.points) == (winner, points)
        ):
            return
        level = None if how is Ending.DROPPED else self._level(points)
        self._reported_result = Result(winner, points, level or Level.SINGLE, how)
        if known is None:
            self._set_aside = self.rolled = None
            ended = end_game(self.settled_state, self._reported_result)
            self._try_entry(Gap(reason=missing, then=ended, at=at))

    def flush_roll(self) -> None:
        """Add the roll whose play was not seen, because nothing more will be seen of the game."""
        if self.rolled is not None and not self.over:
            self._try_entry(self.rolled)

    def add_missing_end(self) -> None:
        """Add a gap in place of the end, which was not seen although the match went on."""
        if self.entries and not self.over and not isinstance(self.entries[-1], Gap):
            self._try_entry(Gap(reason="the end of the game is missing", then=self.settled_state))

    # -- boards -------------------------------------------------------------------------------------------------------

    def apply_board(self, view: BoardView, at: dt.datetime | None) -> None:
        """Compare a board of this game, with the same scores, with the entries, and reconstruct what is missing."""
        if self._set_aside is None and (
            board_shows_state(view.board, view.seat, self.state) or self.confirms_sent_play(view.board, view.seat)
        ):
            return
        if self._shows_last_roll(view):
            return
        seen = view.state(self.state)
        if seen is not None:
            self.apply_state(seen, at)

    def apply_state(self, seen: GameState, at: dt.datetime | None) -> None:
        """Compare a state of this game that was seen with the entries, and reconstruct what is missing."""
        if self._resignation is not None:
            self.reject(at, rebuilt=True)
        entries = self._final_play(seen) or self._inferred_play(seen, at) or self._reconstructed(seen, at)
        self._set_aside = self.rolled = None
        for entry in entries:
            self._try_entry(entry)
        if seen.stage is Stage.MOVE and seen.dice is not None:
            self.rolled = Throw(seat=seen.turn, dice=seen.dice, at=at)
        self._state = None

    def _shows_last_roll(self, view: BoardView) -> bool:
        """Whether a board is older than the last play, which was made from what it shows."""
        last, before = self.entries[-1] if self.entries else None, self._before
        if not isinstance(last, Throw) or last.play is None or before is None or self._set_aside is not None:
            return False
        try:
            rolled = after_roll(before, last)
        except RuleError:
            return False
        return board_shows_state(view.board, view.seat, rolled)

    def confirms_sent_play(self, board: BoardState, seat: Seat) -> bool:
        """Add the play that was sent if the board shows just that, as most do; then no search is needed."""
        entry = self._sent_entry()
        if entry is None or entry.play is None or board.double_pending or self._resignation is not None:
            return False
        if self.settled_state.stage is Stage.MOVE:  # seen first with the dice on the board: a search may find more
            return False
        try:
            after = rules.play(self.state, entry.seat, entry.play)
        except RuleError:
            return False
        if after.stage is not Stage.ROLL or not board_shows_state(board, seat, after):
            return False
        self._append(entry, after)
        return True

    def after_silent_play(self, board: BoardState, seat: Seat) -> tuple[Play, GameState] | None:
        """Return the play of the user that only boards show, and the state after it, if the board shows just that.

        Then no view of the board is needed. The tracked match infers the same play (session_tracker.py).
        """
        rolled, state = self.rolled, self.state
        if rolled is None or not rolled.seat is seat is self.silent_seat or self.sent_play is not None:
            return None
        if board.turn is board.colour or board.double_pending or self._resignation is not None:
            return None
        position = player_position(board)
        play = find_play(state.position.points, rolled.dice, position.points)
        if play is None or state.stage is not Stage.MOVE or state.turn is not seat or state.resignation:
            return None
        after = rules.reach(state, position, len(play))
        return (play, after) if after.stage is Stage.ROLL and board_shows_state(board, seat, after) else None

    def add_silent_play(self, play: Play, after: GameState, at: dt.datetime | None) -> None:
        """Add a play that `after_silent_play` has found."""
        rolled = self.rolled
        assert rolled is not None  # noqa: S101 - it was found for a roll
        self._append(evolve(rolled, play=play, at=at or rolled.at), after)

    def _final_play(self, seen: GameState) -> tuple[Entry, ...]:
        """Return the user's play that ended the game, if a board shows it before a line reports the end."""
        entry = self._sent_entry()
        if entry is None or self._set_aside is not None or not seen.position.over:
            return ()
        try:
            after = apply(self.settled_state, entry)
        except RuleError:
            return ()
        return (entry,) if after.position_for(Seat.A) == seen.position_for(Seat.A) else ()

    def _inferred_play(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        """Return the play with the dice on the board that leads to the board that was seen, if that explains it."""
        rolled, state = self.rolled, self.state
        if rolled is None or self.sent_play is not None or self._set_aside is not None:
            return ()
        if seen.turn is not state.turn.other or seen.stage not in (Stage.ROLL, Stage.MOVE):
            return ()
        if (seen.cube, seen.owner) != (state.cube, state.owner):
            return ()
        play = find_play(state.position.points, rolled.dice, seen.position_for(state.turn).points)
        if play is None:
            return ()
        return (evolve(rolled, play=play, at=at or rolled.at, rebuilt=rolled.seat is not self.silent_seat),)

    def _reconstructed(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        """Return what happened since the last entry, as far as that is certain."""
        aside = tuple(self._set_aside or ())
        if len(aside) > MAX_SET_ASIDE:
            return (Gap(reason="several turns are missing", then=seen, at=at),)
        if entry := self._sent_entry():
            entries = reconstruct(self.settled_state, seen, (entry, *aside), at=at)
            if not any(isinstance(it, Gap) for it in entries):
                return entries
        return reconstruct(self.settled_state, seen, (self.rolled, *aside) if self.rolled else aside, at=at)

    # -- adding entries -----------------------------------------------------------------------------------------------

    def _put_dice_on_board(self, entry: Throw) -> bool:
        """Note a roll whose play is to come; return False if the rules forbid it."""
        try:
            self._state = after_roll(self.settled_state, entry)
        except RuleError:
            return False
        self.rolled = entry
        return True

    def _finish_turn(self) -> bool:
        """Add what must have happened before a new turn; return False if that is not certain."""
        if self._resignation is not None:
            self.reject(None, rebuilt=True)
        self._finish_certain_play()
        answering = self.settled_state.answering
        if answering is not None and not redoubles_left(self.settled_state):
            self._try_entry(Cube(seat=answering, action=CubeAction.TAKE, rebuilt=True))
        return self.rolled is None and self.settled_state.stage is Stage.ROLL

    def _finish_certain_play(self) -> None:
        """Add the play with the dice on the board if it is certain: it was sent, a dance, or the only one."""
        rolled = self.rolled
        if rolled is None or self._try_sent_play():
            return
        cells = self.state.position.points
        if not has_choice(cells, rolled.dice):
            steps = next(iter(resulting_positions(cells, rolled.dice).values()), ())
            self._try_entry(evolve(rolled, play=Play.of(*sorted(steps, reverse=True)), rebuilt=bool(steps)))

    def _try_sent_play(self) -> bool:
        entry = self._sent_entry()
        return entry is not None and self._try_entry(entry)

    def _try_entry(self, entry: Entry) -> bool:
        """Add an entry; return False if the rules forbid it."""
        rolled = self.rolled
        if isinstance(entry, Cube) and entry.action is CubeAction.BEAVER:
            self.allow_redouble()
        try:
            if rolled is not None and isinstance(entry, Throw) and entry.play is not None and entry.dice == rolled.dice:
                after = rules.play(self.state, entry.seat, entry.play)  # the dice are on the board already
            else:
                after = apply(self.settled_state, entry)
        except RuleError:
            return False
        self._append(entry, after)
        return True

    def _append(self, entry: Entry, after: GameState) -> None:
        """Add an entry that the rules allow, and the state after it."""
        if self.decision_logs:
            entry = with_logged_details(entry, self.decision_logs)
        rolled = self.rolled
        on_board = isinstance(entry, Throw) and rolled is not None and entry.dice == rolled.dice
        state = self._state if on_board else None
        self._on_step(Step(self.number, len(self.entries), self.settled_state, entry, after, state))
        self.entries.append(entry)
        self._before = self.settled_state
        self.settled_state = self._state = after
        self.rolled = self.sent_play = None
        self.resumed = False

    def _defer(self, event: KnownEvent) -> None:
        """Set an event aside until a board shows the game again."""
        if self._set_aside is None:
            self._set_aside = [self.rolled] if self.rolled else []
            self.rolled = self._state = None
        if len(self._set_aside) <= MAX_SET_ASIDE:
            self._set_aside.append(event)


def _with_play(rolled: Throw, play: Play, at: dt.datetime | None) -> Throw:
    """Return a roll with its play, the moves in the usual order, and the seconds between the two."""
    seconds = (at - rolled.at).total_seconds() if at and rolled.at and at > rolled.at else None
    return Throw(
        seat=rolled.seat, dice=rolled.dice, play=Play(tuple(play.ordered)), at=at or rolled.at, seconds=seconds
    )
