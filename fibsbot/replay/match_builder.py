"""Builds one match, game by game, and the events that report it."""

from __future__ import annotations

import datetime as dt
from typing import Final

from attrs import define, evolve, field
from fibs_protocol.board import BoardState
from fibs_protocol.words import YOU

from fibsbot.match import Dice
from fibsbot.replay.board_view import BoardView, board_shows_state
from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.rules.game import match_winner, next_game, start_match
from fibsbot.rules.laws import FIBS, UNLIMITED_REDOUBLES, AutomaticRaise
from fibsbot.rules.state import Ending, GameState, Seat, Stage
from fibsbot.transcript import Game, Player, Throw, Transcript

MAX_GAMES: Final = 1000
"""Games of one transcript; an unlimited match may go on for ever, and becomes several then."""
MAX_ENTRIES: Final = 5000
"""Entries of one game; no real game has so many."""


@define
class GameOpening:
    """A game that begins: what was told of its opening throw."""

    dice: dict[Seat, int] = field(factory=dict)
    cube: int = 1
    """After automatic doubles."""
    first: Seat | None = None
    at: dt.datetime | None = None

    @property
    def throw(self) -> Throw | None:
        """The opening throw, if it was told."""
        a, b = (self.dice.get(seat, 0) for seat in Seat)
        if a == b or not a or not b:
            return None
        seat = Seat.A if a > b else Seat.B
        dice: Dice = (self.dice[seat], self.dice[seat.other])
        return Throw(seat=seat, dice=dice, at=self.at) if self.first in (None, seat) else None


class MatchBuilder:
    """One match."""

    def __init__(self, number: int, players: tuple[Player, Player], *, own: bool, site: str) -> None:
        """Begin with two players; seat A is our own, or that of whom we watch."""
        self.number = number
        self.players = players
        self.own = own
        self.site = site
        self.length: int | None = None
        self.fresh = False
        """Whether it was heard to begin, so that nobody has a point yet."""
        self.page: GameBuilder | None = None
        self.opening: GameOpening | None = None
        """A game that has begun, and whose page is not opened yet."""
        self.quiet: Seat | None = None
        """Whose plays nobody tells."""
        self.at: dt.datetime | None = None
        """When it was last seen."""
        self._started: dt.datetime | None = None
        self._games: list[Game] = []
        self._last: GameState | None = None
        """The last game at its end, if that is known."""
        self._scores: tuple[int, int] | None = None
        """What the score was told to be after the last game."""
        self._missed: tuple[Seat, int, Ending] | None = None
        """How a game ended of which nothing was seen but that."""
        self._announced = False
        self._page_announced = False
        self._out: list[MatchEvent] = []

    # -- what others look at ----------------------------------------------------------------------------------------

    @property
    def transcript(self) -> Transcript:
        """The match as far as it is written."""
        page = self.page
        shown = page is not None and (page.entries or page.result)
        return Transcript(
            players=self.players,
            length=self.length or 0,
            games=(*self._games, page.game) if page is not None and shown else tuple(self._games),
            user=Seat.A if self.own else None,
            site=self.site,
            started=self._started,
            ended=self.at,
        )

    @property
    def won(self) -> bool:
        """Whether somebody has all points of the match."""
        return bool(self.length) and max(self.scores or (0, 0)) >= (self.length or 0)

    @property
    def full(self) -> bool:
        """Whether no more games go into this transcript."""
        return len(self._games) >= MAX_GAMES

    @property
    def scores(self) -> tuple[int, int] | None:
        """Points of both players as they are now, if they are known."""
        if self.page is not None:
            return self.page.scores
        return self._scores

    @property
    def place(self) -> tuple[int, int]:
        """Numbers of the game and of the turn."""
        if self.page is None:
            return (len(self._games), 0)
        return (self.page.number, self.page.base.turns + 1)

    def seat_of(self, name: str) -> Seat | None:
        """Return where a player sits, by the name that a message has."""
        if name == self.players[Seat.A].name or (self.own and name == YOU):
            return Seat.A
        return Seat.B if name in (self.players[Seat.B].name, "") else None

    def is_of(self, player: str, opponent: str) -> bool:
        """Whether it is the match of these two; `player` is YOU in one of our own."""
        names = (self.players[Seat.A].name, self.players[Seat.B].name)
        if player == YOU:
            return self.own and opponent == names[1]
        return not self.own and (player, opponent) in (names, names[::-1])

    def rename(self, name: str) -> None:
        """Learn our own name."""
        self.players = (evolve(self.players[0], name=name), self.players[1])

    def see(self, at: dt.datetime | None) -> None:
        """Take note that something was said about the match now."""
        if at is not None:
            self._started = self._started or at
            self.at = at

    # -- pages ------------------------------------------------------------------------------------------------------

    def begin_game(self, at: dt.datetime | None) -> None:
        """The next game begins; some servers say so only after its first board."""
        page = self.page
        if self.opening is None and page is not None and page.start.stage is Stage.OPENING and not page.entries:
            return
        self.opening = GameOpening(at=at)

    def throw_opening(self, dice: dict[Seat, int], at: dt.datetime | None) -> None:
        """Each player throws one die; equal ones are thrown again."""
        opening = self._being_opened(at)
        opening.dice, opening.at = dice, at

    def raise_cube(self, cube: int, at: dt.datetime | None) -> None:
        """The cube is raised because of equal dice."""
        self._being_opened(at).cube = max(cube, 1)

    def first_move(self, seat: Seat, at: dt.datetime | None) -> None:
        """The opening throw is decided."""
        opening = self._being_opened(at)
        opening.first, opening.at = seat, at

    def _being_opened(self, at: dt.datetime | None) -> GameOpening:
        if self.opening is None:
            self.opening = GameOpening(at=at)
        return self.opening

    def running(self) -> GameBuilder | None:
        """Return the page of the game that something was told about; None where it is not known yet."""
        if self.opening is not None and self.opening.throw is not None:
            self._open(None)
        if self.opening is not None:
            return None
        return self.page

    def contradicts(self, sight: BoardView) -> bool:
        """Whether a board must be of another match: of another length, or with a lower score than there was."""
        if self.length not in (None, sight.length):
            return True
        start = self.page.start if self.page else self._games[-1].start if self._games else None
        if start is None or start.scores == sight.scores:
            return False
        return any(new < old for new, old in zip(sight.scores, start.scores, strict=True))

    def expects(self, board: BoardState, seat: Seat) -> bool:
        """Whether a board shows what is written, or what was sent, as most do, so that nobody has to look at it."""
        page = self.page
        return (
            page is not None
            and self.opening is None
            and page.is_known
            and len(page.entries) < MAX_ENTRIES
            and self.length == page.start.length
            and (board_shows_state(board, seat, page.state) or page.shows_what_was_made(board, seat))
        )

    def look(self, sight: BoardView, at: dt.datetime | None) -> None:
        """Look at a board of this match."""
        self.length = sight.length
        page = self.page
        if sight.turn is None:
            return
        if page is not None and self.opening is None and not page.over and sight.scores == page.start.scores:
            page.look(sight, at)
            if len(page.entries) > MAX_ENTRIES:
                self._open(sight, at)
        elif self.opening is not None or not self._is_old(sight):
            self._open(sight, at)

    def _is_old(self, sight: BoardView) -> bool:
        """Whether this is a copy of a board of the game that is over, not the first of a game that began unheard."""
        if self.page is not None:
            return self.page.over and sight.scores == self.page.start.scores
        last = self._games[-1] if self._games else None
        return last is not None and last.result is not None and sight.scores == last.start.scores

    def _open(self, sight: BoardView | None, at: dt.datetime | None = None) -> None:
        """Open the page of a game that begins, or that is first seen."""
        opening = self.opening or GameOpening()
        self._finish_page(sight.scores if sight else self._scores)
        throw, start = opening.throw, None
        if sight is not None and sight.begins and sight.turn is not None and sight.dice is not None:
            start = sight.opening()
            shown = Throw(seat=sight.turn, dice=sight.dice, at=opening.at or at)
            throw = throw if throw and _is_same_roll(throw, shown) else shown
        elif throw is not None:
            start = sight.opening() if sight else self._expected()
            start = start and _with_raised_cube(start, opening.cube)
        elif sight is not None:
            start = sight.state()
            if start is not None and start.stage is Stage.MOVE and start.dice is not None:
                throw = Throw(seat=start.turn, dice=start.dice, at=at)
        if start is None:
            return
        self.opening = None
        self.page = page = GameBuilder(len(self._games) + 1, start)
        page.quiet = self.quiet
        self._page_announced = False
        if throw is not None:
            page.begin(throw)
        if sight is not None and not sight.agrees(page.state):
            page.look(sight, at)
        if start.stage is Stage.OPENING:
            self._announce()

    def _expected(self) -> GameState | None:
        """Return the game that has to come next; None where the score or the length is not known."""
        if self._last is not None and match_winner(self._last) is None:
            return next_game(self._last)
        scores = self._scores or ((0, 0) if self.fresh and not self._games else None)
        if self.length is None or scores is None or (self.length and max(scores) >= self.length):
            return None
        return start_match(evolve(FIBS, redoubles=0 if self.length else UNLIMITED_REDOUBLES), self.length, scores)

    def _finish_page(self, scores: tuple[int, int] | None = None, *, last: bool = False) -> None:
        """Close the page. `scores` are those after the game, where they were told; `last`: nothing comes after it."""
        page = self.page
        if page is None:
            return
        page.conclude(scores)
        if not last:
            page.lose_end()
        self._tell_steps()
        self.page = None
        if not page.entries and page.result is None and not self._page_announced:
            return  # a glance
        self._last = page.base if page.base.stage is Stage.OVER and page.base.scores == page.scores else None
        self._scores = page.scores if page.result else None
        self._announce(page)
        self._games.append(page.game)
        self._out.append(GameEnded(self.number, page.game))

    def end_game(self) -> None:
        """Close the page of a game that is over."""
        if self.page is not None and self.page.over:
            self._finish_page()

    def miss(self, winner: Seat, points: int, how: Ending) -> None:
        """A game has ended that could not be followed: no board has shown it."""
        self.opening, self._missed = None, (winner, points, how)

    def _write_missed(self, scores: tuple[int, int]) -> None:
        """Open the page of a game that was missed, as one gap, if the score after it fits what was known before."""
        missed, self._missed = self._missed, None
        if missed is None or self.page is not None or self.length is None:
            return
        winner, points, how = missed
        before = (scores[0] - points, scores[1]) if winner is Seat.A else (scores[0], scores[1] - points)
        if before != (self._scores or before) or min(before) < 0 or (self.length and max(before) >= self.length):
            return
        laws = evolve(FIBS, redoubles=0 if self.length else UNLIMITED_REDOUBLES)
        self.page = GameBuilder(len(self._games) + 1, start_match(laws, self.length, before))
        self._page_announced = False
        self.page.miss(winner, points, how)

    def score(self, scores: tuple[int, int]) -> None:
        """The score was told, after a game."""
        if self.opening is None:
            self._write_missed(scores)
            self._finish_page(scores)
            self._scores = scores
            if self._last is not None and self._last.scores != scores:
                self._last = None

    # -- telling ----------------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """The match goes on after a break: it is told anew."""
        self._announced = self._page_announced = False
        if self.page is not None:
            self.page.resumed = True

    def close(self) -> list[MatchEvent]:
        """Return what is left to tell when nothing more will be seen of the match."""
        if self.page is not None:
            self.page.give_up()
        self._finish_page(last=True)
        if self._games:
            self._announce_match()
            self._out.append(MatchEnded(self.number, self.transcript))
        return self.take()

    @property
    def waits(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self._out or (self.page is not None and self.page.steps))

    def take(self) -> list[MatchEvent]:
        """Return what there is to tell."""
        self._tell_steps()
        out, self._out = self._out, []
        return out

    def tell(self, happening: MatchEvent) -> None:
        """Tell something else about the match, in its place."""
        self._tell_steps()
        self._out.append(happening)

    def _tell_steps(self) -> None:
        page = self.page
        if page is None or not page.steps:
            return
        self._announce()
        self._out += [EntryAdded(self.number, step) for step in page.steps]
        page.steps.clear()

    def _announce(self, page: GameBuilder | None = None) -> None:
        """Tell that the match and the game are on, unless that was told."""
        self._announce_match()
        page = page or self.page
        if page is not None and not self._page_announced:
            self._page_announced = True
            entries = tuple(page.entries[: len(page.entries) - len(page.steps)])
            self._out.append(GameBegan(self.number, Game(page.number, page.start, entries)))

    def _announce_match(self) -> None:
        if not self._announced:
            self._announced = True
            known = evolve(self.transcript, games=tuple(self._games))
            self._out.append(MatchBegan(self.number, known, self.at))


def _is_same_roll(one: Throw, other: Throw) -> bool:
    return one.seat is other.seat and sorted(one.dice) == sorted(other.dice)


def _with_raised_cube(start: GameState, cube: int) -> GameState:
    """Return a game before its opening throw, with the cube after automatic doubles."""
    laws = start.laws if cube == 1 else evolve(start.laws, automatic=AutomaticRaise.DOUBLE)
    return evolve(start, cube=cube, laws=laws)
