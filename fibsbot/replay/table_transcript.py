"""The transcript of a match of another tables game that is backgammon but for its set-up or its count.

Each game is built by the GameBuilder that builds games of backgammon; what is seen of the match comes from
table_match.py.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.evolve import evolve
from fibsbot.position import Play
from fibsbot.replay.entry_recorder import PartialTranscript
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.game_messages import END_HANDLERS, ENTRY_HANDLERS, acting_seat
from fibsbot.replay.match_builder import MAX_ENTRIES
from fibsbot.rules.ruleset import Opening
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Player, Throw, Transcript
from fibsbot.transcript.reconstruction import is_same_state

_Time: TypeAlias = dt.datetime | None
_PLAYS: Final = frozenset([m.Moves, m.OnlyMove, m.CannotMove])
"""Messages whose plays `TableTranscript.play` gets: a play that was sent is added there, too."""
_ENDS: Final[Mapping[type[Message], Callable[[GameBuilder, Seat, int, _Time], None]]] = {
    **END_HANDLERS,
    m.GameWonBy: GameBuilder.won,
}


class TableTranscript:
    """The games of a match for whose rules `games.backgammons.is_backgammon` is true."""

    def __init__(self, players: tuple[Player, Player], length: int, site: str, *, own: bool) -> None:
        """Start without games. `length` is 0 for an unlimited match; `own`: seat A is the owner of the log."""
        self._match = PartialTranscript(players, length, site, own=own)
        self._builder: GameBuilder | None = None
        self._start: GameState | None = None
        """The beginning of a game that no line has shown yet."""
        self._opening: Throw | None = None
        """Its opening roll, if the winner plays that."""

    def finish(self) -> Transcript | None:
        """Return the match, of which nothing more will be seen; None if no game of it was seen."""
        if self._builder is not None:
            self._builder.flush_roll()
        self._finish_game()
        return self._match.transcript()

    # -- what happens -----------------------------------------------------------------------------------------------

    def begin_game(self, start: GameState) -> None:
        """Begin a game, which may wait for its opening roll."""
        self._finish_game(start.scores)
        self._start = start

    def roll_opening(self, before: GameState, after: GameState, at: _Time) -> None:
        """Note the opening roll; its winner plays it, or begins with a roll of both dice."""
        if self._builder is None and after.stage is Stage.ROLL:
            self._start = after
        elif self._builder is None and after.stage is Stage.MOVE and after.dice is not None:
            self._start, self._opening = before, Throw(seat=after.turn, dice=(after.dice[0], after.dice[1]), at=at)

    def play(self, seat: Seat, made: Play, at: _Time) -> None:
        """Add a play; one without moves means that the player cannot move."""
        if builder := self._running_game():
            builder.play(seat, made, at)

    def receive(self, message: Message, seat_of: Callable[[str], Seat | None], at: _Time) -> None:
        """Add what a message reports, but no play and no line."""
        self._match.note_time(at)
        kind = type(message)
        builder = self._running_game() if kind in ENTRY_HANDLERS or kind in _ENDS else None
        if builder is None or kind in _PLAYS:
            return
        if kind in _ENDS:
            ended: Any = message
            winner = seat_of(ended.winner)
            if winner is not None:
                _ENDS[kind](builder, winner, ended.points, at)
                self._finish_game()
            return
        seat = acting_seat(message, builder, seat_of)
        if seat is not None:
            ENTRY_HANDLERS[kind](builder, seat, message, at)

    def log_decision(self, logged: Mapping[str, Any]) -> None:
        """Take the log's record of a decision of the user."""
        if self._match.own and (builder := self._running_game()):
            builder.decision_logs[str(logged.get("phase", ""))] = logged

    def resume(self) -> None:
        """Note that the match goes on after an interruption."""
        if self._builder is not None:
            self._builder.resumed = True

    def show(self, shown: GameState, at: _Time) -> None:
        """Compare the state that a line shows with the game; reconstruct what is missing."""
        if shown.stage in {Stage.OPENING, Stage.OVER}:
            return
        builder = self._builder
        if builder and (shown.scores != builder.start.scores or len(builder.entries) > MAX_ENTRIES):
            self._finish_game(shown.scores)
        builder = self._builder or self._open_game(shown, at)
        if builder is None or shown.length != self._match.length:
            return
        if shown.resignation is not None:
            return  # the message before it, or the answer after it, says the rest
        seen = _seen_state(shown, builder.state)
        if not builder.is_known or not is_same_state(builder.state, seen):
            builder.apply_state(seen, at)

    # -- games --------------------------------------------------------------------------------------------------------

    def _running_game(self) -> GameBuilder | None:
        """Return the game that messages are about; None if it is not known."""
        if self._builder is None and self._start is not None:
            return self._open_game(self._start, None)
        return self._builder

    def _open_game(self, shown: GameState, at: _Time) -> GameBuilder | None:
        """Start to build a game that begins, or is first seen in a state that a line shows."""
        start, opening = self._start, self._opening
        self._start = self._opening = None
        if start is None or start.scores != shown.scores:
            start, opening = (_before_opening(shown) or shown), None
        if not self._match.may_grow or start.length != self._match.length:
            return None
        # only a line shows whether the players have left out the Crawford game
        state = evolve(start, resignation=None, crawford=shown.crawford, post_crawford=shown.post_crawford)
        builder = self._builder = GameBuilder(len(self._match.games) + 1, state, lambda _: None)
        if opening is None and shown.stage is Stage.MOVE and shown.dice is not None and start.stage is not Stage.ROLL:
            opening = Throw(seat=shown.turn, dice=(shown.dice[0], shown.dice[1]), at=at)
        if opening is not None:
            builder.roll_opening(opening)
        if offer := shown.resignation:
            builder.offer(offer.seat, offer.points)
        return builder

    def _finish_game(self, scores: tuple[int, int] | None = None) -> None:
        """Finish the game; `scores` are those after it, where a line shows them."""
        builder, self._builder, self._start, self._opening = self._builder, None, None, None
        if builder is None:
            return
        builder.end_by_scores(scores)
        if scores is not None:
            builder.add_missing_end()
        if builder.entries or builder.result is not None:
            self._match.games.append(builder.transcript)


def _before_opening(shown: GameState) -> GameState | None:
    """Return the game before its opening roll, if a line shows just that roll."""
    dice = shown.dice or ()
    if (
        shown.stage is not Stage.MOVE
        or shown.rules.opening is not Opening.BOTH
        or len(set(dice)) == 1
        or shown.cube != 1
        or shown.sides != shown.rules.start()
    ):
        return None
    return evolve(shown, stage=Stage.OPENING, turn=Seat.A, dice=None, todo=(), throws=0, resignation=None)


def _seen_state(shown: GameState, known: GameState) -> GameState:
    """Return the state that a line shows, with what no line does as it is known."""
    seen = shown
    owner = known.owner if shown.owner is None and shown.cube == known.cube else shown.owner
    turns = known.turns + (seen.turn is not known.turn)
    return evolve(
        seen, laws=known.laws, owner=owner, turns=turns, crawford=known.crawford, post_crawford=known.post_crawford
    )
