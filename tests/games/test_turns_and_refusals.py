"""What may be done when within a turn of several parts, and which law a refusal names."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import SidesTextError, parse_sides
from fibsbot.position import Play
from fibsbot.rules.errors import (
    AlreadyRolledError,
    AnyLaw,
    CubeError,
    CubeRefusal,
    DiceError,
    IllegalPlayError,
    Law,
    NothingToAnswerError,
    ResignationPendingError,
)
from fibsbot.rules.game import (
    accept_resignation,
    choices,
    double,
    name,
    play,
    resign,
    roll,
    roll_contest,
    roll_opening,
    start_match_of,
)
from fibsbot.rules.general_plays import AS_MANY, EACH_ONCE, HIGHEST_SUM, LOWER_FIRST, ONE_CHECKER, can_move, check_play
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import refusal_to_double
from fibsbot.rules.ruleset import Opening, Part
from fibsbot.rules.shared_laws import HELD, PINNED, UNDER
from fibsbot.rules.sides import Mark, Sides
from fibsbot.rules.state import Seat, Stage
from tests.games.boards import results, sides
from tests.games.test_historic_sentences import after, playing

ONE_SIDED = sides("20 1:14", "24:15")


@pytest.mark.parametrize(
    ("game", "board", "part", "moves", "law"),
    [
        ("russian2", sides("13 1:14", "24:13 15:2"), Part((3, 6), ordered=True), [(13, 7)], LOWER_FIRST),
        ("russian2", sides("13 1:14", "24:15"), Part((3, 6), ordered=True), [(13, 10)], Law.BOTH_NUMBERS),
        ("swedish", sides("24:14 20", "24:15"), Part((2,) * 4, one_checker=True), [(24, 22), (20, 18)], ONE_CHECKER),
        ("irish", sides("20 10 1:13", "24:15"), Part((3, 3)), [(20, 17), (17, 14), (10, 7)], EACH_ONCE),
        ("irish", sides("20 10 1:13", "24:15"), Part((3, 3)), [(20, 17)], AS_MANY),
        ("portes", sides("20 10 1:13", "24:15"), Part((3,) * 4), [(20, 17)], Law.WHOLE_DOUBLE),
        ("portes", sides("20 10 1:13", "24:15"), Part((3, 1)), [], Law.MUST_PLAY),
        ("portes", sides("20 10 1:13", "24:15"), Part((3, 1)), [(10, 13)], Law.WRONG_DIRECTION),
        ("portes", sides("5 4 1:13", "24:13 22:2"), Part((6, 1)), [(4, 0)], Law.HIGHER_POINT),
        ("tabula", sides("24 1:14", "21:2 20:2 15:2"), Part((6, 4, 3)), [(24, 17)], Law.NOT_ROLLED),
        ("tabula", sides("24 1:14", "20:2 19:2 16:2"), Part((5, 4, 3)), [(24, 20)], Law.POINT_HELD),
        ("tabula", sides("24 1:14", "20:2 17:2 16:2 15:2"), Part((5, 4, 3)), [(24, 21)], HIGHEST_SUM),
        ("around", sides("2", "24:13 4:2"), Part((6,)), [(2, 21)], Law.POINT_HELD),
        ("around", sides("2", "24:15"), Part((5,)), [(2, 21)], Law.NOT_ROLLED),
        ("around", sides("9 2", "24:15"), Part((6,)), [(2, 21)], Law.TOO_EARLY),
        ("portes:tavla", sides("7 4:14", "24:14 20"), Part((2, 1)), [(7, 5), (5, 4)], HELD),
        ("plakoto", sides("20 1:14", "24:14 5", pinned=(20,)), Part((4,)), [(20, 16)], PINNED),
        ("plakoto", sides("22 20 1:13", "24:14 5", pinned=(20,)), Part((2,)), [(22, 20)], UNDER),
    ],
)
def test_a_refusal_names_the_law_that_forbids_the_play(
    game: str, board: Sides, part: Part, moves: list[tuple[int, int]], law: AnyLaw
) -> None:
    with pytest.raises(IllegalPlayError) as caught:
        check_play(load_ruleset(game), board, part, Play.of(*moves))
    assert caught.value.law == law


def test_nobody_doubles_or_rolls_while_something_is_named_and_doubles_only_before_the_first_roll() -> None:
    state = playing("acey-deucey:cube", sides("10:15", "24:15"))
    assert double(state, Seat.A).stage is Stage.DOUBLED
    named = after(roll(state, Seat.A, (2, 1)), (10, 8), (10, 9))
    with pytest.raises(AlreadyRolledError):
        double(named, Seat.A)
    with pytest.raises(AlreadyRolledError):
        roll(named, Seat.A, (6, 5))
    again = after(name(named, Seat.A, 1), (10, 9), (9, 8), (10, 9), (9, 8))
    assert (again.stage, refusal_to_double(again, Seat.A)) == (Stage.ROLL, CubeRefusal.ALREADY_ROLLED)
    with pytest.raises(CubeError):
        double(again, Seat.A)
    ended = after(roll(again, Seat.A, (6, 5)), (10, 4), (10, 5))
    assert double(ended, Seat.B).stage is Stage.DOUBLED


def test_nothing_is_named_or_rolled_for_while_a_resignation_waits_or_after_it() -> None:
    named = after(roll(playing("acey-deucey", sides("10:15", "24:15")), Seat.A, (2, 1)), (10, 8), (10, 9))
    contest = fast_evolve(playing("irish:binding", sides("6:5 5:2 4:2 3:2 2:2 1:2", "25 13:14")), stage=Stage.CONTEST)
    for state in (named, contest):
        offered = resign(state, Seat.B, Level.SINGLE)
        with pytest.raises(ResignationPendingError):
            name(offered, Seat.A, 1)
        with pytest.raises(ResignationPendingError):
            roll_contest(offered, 3, 4)
        assert choices(accept_resignation(offered, Seat.A)) == ()
    with pytest.raises(NothingToAnswerError):
        name(contest, Seat.A, 6)


def test_acey_deucey_without_a_double_to_name_goes_on_to_the_next_roll_unless_it_needs_all_moves() -> None:
    board = sides("24 1:14", "23:3 10:2 9:2 8:2 7:2 6:2 5:2")
    for game, seat in (("acey-deucey", Seat.A), ("acey-deucey:extra-needs-all", Seat.B)):
        stuck = after(roll(playing(game, board), Seat.A, (2, 1)), (24, 22), (22, 21))
        assert (stuck.stage, stuck.turn) == (Stage.ROLL, seat)


def test_a_binder_names_no_point_after_winning() -> None:
    won = after(roll(playing("irish:binding", sides("1", "25 13:14")), Seat.A, (6, 5)), (1, 0))
    assert (won.stage, won.naming) == (Stage.OVER, None)


def test_a_game_can_be_won_in_the_middle_of_a_turn() -> None:
    won = after(roll(playing("russian1", sides("1", "24:15", marks=Mark.STARTED)), Seat.A, (3, 3)), (1, 0))
    assert (won.stage, won.todo, won.result and won.result.winner) == (Stage.OVER, (), Seat.A)


def test_gioul_the_opponent_who_can_play_nothing_of_what_passes_to_him_rolls() -> None:
    blocked = fast_evolve(playing("gioul", sides("24", "6:15")), stage=Stage.MOVE, passed=True)
    rolls = play(fast_evolve(blocked, todo=(Part((5,)), Part((6,) * 4))), Seat.A, Play())
    assert (rolls.turn, rolls.stage, rolls.passed, rolls.throws) == (Seat.A, Stage.ROLL, False, 0)


def test_gioul_the_opponent_may_win_by_what_passes_to_him() -> None:
    passed = fast_evolve(playing("gioul", sides("1", "24:15")), stage=Stage.MOVE, passed=True, todo=(Part((5, 5, 5)),))
    won = after(passed, (1, 0))
    assert won.result is not None
    assert (won.result.winner, won.result.level) == (Seat.A, Level.BACKGAMMON)


def test_what_is_offered_may_be_left_and_whether_a_checker_can_move_is_known() -> None:
    offered = Part((5,), compulsory=False)
    assert can_move(load_ruleset("gioul"), ONE_SIDED, offered)
    assert not can_move(load_ruleset("gioul"), sides("24", "6:15"), offered)
    assert check_play(load_ruleset("gioul"), ONE_SIDED, offered, Play()) == (Play(), ONE_SIDED)


def test_gul_bara_passes_on_a_series_but_no_early_double() -> None:
    board = sides("24 1:14", "24:13 2 12", throws=2)
    for throws, turn, stage in ((2, Seat.B, Stage.ROLL), (3, Seat.B, Stage.MOVE)):
        state = playing("gulbara:passes", Sides(fast_evolve(board.own, throws=throws), board.opponent))
        stopped = after(roll(state, Seat.A, (5, 5)), (24, 19))
        assert (stopped.turn, stopped.stage) == (turn, stage)


def test_swedish_while_releases_only_as_long_as_a_checker_stands_there() -> None:
    there = sides("24:9 20 14 13 11 10 9", "24:15", marks=Mark.RELEASED | Mark.FIVE_LEFT)
    assert "24:9 20 14 11 10:2 9" in results("swedish:while", there, 3)
    left = check_play(load_ruleset("swedish:while"), there, Part((3,)), Play.of((13, 10)))[1]
    assert "24:9 20 14 10:3 9" not in results("swedish:while", left, 1)
    assert "24:9 20 14 10:3 9" in results("swedish", Sides(left.own.marked(Mark.RELEASED), left.opponent), 1)
    assert Mark.RELEASED not in left.own.marks


def test_swedish_any_captures_all_checkers_of_a_point_in_a_block_of_six() -> None:
    board = sides("24:10 21:5", "24:2 8:2 7:3 6:2 5:2 4:2 3:2", marks=Mark.RELEASED | Mark.FIVE_LEFT)
    assert "24:10 21:4 19 *3" in results("swedish:any", board, 2)
    assert "24:10 21:4 19 *3" not in results("swedish", board, 2)


def test_greek_pinned_stops_keeps_others_from_being_borne_off() -> None:
    board = sides("3 2", "24:14 22", pinned=(3,))
    assert (results("greek", board, 2), results("greek:pinned-stops", board, 2)) == (["3"], [])


def test_every_game_has_the_common_options_that_change_it() -> None:
    assert load_ruleset("Tabula:exact:cube") is load_ruleset("tabula:cube:exact")
    assert load_ruleset("tabula:winner-begins").winner_begins
    assert load_ruleset("swedish:both").opening is Opening.BOTH
    assert load_ruleset("buff:rethrow:two-dice").opening is Opening.RETHROW
    both = load_ruleset("plakoto:cube:no-triple")
    assert (both.laws.cube, both.laws.triple, both.full_name) == (True, False, "plakoto:cube:no-triple")


def test_a_game_is_the_same_object_even_when_the_cache_has_forgotten_its_name() -> None:
    """The cache holds 128 names, and there are a thousand; a match would have gone on with another ruleset."""
    first = load_ruleset("tabula:exact")
    load_ruleset.cache_clear()
    assert load_ruleset("tabula:exact") is first


@pytest.mark.parametrize("name_", ["plakoto", "tabula:exact:cube", "nackgammon", "fevga:moultezim"])
def test_a_game_survives_pickling_and_copying_as_the_same_object(name_: str) -> None:
    rules = load_ruleset(name_)
    state = start_match_of(rules, 5)
    pickled = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
    for copied in (pickled, copy.deepcopy(state), copy.copy(state)):
        assert (copied == state, copied.rules is rules) == (True, True)


def test_only_games_are_pickled_by_their_name() -> None:
    plakoto = load_ruleset("plakoto")
    for changed in (fast_evolve(plakoto, winner_begins=False), fast_evolve(plakoto, name="mine")):
        assert copy.deepcopy(changed) is copy.copy(changed) is changed
        with pytest.raises(pickle.PicklingError, match="expected a game as `load_ruleset` returns it"):
            pickle.dumps(changed)


@pytest.mark.parametrize("game", ["portes", "nackgammon"])
@pytest.mark.parametrize("dice", [(9, 3), (3, 0), (7, 7), (0, 0)])
def test_an_opening_roll_has_two_dice_from_1_to_6(game: str, dice: tuple[int, int]) -> None:
    with pytest.raises(DiceError, match="expected two dice, each 1 to 6"):
        roll_opening(start_match_of(load_ruleset(game), 5), *dice)


@pytest.mark.parametrize("totals", [(13, 2), (7, 1), (99, 99)])
def test_a_contest_is_rolled_with_two_dice_each(totals: tuple[int, int]) -> None:
    contest = fast_evolve(playing("irish:binding", sides("6:15", "25 13:14")), stage=Stage.CONTEST)
    with pytest.raises(DiceError, match="expected the totals of two dice each, 2 to 12"):
        roll_contest(contest, *totals)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24:10 24:5 / 24:15", "expected each place and each fact once, got 24 twice: '24:5'"),
        ("24:14 23 / 20:2 19 20 18:11", "expected each place and each fact once, got 20 twice: '20'"),
        ("24:15 throws=1 throws=2 / 24:15", "expected each place and each fact once, got throws twice: 'throws=2'"),
    ],
)
def test_a_place_or_a_fact_that_is_given_twice_is_refused(text: str, message: str) -> None:
    """The second count had replaced the first, and the other checkers were taken for borne off."""
    with pytest.raises(SidesTextError, match=re.escape(message)):
        parse_sides(text, load_ruleset("plakoto"))
