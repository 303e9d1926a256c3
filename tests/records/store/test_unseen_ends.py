"""Matches whose end we did not see: our rating, our experience and the server's list tell what became of them."""

from __future__ import annotations

import pytest

from fibsbot.records.stored_rows import Fact, MatchOutcome
from tests.records.store.recorder import Teller


def last_move(bot: Teller, length: int = 5) -> None:
    """Play until the last move of a match has gone out, and die."""
    bot.log_in(1500.0, 10)
    bot.start(length=length)
    bot.decide(1)
    bot.restart(after=60)


@pytest.mark.parametrize(("rating", "outcome"), [(1504.0, MatchOutcome.WON), (1496.0, MatchOutcome.LOST)])
def test_an_unseen_end_is_inferred_from_our_rating(bot: Teller, rating: float, outcome: MatchOutcome) -> None:
    last_move(bot)
    bot.log_in(rating, 15)
    bot.tell("saved_matches", opponents=["arthur"])
    match = bot.match()
    assert (outcome, True, rating, 15) == (
        match.outcome,
        match.inferred,
        match.rating_after,
        match.experience_after,
    )
    assert match.ended is not None
    assert [True] == [game.ended is not None for game in bot.games()]


def test_a_rating_after_the_list_of_saved_matches_also_shows_the_end(bot: Teller) -> None:
    last_move(bot)
    bot.log_in()
    bot.tell("saved_matches", opponents=[])
    assert (MatchOutcome.UNSEEN, False, None) == (bot.match().outcome, bot.match().inferred, bot.match().won)
    bot.rate(1504.0, 15)
    assert (MatchOutcome.WON, True) == (bot.match().outcome, bot.match().inferred)
    assert 1 == bot.opponent().times(Fact.FINISHED)


def test_a_new_match_with_the_same_player_shows_that_the_old_one_is_over(bot: Teller) -> None:
    last_move(bot)
    bot.log_in(1504.0, 15)
    bot.start(length=5)
    assert [MatchOutcome.WON, MatchOutcome.PLAYING] == [match.outcome for match in bot.matches()]


@pytest.mark.parametrize("experience", [10, 12, 16, 20])
def test_another_increase_of_experience_explains_nothing(bot: Teller, experience: int) -> None:
    last_move(bot)
    bot.log_in(1504.0, experience)
    bot.tell("saved_matches", opponents=[])
    assert (MatchOutcome.UNSEEN, False) == (bot.match().outcome, bot.match().inferred)


def test_a_match_that_begins_again_has_the_current_rating(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start("arthur", 5)
    bot.start("ford", 1)
    bot.win_game(1, (1, 0))
    bot.end("ford", 1, score=(1, 0))
    bot.rate(1502.0, 11)
    bot.start("arthur", 5)
    bot.win_game(5, (5, 0))
    bot.end("arthur", 5, score=(5, 0))
    bot.rate(1506.0, 16)
    assert {"ford": 2.0, "arthur": 4.0} == {match.opponent: match.gain for match in bot.matches()}


def test_a_rating_that_another_match_explains_is_not_used(bot: Teller) -> None:
    last_move(bot, 5)
    bot.log_in(1500.0, 10)
    bot.start("arthur", 5)
    bot.win_game(5, (5, 0))
    bot.end("arthur", 5, score=(5, 0))
    bot.rate(1504.0, 15)
    bot.tell("saved_matches", opponents=[])
    ford, arthur = bot.matches()
    assert (MatchOutcome.UNSEEN, False) == (ford.outcome, ford.inferred)
    assert (MatchOutcome.WON, 4.0) == (arthur.outcome, arthur.gain)


def test_two_unseen_ends_are_not_guessed(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    for opponent in ("ford", "arthur"):
        bot.start(opponent, 5)
        bot.decide()
        bot.save(opponent)
    bot.tell("saved_matches", opponents=[])
    bot.rate(1504.0, 15)
    assert [MatchOutcome.UNSEEN, MatchOutcome.UNSEEN] == [match.outcome for match in bot.matches()]


def test_matches_that_the_server_keeps_stay_saved(bot: Teller) -> None:
    last_move(bot)
    bot.log_in(1504.0, 15)
    bot.tell("saved_matches", opponents=["ford"])
    assert MatchOutcome.SAVED is bot.match().outcome


def test_a_match_in_progress_need_not_be_in_the_list_of_saved_matches(bot: Teller) -> None:
    last_move(bot)
    bot.log_in(1500.0, 10)
    bot.resume()
    bot.tell("saved_matches", opponents=[])
    assert MatchOutcome.PLAYING is bot.match().outcome


def test_a_match_wrongly_considered_over_can_be_resumed(bot: Teller) -> None:
    last_move(bot)
    bot.log_in(1500.0, 10)
    bot.tell("saved_matches", opponents=[])
    bot.resume()
    bot.decide()
    assert (MatchOutcome.PLAYING, None, 1) == (bot.match().outcome, bot.match().ended, bot.match().resumed)


def test_a_match_resumed_with_a_lower_score_is_another_one(bot: Teller) -> None:
    bot.log_in()
    bot.start()
    bot.win_game(2, (2, 0))
    bot.save()
    bot.resume(score=(0, 1))
    assert [(MatchOutcome.UNSEEN, (2, 0)), (MatchOutcome.PLAYING, (0, 1))] == [
        (it.outcome, it.score) for it in bot.matches()
    ]


def test_a_match_resumed_with_another_length_is_another_one(bot: Teller) -> None:
    bot.log_in()
    bot.start(length=5)
    bot.save()
    bot.resume(length=7)
    assert [(MatchOutcome.UNSEEN, 5), (MatchOutcome.PLAYING, 7)] == [(it.outcome, it.length) for it in bot.matches()]


# -- ratings around a match -------------------------------------------------------------------------------------


def test_a_rating_reported_just_before_the_end_of_a_match_belongs_after_it(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start(length=3)
    bot.win_game(3, (3, 0))
    bot.rate(1503.0, 13)
    bot.end(length=3, score=(3, 0))
    assert (1500.0, 1503.0) == (bot.match().rating_before, bot.match().rating_after)


def test_a_late_rating_belongs_to_the_previous_match(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start("ford", 1)
    bot.end("ford", 1, score=(1, 0))
    bot.start("arthur", 3)
    bot.rate(1501.0, 11)
    bot.end("arthur", 3, won=False, score=(0, 3))
    bot.rate(1498.0, 14)
    assert [(1500.0, 1501.0), (1501.0, 1498.0)] == [(it.rating_before, it.rating_after) for it in bot.matches()]


def test_an_unlimited_match_is_not_rated(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start(length=0)
    bot.save()
    bot.tell("saved_matches", opponents=[])
    bot.rate(1504.0, 15)
    assert (MatchOutcome.UNSEEN, None) == (bot.match().outcome, bot.match().rating_after)
