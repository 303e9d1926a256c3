"""The agent at a chouette: invitations, what it is asked, lost lines and refusals, when it leaves."""

from __future__ import annotations

from typing import Any

import pytest

from fibsbot.bot.settings import Timings
from fibsbot.policy import Policy
from fibsbot.strategies.base import CubeAction
from fibsbot.strategies.questions import AcceptAnswer, ResignAnswer, ResignationQuestion, RollQuestion, TakeQuestion
from tests.bot.agent_script import PROMPT, Script, board

POLICY = Policy(games=("chouette",))
SEAT = "chouette: you have a seat at the table of arthur."
NO_SEAT = "chouette: you have no seat at a table."
TABLE = "chouette: arthur's table, game 1: arthur in the box against marvin (captain), ford."
INVITATION = ("chouette: arthur invites you to take a seat.", "chouette: type 'chouette join arthur' to do so.")
JOIN = "Type 'join' if you want to play the next game, type 'leave' if you don't."
MONEY = 9999
DOUBLED = "arthur doubles. Type 'accept' or 'reject'."


def shown(**fields: Any) -> str:
    """Return a board of a game against arthur."""
    return board(opponent="arthur", length=MONEY, **fields)


def invited(policy: Policy = POLICY, **settings: Any) -> Script:
    """Return a script of an agent in the lobby that knows of games."""
    return Script(policy=policy, **settings).to_lobby()


def seated(**settings: Any) -> Script:
    """Return a script of an agent that has accepted arthur's invitation."""
    script = invited(**settings)
    assert [] == script.server(*INVITATION)
    assert [] == script.answer(AcceptAnswer(accepted=True))
    assert ["chouette join arthur"] == script.wait(1.5)
    assert [] == script.server(SEAT, "chouette: marvin takes a seat: arthur, ford, marvin.")
    assert [{"host": "arthur", "resumed": False}] == script.events("chouette_joined")
    return script


def captain(**settings: Any) -> Script:
    """Return a script of an agent that is captain, and has to roll or to double."""
    script = seated(**settings)
    assert [] == script.server(
        TABLE,
        "** You are now playing with arthur in an unlimited match.",
        "Starting a new game with arthur.",
    )
    assert ["board"] == script.server(PROMPT)
    assert [] == script.server(shown())
    return script


@pytest.mark.parametrize(
    ("policy", "answer"),
    [
        (Policy(), "tell arthur I only play backgammon."),
        (Policy(games=("plakoto",)), "tell arthur I only play backgammon and plakoto."),
        (Policy(games=("chouette",), block=Policy().block, bots=False, people=False), "tell arthur I only play"),
    ],
)
def test_an_invitation_that_the_policy_does_not_name_is_refused_with_a_sentence(policy: Policy, answer: str) -> None:
    (sent,) = invited(policy).server(*INVITATION)
    assert sent.startswith(answer)


def test_any_game_includes_the_chouette_whatever_the_lengths_of_matches() -> None:
    script = invited(Policy(games=("any",)))
    assert [] == script.server(*INVITATION)
    assert [] == script.answer(AcceptAnswer(accepted=True))
    assert ["chouette join arthur"] == script.wait(1.5)


def test_a_table_that_is_full_is_forgotten() -> None:
    script = invited()
    script.server(*INVITATION)
    script.answer(AcceptAnswer(accepted=True))
    assert ["chouette join arthur"] == script.wait(1.5)
    assert [] == script.server("** chouette: a table has at most 6 players")
    assert [] == script.wait(5)
    assert script.agent.status.invitations == 0


def test_a_captain_rolls_and_doubles_as_in_an_unlimited_match_without_jacoby_rule() -> None:
    script = captain()
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert (True, 0, False, 0) == (
        question.may_double,
        question.state.length,
        question.state.jacoby,
        question.state.redoubles,
    )
    assert ["double"] == script.cube(CubeAction.DOUBLE)
    assert "playing a chouette with arthur" == script.agent.status.sentence
    assert script.agent.status.playing
    assert [] == script.server("You double. Please wait for arthur to accept or reject.", "arthur accepts the double.")
    (record,) = script.events("chouette_decision")
    assert ("roll", "double") == (record["phase"], record["answer"])


def test_a_member_answers_the_double_of_the_box_for_itself() -> None:
    script = seated()
    script.server("Starting a new game with arthur.", "arthur doubles.", "chouette: ford takes.")
    assert ["board"] == script.server(DOUBLED)
    assert [] == script.server(shown(player="ford", turn=1, doubled=1))
    assert isinstance(script.questions[0].question, TakeQuestion)
    assert ["reject"] == script.cube(CubeAction.PASS)
    assert [] == script.server("chouette: marvin passes and loses 1 point to arthur.")


def test_a_resignation_is_answered_and_after_a_rejection_the_server_is_asked_who_goes_on() -> None:
    script = seated()
    script.server("Starting a new game with arthur.")
    assert [] == script.server("arthur wants to resign. ford will win 2 points.")
    assert ["board"] == script.server("arthur wants to resign. You will win 2 points. Type 'accept' or 'reject'.")
    assert [] == script.server(shown(cube=2, may="1:0"))
    question = script.questions[0].question
    assert isinstance(question, ResignationQuestion)
    assert 1 == question.state.resignation
    assert ["reject"] == script.verdict(accepted=False)
    assert ["chouette"] == script.server("You reject. The game continues.")
    assert ["board"] == script.server(SEAT, "chouette: waiting for marvin.", PROMPT)


def test_a_rejected_resignation_is_not_offered_again_at_the_same_level() -> None:
    script = captain()
    assert ["resign n"] == script.answer(ResignAnswer(1))
    script.server("You want to resign. arthur will win 1 point.")
    assert ["chouette"] == script.server("arthur rejects. The game continues.")
    script.server(SEAT, PROMPT, shown())
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert 2 == question.resign_from


def test_after_a_refusal_or_without_an_answer_the_server_asks_again_and_at_last_there_is_a_new_connection() -> None:
    script = captain()
    for number in range(11):
        assert not script.hang_ups
        assert ["roll"] == script.roll()
        sent = script.server("** It's not your turn to roll the dice.")
        if number < 10:
            assert ["chouette"] == sent
            assert ["board"] == script.server(SEAT, "chouette: waiting for marvin.", PROMPT)
            script.server(shown())
    (hang_up,) = script.hang_ups
    assert "the server takes none of our commands at the chouette" == hang_up.reason


def test_a_question_that_got_lost_is_asked_for_after_some_silence() -> None:
    script = seated(timings=Timings(pause=0, invitation=1, patience=20, keep_alive=1000))
    assert ["chouette"] == script.wait(21)
    assert ["board"] == script.server(SEAT, "chouette: waiting for marvin.", PROMPT)
    script.server(shown())
    assert ["roll"] == script.roll()


def test_a_table_at_which_nothing_happens_is_left_after_half_an_hour() -> None:
    script = seated(timings=Timings(pause=0, invitation=1, keep_alive=80_000))
    polls = 0
    while "chouette leave" not in script.sent_so_far:
        assert polls < 31
        if "chouette" in script.wait(60):
            polls += 1
            script.server(SEAT, "chouette: arthur's table, not started: arthur, ford, marvin.")
    assert 29 <= polls
    script.server("chouette: marvin leaves the table.", NO_SEAT)
    assert "waiting for a match" == script.agent.status.sentence


def test_the_connection_is_lost_in_a_game_and_the_seat_is_taken_again() -> None:
    script = captain()
    script.lose()
    script.questions.clear()
    script.to_lobby(seat=(SEAT, "chouette: marvin is back.", "chouette: ledger: arthur 0, ford 0, marvin 0."))
    sent = script.server("** You are now playing with arthur. Your running match was loaded.", PROMPT)
    assert ["board"] == sent
    script.server(shown())
    assert ["roll"] == script.roll()
    assert [False, True] == [record["resumed"] for record in script.events("chouette_joined")]


def test_a_seat_that_is_gone_after_the_connection_was_lost_is_recorded_as_left() -> None:
    script = captain()
    script.lose()
    script.to_lobby()
    assert [{"host": "arthur", "games": 0, "points": 0}] == script.events("chouette_left")


def end_of_game(script: Script, number: int = 1) -> list[str]:
    """Let a game end that arthur loses; return what the agent sends."""
    return script.server(
        "You win the game and get 1 point. Congratulations!",
        JOIN,
        f"chouette: game {number}: marvin, ford win 1 point each from arthur.",
        "chouette: ledger: arthur -2, ford +1, marvin +1.",
        "chouette: next game: marvin in the box, ford captain, then arthur.",
    )


def test_the_end_of_a_game_is_recorded_with_the_ledger_and_the_next_one_is_joined() -> None:
    script = captain()
    assert ["roll"] == script.roll()
    assert ["join"] == end_of_game(script)
    (record,) = script.events("chouette_game")
    assert {
        "host": "arthur",
        "game": 1,
        "result": "marvin, ford win 1 point each from arthur.",
        "opponent": "arthur",
        "points": 1,
        "ledger": {"arthur": -2, "ford": 1, "marvin": 1},
    } == {name: value for name, value in record.items() if name != "seconds"}
    assert 1 == script.agent.counters.games


def test_the_points_of_a_game_are_all_that_it_has_brought_also_where_somebody_has_paid_before_its_end() -> None:
    script = captain()
    assert ["double"] == script.cube(CubeAction.DOUBLE)
    script.server(SEAT, "chouette: ledger: arthur -1, ford 0, marvin +1.")
    end_of_game(script)
    assert [1] == [record["points"] for record in script.events("chouette_game")]


def test_a_game_that_was_on_before_we_sat_down_is_none_of_ours() -> None:
    script = seated()
    script.server(TABLE.replace("marvin (captain), ford", "ford (captain), zaphod, marvin (next game)"))
    assert ["join"] == end_of_game(script)
    assert ([], 0) == (script.events("chouette_game"), script.agent.counters.games)


def test_it_leaves_after_the_game_when_the_player_who_has_invited_it_leaves() -> None:
    script = captain()
    script.roll()
    script.server("chouette: arthur leaves the table.")
    assert ["chouette leave"] == end_of_game(script)
    script.server("chouette: marvin leaves the table.", NO_SEAT)
    assert [{"host": "arthur", "games": 1, "points": 1}] == script.events("chouette_left")
    assert (1, 1) == (script.agent.counters.matches, script.agent.counters.wins)
    assert [script.now] == list(script.agent._connection.context.memory.history_of("arthur").matches)


def test_it_leaves_after_the_game_when_it_finishes_and_then_logs_out() -> None:
    script = captain()
    script.roll()
    assert [] == script.finish()
    assert ["chouette leave"] == end_of_game(script)
    assert "bye" in script.server("chouette: marvin leaves the table.", NO_SEAT)


def test_before_the_first_game_it_leaves_at_once_when_it_finishes() -> None:
    script = seated()
    assert ["chouette leave"] == script.finish()


def test_the_score_is_asked_for() -> None:
    script = seated()
    assert ["tell zaphod I'm playing a chouette with arthur."] == script.server("12 zaphod score")


def test_nothing_is_asked_at_a_table_that_we_have_left() -> None:
    script = seated()
    script.server("Starting a new game with arthur.", NO_SEAT)
    assert [] == [line for line in script.wait(100) if line.startswith("chouette")]
    script = captain()
    assert [] == script.server(NO_SEAT)
    assert [] == [line for line in script.wait(100) if line.startswith(("chouette", "roll"))]


def test_a_decision_waits_for_the_time_that_is_pretended() -> None:
    script = captain(timings=Timings(pause=0, invitation=1, think_least=4, think_most=4))
    script.wait(1)
    assert [] == script.cube(CubeAction.DOUBLE)
    assert [] == script.wait(2.9)
    assert ["double"] == script.wait(0.2)


def test_a_question_whose_answer_has_crossed_it_is_not_answered_again() -> None:
    """Asked again after a late answer to `roll`, the server has shown the dice by the time we ask for the board."""
    script = captain()
    assert ["roll"] == script.roll()
    assert ["chouette"] == script.wait(8.1)
    assert ["board"] == script.server(SEAT, PROMPT)
    assert [] == script.server(shown(dice="6:4"))
    assert [] == script.questions
