"""A game that is read entry by entry, each checked by the rules core.

Shared by readers and writers, with the laws and limits of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Self

from attrs import define, evolve, field

from fibsbot.formats import FormatError, expected
from fibsbot.match import CubeAction, Dice
from fibsbot.notation.play_notation import parse_play
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.laws import FIBS, UNLIMITED_REDOUBLES, Laws, Level
from fibsbot.rules.plays import can_move, check_play
from fibsbot.rules.state import GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Throw, Transcript, apply

HIGHEST_CUBE: Final = 1 << 20
"""No file may say that a game is played for more; XGID and our own programs have no room for it."""
HIGHEST_NUMBER: Final = 1 << 30
"""No file may have a longer match, higher scores or more games."""
_PLACE_IN_ERROR: Final = re.compile(r"\bgame \d+, turn \d+: ")
"""What an entry's place in the transcript says better."""


@define
class CheckedGame:
    """A game as it is read. Everything raises FormatError where the rules forbid what a file says."""

    number: int
    start: GameState
    state: GameState
    """After the entries so far."""
    entries: list[Entry] = field(factory=list)
    first: bool = False
    """Whether the file begins with this game: what was played before it is not known."""
    lost: str = ""
    """Why the rest of the game cannot be read; empty if it can."""

    @classmethod
    def of(cls, number: int, start: GameState, *, first: bool = False) -> Self:
        """Begin with a game's first state."""
        return cls(number, start, start, first=first)

    @property
    def over(self) -> bool:
        """Whether the entries have come to the end of the game."""
        return self.state.stage is Stage.OVER

    def add(self, entry: Entry, line: int) -> None:
        """Add what stands in a line."""
        try:
            self.state = apply(self.state, entry)
        except RuleError as error:
            raise FormatError(f"line {line}: game {self.number}, turn {self.state.turns + 1}: {error}") from None
        if max(self.state.cube, self.state.offered) > HIGHEST_CUBE:
            raise FormatError(f"line {line}: game {self.number}: expected a cube up to {HIGHEST_CUBE}, got more")
        self.entries.append(entry)

    def throw(self, seat: Seat, dice: Dice, moves: Sequence[tuple[int, int]], line: int) -> None:
        """Add a throw with the moves made, from source to target as the player sees the board.

        No moves are a dance, or a throw that was not played if it could have been.
        """
        position = self.state.position_for(seat)
        try:
            play = play_of_moves(position, dice, moves)
        except RuleError as error:
            raise FormatError(f"line {line}: game {self.number}, turn {self.state.turns + 1}: {error}") from None
        self.add(Throw(seat=seat, dice=dice, play=play), line)

    def cube(self, seat: Seat, action: CubeAction, line: int) -> None:
        """Add what was done with the cube; a double that answers one is a beaver."""
        if action is CubeAction.DOUBLE and self.state.stage is Stage.DOUBLED:
            action = CubeAction.BEAVER
        if action is CubeAction.DOUBLE and self.state.crawford:
            self._lift_crawford()
        self.add(Cube(seat=seat, action=action), line)

    def resign(self, seat: Seat, level: Level, line: int, *, accepted: bool = True) -> None:
        """Add an offer to resign with its answer."""
        self.add(Resign(seat=seat, level=level, accepted=accepted), line)

    def lose(self, error: FormatError) -> None:
        """Give up the rest of the game, of which something cannot be read."""
        self.lost = self.lost or _PLACE_IN_ERROR.sub("", str(error))

    def _lift_crawford(self) -> None:
        """Take it for another than the Crawford game, as somebody doubles in it.

        Where the file begins with it, that one was played before; else the match is played without the rule.
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
        """Return the game; `result` is what the file says of its end where the entries do not come to one."""
        if self.lost:
            then = self.state if self.over or result is None else ended_state(self.state, result)
            self.entries.append(Gap(reason=self.lost, then=then))
            self.state = then
        return Game(self.number, self.start, tuple(self.entries), self.state.result or result)

    def restart(self, start: GameState) -> None:
        """Begin in another state after all, as long as nothing has happened."""
        self.start = self.state = start


def ended_state(state: GameState, result: Result) -> GameState:
    """Return the end of a game of which only the result is known."""
    a, b = state.scores
    scores = (a + result.points, b) if result.winner is Seat.A else (a, b + result.points)
    over = evolve(state, stage=Stage.OVER, scores=scores, result=result, dice=None, resignation=None)
    return evolve(over, offered=0, answering=None, redoubles=0)


def resigned_level(points: int, cube: int) -> Level:
    """Return how much was resigned by what it counted, as gnubg sees it."""
    return Level(min(max(-(-points // cube), 1), 3))


def play_of_moves(position: Position, dice: Dice, moves: Sequence[tuple[int, int]]) -> Play | None:
    """Return the play that these moves are, one move each or joined; None where a throw was not played.

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


def scores_before(game: Game) -> tuple[int, int]:
    """Return the scores at which a game began, also where it was first seen when it was over."""
    a, b = game.start.scores
    result = game.start.result or game.result
    if game.start.stage is not Stage.OVER or result is None:
        return (a, b)
    return (max(a - result.points, 0), b) if result.winner is Seat.A else (a, max(b - result.points, 0))


def reading_laws(length: int, *, crawford: bool = True, jacoby: bool = False, cube: bool = True) -> Laws:
    """Return the laws to read a match with: those of the server, and what the file says.

    In unlimited matches every beaver is allowed until `with_beavers_allowed` has seen how many there were.
    """
    redoubles = 0 if length else UNLIMITED_REDOUBLES
    return evolve(FIBS, crawford=crawford, jacoby=jacoby, cube=cube, redoubles=redoubles)


def with_beavers_allowed(games: Sequence[Game], *, least: int = 0) -> tuple[Game, ...]:
    """Return games under laws that allow as many instant redoubles in a row as happened in one of them.

    `least` is what a file says is allowed.
    """
    most = max((_longest_beavers(game.entries) for game in games), default=0)
    most = max(most, least)
    return tuple(_with_redoubles(game, most) for game in games)


def _longest_beavers(entries: Sequence[Entry]) -> int:
    """Count the instant redoubles of the longest exchange."""
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
    """Return the match that was found. Raises FormatError where there is another."""
    transcript = next(found)
    another = next(found, None)
    if another is not None:
        names = " and ".join(player.name for player in another.players)
        raise expected("one match", f"a second one, of {names}")
    return transcript
