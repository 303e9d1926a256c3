"""The laws of play, each with the examples that the documents give in words or as a diagram.

Law numbers are those of 1970. The other documents are called as in docs/reference/rules.md: 1997, the primer. Positions
are set up in the player's own numbering.
"""

from __future__ import annotations

import pytest

from fibsbot.match import Dice
from fibsbot.notation import format_play, parse_play
from fibsbot.position import BAR, Position
from fibsbot.rules.errors import AnyLaw, IllegalPlayError, Law
from fibsbot.rules.plays import legal_plays


def board(own: dict[int, int], theirs: dict[int, int]) -> Position:
    """Set up a position: checkers by point, all points in the player's numbering; BAR and 0 are the two bars."""
    cells = [0] * 26
    for point, count in own.items():
        cells[point] = count
    for point, count in theirs.items():
        cells[point] = -count
    return Position(tuple(cells))


def plays(position: Position, dice: Dice) -> set[str]:
    """Return all legal plays as text."""
    return {format_play(play, position) for play in legal_plays(position, dice)}


def _entry(text: str) -> str:
    """Return the first move of a play as text, if it enters a checker."""
    return "/".join(text.split(maxsplit=1)[0].split("/")[:2])


def broken_law(text: str, position: Position, dice: Dice) -> AnyLaw:
    """Return the law that a play breaks."""
    with pytest.raises(IllegalPlayError) as caught:
        parse_play(text, position, dice)
    return caught.value.law


def test_the_opening_position_is_the_one_of_the_diagrams() -> None:
    """1970, 2: two on the farthest point, five on the mid-point, three on the 8-point, five on the 6-point."""
    own = {24: 2, 13: 5, 8: 3, 6: 5}
    assert board(own, {BAR - point: count for point, count in own.items()}) == Position.start()
    assert (167, 167) == (Position.start().pips, Position.start().opponent_pips)


def test_law_11_one_checker_plays_both_numbers_and_touches_down_in_between() -> None:
    """Primer: "By moving the 6 before the 5, he can touch down on a vacant point (7) and then move to safety"."""
    opening = Position.start()
    assert "24/13" in plays(opening, (6, 5))
    both_ways_closed = board({24: 1}, {18: 2, 19: 2})
    assert set() == plays(both_ways_closed, (6, 5))
    assert Law.POINT_HELD is broken_law("24/13", both_ways_closed, (6, 5))


def test_law_11_two_checkers_may_each_play_one_number() -> None:
    """Primer: with 6-5 "one man from 12-18 and the other from 12-17", which is 13 to 7 and 13 to 8 here."""
    assert "13/8 13/7" in plays(Position.start(), (6, 5))


def test_law_11_a_checker_moves_by_a_number_that_was_rolled() -> None:
    assert Law.NOT_ROLLED is broken_law("24/19 6/5", Position.start(), (6, 1))


@pytest.mark.parametrize("number", range(1, 7))
def test_law_3_a_checker_enters_and_leaves_on_the_point_of_its_number(number: int) -> None:
    """2007: "A roll of 2 allows the checker to enter on the 23-point"; "a 2 from the 2-point"."""
    closed = number % 6 + 1
    assert {f"bar/{BAR - number}"} == plays(board({BAR: 2}, {BAR - closed: 2}), (number, closed))
    assert any(text.startswith(f"{number}/off") for text in plays(board({number: 1, 1: 1}, {24: 2}), (number, 1)))


def test_the_bar_is_not_counted_as_a_point() -> None:
    """Primer: the bar between the 19-point and the 18-point "does not count as a point"."""
    assert {"19/16"} == plays(board({19: 1}, {1: 2}), (2, 1))


def test_any_number_of_checkers_may_be_on_a_point() -> None:
    """Primer: "There is no limit to the number of men of one color"."""
    position = board({6: 14, 8: 1}, {24: 2, 4: 2})
    assert {"8/6"} == plays(position, (2, 2))
    assert 15 == position.play(parse_play("8/6", position, (2, 2))).points[6]


def test_law_4_checkers_never_move_backwards() -> None:
    assert Law.WRONG_DIRECTION is broken_law("6/8 6/5", Position.start(), (2, 1))


def test_a_player_moves_only_own_checkers() -> None:
    assert Law.NO_CHECKER is broken_law("12/9 6/5", Position.start(), (3, 1))
    assert Law.NO_CHECKER is broken_law("24/22(2) 7/5(2)", Position.start(), (2, 2))


def test_law_12_doublets_are_played_four_times() -> None:
    """The primer's diagram of 6-6: two from the 24-point to the 18-point, two from the 13-point to the 7-point."""
    assert "24/18(2) 13/7(2)" in plays(Position.start(), (6, 6))
    assert Law.WHOLE_DOUBLE is broken_law("24/18(2) 13/7", Position.start(), (6, 6))


def test_law_12_one_checker_may_play_the_whole_double() -> None:
    """Primer: "A single checker for four consecutive moves of two points"."""
    assert "24/16" in plays(board({24: 1, 6: 2}, {1: 2}), (2, 2))


def test_law_12_four_checkers_may_each_play_a_number_of_a_double() -> None:
    """Primer: "four checkers for two points each", and the pairs that it advises."""
    assert {"13/11(4)", "13/11(2) 6/4(2)"} <= plays(board({13: 4, 6: 4}, {1: 2}), (2, 2))


def test_law_12_a_double_is_played_as_far_as_it_goes() -> None:
    """1931: "Doublets require four plays - if possible": here the third lands on a point that is held."""
    position = board({20: 1}, {8: 2, 1: 3})
    assert {"20/12"} == plays(position, (4, 4))
    assert Law.WHOLE_DOUBLE is broken_law("20/16", position, (4, 4))


def test_law_12_of_two_ways_to_play_a_double_the_longer_one_is_compulsory() -> None:
    """One checker is blocked after one move, the other one can make two: all three must be played."""
    position = board({20: 1, 14: 1}, {10: 2, 1: 2})
    assert {"20/15 14/4"} == plays(position, (5, 5))
    assert Law.WHOLE_DOUBLE is broken_law("14/4", position, (5, 5))


def test_law_13_both_numbers_must_be_played_if_possible() -> None:
    """Primer: "You should try to play the 2 in a way that allows a subsequent move of 6"."""
    position = board({13: 2, 6: 1}, {7: 2, 1: 1})
    assert Law.BOTH_NUMBERS is broken_law("6/4", position, (6, 2))
    assert {"13/5"} == plays(position, (6, 2))


def test_law_13_either_number_may_be_played_first() -> None:
    position = board({24: 1}, {18: 2})
    assert {"24/13"} == plays(position, (6, 5))


def test_law_13_if_only_one_number_can_be_played_the_higher_must_be() -> None:
    """Primer: "Even if you would rather play the 3, you must play the higher number, the 5"."""
    position = board({20: 1}, {12: 2})
    assert {"20/15"} == plays(position, (5, 3))
    assert Law.HIGHER_NUMBER is broken_law("20/17", position, (5, 3))


def test_law_13_the_lower_number_is_played_where_the_higher_cannot_be() -> None:
    """1997: "If a player rolls a 2-5 ... the 2 can be taken if there are no open points to move the 5"."""
    position = board({20: 1}, {15: 2, 13: 2})
    assert {"20/18"} == plays(position, (5, 2))


def test_law_13_a_number_that_can_be_played_must_be() -> None:
    assert Law.MUST_PLAY is broken_law("cannot move", board({20: 1}, {15: 2, 13: 2}), (5, 2))
    assert Law.BOTH_NUMBERS is broken_law("cannot move", Position.start(), (5, 2))
    assert Law.WHOLE_DOUBLE is broken_law("cannot move", Position.start(), (2, 2))


def test_law_13_the_two_last_checkers_against_a_checker_on_the_bar() -> None:
    """Primer: with 3-1 the 1 would cover the blot, but then the 3 cannot be played, so the 3 must be played alone."""
    position = board({5: 1, 4: 1}, {0: 1, 1: 2, 3: 2})
    assert Law.HIGHER_NUMBER is broken_law("5/4", position, (3, 1))
    assert {"5/2"} == plays(position, (3, 1))


def test_the_example_of_3_1_needs_another_held_point() -> None:
    """As the primer prints it, with two checkers against one on the bar, the 3 and then the 1 can both be played."""
    as_printed = board({5: 1, 4: 1}, {0: 1})
    assert {"5/2 4/3", "4/3/off", "5/1"} == plays(as_printed, (3, 1))
    assert Law.BOTH_NUMBERS is broken_law("5/2", as_printed, (3, 1))


def test_law_14_no_checker_lands_on_a_point_that_two_opposing_checkers_hold() -> None:
    assert Law.POINT_HELD is broken_law("24/19 13/12", Position.start(), (5, 1))


def test_law_15_a_blot_is_hit_and_lifted_to_the_bar() -> None:
    position = board({8: 1, 13: 1}, {3: 1, 1: 2})
    play = parse_play("8/3* 13/12", position, (5, 1))
    assert 1 == position.play(play).opponent_bar


def test_law_15_a_blot_is_hit_in_passing_too() -> None:
    """Primer: with 6-5 the blot on the bar point is hit on the way to the 12-point, as seen from the other side."""
    position = board({24: 1}, {18: 1, 19: 2})
    play = parse_play("24/13", position, (6, 5))
    assert "24/18*/13" == format_play(play, position)
    assert 1 == position.play(play).opponent_bar


def test_law_15_only_a_blot_can_be_hit() -> None:
    assert Law.NOTHING_TO_HIT is broken_law("24/18* 13/11", Position.start(), (6, 2))


def test_law_16_a_checker_on_the_bar_enters_first() -> None:
    """Primer: with 6-4 against a held 6-point the checker enters with the 4, and any checker plays the 6."""
    position = board({BAR: 1, 13: 2}, {19: 2, 1: 1})
    assert {"bar/21 13/7", "bar/15"} == plays(position, (6, 4))
    assert Law.BAR_FIRST is broken_law("13/9 13/7", position, (6, 4))


def test_a_checker_enters_on_own_checkers_and_on_a_blot_too() -> None:
    """The primer says "an unoccupied point"; but only a point held by two or more is closed."""
    position = board({BAR: 1, 20: 1}, {19: 1, 1: 2})
    assert {"bar/20", "bar/19*"} == {_entry(play) for play in plays(position, (6, 5))}


def test_a_checker_that_enters_hits_a_blot() -> None:
    """1997: blots are "vulnerable to being hit by a man coming off the bar"."""
    position = board({BAR: 1, 13: 1}, {19: 2, 20: 1})
    assert 1 == position.play(parse_play("bar/20* 13/7", position, (6, 5))).opponent_bar


def test_law_16_all_checkers_on_the_bar_enter_before_any_other_moves() -> None:
    position = board({BAR: 2, 13: 2}, {19: 2, 1: 1})
    assert {"bar/21"} == plays(position, (6, 4))


def test_law_16_no_checker_enters_against_a_closed_board() -> None:
    """Primer: "White must forfeit their turn until Black opens up a point for re-entry"."""
    closed = board({BAR: 1, 13: 2}, dict.fromkeys(range(19, 25), 2))
    assert all(set() == plays(closed, (high, low)) for high in range(1, 7) for low in range(1, high + 1))


def test_six_checkers_do_not_close_a_board() -> None:
    """The primer calls six checkers at home a closed board: it takes two on each of six points, twelve."""
    six = board({BAR: 1, 13: 2}, dict.fromkeys(range(19, 25), 1))
    assert plays(six, (6, 5))
    assert 12 == sum(-n for n in board({}, dict.fromkeys(range(19, 25), 2)).points)


def test_a_prime_of_six_cannot_be_passed() -> None:
    """Primer: "Trapped behind a prime": not even by a double."""
    position = board({24: 1}, dict.fromkeys(range(18, 24), 2))
    assert all(set() == plays(position, (high, low)) for high in range(1, 7) for low in range(1, high + 1))


def test_law_17_the_one_may_be_played_before_the_six_bears_off() -> None:
    """The diagram of 1970: the 1 moves 6 to 5, then the 6 bears off from the 5-point, highest now."""
    position = board({6: 1, 5: 1, 1: 2}, {0: 1, 24: 1})
    assert {"6/5/off", "6/off 1/off", "6/off 5/4"} == plays(position, (6, 1))
    after = position.play(parse_play("6/5 5/off", position, (6, 1)))
    assert (1, 2) == (after.points[5], after.points[1])


def test_law_17_a_checker_is_borne_off_by_its_number() -> None:
    """Primer: "White removes one man from point 6 and one from point 4 after throwing a 6-4"."""
    position = board({6: 2, 5: 2, 4: 2}, {24: 2})
    assert "6/off 4/off" in plays(position, (6, 4))


def test_law_17_a_higher_number_bears_off_from_the_highest_point() -> None:
    """Primer: "Black removes three men from point 19 after throwing a double 6 ... one man from point 20"."""
    position = board({6: 3, 5: 2, 4: 2}, {24: 2})
    assert {"6/off(3) 5/off"} == plays(position, (6, 6))


def test_law_17_no_lower_checker_is_borne_off_while_a_higher_one_is_left() -> None:
    """1997: "If you roll 6-3 and your 6-point has been cleared ... a man from your 5-point"."""
    position = board({5: 2, 3: 1, 2: 2}, {24: 2})
    assert Law.HIGHER_POINT is broken_law("3/off 3/off", board({5: 2, 3: 2}, {24: 2}), (6, 3))
    assert "5/off 3/off" in plays(position, (6, 3))


def test_law_17_with_a_gap_the_number_moves_a_higher_checker_down() -> None:
    """Primer: "They must move a man down from a higher point" when the number's own point is empty."""
    position = board({6: 2, 5: 1, 1: 2}, {24: 2})
    assert Law.HIGHER_POINT is broken_law("6/off 1/off", position, (6, 4))
    assert {"6/2 6/off", "6/off 5/1"} == plays(position, (6, 4))


def test_law_17_a_player_who_can_move_does_not_have_to_bear_off() -> None:
    """Primer: with 6-5 one man is borne off the 6-point and the other moved down to the 1-point, leaving no blot."""
    position = board({6: 2, 5: 2, 1: 1}, {0: 1})
    after = position.play(parse_play("6/off 6/1", position, (6, 5)))
    assert (2, 2) == (after.points[5], after.points[1])


def test_law_11_no_checker_is_borne_off_while_one_is_outside() -> None:
    assert Law.TOO_EARLY is broken_law("6/off 8/7", board({8: 1, 6: 2}, {24: 2}), (6, 1))
    assert "7/off" in plays(board({7: 1, 6: 2}, {24: 2}), (6, 1))


def test_law_16_a_checker_hit_during_the_bear_off_comes_round_first() -> None:
    position = board({BAR: 1, 6: 2, 5: 2}, {24: 2, 23: 2})
    assert Law.BAR_FIRST is broken_law("6/off 5/off", position, (6, 5))
    assert {"bar/19 6/1", "bar/14", "bar/20 6/off"} & plays(position, (6, 5)) == {"bar/19 6/1", "bar/14"}


def test_bearing_off_the_last_checker_wins_without_playing_the_other_number() -> None:
    """Either order of 6-1 bears off a last checker on the 5-point; after the 6 there is nothing left to play."""
    position = board({5: 1}, {24: 2})
    assert position.play(parse_play("5/off", position, (6, 1))).over
