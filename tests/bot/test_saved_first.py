"""No saved match is discarded by an invitation, independent of the order of lines."""

from __future__ import annotations

from tests.bot.agent_script import ME, OWN_INFO, TIME, Script, board

HEAD = "  opponent          matchlength   score (your points first)"
ROW = "**ford                   5                1 -  3"
FORD = "5 ford - - 1 0 1623.45 2396 0 1 h client -"
WARNING = "WARNING: Don't accept if you want to continue the saved 5 point match!"
WANTS = ("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
WANTS_ON = ("ford wants to resume a saved match with you.", "Type 'join ford' to accept.")


def test_no_invitation_is_sent_before_the_list_of_saved_matches_is_complete() -> None:
    script = Script(invite="ford")
    script.connect()
    script.raw(b"login: ")
    assert ["show saved"] == script.server(f"1 {ME} 1 h", OWN_INFO, FORD, "6")
    assert ["set boardstyle 3"] == script.server(HEAD)
    assert [] == script.server(ROW)
    assert ["invite ford"] == script.server("Value of 'boardstyle' set to 3.")


def test_a_list_that_was_asked_for_again_is_ended_by_the_answer_to_the_next_command() -> None:
    script = Script(invite="ford")
    script.connect()
    script.raw(b"login: ")
    assert ["show saved"] == script.server(f"1 {ME} 1 h", OWN_INFO, FORD, "6")
    assert ["set boardstyle 3"] == script.wait(4.1)
    assert ["show saved"] == script.server("Value of 'boardstyle' set to 3.")
    assert ["time"] == script.server(HEAD)
    assert [] == script.server(ROW)
    assert ["invite ford"] == script.server(TIME)


def test_an_invitation_is_not_joined_after_our_own_to_resume() -> None:
    script = Script().to_lobby(saved=(HEAD, ROW))
    assert ["invite ford"] == script.server(FORD)
    assert [] == script.server("** You invited ford to resume a saved match.")
    sent = script.server(*WANTS, WARNING)
    assert "join ford" not in sent
    assert ["invite ford"] == sent, "once more, after theirs took the place of what ford knew"
    assert [] == script.server("** You invited ford to resume a saved match.")
    assert ["join ford"] == script.server(*WANTS_ON), "that one is the saved match"


def test_our_invitation_to_a_new_match_gives_way_to_a_saved_one() -> None:
    script = Script(invite="ford").to_lobby()
    assert ["invite ford 1"] == script.server(FORD)
    assert [] == script.server(*WANTS_ON)
    assert ["invite ford"] == script.server("** You invited ford to a 1 point match.")


def test_a_match_resumed_between_games_has_its_score_before_the_game() -> None:
    script = Script().to_lobby(saved=(HEAD, ROW))
    script.server(
        FORD, "** You invited ford to resume a saved match.", "ford has joined you. Your running match was loaded."
    )
    script.server("turn: ford.", "match length: 5", "points for marvin: 1", "points for ford: 3")
    script.server("Starting a new game with ford.", "You rolled 1, ford rolled 6", "ford makes the first move.")
    assert [] == script.events("game_started")
    script.server(board(turn=-1, other_dice="6:1", score="1:3"))
    names = [record.name for record in script.records if record.name in {"match_resumed", "game_started"}]
    assert ["match_resumed", "game_started"] == names
    assert [{"opponent": "ford", "game": 2}] == script.events("game_started")
