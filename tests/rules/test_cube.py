"""The cube: doubles, beavers and raccoons, Crawford, and all forms of automatic doubles in the documents."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.match import MatchState, Owner
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.errors import AlreadyRolledError, CubeError, CubeRefusal, DiceError, NotYourTurnError
from fibsbot.rules.laws import FIBS, LAWS_1931, LAWS_1970, MODERN, UNLIMITED_REDOUBLES, AutomaticRaise, Laws, Level
from fibsbot.rules.permissions import redoubles_left, refusal_to_double, refusal_to_redouble
from fibsbot.rules.state import GameState, Seat, Stage

A, B = Seat.A, Seat.B


def b_to_roll(laws: Laws = FIBS, length: int = 5, scores: tuple[int, int] = (0, 0)) -> GameState:
    """Return a game in which A has opened and B may double."""
    return rules.play(rules.roll_opening(rules.start_match(laws, length, scores), 3, 1), A, Play.of((8, 5), (6, 5)))


def refused(state: GameState, seat: Seat) -> CubeRefusal:
    """Return the reason why a double is refused."""
    with pytest.raises(CubeError) as caught:
        rules.double(state, seat)
    return caught.value.refusal


# -- voluntary doubles ----------------------------------------------------------------------------------------------


def test_either_player_may_offer_the_first_double() -> None:
    for seat in Seat:
        assert Stage.DOUBLED is rules.double(evolve(b_to_roll(), turn=seat), seat).stage


def test_the_right_to_double_goes_to_the_player_who_accepted_the_last_double() -> None:
    taken = rules.take(rules.double(b_to_roll(), B), A)
    assert CubeRefusal.NOT_OWNER is refused(taken, B)
    assert 4 == rules.double(evolve(taken, turn=A), A).offered


def test_a_double_is_offered_only_on_turn_and_before_the_roll() -> None:
    """1931, 20: "only when it is the player's turn to play and before he has thrown the dice"."""
    state = b_to_roll()
    with pytest.raises(NotYourTurnError):
        rules.double(state, A)
    with pytest.raises(AlreadyRolledError):
        rules.double(rules.roll(state, B, (3, 1)), B)


def test_a_player_on_the_bar_against_a_closed_board_may_double() -> None:
    """1997: "Although he does not roll the dice, for he cannot make a move, he still has the right to double"."""
    closed = Position((*(0,) * 13, 1, *(0,) * 5, *(-2,) * 6, 1))
    assert Stage.DOUBLED is rules.double(evolve(b_to_roll(), board=closed), B).stage


def test_the_first_double_is_to_2_and_each_one_doubles_the_stakes() -> None:
    taken = rules.take(rules.double(b_to_roll(), B), A)
    assert (2, 4) == (taken.cube, rules.double(evolve(taken, turn=A), A).offered)


def test_there_is_no_limit_to_the_number_of_doubles() -> None:
    """2007: "the stakes may rise to 128, 256, and so on"."""
    assert 2048 == rules.double(evolve(b_to_roll(), cube=1024, owner=B), B).offered


def test_a_limit_can_be_agreed_upon() -> None:
    laws = evolve(MODERN, cube_limit=64)
    assert 64 == rules.double(evolve(b_to_roll(laws), cube=32), B).offered
    assert CubeRefusal.LIMIT is refused(evolve(b_to_roll(laws), cube=64), B)


def test_a_dead_cube_may_be_turned_unless_the_laws_forbid_it() -> None:
    """A player who needs one point gains nothing by doubling; FIBS allows it."""
    for laws, expected in ((FIBS, None), (evolve(FIBS, dead_cube=False), CubeRefusal.DEAD_CUBE)):
        state = evolve(b_to_roll(laws, 5), scores=(0, 4), post_crawford=True)
        assert expected is refusal_to_double(state, B)
        assert refusal_to_double(state, A) is None


def test_a_game_can_be_played_without_a_cube() -> None:
    assert CubeRefusal.NO_CUBE is refused(b_to_roll(evolve(LAWS_1931, cube=False)), B)


# -- Crawford -------------------------------------------------------------------------------------------------------


def test_no_doubles_in_the_first_game_after_a_player_comes_within_a_point() -> None:
    """2007: for one game, then normal use of the cube resumes."""
    crawford = b_to_roll(scores=(4, 2))
    assert crawford.crawford
    assert {CubeRefusal.CRAWFORD} == {refusal_to_double(crawford, seat) for seat in Seat}
    following = rules.next_game(rules.accept_resignation(rules.resign(crawford, A, Level.SINGLE), B))
    assert (False, True) == (following.crawford, following.post_crawford)
    assert refusal_to_double(following, A) is None


@pytest.mark.parametrize(
    ("length", "scores", "expected"),
    [
        (5, (3, 3), (False, False)),
        (5, (4, 3), (True, False)),
        (5, (0, 4), (True, False)),
        (5, (4, 4), (False, True)),
        (1, (0, 0), (False, False)),
        (0, (4, 3), (False, False)),
    ],
)
def test_the_crawford_game_is_inferred_from_the_score(
    length: int, scores: tuple[int, int], expected: tuple[bool, bool]
) -> None:
    state = rules.start_match(FIBS, length, scores)
    assert expected == (state.crawford, state.post_crawford)


def test_the_crawford_game_is_not_played_twice() -> None:
    state = rules.start_match(FIBS, 5, (4, 2), post_crawford=True)
    assert (False, True) == (state.crawford, state.post_crawford)


@pytest.mark.parametrize("laws", [LAWS_1931, LAWS_1970, evolve(FIBS, crawford=False)])
def test_without_the_crawford_rule_the_cube_is_always_in_use(laws: Laws) -> None:
    state = b_to_roll(laws, scores=(4, 2))
    assert (False, False) == (state.crawford, state.post_crawford)
    assert refusal_to_double(state, B) is None


# -- beavers, raccoons, otters --------------------------------------------------------------------------------------


def test_a_beaver_takes_at_twice_the_value_and_keeps_the_cube() -> None:
    beavered = rules.redouble(rules.double(b_to_roll(MODERN, 0), B), A)
    assert (2, 4, B) == (beavered.cube, beavered.offered, beavered.answering)
    taken = rules.take(beavered, B)
    assert (4, A, Stage.ROLL, B) == (taken.cube, taken.owner, taken.stage, taken.turn)


def test_a_first_double_of_a_raised_cube_is_no_beaver() -> None:
    """After an automatic double the cube is as after a double and a beaver: nobody owns it."""
    raised = evolve(b_to_roll(MODERN, 0), cube=2)
    doubled, beavered = rules.double(raised, B), rules.redouble(rules.double(b_to_roll(MODERN, 0), B), A)
    first, second = MatchState.of(doubled, A), MatchState.of(beavered, B)
    assert first
    assert second
    assert (2, Owner.CENTRED, False) == (first.cube, first.owner, first.redoubled)
    assert (2, Owner.CENTRED, True) == (second.cube, second.owner, second.redoubled)


def test_refusing_a_beaver_loses_the_accepted_double() -> None:
    dropped = rules.drop(rules.redouble(rules.double(b_to_roll(MODERN, 0), B), A), B)
    assert (2, 0) == dropped.scores


def test_the_raccoon_answers_the_beaver_and_the_cube_stays_where_it_is() -> None:
    laws = evolve(MODERN, redoubles=2)
    raccoon = rules.redouble(rules.redouble(rules.double(b_to_roll(laws, 0), B), A), B)
    assert (4, 8, A) == (raccoon.cube, raccoon.offered, raccoon.answering)
    taken = rules.take(raccoon, A)
    assert (8, A, B) == (taken.cube, taken.owner, taken.turn)


def test_instant_redoubles_are_counted_anew_for_each_double() -> None:
    taken = rules.take(rules.redouble(rules.double(b_to_roll(MODERN, 0), B), A), B)
    assert refusal_to_redouble(rules.double(evolve(taken, turn=A), A)) is None


@pytest.mark.parametrize(
    ("laws", "length", "expected"),
    [
        (FIBS, 0, CubeRefusal.NO_REDOUBLE_LEFT),
        (MODERN, 5, CubeRefusal.MATCH),
        (evolve(MODERN, cube_limit=2), 0, CubeRefusal.LIMIT),
    ],
)
def test_an_instant_redouble_is_refused_with_its_reason(laws: Laws, length: int, expected: CubeRefusal) -> None:
    doubled = rules.double(b_to_roll(laws, length), B)
    with pytest.raises(CubeError) as caught:
        rules.redouble(doubled, A)
    assert expected is caught.value.refusal
    state = MatchState.of(doubled, A)
    assert state is not None
    assert 0 == state.redoubles


def test_the_number_of_instant_redoubles_is_the_agreed_one() -> None:
    for most in range(5):
        state = rules.double(b_to_roll(evolve(FIBS, redoubles=most), 0), B)
        for used in range(most):
            assert state.answering is not None
            seen = MatchState.of(state, state.answering)
            assert seen is not None
            assert most - used == seen.redoubles
            state = rules.redouble(state, state.answering)
        assert CubeRefusal.NO_REDOUBLE_LEFT is refusal_to_redouble(state)


def test_the_limit_of_the_cube_limits_the_redoubles_left() -> None:
    before = b_to_roll(evolve(FIBS, redoubles=UNLIMITED_REDOUBLES, cube_limit=16), 0)
    seen = MatchState.of(rules.double(before, B), A)
    assert seen is not None
    assert 3 == seen.redoubles == redoubles_left(before)


@pytest.mark.parametrize(("jacoby", "length"), [(True, 0), (True, 5), (False, 0), (False, 5)])
def test_a_decision_has_the_jacoby_rule_only_in_unlimited_matches(length: int, *, jacoby: bool) -> None:
    seen = MatchState.of(b_to_roll(evolve(FIBS, jacoby=jacoby), length), B)
    assert seen is not None
    assert (jacoby and not length, 0) == (seen.jacoby, seen.resignation)


# -- automatic doubles ----------------------------------------------------------------------------------------------


def tied(laws: Laws, times: int, length: int = 0) -> GameState:
    """Return a game after this many ties in the opening roll."""
    state = rules.start_match(laws, length)
    for _ in range(times):
        state = rules.roll_opening(state, 2, 2)
    return state


def test_ties_raise_nothing_unless_it_was_agreed() -> None:
    for laws in (LAWS_1931, LAWS_1970, MODERN, FIBS):
        assert 1 == tied(laws, 3).cube


def test_law_20_each_tie_doubles_the_count() -> None:
    assert [1, 2, 4, 8] == [tied(evolve(LAWS_1970, automatic=AutomaticRaise.DOUBLE), n).cube for n in range(4)]


def test_law_20_of_1931_each_tie_adds_one_to_the_count() -> None:
    laws = evolve(LAWS_1931, automatic=AutomaticRaise.ADD_ONE)
    assert [1, 2, 3, 4] == [tied(laws, n).cube for n in range(4)]
    raised = rules.roll_opening(tied(laws, 2), 3, 1)
    assert 6 == rules.double(rules.play(raised, A, Play.of((8, 5), (6, 5))), B).offered


@pytest.mark.parametrize(("automatic", "expected"), [(AutomaticRaise.DOUBLE, 2), (AutomaticRaise.ADD_ONE, 3)])
def test_law_20_automatic_raises_end_with_the_limit(automatic: AutomaticRaise, expected: int) -> None:
    assert expected == tied(evolve(LAWS_1931, automatic=automatic, automatic_limit=3), 9).cube


def test_the_cube_stays_centred_after_an_automatic_double() -> None:
    """Primer: "no one gains possession of the cube, which stays in the middle of the board"."""
    assert tied(evolve(MODERN, automatic=AutomaticRaise.DOUBLE), 3).owner is None


def test_the_cube_is_put_away_in_the_crawford_game() -> None:
    state = rules.start_match(evolve(FIBS, automatic=AutomaticRaise.DOUBLE), 5, (4, 0))
    assert 1 == rules.roll_opening(state, 2, 2).cube


# -- rejecting the first roll ---------------------------------------------------------------------------------------

REJECTING = evolve(MODERN, reject_first_throw=True)


def test_each_player_may_reject_the_first_roll_which_doubles_the_count() -> None:
    """Primer: "reject the first roll and double the cube to get another chance"."""
    rejected = rules.reject_roll(rules.roll_opening(rules.start_match(REJECTING, 0), 2, 1), A)
    assert (2, None, Stage.ROLL, A) == (rejected.cube, rejected.owner, rejected.stage, rejected.turn)
    assert CubeRefusal.ALREADY_ROLLED is refused(rejected, A)
    second = rules.play(rules.roll(rejected, A, (3, 1)), A, Play.of((8, 5), (6, 5)))
    again = rules.reject_roll(rules.roll(second, B, (2, 1)), B)
    assert (4, None, B) == (again.cube, again.owner, again.turn)


def test_the_second_roll_has_to_be_played() -> None:
    rejected = rules.reject_roll(rules.roll_opening(rules.start_match(REJECTING, 0), 2, 1), A)
    with pytest.raises(DiceError):
        rules.reject_roll(rules.roll(rejected, A, (4, 1)), A)


def test_only_the_first_roll_of_each_player_can_be_rejected() -> None:
    state = rules.play(rules.roll_opening(rules.start_match(REJECTING, 0), 3, 1), A, Play.of((8, 5), (6, 5)))
    state = rules.play(rules.roll(state, B, (3, 1)), B, Play.of((8, 5), (6, 5)))
    with pytest.raises(DiceError):
        rules.reject_roll(rules.roll(state, A, (2, 1)), A)


def test_a_roll_cannot_be_rejected_once_the_cube_has_an_owner_or_reached_its_limit() -> None:
    state = rules.take(rules.double(b_to_roll(REJECTING, 0), B), A)
    with pytest.raises(DiceError):
        rules.reject_roll(rules.roll(state, B, (2, 1)), B)
    limited = evolve(REJECTING, automatic_limit=1)
    with pytest.raises(DiceError):
        rules.reject_roll(rules.roll_opening(rules.start_match(limited, 0), 2, 1), A)
