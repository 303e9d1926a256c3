"""The moves of games as the command `oldmoves` lists them, and the server after a game with `toggle moves`.

One game after another, each below its score and its players' colours; oldmoves_game.py has the lines of a game. A text
does not say where a match ends, so this module finds the lists of each match. GNU Backgammon reads the format
(`import oldmoves`), which holds less than others; docs/reference/formats.md lists what is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats.checked_game import errors_at, raise_if_unread, resigned_level
from fibsbot.formats.match_laws import USUAL, named_setups, with_beavers_allowed
from fibsbot.formats.oldmoves_game import (
    SEATS_BY_LETTER,
    STARTING_CUBES,
    SWAPPED_SEATS,
    Line,
    beginning,
    laws_of_lines,
    laws_of_points,
    read_game,
    write_game,
)
from fibsbot.position import Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Laws, Level
from fibsbot.rules.state import Ending, GameState
from fibsbot.transcript import (
    Cube,
    Game,
    Gap,
    Player,
    RejectedRoll,
    Resign,
    Transcript,
    add_points,
    end_game,
)

Scores: TypeAlias = tuple[int, int]

LONGEST_LINE: Final = 400
"""Characters of a line that says anything."""
SURE_ROLLS: Final = 3
"""Rolls that no two games have in common, where one list may continue the other."""
SURE_ROLLS_OF_WHOLE_GAMES: Final = 8
"""Rolls that no two whole games have in common, although their lists have different scores."""

_SCORE_LINE: Final = re.compile(r"Score is ([0-9]{1,9})-([0-9]{1,9}) in an? (?:([0-9]{1,9}) point|unlimited) match")
_NAMES_LINE: Final = re.compile(
    r"(?P<x>.*?\S) is X - (?P<o>.*\S) is O\.?|(?P<first_o>.*?\S) is O - (?P<second_x>.*\S) is X\.?"
)
_ACTION: Final = re.compile(r"(?:> *)*([XO]): *(.*)")


def iter_oldmoves(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError.

    Other output of the server may surround the lists, and they may use either player's numbers or both. A score that
    is the wrong way round, or is the one after the game, is corrected by the games around it.

    A list belongs to the match of its players before it, unless its score shows another one; one that was asked for
    again, also in the middle of its game, is the same game.
    """
    matches = _find_matches(text)
    if not matches:
        raise expected("`Score is 0-0 in a 3 point match.` and below it `A is X - B is O`", text.lstrip()[:40])
    for match in matches:
        transcript = _transcript(match.lists, after=match.scored_after)
        yield evolve(transcript, remarks=(*match.remarks, *transcript.remarks))


def write_oldmoves(transcript: Transcript) -> str:
    """Return a match as the server lists it, each game up to the first thing that the text cannot say."""
    games = transcript.games or (Game(1, start_match(FIBS, transcript.length)),)
    return "\n".join("\n".join(write_game(transcript, game)) + "\n" for game in games)


# -- lists and their matches ------------------------------------------------------------------------------------------


@frozen
class Header:
    """The two lines above a game."""

    line: int
    scores: Scores
    """Of X and O, as the text says them."""
    length: int
    names: tuple[str, str]
    """Of X and O."""

    @property
    def pair(self) -> tuple[str, ...]:
        """What all games of a match have in common: length and players."""
        return (str(self.length), *sorted(self.names))

    @property
    def total(self) -> int:
        """The sum of the scores; the server may give them in either order."""
        return sum(self.scores)


@define
class GameList:
    """The list of a game's moves."""

    header: Header
    lines: list[Line] = field(factory=list)

    @property
    def over(self) -> bool:
        """Whether somebody has won the game."""
        return bool(self.lines) and self.lines[-1][1][3:].startswith("wins")

    @property
    def ends_match(self) -> bool:
        """Whether its score is the last one of a match."""
        return self.over and 0 < self.header.length <= max(self.header.scores)

    @property
    def rolls(self) -> int:
        """The number of rolls."""
        return sum("(" in line for _, line in self.lines)

    def beginnings(self) -> list[int]:
        """Return a hash of each beginning of the list, from no lines to all."""
        names = dict(zip("XO", self.header.names, strict=True))
        hashes = [0]
        for _, line in self.lines:
            hashes.append(hash((hashes[-1], names[line[0]], *line[2:].split())))
        return hashes


def _find_matches(text: str) -> list[_Match]:
    """Return the matches of a text, in the order of their first lists. Lists of other matches may come in between."""
    pairs: dict[tuple[str, ...], _Pair] = {}
    for found in _game_lists(text):
        pairs.setdefault(found.header.pair, _Pair()).add(found)
    every = [match for pair in pairs.values() for match in pair.matches]
    return sorted(every, key=lambda match: match.line)


def _game_lists(text: str) -> Iterator[GameList]:
    """Yield the lists; a line that is no player's ends one, once it has begun."""
    block: GameList | None = None
    score: re.Match[str] | None = None
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw[-LONGEST_LINE:].strip()
        action = _ACTION.fullmatch(line)
        if found := _SCORE_LINE.search(line):
            score = found
        elif score and (colours := _NAMES_LINE.fullmatch(line)):
            if block:
                yield block
            block, score = GameList(_header(number - 1, score, colours)), None
        elif block and action:
            block.lines.append((number, f"{action[1]}: {action[2]}"))
        elif line:
            score = None
        if block and block.lines and not action:
            yield block
            block = None
    if block:
        yield block


def _header(line: int, score: re.Match[str], colours: re.Match[str]) -> Header:
    x, o = colours["x"] or colours["second_x"], colours["o"] or colours["first_o"]
    names = (single_line(x, "?"), single_line(o, "?"))
    return Header(line, (int(score[1]), int(score[2])), int(score[3] or 0), names)


@define
class _Match:
    """The lists of a match, one for each game."""

    line: int
    """The line of its first list."""
    lists: list[GameList]
    remarks: list[str] = field(factory=list)
    """Which lists are of the same game as another."""
    scored_after: bool = False
    """Whether lists of one game show that a game that is over comes below the score after it."""

    def is_continued_by(self, later: GameList) -> bool:
        """Whether a list of the same players can be that of a later game.

        Each game raises the sum of the scores. The list of a game that is over may have the score after it, which is
        that of the next game until this is over.
        """
        last = self.lists[-1]
        if last.ends_match or later.header.total < last.header.total:
            return False
        if later.header.total > last.header.total:
            return True
        stated_before = any(listed.over and not listed.header.total for listed in self.lists)
        return last.over and not later.over and not stated_before and later.header.total > 0


_Place: TypeAlias = tuple[_Match, int]
"""A match and the index of one of its lists."""


@define
class _Pair:
    """The matches of two players over the same length."""

    matches: list[_Match] = field(factory=list)
    wholes: dict[tuple[int, int | None], _Place] = field(factory=dict)
    """The latest list by the hash of all its lines and the sum of its scores; with None, whatever that sum is."""
    beginnings: dict[int, _Place] = field(factory=dict)
    """The latest list with a beginning that no two games have in common, by the hash of that."""

    def add(self, found: GameList) -> None:
        """Add a list to its match, unless its game is known."""
        hashes = found.beginnings()
        same = self._same_game(found, hashes)
        if same is not None:
            match, index = same
            kept = max(match.lists[index], found, key=lambda listed: len(listed.lines))
            left_out = found if kept is not found else match.lists[index]
            match.remarks.append(
                f"line {left_out.header.line}: the game of line {kept.header.line} again; it is counted once"
            )
            match.scored_after |= kept.over and kept.header.total > left_out.header.total
            match.lists[index] = kept
        elif self.matches and self.matches[-1].is_continued_by(found):
            match = self.matches[-1]
            match.lists.append(found)
            index = len(match.lists) - 1
        else:
            match, index = _Match(found.header.line, [found]), 0
            self.matches.append(match)
        if match.lists[index] is found:
            self._remember(found, hashes, (match, index))

    def _remember(self, found: GameList, hashes: list[int], place: _Place) -> None:
        self.wholes[hashes[-1], found.header.total] = self.wholes[hashes[-1], None] = place
        rolls = 0
        for known, (_, line) in zip(hashes[1:], found.lines, strict=True):
            rolls += "(" in line
            if rolls >= SURE_ROLLS:
                self.beginnings[known] = place

    def _same_game(self, found: GameList, hashes: list[int]) -> _Place | None:
        """Return the place of a list of the same game: an equal one, or one of which one continues the other."""
        candidates = [self.wholes.get((hashes[-1], found.header.total)), self.wholes.get((hashes[-1], None))]
        candidates.append(self.beginnings.get(hashes[-1]))
        for known in reversed(hashes[:-1]):
            candidates += [self.wholes.get((known, found.header.total)), self.wholes.get((known, None))]
        return next((place for place in candidates if place and self._is_same(place, found)), None)

    def _is_same(self, place: _Place, found: GameList) -> bool:
        """Whether two lists, one of which begins with the other, are of the same game."""
        match, index = place
        earlier = match.lists[index]
        shorter, longer = sorted((earlier, found), key=lambda listed: len(listed.lines))
        if len(shorter.lines) == len(longer.lines):
            if shorter.header.total == longer.header.total:
                return match is self.matches[-1] or shorter.rolls >= SURE_ROLLS
            return shorter.rolls >= SURE_ROLLS_OF_WHOLE_GAMES
        if shorter.over:
            return False
        latest = match is self.matches[-1] and index == len(match.lists) - 1 and shorter is earlier
        if shorter.header.total == longer.header.total:
            return latest or shorter.rolls >= SURE_ROLLS
        # The score of a game changes when it is over.
        return longer.over and longer.header.total > shorter.header.total and shorter.rolls >= SURE_ROLLS


# -- games at their scores --------------------------------------------------------------------------------------------


@frozen
class _ReadGame:
    """A game that has been read, and the possible meanings of its score."""

    header: Header
    game: Game
    stated: Scores
    """The scores in the text, seat A's first."""

    @property
    def is_lost(self) -> bool:
        """Whether the end of the game could not be read, so that the cube is unknown."""
        return bool(self.game.entries) and isinstance(self.game.entries[-1], Gap)

    @property
    def counts(self) -> tuple[int, ...]:
        """The possible points of the game; several if the level of a resignation is unknown."""
        result = self.game.result
        if result is None:
            return ()
        if self.is_lost:
            return tuple(level * cube for cube in STARTING_CUBES for level in Level)
        if result.how is not Ending.RESIGNED or result.level is not Level.SINGLE:
            return (result.points,)
        return tuple(level * result.points for level in Level)

    def afterwards(self, start: Scores) -> dict[Scores, int]:
        """Return the scores after the game, with what it counted then."""
        result = self.game.result
        if result is None:
            return {}
        return {add_points(start, result.winner, points): points for points in self.counts}

    def beginnings(self, *, after: bool) -> list[Scores]:
        """Return the possible scores before the game; `after`: the text has those after it."""
        scores = [self.stated, self.stated[::-1]]
        result = self.game.result
        if after and result:
            scores = [add_points(score, result.winner, -points) for score in scores for points in self.counts]
        length = self.header.length
        return [score for score in scores if min(score) >= 0 and not (length and max(score) >= length)]

    def counting(self, points: int) -> Game:
        """Return the game as one that counted this many points."""
        result = self.game.result
        if result is None or result.points == points or points not in self.counts:
            return self.game
        if self.is_lost:
            return evolve(self.game, result=evolve(result, points=points, level=resigned_level(points, 1)))
        level = Level(points // result.points)
        *entries, last = self.game.entries
        resigned = evolve(last, level=level) if isinstance(last, Resign) else last
        return evolve(self.game, entries=(*entries, resigned), result=evolve(result, points=points, level=level))


def _transcript(blocks: Sequence[GameList], *, after: bool) -> Transcript:
    """Return the match of these lists; `after`: they are known to have the scores after games that are over."""
    first = blocks[0].header
    laws = laws_of_lines((line for block in blocks for line in block.lines), first.length)
    laws = laws_of_points((block.lines for block in blocks), laws, first.length)
    reads, problems = _read_games(blocks, laws, USUAL)
    remarks: tuple[str, ...] = ()
    for name, setup in named_setups().items() if problems else ():
        others, problems_there = _read_games(blocks, laws, setup)
        if not problems_there:
            reads, problems = others, []
            remarks = (f"line {first.line}: read as {name}, as the plays are not legal from the usual set-up",)
    raise_if_unread([read.game for read in reads], next(iter(problems), None))
    # The server lists a game that is over under the score after it, other programs under the one before.
    before, later = _start_scores(reads, after=False), _start_scores(reads, after=True)
    after = after or _count_misfits(reads, later) < _count_misfits(reads, before)
    starts = later if after else before
    players = (Player(first.names[0]), Player(first.names[1]))
    games = with_beavers_allowed(list(_with_scores(reads, starts, after=after)))
    return Transcript(players, first.length, games, remarks=remarks)


def _read_games(blocks: Sequence[GameList], laws: Laws, setup: Position) -> tuple[list[_ReadGame], list[FormatError]]:
    """Return the games from a set-up, and what could not be read of them."""
    first = blocks[0].header
    start = beginning(laws, first.length, setup)
    reads, problems = [], []
    for number, block in enumerate(blocks, 1):
        same = block.header.names == first.names
        seats = SEATS_BY_LETTER if same else SWAPPED_SEATS
        game, problem = read_game(block.lines, start, number, seats)
        if problem:
            problems.append(problem)
        reads.append(_ReadGame(block.header, game, block.header.scores if same else block.header.scores[::-1]))
    return reads, problems


def _start_scores(reads: Sequence[_ReadGame], *, after: bool) -> list[Scores]:
    """Return the scores at which the games can have begun, each as it fits best to the game before it."""
    starts: list[Scores] = []
    expected: Mapping[Scores, int] = {}
    for read in reads:
        options = read.beginnings(after=after) or [read.stated]
        starts.append(next((option for option in options if option in expected), options[0]))
        expected = read.afterwards(starts[-1])
    return starts


def _count_misfits(reads: Sequence[_ReadGame], starts: Sequence[Scores]) -> int:
    """Count the games that cannot begin at these scores, or not after the game before them."""
    pairs = zip(reads, starts, starts[1:], strict=False)
    impossible = sum(
        bool(read.header.length) and max(start) >= read.header.length for read, start in zip(reads, starts, strict=True)
    )
    return impossible + sum(bool(read.counts) and then not in read.afterwards(start) for read, start, then in pairs)


def _with_scores(reads: Sequence[_ReadGame], starts: Sequence[Scores], *, after: bool) -> Iterator[Game]:
    """Yield the games at the scores at which they began."""
    played = False
    for number, (read, scores) in enumerate(zip(reads, starts, strict=True)):
        following = sum(read.stated) if after else sum(starts[number + 1]) if number + 1 < len(starts) else 0
        game = read.counting(following - sum(scores))
        laws, length = game.start.laws, read.header.length
        with errors_at(f"line {read.header.line}"):
            start = start_match(laws, length, scores, post_crawford=played)
            if start.crawford and any(isinstance(entry, Cube | RejectedRoll) for entry in game.entries):
                start = start_match(laws, length, scores, post_crawford=True)
        played = start.crawford or start.post_crawford
        yield _with_start(game, evolve(start, cube=game.start.cube, board=game.start.position))


def _with_start(game: Game, start: GameState) -> Game:
    """Return a game as one that began so, also what is known of the state after what could not be read."""
    last = game.entries[-1] if game.entries else None
    if not isinstance(last, Gap):
        return evolve(game, start=start)
    crawford, post = start.crawford, start.post_crawford
    then = evolve(last.then, laws=start.laws, scores=start.scores, crawford=crawford, post_crawford=post)
    gap = evolve(last, then=end_game(then, game.result) if game.result else then)
    return evolve(game, start=start, entries=(*game.entries[:-1], gap))
