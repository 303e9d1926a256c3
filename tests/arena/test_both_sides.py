"""A display gets the messages of both players in the order in which things happened."""

from __future__ import annotations

from fibs_protocol import messages as m
from fibs_protocol.words import YOU
from fibsbot.arena.both_sides import BothSides

SCORE = m.YouRedouble(2)


def test_an_answer_waits_for_the_play_and_the_end_for_both() -> None:
    seen: list[str] = []
    sides = BothSides()
    sides.played(leads=True)
    sides.handle(m.Moves("b", ()), lambda: seen.append("the answer of b"), leads=True)
    assert [] == seen
    sides.handle(m.Moves("a", ()), lambda: seen.append("the play of a"), leads=False)
    sides.played(leads=False)
    sides.handle(m.CannotMove(YOU), lambda: seen.append("a hears that he cannot move"), leads=True)
    sides.handle(m.GameWon("b", 1), lambda: seen.append("a hears of the end"), leads=True)
    sides.handle(SCORE, lambda: seen.append("the score"), leads=True)
    sides.handle(m.CannotMove("a"), lambda: seen.append("a cannot move"), leads=False)
    assert "a hears of the end" not in seen
    sides.handle(m.GameWon(YOU, 1), lambda: seen.append("b hears of the end"), leads=False)
    assert ["the play of a", "the answer of b"] == seen[:2]
    assert {"a cannot move", "a hears that he cannot move"} == set(seen[2:4])
    assert {"a hears of the end", "b hears of the end"} == set(seen[4:6])
    assert ["the score"] == seen[6:]


def test_what_still_waits_is_shown_at_the_end() -> None:
    seen: list[str] = []
    sides = BothSides()
    sides.played(leads=True)
    sides.handle(SCORE, lambda: seen.append("the score"), leads=True)
    sides.flush()
    assert ["the score"] == seen


def test_the_rest_of_a_turn_is_left_before_the_heir_plays_it_or_cannot() -> None:
    seen: list[str] = []
    sides = BothSides()
    sides.handle(m.CannotMove(YOU), lambda: seen.append("b hears that he cannot move"), leads=False)
    sides.handle(m.RestLeft(YOU, "a"), lambda: seen.append("b hears that he leaves the rest"), leads=False)
    sides.handle(m.CannotMove("a"), lambda: seen.append("a cannot move"), leads=False)
    sides.handle(m.CannotMove("b"), lambda: seen.append("b cannot move"), leads=True)
    assert "a cannot move" not in seen
    sides.handle(m.RestLeft("b", YOU), lambda: seen.append("b leaves the rest"), leads=True)
    sides.handle(m.CannotMove(YOU), lambda: seen.append("a hears that he cannot move"), leads=True)
    assert seen.index("b cannot move") < seen.index("b leaves the rest") < seen.index("a cannot move")
