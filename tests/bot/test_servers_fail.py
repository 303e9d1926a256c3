"""Known failures of servers, each with a script in which the agent handles it."""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from fibs_protocol.words import Colour
from fibsbot.bot.context import Feature
from fibsbot.match import Owner, Phase
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, PlayAnswer
from fibsbot.strategies.questions import PlayQuestion, ResignAnswer, RollQuestion, TakeQuestion
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, PROMPT, ROLLED_64, TIME, Script, after, board

JOIN = "Type 'join' if you want to play the next game, type 'leave' if you don't."

# -- missing, duplicate and wrong boards ----------------------------------------------------------------------------


def test_a_board_missing_after_the_opponents_roll() -> None:
    script = Script().to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1), "ford rolls 2 and 1.", "ford moves bar-2 1-2 .", PROMPT)
    assert Phase.ROLL is script.key.phase


def test_a_missing_board_after_our_own_roll_is_requested() -> None:
    script = Script().to_my_roll()
    script.roll()
    assert ["board"] == script.server("You roll 6 and 4.", "Please move 2 pieces.")
    assert [] == script.server(ROLLED_64)
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_a_missing_board_without_a_prompt_is_requested_in_time() -> None:
    script = Script().to_my_roll()
    script.roll()
    assert [] == script.server("You roll 6 and 4.")
    assert ["board"] == script.wait(8.1)


def test_a_board_sent_twice_is_answered_once() -> None:
    script = Script().to_my_roll()
    assert ["roll"] == script.roll()
    assert [] == script.server("You roll 6 and 4.", ROLLED_64, ROLLED_64, "Please move 2 pieces.", ROLLED_64)
    assert 1 == len(script.questions)
    assert 1 == len(script.first_play())
    assert [] == script.server(ROLLED_64, ROLLED_64)
    assert [] == script.questions


def test_a_missing_board_after_a_resume_is_requested() -> None:
    script = Script().to_lobby(
        saved=("  opponent          matchlength   score (your points first)", "  ford  5  1 -  3")
    )
    assert ["board"] == script.server("You are now playing with ford. Your running match was loaded.")
    script.server("turn: marvin.", "match length: 5", "points for ford: 3", "points for marvin: 1")
    assert [] == script.server(board(score="1:3", cells=AFTER_61, dice="6:4"))
    assert (1, 3) == script.key.score


def test_no_board_after_the_opponent_cannot_move() -> None:
    script = Script().to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1), "ford rolls 5 and 5.")
    script.server(board(cells=cells, turn=-1, other_dice="5:5"), "ford can't move.", PROMPT)
    assert ["roll"] == script.roll()


def test_the_roll_after_a_dance_comes_while_the_board_shows_the_opponents_turn() -> None:
    script = Script().to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1), "ford rolls 5 and 5.")
    script.server(board(cells=cells, turn=-1, other_dice="5:5"), "ford can't move.", "You roll 3 and 1.")
    assert State.MY_MOVE is script.agent.state
    script.server(board(cells=cells, dice="3:1"), "Please move 2 pieces.")
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_a_login_into_a_running_game() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, "3", "4")
    script.server(board(cells=AFTER_61, dice="6:4", score="2:1"))
    assert State.MY_MOVE is script.agent.state
    assert (2, 1) == script.key.score
    script.server("no saved games.", "Value of 'boardstyle' set to 3.")
    assert ["move 24-20 24-18"] == script.first_play()


def test_can_move_is_not_trusted() -> None:
    script = Script().to_my_roll()
    script.roll()
    script.server("You roll 6 and 4.", board(cells=AFTER_61, dice="6:4", can_move=0))
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_the_turn_that_a_pending_double_flips_is_not_trusted() -> None:
    script = Script().to_my_roll()
    assert ["double"] == script.cube(CubeAction.DOUBLE)
    flipped = board(cells=AFTER_61, turn=-1, may="0:0")
    assert [] == script.server("You double. Please wait for ford to accept or reject.", flipped)
    assert State.I_DOUBLED is script.agent.state
    script.server("ford accepts the double. The cube shows 2.", "You roll 6 and 4.")
    assert [] == script.server(board(cells=AFTER_61, dice="6:4", cube=2, may="0:1"), "Please move 2 pieces.")
    assert (2, Owner.OPPONENT) == (script.state.cube, script.state.owner)


def test_a_board_requested_while_the_opponents_double_is_pending() -> None:
    script = Script().to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1), "ford doubles. Type 'accept' or 'reject'.")
    script.server(board(cells=cells, turn=1, may="0:0", doubled=1))
    assert 1 == len(script.questions)
    assert isinstance(script.questions[0].question, TakeQuestion)
    assert ["accept"] == script.cube(CubeAction.TAKE)


def test_the_crawford_game_is_known_although_may_double_is_set() -> None:
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.")
    script.server(board(score="4:2", cells=AFTER_61, may="1:1"), PROMPT)
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert (True, False) == (question.state.crawford, question.may_double)


def test_a_double_that_the_crawford_rule_forbids_becomes_a_roll() -> None:
    script = Script().to_my_roll()
    assert ["double"] == script.cube(CubeAction.DOUBLE)
    assert ["board"] == script.server("** The Crawford rule doesn't allow you to double in this game.")
    assert ["time"] == script.server(board(cells=AFTER_61))
    assert ["roll"] == script.server(TIME)


def test_a_double_that_was_refused_is_considered_again_at_the_same_turn_of_the_next_game() -> None:
    script = Script(strict=False).to_my_roll()
    script.cube(CubeAction.DOUBLE)
    script.server("** The Crawford rule doesn't allow you to double in this game.")
    script.server(board(cells=AFTER_61))
    assert ["roll"] == script.server(TIME)
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0", JOIN)
    script.server("Starting a new game with ford.", "You rolled 1, ford rolled 6", "ford makes the first move.")
    script.server(board(turn=-1, other_dice="6:1", score="1:0"), "ford moves 17-23 19-20 .")
    script.server(board(cells=AFTER_61, score="1:0"), PROMPT)
    question = script.questions[-1].question
    assert isinstance(question, RollQuestion)
    assert (1, True) == (question.state.score[0], question.may_double)


# -- lost commands and lines, glued lines ---------------------------------------------------------------------------


def test_a_lost_command_is_sent_again_when_a_board_shows_that_it_was_lost() -> None:
    script = Script().to_my_roll()
    assert ["roll"] == script.roll()
    assert ["board"] == script.wait(8.1)
    assert ["time"] == script.server(board(cells=AFTER_61)), "it may be an older board"
    assert ["roll"] == script.server(TIME)


def test_an_earlier_board_does_not_mark_a_late_command_as_lost() -> None:
    script = Script().to_my_move()
    script.first_play()
    assert ["board"] == script.wait(8.1)
    assert ["time"] == script.server(ROLLED_64), "the server sends some boards twice"
    cells = after(AFTER_61, script.agent.tracked.own_play or Play())
    rolled = board(cells=cells, turn=-1, other_dice="2:1")
    assert [] == script.server(board(cells=cells, turn=-1), "ford rolls 2 and 1.", rolled, rolled, TIME)
    assert State.THEIR_TURN is script.agent.state


def test_a_late_answer_is_not_taken_for_a_lost_command() -> None:
    script = Script().to_my_roll()
    assert ["roll"] == script.roll()
    assert ["board"] == script.wait(8.1)
    assert [] == script.server("You roll 6 and 4.", ROLLED_64, "Please move 2 pieces.", ROLLED_64)
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_you_did_already_roll() -> None:
    script = Script(strict=False).to_my_roll()
    assert ["roll"] == script.roll()
    assert ["board"] == script.server("** You did already roll the dice.")
    assert [] == script.server(ROLLED_64)
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_an_error_line_with_chat_glued_to_it() -> None:
    script = Script().to_my_roll()
    assert ["roll"] == script.roll()
    assert ["board"] == script.server("** You did already roll the dice.13 trillian Anybody for a 5 point match?")


def test_an_error_line_glued_to_chat_is_lost_and_the_watchdog_helps() -> None:
    script = Script(strict=False).to_my_roll()
    assert ["roll"] == script.roll()
    assert [] == script.server("15 ford your turn** You did already roll the dice.")
    assert ["board"] == script.wait(8.1)
    assert [] == script.server(ROLLED_64)
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_a_message_glued_to_a_board() -> None:
    script = Script().to_my_roll()
    script.roll()
    script.server("You roll 6 and 4.", ROLLED_64 + "5 trillian - - 0 0 1439.79 1262 410 1041251697 somehost.com - -")
    assert isinstance(script.questions[0].question, PlayQuestion)


def test_a_message_glued_to_an_accepted_double() -> None:
    script = Script().to_my_roll()
    script.cube(CubeAction.DOUBLE)
    script.server("You double. Please wait for ford to accept or reject.")
    script.server("ford accepts the double. The cube shows 2.13 trillian Anybody?", "You roll 6 and 4.")
    script.server(board(cells=AFTER_61, dice="6:4", cube=2, may="0:1"))
    assert 2 == script.key.cube


NO_CUBE = board(cells=AFTER_61, cube=2, may="0:1")
"""Our turn without access to the cube: the server rolls by itself, but not after a resume or a rejected resignation."""


def test_a_missing_automatic_roll_is_requested_after_a_while() -> None:
    script = Script().to_lobby()
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert [] == script.server(NO_CUBE)
    assert ["board"] == script.wait(8.1)
    script.server(NO_CUBE)
    assert ["roll"] == script.roll()


def test_after_a_rejected_resignation_we_roll_at_once() -> None:
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.", NO_CUBE)
    script.server("ford wants to resign. You will win 2 points. Type 'accept' or 'reject'.")
    assert ["reject"] == script.verdict(accepted=False)
    assert ["board"] == script.server("You reject. The game continues.")
    script.server(NO_CUBE)
    assert ["roll"] == script.roll()


UNKNOWN_BOARD = "** Unknown command: 'board'"


def test_a_missing_automatic_roll_is_requested_on_a_server_without_board() -> None:
    # BaldLies neither rolls nor asks in a resumed match, and depending on the order of its files it has no `board`.
    script = Script().to_lobby()
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert [] == script.server(board(cells=AFTER_61), UNKNOWN_BOARD)
    assert ["board"] == script.wait(8.1)
    script.server(UNKNOWN_BOARD)
    assert ["roll"] == script.roll()
    assert [] == script.events("stalled")


def test_another_play_follows_a_refused_one_on_a_server_without_board() -> None:
    script = Script().to_my_move()
    first = script.first_play()
    assert ["board"] == script.server("** You must give 2 moves.")
    (second,) = script.server(UNKNOWN_BOARD)
    assert second.startswith("move ")
    assert [second] != first


def test_the_turn_continues_after_a_rejected_resignation_on_a_server_without_board() -> None:
    script = Script().to_my_roll()
    assert ["resign n"] == script.answer(ResignAnswer(1))
    assert ["board"] == script.server("You want to resign. ford will win 1 point.", "ford rejects. The game continues.")
    assert [] == script.server(UNKNOWN_BOARD)
    assert ["roll"] == script.roll()


def test_the_opponent_stays_on_turn_after_our_rejection_on_a_server_without_board() -> None:
    script = Script().to_their_turn()
    script.server("ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")
    assert ["reject"] == script.verdict(accepted=False)
    assert ["board"] == script.server("You reject. The game continues.")
    script.server(UNKNOWN_BOARD)
    assert State.THEIR_TURN is script.agent.state


def test_an_unanswered_command_is_not_repeated_on_a_server_without_board() -> None:
    script = Script().to_my_move()
    script.first_play()
    sent = []
    for _ in range(82):
        sent += script.wait(1)
        if sent[-1:] == ["board"]:
            sent += script.server(UNKNOWN_BOARD)
    assert {"board", "leave"} == set(sent), "the command may have been taken"


def test_a_server_that_rolls_late_by_itself_is_not_asked_to() -> None:
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.", board(cells=AFTER_61, cube=2, may="0:1"))
    assert [] == script.wait(5)
    script.server("You roll 6 and 4.", board(cells=AFTER_61, dice="6:4", cube=2, may="0:1"))
    assert isinstance(script.questions[0].question, PlayQuestion)
    assert [] == script.wait(100)[1:], "nothing but the keep-alive"


@pytest.mark.parametrize("answer", ["** You're not playing.", "You are not playing.", "** Error: Join who?"])
def test_a_match_is_over_without_a_notice_when_the_opponent_has_dropped(answer: str) -> None:
    script = Script().to_their_turn()
    assert ["board"] == script.server("8 ford ford drops connection.")
    script.server(answer)
    assert State.LOBBY is script.agent.state
    assert ["ford"] == [event["opponent"] for event in script.events("match_saved")]
    assert [] == [line for line in script.wait(60) if line in {"join", "board"}]


def test_a_connection_that_never_shows_the_board_is_closed() -> None:
    script = Script().to_their_turn()
    assert ["board"] == script.server("8 ford ford drops connection.")
    while not script.hang_ups and script.now < 1100:
        script.wait(5)
        script.server("13 zaphod Does anybody play?")
    assert ["the server does not show the board"] == [hang_up.reason for hang_up in script.hang_ups]
    assert "leave" in script.sent_so_far


def test_an_obsolete_command_does_not_delay_the_end() -> None:
    script = Script(matches=1).to_their_turn()
    assert ["board"] == script.server("8 ford ford drops connection.")
    script.server("ford wins the game and gets 5 points. Sorry.", JOIN)
    script.server("ford wins the 5 point match 5-0 .")
    assert ["bye"] == script.server("** You're not playing.")


def test_a_dance_of_the_opponent_may_be_unannounced() -> None:
    on_the_bar = "-1:2:2:2:2:2:2:0:3:0:0:0:-5:0:0:0:0:-4:0:-5:0:0:0:0:0:0"
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.", board(cells=on_the_bar, turn=-1))
    script.server("ford rolls 6 and 5.", board(cells=on_the_bar, turn=-1, other_dice="6:5"))
    script.server(board(cells=on_the_bar), PROMPT)
    assert [] == script.events("difference")
    assert ["roll"] == script.roll()


def test_a_flag_was_doubled_that_stays_set_is_not_trusted() -> None:
    script = Script().to_their_turn()
    script.server("ford moves 17-23 19-20 .", board(cells=AFTER_61), PROMPT)
    script.roll()
    script.server("You roll 6 and 5.", board(cells=AFTER_61, dice="6:5"))
    run = Play.of((24, 18), (18, 13))
    script.answer(PlayAnswer(run))
    cells = after(AFTER_61, run)
    script.server(board(cells=cells, turn=-1), "ford doubles. Type 'accept' or 'reject'.")
    assert ["accept"] == script.cube(CubeAction.TAKE)
    theirs = board(cells=cells, turn=-1, other_dice="2:1", cube=2, may="1:0", doubled=1)
    assert [] == script.server("You accept the double. The cube shows 2.", "ford rolls 2 and 1.", theirs)
    assert [] == script.questions
    script.server("ford moves 19-21 19-20 .")
    cells = after(cells, Play.of((6, 4), (6, 5)), Colour.X, 1)
    script.server(board(cells=cells, cube=2, may="1:0", doubled=1), PROMPT)
    assert isinstance(script.questions[0].question, RollQuestion)


def test_a_server_that_never_rolls_by_itself_is_waited_for_only_once() -> None:
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.", board(cells=AFTER_61, cube=2, may="0:1"))
    script.wait(8.1)
    script.server(board(cells=AFTER_61, cube=2, may="0:1"))
    script.roll()
    script.server("You roll 6 and 5.", board(cells=AFTER_61, dice="6:5", cube=2, may="0:1"))
    run = Play.of((24, 18), (18, 13))
    script.answer(PlayAnswer(run))
    cells = after(AFTER_61, run)
    script.server(board(cells=cells, turn=-1, cube=2, may="0:1"), "ford rolls 2 and 1.", "ford moves 19-21 19-20 .")
    cells = after(cells, Play.of((6, 4), (6, 5)), Colour.X, 1)
    assert [] == script.server(board(cells=cells, cube=2, may="0:1"))
    assert ["board"] == script.wait(8.1 / 8)


@pytest.mark.parametrize(
    "late",
    ["** Not yet implemented: 'show saved'", "** Unknown command: 'rawwho'", "** Don't know how to show savedcount"],
)
def test_a_late_refusal_that_names_another_command_is_not_that_of_ours(late: str) -> None:
    script = Script(strict=False).to_my_move()
    assert ["move 24-20 24-18"] == script.first_play()
    assert [] == script.server(late)
    assert [None] == [event["command"] for event in script.events("refused")]
    assert ["board"] == script.wait(8.1), "the wait for the answer to the play goes on"


def test_a_refusal_that_names_our_command_is_its_answer() -> None:
    script = Script(strict=False).to_my_move()
    assert ["move 24-20 24-18"] == script.first_play()
    assert ["board"] == script.server("** Unknown command: 'move'")


def test_a_late_refusal_of_the_list_of_matches_does_not_answer_set() -> None:
    script = Script(strict=False)
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1041253132 192.168.1.1", OWN_INFO, "6")
    assert ["set boardstyle 3"] == script.server("no saved games.")
    script.server("** Not yet implemented: 'show saved'")
    script.wait(2)
    assert Feature.BOARDSTYLE not in script.agent._connection.context.memory.lacking
