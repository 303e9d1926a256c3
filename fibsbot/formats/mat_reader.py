"""Reads `.mat` files: those of gnubg, XG, Jellyfish, Snowie, GamesGrid, BGBlitz, and our own.

There is no specification of the format. This reader accepts what those programs write, as gnubg's importer does, and
has every roll, play and double checked by the rules core. A turn that cannot be read turns the rest of its game into
a gap; reading goes on with the next game.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from attrs import define, evolve, field

from fibsbot.formats import FormatError, expected
from fibsbot.formats.checked_game import HIGHEST_NUMBER, CheckedGame, resigned_level, with_beavers_allowed
from fibsbot.formats.mat_headers import NAMELESS, Headers
from fibsbot.formats.position_lists import read_snowie
from fibsbot.match import CubeAction, Dice
from fibsbot.notation.play_notation import parse_play
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Game, Gap, Resign, Throw, Transcript

_ROW_NUMBER: Final = re.compile(r"\s*[0-9]{1,6}\)")
_ACTION: Final = re.compile(
    r"(?P<dice>[1-6][1-6]):|\b(?:(?P<double>(?:re)?doubles?)|(?P<redouble>beavers?|raccoons?|otters?)"
    r"|(?P<take>takes?|accepts?)|(?P<drop>drops?|pass(?:es)?|rejects?)|(?P<win>wins?)|(?P<lose>loss(?:es)?|loses?)"
    r"|(?P<resign>resign(?:s|ed)?))\b",
    re.IGNORECASE,
)
_NO_MOVE: Final = re.compile(
    r"(?:cannot|can't|can not)[ ]move|no[ ](?:moves?|plays?)|danc(?:e|es|ed)|-+|\(.*\)", re.IGNORECASE
)
_UNPLAYED: Final = re.compile(r"\?+")
_POSITION_DUMP: Final = re.compile(r"\([^()]*;[^()]*\)")
"""A position, as gnubg and XG write it after an illegal play; it is not part of the row's words."""
_ILLEGAL: Final = re.compile(r"illegal play *(?:\((.*)\))?", re.IGNORECASE)
_SECOND_ROW_NUMBER: Final = re.compile(r"(?<=[ ])[0-9]{1,6}\)[ ]")
"""The number of a row in the line of the row before it."""
RIGHT_HALF: Final = 10
"""Blanks before the only action of a row that put it into the right half."""
RIGHT_WINS: Final = 20
"""The column from which "Wins" is in the right half."""


@define
class _GameReader:
    """A game that is being read row by row."""

    checked: CheckedGame
    gap: bool
    """Whether there is a gap before its result."""
    jacoby_unknown: bool
    stated: Result | None = None
    """The result in the file."""
    loser: Seat | None = None
    """The player who lost or resigned, by a word in the player's column."""
    lost_points: str = ""
    """The text after that word."""
    unplayed: tuple[int, str] | None = None
    """Line and text of a roll whose play was not seen; it must be the last one of the game."""
    problem: FormatError | None = None
    """The error that makes the rest of the game unreadable."""
    invalid_points: str = ""
    """The impossible points in the file; empty if they are possible."""

    def row(self, line: str, number: int) -> None:
        """Process a line: the actions of one or both players, or the winner. An error costs the rest of the game."""
        masked = _POSITION_DUMP.sub(lambda dump: "#" * len(dump[0]), line)
        numbered = _ROW_NUMBER.match(line)
        begins = [numbered.end() if numbered else 0]
        begins += [second.end() for second in _SECOND_ROW_NUMBER.finditer(masked, begins[0])]
        for begin, end in zip(begins, [*begins[1:], len(line)], strict=True):
            self._cells(line, masked[:end], begin, number, numbered=numbered is not None or begin > begins[0])

    def _cells(self, line: str, masked: str, begin: int, number: int, *, numbered: bool) -> None:
        """Process a part of a line: a row from its number up to the next row's number."""
        actions = list(_ACTION.finditer(masked, begin))
        before = masked[begin : actions[0].start() if actions else None].strip()
        if before or not (actions or numbered):
            self._give_up(expected("a row such as '1) 31: 8/5 6/5   42: 8/4 6/4'", line.strip(), number))
        ends = [*(action.start() for action in actions[1:]), len(masked)]
        for place, (action, end) in enumerate(zip(actions, ends, strict=False)):
            right = place > 0 or (numbered and action.start() - begin >= RIGHT_HALF)
            seat = Seat.B if right else Seat.A
            rest = _SECOND_ROW_NUMBER.sub("", line[action.end() : end] + " ").strip()
            try:
                self._act(action, rest, seat, number, numbered=numbered)
            except FormatError as error:
                self._give_up(error)

    def _give_up(self, error: FormatError) -> None:
        self.checked.give_up(error)
        self.problem = self.problem or error

    def _act(self, action: re.Match[str], rest: str, seat: Seat, line: int, *, numbered: bool) -> None:
        text = f"{action[0]} {rest}".strip()
        if action["win"]:
            self._win(Seat.B if action.start() >= RIGHT_WINS else Seat.A, rest, line)
            return
        if action["lose"]:  # where the row has no number, the word may stand in either column
            self.loser, self.lost_points = (seat, rest) if numbered else (None, "")
            return
        if self.checked.unreadable:
            return
        if self.stated or self.checked.over:
            raise expected("the next game, as this one is over", text, line)
        if self.unplayed:
            self._missing_play(*self.unplayed)
        if action["dice"]:
            self._throw(seat, (int(action["dice"][0]), int(action["dice"][1])), rest, line)
        elif action["double"] or action["redouble"]:
            self._double(seat, text, line)
        elif action["take"] or action["drop"]:
            self.checked.cube(seat, CubeAction.TAKE if action["take"] else CubeAction.PASS, line)

    def _missing_play(self, line: int, text: str) -> NoReturn:
        raise expected("a play for the dice, or the end of the game after them", text, line)

    def _throw(self, seat: Seat, dice: Dice, moves: str, line: int) -> None:
        checked = self.checked
        last = checked.entries[-1] if checked.entries else None
        if isinstance(last, Cube) and last.action is CubeAction.BEAVER and checked.state.answering is not None:
            checked.cube(checked.state.answering, CubeAction.TAKE, line)  # gnubg and XG leave this out
        if illegal := _ILLEGAL.match(moves):
            checked.add(_after_illegal(illegal[1] or "", checked.state, seat, line), line)
            return
        play = self._play(seat, dice, moves, line)
        checked.add(Throw(seat=seat, dice=dice, play=play), line)
        if play is None:
            self.unplayed = line, f"{dice[0]}{dice[1]}: {moves}".strip()

    def _play(self, seat: Seat, dice: Dice, moves: str, line: int) -> Play | None:
        """Return what was played; None where nothing was, although there was something to choose."""
        if _UNPLAYED.fullmatch(moves):
            return None
        position = self.checked.state.position_for(seat)
        if moves and not _NO_MOVE.fullmatch(moves):
            try:
                return parse_play(moves.replace("*", ""), position, dice, hits_are_marked=True)
            except RuleError as error:
                where = f"line {line}: game {self.checked.number}, turn {self.checked.state.turns + 1}"
                raise FormatError(f"{where}: {error}") from None
        plays = legal_plays(position, dice) or (Play(),)
        if len(plays) > 1 and moves:
            raise expected(f"a play for {dice[0]}-{dice[1]}, for which there are {len(plays)}", moves, line)
        return plays[0] if len(plays) == 1 else None

    def _double(self, seat: Seat, text: str, line: int) -> None:
        checked = self.checked
        checked.cube(seat, CubeAction.DOUBLE, line)
        value = re.search("[0-9]{1,9}", text)
        offered = checked.state.offered
        if not value or int(value[0]) == offered:
            return
        first = sum(isinstance(entry, Cube) for entry in checked.entries) == 1
        factor, rest = divmod(int(value[0]), offered)
        if checked.start.length or checked.start.cube != 1 or not first or rest or factor & (factor - 1):
            raise expected(f"Doubles => {offered}", text, line)
        # The cube was not at 1 when the game began: ties in the opening roll had raised it.
        checked.start = evolve(checked.start, cube=factor)
        checked.state = evolve(checked.state, cube=factor, offered=factor * offered)

    def _win(self, winner: Seat, rest: str, line: int) -> None:
        """Process the result; if nothing else has ended the game, the loser has resigned."""
        checked = self.checked
        number = re.match("[0-9]{1,9}", rest)
        if self.stated:
            raise expected("the next game, as this one is over", f"Wins {rest}", line)
        points = int(number[0]) if number else 0
        need = checked.start.length - checked.start.scores[winner] if checked.start.length else HIGHEST_NUMBER
        level = resigned_level(min(points, need) or 1, checked.state.cube)
        if checked.over or self.gap or checked.unreadable:
            possible = _is_possible_count(points, 0 if checked.unreadable or self.gap else checked.state.cube, need)
        else:
            possible = _is_possible_count(points, checked.state.cube, need)
            exact = possible and points % checked.state.cube == 0 and points <= 3 * checked.state.cube
            checked.resign(winner.other, Level(points // checked.state.cube) if exact else level, line)
        found = checked.state.result
        counted = points if possible else found.points if found else min(need, checked.state.cube)
        if number and points != counted:
            self.invalid_points = f"{points}, which no cube and level make"
        if found is None:
            self.stated = Result(winner, counted, resigned_level(counted, 1), Ending.RESIGNED)
            return
        if self.jacoby_unknown and points == checked.state.cube and found.level > 1 and checked.state.owner is None:
            laws = evolve(checked.start.laws, jacoby=True)
            checked.start = evolve(checked.start, laws=laws)
            checked.state = evolve(checked.state, laws=laws)
        self.stated = evolve(found, points=counted)

    def finished(self) -> Game:
        """Return the game; the result in the file takes precedence over that of the rules."""
        if self.loser is not None and not (self.stated or self.checked.over):
            self._win(self.loser.other, self.lost_points, 0)
        game = self.checked.finished(self.stated)
        return evolve(game, result=self.stated) if self.stated else game


def _is_possible_count(points: int, cube: int, need: int) -> bool:
    """Whether a game can count these points with this cube; 0 is any cube.

    Some programs count no more than what the winner needs to win the match.
    """
    if points == need and points < (3 * cube or HIGHEST_NUMBER):
        return True
    if cube:
        return points in {level * cube for level in Level}
    odd = points & -points and points // (points & -points)
    return odd in {1, 3}


def _after_illegal(dump: str, state: GameState, seat: Seat, line: int) -> Gap:
    """Return the gap for an illegal play, with the position after it.

    Raises FormatError if the file does not have that position.
    """
    try:
        position = read_snowie(dump).state.position
    except FormatError:
        raise FormatError(f"line {line}: expected a legal play, got an illegal one") from None
    then = evolve(state, turn=seat.other, stage=Stage.ROLL, dice=None, position=position, turns=state.turns + 1)
    return Gap(reason=f"line {line}: an illegal play", then=then)


LONGEST_LINE: Final = 1000
"""Characters of a line, at most; no program writes more than a hundred."""
HIGHEST_GAME_NUMBER: Final = 1_000_000
"""The highest number of a game; games with higher ones are renumbered."""

_LENGTH: Final = re.compile(r"\s*(?:([0-9]{1,9})[ ]?points?|unlimited|money)[ ](?:match|session|game)\b", re.IGNORECASE)
_GAME: Final = re.compile(r"\s*Game\s+([0-9]{1,9})\b", re.IGNORECASE)
_SCORES: Final = re.compile(r"(.*?) ?: ?([0-9]{1,9}) ?(.*?) ?: ?([0-9]{1,9})")
"""Of a line without runs of blanks. After a long name gnubg leaves no blank at all between the two halves."""
_NAME_WITH_RATING: Final = re.compile(r"(.*?),[ ]*([0-9]{1,5}(?:\.[0-9]{1,6})?)")
_START_NOTE: Final = re.compile(r"(?:cube ([0-9]{1,7}))?(?:, )?(?:(after |before )?(Crawford))?")


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
    """A file that is being read, one match after another."""

    matches: list[Transcript] = field(factory=list)
    headers: Headers = field(factory=Headers)
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
    """A match that is being read."""

    headers: Headers
    length: int
    start_line: int
    """The line with its length."""
    laws: Laws = field(init=False)
    jacoby_unknown: bool = field(init=False)
    """Whether the file leaves the Jacoby rule open."""
    names: tuple[str, str] = ("", "")
    ratings: tuple[str, str] = ("", "")
    games: list[Game] = field(factory=list)
    past_crawford: bool = False
    game: _GameReader | None = None
    scores_due: int | None = None
    """The number of the game whose scores must come next."""
    problem: FormatError | None = None
    """The first error."""
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
        elif self.names != (pairs[0][0], pairs[1][0]):
            raise expected(f"the scores of {self.names[0]} and {self.names[1]}", line.strip(), number)
        game, self.scores_due = self.scores_due, None
        points = int(scores[2]), int(scores[4])
        self._fix_last_result(points)
        start = self._start(game, points, number)
        checked = CheckedGame.of(game, start, first=not self.games)
        self.game = _GameReader(checked, self.headers.note("Gap", game) is not None, self.jacoby_unknown)
        return True

    def _check_scores(self, line: str, number: int) -> None:
        if self.scores_due is not None:
            raise expected("the scores, such as 'alice : 0   bob : 0'", line.strip(), number)

    def _start(self, game: int, scores: tuple[int, int], line: int) -> GameState:
        """Return a game's first state by the scores and our own notes."""
        try:
            start = start_match(self.laws, self.length, scores, post_crawford=self.past_crawford)
        except RuleError as error:
            raise FormatError(f"line {line}: game {game}: {error}") from None
        note = _START_NOTE.fullmatch(self.headers.note("Start", game) or "")
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
            self._adopt_laws(game.start.laws)
            self.past_crawford |= game.start.crawford or game.start.post_crawford
            self.invalid_points = self.game.invalid_points
            if self.invalid_points:
                self.headers.tags[f"Points {game.number}"] = self.invalid_points
            self.problem = self.problem or self.game.problem
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
        if self.problem and not any(isinstance(entry, Throw) for game in self.games for entry in game.entries):
            raise self.problem
        games = with_beavers_allowed(self.games, least=int(self.headers.beavers))
        return evolve(self.headers.transcript(self.names, self.ratings, self.length), games=games)


def _name_and_rating(name: str) -> tuple[str, str]:
    """Split a name as GamesGrid writes it into name and rating."""
    rated = _NAME_WITH_RATING.fullmatch(name)
    return (rated[1].strip() or NAMELESS, rated[2]) if rated else (name or NAMELESS, "")
