"""Builds one game entry by entry, each checked against the rules before it is added.

An entry is added once it is certain: a roll together with its play, an offer to resign together with its answer. A
line that cannot follow from the entries so far means that another line is missing: later ones are then set aside
until a board shows the game again, and transcript/missing_parts.py works out what happened in between.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

from fibs_protocol.board import BoardState
from fibsbot.bot.tracked_match import Difference
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import player_position
from fibsbot.match import CubeAction, Dice
from fibsbot.position import Play
from fibsbot.replay.board_view import BoardView, board_shows_state
from fibsbot.replay.game_entries import MAX_SET_ASIDE, MISSING_END, GameEntries, PendingResignation
from fibsbot.replay.state_view import StateView
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import redoubles_left
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import (
    Contest,
    Continuation,
    Cube,
    Entry,
    Gap,
    Named,
    RejectedRoll,
    Resign,
    Throw,
    after_roll,
    apply,
    end_game,
)
from fibsbot.transcript.reconstruction import PlayWithoutRoll, find_play

GameView: TypeAlias = BoardView | StateView
"""What a line shows of a game: a `board:` line or a drawn board, or a `table:` line."""


class GameBuilder(GameEntries):
    """One game that is being built from what lines report and show."""

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
        if self._board_came_first(seat, play) or (not play.moves and self._rolled_nothing(seat)):
            return
        if self._set_aside is None and self.state.stage is Stage.MOVE and self.state.turn is not seat:
            self._finish_turn()
        entry = self._with_roll(seat, play, at)
        if self._set_aside is not None or entry is None or not self._try_entry(entry):
            self._defer(entry or PlayWithoutRoll(seat, play, at))

    def _rolled_nothing(self, seat: Seat) -> bool:
        """Whether the last roll has brought the player nothing to play, which ended the turn."""
        last, state = self.entries[-1] if self.entries else None, self.state
        plays = state.stage is Stage.MOVE and state.turn is seat
        return isinstance(last, Throw) and last.seat is seat and last.play is None and not plays

    def _board_came_first(self, seat: Seat, play: Play) -> bool:
        """Whether a board has just shown this very play, as some servers send the board first."""
        last, before = self.entries[-1] if self.entries else None, self._before
        if self._set_aside is not None or self.rolled is not None or before is None:
            return False
        if not isinstance(last, Throw) or not last.rebuilt or last.seat is not seat or self.settled_state.turn is seat:
            return False
        reported = fast_evolve(last, play=self._missing.in_order(play), rebuilt=False)
        try:
            matches = apply(before, reported).board == self.settled_state.board
        except RuleError:
            return False
        if matches:
            self.entries[-1] = reported
        return matches

    def _with_roll(self, seat: Seat, play: Play, at: dt.datetime | None) -> Throw | Continuation | None:
        """Return a play together with its roll, where the dice are known or follow from the play.

        In a further part of a turn the roll is that of its first part.
        """
        if self._set_aside is not None:
            last = self._set_aside[-1] if self._set_aside else None
            if isinstance(last, Throw) and last.play is None and last.seat is seat:
                self._set_aside.pop()
                return fast_evolve(last, play=play, at=at)
            return None
        if self.rolled is not None:
            return self._with_play(self.rolled, play, at) if self.rolled.seat is seat else None
        if self.settled_state.stage is Stage.MOVE and self.settled_state.turn is seat:
            return Continuation(seat=seat, play=play, at=at)
        possible = self._missing.possible_rolls(self.state, PlayWithoutRoll(seat, play, at))
        return possible[0] if len(possible) == 1 else None

    def name(self, seat: Seat, number: int, at: dt.datetime | None) -> None:
        """Add the double or the point that a player names."""
        self._add_certain(Named(seat=seat, number=number, at=at))

    def roll_contest(self, totals: tuple[int, int], at: dt.datetime | None) -> None:
        """Add the dice that both players roll for who names a point."""
        self._add_certain(Contest(totals=totals, at=at))

    def _add_certain(self, entry: Named | Contest) -> None:
        if self._set_aside is None:
            self._finish_certain_play()
        if self._set_aside is not None or not self._try_entry(entry):
            self._defer(entry)

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
            if self.settled_state.crawford and entry.seat is self.settled_state.turn and not self.codec.whole:
                self._lift_crawford()
        if self._set_aside is not None or self.rolled is not None or not self._try_entry(entry):
            self._defer(entry)

    def _lift_crawford(self) -> None:
        """Drop the Crawford rule, because a player doubles in what would be the Crawford game."""
        self.start = fast_evolve(self.start, crawford=False)
        self.settled_state = fast_evolve(self.settled_state, crawford=False)
        self._change_laws(crawford=False)

    def note_crawford(self, view: StateView) -> None:
        """Note whether a line shows the Crawford game, as the players may have left the rule out."""
        shown, known = view.shown, self.settled_state
        if (shown.crawford, shown.post_crawford) != (known.crawford, known.post_crawford):
            self.start, self.settled_state = (
                fast_evolve(state, crawford=shown.crawford, post_crawford=shown.post_crawford)
                for state in (self.start, self.settled_state)
            )
            self._state = None

    # -- resignations and ends ----------------------------------------------------------------------------------------

    def offer(self, seat: Seat, points: int) -> None:
        """Note an offer to resign."""
        self._resignation = PendingResignation(seat, self._level(points), points)
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

    def draw(self, reason: str, at: dt.datetime | None) -> None:
        """End a game that nobody has won."""
        if self._set_aside is None:
            self._try_sent_play()
        state = self.settled_state
        if not state.drawn:
            if self._set_aside is None:
                self._differ((Difference("result", None, "drawn"),))
            self._set_aside = self.rolled = None
            drawn = fast_evolve(state, stage=Stage.OVER, dice=None, todo=(), drawn=True, reason=reason, result=None)
            self._try_entry(Gap(reason=MISSING_END, then=drawn, at=at))

    def _add_last_bear_off(self, at: dt.datetime | None) -> None:
        """Add the last play, which was not reported, if only one play ends the game."""
        rolled = self.rolled
        if self._try_sent_play() or rolled is None:
            return
        play = self._missing.last_play(self.state)
        if play is not None:
            self._try_entry(fast_evolve(rolled, play=play, at=at, rebuilt=rolled.seat is not self.silent_seat))

    def _level(self, points: int) -> Level | None:
        """Return the level of a resignation by its points, from which some servers leave out the cube.

        Where checkers are counted, all levels count the same, and the server does not say which one was offered.
        """
        if self.settled_state.laws.point_game or self.settled_state.rules.counts_checkers:
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
        missing: str = MISSING_END,
    ) -> None:
        """Note the reported end, with a gap before it if the entries do not lead there."""
        known = self.settled_state.result
        if self._reported_result is not None or (
            known is not None and (known.winner, known.points) == (winner, points)
        ):
            return
        if self.codec.whole and self._set_aside is None and how is Ending.BORNE_OFF:
            ours = (known.winner.name, known.points) if known else None
            self._differ((Difference("result", ours, (winner.name, points)),))
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
            self._try_entry(Gap(reason=MISSING_END, then=self.settled_state))

    # -- boards -------------------------------------------------------------------------------------------------------

    def apply_board(self, view: GameView, at: dt.datetime | None) -> None:
        """Compare a board of this game, with the same scores, with the entries, and reconstruct what is missing."""
        if self._set_aside is None and (view.shows(self.shown_state) or self._confirms_sent_play(view.shows)):
            return
        if self._shows_last_roll(view):
            return
        seen = view.state(self.state)
        if seen is not None and not (self.codec.whole and self._set_aside is None and self._agrees(view, seen, at)):
            self._apply_state(seen, at)

    def _agrees(self, view: GameView, seen: GameState, at: dt.datetime | None) -> bool:
        """Add the user's play, and return whether a line then shows the state; report how it differs if not."""
        if self.resumed:
            return False  # it has gone on unseen
        if self.sent_play is not None and not self._try_sent_play():
            self._report(PlayWithoutRoll(self.state.turn, self.sent_play.play))
            self.drop_sent_play()
        if self.state.turn is self.silent_seat:
            for entry in self._inferred_play(seen, at):
                self._try_entry(entry)
        differences = view.differences(self.shown_state)
        if differences:
            self._differ(differences)
        return not differences

    def _apply_state(self, seen: GameState, at: dt.datetime | None) -> None:
        """Go on from a state of this game that was seen, and reconstruct what is missing before it."""
        offer = seen.resignation
        if offer is not None:
            seen = fast_evolve(seen, resignation=None)
        elif self._resignation is not None:
            self.reject(at, rebuilt=True)
        entries = self._final_play(seen) or self._inferred_play(seen, at) or self._reconstructed(seen, at)
        self._set_aside = self.rolled = None
        for entry in entries:
            self._try_entry(entry)
        if seen.stage is Stage.MOVE and seen.dice is not None and not seen.passed:
            self.rolled = Throw(seat=seen.turn, dice=seen.dice, at=at)
        self._state = None
        if offer is not None:
            self.offer(offer.seat, offer.points)

    def _shows_last_roll(self, view: GameView) -> bool:
        """Whether a board is older than the last play, which was made from what it shows."""
        last, before = self.entries[-1] if self.entries else None, self._before
        if not isinstance(last, Throw) or last.play is None or before is None or self._set_aside is not None:
            return False
        try:
            rolled = after_roll(before, last)
        except RuleError:
            return False
        return view.shows(rolled)

    def confirms_sent_play(self, board: BoardState, seat: Seat) -> bool:
        """Add the play that was sent if the board shows just that, as most do; then no search is needed."""
        if self.sent_play is None or board.double_pending:
            return False
        return self._confirms_sent_play(lambda state: board_shows_state(board, seat, state))

    def _confirms_sent_play(self, shows: Callable[[GameState], bool]) -> bool:
        entry = self._sent_entry()
        if entry is None or entry.play is None or self._resignation is not None:
            return False
        if self.settled_state.stage is Stage.MOVE and isinstance(entry, Throw):
            return False  # seen first with the dice on the board: a search may find more
        try:
            after = rules.play(self.state, entry.seat, entry.play)
        except RuleError:
            return False
        if after.stage is Stage.OVER or not shows(after):
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
        self._append(fast_evolve(rolled, play=play, at=at or rolled.at), after)

    def _final_play(self, seen: GameState) -> tuple[Entry, ...]:
        """Return the user's play that ended the game, if a board shows it before a line reports the end."""
        entry = self._sent_entry()
        if entry is None or self._set_aside is not None:
            return ()
        try:
            after = apply(self.settled_state, entry)
        except RuleError:
            return ()
        return (entry,) if after.stage is Stage.OVER and after.sides_for(Seat.A) == seen.sides_for(Seat.A) else ()

    def _inferred_play(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        """Return the play with the dice on the board that leads to the board that was seen, if that explains it."""
        rolled, state = self.rolled, self.state
        if state.stage is not Stage.MOVE or self.sent_play is not None or self._set_aside is not None:
            return ()
        if seen.stage not in (Stage.ROLL, Stage.MOVE) or (seen.cube, seen.owner) != (state.cube, state.owner):
            return ()
        play = self._missing.play_to(state, seen)
        if play is None:
            return ()
        rebuilt = state.turn is not self.silent_seat
        if rolled is None:
            return (Continuation(seat=state.turn, play=play, at=at, rebuilt=rebuilt),)
        return (fast_evolve(rolled, play=play, at=at or rolled.at, rebuilt=rebuilt),)

    def _reconstructed(self, seen: GameState, at: dt.datetime | None) -> tuple[Entry, ...]:
        """Return what happened since the last entry, as far as that is certain."""
        aside = tuple(self._set_aside or ())
        if len(aside) > MAX_SET_ASIDE:
            return (Gap(reason="several turns are missing", then=seen, at=at),)
        find, known = self._missing.entries, self.settled_state
        if isinstance(entry := self._sent_entry(), Throw):
            entries = find(known, seen, (entry, *aside), at)
            if not any(isinstance(found, Gap) for found in entries):
                return entries
        return find(known, seen, (self.rolled, *aside) if self.rolled else aside, at)

    # -- adding entries -----------------------------------------------------------------------------------------------

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
        if (self.sent_play is not None and self._try_sent_play()) or rolled is None:
            return
        play = self._missing.only_play(self.state)
        if play is not None:
            self._try_entry(fast_evolve(rolled, play=play, rebuilt=bool(play.moves)))
