"""Reads `.mat` files: those of gnubg, XG, Jellyfish, Snowie, GamesGrid, BGBlitz, and our own.

There is no specification of the format. This reader accepts what those programs write, as gnubg's importer does, and
has every roll, play and double checked by the rules core. A turn that cannot be read turns the rest of its game into
a gap; reading goes on with the next game.
"""

from __future__ import annotations

import contextlib
import re
from typing import Final

from attrs import Factory, define, evolve, field

from fibsbot.formats import FormatError, expected
from fibsbot.formats.checked_game import CheckedGame, CheckedMatch, Names, errors_at, order_of_names, resigned_level
from fibsbot.formats.mat_game import MatGameReader
from fibsbot.formats.mat_headers import NAMELESS, Headers
from fibsbot.formats.match_laws import named_setups, with_setup
from fibsbot.match import Dice
from fibsbot.notation.xgid import parse_xgid_board
from fibsbot.position import Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat
from fibsbot.transcript import Gap, Resign, Transcript

LONGEST_LINE: Final = 1000
"""Characters of a line, at most; no program writes more than a hundred."""
HIGHEST_GAME_NUMBER: Final = 1_000_000
"""The highest number of a game; games with higher ones are renumbered."""

_LENGTH: Final = re.compile(r"\s*(?:([0-9]{1,9})[ ]?points?|unlimited|money)[ ](?:match|session|game)\b", re.IGNORECASE)
_GAME: Final = re.compile(r"\s*Game\s+([0-9]{1,9})\b", re.IGNORECASE)
_SCORES: Final = re.compile(r"(.*?) ?: ?([0-9]{1,9}) ?(.*?) ?: ?([0-9]{1,9})")
"""Of a line without runs of blanks. After a long name gnubg leaves no blank at all between the two halves."""
_NAME_WITH_RATING: Final = re.compile(r"(.*?),[ ]*([0-9]{1,5}(?:\.[0-9]{1,6})?)")
_REJECTED_ROLL: Final = re.compile("player ([12]) rejected ([1-6])([1-6]) and doubled the cube")
_START_NOTE: Final = re.compile(
    r"(?:cube ([0-9]{1,7}))?(?:, )?(?:(after |before )?(Crawford))?(?:, )?(?:set-up ([-a-oA-O]{26}))?"
)


def read_mats(text: str) -> list[Transcript]:
    """Return the matches of a text, in which one may stand below the other. Raises FormatError.

    A file that names no variation may be one from another set-up: it is, if that alone makes all its plays legal.
    """
    try:
        matches = _read(text)
    except FormatError:
        if other := _from_other_setup(text):
            return other
        raise
    if any(isinstance(entry, Gap) for match in matches for game in match.games for entry in game.entries[-1:]):
        return _from_other_setup(text) or matches
    return matches


def _read(text: str, setup: Position | None = None) -> list[Transcript]:
    reader = _Reader(setup)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), 1):
        reader.line(line, number)
    return reader.finished()


def _from_other_setup(text: str) -> list[Transcript] | None:
    """Return the matches if all their plays are legal from a set-up that has a name; None if not."""
    if "[Variation " in text:
        return None
    for name, setup in named_setups().items():
        with contextlib.suppress(FormatError):
            matches = _read(text, setup)
            if not any(isinstance(entry, Gap) for match in matches for game in match.games for entry in game.entries):
                remark = f"read as {name}, as its plays are not legal from the usual set-up"
                return [evolve(match, remarks=(*match.remarks, remark)) for match in matches]
    return None


@define
class _Reader:
    """A file that is being read, one match after another."""

    setup: Position | None = None
    """The set-up of matches whose headers name none."""
    matches: list[Transcript] = field(factory=list)
    headers: Headers = field(default=Factory(lambda reader: Headers(setup=reader.setup), takes_self=True))
    """The headers since the last line of a game."""
    match: _Match | None = None
    first: tuple[str, int] = ("", 1)
    """The first line that is not blank or a comment, with its number."""

    def line(self, line: str, number: int) -> None:
        """Process a line."""
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
            self.headers = Headers(setup=self.setup)
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
class _Match(CheckedMatch):
    """A match that is being read."""

    headers: Headers
    length: int
    start_line: int
    """The line with its length."""
    laws: Laws = field(init=False)
    jacoby_unknown: bool = field(init=False)
    """Whether the file leaves the Jacoby rule open."""
    names: Names = ("", "")
    ratings: tuple[str, str] = ("", "")
    past_crawford: bool = False
    game: MatGameReader | None = None
    scores_due: int | None = None
    """The number of the game whose scores must come next."""
    invalid_points: str = ""
    """The impossible points of the last game in the file; empty if they are possible."""

    def __attrs_post_init__(self) -> None:
        self.laws, self.jacoby_unknown = self.headers.laws(self.length, self.start_line)

    def begin(self, number: int, line: int) -> None:
        """Start a game, whose scores come in the next line."""
        self._check_scores(f"Game {number}", line)
        self._end()
        last = self.games[-1].number if self.games else 0
        self.scores_due = max(number if number < HIGHEST_GAME_NUMBER else 0, last + 1)

    def row(self, line: str, number: int) -> None:
        """Process another line of a game."""
        self._check_scores(line, number)
        if not self.game:
            raise expected("a line such as 'Game 1'", line.strip(), number)
        self.game.row(line, number)

    def scores(self, line: str, number: int) -> bool:
        """Process the line of names and scores; return False if it is another line."""
        if self.scores_due is None or len(line) > LONGEST_LINE:
            return False
        scores = _SCORES.fullmatch(re.sub(r"[ \t]+", " ", line).strip(" "))
        if not scores:
            return False
        pairs = [_name_and_rating(scores[1]), _name_and_rating(scores[3])]
        if not self.games:
            self.names = pairs[0][0], pairs[1][0]
            self.ratings = pairs[0][1], pairs[1][1]
        order = self._order_of((pairs[0][0], pairs[1][0]), line.strip(), number)
        game, self.scores_due = self.scores_due, None
        columns = int(scores[2]), int(scores[4])
        points = columns[order[0]], columns[order[1]]
        self._fix_last_result(points)
        start = self._start(game, points, number)
        checked = CheckedGame(game, start, first=not self.games)
        gap, rethrown = (self.headers.note(key, game) for key in ("Gap", "Rethrown"))
        rejected: list[tuple[Seat, Dice]] = [
            (Seat(int(found[1]) - 1), (int(found[2]), int(found[3])))
            for found in _REJECTED_ROLL.finditer(rethrown or "")
        ]
        self.game = MatGameReader(checked, gap is not None, self.jacoby_unknown, rejected, left=Seat(order[0]))
        return True

    def _order_of(self, names: Names, scores: str, line: int) -> tuple[int, int]:
        """Return the columns of the players. Raises FormatError if none of them has a name of theirs."""
        if names == self.names:
            return 0, 1
        order = order_of_names(self.names, names)
        if order is None:
            raise expected(f"the scores of {self.names[0]} and {self.names[1]}", scores, line)
        known = f"{self.names[order[0]]} and {self.names[order[1]]}"
        self.remarks.setdefault(names, f"line {line}: {names[0]} and {names[1]} are taken for {known}")
        return order

    def _check_scores(self, line: str, number: int) -> None:
        if self.scores_due is not None:
            raise expected("the scores, such as 'alice : 0   bob : 0'", line.strip(), number)

    def _start(self, game: int, scores: tuple[int, int], line: int) -> GameState:
        """Return a game's first state by the scores and our own notes."""
        place = f"line {line}: game {game}"
        with errors_at(place):
            start = start_match(self.laws, self.length, scores, post_crawford=self.past_crawford)
        if self.headers.setup:
            start = with_setup(start, self.headers.setup)
        note = _START_NOTE.fullmatch(self.headers.note("Start", game) or "")
        if not note:
            return start
        if note[1] and int(note[1]):
            start = evolve(start, cube=int(note[1]))
        if note[3]:
            start = evolve(start, crawford=not note[2], post_crawford=note[2] == "after ")
        if note[4]:
            with errors_at(place):
                start = with_setup(start, parse_xgid_board(note[4]))
        return start

    def _end(self) -> None:
        """End the game that is being read."""
        if self.game:
            self.game.end()
            game = self.end_game(self.game.checked)
            self._adopt_laws(game.start.laws)
            self.past_crawford |= game.start.crawford or game.start.post_crawford
            self.invalid_points = self.game.invalid_points
            if self.invalid_points:
                self.headers.tags[f"Points {game.number}"] = self.invalid_points
            self.game = None

    def _fix_last_result(self, scores: tuple[int, int]) -> None:
        """Correct the last game's result by the scores of the next one, if the file gives it wrong or not at all."""
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
            elif self.invalid_points and last.result and last.result.winner is winner and isinstance(end, Resign):
                level = resigned_level(points, last.result.points // last.result.level)
                entries = (*last.entries[:-1], evolve(end, level=level))
                result = evolve(last.result, points=points, level=level)
                self.games[-1] = evolve(last, entries=entries, result=result)
                if self.invalid_points.startswith(f"{points},"):  # the next score bears the file out
                    del self.headers.tags[f"Points {last.number}"]
        self._fix_jacoby(scores)

    def _fix_jacoby(self, scores: tuple[int, int]) -> None:
        """Infer from the next scores that a gammon counted once; gnubg writes "Wins 2 points" all the same."""
        last = self.games[-1] if self.games else None
        if not self.jacoby_unknown or last is None or last.result is None or last.result.level is Level.SINGLE:
            return
        gained = scores[last.result.winner] - last.start.scores[last.result.winner]
        if gained * last.result.level == last.result.points:
            laws = evolve(last.start.laws, jacoby=True)
            result = evolve(last.result, points=gained)
            self.games[-1] = evolve(last, start=evolve(last.start, laws=laws), result=result)
            self._adopt_laws(laws)

    def _adopt_laws(self, laws: Laws) -> None:
        """Use the laws of a game for the games after it."""
        if laws.jacoby:
            self.jacoby_unknown = False
        self.laws = evolve(self.laws, jacoby=self.laws.jacoby or laws.jacoby, crawford=laws.crawford)

    def finished(self) -> Transcript:
        """Return the match."""
        self._check_scores("the end of the match", self.start_line)
        self._end()
        match = self.headers.transcript(self.names, self.ratings, self.length)
        return self.with_games(match, least_beavers=int(self.headers.beavers))


def _name_and_rating(name: str) -> tuple[str, str]:
    """Split a name as GamesGrid writes it into name and rating."""
    rated = _NAME_WITH_RATING.fullmatch(name)
    return (rated[1].strip() or NAMELESS, rated[2]) if rated else (name or NAMELESS, "")
