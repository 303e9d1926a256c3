"""A match that is read game by game and entry by entry, each checked by the rules core: what all readers share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from attrs import define, evolve, field

from fibsbot.formats import FormatError
from fibsbot.formats.match_laws import with_beavers_allowed
from fibsbot.games.state_json import HIGHEST_CUBE
from fibsbot.match import CubeAction, Dice
from fibsbot.notation import NotationError
from fibsbot.notation.play_notation import parse_play
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import can_move, check_play
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, RejectedRoll, Resign, Throw, Transcript, Verdict, apply, end_game

Names: TypeAlias = tuple[str, str]
"""Of the players of a match."""

_PLACE_IN_ERROR: Final = re.compile(r"\bgame \d+, turn \d+: ")
"""The place in an error text, which a gap in the transcript does not need."""
SHORTEST_CUT: Final = 3
"""Characters of a name that has been cut, at least."""
_COUNTRY: Final = re.compile(r"[ ,]*[(\[][^()\[\]]*[)\]]$")


def numbered_lines(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without blanks around them; of long lines the beginning."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        yield number, line[:longest].strip()


@contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Turn the errors of the rules core and of notations into FormatErrors that begin with a place."""
    try:
        yield
    except (RuleError, NotationError) as error:
        raise FormatError(f"{place}: {error}") from None


@define
class CheckedGame:
    """A game that is being read. Its methods raise FormatError if the rules forbid an entry."""

    number: int
    start: GameState
    first: bool = False
    """Whether the games before it are unknown, as it is the first game of the file."""
    line: int = 0
    """The line that is being read, for errors."""
    unit: str = "line"
    """What is counted by `line`: lines of a text, or records of a binary file."""
    entries: list[Entry] = field(factory=list, init=False)
    state: GameState = field(init=False)
    """After the entries so far."""
    stated: Result | None = field(default=None, init=False)
    """The result in the file, which takes precedence over that of the rules."""
    problem: FormatError | None = field(default=None, init=False)
    """Why the rest of the game cannot be read; None if it can."""

    def __attrs_post_init__(self) -> None:
        self.state = self.start

    @property
    def over(self) -> bool:
        """Whether the entries reach the end of the game."""
        return self.state.stage is Stage.OVER

    @property
    def place(self) -> str:
        """The place in the file and in the game, for errors."""
        return f"{self.unit} {self.line}: game {self.number}, turn {self.state.turns + 1}"

    @contextmanager
    def reading(self, line: int) -> Iterator[None]:
        """Read a line; a FormatError costs the rest of the game."""
        self.line = line
        try:
            yield
        except FormatError as error:
            self.give_up(error)

    def _error(self, error: Exception) -> FormatError:
        """Return an error of the rules core or of a notation with its place, which is not made for every entry."""
        return FormatError(f"{self.place}: {error}")

    def give_up(self, error: FormatError) -> None:
        """Give up the rest of the game, because something in it cannot be read."""
        self.problem = self.problem or error

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        try:
            self.state = apply(self.state, entry)
        except RuleError as error:
            raise self._error(error) from None
        if max(self.state.cube, self.state.offered) > HIGHEST_CUBE:
            raise FormatError(
                f"{self.unit} {self.line}: game {self.number}: expected a cube up to {HIGHEST_CUBE}, got more"
            )
        self.entries.append(entry)

    def throw(self, seat: Seat, dice: Dice, moves: Sequence[tuple[int, int]]) -> None:
        """Add a roll with its moves, from source to target as the player sees the board.

        No moves are a dance, or a roll without its play if a play was possible.
        """
        try:
            play = play_of_moves(self.state.position_for(seat), dice, moves)
        except (RuleError, NotationError) as error:
            raise self._error(error) from None
        self.add(Throw(seat=seat, dice=dice, play=play))

    def read_play(self, seat: Seat, dice: Dice, text: str) -> Play:
        """Return a play in the usual notation, in which stars mark hits."""
        try:
            return parse_play(text, self.state.position_for(seat), dice, hits_are_marked=True)
        except (RuleError, NotationError) as error:
            raise self._error(error) from None

    def cube(self, seat: Seat, action: CubeAction) -> None:
        """Add a cube action; a double that answers one is a beaver."""
        if action is CubeAction.DOUBLE and self.state.stage is Stage.DOUBLED:
            action = CubeAction.BEAVER
        if action is CubeAction.DOUBLE and self.state.crawford:
            self._lift_crawford()
        self.add(Cube(seat=seat, action=action))

    def reject_roll(self, seat: Seat, dice: Dice) -> None:
        """Add a first roll that was rejected, of a file with the cube that `raised_cube` returns."""
        if self.start.stage is Stage.OPENING and not any(isinstance(entry, Gap) for entry in self.entries):
            self.start, self.state = (evolve(state, cube=max(state.cube // 2, 1)) for state in (self.start, self.state))
        self.add(RejectedRoll(seat=seat, dice=dice))

    def judge(self, verdict: Verdict | None, *, undoubled: bool = False) -> None:
        """Keep what the analysis in a file says of the last entry, or of the decision not to double before it."""
        if verdict:
            last = self.entries[-1]
            if undoubled and isinstance(last, Throw):
                self.entries[-1] = evolve(last, undoubled=verdict)
            else:
                self.entries[-1] = evolve(last, verdict=verdict)

    def resign(self, seat: Seat, level: Level, *, accepted: bool = True) -> None:
        """Add an offer to resign with its answer."""
        self.add(Resign(seat=seat, level=level, accepted=accepted))

    def win(self, winner: Seat, points: int) -> None:
        """Note the result that a file states; if nothing else has ended the game, the loser has resigned."""
        level = resigned_level(points, self.state.cube)
        if not self.over and not self.problem:
            self.resign(winner.other, level)
        found = self.state.result
        agree = found is not None and (found.winner, found.points) == (winner, points)
        self.stated = found if agree else Result(winner, points, level, Ending.RESIGNED)

    def restart(self, start: GameState) -> None:
        """Replace the first state, as long as there are no entries."""
        self.start = self.state = start

    def skip_opening(self, seat: Seat) -> None:
        """Begin with the turn of a player instead of an opening roll, as long as there are no entries."""
        self.restart(evolve(self.start, stage=Stage.ROLL, turn=seat, board=self.start.position_for(seat)))

    def correct(self, **changes: Any) -> None:
        """Correct what has been wrong since the game began."""
        self.start, self.state = evolve(self.start, **changes), evolve(self.state, **changes)

    def _lift_crawford(self) -> None:
        """Treat the game as another than the Crawford game, because a player doubles in it.

        If it is the first game of the file, the Crawford game came before it; else the match has no Crawford rule.
        """
        laws = evolve(self.start.laws, crawford=self.start.laws.crawford and self.first)
        self.correct(crawford=False, post_crawford=self.first, laws=laws)

    def finished(self) -> Game:
        """Return the game; what cannot be read of it is a gap."""
        if self.problem:
            then = self.state if self.over or self.stated is None else end_game(self.state, self.stated)
            self.entries.append(Gap(reason=_PLACE_IN_ERROR.sub("", str(self.problem)), then=then))
            self.state = then
        return Game(self.number, self.start, tuple(self.entries), self.stated or self.state.result)


@define
class CheckedMatch:
    """A match that is being read."""

    games: list[Game] = field(factory=list, init=False)
    problem: FormatError | None = field(default=None, init=False)
    """The first error."""
    remarks: dict[Names, str] = field(factory=dict, init=False)
    """How names were taken that are not those of the first game, by the names."""

    def end_game(self, game: CheckedGame) -> Game:
        """Add a game that has been read, and return it."""
        self.games.append(game.finished())
        self.problem = self.problem or game.problem
        return self.games[-1]

    def with_games(self, match: Transcript, *, least_beavers: int = 0) -> Transcript:
        """Return a match with its games. Raises FormatError where no turn of it can be read.

        `least_beavers` is the number in a row that the file allows.
        """
        raise_if_unread(self.games, self.problem)
        games = with_beavers_allowed(self.games, least=least_beavers)
        return evolve(match, games=games, remarks=tuple(self.remarks.values()))


def raise_if_unread(games: Sequence[Game], problem: FormatError | None) -> None:
    """Raise the first error if no turn of a match could be read."""
    if problem and not any(isinstance(entry, Throw) for game in games for entry in game.entries):
        raise problem


def resigned_level(points: int, cube: int) -> Level:
    """Return the level of a resignation by its points, as gnubg does."""
    return Level(min(max(-(-points // cube), 1), 3))


def play_of_moves(position: Position, dice: Dice, moves: Sequence[tuple[int, int]]) -> Play | None:
    """Return the play of these moves, which may be joined; None if a roll was not played.

    Raises RuleError.
    """
    if not moves:
        return None if can_move(position, dice) else Play()
    try:
        return check_play(position, dice, Play.of(*moves))
    except PlayError as error:
        names = {BAR: "bar", OFF: "off"}
        text = " ".join("/".join(names.get(point, str(point)) for point in move) for move in moves[:4])
        try:
            return parse_play(text, position, dice)
        except PlayError:
            raise error from None


# -- names that programs cut, change in case, or to which they add countries -------------------------------------------


def order_of_names(known: Names, stated: Names) -> tuple[int, int] | None:
    """Return the place of each known player among two stated names; None if no name is one of theirs."""
    straight = likeness(known[0], stated[0]) + likeness(known[1], stated[1])
    crossed = likeness(known[0], stated[1]) + likeness(known[1], stated[0])
    if not straight and not crossed:
        return None
    return (1, 0) if crossed > straight else (0, 1)


def likeness(one: str, other: str) -> int:
    """Return 3 for equal names, 2 for those that differ in case or country, 1 for one that is cut, else 0."""
    if one == other:
        return 3
    first, second = _plain(one), _plain(other)
    if first == second:
        return 2
    shorter, longer = sorted((first, second), key=len)
    return int(len(shorter) >= SHORTEST_CUT and longer.startswith(shorter))


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _COUNTRY.sub("", " ".join(folded.split())) or folded
