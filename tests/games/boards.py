"""Boards of tables games as text, for tests."""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.rules.general_plays import resulting_boards
from fibsbot.rules.ruleset import Part
from fibsbot.rules.sides import HAND, Mark, Side, Sides, side


def parse_side(text: str, *, checkers: int = 15, pinned: tuple[int, ...] = (), hit: int = 0) -> Side:
    """Read a row such as `25:2 20:13`; a point without a count has one checker, and those not named are off."""
    places: dict[int, int] = {}
    for item in text.split():
        place, _, count = item.partition(":")
        places[int(place)] = places.get(int(place), 0) + int(count or 1)
    places.setdefault(0, checkers - sum(places.values()))
    return fast_evolve(side(places), pinned=sum(1 << point for point in pinned), hit=hit)


def format_side(row: Side) -> str:
    """Write a row as `parse_side` reads it, without the checkers that are off."""
    places = ((place, row.row[place]) for place in range(HAND, 0, -1) if row.row[place])
    return " ".join(f"{place}:{count}" if count > 1 else str(place) for place, count in places)


def sides(
    own: str,
    opponent: str,
    *,
    hit: int = 0,
    throws: int = 2,
    marks: Mark = Mark.NONE,
    pinned: tuple[int, ...] = (),
    opponent_pinned: tuple[int, ...] = (),
) -> Sides:
    """Read a board from both rows."""
    mine = fast_evolve(parse_side(own, pinned=pinned, hit=hit), throws=throws, marks=marks)
    return Sides(mine, parse_side(opponent, pinned=opponent_pinned))


def results(game: str, board: Sides, *numbers: int, ordered: bool = False, one_checker: bool = False) -> list[str]:
    """Return the own rows that a part leads to, in order, with `*n` for n checkers hit and `_p_` for a new pin."""
    found = []
    for after in resulting_boards(load_ruleset(game), board, Part(numbers, ordered=ordered, one_checker=one_checker)):
        hits = after.opponent.row[HAND] - board.opponent.row[HAND]
        pins = [p for p in range(1, 25) if after.opponent.pinned >> p & 1]
        found.append(format_side(after.own) + (f" *{hits}" if hits else "") + "".join(f" _{p}_" for p in pins))
    return sorted(found)
