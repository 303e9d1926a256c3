"""EntryRecorder: makes the transcript of a match of any game while its state is followed from action to action."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, TypeAlias

from fibsbot.evolve import evolve
from fibsbot.match import CubeAction, Dice
from fibsbot.position import Play
from fibsbot.replay.match_builder import MAX_ENTRIES, MAX_GAMES
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import resign
from fibsbot.rules.laws import Level
from fibsbot.rules.ruleset import level_of
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import (
    Continuation,
    Cube,
    Entry,
    Game,
    Gap,
    Player,
    Resign,
    Throw,
    Transcript,
    after_roll,
    apply,
)

_Time: TypeAlias = dt.datetime | None
NOT_SEEN: Final = "what happened was not seen"


class PartialTranscript:
    """A match to which games are added as they are seen."""

    def __init__(self, players: tuple[Player, Player], length: int, site: str, *, own: bool) -> None:
        """Start without games. `length` is 0 for an unlimited match; `own`: seat A is the owner of the log."""
        self.length = length
        self.own = own
        self.games: list[Game] = []
        self._players = players
        self._site = site
        self._started: _Time = None
        self._seen: _Time = None

    def note_time(self, at: _Time) -> None:
        """Note when something of the match was seen."""
        if at is not None:
            self._started, self._seen = self._started or at, at

    @property
    def may_grow(self) -> bool:
        """Whether another game may be added."""
        return len(self.games) < MAX_GAMES

    def transcript(self) -> Transcript | None:
        """Return the match as far as it was seen; None if no game of it was."""
        if not self.games:
            return None
        return Transcript(
            players=self._players,
            length=self.length,
            games=tuple(self.games),
            user=Seat.A if self.own else None,
            site=self._site,
            started=self._started,
            ended=self._seen,
        )


class EntryRecorder:
    """The games of a match; what the rules refuse is left out, and the next board shows where the game goes on."""

    def __init__(self, players: tuple[Player, Player], length: int, site: str, *, own: bool) -> None:
        """Start without games. `length` is 0 for an unlimited match; `own`: seat A is the owner of the log."""
        self._match = PartialTranscript(players, length, site, own=own)
        self._start: GameState | None = None
        self._entries: list[Entry] = []
        self._state: GameState | None = None
        """The game after the entries and the roll on the board; None before its first board and after its end."""
        self._rolled: Throw | None = None
        """The roll on the board, whose play is not known yet."""
        self._offer: tuple[Seat, int] | None = None
        """Who has offered to resign, and the points."""

    def finish(self) -> Transcript | None:
        """Return the match, of which nothing more will be seen; None if no game of it was seen."""
        self._finish_game(None)
        return self._match.transcript()

    def note_time(self, at: _Time) -> None:
        """Note when something of the match was seen."""
        self._match.note_time(at)

    # -- games --------------------------------------------------------------------------------------------------------

    def begin_game(self, start: GameState) -> None:
        """Begin a game before its opening roll, or before the first roll of the player who begins."""
        self._finish_game(None)
        self._open(start)

    def show(self, shown: GameState) -> None:
        """Compare the state that a line shows with the game, which goes on from it."""
        if shown.resignation is not None or shown.stage in {Stage.OPENING, Stage.OVER}:
            return  # the message before it, or the answer after it, says the rest
        if self._start is None or self._state is None:
            self._open(shown)
        elif _is_same(self._state, shown):
            self._start = evolve(self._start, crawford=shown.crawford, post_crawford=shown.post_crawford)
            self._state = evolve(self._state, crawford=shown.crawford, post_crawford=shown.post_crawford)
        else:
            self._flush()
            turns = self._state.turns + (shown.turn is not self._state.turn)
            self.add(Gap(reason=NOT_SEEN, then=evolve(shown, turns=turns)))

    def end_game(self, winner: Seat | None, points: int, how: Ending, at: _Time) -> None:
        """End the game with the reported result; nobody has won a drawn one."""
        state = self._state
        if state is not None and winner is not None and state.result is None:
            if how is Ending.DROPPED and state.stage is Stage.DOUBLED:
                self.add(Cube(seat=winner.other, action=CubeAction.PASS, at=at))
            elif how is Ending.RESIGNED:
                self._resign(winner.other, points, at, accepted=True)
        state = self._state
        if state is None:
            return
        result = state.result
        if winner is not None and (result is None or (result.winner, result.points) != (winner, points)):
            result = Result(winner, points, level_of(max(points // max(state.cube, 1), 1)), how)
        self._finish_game(result)

    def _open(self, start: GameState) -> None:
        if self._match.may_grow and start.length == self._match.length:
            self._start, self._state, self._entries = start, start, []
            self._rolled = self._offer = None

    def _finish_game(self, result: Result | None) -> None:
        if self._start is not None and (self._entries or self._rolled or result is not None):
            self._flush()
            self._match.games.append(Game(len(self._match.games) + 1, self._start, tuple(self._entries), result))
        self._start = self._state = self._rolled = self._offer = None
        self._entries = []

    # -- entries ------------------------------------------------------------------------------------------------------

    def roll_opening(self, before: GameState, after: GameState, at: _Time) -> None:
        """Note the opening roll; its winner plays it, or begins with a roll of all dice."""
        if self._start is not before and self._start is not None and self._entries:
            return
        if after.stage is Stage.ROLL:
            self._open(after)
        elif after.stage is Stage.MOVE and after.dice is not None:
            self.roll(after.turn, after.dice, at)

    def roll(self, seat: Seat, dice: Dice, at: _Time) -> None:
        """Put a roll on the board."""
        self._flush()
        entry = Throw(seat=seat, dice=dice, at=at)
        if self._attempt(lambda state: after_roll(state, entry)):
            self._rolled = entry

    def play(self, seat: Seat, made: Play, at: _Time) -> None:
        """Add the play of a part of a turn; one without moves means that the player cannot move."""
        rolled = self._rolled
        if rolled is None or rolled.seat is not seat:
            self.add(Continuation(seat=seat, play=made, at=at))
            return
        entry = Continuation(seat=seat, play=made)
        if self._attempt(lambda state: apply(state, entry)):
            seconds = (at - rolled.at).total_seconds() if at and rolled.at and at > rolled.at else None
            self._append(evolve(rolled, play=made, at=at or rolled.at, seconds=seconds))
            self._rolled = None

    def offer(self, seat: Seat, points: int) -> None:
        """Note an offer to resign, which waits for its answer."""
        self._offer = seat, points

    def reject_offer(self, at: _Time) -> None:
        """Add the offer, and that it was rejected."""
        if self._offer is not None:
            self._resign(*self._offer, at, accepted=False)

    def _resign(self, seat: Seat, points: int, at: _Time, *, accepted: bool) -> None:
        self._offer, state = None, self._state
        if state is None:
            return
        for level in Level:
            try:
                offered = resign(state, seat, level).resignation
            except RuleError:
                return
            if offered is not None and offered.points == points:
                self.add(Resign(seat=seat, level=level, accepted=accepted, at=at))
                return

    def add(self, entry: Entry) -> None:
        """Add an entry that is neither a roll nor a play."""
        self._flush()
        if self._attempt(lambda state: apply(state, entry)):
            self._append(entry)

    def _append(self, entry: Entry) -> None:
        if len(self._entries) < MAX_ENTRIES:
            self._entries.append(entry)
        else:
            self._state = None

    def _flush(self) -> None:
        """Add a roll whose play is not known."""
        rolled, self._rolled = self._rolled, None
        if rolled is not None:
            self._append(rolled)

    def _attempt(self, change: Callable[[GameState], GameState]) -> bool:
        """Go on to the next state; return whether the rules allow it."""
        if self._state is None:
            return False
        try:
            self._state = change(self._state)
        except RuleError:
            return False
        return True


def _is_same(state: GameState, shown: GameState) -> bool:
    """Return whether a line shows this state, as far as lines show it."""
    return all(
        getattr(state, it) == getattr(shown, it)
        for it in ("board", "turn", "stage", "scores", "cube", "offered", "turn_left", "naming", "passed")
    )
