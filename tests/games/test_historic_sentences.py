"""Each sentence of MacGregor's booklet about a game of dice and entering is a test, numbered as in its section."""

from __future__ import annotations

import pytest

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.position import Play
from fibsbot.rules.errors import IllegalPlayError, Law, RuleError
from fibsbot.rules.game import (
    accept_resignation,
    choices,
    double,
    drop,
    name,
    play,
    resign,
    roll,
    roll_contest,
    start_match_of,
)
from fibsbot.rules.general_plays import AS_MANY, check_play, outcome
from fibsbot.rules.laws import Level
from fibsbot.rules.ruleset import Part
from fibsbot.rules.sides import Course, Mark, Sides
from fibsbot.rules.state import GameState, Naming, Seat, Stage
from tests.games.boards import format_side, results, sides


def playing(game: str, board: Sides) -> GameState:
    """Return a game in which seat A is to roll on this board."""
    return fast_evolve(start_match_of(load_ruleset(game), 5, begins=Seat.A), board=board)


def after(state: GameState, *moves: tuple[int, int]) -> GameState:
    """Return the game after the player on turn has made these moves."""
    return play(state, state.turn, Play.of(*moves))


def refusal(game: str, board: Sides, numbers: tuple[int, ...], *moves: tuple[int, int]) -> str:
    """Return the law that forbids these moves."""
    with pytest.raises(IllegalPlayError) as caught:
        check_play(load_ruleset(game), board, Part(numbers), Play.of(*moves))
    return str(caught.value.law.value)


# Tabula


def test_tabula_1_three_dice_move_one_two_or_three_checkers() -> None:
    assert load_ruleset("tabula").dice == 3
    rows = results("tabula", sides("20:3 1:12", ""), 2, 4, 5)
    assert {"20:2 9 1:12", "20 18 11 1:12", "18 16 15 1:12"} <= set(rows)


def test_tabula_2_to_4_a_2_4_5_moves_11_or_2_and_9_or_each_number_alone() -> None:
    one_or_two = {"20:2 9 1:12", "20 18 11 1:12", "20 16 13 1:12", "20 15 14 1:12"}
    assert {*one_or_two, "18 16 15 1:12"} == set(results("tabula", sides("20:3 1:12", ""), 2, 4, 5))


def test_tabula_5_all_start_off_the_board_in_the_same_corner_and_go_the_same_way() -> None:
    rules = load_ruleset("tabula")
    assert (rules.setup, rules.course) == ({25: 15}, Course.SAME)
    assert all(rules.course.facing(point) == point for point in range(1, 25))


def test_tabula_6_no_checker_advances_until_all_are_on_the_board() -> None:
    board = sides("25 20:14", "")
    assert (
        refusal("tabula", board, (1, 2, 3), (20, 18)) == "a checker in hand or on the bar enters before any other moves"
    )
    assert check_play(load_ruleset("tabula"), board, Part((1, 2, 3)), Play.of((25, 24), (20, 18), (20, 17)))


def test_tabula_7_a_blot_is_hit_and_enters_before_any_other_moves() -> None:
    board = sides("20:14 10", "7")
    assert "20:14 7 *1" in results("tabula", board, 3)
    assert refusal("tabula", sides("25 20:14", "", hit=1), (4,), (20, 16)).startswith("a checker in hand")


def test_tabula_8_the_whole_roll_is_played_even_if_that_endangers_checkers() -> None:
    assert refusal("tabula", sides("20:2 1:13", ""), (2, 4, 5), (20, 18)) == AS_MANY.value


def test_tabula_9_a_part_of_the_roll_that_is_blocked_is_lost() -> None:
    assert results("tabula", sides("20 1:14", "18:2 15:2 14:2 11:2"), 2, 4, 5) == ["16 1:14"]
    assert results("tabula", sides("20 1:14", "18:2 16:2 15:2"), 2, 4, 5) == []


def test_tabula_10_no_checker_is_borne_off_until_all_are_home_but_that_is_optional() -> None:
    board = sides("20 5 1:13", "")
    assert all("5" in row.split() for row in results("tabula", board, 5) if "20" in row.split())
    assert "20 1:13" in results("tabula:free", board, 5)


def test_tabula_11_after_a_hit_none_is_borne_off_until_that_checker_is_home() -> None:
    hit = sides("20 5 1:13", "", marks=Mark.HIT)
    assert results("tabula:free", hit, 5) == ["15 5 1:13"]


# Irish


def test_irish_3_the_set_up_is_the_standard_one() -> None:
    assert load_ruleset("irish").setup == {24: 2, 13: 5, 8: 3, 6: 5}


def test_irish_4_a_double_has_no_advantage() -> None:
    started = roll(playing("irish", load_ruleset("irish").start()), Seat.A, (3, 3))
    assert started.part.numbers == (3, 3)


def test_irish_5_a_closed_board_forfeits_the_roll() -> None:
    assert results("irish", sides("25 13:14", "8:3 6:2 5:2 4:2 3:2 2:2 1:2"), 6, 5) == []


def test_irish_6_and_7_who_binds_the_tables_opens_a_point_in_willughbys_reading() -> None:
    binder = playing("irish:binding", sides("7 6:4 5:2 4:2 3:2 2:2 1:2", "25 13:14"))
    bound = after(roll(binder, Seat.A, (1, 1)), (7, 6), (6, 5))
    assert bound.stage is Stage.CONTEST
    assert roll_contest(bound, 7, 7) == bound
    contest = roll_contest(bound, 4, 9)
    assert (contest.decides, contest.naming, choices(contest)) == (Seat.B, Naming.POINT, (6, 5, 4, 3, 2, 1))
    opened = name(contest, Seat.B, 6)
    assert (opened.turn, opened.stage) == (Seat.B, Stage.ROLL)
    assert format_side(opened.sides.opponent) == "25:3 6 5:3 4:2 3:2 2:2 1:2"


# Swedish Tables


def test_swedish_set_up_is_fifteen_on_the_farthest_point_with_two_dice() -> None:
    rules = load_ruleset("swedish")
    assert (rules.setup, rules.dice, rules.course) == ({24: 15}, 2, Course.DIAGONAL)


def test_swedish_two_numbers_move_two_checkers_or_one_in_two_steps() -> None:
    assert {"24:13 22 19", "24:14 17"} == set(results("swedish", sides("24:15", "24:15"), 5, 2))


@pytest.mark.parametrize("seat", Seat)
def test_swedish_rule_1_a_double_on_either_players_first_roll_moves_one_checker(seat: Seat) -> None:
    started = roll(start_match_of(load_ruleset("swedish"), 1, begins=seat), seat, (2, 2))
    assert started.part == Part((2, 2, 2, 2), one_checker=True)
    assert results("swedish", started.sides, 2, 2, 2, 2, one_checker=True) == ["24:14 16"]


def test_swedish_rule_1_four_checkers_of_a_first_6_6_are_hit_together_until_one_has_moved() -> None:
    stack = sides("24 10:14", "24:11 18:4")
    together = Sides(
        fast_evolve(stack.own, marks=Mark.RELEASED | Mark.FIVE_LEFT), fast_evolve(stack.opponent, marks=Mark.FOUR_SIXES)
    )
    assert "24 10:13 6 *4" in results("swedish", together, 4)
    apart = Sides(together.own, fast_evolve(stack.opponent, marks=Mark.NONE))
    assert "24 10:13 6 *4" not in results("swedish", apart, 4)


def test_swedish_rule_2_one_checker_on_a_point_until_one_stood_on_the_farthest_point_opposite() -> None:
    assert refusal("swedish", sides("24:14 20", "24:15"), (4,), (24, 20)).startswith("no more than one checker")
    assert "24:13 20:2" in results("swedish", sides("24:14 20", "24:15", marks=Mark.RELEASED), 4)


def test_swedish_rule_3_a_later_double_is_played_four_times() -> None:
    started = roll(playing("swedish", sides("24:14 20", "24:15", throws=3)), Seat.A, (2, 2))
    assert started.part == Part((2, 2, 2, 2))


def test_swedish_rule_4_a_hit_blot_enters_before_other_pieces_move() -> None:
    assert "24:14 16 *1" in results("swedish", sides("24:14 20", "24:14 4"), 4)
    assert refusal("swedish", sides("25 24:14", "24:15", hit=1), (4,), (24, 20)).startswith("a checker in hand")


def test_swedish_rule_5_two_checkers_of_six_points_in_a_row_are_captured() -> None:
    free = Mark.RELEASED | Mark.FIVE_LEFT
    wall = "24:3 8:2 7:2 6:2 5:2 4:2 3:2"
    assert "24:10 21:4 19 *2" in results("swedish", sides("24:10 21:5", wall, marks=free), 2)
    assert refusal("swedish", sides("24:10 21:5", "24:5 8:2 7:2 6:2 5:2 4:2", marks=free), (1,), (21, 20)) == (
        Law.POINT_HELD.value
    )


def test_swedish_rule_6_nobody_leaves_the_opponents_side_before_five_left_the_start() -> None:
    board = sides("24:11 14:3 13", "24:15", marks=Mark.RELEASED)
    assert (
        refusal("swedish", board, (6,), (14, 8))
        == "no checker leaves the opponent's side before five have left the start"
    )
    assert "24:10 14:4 7" in results(
        "swedish", sides("24:10 14:4 13", "24:15", marks=Mark.RELEASED | Mark.FIVE_LEFT), 6
    )


def test_swedish_bearing_off_needs_all_home_and_a_higher_number_takes_the_farthest() -> None:
    assert results("swedish", sides("4 3", "24:15", marks=Mark.RELEASED | Mark.FIVE_LEFT), 6) == ["3"]
    assert refusal("swedish", sides("25 4", "24:15", hit=1), (4,), (4, 0)).startswith("a checker in hand")


def jan_of(opponent: str, own: str = "24:9 12:4 8") -> tuple[int, str] | None:
    """Return points and reason if a side with these captured and entered checkers has lost by jan."""
    board = sides(own, opponent)
    ended = outcome(load_ruleset("swedish"), board, board)
    return None if ended is None else (ended.points, ended.reason)


def test_swedish_jan_with_five_blots_in_the_entry_table_and_two_captured_wins_15() -> None:
    assert jan_of("25:2 24:9 23 22 21 20") == (15, "made jan: more checkers captured than points to enter on")
    assert jan_of("25 24:10 23 22 21 20") is None


def test_swedish_janstork_with_no_vacant_point_any_hit_wins() -> None:
    assert jan_of("25 24:9 23 22 21 20 19") == (15, "made janstork: no point left to enter on")


@pytest.mark.parametrize(
    ("captured", "marks", "game", "won"),
    [
        (1, Mark.RELEASED, "swedish", None),
        (1, Mark.NONE, "swedish", None),
        (2, Mark.RELEASED, "swedish", "made jan: more checkers captured than points to enter on"),
        (1, Mark.RELEASED, "swedish:empty", "made janstork: no point left to enter on"),
    ],
)
def test_swedish_janstork_spares_who_can_enter_on_a_block_of_six_by_rule_5(
    captured: int, marks: Mark, game: str, won: str | None
) -> None:
    board = sides("24 12:2 11:2 10:2 9:2 8:2 7:2 6 5", f"25:{captured} 6:{15 - captured}", marks=marks, hit=0)
    board = Sides(board.own, fast_evolve(board.opponent, marks=marks, hit=captured))
    ended = outcome(load_ruleset(game), board, board)
    assert (won and (15, won)) == (ended and (ended.points, ended.reason))
    assert bool(results("swedish", board.swapped(), 3)) is True


def test_swedish_janstork_follows_where_a_point_of_the_block_has_more_than_two() -> None:
    board = sides("12:3 11:3 10:3 9:2 8:2 7:2", "25 21 20 19 6:11")
    ended = outcome(load_ruleset("swedish"), board, board)
    assert ended is not None
    assert ended.reason == "made janstork: no point left to enter on"
    assert results("swedish", board.swapped(), 1, 2, 3) == []
    assert outcome(load_ruleset("swedish:any"), board, board) is None


# Acey-Deucey


def test_acey_3_all_start_on_the_bar_and_enter_first() -> None:
    assert load_ruleset("acey-deucey").setup == {25: 15}
    assert refusal("acey-deucey", sides("25 10:14", ""), (4, 3), (10, 6)).startswith("a checker in hand")


def test_acey_4_a_1_2_is_played_and_then_a_double_of_choice() -> None:
    rolled = roll(playing("acey-deucey", sides("25 10:14", "24:15")), Seat.A, (1, 2))
    named = after(rolled, (25, 23), (10, 9))
    assert (named.stage, choices(named)) == (Stage.NAME, (1, 2, 3, 4, 5, 6))
    assert name(named, Seat.A, 5).part.numbers == (5, 5, 5, 5)
    with pytest.raises(RuleError):
        name(named, Seat.A, 7)


def test_acey_4_a_double_that_is_blocked_cannot_be_named() -> None:
    rolled = roll(playing("acey-deucey", sides("10:2 2", "22:2 21:2 20:2 23:2 19:2 1:5")), Seat.A, (1, 2))
    named = after(rolled, (10, 8), (2, 1))
    assert named.stage is Stage.NAME
    assert 5 not in choices(named)


def test_acey_5_then_a_second_roll_with_the_same_rule() -> None:
    state = playing("acey-deucey", sides("10:15", "24:15"))
    for throws in (1, 2):
        state = after(roll(state, Seat.A, (2, 1)), (10, 8), (10, 9))
        state = after(name(state, Seat.A, 1), (10, 9), (9, 8), (10, 9), (9, 8))
        assert (state.stage, state.turn, state.throws) == (Stage.ROLL, Seat.A, throws)


def test_acey_6_a_third_1_2_ends_the_turn() -> None:
    state = fast_evolve(playing("acey-deucey", sides("10:15", "24:15")), throws=2)
    ended = roll(state, Seat.A, (2, 1))
    assert (ended.turn, ended.stage, format_side(ended.sides.opponent)) == (Seat.B, Stage.ROLL, "10:15")


def test_acey_7_in_the_navy_version_others_move_while_one_is_on_the_bar() -> None:
    assert "25 10:13 6" in results("acey-deucey:navy", sides("25 10:14", ""), 4)


def test_acey_8_stakes_may_be_doubled_by_a_1_2() -> None:
    assert roll(playing("acey-deucey:stakes", sides("10:15", "24:15")), Seat.A, (1, 2)).cube == 2


def test_acey_9_the_winner_may_collect_for_each_checker_left() -> None:
    state = roll(playing("acey-deucey:checkers-left", sides("1", "24:5 3:2")), Seat.A, (3, 1))
    won = after(state, (1, 0))
    assert won.result is not None
    assert won.result.points == 7
    for level in Level:
        resigned = accept_resignation(resign(state, Seat.B, level), Seat.A)
        assert resigned.result is not None
        assert 7 == resigned.result.points, "resigned"
    doubled = double(playing("acey-deucey:checkers-left:cube", sides("1", "24:5 3:2")), Seat.A)
    dropped = drop(doubled, Seat.B)
    assert dropped.result is not None
    assert 7 == dropped.result.points, "the double was refused"


def test_irish_in_1665_counts_a_last_double_and_a_loser_who_is_not_home() -> None:
    for dice, loser, points in (
        ((3, 2), "6:15", 1),
        ((2, 2), "6:15", 2),
        ((3, 2), "7 6:14", 2),
        ((2, 2), "25 6:14", 3),
    ):
        state = roll(playing("irish:1665", sides("1", loser)), Seat.A, dice)
        won = after(state, (1, 0))
        assert won.result is not None
        assert points == won.result.points


# Buff de Baldriac, Around the World


def test_buff_2_and_3_all_start_off_the_board_and_each_enters_where_the_other_bears_off() -> None:
    rules = load_ruleset("buff")
    assert (rules.setup, rules.course, rules.dice) == ({25: 15}, Course.CONTRARY, 3)
    assert [rules.course.facing(point) for point in (24, 19)] == [1, 6]


def test_around_1_the_exact_number_is_needed_to_bear_off() -> None:
    assert results("around", sides("4", ""), 4) == [""]
    assert results("around:exact", sides("4", ""), 5) == []


def test_around_2_a_higher_number_goes_around_the_world_and_the_trek_begins_anew() -> None:
    assert results("around", sides("4", ""), 5) == ["24"]
    assert results("around", sides("2", ""), 6) == ["21"]
    assert results("around", sides("24 2", ""), 2) == ["22 2"]
