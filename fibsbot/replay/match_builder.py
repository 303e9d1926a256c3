"""Builds one match, game by game, and emits its events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import define, evolve, field

from fibs_protocol.board import BoardState
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import Difference
from fibsbot.formats.match_laws import reading_laws
from fibsbot.match import Dice
from fibsbot.replay.board_view import board_shows_state
from fibsbot.replay.events import DifferenceFound, EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.game_builder import GameBuilder, GameView
from fibsbot.replay.game_entries import BOARD_LINES, STATE_LINES, LineCodec
from fibsbot.replay.state_view import StateView
from fibsbot.rules import game as rules
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.laws import AutomaticRaise, Laws
from fibsbot.rules.permissions import match_winner
from fibsbot.rules.ruleset import Opening, Ruleset
from fibsbot.rules.state import Ending, GameState, Seat, Stage
from fibsbot.transcript import Game, Player, Step, Throw, Transcript, add_points

Time: TypeAlias = dt.datetime | None

MAX_GAMES: Final = 1000
"""Games of one transcript; an unlimited match may go on for ever, and is split then."""
MAX_ENTRIES: Final = 5000
"""Entries of one game; no real game has nearly as many."""


@define
class GameOpening:
    """A game that is starting, and what was reported of its opening roll."""

    dice: dict[Seat, int] = field(factory=dict)
    cube: int = 1
    """After automatic doubles."""
    first: Seat | None = None
    at: dt.datetime | None = None

    @property
    def roll(self) -> Throw | None:
        """The opening roll, if it was reported."""
        a, b = (self.dice.get(seat, 0) for seat in Seat)
        if a == b or not a or not b:
            return None
        seat = Seat.A if a > b else Seat.B
        dice: Dice = (self.dice[seat], self.dice[seat.other])
        return Throw(seat=seat, dice=dice, at=self.at) if self.first in (None, seat) else None


class MatchBuilder:
    """One match that is being built."""

    def __init__(  # noqa: PLR0913 - what a match is, and who hears of it
        self,
        next_number: Callable[[], int],
        players: tuple[Player, Player],
        emit: Callable[[MatchEvent], None],
        *,
        own: bool,
        site: str,
        line_place: Callable[[], tuple[int, Time]] = lambda: (0, None),
    ) -> None:
        """Start without games; seat A is the user or the player who is watched. Events go to `emit`.

        `line_place` returns the offset and the time of the present line.
        """
        self._next_number = next_number
        self._number: int | None = None
        self.players = players
        self.own = own
        """Whether the user plays it."""
        self.site = site
        self.length: int | None = None
        self.laws: Laws | None = None
        """The laws of the match, if they are other ones than those of FIBS; another ruleset has its own."""
        self.ruleset: Ruleset | None = None
        """The game that is played; None until a line names or shows it."""
        self.is_new = False
        """Whether its start was seen, so that the score was 0-0 then."""
        self.game: GameBuilder | None = None
        self.opening: GameOpening | None = None
        """A game that is starting, for which there is no builder yet."""
        self.silent_seat: Seat | None = None
        """The player whose plays only boards show."""
        self.at: dt.datetime | None = None
        """When it was last seen."""
        self._emit = emit
        self._line_place = line_place
        self._started: dt.datetime | None = None
        self._games: list[Game] = []
        self._last: GameState | None = None
        """The end of the last game, if that is known."""
        self._scores: tuple[int, int] | None = None
        """The reported score after the last game."""
        self._unseen: tuple[Seat, int, Ending] | None = None
        """The result of a game of which nothing else was seen."""
        self._start_emitted = False
        self._game_start_emitted = False

    # -- the state ----------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> Ruleset:
        """The game that is played: backgammon, unless another one is known."""
        return self.ruleset or BACKGAMMON

    @property
    def codec(self) -> LineCodec:
        """How its lines say what happens."""
        return BOARD_LINES if self.rules is BACKGAMMON else STATE_LINES

    @property
    def number(self) -> int:
        """Its number among the matches of the session, which it gets with its first event.

        A match that is resumed looks like one of backgammon until the server names its game.
        """
        if self._number is None:
            self._number = self._next_number()
        return self._number

    @property
    def transcript(self) -> Transcript:
        """The match as far as it is known."""
        game = self.game
        has_content = game is not None and (game.entries or game.result)
        return Transcript(
            players=self.players,
            length=self.length or 0,
            games=(*self._games, game.transcript) if game is not None and has_content else tuple(self._games),
            user=Seat.A if self.own else None,
            site=self.site,
            started=self._started,
            ended=self.at,
        )

    @property
    def is_won(self) -> bool:
        """Whether a player has all points of the match."""
        return bool(self.length) and max(self.scores or (0, 0)) >= (self.length or 0)

    @property
    def is_full(self) -> bool:
        """Whether this transcript takes no more games."""
        return len(self._games) >= MAX_GAMES

    @property
    def scores(self) -> tuple[int, int] | None:
        """The current points of both players, if they are known."""
        return self._scores if self.game is None else self.game.transcript.scores

    @property
    def place(self) -> tuple[int, int]:
        """Numbers of the current game and turn."""
        if self.game is None:
            return (len(self._games), 0)
        return (self.game.number, self.game.settled_state.turns + 1)

    def seat_of(self, name: str) -> Seat | None:
        """Return the seat of a player by the name in a message."""
        a, b = self.players
        if name == a.name or (self.own and name == YOU):
            return Seat.A
        return Seat.B if name == b.name or not name else None

    def is_of(self, player: str, opponent: str) -> bool:
        """Whether these two play the match; `player` is YOU for a match of the user."""
        a, b = self.players
        if player == YOU:
            return self.own and opponent == b.name
        return not self.own and (player, opponent) in ((a.name, b.name), (b.name, a.name))

    def rename(self, name: str) -> None:
        """Set the user's name."""
        self.players = (evolve(self.players[0], name=name), self.players[1])

    def touch(self, at: dt.datetime | None) -> None:
        """Note the time at which a message mentioned the match."""
        if at is not None:
            self._started = self._started or at
            self.at = at

    # -- games --------------------------------------------------------------------------------------------------------

    def begin_game(self, at: dt.datetime | None) -> None:
        """Start the next game; some servers report the start only after the first board."""
        game = self.game
        if self.opening is None and game is not None and game.start.stage is Stage.OPENING and not game.entries:
            return
        self.opening = GameOpening(at=at)

    def roll_opening(self, dice: dict[Seat, int], at: dt.datetime | None) -> None:
        """Note one die of each player; equal ones are rolled again."""
        opening = self._current_opening(at)
        opening.dice, opening.at = dice, at

    def raise_cube(self, cube: int, at: dt.datetime | None) -> None:
        """Note that the cube was turned because of equal dice."""
        self._current_opening(at).cube = max(cube, 1)

    def first_move(self, seat: Seat, at: dt.datetime | None) -> None:
        """Note who won the opening roll."""
        opening = self._current_opening(at)
        opening.first, opening.at = seat, at

    def _current_opening(self, at: dt.datetime | None) -> GameOpening:
        if self.opening is None:
            self.opening = GameOpening(at=at)
        return self.opening

    def current_game(self) -> GameBuilder | None:
        """Return the game that messages are about; None if its start is not known yet."""
        if self.opening is not None and (self.opening.roll is not None or self.rules.winner_begins):
            self._start_game(None)
        if self.opening is not None:
            return None
        return self.game

    def contradicts(self, view: GameView) -> bool:
        """Whether a board must be of another match: its length differs, or its score is lower."""
        if self.length not in (None, view.length):
            return True
        start = self.game.start if self.game else self._games[-1].start if self._games else None
        if start is None or start.scores == view.scores:
            return False
        return any(new < old for new, old in zip(view.scores, start.scores, strict=True))

    def matches_board(self, board: BoardState, seat: Seat, at: dt.datetime | None) -> bool:
        """Whether a board shows the known state or the user's play, as most boards do; then nothing is left to do."""
        game = self.game
        if (
            game is None
            or self.opening is not None
            or not game.is_known
            or len(game.entries) >= MAX_ENTRIES
            or self.length != game.start.length
        ):
            return False
        if board_shows_state(board, seat, game.state) or game.confirms_sent_play(board, seat):
            return True
        after = game.after_silent_play(board, seat)
        if after is None:
            return False
        self.touch(at)  # before the play is added, which may be what the match begins with
        game.add_silent_play(*after, at)
        return True

    def apply_line(self, view: StateView, at: dt.datetime | None) -> None:
        """Apply a line that shows the whole state of a game of this match."""
        self.apply_board(view, at)
        state = self._last if self.game is None else self.game.state if self.game.is_known else None
        if view.turn is not None and self.game is not None:
            self.game.note_crawford(view)
        elif view.shown.stage is Stage.OVER and state is not None and (found := view.differences(state)):
            self.report(found)

    def report(self, differences: tuple[Difference, ...]) -> None:
        """Emit what contradicts the match."""
        self._emit_match_start()
        self._emit(DifferenceFound(self.number, *self.place, differences, *self._line_place()))

    def apply_board(self, view: GameView, at: dt.datetime | None) -> None:
        """Apply a board of this match."""
        self.length = view.length
        game = self.game
        if view.turn is None:
            return
        if game is not None and self.opening is None and not game.over and view.scores == game.start.scores:
            game.apply_board(view, at)
            if len(game.entries) > MAX_ENTRIES:
                self._start_game(view, at)
        elif self.opening is not None or not self._is_copy(view):
            self._start_game(view, at)

    def _is_copy(self, view: GameView) -> bool:
        """Whether a board is a copy of one of the last game, and not the first of a game whose start was not seen."""
        if self.game is not None:
            return self.game.over and view.scores == self.game.start.scores
        last = self._games[-1] if self._games else None
        return last is not None and last.result is not None and view.scores == last.start.scores

    def _start_game(self, view: GameView | None, at: dt.datetime | None = None) -> None:
        """Start to build a game that begins or is first seen."""
        self._finish_game(view.scores if view else self._scores)
        start, roll = self._beginning(view, self.opening or GameOpening(), at)
        if start is None or (start.stage is Stage.OPENING and roll is None):
            return
        start = self._by_laws(start)
        if roll is not None and start.stage is Stage.OPENING and start.rules.opening is Opening.RETHROW:
            a, b = roll.dice if roll.seat is Seat.A else roll.dice[::-1]
            start, roll = rules.roll_opening(start, a, b), None
        self.opening = None
        game = self._new_game(start)
        if roll is not None:
            game.roll_opening(roll)
        if view is not None and not view.shows(game.state):
            game.apply_board(view, at)
        if start.stage is Stage.OPENING:
            self._emit_starts(game)

    def _beginning(
        self, view: GameView | None, opening: GameOpening, at: dt.datetime | None
    ) -> tuple[GameState | None, Throw | None]:
        """Return the first known state of a game, None if that is not known, and the roll that is to be played then."""
        roll = opening.roll
        if view is not None and view.shows_opening_roll and view.turn is not None and view.dice is not None:
            shown = Throw(seat=view.turn, dice=(view.dice[0], view.dice[1]), at=opening.at or at)
            return self._opening_state(view), roll if roll and _is_same_roll(roll, shown) else shown
        if roll is not None:
            start = self._opening_state(view)
            return start and _with_raised_cube(self._by_laws(start), opening.cube), roll
        start = view.state() if view is not None else self._expected_start()
        if start is not None and start.stage is Stage.MOVE and start.dice is not None and not start.passed:
            roll = Throw(seat=start.turn, dice=start.dice, at=at)
        return start, roll

    def _by_laws(self, start: GameState) -> GameState:
        """Return a game that a board shows, by the laws of the match, which no board does."""
        laws = self.laws
        if laws is None or start.laws is laws or self.codec.whole:
            return start
        crawford, past = start.crawford and laws.crawford, start.post_crawford and laws.crawford
        return evolve(start, laws=laws, crawford=crawford, post_crawford=past)

    def _new_game(self, start: GameState) -> GameBuilder:
        number, silent = len(self._games) + 1, self.silent_seat
        if self.codec.whole:  # a line shows each play before the next can be sent
            silent = Seat.A if self.own else None
        self.game = GameBuilder(number, start, self._emit_step, silent, self.codec, self.report)
        self._game_start_emitted = False
        return self.game

    def _expected_start(self) -> GameState | None:
        """Return the start of the next game; None if the score or the length is unknown."""
        if self._last is not None and match_winner(self._last) is None:
            following = rules.next_game(self._last)
            if following.crawford and self.codec.whole:  # only a line shows whether the players have left it out
                following = evolve(following, crawford=False, post_crawford=True)
            return following
        scores = self._scores or ((0, 0) if self.is_new and not self._games else None)
        if self.length is None or scores is None or (self.length and max(scores) >= self.length):
            return None
        return self._first_game(self.length, scores)

    def _opening_state(self, view: GameView | None) -> GameState | None:
        """Return the game before its opening roll, if it is known; a board need not show it."""
        if view is None:
            return self._expected_start()
        shown, expected = view.opening_state(), self._expected_start() if self.codec.whole else None
        if expected is None or expected.stage is not Stage.OPENING or expected.scores != shown.scores:
            return shown
        return evolve(expected, crawford=shown.crawford, post_crawford=shown.post_crawford)

    def _first_game(self, length: int, scores: tuple[int, int]) -> GameState:
        """Return the first game at these scores."""
        if self.codec.whole:
            return rules.start_match_of(self.rules, length, scores)
        return rules.start_match(self.laws or reading_laws(length), length, scores)

    def _finish_game(self, scores: tuple[int, int] | None = None, *, last: bool = False) -> None:
        """Finish the game. `scores` are those reported after it; `last`: nothing more is seen of the match."""
        game = self.game
        if game is None:
            return
        game.end_by_scores(scores)
        if not last:
            game.add_missing_end()
        self.game = None
        if not game.entries and game.result is None and not self._game_start_emitted:
            return  # only one board was seen
        transcript, end = game.transcript, game.settled_state
        self._last = end if end.stage is Stage.OVER and end.scores == transcript.scores else None
        self._scores = transcript.scores if game.over else None
        self._emit_starts(game)
        self._games.append(transcript)
        self._emit(GameEnded(self.number, transcript, end))

    def interrupt(self) -> None:
        """Note that the match broke off."""
        self.end_game()

    def end_game(self) -> None:
        """Finish the game if it is over."""
        if self.game is not None and self.game.over:
            self._finish_game()

    def note_unseen_game(self, winner: Seat, points: int, how: Ending) -> None:
        """Note the end of a game that no board has shown."""
        self.opening, self._unseen = None, (winner, points, how)

    def _add_unseen_game(self, scores: tuple[int, int]) -> None:
        """Add an unseen game as a gap, if the score after it fits the one before."""
        unseen, self._unseen = self._unseen, None
        if unseen is None or self.game is not None or self.length is None:
            return
        winner, points, how = unseen
        before = add_points(scores, winner, -points)
        if before != (self._scores or before) or min(before) < 0 or (self.length and max(before) >= self.length):
            return
        self._new_game(self._first_game(self.length, before)).end_unseen(winner, points, how)

    def apply_score(self, scores: tuple[int, int]) -> None:
        """Apply the score reported after a game."""
        if self.codec.whole and self.scores not in {None, scores}:
            self.report((Difference("score", self.scores, scores),))
        if self.opening is None:
            self._add_unseen_game(scores)
            self._finish_game(scores)
            self._scores = scores
            if self._last is not None and self._last.scores != scores:
                self._last = None

    # -- events -------------------------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Continue after an interruption: the starts of the match and the game are emitted again."""
        self._start_emitted = self._game_start_emitted = False
        if self.game is not None:
            self.game.resumed = True

    def close(self) -> None:
        """Finish the match, of which nothing more will be seen."""
        if self.game is not None:
            self.game.flush_roll()
        self._finish_game(last=True)
        if self._games or self._start_emitted:
            self._emit_match_start()
            self._emit(MatchEnded(self.number, self.transcript))

    def _emit_step(self, step: Step) -> None:
        if self.game is not None and not self._game_start_emitted:
            self._emit_starts(self.game)
        self._emit(EntryAdded(self.number, step))

    def _emit_starts(self, game: GameBuilder) -> None:
        """Emit the starts of the match and of the game, unless that has been done."""
        self._emit_match_start()
        if not self._game_start_emitted:
            self._game_start_emitted = True
            self._emit(GameBegan(self.number, Game(game.number, game.start, tuple(game.entries))))

    def _emit_match_start(self) -> None:
        if not self._start_emitted:
            self._start_emitted = True
            known = evolve(self.transcript, games=tuple(self._games))
            self._emit(MatchBegan(self.number, known, self.at, self.rules))


def _is_same_roll(one: Throw, other: Throw) -> bool:
    return one.seat is other.seat and sorted(one.dice) == sorted(other.dice)


def _with_raised_cube(start: GameState, cube: int) -> GameState:
    """Return a game before its opening roll, with the cube after automatic doubles."""
    raised = cube == 1 or start.laws.automatic is not AutomaticRaise.NONE
    laws = start.laws if raised else evolve(start.laws, automatic=AutomaticRaise.DOUBLE)
    return evolve(start, cube=cube, laws=laws)
