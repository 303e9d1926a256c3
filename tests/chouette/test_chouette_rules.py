"""Chouette: each sentence of MacGregor's section, the readings where it is silent, and random games."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fibsbot.chouette.rules import (
    BOX,
    TEAM,
    Casting,
    Chouette,
    act,
    begin_casting,
    cast,
    drop,
    follow,
    next_game,
    next_order,
    resign,
    start,
    take,
    withdraw,
)
from fibsbot.match import Dice
from fibsbot.position import Play, Position
from fibsbot.rules import game
from fibsbot.rules.errors import (
    CubeError,
    DiceError,
    DoublePendingError,
    GameOverError,
    GameRunningError,
    NotYourTurnError,
    RuleError,
)
from fibsbot.rules.laws import MODERN, Level
from fibsbot.rules.permissions import refusal_to_double
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Stage
from tests.examples import examples
from tests.hypothesis_strategies import dice


def roll_opening(state: Chouette, box_die: int, captain_die: int) -> Chouette:
    """Roll one die for the box and one for the captain."""
    return follow(state, game.roll_opening(state.game, box_die, captain_die))


def roll(state: Chouette, player: str, numbers: Dice) -> Chouette:
    """Roll the dice for the side on turn."""
    return act(state, player, game.roll, numbers)


def play(state: Chouette, player: str, chosen: Play) -> Chouette:
    """Make a play for the side on turn."""
    return act(state, player, game.play, chosen)


def double(state: Chouette, player: str) -> Chouette:
    """Offer a double for a side."""
    return act(state, player, game.double)


def accept_resignation(state: Chouette, player: str) -> Chouette:
    """Accept the other side's offer to resign."""
    return act(state, player, game.accept_resignation)


def reject_resignation(state: Chouette, player: str) -> Chouette:
    """Reject the other side's offer to resign."""
    return act(state, player, game.reject_resignation)


ANN, BEN, CAT, DAN = PLAYERS = ("ann", "ben", "cat", "dan")
"""ann is in the box, ben is captain."""
NEW = start(PLAYERS)
BOX_PLAYS = roll_opening(NEW, 3, 1)
BOX_TO_ROLL = play(roll_opening(NEW, 1, 3), BEN, Play.of((8, 5), (6, 5)))
TEAM_TO_ROLL = play(BOX_PLAYS, ANN, Play.of((8, 5), (6, 5)))
BOX_DOUBLED = double(BOX_TO_ROLL, ANN)
TEAM_DOUBLED = double(TEAM_TO_ROLL, BEN)
LAST_CHECKER = Position.from_sides(own=[1, *[0] * 24], opponent=[1, *[0] * 24])
"""Both sides have one checker left, on their ace points, and have borne off the others."""


def answered(state: Chouette, **answers: bool) -> Chouette:
    """Return the state after these members have answered the box's double: whether each takes."""
    for member, takes in answers.items():
        state = (take if takes else drop)(state, member)
    return state


def won_by(state: Chouette, player: str) -> Chouette:
    """Return the state after a single game is borne off by the box or the captain, who is put on turn."""
    seat = BOX if player == state.box else TEAM
    game = evolve(state.game, board=LAST_CHECKER, turn=seat, stage=Stage.ROLL)
    return play(roll(evolve(state, game=game), player, (2, 1)), player, Play.of((1, 0)))


CAT_PASSED = answered(BOX_DOUBLED, ben=True, cat=False, dan=True)
CAPTAIN_PASSED = answered(BOX_DOUBLED, ben=False, cat=True, dan=True)
ALL_PASSED = answered(BOX_DOUBLED, ben=False, cat=False, dan=False)


# -- the sentences --------------------------------------------------------------------------------------------------


def test_sentence_1_more_than_two_players_can_join() -> None:
    for count in range(3, 7):
        assert count == len(start([f"p{number}" for number in range(count)]).order)
    for count in (2, 7):
        with pytest.raises(RuleError, match=f"expected 3 to 6 players, got {count}"):
            start([f"p{number}" for number in range(count)])


def test_sentence_2_the_team_shares_a_betting_interest_in_one_side() -> None:
    for winner in (ANN, BEN):
        ledger = won_by(BOX_TO_ROLL, winner).ledger
        assert ledger[BEN] == ledger[CAT] == ledger[DAN] == (-1 if winner == ANN else 1)


def test_sentence_3_each_player_casts_a_die_for_the_order_and_ties_are_cast_again_among_the_tied() -> None:
    casting = begin_casting(PLAYERS)
    assert PLAYERS == casting.tied
    casting = cast(casting, {ANN: 2, BEN: 5, CAT: 2, DAN: 5})
    assert (BEN, DAN, ANN, CAT) == casting.tied
    casting = cast(casting, {ANN: 1, BEN: 1, CAT: 6, DAN: 6})
    assert Casting(((DAN,), (BEN,), (CAT,), (ANN,))) == casting
    assert () == casting.tied
    for wrong in ({ANN: 1}, {}, dict.fromkeys((*PLAYERS, "eve"), 1)):
        with pytest.raises(RuleError, match="expected one die each for ann, ben, cat, dan, got"):
            cast(begin_casting(PLAYERS), wrong)
    with pytest.raises(DiceError, match=f"expected a die of 1 to 6 for {DAN}, got 7"):
        cast(begin_casting(PLAYERS), {ANN: 1, BEN: 2, CAT: 3, DAN: 7})


def test_sentence_4_the_player_with_the_highest_roll_is_in_the_box_and_competes_against_the_others() -> None:
    casting = cast(begin_casting(PLAYERS), {ANN: 2, BEN: 3, CAT: 6, DAN: 1})
    state = start(casting.order)
    assert (CAT, {BEN, ANN, DAN}) == (state.box, set(state.team))


def test_sentence_5_the_player_with_the_next_highest_roll_is_captain_and_rolls_against_the_box() -> None:
    casting = cast(begin_casting(PLAYERS), {ANN: 2, BEN: 3, CAT: 6, DAN: 1})
    state = start(casting.order)
    assert BEN == state.captain
    assert CAT == roll_opening(state, 4, 2).to_act
    assert BEN == roll_opening(state, 2, 4).to_act
    assert None is roll_opening(state, 2, 2).to_act


def test_sentence_6_team_members_advise_and_the_captain_decides() -> None:
    assert [False, True, True, True] == [NEW.may_advise(player) for player in PLAYERS]
    with pytest.raises(NotYourTurnError, match="ben is the captain and acts for the team"):
        roll(TEAM_TO_ROLL, CAT, (6, 5))
    assert BEN == roll(TEAM_TO_ROLL, BEN, (6, 5)).to_act


def test_sentence_7_a_box_that_wins_stays_in_the_box() -> None:
    assert ANN == next_game(won_by(BOX_TO_ROLL, ANN)).box


def test_sentence_8_the_member_with_the_next_highest_roll_then_replaces_the_captain() -> None:
    assert CAT == next_game(won_by(BOX_TO_ROLL, ANN)).captain


def test_sentence_9_the_captain_goes_to_the_bottom_of_the_rotation() -> None:
    state = won_by(BOX_TO_ROLL, ANN)
    assert (ANN, CAT, DAN, BEN) == next_order(state)
    again = won_by(roll_opening(next_game(state), 6, 1), ANN)
    assert (ANN, DAN, BEN, CAT) == next_order(again)


def test_sentence_10_the_team_doubles_all_together_or_not_at_all() -> None:
    with pytest.raises(NotYourTurnError):
        double(TEAM_TO_ROLL, CAT)
    assert ANN == TEAM_DOUBLED.to_act
    taken = take(TEAM_DOUBLED, ANN)
    assert (2, BOX) == (taken.game.cube, taken.game.owner)
    assert {ANN: 6, BEN: -2, CAT: -2, DAN: -2} == won_by(taken, ANN).ledger
    assert {ANN: -3, BEN: 1, CAT: 1, DAN: 1} == drop(TEAM_DOUBLED, ANN).ledger


def test_sentence_11_each_member_takes_or_passes_the_double_of_the_box() -> None:
    state = BOX_DOUBLED
    for member, answer in ((BEN, take), (CAT, drop), (DAN, take)):
        assert member == state.to_act
        state = answer(state, member)
    assert (ANN, (BEN, DAN), 2, TEAM) == (state.to_act, state.in_game, state.game.cube, state.game.owner)


def test_sentence_12_who_drops_out_loses_the_value_before_the_double_and_advises_no_more() -> None:
    assert {ANN: 1, BEN: 0, CAT: -1, DAN: 0} == CAT_PASSED.ledger
    assert [True, False, True] == [CAT_PASSED.may_advise(member) for member in (BEN, CAT, DAN)]
    assert {ANN: 5, BEN: -2, CAT: -1, DAN: -2} == won_by(CAT_PASSED, ANN).ledger
    assert {ANN: -3, BEN: 2, CAT: -1, DAN: 2} == won_by(CAT_PASSED, BEN).ledger


def test_sentence_13_if_the_captain_drops_out_the_next_in_the_rotation_is_captain() -> None:
    assert CAT == CAPTAIN_PASSED.captain
    two_passed = answered(BOX_DOUBLED, ben=False, cat=False, dan=True)
    assert DAN == two_passed.captain
    turn = roll(evolve(CAPTAIN_PASSED, game=evolve(CAPTAIN_PASSED.game, turn=TEAM)), CAT, (6, 5))
    assert CAT == turn.to_act
    with pytest.raises(NotYourTurnError, match="cat is the captain"):
        play(turn, BEN, Play.of((24, 18), (18, 13)))


def test_sentence_14_who_drops_out_does_not_lose_his_place_in_the_rotation() -> None:
    assert (ANN, CAT, DAN, BEN) == next_order(won_by(CAT_PASSED, ANN))
    assert (BEN, CAT, DAN, ANN) == next_order(won_by(CAT_PASSED, BEN))
    assert (ANN, BEN, DAN, CAT) == next_order(won_by(CAPTAIN_PASSED, ANN))
    assert (CAT, BEN, DAN, ANN) == next_order(won_by(CAPTAIN_PASSED, CAT))


def test_sentence_15_the_player_who_wins_is_the_next_man_in_the_box() -> None:
    assert ANN == next_game(won_by(BOX_TO_ROLL, ANN)).box
    assert BEN == next_game(won_by(BOX_TO_ROLL, BEN)).box
    assert CAT == next_game(won_by(CAPTAIN_PASSED, CAT)).box
    assert BEN == next_game(drop(TEAM_DOUBLED, ANN)).box
    assert ANN == next_game(ALL_PASSED).box


# -- readings -------------------------------------------------------------------------------------------------------


def test_if_all_pass_the_game_ends_and_the_captain_goes_to_the_bottom() -> None:
    assert ALL_PASSED.over
    assert {ANN: 3, BEN: -1, CAT: -1, DAN: -1} == ALL_PASSED.ledger
    assert (ANN, CAT, DAN, BEN) == next_order(ALL_PASSED)


def test_with_the_option_a_captain_who_dropped_goes_to_the_bottom() -> None:
    state = evolve(CAPTAIN_PASSED, dropped_captain_last=True)
    assert (ANN, DAN, BEN, CAT) == next_order(won_by(state, ANN))
    assert (CAT, DAN, ANN, BEN) == next_order(won_by(state, CAT))


def test_a_gammon_counts_the_cube_twice_with_each_member() -> None:
    offered = resign(take(TEAM_DOUBLED, ANN), ANN, Level.GAMMON)
    assert BEN == offered.to_act
    assert {ANN: -12, BEN: 4, CAT: 4, DAN: 4} == accept_resignation(offered, BEN).ledger
    offered = resign(CAPTAIN_PASSED, CAT, Level.BACKGAMMON)
    assert ANN == offered.to_act
    assert {ANN: 13, BEN: -1, CAT: -6, DAN: -6} == accept_resignation(offered, ANN).ledger
    assert CAPTAIN_PASSED == reject_resignation(offered, ANN)


def test_a_double_is_answered_once_in_turn_and_nobody_resigns_meanwhile() -> None:
    for answer in (take, drop):
        with pytest.raises(NotYourTurnError, match="ben has to answer the double first"):
            answer(BOX_DOUBLED, CAT)
        with pytest.raises(NotYourTurnError):
            answer(BOX_DOUBLED, ANN)
        with pytest.raises(NotYourTurnError):
            answer(take(BOX_DOUBLED, BEN), BEN)
        with pytest.raises(NotYourTurnError):
            answer(TEAM_DOUBLED, BEN)
    for state, player in ((BOX_DOUBLED, BEN), (BOX_DOUBLED, ANN), (TEAM_DOUBLED, BEN)):
        with pytest.raises(DoublePendingError):
            resign(state, player, Level.SINGLE)


def test_the_cube_belongs_to_one_side_and_beavers_and_jacoby_are_off() -> None:
    with pytest.raises(CubeError):
        double(CAT_PASSED, ANN)
    for laws in (MODERN, evolve(MODERN, jacoby=False), evolve(MODERN, redoubles=0)):
        with pytest.raises(RuleError, match="neither the Jacoby rule nor instant redoubles"):
            start(PLAYERS, laws=laws)


def test_states_can_be_members_of_a_set_with_their_ledger() -> None:
    other = evolve(NEW, ledger={"ann": 3, "ben": -1, "cat": -1, "dan": -1})
    assert {NEW, other, evolve(NEW)} == {other, NEW}


def test_a_player_who_does_not_come_back_loses_the_value_of_the_cube() -> None:
    without_cat = withdraw(TEAM_TO_ROLL, CAT)
    assert ({ANN: 1, BEN: 0, CAT: -1, DAN: 0}, BEN) == (without_cat.ledger, without_cat.to_act)
    without_captain = withdraw(TEAM_TO_ROLL, BEN)
    assert (CAT, CAT) == (without_captain.captain, without_captain.to_act)
    asked = withdraw(BOX_DOUBLED, BEN)
    assert ({ANN: 1, BEN: -1, CAT: 0, DAN: 0}, CAT) == (asked.ledger, asked.to_act)
    without_box = withdraw(BOX_DOUBLED, ANN)
    assert (True, {ANN: -3, BEN: 1, CAT: 1, DAN: 1}) == (without_box.over, without_box.ledger)
    nobody = withdraw(withdraw(without_captain, CAT), DAN)
    assert (True, {ANN: 3, BEN: -1, CAT: -1, DAN: -1}) == (nobody.over, nobody.ledger)
    assert (ANN, BEN, CAT, DAN) == next_order(nobody)
    for state, player, error in ((nobody, ANN, GameOverError), (without_cat, CAT, RuleError), (NEW, "eve", RuleError)):
        with pytest.raises(error):
            withdraw(state, player)


def test_a_captain_who_withdraws_takes_the_resignation_of_the_team_back() -> None:
    assert None is withdraw(resign(TEAM_TO_ROLL, BEN, Level.SINGLE), BEN).game.resignation
    assert withdraw(resign(TEAM_TO_ROLL, BEN, Level.SINGLE), CAT).game.resignation
    assert withdraw(resign(TEAM_TO_ROLL, ANN, Level.SINGLE), BEN).game.resignation


def test_between_games_players_leave_with_their_points_and_newcomers_go_to_the_bottom() -> None:
    state = next_game(won_by(CAT_PASSED, BEN), (ANN, CAT, DAN, "eve"))
    assert (CAT, DAN, ANN, "eve") == state.order
    assert {ANN: -3, BEN: 2, CAT: -1, DAN: 2, "eve": 0} == state.ledger
    with pytest.raises(RuleError, match="expected 3 to 6 players, got 2"):
        next_game(won_by(CAT_PASSED, BEN), (ANN, CAT))
    for running in (NEW, BOX_DOUBLED):
        with pytest.raises(GameRunningError):
            next_game(running)


# -- random games ---------------------------------------------------------------------------------------------------


class Table(RuleBasedStateMachine):
    """A table at which everybody tries everything."""

    state: Chouette = NEW
    players: tuple[str, ...] = PLAYERS

    @initialize(count=st.integers(3, 6), last=st.booleans())
    def open(self, count: int, *, last: bool) -> None:
        """Choose the number of players and the option."""
        self.players = tuple("abcdef"[:count])
        self.state = start(self.players, dropped_captain_last=last)

    def attempt(self, player: str, *others: Callable[[Chouette, str], Chouette]) -> None:
        """Check that the actions of players whose decision it is not are refused and change nothing."""
        for other in self.state.order:
            if other != player:
                for action in others:
                    before = (self.state, dict(self.state.ledger))
                    with pytest.raises(RuleError):
                        action(self.state, other)
                    assert before == (self.state, dict(self.state.ledger))

    def at(self, stage: Stage) -> bool:
        """Return whether the game is in a stage and no resignation waits."""
        return self.state.game.stage is stage and self.state.game.resignation is None

    def actor(self) -> str:
        """Return the player whose decision it is."""
        assert self.state.to_act is not None
        return self.state.to_act

    @precondition(lambda self: self.at(Stage.OPENING))
    @rule(numbers=dice())
    def roll_for_the_first_turn(self, numbers: Dice) -> None:
        """Roll one die for the box and one for the captain."""
        self.state = roll_opening(self.state, *numbers)

    @precondition(lambda self: self.at(Stage.ROLL))
    @rule(numbers=dice(), doubling=st.booleans())
    def roll_or_double(self, numbers: Dice, *, doubling: bool) -> None:
        """Double if allowed, else roll; nobody else may."""
        player = self.actor()
        self.attempt(player, double, lambda state, other: roll(state, other, numbers))
        seat = BOX if player == self.state.box else TEAM
        if doubling and refusal_to_double(self.state.game, seat) is None:
            self.state = double(self.state, player)
        else:
            self.state = roll(self.state, player, numbers)

    @precondition(lambda self: self.at(Stage.MOVE))
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        """Make any legal play; nobody else may."""
        game = self.state.game
        assert game.dice is not None
        plays = legal_plays(game.position, game.dice)
        chosen = data.draw(st.sampled_from(plays)) if plays else Play()
        self.attempt(self.actor(), lambda state, other: play(state, other, chosen))
        self.state = play(self.state, self.actor(), chosen)

    @precondition(lambda self: self.at(Stage.DOUBLED))
    @rule(takes=st.booleans())
    def answer(self, *, takes: bool) -> None:
        """Take or pass; nobody else may."""
        self.attempt(self.actor(), take, drop)
        self.state = (take if takes else drop)(self.state, self.actor())

    @precondition(lambda self: self.state.game.stage in {Stage.ROLL, Stage.MOVE} and not self.state.game.resignation)
    @rule(by_box=st.booleans(), level=st.sampled_from(Level))
    def give_up(self, level: Level, *, by_box: bool) -> None:
        """Offer to resign, for the box or for the team."""
        self.state = resign(self.state, self.state.box if by_box else self.state.captain, level)

    @precondition(lambda self: self.state.game.resignation is not None)
    @rule(accepted=st.booleans())
    def answer_resignation(self, *, accepted: bool) -> None:
        """Accept or reject; nobody else may."""
        self.attempt(self.actor(), accept_resignation, reject_resignation)
        self.state = (accept_resignation if accepted else reject_resignation)(self.state, self.actor())

    @precondition(lambda self: not self.state.over)
    @rule(data=st.data())
    def stay_away(self, data: st.DataObject) -> None:
        """Drop a player who has disappeared."""
        self.state = withdraw(self.state, data.draw(st.sampled_from((self.state.box, *self.state.in_game))))

    @precondition(lambda self: self.state.over)
    @rule()
    def play_the_next_game(self) -> None:
        """The winner is in the box, and everybody has a place in the rotation."""
        before = self.state
        assert before.game.result is not None
        winner = before.box if before.game.result.winner is BOX else before.captain
        self.state = next_game(before)
        assert winner == self.state.box
        assert sorted(before.order) == sorted(self.state.order)
        assert before.ledger == self.state.ledger

    @invariant()
    def the_ledger_sums_to_zero(self) -> None:
        """Also in the middle of a game, after a member has dropped out."""
        assert 0 == sum(self.state.ledger.values())

    @invariant()
    def exactly_one_player_has_a_decision_during_a_game(self) -> None:
        """Nobody has one before the opening roll and after the game."""
        waiting = self.at(Stage.OPENING) or self.state.over
        assert waiting == (self.state.to_act is None)
        assert self.state.to_act in {None, self.state.box, *self.state.in_game}

    @invariant()
    def the_captain_is_still_in_while_he_acts(self) -> None:
        """While members answer a double he may have passed; the next one becomes captain when all have answered."""
        if not self.state.over and not self.state.waiting:
            assert self.state.captain == self.state.in_game[0]

    @invariant()
    def the_rotation_is_a_permutation_of_the_players(self) -> None:
        """Members still in are in the order of the rotation."""
        assert sorted(self.players) == sorted(self.state.order)
        assert self.state.in_game == tuple(filter(self.state.in_game.__contains__, self.state.team))


TestTable = Table.TestCase
TestTable.settings = settings(examples(25), stateful_step_count=50)
