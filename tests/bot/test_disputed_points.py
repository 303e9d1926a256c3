"""A server that contradicts itself about the points of a game: the match is left, to go on with the saved score.

BaldLies counts one point for a resignation at a cube of 2 on the side that resigns, and two on the other.
"""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from tests.bot.agent_script import AFTER_61, ME, Script, board

JOIN = "Type 'join' if you want to play the next game, type 'leave' if you don't."
OFFER = "You want to resign. ford will win 2 points."
ACCEPTED = "ford accepts and wins {}."
SCORE = f"score in 5 point match: {ME}-0 ford-{{}}"


def resigning() -> Script:
    """Get to the point where an offer of two points was made."""
    script = Script(strict=False).to_my_roll()
    script.server(board(cells=AFTER_61, cube=2, may="1:0"), OFFER)
    return script


def test_a_match_with_disputed_points_is_left_and_resumed() -> None:
    script = resigning()
    assert ["leave"] == script.server(ACCEPTED.format("1 point"), SCORE.format(1), JOIN)
    (stalled,) = script.events("stalled")
    assert "the server contradicts itself about the points of a game" == stalled["why"]
    script.server("** You terminated the game. The game was saved.")
    script.server("5 ford - - 1 0 1500.00 0 0 1 h - -", "6")
    assert "invite ford" in [*script.sent_so_far, *script.wait(300)]
    assert ["ford"] == [event["opponent"] for event in script.events("match_saved")]
    script.server("ford has joined you. Your running match was loaded.", board(score="0:2", turn=-1, other_dice="6:1"))
    assert State.THEIR_TURN is script.agent.state
    assert (0, 2) == (script.agent.tracked.state and script.agent.tracked.state.score), "the saved score counts"


@pytest.mark.parametrize(("said", "score"), [("2 points", 2), ("1 point", 2)])
def test_a_score_that_agrees_with_the_offer_settles_it(said: str, score: int) -> None:
    script = resigning()
    assert ["join"] == script.server(ACCEPTED.format(said), SCORE.format(score), JOIN)


def test_disputed_points_count_also_where_the_prompt_to_join_is_lost() -> None:
    script = resigning()
    assert [] == script.server(ACCEPTED.format("1 point"), SCORE.format(1))
    assert ["leave"] == script.wait(8.1)


def test_a_match_that_ends_with_disputed_points_is_over() -> None:
    script = resigning()
    script.server(ACCEPTED.format("1 point"), "ford wins the 5 point match 5-0 .")
    assert State.LOBBY is script.agent.state
    assert "leave" not in script.sent_so_far


def test_an_opponent_who_contradicts_us_about_the_winner_is_not_waited_for() -> None:
    script = Script(strict=False).to_my_roll()
    script.server(board(cells=AFTER_61, cube=2, may="1:0"), "You double. Please wait for ford to accept or reject.")
    sent = script.server("You give up. ford wins 2 points.", SCORE.format(2), JOIN)
    assert ["leave"] == sent
    assert [] == [line for line in script.wait(60) if line == "join"]


def test_a_match_that_is_resumed_between_two_games_goes_on() -> None:
    script = Script(strict=False).to_lobby()
    script.server("ford has joined you. Your running match was loaded.", board(score="4:0", turn=0))
    assert [] == script.events("match_stuck")
    script.server("You rolled 1, ford rolled 6", "ford makes the first move.")
    script.server(board(score="4:0", turn=-1, other_dice="6:1"))
    assert State.THEIR_TURN is script.agent.state
