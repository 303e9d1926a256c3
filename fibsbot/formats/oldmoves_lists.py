"""Finds the lists of games in a text of `oldmoves`, and which of them make a match; see oldmoves.py.

A text does not say where a match ends. A list belongs to the match of its players before it, unless its score shows
another one. A list that was asked for again, also in the middle of its game, is the same game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import define, field, frozen

from fibsbot.formats import single_line
from fibsbot.formats.oldmoves_game import Line

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


def find_matches(text: str) -> list[Match]:
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
class Match:
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
        stated_before = any(it.over and not it.header.total for it in self.lists)
        return last.over and not later.over and not stated_before and later.header.total > 0


_Place: TypeAlias = tuple[Match, int]
"""A match and the index of one of its lists."""


@define
class _Pair:
    """The matches of two players over the same length."""

    matches: list[Match] = field(factory=list)
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
            kept = max(match.lists[index], found, key=lambda it: len(it.lines))
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
            match, index = Match(found.header.line, [found]), 0
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
        shorter, longer = sorted((earlier, found), key=lambda it: len(it.lines))
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
