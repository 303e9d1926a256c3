"""The entries between two views of a game are found if they are unambiguous; else there is a gap."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.match import CubeAction, Dice
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules import plays
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Gap, Throw, apply
from fibsbot.transcript.reconstruction import (
    MAX_WORK,
    KnownEvent,
    PlayWithoutRoll,
    _Search,
    is_same_state,
    reconstruct,
)
from tests.examples import examples

OPENING = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
START = rules.start_match(FIBS, 7)
FIRST = apply(START, OPENING)
"""Seat B is on roll, nothing thrown."""
ANSWER = Throw(seat=Seat.B, dice=(6, 5), play=Play.of((24, 18), (18, 13)))


def after(state: GameState, *entries: Entry) -> GameState:
    """Let entries happen."""
    for entry in entries:
        state = apply(state, entry)
    return state


def rolled(state: GameState, dice: Dice) -> GameState:
    """Put dice on the board."""
    return rules.roll(state, state.turn, dice)


def deeds(entries: tuple[Entry, ...]) -> list[Entry]:
    """Return entries as if they had been seen."""
    return [evolve(entry, rebuilt=False) for entry in entries]


def test_two_equal_views_need_no_entries() -> None:
    assert () == reconstruct(FIRST, FIRST)
    assert () == reconstruct(rolled(FIRST, (6, 5)), rolled(FIRST, (5, 6)))
    assert () == reconstruct(FIRST, rolled(FIRST, (6, 5))), "the throw that lies there is yet to be played"


def test_a_play_with_known_dice_is_found() -> None:
    entries = reconstruct(rolled(FIRST, (6, 5)), after(FIRST, ANSWER))
    assert [evolve(ANSWER, rebuilt=True)] == list(entries)


def test_a_whole_turn_is_found_if_one_roll_explains_it() -> None:
    (entry,) = reconstruct(FIRST, after(FIRST, ANSWER))
    assert evolve(ANSWER, rebuilt=True) == entry


def test_a_play_and_the_next_roll_are_found() -> None:
    seen = rolled(after(FIRST, ANSWER), (2, 2))
    assert [ANSWER] == deeds(reconstruct(FIRST, seen))


def test_a_play_of_the_user_and_a_turn_of_the_opponent_are_found() -> None:
    mine = Throw(seat=Seat.A, dice=(4, 2), play=Play.of((8, 4), (6, 4)))
    known = rolled(after(FIRST, ANSWER), mine.dice)
    seen = after(FIRST, ANSWER, mine, Throw(seat=Seat.B, dice=(6, 4), play=Play.of((24, 18), (13, 9))))
    found = reconstruct(known, seen)
    assert mine == deeds(found)[0]
    assert is_same_state(seen, after(after(FIRST, ANSWER), *found))


def test_two_unknown_turns_are_a_gap() -> None:
    seen = after(FIRST, ANSWER, Throw(seat=Seat.A, dice=(4, 2), play=Play.of((8, 4), (6, 4))))
    assert (Gap(reason="two turns or more are missing", then=seen),) == reconstruct(FIRST, seen)


def test_a_dance_of_unknown_dice_is_a_gap() -> None:
    board = Play.of((8, 2), (6, 2))
    closed = after(START, Throw(seat=Seat.A, dice=(6, 4), play=board))
    hit = evolve(closed, board=evolve(closed.position, points=on_the_bar(closed)))
    seen = evolve(hit, board=hit.position.swapped(), turn=Seat.A, turns=hit.turns + 1)
    assert "a turn is missing" == reason(reconstruct(hit, seen))


def on_the_bar(state: GameState) -> tuple[int, ...]:
    """Put a checker of the player on roll on the bar."""
    points = list(state.position.points)
    points[24] -= 1
    points[25] += 1
    return tuple(points)


def reason(entries: tuple[Entry, ...]) -> str:
    """Return why there is a gap."""
    (gap,) = entries
    assert isinstance(gap, Gap)
    return gap.reason


def test_a_double_and_a_take_are_found_when_the_cube_has_changed() -> None:
    double = Cube(seat=Seat.B, action=CubeAction.DOUBLE)
    take = Cube(seat=Seat.A, action=CubeAction.TAKE)
    assert [double, take] == deeds(reconstruct(FIRST, rolled(after(FIRST, double, take), (6, 5))))


def test_known_events_are_kept_unchanged() -> None:
    mine = Throw(seat=Seat.A, dice=(4, 2), play=Play.of((8, 4), (6, 4)))
    seen = after(FIRST, ANSWER, mine)
    told = Throw(seat=Seat.B, dice=ANSWER.dice)
    assert (evolve(ANSWER, rebuilt=True), mine) == reconstruct(FIRST, seen, [told, mine])
    assert [ANSWER, mine] == deeds(reconstruct(FIRST, seen, [PlayWithoutRoll(Seat.B, ANSWER.play or Play()), mine]))


def test_an_impossible_view_is_a_gap() -> None:
    nonsense = evolve(FIRST, board=evolve(FIRST.position, points=(0,) * 6 + (15,) + (0,) * 12 + (-15,) + (0,) * 6))
    assert "several turns are missing" == reason(reconstruct(FIRST, evolve(nonsense, turn=Seat.A)))


def test_the_first_turn_is_found_without_the_opening_roll() -> None:
    assert [OPENING] == deeds(reconstruct(START, FIRST))


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), turns=st.integers(1, 60))
@settings(examples(12), deadline=None)
def test_reconstructed_entries_lead_to_the_view_and_are_right_if_the_dice_are_known(seed: int, turns: int) -> None:
    rng = random.Random(seed)
    state = START
    for number in range(turns):
        seat = Seat(number % 2) if state.stage is not Stage.OPENING else Seat.A
        dice = (rng.randint(1, 6), rng.randint(1, 6)) if state.stage is not Stage.OPENING else (4, 2)
        plays = legal_plays(state.position, dice)
        entry = Throw(seat=seat, dice=dice, play=rng.choice(plays) if plays else Play())
        later = apply(state, entry)
        if later.stage is Stage.OVER:
            return
        known = state if state.stage is Stage.OPENING else rolled(state, dice)
        found = reconstruct(known, later)
        if state.stage is not Stage.OPENING:
            assert [later.position] == [apply(known, it).position for it in found]
            assert not any(isinstance(it, Gap) for it in found)
        for it in reconstruct(state, later):
            assert is_same_state(later, apply(state, it))
        state = later


@pytest.mark.parametrize("turns", [1, 2, 3, 5])
def test_a_search_is_bounded_however_far_the_views_are_apart(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    work: list[int] = []
    spend = _Search._spend

    def counted(search: _Search, amount: int) -> None:
        work[-1] += amount
        spend(search, amount)

    monkeypatch.setattr(_Search, "_spend", counted)
    rng = random.Random(turns)
    state = FIRST
    for _ in range(turns * 7):
        dice = (rng.randint(1, 6), rng.randint(1, 6))
        plays = legal_plays(state.position, dice)
        state = apply(state, Throw(seat=state.turn, dice=dice, play=rng.choice(plays) if plays else Play()))
        for known, seen in ((FIRST, rolled(state, (2, 1))), (rolled(FIRST, (1, 1)), state)):
            work.append(0)
            end = known
            for entry in reconstruct(known, seen):
                end = apply(end, entry)
            assert seen.position_for(Seat.A) == end.position_for(Seat.A)
    assert 0 < max(work) < MAX_WORK + 100


SPREAD = (0, *(1, -1) * 12, 0)
"""Single checkers everywhere: there are thousands of plays of each double."""


def spread(more: list[int]) -> Position:
    """Return a position with twelve single checkers of each side, and three more on these points."""
    cells = list(SPREAD)
    for place in more:
        cells[place] += 1 if cells[place] > 0 else -1
    return Position(tuple(cells))


@settings(examples(12), deadline=None)
@given(data=st.data())
def test_boards_with_thousands_of_plays_cost_no_more_than_others(data: st.DataObject) -> None:
    some = st.lists(st.integers(1, 24), min_size=3, max_size=3)
    dice = st.tuples(st.integers(1, 6), st.integers(1, 6))
    known, seen = (evolve(FIRST, board=spread(data.draw(some)), turn=data.draw(st.sampled_from(Seat))) for _ in "12")
    facts: list[KnownEvent] = []
    for _ in range(data.draw(st.integers(0, 3))):
        seat, thrown = data.draw(st.sampled_from(Seat)), data.draw(dice)
        moved = PlayWithoutRoll(seat, Play.of((thrown[0] + 1, 1)))
        facts.append(moved if data.draw(st.booleans()) else Throw(seat=seat, dice=thrown))
    looked = Counter[str]()
    moves = plays._moves

    def counted(cells: plays.Cells, number: int, farthest: int) -> Iterator[tuple[int, int, plays.Cells]]:
        for move in moves(cells, number, farthest):
            looked["moves"] += 1
            yield move

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plays, "_moves", counted)
        reconstruct(rolled(known, (1, 1)) if data.draw(st.booleans()) else known, seen, facts)
    assert looked["moves"] < 12000
