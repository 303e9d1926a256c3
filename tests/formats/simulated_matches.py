"""Matches played by the rules core alone: everything that can happen in a match happens in some of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from random import Random
from typing import Final

from attrs import evolve
from hypothesis import strategies as st

from fibsbot.match import CubeAction, Dice
from fibsbot.position import BAR, Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, AutomaticRaise, Laws, Level
from fibsbot.rules.permissions import match_winner, may_reject_roll, refusal_to_double, refusal_to_redouble
from fibsbot.rules.plays import Cells, resulting_positions
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, RejectedRoll, Resign, Throw, Transcript, apply

LENGTHS: Final = (1, 1, 2, 3, 3, 5, 7, 0)
"""What a match is played for where nothing else is asked; 0 is unlimited."""
NAMES: Final = (
    "alice",
    "bob",
    "Carol_9",
    "d",
    "e-mail",
    "Dr. No",
    "Zoë Ångström",
    "O'Neill",
    "x" * 30,
    "[GM] Y",
    "a,b",
)
SITES: Final = ("fibs.com", "127.0.0.1:4321", "Club, Town", "")
MONEY: Final = (
    FIBS,
    evolve(FIBS, jacoby=True),
    evolve(FIBS, redoubles=3),
    evolve(FIBS, jacoby=True, redoubles=1),
)
"""Laws of unlimited matches."""
AUTOMATIC: Final = evolve(FIBS, automatic=AutomaticRaise.DOUBLE, automatic_limit=4)
"""Ties in the opening throw raise the cube: few formats know of it, so this has to be asked for."""
REJECTING: Final = evolve(FIBS, reject_first_throw=True)
"""A first throw may be rejected, which doubles the cube."""
HIGHEST_CUBE: Final = 64
FIRST_DAY: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def simulate(
    seed: int,
    length: int | None = None,
    *,
    games: int | None = None,
    laws: Laws | None = None,
    names: tuple[str, str] | None = None,
    finished: bool = True,
    gaps: bool = False,
    user: Seat | None = None,
    setup: Position | None = None,
) -> Transcript:
    """Play a whole match; the same arguments always give the same one.

    `games` ends a match earlier (an unlimited one is ended after a few in any case). Where it is not `finished`, the
    last game breaks off somewhere; with `gaps` some games lack something in their middle or at their beginning. Each
    game begins from `setup`, as seat A sees it.
    """
    random = Random(seed)
    length = random.choice(LENGTHS) if length is None else length
    laws = laws or (FIBS if length else random.choice(MONEY))
    most = games or (10_000 if length else random.randint(1, 4))
    first, second = names or random.sample(NAMES, 2)
    match = _Match(random, rules.start_match(laws, length), setup or Position.start())
    while match_winner(match.state) is None and len(match.games) < most:
        match.play_game()
    played = match.games
    if gaps:
        played = [_with_gap(random, game) if random.random() < 0.5 else game for game in played]
    if not finished:
        played[-1] = _broken_off(random, played[-1])
    return Transcript(
        players=(_player(random, first), _player(random, second)),
        length=length,
        games=tuple(played),
        user=user,
        site=random.choice(SITES),
        started=match.started,
        ended=match.now,
    )


def _player(random: Random, name: str) -> Player:
    if random.random() < 0.2:
        return Player(name)
    return Player(name, round(random.uniform(900, 2200), 2), random.randint(0, 99_999))


class _Match:
    """A match as it is played."""

    def __init__(self, random: Random, state: GameState, setup: Position) -> None:
        self.random = random
        self.setup = setup
        self.state = state
        self.started = FIRST_DAY + dt.timedelta(seconds=random.randrange(300 * 86_400))
        self.now = self.started
        self.games: list[Game] = []
        self.entries: list[Entry] = []

    def play_game(self) -> None:
        """Play one game to its end."""
        if self.games:
            self.state = rules.next_game(self.state)
        self.state = evolve(self.state, board=self.setup)
        first, second = self._opening()
        start = self.state
        self.entries = []
        self.doubles = self.random.choice((0.0, 0.02, 0.1, 0.3))
        self.resigns = self.random.choice((0.0, 0.0, 0.002, 0.03))
        self.tastes = self.random.choice(TASTES), self.random.choice(TASTES)
        self._throw(Seat.A if first > second else Seat.B, (max(first, second), min(first, second)))
        while self.state.stage is not Stage.OVER:
            self._turn()
        self.games.append(Game(len(self.games) + 1, start, tuple(self.entries), self.state.result))

    def _opening(self) -> Dice:
        """Throw until the dice differ; ties may raise the cube."""
        while True:
            first, second = self._dice()
            if first != second:
                return first, second
            self.state = rules.roll_opening(self.state, first, second)

    def _dice(self) -> Dice:
        return self.random.randint(1, 6), self.random.randint(1, 6)

    def _turn(self) -> None:
        seat = self.state.turn
        if self.random.random() < self.resigns:
            self._resign(self.random.choice((seat, seat, seat.other)))
        elif self._may_double(seat) and self.random.random() < self.doubles * (0.1 if self._dead(seat) else 1):
            self._cube(seat, CubeAction.DOUBLE)
            while self.state.stage is Stage.DOUBLED:
                self._answer()
        else:
            self._throw(seat, self._dice())

    def _may_double(self, seat: Seat) -> bool:
        return not refusal_to_double(self.state, seat) and self.state.cube < HIGHEST_CUBE

    def _dead(self, seat: Seat) -> bool:
        """Whether the cube at its present value wins the match already: few double then."""
        return bool(self.state.length) and self.state.scores[seat] + self.state.cube >= self.state.length

    def _answer(self) -> None:
        seat = self.state.answering
        assert seat is not None
        if not refusal_to_redouble(self.state) and self.state.offered < HIGHEST_CUBE and self.random.random() < 0.3:
            self._cube(seat, CubeAction.BEAVER)
        else:
            self._cube(seat, CubeAction.TAKE if self.random.random() < 0.7 else CubeAction.PASS)

    def _cube(self, seat: Seat, action: CubeAction) -> None:
        self._add(Cube(seat=seat, action=action))

    def _resign(self, seat: Seat) -> None:
        accepted = self.random.random() < 0.6
        self._add(Resign(seat=seat, level=self.random.choice(list(Level)), accepted=accepted))

    def _throw(self, seat: Seat, dice: Dice) -> None:
        """Throw and play; somebody may want to resign in between."""
        if self.random.random() < self.resigns:
            self._add(Throw(seat=seat, dice=dice))
            self._resign(self.random.choice((seat, seat, seat.other)))
            if self.state.stage is Stage.OVER:
                return
        thrown = apply(self.state, Throw(seat=seat, dice=dice))
        if may_reject_roll(thrown) and self.random.random() < 0.5:
            self._add(RejectedRoll(seat=seat, dice=dice))
            self._throw(seat, self._dice())
            return
        plays = resulting_positions(thrown.position.points, dice)
        taste = self.tastes[seat]
        play = Play()
        if plays:
            after = self.random.choice(list(plays)) if taste is None else max(plays, key=taste)
            play = Play.of(*plays[after])
        self._add(Throw(seat=seat, dice=dice, play=play))

    def _add(self, entry: Entry) -> None:
        seconds = round(self.random.uniform(0.1, 9), 3)
        self.now += dt.timedelta(seconds=seconds)
        self.state = apply(self.state, entry)
        self.entries.append(evolve(entry, at=self.now, seconds=seconds))


Taste = Callable[[Cells], float]
"""How much the cells of a position are liked by the player who has just played."""


def _racing(cells: Cells) -> float:
    """Bring the last checkers home, hit, leave no blot within reach."""
    lead = back = 0
    for point, n in enumerate(cells):
        if n > 0:
            lead -= point * n
            back = point
        elif n < 0:
            lead -= (BAR - point) * n
    return lead - 3 * cells[1:BAR].count(1) - 2 * back


def _sitting(cells: Cells) -> float:
    """Stay back as long as possible: this loses gammons and backgammons."""
    return sum(point**2 * n for point, n in enumerate(cells) if n > 0) + 30 * cells[BAR]


TASTES: Final[tuple[Taste | None, ...]] = (_racing, _racing, _racing, _sitting, None)
"""None: any play is as good as another."""


def _with_gap(random: Random, game: Game) -> Game:
    """Forget some entries; a game whose beginning is forgotten starts where it was seen first."""
    states = [game.start]
    for entry in game.entries:
        states.append(apply(states[-1], entry))
    begin = random.randrange(len(game.entries))
    end = random.randint(begin + 1, len(game.entries))
    if not begin:
        return evolve(game, start=states[end], entries=game.entries[end:])
    gap = Gap(at=game.entries[end - 1].at, reason=f"{end - begin} lines are missing", then=states[end])
    return evolve(game, entries=(*game.entries[:begin], gap, *game.entries[end:]))


def _broken_off(random: Random, game: Game) -> Game:
    """Break the game off; its end was not seen."""
    kept = random.randrange(max(len(game.entries), 1))
    return evolve(game, entries=game.entries[:kept], result=None)


def transcripts(
    *, lengths: tuple[int, ...] = (0, 1, 2, 3), whole: bool = False, odd_names: bool = True
) -> st.SearchStrategy[Transcript]:
    """Transcripts of short matches; if not `whole`, some break off and some have gaps.

    Names are those of no server where they are `odd`: any text of one line.
    """
    text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    odd = st.tuples(text, text).filter(lambda names: names[0] != names[1])
    return st.builds(
        simulate,
        st.integers(0, 2**32),
        st.sampled_from(lengths),
        games=st.integers(1, 3),
        laws=st.sampled_from((None, REJECTING)),
        names=(st.none() | odd) if odd_names else st.none(),
        finished=st.sampled_from((True,) if whole else (True, False)),
        gaps=st.sampled_from((False,) if whole else (False, True)),
        user=st.sampled_from((None, Seat.A, Seat.B)),
    )
