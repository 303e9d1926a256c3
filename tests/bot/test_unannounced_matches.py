"""An unannounced match is found, a copy of an old board does not start one, and unintended watching is stopped."""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from fibsbot.bot.events_and_actions import DecisionKey
from tests.bot.agent_script import AFTER_61, ME, Script, board

PLAYING = f"5 {ME} ford - 1 0 1500.00 0 0 1 h - -"
FREE = f"5 {ME} - - 1 0 1500.00 0 0 1 h - -"
OPENING = ("Starting a new game with ford.", "You rolled 6, ford rolled 4", "It's your turn to move.")


def joined(**settings: object) -> Script:
    """Accept ford's invitation; the line that announces the match is lost."""
    script = Script(strict=False, **settings).to_lobby()
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    return script


def test_a_match_with_a_lost_beginning_is_found_and_played() -> None:
    script = joined()
    assert [] == script.server(PLAYING, "6", *OPENING, board(dice="6:4"))
    assert State.LOBBY is script.agent.state
    assert ["board"] == script.wait(2.1)
    assert [] == script.server(board(dice="6:4"))
    assert 1 == len(script.first_play())
    assert ["ford"] == [started["opponent"] for started in script.events("match_started")]


def test_without_our_own_status_line_rawwho_comes_before_board() -> None:
    script = joined()
    assert [] == script.server(*OPENING)
    assert [f"rawwho {ME}"] == script.wait(2.1)
    assert [] == script.server(PLAYING, "6")
    assert ["board"] == script.wait(2.1)


def test_the_board_and_who_we_play_with_are_asked_for_in_turn() -> None:
    script = joined()
    assert [] == script.server(PLAYING, "6", OPENING[0])
    sent = []
    for _ in range(30):
        for line in script.wait(1):
            sent.append(line)
            script.server(PLAYING, "6")  # to `board` there is no answer
    assert ["board", f"rawwho {ME}", "board"] == sent
    assert 1 == len(script.hang_ups)


def test_an_unnoticed_acceptance_of_our_invitation_is_found_too() -> None:
    script = Script(invite="ford", length=5, strict=False).to_lobby()
    script.server("5 ford - - 1 0 1500.00 0 0 1 h - -", "6")
    assert "invite ford 5" in script.sent_so_far
    script.server("** You invited ford to a 5 point match.", PLAYING, "6")
    assert ["board"] == script.wait(2.1)
    script.server(board(turn=-1, other_dice="6:1"))
    assert State.THEIR_TURN is script.agent.state
    assert [(5, False)] == [(event["length"], event["resumed"]) for event in script.events("match_started")]


@pytest.mark.parametrize(("score", "resumed"), [("0:0", False), ("1:2", True), ("2:2", True), ("2:0", True)])
def test_a_match_in_which_points_were_won_is_a_saved_one(score: str, *, resumed: bool) -> None:
    script = joined()
    script.server(PLAYING, "6", OPENING[0])
    assert ["board"] == script.wait(2.1)
    script.server(board(dice="6:4", score=score))
    assert [resumed] == [event["resumed"] for event in script.events("match_started")]


@pytest.mark.parametrize("refusal", ["** You are already playing.", "** You can't play two games at once"])
def test_a_refusal_that_mentions_a_match_leads_to_it(refusal: str) -> None:
    script = joined()
    assert ["board"] == script.server(refusal)
    assert [f"rawwho {ME}"] == script.wait(10.1), "the board was lost, too"
    assert [] == script.server(PLAYING, "6")
    assert ["board"] == script.wait(2.1)
    assert [] == script.server(board(dice="6:4"))
    assert 1 == len(script.first_play())


def test_no_invitation_is_sent_while_we_may_be_playing() -> None:
    script = joined(invite="trillian")
    script.server(PLAYING, "5 trillian - - 1 0 1500.00 0 0 1 h - -", "6", OPENING[0])
    assert ["board"] == script.wait(3)


def test_a_copy_of_an_old_board_does_not_start_a_match() -> None:
    script = Script().to_their_turn()
    script.server("ford wins the game and gets 5 points. Sorry.", "ford wins the 5 point match 5-0 .", FREE, "6")
    assert [] == script.server(board(turn=-1, other_dice="6:1"))
    assert [f"rawwho {ME}"] == script.wait(2.1), "to be sure"
    script.server(FREE, "6")
    assert State.LOBBY is script.agent.state
    assert [] == script.wait(10)


def test_unintended_watching_is_stopped() -> None:
    for answer in ("You stop watching ford.", "** You're not watching."):
        script = Script().to_lobby()
        assert ["unwatch"] == script.server("You're now watching ford.")
        script.server(answer)
        assert State.LOBBY is script.agent.state
        script.server("zaphod wants to play a 5 point match with you.", "Type 'join zaphod' to accept.")
        script.verdict(accepted=True)
        assert ["join zaphod"] == script.wait(1.5)


def test_an_unannounced_game_is_found_when_the_next_one_cannot_be_joined() -> None:
    script = Script(strict=False).to_my_roll()
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    script.server("Type 'join' if you want to play the next game, type 'leave' if you don't.")
    assert ["board"] == script.server("** You can't play two games at once")
    script.server(board(cells=AFTER_61, dice="6:4", score="1:0"))
    assert isinstance(script.questions[-1].key, DecisionKey)
    assert (1, 0) == script.questions[-1].key.score


def test_a_match_with_a_lost_end_ends_without_a_request() -> None:
    script = Script(matches=1).to_their_turn()
    script.server("ford wins the game and gets 5 points. Sorry.")
    assert ["bye"] == script.wait(8.1)
    assert [(False, [0, 5])] == [(ended["won"], ended["score"]) for ended in script.events("match_ended")]
    assert [] == script.events("match_saved")


def test_the_status_line_of_the_opponent_is_evidence_too() -> None:
    """BaldLies: each player's status line says that only the other one plays; only a new connection helps."""
    script = Script(strict=False).to_their_turn()
    script.server("You are not playing.")
    assert State.LOBBY is script.agent.state
    sent = script.server(FREE, f"5 ford {ME} - 1 0 1500.00 0 0 1 h - -", "6")
    for _ in range(20):
        for line in sent:
            sent = script.server(
                *["You are not playing."] if line == "board" else [FREE, f"5 ford {ME} - 1 0 1500.00 0 0 1 h - -", "6"]
            )
        if script.hang_ups:
            break
        sent = script.wait(2.1)
    assert ["the server says that we play with ford, and shows no board"] == [it.reason for it in script.hang_ups]


def test_the_status_line_of_the_opponent_is_replaced_by_the_next() -> None:
    script = Script().to_lobby()
    script.server(f"5 ford {ME} - 1 0 1500.00 0 0 1 h - -", "6", FREE, "5 ford - - 1 0 1500.00 0 0 1 h - -", "6")
    assert [] == script.wait(10)
