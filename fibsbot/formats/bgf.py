"""Matches of BGBlitz, `.bgf`: the reader.

`bgf_fields.py` has the layout of the file. What it says is checked against the rules turn by turn, as no board is
stored with the turns. Green has seat A. The stored analysis is kept with the decisions (`bgf_verdicts.py`).

The layout is what other readers agree on, and was tried with 11 files of version 1.0. Of cube actions as records of
their own (`adouble`, `atake`, `apass`), automatic doubles and other set-ups there is one source or none; how a beaver
is stored is not known. The order of the dice is lost; the higher one comes first.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from attrs import define, evolve, field

from fibsbot.formats import FormatError
from fibsbot.formats.bgf_fields import Fields, read_fields
from fibsbot.formats.bgf_verdicts import (
    Moves,
    answer_verdict,
    dance_verdict,
    double_verdict,
    moves_of,
    play_verdict,
)
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, errors_at, play_of_moves, resigned_level
from fibsbot.formats.match_laws import USUAL, reading_laws, with_setup
from fibsbot.games.state_json import HIGHEST_CUBE, HIGHEST_NUMBER
from fibsbot.match import CubeAction, Dice
from fibsbot.notation import NotationError
from fibsbot.position import Flaw, Play, Position
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import can_move
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Player, Transcript, Verdict

MOST_POINTS: Final = HIGHEST_NUMBER // 2
NO_DIE: Final = 7
"""The die of a roll that could not be played; the dice are where the moves would be."""
_RESIGNS: Final = (9, NO_DIE)
"""The dice of a resignation, which the player of the record makes."""
_CELLS: Final = 26
"""Points, and both bars."""
_OFF: Final = 2
"""Numbers that may follow: the checkers borne off."""
_MOST_CHECKERS: Final = 15
_SEATS: Final = {-1: Seat.A, 1: Seat.B}
_ACTIONS: Final = {"adouble": CubeAction.DOUBLE, "atake": CubeAction.TAKE, "apass": CubeAction.PASS}
_DATE: Final = re.compile(r"(?P<year>[0-9]{4})[-./](?P<month>[0-9]{1,2})[-./](?P<day>[0-9]{1,2})\b")
_DATE_IN_WORDS: Final = re.compile(r"(?P<month>[A-Z][a-z]{2})[a-z]*\.? (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4})\b")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAGS: Final = {"Event": "event", "Location": "location", "Round": "round"}


def iter_bgf(data: bytes) -> Iterator[Transcript]:
    """Yield the match in a file. Raises FormatError."""
    yield _Match(read_fields(data)).transcript()


@define
class _Match(CheckedMatch):
    """A match that is being read."""

    fields: Fields
    length: int = field(init=False)
    past_crawford: bool = False
    doubts: list[str] = field(factory=list)
    """What the file leaves open, and where it contradicts the rules."""

    def __attrs_post_init__(self) -> None:
        self.length = self.fields.number("matchlen", 0, lowest=0, highest=MOST_POINTS)

    def transcript(self) -> Transcript:
        """Return the match. Raises FormatError where none of its games plays out by the rules."""
        games = self.fields.parts("games", "game")
        if not games:
            raise FormatError("expected a game, got a match without one")
        scores = [_scores(game, "score") for game in games]
        scores.append(_scores(self.fields, "final") if self.fields.has("finalGreen") else scores[-1])
        problems = []
        for number, game in enumerate(games):
            checked = self._begin(number + 1, game, scores[number])
            points = game.number("wonPoints", 0, lowest=0, highest=MOST_POINTS)
            _BgfGame(checked, game.parts("moves", f"game {number + 1}, move"), points).read()
            self._finish(checked, game, (scores[number], scores[number + 1]))
            problems += [checked.problem] if checked.problem else []
            self.end_game(checked)
        if len(problems) == len(games):
            raise problems[0]  # it is more likely that the file says something else than that each game is broken
        fields = self.fields
        match = Transcript(
            players=(Player(fields.text("nameGreen") or "Green"), Player(fields.text("nameRed") or "Red")),
            length=self.length,
            site=fields.text("site"),
            started=_date(fields.text("date")),
            tags={name: text for name, key in _TAGS.items() if (text := fields.text(key))},
        )
        found = self.with_games(match, least_beavers=int(fields.flag("useBeaver") and not self.length))
        return evolve(found, remarks=(*found.remarks, *self.doubts))

    def _begin(self, number: int, game: Fields, scores: tuple[int, int]) -> CheckedGame:
        laws = reading_laws(
            self.length,
            crawford=self.fields.flag("useCrawford", otherwise=True),
            jacoby=self.fields.flag("useJacoby") and not self.length,
            cube=self.fields.flag("useCube", otherwise=True),
        )
        self.past_crawford |= not game.flag("isCrawford") and self.length > 1 and self.length - 1 in scores
        with errors_at(game.place):
            start = start_match(laws, self.length, scores, post_crawford=self.past_crawford)
        self.past_crawford |= start.crawford
        return CheckedGame(number, _with_first_board(start, game), first=number == 1, unit="move")

    def _finish(self, checked: CheckedGame, game: Fields, scores: tuple[tuple[int, int], tuple[int, int]]) -> None:
        """Note how a game ended: by the scores before and after it, and the points of it."""
        (before_a, before_b), (after_a, after_b) = scores
        points = game.number("wonPoints", 0, lowest=0, highest=MOST_POINTS)
        gained = after_a - before_a, after_b - before_b
        winner = Seat.A if gained[0] > 0 >= gained[1] else Seat.B if gained[1] > 0 >= gained[0] else None
        found = checked.state.result if checked.over else None
        if winner is not None:
            points = max(gained)  # `wonPoints` counts those beyond the match, too
        if found and winner in {None, found.winner}:
            if points and points != found.points:
                checked.stated = evolve(found, points=points)
        elif found:
            self.doubts.append(f"{game.place}: the scores name another winner than the board")
        elif winner is not None:
            checked.win(winner, points)
        elif points:
            self.doubts.append(f"{game.place}: {points} points won, and the file does not say by whom")


def _scores(fields: Fields, name: str) -> tuple[int, int]:
    green, red = (fields.number(f"{name}{player}", 0, lowest=0, highest=MOST_POINTS) for player in ("Green", "Red"))
    return green, red


def _with_first_board(start: GameState, game: Fields) -> GameState:
    """Return the beginning of a game with the board and the cube that the file has for it. Raises FormatError."""
    initial = game.part("initial")
    cells = initial.numbers("points", count=_CELLS, more=_OFF, lowest=-_MOST_CHECKERS, highest=_MOST_CHECKERS)
    if cells:
        position = Position((-abs(cells[25]), *reversed(cells[:24]), abs(cells[24])))
        if position.status() is not Flaw.VALID or position.over:
            raise FormatError(f"{game.place}: expected a position of a game that goes on, got another one")
        start = start if position == USUAL else with_setup(start, position)
    cube = initial.number("cube", 1, lowest=1, highest=HIGHEST_CUBE)
    owner = _SEATS.get(initial.number("cubeOwner", 0, lowest=-1, highest=1))
    return evolve(start, cube=cube, owner=owner)


def _date(text: str) -> dt.datetime | None:
    """Return the day in a text, at midnight as the file has no time; None for a text in another form."""
    found = _DATE.match(text) or _DATE_IN_WORDS.match(text)
    if found is None:
        return None
    month = found["month"]
    try:
        number = int(month) if month.isdecimal() else _MONTHS.index(month) + 1
        return dt.datetime(int(found["year"]), number, int(found["day"]), tzinfo=dt.UTC)
    except ValueError:
        return None


@define
class _BgfGame:
    """A game that is being read."""

    checked: CheckedGame
    records: list[Fields]
    points: int
    """What the game was worth in the end; 0 where the file does not say it."""

    def read(self) -> None:
        """Read the records. An error costs the rest of the game."""
        place = 0
        while place < len(self.records) and not self.checked.problem:
            with self.checked.reading(place + 1):
                place += self._record(self.records[place], self.records[place + 1 : place + 2])

    def _record(self, record: Fields, following: list[Fields]) -> int:
        """Process a record, and return how many have been used, as a double and its answer are two."""
        checked = self.checked
        seat = _SEATS.get(record.number("player", 0, lowest=-1, highest=1))
        kind = record.text("type")
        sources = record.numbers("from", count=4, lowest=-1, highest=25)
        is_move = kind not in _ACTIONS and (not sources or sources[0] >= 0)
        decision = record.part("equity").part("cubeDecision")
        if not is_move and kind not in _ACTIONS and not decision.has("hasDoubled") and (checked.over or not following):
            return 1  # the end of the game
        if checked.over:
            raise FormatError(f"{checked.place}: expected the next game, as this one is over")
        if seat is None:
            raise FormatError(f"{checked.place}: expected player -1 or 1, got 0")
        if (record.data.get("red"), record.data.get("green")) == _RESIGNS:
            level = resigned_level(self.points, checked.state.cube) if self.points else Level.SINGLE
            checked.resign(seat, level)
        elif kind in _ACTIONS:
            self._cube(seat, _ACTIONS[kind], record)
        elif is_move or not decision.has("hasDoubled"):
            self._roll(seat, record)
        else:
            return self._double(seat, record, following)
        return 1

    def _cube(self, seat: Seat, action: CubeAction, record: Fields) -> None:
        if self.checked.state.stage is Stage.OPENING:
            self.checked.skip_opening(seat)
        self.checked.cube(seat, action)
        if action is CubeAction.DOUBLE:
            self._judge(partial(double_verdict, record, action))
        elif action in {CubeAction.TAKE, CubeAction.PASS}:
            self._judge(partial(answer_verdict, record, action))

    def _double(self, seat: Seat, record: Fields, following: list[Fields]) -> int:
        """Process a double and its answer, which the record of the double has, and the next one as well."""
        self._cube(seat, CubeAction.DOUBLE, record)
        answers = [it for it in following if it.numbers("from", count=4, lowest=-1, highest=25)[:1] == (-1,)]
        said = [it.part("equity").part("cubeDecision") for it in (record, *answers)]
        accepted = next((it.flag("hasAccepted") for it in said if it.has("hasAccepted")), None)
        if accepted is not None:
            self._cube(seat.other, CubeAction.TAKE if accepted else CubeAction.PASS, record)
        return 1 + len(answers)

    def _judge(self, find: Callable[[], Verdict | None], *, undoubled: bool = False) -> None:
        """Keep what the analysis says of the last entry; an analysis that cannot be read costs nothing else."""
        with suppress(FormatError):
            self.checked.judge(find(), undoubled=undoubled)

    def _roll(self, seat: Seat, record: Fields) -> None:
        """Process a roll with its play, or one that could not be played."""
        checked = self.checked
        is_dance = record.has("dancingEquity") or NO_DIE in (record.data.get("red"), record.data.get("green"))
        dice = _dice(record, is_dance=is_dance)
        moves = [] if is_dance else moves_of(record)
        if checked.state.stage is Stage.OPENING and dice[0] == dice[1]:
            checked.skip_opening(seat)
        before = checked.state.position_for(seat)
        if is_dance and can_move(before, dice):
            raise FormatError(f"{checked.place}: expected a play, got a roll without one")
        checked.throw(seat, dice, moves)
        if is_dance:
            self._judge(partial(dance_verdict, record, before))
        else:
            self._judge(partial(play_verdict, record, partial(_legal, before, dice), before))
        self._judge(partial(double_verdict, record, CubeAction.ROLL), undoubled=True)


def _dice(record: Fields, *, is_dance: bool) -> Dice:
    """Return the dice of a roll, the higher one first."""
    if is_dance:
        numbers = [record.numbers(name, count=4, lowest=-1, highest=25)[:1] for name in ("from", "to")]
        dice = [number[0] for number in numbers if number]
    else:
        dice = [record.number(name, 0, lowest=0, highest=NO_DIE) for name in ("red", "green")]
    if len(dice) < 2 or not all(1 <= number <= 6 for number in dice):
        raise FormatError(f"{record.place}: expected two dice, got {' and '.join(map(str, dice)) or 'none'}")
    return max(dice), min(dice)


def _legal(position: Position, dice: Dice, moves: Moves) -> Play | None:
    try:
        return play_of_moves(position, dice, moves)
    except (RuleError, NotationError):
        return None
