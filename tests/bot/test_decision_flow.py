"""The agent's decisions: openings, plays, dances, the cube, resignations, the end of a game."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.session import State
from fibsbot.bot.decision_flow import MAX_ASKED
from fibsbot.bot.decisions import xgid_of
from fibsbot.bot.events_and_actions import StrategyAnswered
from fibsbot.bot.settings import Timings
from fibsbot.match import MatchState, Owner
from fibsbot.policy import Lengths, Policy
from fibsbot.position import Move, Play, Position
from fibsbot.strategies.base import CubeAction, PlayAnswer
from fibsbot.strategies.heuristic.strategy import is_beavered
from fibsbot.strategies.questions import ResignAnswer, ResignationQuestion, RollQuestion, TakeQuestion
from tests.bot.agent_script import AFTER_61, ME, PROMPT, ROLLED_64, START_CELLS, TIME, Script, after, board

NEXT_GAME = "Type 'join' if you want to play the next game, type 'leave' if you don't."
ONE_CHECKER = "0:0:0:0:0:0:1:0:0:0:0:0:0:0:0:0:0:0:-5:-5:-5:0:0:0:0:0"
"""O has one checker left, on 6; X has all fifteen outside and in front."""


def resume(cells: str, **fields: object) -> Script:
    """Resume a match at a board with these cells."""
    script = Script().to_lobby()
    script.server("ford has joined you. Your running match was loaded.")
    script.server(board(cells=cells, **fields))  # type: ignore[arg-type]  # keywords of board
    return script


# -- plays ----------------------------------------------------------------------------------------------------------


def test_the_opening_roll_is_played_without_a_prompt() -> None:
    script = Script().to_match()
    assert [] == script.server("You rolled 6, ford rolled 4", "It's your turn to move.", board(dice="6:4"))
    assert ["move 24-20 24-18"] == script.first_play()
    assert [] == script.server(board(cells=after(START_CELLS, Play((Move(24, 20), Move(24, 18)))), turn=-1))
    assert State.THEIR_TURN is script.agent.state


def test_a_forced_play_needs_no_thought() -> None:
    script = resume(ONE_CHECKER, dice="6:4")
    assert [] == script.questions
    assert "move 6-2 2-off" == script.sent_so_far[-1]


def test_a_dance_is_left_to_the_server() -> None:
    closed = "0:0:0:0:0:0:5:0:3:0:0:0:0:5:0:0:0:-3:0:-2:-2:-2:-2:-2:-2:1"
    script = resume(closed, dice="6:4")
    assert [] == script.questions
    assert [] == script.server("You can't move.", board(cells=closed, turn=-1))
    assert State.THEIR_TURN is script.agent.state


def test_moves_from_the_bar_come_first_and_bearing_off_last() -> None:
    cells = "-10:0:0:0:0:0:2:0:0:0:0:0:0:0:0:0:0:0:-2:0:0:0:0:0:-2:0"
    script = resume(cells, dice="6:5")
    assert "move 6-1 6-off" == script.sent_so_far[-1]


def test_a_play_that_the_rules_refuse_is_never_sent() -> None:
    script = Script().to_my_move()
    legal = script.plays()[0]
    illegal = Play((Move(24, 18), Move(24, 19)))
    assert ["move 24-20 24-18"] == script.answer(PlayAnswer(illegal))
    assert 2 == len(legal)


def test_a_play_that_the_server_refuses_is_followed_by_another_legal_one() -> None:
    script = Script().to_my_move()
    first = script.first_play()
    assert ["board"] == script.server("** You can't move to 18 in your second move.")
    assert ["time"] == script.server(ROLLED_64)
    second = script.server(TIME)
    assert 1 == len(second)
    assert first != second
    assert 1 == script.agent.counters.refusals


def test_a_refusal_of_something_else_does_not_make_us_play_again() -> None:
    script = Script().to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    assert ["board"] == script.server("** You are already playing.")
    assert ["time"] == script.server(ROLLED_64), "it was on its way before we moved"
    assert [] == script.server(board(cells=cells, turn=-1), board(cells=cells, turn=-1), TIME)
    assert 0 == script.agent.counters.differences


def test_an_error_that_is_not_known_refuses_the_command_that_it_names() -> None:
    script = Script(strict=False).to_my_move()
    script.first_play()
    assert [] == script.server("** Your 'kibitz' was too loud.")
    assert ["board"] == script.server("** You must wait before you may 'move' again.")


def test_a_match_is_left_if_the_server_refuses_every_play() -> None:
    script = Script().to_my_move()
    script.first_play()
    for _ in range(10):
        script.server("** You can't move to 18 in your second move.", ROLLED_64, TIME)
    script.wait(17)
    assert [None] == [hang_up.end for hang_up in script.hang_ups], "`leave` is not answered either"
    assert 5 == script.agent.counters.refusals - 5


def test_the_late_answer_to_an_old_question_is_dropped() -> None:
    script = Script().to_my_move()
    ask = script.questions[0]
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert [] == script.event(StrategyAnswered(script.now, ask.key, PlayAnswer(script.plays()[0])))
    assert 1 == script.agent.counters.late_answers


def test_questions_that_a_lost_connection_left_open_do_not_count_against_new_ones() -> None:
    script = Script()
    for asked in range(2 * MAX_ASKED):
        assert asked == len(script.questions)
        script.to_lobby()
        script.server("ford has joined you. Your running match was loaded.", ROLLED_64)
        script.lose()


def test_a_second_answer_to_the_same_question_is_dropped() -> None:
    script = Script().to_my_move()
    ask = script.questions[0]
    play = script.plays()[0]
    assert 1 == len(script.first_play())
    assert [] == script.event(StrategyAnswered(script.now, ask.key, PlayAnswer(play)))


# -- the cube -------------------------------------------------------------------------------------------------------


def test_a_double_is_offered_and_taken() -> None:
    script = Script().to_my_roll()
    assert ["double"] == script.cube(CubeAction.DOUBLE)
    script.server("You double. Please wait for ford to accept or reject.")
    assert [] == script.wait(59), "it is for the opponent to answer"
    script.server("ford accepts the double. The cube shows 2.", "You roll 6 and 4.")
    script.server(board(cells=AFTER_61, dice="6:4", cube=2, may="0:1"))
    assert Owner.OPPONENT is script.state.owner


def test_a_double_is_answered() -> None:
    for action, command in ((CubeAction.TAKE, "accept"), (CubeAction.PASS, "reject")):
        script = Script().to_my_move()
        cells = after(AFTER_61, script.plays()[0])
        script.first_play()
        script.server(board(cells=cells, turn=-1), "ford doubles. Type 'accept' or 'reject'.")
        assert isinstance(script.questions[0].question, TakeQuestion)
        assert 1 == script.state.cube, "the cube still shows the old value"
        assert [command] == script.cube(action)


def in_unlimited_match() -> Script:
    """Return a script in which an unlimited match was resumed."""
    script = Script(policy=Policy(lengths=Lengths(unlimited=True))).to_lobby()
    script.server("ford has joined you. Your running match was loaded.")
    return script


def doubled_in_unlimited_match() -> Script:
    """Return a script in which we have doubled, and ford may redouble."""
    script = in_unlimited_match()
    script.server(board(length=9999, cells=AFTER_61), PROMPT)
    script.cube(CubeAction.DOUBLE)
    script.server("You double. Please wait for ford to accept, reject or redouble.")
    return script


def test_a_beaver_in_an_unlimited_match() -> None:
    script = in_unlimited_match()
    script.server(board(length=9999, cells=AFTER_61, turn=-1))
    script.server("ford doubles. Type 'accept', 'reject' or 'redouble'.")
    assert (1, False) == (script.state.redoubles, script.state.redoubled)
    assert ["redouble"] == script.cube(CubeAction.BEAVER)
    script.server("You accept the double to 2 and redouble.", "Please wait for ford to accept or reject.")
    script.server("ford accepts the redouble. The cube shows 4.", "ford rolls 3 and 1.")
    assert [] == script.server(board(length=9999, cells=AFTER_61, turn=-1, other_dice="3:1", cube=4, may="1:0"))
    assert 0 == script.agent.counters.differences


def test_a_double_against_a_beaver_is_answered_again() -> None:
    script = doubled_in_unlimited_match()
    script.server("ford redoubles to 4. Type 'accept' or 'reject'.")
    assert script.state.redoubled
    assert isinstance(script.questions[0].question, TakeQuestion)
    assert ["accept"] == script.cube(CubeAction.TAKE)
    script.server("You accept the redouble. The cube shows 4.", "You roll 6 and 4.")
    script.server(board(length=9999, cells=AFTER_61, dice="6:4", cube=4, may="0:1"))
    assert (4, Owner.OPPONENT) == (script.state.cube, script.state.owner), "who beavers keeps the cube"


def test_after_a_new_connection_it_is_known_who_has_redoubled() -> None:
    """The board shows a cube at 2 and a double that waits, as after an opponent's double; only the line says more."""
    script = doubled_in_unlimited_match()
    script.server("ford redoubles to 4. Type 'accept', 'reject' or 'redouble'.")
    script.questions.clear()
    script.lose()
    script.to_lobby()
    script.server("ford has joined you. Your running match was loaded.", "turn: marvin.", "unlimited matchlength")
    script.server("ford redoubles to 4. Type 'accept', 'reject' or 'redouble'.")
    script.server(board(length=9999, cells=AFTER_61, turn=1, cube=2, may="0:0", doubled=1))
    question = script.questions[0].question
    assert isinstance(question, TakeQuestion)
    assert (2, 1) == (question.state.cube, question.state.redoubles)
    assert is_beavered(question.state)
    assert ["accept"] == script.cube(CubeAction.TAKE)
    script.server("You accept the redouble. The cube shows 4.", "You roll 6 and 4.")
    script.server(board(length=9999, cells=AFTER_61, dice="6:4", cube=4, may="0:1"))
    assert (4, Owner.OPPONENT) == (script.state.cube, script.state.owner)
    assert 0 == script.agent.counters.differences


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"score": "0:0"}, True),
        ({"score": "0:0", "cube": 2, "may": "1:0"}, True),
        ({"score": "4:3"}, False),  # the Crawford game
        ({"score": "3:4"}, False),
        ({"score": "3:4", "crawford": 1}, True),
        ({"score": "4:3", "crawford": 1}, False),  # we need one point only
        ({"score": "3:0", "cube": 2, "may": "1:0"}, False),  # a dead cube
    ],
)
def test_doubling_is_considered_only_if_allowed_and_useful(fields: dict[str, object], expected: bool) -> None:  # noqa: FBT001 - parametrized
    script = resume(AFTER_61, **fields)
    script.server(PROMPT)
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert expected == question.may_double


# -- resignations ---------------------------------------------------------------------------------------------------


def test_a_resignation_is_offered_and_accepted() -> None:
    script = Script().to_my_roll()
    assert ["resign g"] == script.answer(ResignAnswer(2))
    script.server("You want to resign. ford will win 2 points.", "ford accepts and wins 2 points.")
    assert [] == script.server(f"score in 5 point match: ford-2 {ME}-0")
    assert State.BETWEEN_GAMES is script.agent.state


def test_after_a_rejected_resignation_only_a_higher_level_is_offered() -> None:
    script = Script().to_my_roll()
    script.answer(ResignAnswer(1))
    script.server("You want to resign. ford will win 1 point.")
    assert ["board"] == script.server("ford rejects. The game continues.")
    assert [] == script.server(board(cells=AFTER_61))
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert 2 == question.resign_from
    assert ["roll"] == script.roll()


def test_an_offer_is_evaluated_at_its_level() -> None:
    script = resume(AFTER_61, cube=2, may="0:1")
    script.server("ford wants to resign. You will win 4 points. Type 'accept' or 'reject'.")
    assert isinstance(script.questions[0].question, ResignationQuestion)
    assert 2 == script.state.resignation
    assert ["accept"] == script.verdict(accepted=True)


def test_an_offer_that_wins_the_match_is_accepted_at_once() -> None:
    script = resume(AFTER_61, score="4:0")
    assert ["accept"] == script.server("ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")


def test_an_offer_whose_amount_got_lost_is_rejected() -> None:
    script = Script(strict=False).to_my_roll()
    assert ["roll"] == script.roll()
    assert ["reject"] == script.server("** ford wanted to resign. Type 'accept' or 'reject'.")


def test_an_offer_that_was_rejected_and_comes_again_is_answered_again() -> None:
    script = Script().to_their_turn()
    for _ in range(3):
        script.server("ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")
        assert ["reject"] == script.verdict(accepted=False)
        assert ["board"] == script.server("You reject. The game continues.")
        assert [] == script.server(board(turn=-1, other_dice="6:1"))


def test_an_offer_is_answered_while_the_strategy_thinks() -> None:
    script = Script().to_my_move()
    script.server("ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")
    thinking = script.questions.pop(0)
    assert ["reject"] == script.verdict(accepted=False)
    assert ["board"] == script.server("You reject. The game continues.")
    assert [] == script.server(ROLLED_64)
    assert [] == script.questions, "the question which play is still open"
    play = thinking.question.plays[0]  # type: ignore[attr-defined]  # the first question was WhichPlay
    assert 1 == len(script.event(StrategyAnswered(script.now, thinking.key, PlayAnswer(play))))


def test_an_offer_that_crosses_our_roll() -> None:
    script = Script().to_my_roll()
    assert ["roll"] == script.roll()
    script.server("ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")
    assert [] == script.verdict(accepted=False), "the server has not answered the roll yet"
    assert ["reject"] == script.server("** ford wanted to resign. Type 'accept' or 'reject'.")
    assert ["board"] == script.server("You reject. The game continues.")
    assert ["time"] == script.server(board(cells=AFTER_61))
    assert ["roll"] == script.server(TIME), "the decision was made, and is sent again"


# -- games ----------------------------------------------------------------------------------------------------------


def test_the_next_game_is_joined_once() -> None:
    script = Script().to_their_turn()
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert ["join"] == script.server(NEXT_GAME)
    assert [] == script.server("** Please wait for ford to join too.")
    assert [] == script.wait(59)
    script.server("Starting a new game with ford.", "You rolled 6, ford rolled 4", "It's your turn to move.")
    assert [] == script.server(board(dice="6:4", score="1:0", colour=-1, direction=1, turn=-1))
    assert (2, (1, 0)) == (script.key.game, script.key.score)


def test_the_next_game_is_joined_although_its_invitation_was_lost() -> None:
    script = Script().to_my_roll()
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert ["join"] == script.wait(8.1)


def test_a_double_is_answered_in_the_position_after_our_play_although_its_board_got_lost() -> None:
    script = Script().to_my_move()
    position, play = script.state.position, script.plays()[0]
    script.first_play()
    script.server("ford doubles. Type 'accept' or 'reject'.")
    assert position.play(play) == script.state.position
    assert ["reject"] == script.cube(CubeAction.PASS)


def test_after_the_crawford_game_doubles_are_allowed_again() -> None:
    script = resume(AFTER_61, score="4:1")
    script.server("ford wins the game and gets 1 point. Sorry.", f"score in 5 point match: ford-2 {ME}-4", NEXT_GAME)
    script.server("Starting a new game with ford.", "You rolled 1, ford rolled 6", "ford makes the first move.")
    script.server(board(score="4:2", turn=-1, other_dice="6:1"))
    assert script.agent.tracked.state is not None
    assert (False, True) == (script.agent.tracked.state.crawford, script.agent.tracked.state.post_crawford)


# -- pauses and repetitions -----------------------------------------------------------------------------------------


def test_there_is_a_pause_between_two_commands() -> None:
    script = Script(timings=Timings(pause=1.5))
    script.connect()
    assert 1 == len(script.raw(b"login: "))
    assert [] == script.server(f"1 {ME} 1 h", f"2 {ME} 1 1 0 0 0 0 1 1 1 0 1 0 1 1500.00 0 1 0 0 0 UTC")
    assert ["show saved"] == script.wait(1.5)


def test_a_silent_connection_is_closed_and_a_quiet_lobby_is_kept_alive() -> None:
    script = Script().to_lobby()
    assert ["time"] == script.wait(121)
    assert [] == script.server("Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )")
    script.wait(1000)
    assert 1 <= len(script.hang_ups)


@given(st.lists(st.sampled_from(range(7)), max_size=12))
def test_no_decision_is_answered_twice_if_lines_are_repeated(repeats: list[int]) -> None:
    """The server's lines of one turn, any of them repeated at any time while they are still true."""
    script = Script(strict=False).to_my_roll()
    lines = [board(cells=AFTER_61), PROMPT]
    sent = script.server(*(lines[i % 2] for i in repeats))
    sent += script.roll()
    lines = ["You roll 6 and 4.", ROLLED_64, "Please move 2 pieces."]
    sent += script.server(*lines, *(lines[i % 3] for i in repeats))
    sent += script.first_play()
    sent += script.server(*(lines[i % 3] for i in repeats))
    assert ["roll", "move 24-20 24-18"] == sent
    assert [] == script.questions


def test_nothing_is_sent_on_an_abandoned_connection() -> None:
    script = Script().to_my_move()
    assert ["move 24-20 24-18"] == script.first_play()
    assert ["board"] == script.wait(8.1)
    assert ["board"] == script.wait(8.1)
    assert [] == script.wait(8.1)
    assert ["the server is silent"] == [hang_up.reason for hang_up in script.hang_ups]
    assert [] == script.wait(60)


def test_invented_positions_do_not_accumulate_questions() -> None:
    script = Script(strict=False).to_my_move()
    for turn in range(200):
        script.server(board(cells=AFTER_61, dice=f"{1 + turn % 5}:{2 + turn % 5}", score=f"{turn % 4}:{turn % 5}"))
    assert 8 == len(script.questions), "more than that the strategy never has to do at once"
    asked = len(script.questions)
    while script.questions:
        script.first_play()
        asked += len(script.questions) > 7
    assert asked <= 12, "what is no longer open is not asked"
    assert 1 == len([line for line in script.sent_so_far if line.startswith("move")]), "the one that is open"


def test_a_decision_that_an_xgid_cannot_express_has_none() -> None:
    state = MatchState(Position.start(), cube=3)
    assert xgid_of(state) is None
    assert "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10" == xgid_of(evolve(state, cube=1))
