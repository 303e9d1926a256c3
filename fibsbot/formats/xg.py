"""Matches and positions of eXtreme Gammon, `.xg` and `.xgp`: the reader.

`xg_records.py` has the layout of the file. What it says is checked against the rules turn by turn; where the board in
the file is another one than the rules give, there is a gap. Player 1 has seat A. The stored analysis is kept with the
decisions (`xg_verdicts.py`).

Guesses, which no file has borne out: what is said of beavers, raccoons, automatic doubles, settlements and other games
than backgammon, and file versions other than 30. The order of the dice is lost; the higher one comes first.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import partial
from typing import Final

from attrs import define, evolve, field

from fibsbot.formats import FormatError
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, errors_at
from fibsbot.formats.match_laws import reading_laws, with_setup
from fibsbot.formats.xg_records import Record, read_records
from fibsbot.formats.xg_verdicts import answer_verdict, cube_remark, double_verdict, play_verdict
from fibsbot.games import load_ruleset
from fibsbot.games.state_json import HIGHEST_NUMBER
from fibsbot.match import CubeAction, Dice, MatchState
from fibsbot.position import Flaw, Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import can_move, play_between, resulting_positions
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Gap, Player, Throw, Transcript, Verdict, walk

UNLIMITED: Final = 99999
"""The length of a match without a limit."""
HYPER: Final = 2
"""The number of hyper-backgammon, whose start looks like any position of backgammon."""
MOST_AUTOMATIC_DOUBLES: Final = 10
UNRATED: Final = (1600.0, 0)
"""Rating and experience of a player of whom nothing is known."""
RATINGS: Final = (100.0, 9999.0)
"""Ratings that are possible; other numbers are those of other systems."""
SITES: Final = {
    0: "GammonSite",
    1: "FIBS",
    2: "TrueMoneygames",
    3: "GridGammon",
    4: "DailyGammon",
    5: "NetGammon",
    6: "VOG",
    7: "Play65",
    8: "Club Games",
    9: "PartyGammon",
    10: "XcitingGames",
    11: "BGRoom",
    12: "DiceArena",
    13: "Safe Harbor Games",
    14: "GameAccount",
    15: "XG Mobile",
    18: "Backgammon Galaxy",
}

_NO_CELLS: Final = (0,) * 26
_NO_ACCESS, _DOUBLED = -2, 1
_DROP, _TAKE, _BEAVER = range(3)
_RESIGNED: Final = {100 + level: level for level in Level}
"""The levels of resignations by how the file says that the game ended."""


def iter_xg(data: bytes) -> Iterator[Transcript]:
    """Yield the match in a file. Raises FormatError."""
    header, *records = read_records(data)
    match = _Match(header)
    for record in records:
        match.record(record)
    yield match.transcript()


def position_in_xg(data: bytes) -> MatchState:
    """Return the position in a file, which is that after the last turn of a match. Raises FormatError."""
    games = next(iter_xg(data)).games
    state = games[-1].start
    for step in walk(games[-1]):
        state = step.after
    found = MatchState.of(state, state.decides)
    if found is None:
        raise FormatError("expected a position, got a match that is over: `fibsbot replay FILE` shows it")
    return found


@define
class _Match(CheckedMatch):
    """A match that is being read."""

    header: Record
    length: int = field(init=False)
    past_crawford: bool = False
    game: _XgGame | None = None
    game_record: Record | None = None
    """The beginning of a game, until the next record shows its position."""
    lines: list[str] = field(factory=list)
    """Analyses of positions, which are no decisions."""

    def __attrs_post_init__(self) -> None:
        length = self.header.integer(92)
        if not 0 < length <= HIGHEST_NUMBER:
            raise FormatError(f"record 1: expected the length of a match, got {length}")
        self.length = 0 if length == UNLIMITED else length

    def record(self, record: Record) -> None:
        """Process a record."""
        if record.kind == 1:
            self._end()
            self.game_record = record
            return
        if self.game_record and record.kind in {2, 3, 4}:
            self.game = self._begin(self.game_record, record)
            self.game_record = None
        if self.game and record.kind in {2, 3, 4}:
            self.game.record(record)

    def _begin(self, record: Record, first: Record) -> _XgGame:
        """Begin a game; `first` is its first record, which shows whether it begins with the opening roll."""
        scores = record.integer(12), record.integer(16)
        number = record.integer(48)
        last = self.games[-1].number if self.games else 0
        place = f"record {record.number}"
        if not 0 <= min(scores) <= max(scores) <= HIGHEST_NUMBER // 2:
            raise FormatError(f"{place}: expected the scores before a game, got {scores[0]} and {scores[1]}")
        laws = reading_laws(self.length, crawford=self.header.flag(100), jacoby=self.header.flag(101))
        is_crawford = record.flag(20)
        self.past_crawford |= not is_crawford and self.length > 1 and self.length - 1 in scores
        with errors_at(place):
            start = start_match(laws, self.length, scores, post_crawford=self.past_crawford)
        self.past_crawford |= start.crawford
        setup = record.cells(21)
        if setup != _NO_CELLS:
            position = _position(setup, record)
            is_hyper = self.header.integer(96) == HYPER
            start = (
                evolve(start, board=position, rules=load_ruleset("hyper")) if is_hyper else with_setup(start, position)
            )
        raised = record.integer(64) if self.header.integer(552) >= 26 else 0
        if not 0 <= raised <= MOST_AUTOMATIC_DOUBLES:
            raise FormatError(f"{place}: expected up to {MOST_AUTOMATIC_DOUBLES} automatic doubles, got {raised}")
        start = evolve(start, cube=1 << raised)
        if not _has_opening(setup, first):
            start = _state_seen(start, first, raised)
        number = number if last < number < HIGHEST_NUMBER else last + 1
        checked = CheckedGame(number, start, first=not self.games, line=record.number, unit="record")
        return _XgGame(checked, raised)

    def _end(self) -> None:
        if self.game:
            self.end_game(self.game.checked)
            self.lines += [self.game.remark] if self.game.remark else []
            self.game = None

    def transcript(self) -> Transcript:
        """Return the match. Raises FormatError where no turn of it can be read."""
        self._end()
        if not self.games:
            raise FormatError("expected a game, got a match without one")
        header, version = self.header, self.header.integer(552)
        wide = version >= 24
        texts = {
            "Event": header.wide_text(622) if wide else header.short_text(136),
            "Location": header.wide_text(1396) if wide else header.short_text(283),
            "Round": header.wide_text(1654) if wide else header.short_text(417),
            "Transcriber": header.wide_text(1960) if version >= 30 else "",
        }
        names = [
            (header.wide_text(at) if wide else header.short_text(old)) or f"player {number}"
            for number, at, old in ((1, 880, 9), (2, 1138, 50))
        ]
        match = Transcript(
            players=(self._player(names[0], 104, 120), self._player(names[1], 112, 124)),
            length=self.length,
            site=SITES.get(header.integer(608), ""),
            started=self._started(),
            tags={name: text for name, text in texts.items() if text},
        )
        found = self.with_games(match, least_beavers=int(header.flag(102)))
        return evolve(found, remarks=(*found.remarks, *self.lines))

    def _player(self, name: str, rating_at: int, experience_at: int) -> Player:
        rating, experience = self.header.real(rating_at), self.header.integer(experience_at)
        if (rating, experience) == UNRATED or not RATINGS[0] <= rating <= RATINGS[1]:
            return Player(name)
        return Player(name, round(rating, 2), experience if experience > 0 else None)

    def _started(self) -> dt.datetime | None:
        """Return when the match began: of one that was imported the day, as the time is that of the import."""
        started = self.header.time(128)
        if started is None:
            return None
        is_imported = self.header.flag(416)
        return dt.datetime.combine(started.date(), dt.time(), dt.UTC) if is_imported else started.replace(microsecond=0)


def _has_opening(setup: tuple[int, ...], first: Record) -> bool:
    """Whether a game begins with its opening roll: from the set-up, and without access to the cube."""
    if first.kind == 2:
        return first.cells(36) == setup and first.integer(16) == _NO_ACCESS and first.integer(32) == 0
    return first.kind == 4 and setup != _NO_CELLS


def _position(cells: tuple[int, ...], record: Record) -> Position:
    """Return a position. Raises FormatError for one that is none, or in which the game is over."""
    position = Position(cells)
    if position.status() is not Flaw.VALID or position.over:
        raise FormatError(f"record {record.number}: expected a position of a game that goes on, got another one")
    return position


def _seat(record: Record, at: int) -> Seat:
    """Return a player, who is 1 or -1."""
    number = record.integer(at)
    if number not in {1, -1}:
        raise FormatError(f"record {record.number}: expected player 1 or -1, got {number}")
    return Seat.A if number == 1 else Seat.B


def _cube(number: int, raised: int, record: Record) -> tuple[int, Seat | None]:
    """Return value and owner of the cube; its sign is the owner's, not that of the player on roll."""
    if abs(number) > 20:
        raise FormatError(f"record {record.number}: expected a cube up to 2 to the power of 20, got {number}")
    owner = None if not number else Seat.A if number > 0 else Seat.B
    return 1 << abs(number) + raised, owner


def _state_seen(state: GameState, record: Record, raised: int) -> GameState:
    """Return the state in which the player of a record is on roll, as the record shows it."""
    is_play = record.kind == 3
    if record.kind not in {2, 3}:
        raise FormatError(f"record {record.number}: expected a turn, got a record of the kind {record.kind}")
    seat = _seat(record, 64 if is_play else 12)
    position = _position(record.cells(9 if is_play else 36), record)
    cube, owner = _cube(record.integer(108 if is_play else 32), raised, record)
    return evolve(
        state,
        board=position if seat is Seat.A else position.swapped(),
        turn=seat,
        stage=Stage.ROLL,
        dice=None,
        cube=cube,
        owner=owner,
        offered=0,
        answering=None,
        redoubles=0,
        turns=max(state.turns, 1),
    )


@define
class _XgGame:
    """A game that is being read."""

    checked: CheckedGame
    raised: int
    """How often automatic doubles have raised the cube, which the records do not count."""
    undoubled: Verdict | None = None
    """Of the decision not to double before the next roll."""
    analysis: str = ""
    """Of the cube, before the next roll."""

    @property
    def remark(self) -> str:
        """The analysis of a position in which nothing was decided; empty in a match."""
        return "" if self.checked.entries else self.analysis

    def record(self, record: Record) -> None:
        """Process a record. An error costs the rest of the game."""
        with self.checked.reading(record.number):
            if record.kind == 4:
                self._end(record)
            elif self.checked.problem:
                return
            elif self.checked.over or self.checked.stated:
                raise FormatError(f"{self.checked.place}: expected the next game, as this one is over")
            else:
                self._follow(record)
                (self._cube if record.kind == 2 else self._play)(record)

    def _follow(self, record: Record) -> None:
        """Compare the game with what a record shows, and go on with that after a gap."""
        checked = self.checked
        seen = _state_seen(checked.state, record, self.raised)
        state = checked.state
        last = checked.entries[-1] if checked.entries else None
        if isinstance(last, Cube) and last.action is CubeAction.BEAVER and state.answering is not None:
            checked.cube(state.answering, CubeAction.TAKE)  # the file leaves it out
            state = checked.state
        same_turn = state.stage is Stage.OPENING or (state.stage is Stage.ROLL and state.turn is seen.turn)
        if (
            not same_turn
            or state.position_for(seen.turn) != seen.position
            or (state.cube, state.owner) != (seen.cube, seen.owner)
        ):
            checked.add(Gap(reason=f"record {record.number}: a turn is missing", then=seen))

    def _cube(self, record: Record) -> None:
        """Process the decision before a roll."""
        checked, seat = self.checked, _seat(record, 12)
        if record.integer(16) != _DOUBLED:
            self.undoubled = double_verdict(record) if record.integer(16) == 0 else None
            self.analysis = cube_remark(record)
            return
        answer, to_beaver, to_raccoon = (record.integer(at) for at in (20, 24, 28))
        checked.cube(seat, CubeAction.DOUBLE)
        checked.judge(double_verdict(record))
        if answer == _BEAVER:
            checked.cube(seat.other, CubeAction.BEAVER)
            if to_beaver == _BEAVER:
                checked.cube(seat, CubeAction.BEAVER)
                self._answer(seat.other, to_raccoon)
            else:
                self._answer(seat, to_beaver)
        else:
            self._answer(seat.other, answer)
            checked.judge(answer_verdict(record) if answer in {_DROP, _TAKE} else None)

    def _answer(self, seat: Seat, answer: int) -> None:
        if answer in {_DROP, _TAKE}:
            self.checked.cube(seat, CubeAction.TAKE if answer == _TAKE else CubeAction.PASS)

    def _play(self, record: Record) -> None:
        """Process a roll with its play."""
        checked, seat = self.checked, _seat(record, 64)
        dice = record.integer(100), record.integer(104)
        if not all(1 <= number <= 6 for number in dice):
            raise FormatError(f"{checked.place}: expected two dice, got {dice[0]} and {dice[1]}")
        if checked.state.stage is Stage.OPENING and dice[0] == dice[1]:
            checked.skip_opening(seat)
        before = checked.state.position_for(seat)
        verdict = play_verdict(record, partial(_play_to, before, dice), before)
        undoubled, self.undoubled = self.undoubled, None
        if not record.flag(2308):
            checked.add(Throw(seat=seat, dice=dice, verdict=verdict, undoubled=undoubled))
            return
        after = Position(record.cells(35))
        play = _play_to(before, dice, after.points)
        if play is None:
            self._go_on_after_illegal(seat, after)
        else:
            checked.add(Throw(seat=seat, dice=dice, play=play, verdict=verdict, undoubled=undoubled))

    def _go_on_after_illegal(self, seat: Seat, after: Position) -> None:
        checked = self.checked
        if after.status() is not Flaw.VALID or after.over:
            raise FormatError(f"{checked.place}: expected a legal play, got an illegal one")
        state = checked.state
        then = evolve(state, turn=seat.other, stage=Stage.ROLL, dice=None, board=after.swapped(), turns=state.turns + 1)
        checked.add(Gap(reason=f"record {checked.line}: an illegal play", then=then))

    def _end(self, record: Record) -> None:
        """Process the end of a game."""
        checked, points = self.checked, record.integer(28)
        winner = _seat(record, 24)
        if not 0 < points <= HIGHEST_NUMBER // 2:
            raise FormatError(f"{checked.place}: expected the points of a game, got {points}")
        level = _RESIGNED.get(record.integer(32))
        if level and not checked.over and not checked.problem:
            checked.resign(winner.other, level)
        checked.win(winner, points)
        found = checked.state.result
        if found and found.winner is winner and found.points != points:
            checked.stated = evolve(found, points=points)  # no more than the winner needed


def _play_to(position: Position, dice: Dice, after: tuple[int, ...]) -> Play | None:
    """Return the legal play that leads to a position; None if none does."""
    if not can_move(position, dice):
        return Play() if after == position.points else None
    steps = play_between(position.points, dice, after) or resulting_positions(position.points, dice).get(after)
    return Play.of(*steps) if steps else None
