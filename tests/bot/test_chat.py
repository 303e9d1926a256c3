"""The bot's chat: greetings, answers, nudges, orders of operators."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.session import State
from fibsbot.bot.chat import HINT, MAX_A_MINUTE, NUDGE_PAUSE, QUITTING, WELCOME, Topic
from fibsbot.bot.command_queue import CHAT_MAX_AGE, MAX_CHAT, MAX_CHAT_LENGTH
from fibsbot.bot.events_and_actions import PauseRequested
from fibsbot.bot.orders import Order
from fibsbot.bot.settings import ChatSettings, Timings
from fibsbot.policy import NamePattern
from fibsbot.setting import DAY
from tests.bot.agent_script import AFTER_61, ME, ROLLED_64, TIME, Script, after, board

QUIET = ChatSettings(greet=False)
GREETING = f"kibitz {ChatSettings().greeting}"
OPERATED = ChatSettings(greet=False, operators=("slarti",))
JOINED = ("** You are now playing a 5 point match with ford", "Starting a new game with ford.")


def who(name: str, client: str = "-", *, opponent: str = "-") -> str:
    return f"5 {name} {opponent} - 1 0 1623.45 2396 0 1 h {client} -"


def tells_to(lines: list[str], name: str) -> list[str]:
    """Return the texts of the tells to a player."""
    return [line.removeprefix(f"tell {name} ") for line in lines if line.startswith(f"tell {name} ")]


def asked(script: Script, text: str, name: str = "ford") -> list[str]:
    """Send us a tell; return the texts of our replies."""
    lines = script.server(f"12 {name} {text}")
    if lines:
        assert [] == script.server(f"16 {lines[-1].removeprefix('tell ')}")
    return tells_to(lines, name)


def end_turn(script: Script) -> list[str]:
    """Play the 6 and 4; return the lines sent during the opponent's turn."""
    play = script.plays()[0]
    assert ["move"] == [line.split()[0] for line in script.first_play()]
    return script.server(board(turn=-1, cells=after(AFTER_61, play)))


# -- greeting -------------------------------------------------------------------------------------------------------


def joining(script: Script) -> list[str]:
    """Accept ford's invitation; return the next commands."""
    script.server("ford wants to play a 5 point match with you.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    return script.server(*JOINED)


def resuming(script: Script) -> list[str]:
    """Resume the match with ford; return the next commands."""
    script.server("8 ford ford drops connection.", "Connection with ford timed out. The game was saved.")
    script.wait(400)
    script.server(who("ford"))
    lines = script.server("ford has joined you. Your running match was loaded.")
    return lines + script.server(board(turn=-1, cells=AFTER_61))


def test_the_opponent_is_greeted_once_per_match() -> None:
    script = Script(chat=ChatSettings()).to_lobby()
    assert [GREETING] == joining(script)
    script.server("19 Hello", "** 1 user heard you.")
    assert GREETING not in resuming(script)


def test_the_opponent_is_greeted_again_in_the_next_match() -> None:
    script = Script(chat=ChatSettings()).to_lobby()
    joining(script)
    script.server("19 Hello", "You win the 5 point match 5-0 .")
    assert State.LOBBY is script.agent.state
    assert [GREETING] == joining(script)


def test_the_opponent_is_greeted_again_in_a_next_match_whose_announcement_is_lost() -> None:
    script = Script(chat=ChatSettings(), strict=False).to_lobby()
    joining(script)
    script.server("19 Hello", "You win the 5 point match 5-0 .", "ford wants to play a 5 point match with you.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    script.server(f"5 {ME} ford - 1 0 1500.00 0 0 1 h - -", "6", "Starting a new game with ford.", board(dice="6:4"))
    assert ["board"] == script.wait(2.1)
    script.server(board(dice="6:4"))
    script.first_play()
    assert [GREETING] == script.server(board(turn=-1, other_dice="3:1")), "after the play"


def test_bots_are_not_greeted() -> None:
    script = Script(chat=ChatSettings()).to_lobby()
    script.server(who("ford", "fibsbot_0.1"))
    assert [] == joining(script)


def test_a_greeting_for_a_finished_match_is_not_sent() -> None:
    script = Script(chat=ChatSettings()).to_lobby()
    script.server(
        "ford has joined you. Your running match was loaded.",
        board(cells=AFTER_61, dice="6:4"),
        "ford logs out. The game was saved.",
        board(player="arthur"),
    )
    assert GREETING not in script.sent_so_far


@pytest.mark.parametrize("greeting", ["", "  ", "two\nlines", "** stars", "grüezi", "x" * 241])
def test_a_greeting_that_cannot_be_sent_is_an_invalid_setting(greeting: str) -> None:
    with pytest.raises(ValueError, match="greeting"):
        ChatSettings(greeting=greeting)


def test_watchers_are_welcomed_once_if_enabled() -> None:
    script = Script(chat=ChatSettings(greet=False, greet_watchers=True)).to_their_turn()
    watches = "trillian is watching you."
    assert [f"tell trillian {WELCOME}"] == script.server(watches)
    assert [] == script.server("16 trillian Welcome", "trillian stops watching you.", watches, "robot is watching you.")
    assert [] == Script().to_their_turn().server(watches)


# -- answering ------------------------------------------------------------------------------------------------------


def test_questions_are_answered_by_tell() -> None:
    script = Script().to_their_turn()
    assert ["We're playing a 5-point match; it is 0-0."] == asked(script, "score")
    assert ["I play matches of 1 to 25 points with anybody."] == asked(script, "settings")
    assert re.fullmatch(r"Since I started \d seconds? ago I have not finished a match yet\.", asked(script, "stats")[0])
    assert re.fullmatch(r"I'm a bot \(fibsbot_\S+\) .*", asked(script, "who are you?")[0])
    (answered,) = asked(script, "help")
    assert {Topic.HELP, Topic.EVALUATION} == {topic for topic in Topic if topic.value not in answered}


@pytest.mark.parametrize("text", ["help", "HELP!", " Help ", f"{ME}, help please", "hello marvin help", "help ?"])
def test_case_punctuation_blanks_and_our_name_are_ignored(text: str) -> None:
    assert ["Tell me one of these"] == [line[:20] for line in asked(Script().to_lobby(), text)]


@pytest.mark.parametrize("text", ["who are you", "who r u", "Are you a bot?", "r u a bot", "are you human??"])
def test_the_bot_says_that_it_is_a_bot(text: str) -> None:
    assert ["I'm a bot"] == [line[:9] for line in asked(Script().to_lobby(), text)]


def test_only_the_opponent_may_ask_in_a_kibitz() -> None:
    script = Script().to_their_turn()
    assert ["tell ford We're playing a 5-point match; it is 0-0."] == script.server("15 ford score?")
    assert [] == script.server("16 ford We", "15 trillian score", "14 trillian score", "13 ford score")


def test_the_score_is_given_from_the_point_of_view_of_the_asker() -> None:
    script = Script().to_lobby()
    assert ["I'm not in a match right now."] == asked(script, "score", "trillian")
    script.server("ford has joined you. Your running match was loaded.")
    script.server(board(turn=-1, score="1:3", cells=AFTER_61))
    assert ["We're playing a 5-point match; you lead 3-1."] == asked(script, "score")
    assert ["I'm playing a 5-point match with ford; ford leads 3-1."] == asked(script, "score", "arthur")


def test_the_same_question_is_answered_once_per_window() -> None:
    script = Script().to_lobby()
    assert 1 == len(asked(script, "help"))
    assert [] == asked(script, "Help!")
    assert 1 == len(asked(script, "stats")), "another question"
    assert 1 == len(asked(script, "help", "trillian")), "another person"
    script.wait(ChatSettings().window + 1)
    assert 1 == len(asked(script, "help"))


def test_a_question_with_another_answer_is_answered_again() -> None:
    script = Script(chat=QUIET).to_lobby()
    assert ["I'm not in a match right now."] == asked(script, "score")
    assert 1 == len(asked(script, "settings"))
    script.server("ford has joined you. Your running match was loaded.")
    script.server(board(turn=-1, score="1:3", cells=AFTER_61))
    assert ["We're playing a 5-point match; you lead 3-1."] == asked(script, "score")
    assert [] == asked(script, "score")
    script.event(PauseRequested(script.now, paused=True))
    assert ["I'm taking a break and not starting new matches. Please try again later."] == asked(script, "settings")


def test_an_unknown_question_gets_one_hint() -> None:
    script = Script().to_lobby()
    assert [HINT] == asked(script, "what is six times nine")
    assert [] == asked(script, "why?")
    assert [HINT] == asked(script, "why?", "trillian")


@pytest.mark.parametrize("text", ["hi", "gg", "Thank you!", "Good luck :)", "???", "", ":-)"])
def test_politeness_needs_no_hint(text: str) -> None:
    assert [] == asked(Script().to_lobby(), text)


def test_a_player_who_was_answered_gets_no_hint() -> None:
    script = Script().to_lobby()
    asked(script, "help")
    assert [] == asked(script, "and why do you play so badly?")


def test_kibitzing_is_not_answered() -> None:
    assert [] == Script().to_their_turn().server("15 ford what a roll", "15 ford you are lucky", "14 arthur who r u")


@pytest.mark.parametrize("name", [ME, "RepBotNG", "MissManners", "robot_x", "zaphod"])
def test_other_bots_services_and_ourselves_get_no_answer(name: str) -> None:
    chat = ChatSettings(greet=False, ignore=(*ChatSettings().ignore, NamePattern("zap*")))
    script = Script(chat=chat).to_lobby()
    script.server(who("robot_x", "fibsbot_0.1"))
    script.wait(600)
    script.server("Sunday, time")
    assert [] == [line for text in ("help", "who are you", "what") for line in script.server(f"12 {name} {text}")]


def test_echoes_and_shouts_are_not_answered() -> None:
    lines = ("16 ford help", "16 help", "17 help", "18 help", "19 help", "13 ford help", "20 ford help")
    assert [] == Script().to_their_turn().server(*lines)


def test_answers_can_be_switched_off() -> None:
    assert [] == asked(Script(chat=ChatSettings(answer=False)).to_lobby(), "help")


# -- limits ---------------------------------------------------------------------------------------------------------


def test_a_decision_is_sent_before_any_chat() -> None:
    script = Script().to_my_roll()
    assert [] == script.server("12 ford score", "12 ford help"), "a decision is due"
    assert ["roll"] == script.roll()
    assert [] == script.server("You roll 6 and 4.", ROLLED_64, "Please move 2 pieces.")
    lines = end_turn(script)
    assert ["We're playing a 5-point match; it is 0-0."] == tells_to(lines, "ford")
    assert 1 == len(tells_to(script.server("16 ford We play"), "ford"))


def test_a_decision_does_not_wait_for_an_echo() -> None:
    script = Script().to_their_turn()
    assert 1 == len(script.server("12 ford score"))
    script.server("ford moves 17-23 19-20 .", board(cells=AFTER_61), "It's your turn. Please roll or double")
    assert ["roll"] == script.roll()
    assert [] == script.server("** There is no one called ford"), "that was not the answer to `roll`"
    assert [] == script.server("You roll 6 and 4.", ROLLED_64, "Please move 2 pieces.")


def test_a_late_reply_is_dropped() -> None:
    script = Script().to_my_roll()
    script.server("12 ford score")
    script.wait(CHAT_MAX_AGE + 1)
    script.roll()
    script.server("You roll 6 and 4.", ROLLED_64, "Please move 2 pieces.")
    assert [] == end_turn(script)


def test_waiting_tells_are_dropped_when_the_player_logs_out() -> None:
    script = Script().to_my_roll()
    script.server("12 trillian score", "8 trillian trillian logs out.")
    script.roll()
    script.server("You roll 6 and 4.", ROLLED_64, "Please move 2 pieces.")
    assert [] == end_turn(script)


def test_a_crowd_is_answered_in_moderation() -> None:
    script = Script().to_lobby()
    answered = [name for n in range(50) if asked(script, "help", name := f"{chr(97 + n % 26)}{'x' * (n // 26 + 2)}")]
    assert MAX_A_MINUTE == len(answered)
    script.wait(61)
    assert 1 == len(asked(script, "help", "late"))


def test_the_number_of_waiting_replies_is_bounded() -> None:
    script = Script().to_my_roll()
    for number in range(30):
        script.server(f"12 x{'y' * number} help")
    assert MAX_CHAT == len(script.events("answered"))


@pytest.mark.parametrize("first", ["who are you?", "help", "42", HINT, ChatSettings().greeting])
def test_a_conversation_between_two_of_our_bots_ends(first: str) -> None:
    scripts = {"eddie": Script().to_lobby(), "deep_thought": Script().to_lobby()}
    lines, said = [("eddie", first)], 0
    while lines:
        listener, text = lines.pop()
        speaker = next(name for name in scripts if name != listener)
        lines += [(speaker, answer) for answer in asked(scripts[listener], text, speaker)]
        said += 1
    assert said <= 3, "neither knows that the other is a bot"


# -- nudges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["12", "15"])
@pytest.mark.parametrize("text", ["move", "ROLL!", "move move move", "marvin, your turn", "play please", "hello??"])
def test_a_nudge_of_the_opponent_requests_the_board(kind: str, text: str) -> None:
    script = Script().to_their_turn()
    assert ["board"] == script.server(f"{kind} ford {text}")
    assert [{"by": "ford", "word": "move"}] == script.events("nudged")


def test_join_between_games_joins() -> None:
    script = Script().to_their_turn()
    won = ("ford wins the game and gets 1 point. Sorry.", "score in 5 point match: marvin-0 ford-1")
    assert [] == script.server(*won)
    assert ["join"] == script.server("15 ford join")


def test_only_nudges_of_the_opponent_count_and_not_too_often() -> None:
    script = Script().to_their_turn()
    assert [] == script.server("15 trillian move", "14 ford move", "13 ford move")
    assert ["board"] == script.server("15 ford move")
    assert [] == script.server(board(turn=-1, other_dice="6:1"), "15 ford move", "15 ford roll")
    script.wait(NUDGE_PAUSE)
    assert ["board"] == script.server("15 ford move")


def test_a_nudge_while_the_strategy_is_thinking_does_nothing() -> None:
    script = Script().to_my_roll()
    assert [] == script.server("15 ford move")
    assert ["roll"] == script.roll()


def test_a_nudge_after_a_play_was_sent_requests_the_board_once() -> None:
    script = Script().to_my_move()
    (play,) = script.first_play()
    assert [] == script.server("15 ford move"), "one command at a time"
    assert ["board"] == script.wait(Timings().watchdog)
    assert ["time"] == script.server(ROLLED_64)
    assert [play] == script.server(TIME)


def test_a_nudge_recovers_from_a_lost_line() -> None:
    script = Script(timings=Timings(pause=0, watchdog=600), strict=False).to_their_turn()
    assert ["board"] == script.server("15 ford roll")
    script.server(board(cells=AFTER_61))
    assert State.MY_ROLL is script.agent.state


# -- operators ------------------------------------------------------------------------------------------------------


def test_an_operator_gets_the_status() -> None:
    script = Script(chat=OPERATED).to_their_turn()
    assert ["Playing ford, 0-0 of 5."] == asked(script, "status", "slarti")
    assert ["Playing ford, 0-0 of 5."] == asked(script, "STATUS ", "slarti"), "as often as wanted"
    assert all(order.value in line for order in Order for line in asked(script, "help", "slarti"))


@pytest.mark.parametrize("text", ["pause.", "Pause, please!", f"{ME}: pause", " pause now"])
def test_an_order_may_be_polite_and_punctuated(text: str) -> None:
    script = Script(chat=OPERATED).to_lobby()
    assert ["Waiting for a match, paused."] == asked(script, text, "slarti")


@pytest.mark.parametrize("text", ["don't pause", "pause it", "pause resume"])
def test_more_than_an_order_is_not_one(text: str) -> None:
    assert [HINT] == asked(Script(chat=OPERATED).to_lobby(), text, "slarti")


def test_an_operator_pauses_and_resumes() -> None:
    script = Script(chat=OPERATED).to_lobby()
    assert ["Waiting for a match, paused."] == asked(script, "pause", "slarti")
    refused = tells_to(script.server("ford wants to play a 5 point match with you."), "ford")
    assert ["I'm taking a break and not starting new matches. Please try again later."] == refused
    script.server("16 ford I am")
    assert ["Waiting for a match."] == asked(script, "resume", "slarti")
    assert [] == script.server("arthur wants to play a 5 point match with you.")
    assert 1 == len(script.questions)


def test_finish_plays_the_match_to_its_end_first() -> None:
    script = Script(chat=OPERATED).to_their_turn()
    assert ["Playing ford, 0-0 of 5, then leaving."] == asked(script, "finish", "slarti")
    assert [] == script.hang_ups
    assert ["bye"] == script.server("ford wins the 5 point match 5-0 .")


@pytest.mark.parametrize("word", ["finish", "last"])
def test_finish_without_a_match_answers_before_it_leaves(word: str) -> None:
    script = Script(chat=OPERATED).to_lobby()
    assert ["tell slarti Waiting for a match, then leaving."] == script.server(f"12 slarti {word}")
    assert ["bye"] == script.server("16 slarti Waiting")


@pytest.mark.parametrize("place", [Script.to_lobby, Script.to_my_roll, Script.to_my_move, Script.to_their_turn])
def test_quit_logs_out_at_once_and_says_nothing_after(place: Callable[[Script], Script]) -> None:
    script = Script(chat=OPERATED)
    place(script)
    assert [f"tell slarti {QUITTING}", "bye"] == script.server("12 slarti quit")
    assert ["told to quit"] == [hang_up.reason for hang_up in script.hang_ups]
    assert [] == script.wait(100)
    assert [{"by": "slarti", "order": "quit"}] == script.events("ordered")


@pytest.mark.parametrize("name", ["Slarti", "SLARTI", "slart", "slartibart", "ford"])
def test_operator_names_are_compared_exactly(name: str) -> None:
    script = Script(chat=OPERATED).to_lobby()
    assert [HINT] == asked(script, "quit", name)
    assert [] == asked(script, "pause", name)
    assert [] == script.hang_ups
    assert not script.agent.status.paused


def test_orders_are_accepted_only_in_tells() -> None:
    chat = ChatSettings(greet=False, operators=("ford",))
    script = Script(chat=chat).to_their_turn()
    assert [] == script.server("15 ford quit", "13 ford quit", "14 ford quit", "16 ford quit")
    assert [] == script.hang_ups


# -- arbitrary chat -------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["ford", "trillian", ME, "RepBotNG", "gnubot", "You", "slarti"])
TEXTS = st.one_of(
    st.sampled_from([topic.value for topic in Topic] + [order.value for order in Order] + ["move", "join", "hello?"]),
    st.text(max_size=100),
    st.text(st.characters(max_codepoint=127), max_size=300),
)
LINES = st.tuples(st.sampled_from([*range(12, 21)]), NAMES, TEXTS).map(lambda said: " ".join(map(str, said)))
STEPS = st.lists(st.one_of(LINES, st.floats(0, 100)), max_size=60)


@given(place=st.sampled_from(["to_lobby", "to_their_turn", "to_my_roll"]), steps=STEPS)
def test_replies_to_arbitrary_chat_stay_within_bounds(place: str, steps: list[Any]) -> None:
    script = Script(chat=QUIET, timings=Timings(pause=0, keep_alive=DAY, deadline=DAY))
    getattr(script, place)()
    begun, answers = script.now, len(script.sent_so_far)
    for step in steps:
        if isinstance(step, float):
            script.wait(step)
        else:
            script.raw(step.encode("utf-8") + b"\r\n")
    sent = script.sent_so_far[answers:]
    assert {line.split()[0] for line in sent} <= {"tell", "kibitz", "whisper", "board", "join", "leave"}
    assert all(re.fullmatch(r"[ -~]+", line) and "**" not in line for line in sent)
    assert all(len(line) <= len("tell trillian ") + MAX_CHAT_LENGTH for line in sent)
    windows = 1 + (script.now - begun) // ChatSettings().window
    for name in ("ford", "trillian", "slarti"):
        assert len(tells_to(sent, name)) <= (len(Topic) + 1) * windows
    assert not any(tells_to(sent, name) for name in (ME, "RepBotNG", "gnubot"))
    assert not script.hang_ups or "silent" in script.hang_ups[0].reason or "board" in script.hang_ups[0].reason


def test_the_greeting_names_the_opponent() -> None:
    script = Script(chat=ChatSettings(greeting="Hi {opponent}, I am a program.")).to_lobby()
    script.server("ford has joined you. Your running match was loaded.", board(turn=-1, other_dice="6:1"))
    script.wait(3)
    assert "kibitz Hi ford, I am a program." in script.sent_so_far
