"""Each sentence about a game of blocking, of Russian backgammon, of Ticktack, or of today's forms is a test."""

from __future__ import annotations

import random
import re

import pytest

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import GAMES, UnknownGameError, load_ruleset
from fibsbot.position import Play
from fibsbot.rules.errors import IllegalPlayError, Law
from fibsbot.rules.game import next_game, play, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import outcome
from fibsbot.rules.laws import point_game_score
from fibsbot.rules.ruleset import Part, Then
from fibsbot.rules.sides import Course, Mark, Sides
from fibsbot.rules.state import Seat, Stage
from tests.games.boards import results, sides
from tests.games.random_games import random_game
from tests.games.test_historic_sentences import after, playing, refusal


def points(game: str, board: Sides) -> tuple[int, int] | None:
    """Return who has won on this board, from the view of who has just moved, and how many points."""
    ended = outcome(load_ruleset(game), board, board)
    return None if ended is None else (ended.winner, ended.points)


# Plakoto


def test_plakoto_set_up_is_all_checkers_stacked_on_one_end() -> None:
    assert load_ruleset("plakoto").setup == {24: 15}


def test_plakoto_3_a_blot_is_not_hit_but_cannot_move_while_an_opposing_checker_is_on_it() -> None:
    assert results("plakoto", sides("20 1:14", "24:14 9"), 4) == ["16 1:14 _9_"]
    assert refusal("plakoto", sides("16 1:14", "24:14 9:1", pinned=(16,)), (4,), (16, 12)).startswith(
        "a checker that lies"
    )
    assert results("plakoto", sides("20:2 1:13", "24:14 9", opponent_pinned=(9,)), 4) == ["20 16 1:13 _9_"]


def test_plakoto_3_the_checker_is_free_when_the_last_one_leaves_it() -> None:
    assert results("plakoto", sides("16 1:14", "24:14 9", opponent_pinned=(9,)), 4) == ["12 1:14"]
    assert "16 12 1:13 _9_" in results("plakoto", sides("16:2 1:13", "24:14 9", opponent_pinned=(9,)), 4)


def test_plakoto_4_all_come_home_before_any_is_borne_off() -> None:
    assert refusal("plakoto", sides("7 3:14", "24:15"), (3,), (3, 0)) == Law.TOO_EARLY.value


def test_plakoto_5_a_checker_trapped_on_the_last_point_of_the_home_ends_the_game() -> None:
    trapped = sides("1:2 6:13", "24 1:14", opponent_pinned=(24,))
    assert points("plakoto", trapped) == (1, 2)
    assert points("plakoto:exception", trapped) == (1, 2)


def test_plakoto_5_the_trap_wins_at_once_whatever_numbers_are_left() -> None:
    """Wins with a move of one number where both could be played, and leaves nothing to play after it."""
    board = sides("24:4 18 17 12 9 5 4:5 3", "24 20:2 18:2 16 14 13 12 8 7 3 2:3", pinned=(5, 9, 12, 17, 18))
    won = after(roll(playing("plakoto", board), Seat.A, (6, 3)), (4, 1))
    assert (won.stage, won.result and won.result.points) == (Stage.OVER, 2)
    message = "the game is over before this move"
    assert message == refusal("plakoto", sides("7 6:13 4", "24 1:14"), (1, 6), (7, 1), (1, 0))
    stays = roll(playing("plakoto:exception", board), Seat.A, (6, 3))
    with pytest.raises(IllegalPlayError):
        after(stays, (4, 1))


def test_plakoto_exception_needs_the_own_start_to_be_empty_and_two_trapped_last_checkers_draw() -> None:
    trapped = sides("24 1:14", "24 1:14", opponent_pinned=(24,))
    assert points("plakoto:exception", trapped) is None
    assert points("plakoto:exception", Sides(fast_evolve(trapped.own, pinned=1 << 24), trapped.opponent)) == (0, 0)
    assert points("plakoto", trapped) == (1, 2)


def test_plakoto_pinned_stops_keeps_others_from_being_borne_off() -> None:
    board = sides("3 2", "24:14 22", pinned=(3,))
    assert results("plakoto", board, 2) == ["3"]
    assert results("plakoto:pinned-stops", board, 2) == []


# Gioul


def test_gioul_2_and_3_the_set_up_is_that_of_plakoto_and_a_blot_is_not_hit() -> None:
    assert load_ruleset("gioul").setup == load_ruleset("plakoto").setup == {24: 15}
    assert "25" not in " ".join(results("gioul", sides("24 10 1:13", "24:14 19"), 4, 2))
    assert results("gioul", sides("10:15", "24:14 19"), 4) == []


def test_gioul_4_one_checker_blocks_an_opponent_from_landing() -> None:
    assert results("gioul", sides("24 1:14", "24:14 5"), 4) == []
    assert refusal("gioul", sides("24 1:14", "24:14 5"), (4,), (24, 20)).startswith("no checker lands on a point where")


def test_gioul_5_to_7_a_4_4_is_played_as_a_5_5_and_a_6_6_too() -> None:
    state = roll(playing("gioul", sides("24:14 23", "24:15")), Seat.A, (4, 4))
    assert state.todo == (Part((4,) * 4), Part((5,) * 4), Part((6,) * 4))
    for number in (4, 5):
        state = after(state, *[(24, 24 - number)] * 4)
    assert (state.turn, state.todo) == (Seat.A, (Part((6,) * 4),))


def test_gioul_8_a_1_1_begins_a_series_of_24_moves() -> None:
    todo = roll(playing("gioul", load_ruleset("gioul").start()), Seat.A, (1, 1)).todo
    assert [part.numbers[0] for part in todo if isinstance(part, Part)] == [1, 2, 3, 4, 5, 6]
    assert sum(len(part.numbers) for part in todo if isinstance(part, Part)) == 24


def test_gioul_9_what_cannot_be_played_passes_to_the_opponent() -> None:
    rolled = roll(playing("gioul", sides("24 1:14", "24:14 11")), Seat.A, (5, 5))
    passed = after(rolled, (24, 19))
    assert (passed.turn, passed.stage, passed.passed) == (Seat.B, Stage.MOVE, True)
    assert passed.todo == (Part((5, 5, 5)), Part((6, 6, 6, 6)))


def test_gioul_1_the_exceptions_leave_the_triple_game_of_plakoto_and_backgammon() -> None:
    board = sides("3:2", "24:14 4")
    for game, won in {"gioul": 3, "plakoto": 3, "greek": 3, "gioul:no-triple": 2, "plakoto:no-triple": 2}.items():
        ended = after(roll(playing(game, board), Seat.A, (6, 5)), (3, 0), (3, 0))
        assert (game, won) == (game, ended.result and ended.result.points)


def test_gioul_whole_passes_only_the_doubles_that_follow_and_may_lets_the_opponent_choose() -> None:
    board = sides("24 1:14", "24:14 11")
    assert after(roll(playing("gioul:whole", board), Seat.A, (5, 5)), (24, 19)).todo == (Part((6, 6, 6, 6)),)
    offered = after(roll(playing("gioul:may", board), Seat.A, (5, 5)), (24, 19))
    assert play(offered, Seat.B, Play()).turn is Seat.B


def test_gioul_10_the_opponent_takes_them_as_far_as_he_can_and_then_rolls() -> None:
    passed = fast_evolve(playing("gioul", sides("24 1:14", "24:14 11")), stage=Stage.MOVE, passed=True)
    stopped = after(fast_evolve(passed, todo=(Part((5, 5, 5)), Part((6, 6, 6, 6)))), (24, 19))
    assert (stopped.turn, stopped.stage, stopped.todo, stopped.passed) == (Seat.A, Stage.ROLL, (), False)


# Greek


def test_greek_2_all_start_stacked() -> None:
    assert load_ruleset("greek").setup == {24: 15}


def test_greek_3_a_blot_is_blocked_by_a_checker_that_lands_on_it() -> None:
    assert results("greek", sides("20 1:14", "24:14 9"), 4) == ["16 1:14 _9_"]


def test_greek_a_trapped_last_checker_does_not_end_the_game_but_two_draw_it() -> None:
    one = sides("24 1:14", "24 1:14", opponent_pinned=(24,))
    assert points("greek", one) is None
    assert points("greek", Sides(fast_evolve(one.own, pinned=1 << 24), one.opponent)) == (0, 0)


# Russian I and II


def test_russian1_1_and_2_all_start_off_the_board_and_enter_in_the_same_table() -> None:
    rules = load_ruleset("russian1")
    assert (rules.setup, rules.course) == ({25: 15}, Course.SAME)


def test_russian1_3_two_checkers_enter_before_any_advances() -> None:
    board = sides("25:14 22", "25:15")
    assert refusal("russian1", board, (5, 3), (22, 17)) == "two checkers enter before any advances"
    assert "25:13 22 17" in results("russian1", board, 5, 3)


def test_russian1_4_when_none_can_enter_the_roll_is_used_on_the_board() -> None:
    board = sides("25:13 22 21", "20:2 22:2 1:11", marks=Mark.STARTED)
    assert results("russian1", board, 5) == ["25:13 21 17", "25:13 22 16"]


def test_russian1_5_a_blot_that_was_hit_enters_before_others_move() -> None:
    board = sides("25:13 22 21", "24:15", marks=Mark.STARTED, hit=1)
    assert refusal("russian1", board, (4,), (22, 18)) == "a checker that was hit enters before any other moves"


def test_russian1_6_and_7_a_double_is_followed_by_the_complementary_one_and_another_roll() -> None:
    rolled = roll(playing("russian1", sides("10:15", "24:15")), Seat.A, (3, 3))
    assert rolled.todo == (Part((3,) * 4), Part((4,) * 4), Then.ROLL)


def test_russian1_6_not_on_the_first_roll() -> None:
    rolled = roll(playing("russian1", sides("25:15", "25:15", throws=0)), Seat.A, (3, 3))
    assert rolled.todo == (Part((3,) * 4),)


def test_russian1_8_and_9_who_played_all_eight_rolls_again() -> None:
    state = roll(playing("russian1", sides("20:8 19:7", "1:15", marks=Mark.STARTED)), Seat.A, (3, 3))
    state = after(state, *[(20, 17)] * 4)
    state = after(state, *[(20, 16)] * 4)
    assert (state.turn, state.stage, state.throws) == (Seat.A, Stage.ROLL, 1)


def test_russian1_10_if_a_part_is_blocked_the_rest_and_the_extra_roll_are_lost() -> None:
    state = roll(playing("russian1", sides("20 1:14", "24:13 11:2", marks=Mark.STARTED)), Seat.A, (3, 3))
    assert after(state, (20, 17), (17, 14)).turn is Seat.B


def test_russian2_1_the_set_up_is_the_standard_one() -> None:
    assert load_ruleset("russian2").setup == {24: 2, 13: 5, 8: 3, 6: 5}


def test_russian2_2_and_3_the_lower_number_comes_first() -> None:
    assert roll(playing("russian2", sides("13 1:14", "24:15")), Seat.A, (6, 3)).part == Part((3, 6), ordered=True)
    assert results("russian2", sides("13 1:14", "24:13 17:2"), 3, 6, ordered=True) == ["4 1:14"]
    board = sides("13 12 1:13", "24:13 18:2")
    assert results("russian2", board, 1, 6, ordered=True) == ["12 6 1:13", "13 5 1:13"]


def test_russian2_4_if_the_lower_number_is_blocked_the_turn_is_lost() -> None:
    assert results("russian2", sides("13 1:14", "24:13 15:2"), 3, 6, ordered=True) == []


def test_russian2_5_and_6_the_lower_of_the_complementary_doubles_is_played_first() -> None:
    rolled = roll(playing("russian2", sides("20:15", "24:15")), Seat.A, (5, 5))
    assert rolled.todo == (Part((2,) * 4), Part((5,) * 4), Then.ROLL)
    blocked = roll(playing("russian2", sides("13 1:14", "24:11 14:2 9:2")), Seat.A, (5, 5))
    assert play(blocked, Seat.A, Play()).turn is Seat.B


# Ticktack


def test_ticktack_a_point_with_two_checkers_is_taken_and_not_to_be_hit() -> None:
    assert results("ticktack", sides("24:15", "24:13 6:2"), 5) == []
    assert "24:14 15 *1" in results("ticktack", sides("24:15", "24:12 10 6:2"), 5, 4)


def test_ticktack_all_start_on_the_ace_point_and_doubles_have_no_advantage() -> None:
    assert load_ruleset("ticktack").setup == {24: 15}
    assert roll(playing("ticktack", sides("24:15", "24:15")), Seat.A, (6, 6)).part == Part((6, 6))


@pytest.mark.parametrize(
    ("board", "won"),
    [
        (sides("24:14 10", "25 24:14"), (1, 1)),
        (sides("24:13 11:2", "24:15"), (1, 2)),
        (sides("24:3 18:2 17:2 16:2 15:2 14:2 13:2", "24:15"), (1, 2)),
        (sides("24:5 23:2 22:2 21:2 20:2 19:2", "24:15"), (1, 2)),
        (sides("24:13 14 11", "24:15"), (1, 2)),
        (sides("", "24:15"), (1, 1)),
        (sides("24:14 14", "24:15"), None),
    ],
    ids=["hit", "going in", "second table", "toots", "boveries", "bearing off", "nothing"],
)
def test_ticktack_the_five_ways_to_win_in_our_reading(board: Sides, won: tuple[int, int] | None) -> None:
    assert points("ticktack", board) == won


def test_ticktack_the_best_way_counts_and_plain_has_only_the_documents() -> None:
    both = sides("24:13 11:2", "25 24:14")
    assert (points("ticktack", both), points("ticktack:plain", both)) == ((1, 2), (1, 1))
    toots = sides("24:5 23:2 22:2 21:2 20:2 19:2", "24:15")
    assert (points("ticktack", toots), points("ticktack:common", toots)) == ((1, 2), None)
    assert points("ticktack:flyers", sides("24:14 6", "24:14 19")) == (1, 2)


# Dutch and today's games


def test_dutch_nobody_hits_before_having_brought_a_checker_home() -> None:
    board = sides("10:15", "24:14 19")
    assert refusal("dutch", board, (4,), (10, 6)) == "nobody hits before having brought a checker home"
    assert "10:13 6 5 *1" in results("dutch", sides("10:14 5", "24:14 19"), 4)


def test_tavla_a_checker_that_hits_at_home_does_not_move_on_in_that_turn() -> None:
    board = sides("7 4:14", "24:14 20")
    assert {"4:15", "5 4:13 3 *1"} <= set(results("portes:tavla", board, 2, 1))
    assert "4:15 *1" not in results("portes:tavla", board, 2, 1)
    assert refusal("portes:tavla", board, (2, 1), (7, 5), (5, 4)).startswith("a checker that has hit")


def test_fevga_only_the_runner_leaves_the_start_until_it_has_passed_the_opponents() -> None:
    assert refusal("fevga", sides("24:14 15", "24:15"), (3,), (24, 21)).startswith("no other checker leaves the start")
    assert "24:13 21 11" in results("fevga", sides("24:14 11", "24:15"), 3)


def test_moultezim_holds_no_more_than_four_points_of_the_third_table() -> None:
    rows = results("fevga:moultezim", sides("24:9 12 11 10 9 14 1", "24:15"), 6)
    assert "24:9 12 11 10 9 8 1" not in rows
    assert rows


def test_narde_home_mars_counts_3_until_all_of_the_loser_are_home() -> None:
    for loser, counts in (("7 6:14", 3), ("6:15", 2), ("6:14", 1)):
        assert (1, counts) == points("narde:home-mars", sides("", loser))


def test_narde_one_checker_leaves_the_head_in_a_turn() -> None:
    state = roll(playing("narde", sides("24:13 20 18", "24:15")), Seat.A, (6, 2))
    board = state.sides
    assert results("narde", board, 6, 2) == sorted(
        ["24:13 20 10", "24:13 16 14", "24:12 22 18 14", "24:12 20 18 16", "24:12 18:3"]
    )


@pytest.mark.parametrize(
    ("opponent", "forbidden"),
    [("24:15", {"narde", "narde:home"}), ("24:14 8", {"narde:home"}), ("24:14 6", set())],
    ids=["nobody beyond", "one beyond, not home", "one home"],
)
def test_narde_six_points_in_a_row_are_held_only_behind_a_checker_that_has_passed_or_come_home(
    opponent: str, forbidden: set[str]
) -> None:
    board = sides("24:4 8:2 6:2 5:2 4:2 3:2 2", opponent)
    refused = {game for game in ("narde", "narde:home") if "24:4 7 6:2 5:2 4:3 3:2 2" not in results(game, board, 4, 1)}
    assert forbidden == refused


def test_gul_bara_plays_a_series_from_the_fourth_roll_on() -> None:
    first = roll(playing("gulbara", sides("24:15", "24:15", throws=2)), Seat.A, (5, 5))
    later = roll(playing("gulbara", sides("24:15", "24:15", throws=3)), Seat.A, (5, 5))
    assert (len(first.todo), len(later.todo)) == (1, 2)


def test_misere_is_lost_by_bearing_off_all_checkers() -> None:
    assert points("misere", sides("", "24:15")) == (-1, 1)


@pytest.mark.parametrize("game", ["portes", "fevga", "narde", "gulbara", "tapa"])
def test_the_winner_of_the_opening_throw_rolls_anew_and_of_a_game_begins_the_next(game: str) -> None:
    state = roll_opening(start_match_of(load_ruleset(game), 99), 2, 5)
    assert (state.turn, state.stage) == (Seat.B, Stage.ROLL)
    *_, over = random_game(fast_evolve(load_ruleset(game)), random.Random(1))
    if over.result is not None:
        following = next_game(fast_evolve(over, length=99, scores=(0, 0)))
        assert (following.turn, following.stage) == (over.result.winner, Stage.ROLL)


def test_the_winner_of_the_opening_throw_plays_both_numbers_elsewhere() -> None:
    state = roll_opening(start_match_of(load_ruleset("plakoto"), 1), 2, 5)
    assert (state.turn, state.stage, state.dice) == (Seat.B, Stage.MOVE, (5, 2))
    assert roll_opening(start_match_of(load_ruleset("plakoto"), 1), 3, 3).stage is Stage.OPENING


def test_a_point_game_counts_checkers_by_their_quarter() -> None:
    state = playing("tabula", sides("25 24 13 12 7 6 1", ""))
    assert point_game_score(state.sides_for(Seat.A).own.row) == 4 + 4 + 3 + 2 + 2 + 1 + 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plakotto", "expected a game such as plakoto, got 'plakotto'"),
        ("plakoto:exeption", "expected exception after plakoto:, got 'exeption'"),
        ("hyper:x", "expected rethrow, winner-begins after hyper:, got 'x'"),
        ("tabula:free:exact", "expected only one of free and exact: both change the same law"),
    ],
)
def test_unknown_games_and_options_are_named(name: str, message: str) -> None:
    with pytest.raises(UnknownGameError, match=f"^{re.escape(message)}$"):
        load_ruleset(name)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_says_what_it_is_where_it_is_from_and_how_it_is_read(game: str) -> None:
    rules = load_ruleset(game)
    assert rules.name == game
    assert rules.title
    assert rules.source
    assert rules.text.strip().endswith(".")
    assert all(sentence.endswith(".") for sentence in (*rules.readings, *(it.sentence for it in rules.options)))
