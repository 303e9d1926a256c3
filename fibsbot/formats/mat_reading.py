"""Reads `.mat` files: those of gnubg, XG, Jellyfish, Snowie, GamesGrid, BGBlitz, and our own.

Nobody has ever written down what a `.mat` file is. This reader takes what those programs write, as gnubg's importer
does, but it believes nothing: every throw, play and double is checked by the rules core. A turn that cannot be read
costs the rest of its game, which is a gap then; the next game is read again.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import define, evolve, field

from fibsbot.formats.building import Building, resigned_level, with_beavers
from fibsbot.formats.errors import FormatError, expected
from fibsbot.formats.mat_games import GameReader
from fibsbot.formats.mat_headers import NAMELESS, Headers
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Laws
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import Ending, GameState, Result, Seat
from fibsbot.transcript import Game, Gap, Resign, Throw, Transcript

LONGEST_LINE: Final = 1000
"""Characters that a line of a game may have; no program writes more than a hundred."""
HIGHEST_NUMBER: Final = 1_000_000
"""No game has a higher number; where a file says so, its games are counted."""
"""In this column or beyond, "Wins" stands in the right half."""

_LENGTH: Final = re.compile(r"\s*(?:([0-9]{1,9})[ ]?points?|unlimited|money)[ ](?:match|session|game)\b", re.IGNORECASE)
_GAME: Final = re.compile(r"\s*Game\s+([0-9]{1,9})\b", re.IGNORECASE)
_SCORES: Final = re.compile(r"(.*?) ?: ?([0-9]{1,9}) ?(.*?) ?: ?([0-9]{1,9})")
"""Of a line without runs of blanks. After a long name gnubg leaves no blank at all between the two halves."""
_RATED: Final = re.compile(r"(.*?),[ ]*([0-9]{1,5}(?:\.[0-9]{1,6})?)")
_START: Final = re.compile(r"(?:cube ([0-9]{1,7}))?(?:, )?(?:(after |before )?(Crawford))?")


def read_mats(text: str) -> list[Transcript]:
    """Return the matches of a text, in which one may stand below the other. Raises FormatError."""
    reader = _Reader()
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), 1):
        reader.line(line, number)
    return reader.finished()


def read_mat(text: str) -> Transcript:
    """Return the only match of a text. Raises FormatError."""
    matches = read_mats(text)
    if len(matches) > 1:
        raise FormatError(f"expected one match in the file, got {len(matches)}")
    return matches[0]


@define
class _Reader:
    """A file as it is read: one match after another."""

    matches: list[Transcript] = field(factory=list)
    headers: Headers = field(factory=Headers)
    """Those since the last line of a game."""
    match: _Match | None = None
    first: tuple[str, int] = ("", 1)
    """The first line that says something, with its number."""

    def line(self, line: str, number: int) -> None:
        """Take a line."""
        head = line[:LONGEST_LINE].lstrip(" \t\f\v")
        if not head:
            return
        if self.match and self.match.scores(line, number):
            return
        if head.startswith((";", "#")):
            self._comment(head.lstrip(";# \t"), number)
        else:
            self._words(line, head, number)

    def _words(self, line: str, head: str, number: int) -> None:
        self.first = self.first if self.first[0] else (head, number)
        if length := _LENGTH.match(head):
            self._end()
            self.match = _Match(self.headers, int(length[1] or 0), number)
            self.headers = Headers()
        elif self.match and len(line) > LONGEST_LINE:
            raise expected(f"a line of up to {LONGEST_LINE} characters", head, number)
        elif self.match and (game := _GAME.match(head)):
            self.match.begin(int(game[1]), number)
        elif self.match:
            self.match.row(line.expandtabs(), number)

    def _comment(self, text: str, number: int) -> None:
        if self.match and text.startswith("Set Pos="):
            raise expected("games from the opening position", text, number)
        if not text.startswith("[Game "):  # of what a program's dice were made
            self.headers.add(text)

    def _end(self) -> None:
        if self.match:
            self.matches.append(self.match.finished())

    def finished(self) -> list[Transcript]:
        """Return the matches."""
        if not self.match:
            raise expected("a line such as '7 point match'", *self.first)
        self.match.headers.comments += self.headers.comments
        self._end()
        return self.matches


@define
class _Match:
    """A match as it is read."""

    headers: Headers
    length: int
    begun: int
    """The line in which it says its length."""
    laws: Laws = field(init=False)
    jacoby_open: bool = field(init=False)
    """Whether the file does not say if the Jacoby rule is in force."""
    names: tuple[str, str] = ("", "")
    ratings: tuple[str, str] = ("", "")
    games: list[Game] = field(factory=list)
    past_crawford: bool = False
    game: GameReader | None = None
    scores_due: int | None = None
    """The number of the game whose scores have to come next."""
    problem: FormatError | None = None
    """The first thing that could not be read."""
    miscounted: str = ""
    """Points of the last game that cannot be, as the file says them; empty if they can."""

    def __attrs_post_init__(self) -> None:
        self.laws, self.jacoby_open = self.headers.laws(self.length, self.begun)

    def begin(self, number: int, line: int) -> None:
        """Begin a game, whose scores come in the next line."""
        self._check_scores(f"Game {number}", line)
        self._end()
        last = self.games[-1].number if self.games else 0
        self.scores_due = max(number if number < HIGHEST_NUMBER else 0, last + 1)

    def row(self, line: str, number: int) -> None:
        """Take a line below a game's first."""
        self._check_scores(line, number)
        if not self.game:
            raise expected("a line such as 'Game 1'", line.strip(), number)
        self.game.row(line, number)

    def scores(self, line: str, number: int) -> bool:
        """Take the line of names and scores, if it is one and has its place here."""
        if self.scores_due is None or len(line) > LONGEST_LINE:
            return False
        scores = _SCORES.fullmatch(re.sub(r"[ \t]+", " ", line).strip(" "))
        if not scores:
            return False
        pairs = [_rated(scores[1]), _rated(scores[3])]
        if not self.games:
            self.names = pairs[0][0], pairs[1][0]
            self.ratings = pairs[0][1], pairs[1][1]
        elif self.names != (pairs[0][0], pairs[1][0]):
            raise expected(f"the scores of {self.names[0]} and {self.names[1]}", line.strip(), number)
        game, self.scores_due = self.scores_due, None
        points = int(scores[2]), int(scores[4])
        self._settle(points)
        start = self._start(game, points, number)
        building = Building.of(game, start, first=not self.games)
        self.game = GameReader(building, self.headers.note("Gap", game) is not None, self.jacoby_open)
        return True

    def _check_scores(self, line: str, number: int) -> None:
        if self.scores_due is not None:
            raise expected("the scores, such as 'alice : 0   bob : 0'", line.strip(), number)

    def _start(self, game: int, scores: tuple[int, int], line: int) -> GameState:
        """Return a game's first state, as the scores and our own notes have it."""
        try:
            start = start_match(self.laws, self.length, scores, post_crawford=self.past_crawford)
        except RuleError as error:
            raise FormatError(f"line {line}: game {game}: {error}") from None
        note = _START.fullmatch(self.headers.note("Start", game) or "")
        if not note:
            return start
        if note[1] and int(note[1]):
            start = evolve(start, cube=int(note[1]))
        if note[3]:
            start = evolve(start, crawford=not note[2], post_crawford=note[2] == "after ")
        return start

    def _end(self) -> None:
        """End the game that is being read."""
        if self.game:
            game = self.game.finished()
            self.games.append(game)
            self._learn(game.start.laws)
            self.past_crawford |= game.start.crawford or game.start.post_crawford
            self.miscounted = self.game.miscounted
            if self.miscounted:
                self.headers.tags[f"Points {game.number}"] = self.miscounted
            self.problem = self.problem or self.game.problem
            self.game = None

    def _settle(self, scores: tuple[int, int]) -> None:
        """See by the scores of the next game what the last one's result was, where the file does not say it well."""
        last = self.games[-1] if self.games else None
        if last is None:
            return
        gained = [new - old for new, old in zip(scores, last.start.scores, strict=True)]
        points, end = max(gained), last.entries[-1] if last.entries else None
        if min(gained) == 0 < points:
            winner = Seat.A if gained[Seat.A] else Seat.B
            if last.result is None and isinstance(end, Gap):
                self.games[-1] = evolve(
                    last, result=Result(winner, points, resigned_level(points, end.then.cube), Ending.RESIGNED)
                )
            elif self.miscounted and last.result and last.result.winner is winner and isinstance(end, Resign):
                level = resigned_level(points, last.result.points // last.result.level)
                entries = (*last.entries[:-1], evolve(end, level=level))
                result = evolve(last.result, points=points, level=level)
                self.games[-1] = evolve(last, entries=entries, result=result)
                if self.miscounted.startswith(f"{points},"):  # the next score bears the file out
                    del self.headers.tags[f"Points {last.number}"]
        self._settle_jacoby(scores)

    def _settle_jacoby(self, scores: tuple[int, int]) -> None:
        """See by the scores of the next game whether a gammon counted once; gnubg says "Wins 2 points" nevertheless."""
        last = self.games[-1] if self.games else None
        if not self.jacoby_open or last is None or last.result is None or last.result.level is Level.SINGLE:
            return
        gained = scores[last.result.winner] - last.start.scores[last.result.winner]
        if gained * last.result.level == last.result.points:
            laws = evolve(last.start.laws, jacoby=True)
            result = evolve(last.result, points=gained)
            self.games[-1] = evolve(last, start=evolve(last.start, laws=laws), result=result)
            self._learn(laws)

    def _learn(self, laws: Laws) -> None:
        """Play on by the laws that a game has shown to be in force."""
        if laws.jacoby:
            self.jacoby_open = False
        self.laws = evolve(self.laws, jacoby=self.laws.jacoby or laws.jacoby, crawford=laws.crawford)

    def finished(self) -> Transcript:
        """Return the match."""
        self._check_scores("the end of the match", self.begun)
        self._end()
        if self.problem and not any(isinstance(entry, Throw) for game in self.games for entry in game.entries):
            raise self.problem
        games = with_beavers(self.games, least=int(self.headers.beavers))
        return evolve(self.headers.transcript(self.names, self.ratings, self.length), games=games)


def _rated(name: str) -> tuple[str, str]:
    """Split what GamesGrid writes into name and rating."""
    rated = _RATED.fullmatch(name)
    return (rated[1].strip() or NAMELESS, rated[2]) if rated else (name or NAMELESS, "")
