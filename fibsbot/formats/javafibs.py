"""Reads the match files of JavaFIBS, an old client of FIBS: one event a line, `CODE:NAME:REST`.

The player whose file it is, is called `You`, except in the scores after games. Points have the server's numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import define

from fibsbot.formats import expected, single_line
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, errors_at, numbered_lines
from fibsbot.formats.match_laws import reading_laws
from fibsbot.formats.oldmoves_game import read_moves
from fibsbot.match import CubeAction, Dice
from fibsbot.rules.game import start_match
from fibsbot.rules.state import Seat
from fibsbot.transcript import Player, Transcript

YOU: Final = "You"
LONGEST_LINE: Final = 1000
"""Characters of a line."""
_EVENT: Final = re.compile(r"([0-9]{1,2}):([^:]*):?(.*)")
_DICE: Final = re.compile(r"\D*([1-6])\D*([1-6])\D*")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_SCORES: Final = re.compile(r".*?([^:]+)-([0-9]{1,9}):([^:]+)-([0-9]{1,9})")

_ROLLS: Final = (0, 11)
"""The codes of rolls; 11 is the opening roll, of the winner of the throw for it."""
_PLAY: Final = 1
_CUBE: Final = {2: CubeAction.DOUBLE, 4: CubeAction.TAKE, 5: CubeAction.PASS}
_GAME: Final = 6
_WINS: Final = 7
"""It also decides who resigned: 3, the offer, does not say whether it was accepted."""
_MATCH: Final = 8
_SCORE: Final = 14


def iter_javafibs(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError."""
    match: _Match | None = None
    for number, line in numbered_lines(text, LONGEST_LINE):
        event = _EVENT.fullmatch(line)
        if event is None:
            continue
        code, name, rest = int(event[1]), single_line(event[2]), event[3].strip()
        if code == _MATCH:
            if match:
                yield match.transcript()
            length = _NUMBER.fullmatch(rest)
            match = _Match(name or "?", int(length[0]) if length else 0)
        elif match:
            match.event(code, name, event[0], rest, number)
    if match is None:
        raise expected("the opponent and the length of a match, such as `8:bob:7`", text.lstrip()[:40])
    yield match.transcript()


@define
class _Match(CheckedMatch):
    """A match that is being read; the player whose file it is has seat A."""

    opponent: str
    length: int
    user: str = YOU
    scores: tuple[int, int] = (0, 0)
    past_crawford: bool = False
    game: CheckedGame | None = None
    rolled: tuple[Seat, Dice, int] | None = None
    """A roll whose play has not come yet, with its line."""

    def event(self, code: int, name: str, whole: str, rest: str, line: int) -> None:
        """Process an event. An error costs the rest of its game."""
        if code == _GAME:
            self._end()
            self._begin(line)
        elif code == _SCORE and (scores := _SCORES.fullmatch(whole.partition(":")[2])):
            self._take_scores(scores)
        elif self.game:
            seat = Seat.B if name == self.opponent else Seat.A
            with self.game.reading(line):
                self._action(self.game, code, seat, rest)

    def _begin(self, line: int) -> None:
        with errors_at(f"line {line}"):
            start = start_match(reading_laws(self.length), self.length, self.scores, post_crawford=self.past_crawford)
        self.past_crawford |= start.crawford
        self.game = CheckedGame(len(self.games) + 1, start, first=not self.games)

    def _action(self, game: CheckedGame, code: int, seat: Seat, rest: str) -> None:
        if code == _WINS:
            self._win(game, seat, rest)
        elif game.problem or game.stated:
            return
        elif code in _ROLLS:
            self._flush(game)
            dice = _DICE.fullmatch(rest)
            if dice is None:
                raise expected("two dice", rest, game.line)
            self.rolled = seat, (int(dice[1]), int(dice[2])), game.line
        elif code == _PLAY:
            if self.rolled is None or self.rolled[0] is not seat:
                raise expected("a roll before its play", rest, game.line)
            (_, dice_rolled, _), self.rolled = self.rolled, None
            game.throw(seat, dice_rolled, read_moves(rest, game.line))
        elif code in _CUBE:
            self._flush(game)
            game.cube(seat, _CUBE[code])

    def _flush(self, game: CheckedGame) -> None:
        """Add a roll without a play: the player could not move, or did not any more."""
        if self.rolled:
            line = game.line
            (seat, dice, game.line), self.rolled = self.rolled, None
            game.throw(seat, dice, [])
            game.line = line

    def _win(self, game: CheckedGame, winner: Seat, rest: str) -> None:
        points = _NUMBER.search(rest)
        if not game.problem:
            self._flush(game)
        game.win(winner, int(points[0]) if points else game.state.cube)

    def _take_scores(self, found: re.Match[str]) -> None:
        """Take the scores after a game; they are the only place that names the player whose file it is."""
        first, second = single_line(found[1], "?"), single_line(found[3], "?")
        scores = int(found[2]), int(found[4])
        own_first = second == self.opponent or first == YOU
        self.user = first if own_first else second
        self._end()
        self.scores = scores if own_first else (scores[1], scores[0])

    def _end(self) -> None:
        if self.game is None:
            return
        if not self.game.problem:
            with self.game.reading(self.game.line):
                self._flush(self.game)
        self.scores = self.end_game(self.game).scores
        self.game = self.rolled = None

    def transcript(self) -> Transcript:
        """Return the match. Raises FormatError where no turn of it can be read."""
        self._end()
        return self.with_games(Transcript((Player(self.user), Player(self.opponent)), self.length, user=Seat.A))
