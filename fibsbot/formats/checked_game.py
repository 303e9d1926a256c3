"""A game that is read entry by entry, each checked by the rules core; and the laws and limits of match files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final, Self

from attrs import define, evolve, field

from fibsbot.formats import FormatError, expected
from fibsbot.match import CubeAction, Dice
from fibsbot.notation.play_notation import parse_play
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.law_words import LawWordsError, parse_law_words
from fibsbot.rules.laws import FIBS, UNLIMITED_REDOUBLES, Laws, Level
from fibsbot.rules.plays import can_move, check_play
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import (
    Cube,
    Entry,
    Game,
    Gap,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
    add_points,
    apply,
    end_game,
)

HIGHEST_CUBE: Final = 1 << 20
"""The highest cube that a file may have; XGID and our own programs cannot represent more."""
HIGHEST_NUMBER: Final = 1 << 30
"""The highest length, score or number of games that a file may have."""
_PLACE_IN_ERROR: Final = re.compile(r"\bgame \d+, turn \d+: ")
"""The place in an error text, which a gap in the transcript does not need."""


@define
class CheckedGame:
    """A game that is being read. Its methods raise FormatError if the rules forbid an entry."""

    number: int
    start: GameState
    state: GameState
    """After the entries so far."""
    entries: list[Entry] = field(factory=list)
    first: bool = False
    """Whether it is the first game of the file, so that the games before it are unknown."""
    unreadable: str = ""
    """Why the rest of the game cannot be read; empty if it can."""

    @classmethod
    def of(cls, number: int, start: GameState, *, first: bool = False) -> Self:
        """Return a game in its first state."""
        return cls(number, start, start, first=first)

    @property
    def over(self) -> bool:
        """Whether the entries reach the end of the game."""
        return self.state.stage is Stage.OVER

    def add(self, entry: Entry, line: int) -> None:
        """Add an entry that was read from a line."""
        try:
            self.state = apply(self.state, entry)
        except RuleError as error:
            raise FormatError(f"line {line}: game {self.number}, turn {self.state.turns + 1}: {error}") from None
        if max(self.state.cube, self.state.offered) > HIGHEST_CUBE:
            raise FormatError(f"line {line}: game {self.number}: expected a cube up to {HIGHEST_CUBE}, got more")
        self.entries.append(entry)

    def throw(self, seat: Seat, dice: Dice, moves: Sequence[tuple[int, int]], line: int) -> None:
        """Add a roll with its moves, from source to target as the player sees the board.

        No moves are a dance, or a roll without its play if a play was possible.
        """
        position = self.state.position_for(seat)
        try:
            play = play_of_moves(position, dice, moves)
        except RuleError as error:
            raise FormatError(f"line {line}: game {self.number}, turn {self.state.turns + 1}: {error}") from None
        self.add(Throw(seat=seat, dice=dice, play=play), line)

    def cube(self, seat: Seat, action: CubeAction, line: int) -> None:
        """Add a cube action; a double that answers one is a beaver."""
        if action is CubeAction.DOUBLE and self.state.stage is Stage.DOUBLED:
            action = CubeAction.BEAVER
        if action is CubeAction.DOUBLE and self.state.crawford:
            self._lift_crawford()
        self.add(Cube(seat=seat, action=action), line)

    def reject_roll(self, seat: Seat, dice: Dice, line: int) -> None:
        """Add a first roll that was rejected, of a file with the cube that `raised_cube` returns."""
        if self.start.stage is Stage.OPENING and not any(isinstance(entry, Gap) for entry in self.entries):
            self.start, self.state = (evolve(it, cube=max(it.cube // 2, 1)) for it in (self.start, self.state))
        self.add(RejectedRoll(seat=seat, dice=dice), line)

    def resign(self, seat: Seat, level: Level, line: int, *, accepted: bool = True) -> None:
        """Add an offer to resign with its answer."""
        self.add(Resign(seat=seat, level=level, accepted=accepted), line)

    def win(self, winner: Seat, points: int, line: int) -> Result:
        """Return the result that a file states; if nothing else has ended the game, the loser has resigned."""
        level = resigned_level(points, self.state.cube)
        if not self.over and not self.unreadable:
            self.resign(winner.other, level, line)
        found = self.state.result
        if found and (found.winner, found.points) == (winner, points):
            return found
        return Result(winner, points, level, Ending.RESIGNED)

    def give_up(self, error: FormatError) -> None:
        """Give up the rest of the game, because something in it cannot be read."""
        self.unreadable = self.unreadable or _PLACE_IN_ERROR.sub("", str(error))

    def _lift_crawford(self) -> None:
        """Treat the game as another than the Crawford game, because a player doubles in it.

        If it is the first game of the file, the Crawford game came before it; else the match has no Crawford rule.
        """
        self.start, self.state = (
            evolve(
                state,
                crawford=False,
                post_crawford=self.first,
                laws=evolve(state.laws, crawford=state.laws.crawford and self.first),
            )
            for state in (self.start, self.state)
        )

    def finished(self, result: Result | None = None) -> Game:
        """Return the game; `result` is the one in the file, for entries that do not reach the end."""
        if self.unreadable:
            then = self.state if self.over or result is None else end_game(self.state, result)
            self.entries.append(Gap(reason=self.unreadable, then=then))
            self.state = then
        return Game(self.number, self.start, tuple(self.entries), self.state.result or result)

    def restart(self, start: GameState) -> None:
        """Replace the first state, as long as there are no entries."""
        self.start = self.state = start


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


def named_laws(words: str) -> Laws | None:
    """Return the laws that words name; None if they name none."""
    try:
        return parse_law_words(words)
    except LawWordsError:
        return None


def with_named_laws(laws: Laws, words: str) -> Laws:
    """Return laws with what the other laws of a match, as our own files name them."""
    named = named_laws(words)
    if named is None:
        return laws
    return evolve(
        laws,
        name=named.name,
        automatic=named.automatic,
        automatic_limit=named.automatic_limit,
        reject_first_throw=named.reject_first_throw,
        triple=named.triple,
        point_game=named.point_game,
    )


def raised_cube(game: Game) -> int:
    """Return the cube after rejected first rolls, which formats that other programs read show as the one at the start.

    After a gap the cube is known anyway.
    """
    seen = takewhile(lambda entry: not isinstance(entry, Gap), game.entries)
    return int(game.start.cube << sum(isinstance(entry, RejectedRoll) for entry in seen))


def scores_before(game: Game) -> tuple[int, int]:
    """Return the scores before a game, even if it was first seen when it was over."""
    result = game.start.result
    if result is None:
        return game.start.scores
    a, b = add_points(game.start.scores, result.winner, -result.points)
    return (max(a, 0), max(b, 0))


def reading_laws(length: int, *, crawford: bool = True, jacoby: bool = False, cube: bool = True) -> Laws:
    """Return the laws for reading a match: those of the server, changed as the file says.

    In unlimited matches any number of beavers is allowed until `with_beavers_allowed` has counted them.
    """
    redoubles = 0 if length else UNLIMITED_REDOUBLES
    return evolve(FIBS, crawford=crawford, jacoby=jacoby, cube=cube, redoubles=redoubles)


def with_beavers_allowed(games: Sequence[Game], *, least: int = 0) -> tuple[Game, ...]:
    """Return games whose laws allow as many instant redoubles in a row as one of them has.

    `least` is the number that the file allows.
    """
    most = max((_longest_beavers(game.entries) for game in games), default=0)
    most = max(most, least)
    return tuple(_with_redoubles(game, most) for game in games)


def _longest_beavers(entries: Sequence[Entry]) -> int:
    """Return the number of instant redoubles in the longest exchange."""
    most = row = 0
    for entry in entries:
        row = row + 1 if isinstance(entry, Cube) and entry.action is CubeAction.BEAVER else 0
        most = max(most, row)
    return most


def _with_redoubles(game: Game, most: int) -> Game:
    def changed(state: GameState) -> GameState:
        return evolve(state, laws=evolve(state.laws, redoubles=most))

    entries = (evolve(entry, then=changed(entry.then)) if isinstance(entry, Gap) else entry for entry in game.entries)
    return evolve(game, start=changed(game.start), entries=tuple(entries))


def only_one(found: Iterator[Transcript]) -> Transcript:
    """Return the only match. Raises FormatError if there is another."""
    transcript = next(found)
    another = next(found, None)
    if another is not None:
        names = " and ".join(player.name for player in another.players)
        raise expected("one match", f"a second one, of {names}")
    return transcript
