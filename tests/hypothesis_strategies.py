"""Hypothesis strategies for positions, dice and match states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from hypothesis import strategies as st

from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.position import BAR, CHECKERS, Position


def dice() -> st.SearchStrategy[Dice]:
    """Two dice in any order."""
    return st.tuples(st.integers(1, 6), st.integers(1, 6))


def position_with(own: Iterable[int], theirs: Iterable[int]) -> Position:
    """Return the position that has a checker of either side on each of these points, numbered from the own side."""
    cells = [0] * 26
    for point in own:
        cells[point] += 1
    for point in theirs:
        cells[point] -= 1
    return Position(tuple(cells))


Edit: TypeAlias = tuple[int, str, int]
"""A change of a text: where, the text to insert, how many characters to delete."""


def edits(alphabet: str) -> st.SearchStrategy[list[Edit]]:
    """One or two small changes of a text; see `edited`."""
    return st.lists(
        st.tuples(st.integers(0, 60), st.text(alphabet, max_size=1), st.integers(0, 1)), min_size=1, max_size=2
    )


def edited(text: str, changes: Iterable[Edit]) -> str:
    """Return a text with some changes made to it."""
    for place, inserted, deleted in changes:
        at = place % (len(text) + 1)
        text = text[:at] + inserted + text[at + deleted :]
    return text


@st.composite
def positions(draw: st.DrawFn, *, over: bool = False) -> Position:
    """Any position that the laws allow; with `over`, also those in which one side has borne off everything."""
    least = 0 if over else 1
    own = draw(st.lists(st.integers(1, BAR), min_size=least, max_size=CHECKERS))
    free = [point for point in range(25) if point not in own]
    theirs = draw(st.lists(st.sampled_from(free), min_size=1 if not own else least, max_size=CHECKERS))
    return position_with(own, theirs)


@st.composite
def bear_offs(draw: st.DrawFn) -> Position:
    """Positions in which the player on roll has every checker at home."""
    home = draw(st.lists(st.integers(1, 6), min_size=1, max_size=CHECKERS))
    behind = [point for point in range(25) if point not in home]
    theirs = draw(st.lists(st.sampled_from(behind), min_size=1, max_size=CHECKERS))
    return position_with(home, theirs)


@st.composite
def races(draw: st.DrawFn) -> Position:
    """Positions in which the sides have passed each other; nobody has borne off all."""
    last = draw(st.integers(1, 23))
    own = draw(st.lists(st.integers(1, last), min_size=1, max_size=CHECKERS))
    theirs = draw(st.lists(st.integers(last + 1, 24), min_size=1, max_size=CHECKERS))
    return position_with(own, theirs)


@st.composite
def match_states(draw: st.DrawFn, *, resignations: bool = True) -> MatchState:
    """Any decision that the IDs of GNU Backgammon and eXtreme Gammon can describe."""
    length = draw(st.integers(0, 25))
    score = draw(st.tuples(*[st.integers(0, max(length - 1, 0))] * 2)) if length else (0, 0)
    others = {Phase.NAME} if resignations else {Phase.NAME, Phase.RESIGNED}
    phases = [phase for phase in Phase if phase not in others]
    phase = draw(st.sampled_from(phases))
    one_away = length > 1 and length - 1 in score
    crawford = one_away and score[0] != score[1] and draw(st.booleans())
    return MatchState(
        board=draw(positions()),
        length=length,
        score=score,
        cube=1 << draw(st.integers(0, 10)),
        owner=draw(st.sampled_from(Owner)),
        crawford=crawford,
        post_crawford=one_away and not crawford,
        phase=phase,
        dice=tuple(sorted(draw(dice()), reverse=True)) if phase is Phase.MOVE else None,
        resignation=draw(st.integers(1, 3)) if phase is Phase.RESIGNED else 0,
        jacoby=not length and draw(st.booleans()),
        redoubles=0 if length else draw(st.integers(0, 1)),
    )
