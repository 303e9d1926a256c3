"""Known cases in which a server blocked a match or the lobby for ever, each with a script in which the wait ends."""

from __future__ import annotations

from collections import Counter

import pytest

from fibs_protocol.session import State
from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory, Feature
from fibsbot.bot.invitations import STUCK_MATCH_TEXT
from fibsbot.strategies.base import CubeAction
from fibsbot.strategies.questions import ResignationQuestion
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, PROMPT, ROLLED_64, TIME, Script, after, board

FORD = "5 ford - - 1 0 1500.00 0 0 1 h - -"
SAVED = ("  opponent          matchlength   score (your points first)", "  ford  5  1 -  3")
RESUMED = "ford has joined you. Your running match was loaded."
LEFT = "** You terminated the game. The game was saved."
DANCE = "0:-2:-2:-2:-2:-2:-2:0:0:0:0:0:0:0:0:0:0:0:-3:0:2:2:2:2:3:4"
"""We have four checkers on the bar of closed points."""
CLOSED_OUT = "0:0:0:0:0:4:5:0:0:0:0:0:0:0:0:0:0:0:-3:-2:-2:-2:-2:-2:-2:6"
"""All points on which our six checkers could enter are closed."""


def answer(script: Script, said: list[str], answers: dict[str, list[str]]) -> list[str]:
    """Answer the bot's commands repeatedly; return all of them."""
    sent = list(said)
    for line in sent:
        assert len(sent) < 1000, "a loop without a pause"
        sent += script.server(*answers.get(line, answers.get(line.split()[0], [])))
    return sent


def live_through(script: Script, seconds: float, answers: dict[str, list[str]]) -> Counter[str]:
    """Advance the clock on a server with these answers; return the number of times each command was sent."""
    said: Counter[str] = Counter()
    end = script.now + seconds
    while script.now < end and not script.hang_ups:
        said.update(answer(script, script.wait(1), answers))
    return said


def resumed(**settings: object) -> Script:
    """Resume the saved match with ford."""
    return Script(strict=False, **settings).to_lobby(saved=SAVED)


def climb(script: Script, answers: dict[str, list[str]], *, again: tuple[str, ...]) -> list[str]:
    """Go through all steps of a match without progress; `again` are the server's lines when it is resumed."""
    steps: list[str] = []
    for _ in range(3):
        live_through(script, 300, answers)
        steps = [event["step"] for event in script.events("stalled")]
        if script.hang_ups:
            script.hang_ups.clear()
            script.lose()
            script.connect()
            script.raw(b"login: ")
            answer(script, script.server(f"1 {ME} 1 h", OWN_INFO), answers)
        answer(script, script.server(*again), answers)
    return steps


STILL = {"show": [*SAVED], "time": ["Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )"]}
LADDER = ["leave and rejoin", "reconnect", "give up"]


@pytest.mark.parametrize(
    "still",
    [board(cells=DANCE, dice="5:3", score="1:3"), "board:You:ford:5:1:3:none", "** Please wait."],
    ids=["dance", "refused board", "no board"],
)
def test_a_stuck_match_is_left_then_resumed_after_reconnecting_then_abandoned(still: str) -> None:
    script = resumed()
    answers = {**STILL, "board": [still], "leave": [LEFT, f"5 {ME} - - 1 0 1500.00 0 0 1 h - -"]}
    answer(script, script.server(RESUMED), answers)
    assert LADDER == climb(script, answers, again=(RESUMED,))
    assert ["ford"] == [event["opponent"] for event in script.events("match_stuck")]
    assert 1 == script.agent.counters.stuck
    assert State.LOBBY is script.agent.state
    assert script.sent_so_far.count("board") < 40


def test_an_abandoned_match_is_not_resumed_but_others_are_played() -> None:
    memory = AgentMemory()
    memory.note_stuck("ford", 0.0)
    script = Script(strict=False)
    script.agent = Agent(script.agent.settings, memory)
    script.to_lobby(saved=SAVED)
    assert [] == [line for line in script.server(FORD, "6") if line.startswith("invite")]
    said = script.server("ford wants to resume a saved match with you.")
    assert ["tell"] == [line.split()[0] for line in said]
    assert ["stuck"] == [event["code"] for event in script.events("invitation_refused")]
    script.server("** ford won't listen to you.", "zaphod wants to play a 5 point match with you.")
    script.verdict(accepted=True)
    assert ["join zaphod"] == script.wait(1.5)
    script.server("** You are now playing a 5 point match with zaphod", "Starting a new game with zaphod.")
    script.server("zaphod wins the game and gets 5 points. Sorry.", "zaphod wins the 5 point match 5-0 .")
    assert ["leave"] == script.server(RESUMED)
    script.server(LEFT)
    assert State.LOBBY is script.agent.state
    assert 1 == script.agent.status.stuck


@pytest.mark.parametrize("refusal", ["** Not yet implemented: 'rawwho'", "** Unknown command: 'rawwho'"])
def test_a_server_without_rawwho_is_asked_once(refusal: str) -> None:
    script = Script(invite="zaphod")
    script.connect()
    script.raw(b"login: ")
    answers = {"show": ["no saved games."], "set": ["Value of 'boardstyle' set to 3."], "rawwho": [refusal]}
    said = answer(script, script.server(f"1 {ME} 1 h", OWN_INFO), answers)
    said += live_through(script, 700, {**answers, **STILL}).elements()
    assert 1 == said.count("rawwho")
    assert ["rawwho"] == [event["feature"] for event in script.events("server_feature")]
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    script.server("** Error: can't find player ford")
    assert ["invite zaphod 1"] == script.server("5 zaphod - - 1 0 1500.00 0 0 1 h - -")


def test_missing_features_are_remembered_on_the_next_connection() -> None:
    script = Script().to_lobby()
    script.agent._connection.context.note_lack(Feature.RAWWHO)
    script.lose()
    script.to_lobby()
    assert "rawwho" not in script.wait(1000)


def test_a_missing_list_of_users_does_not_block_the_lobby() -> None:
    script = Script(invite="zaphod").to_lobby()
    script.lose()
    script.connect()
    script.raw(b"login: ")
    answers = {"show": ["no saved games."], "set": ["Value of 'boardstyle' set to 3."]}
    answer(script, script.server(f"1 {ME} 1 h", OWN_INFO), answers)
    script.wait(17)
    assert ["invite zaphod 1"] == script.server("5 zaphod - - 1 0 1500.00 0 0 1 h - -")
    assert 2 == script.sent_so_far.count("rawwho")


def test_our_own_status_line_that_contradicts_the_match_leads_to_a_new_connection() -> None:
    playing = [f"5 {ME} ford - 1 0 1500.00 0 0 1 h - -", "6"]
    script = Script(strict=False).to_lobby()
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    answers = {"board": ["You are not playing."], "rawwho": playing, "show": ["no saved games."]}
    answer(script, script.server("Starting a new game with .", *playing, "You are not playing."), answers)
    for _ in range(2):
        live_through(script, 30, answers)
        assert ["the server says that we play with ford, and shows no board"] == [it.reason for it in script.hang_ups]
        script.hang_ups.clear()
        script.lose()
        script.connect()
        script.raw(b"login: ")
        answer(script, script.server(f"1 {ME} 1 h", OWN_INFO, *playing), answers)
    live_through(script, 100, {**answers, **STILL, "set": ["Value of 'boardstyle' set to 3."]})
    assert [] == script.hang_ups
    assert ["ford"] == [event["opponent"] for event in script.events("match_stuck")]
    script.server("zaphod wants to play a 5 point match with you.", "Type 'join zaphod' to accept.")
    script.verdict(accepted=True)
    assert ["join zaphod"] == script.wait(1.5)


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({"score": "5:3"}, [[5, 3]]),
        ({"score": "4:3", "cells": "0:-5:-5:-5:" + ":".join(["0"] * 22)}, [[5, 3]]),
        ({"score": "3:4", "cells": "0:5:5:5:" + ":".join(["0"] * 22)}, [[3, 5]]),
        ({"score": "1:3", "cells": "0:-5:-5:-5:" + ":".join(["0"] * 22), "turn": 0}, []),
    ],
)
def test_a_resumed_match_that_is_already_over_is_left(fields: dict[str, str], ended: list[list[int]]) -> None:
    script = resumed()
    answers = {**STILL, "board": [board(**fields)], "join": ["** The match is already over."], "leave": [LEFT]}  # type: ignore[arg-type]
    said = Counter(answer(script, script.server(RESUMED), answers))
    said += live_through(script, 100, answers)
    assert 1 == said["leave"]
    assert said["board"] < 5
    assert ended == [event["score"] for event in script.events("match_ended")]
    assert ["ford"] == [event["opponent"] for event in script.events("match_stuck")]
    assert "invite ford" not in script.server(FORD, "6") + list(live_through(script, 100, STILL).elements())


def test_a_refused_play_whose_dice_come_again_is_not_sent_again() -> None:
    script = Script(strict=False).to_my_move()
    plays: Counter[str] = Counter()
    said = script.first_play()
    rolled = ["** You can't move from 24 in your first move.", "You roll 6 and 4.", ROLLED_64, "Please move 2 pieces."]
    answers = {"move": rolled, "board": [ROLLED_64], "leave": [LEFT], **STILL}
    for _ in range(200):
        plays.update(line for line in answer(script, said, answers) if line.startswith("move"))
        said = script.first_play() if script.questions else script.wait(1)
    assert {1} == set(plays.values()), plays
    assert 2 <= len(plays) <= 5
    assert "leave" in script.sent_so_far


@pytest.mark.parametrize("refusal", ["** It's not your turn to roll the dice.", "** Please wait."])
def test_no_command_is_refused_twice_without_something_new(refusal: str) -> None:
    script = Script(strict=False).to_my_roll()
    answers = {"roll": [refusal, PROMPT], "board": [board(cells=AFTER_61)], "leave": [LEFT], **STILL}
    said = Counter(answer(script, script.roll(), answers))
    said += live_through(script, 200, answers)
    assert refusal == "** Please wait." or 1 == said["roll"]
    assert said["roll"] <= 5
    assert 1 == said["leave"]
    assert ["leave and rejoin"] == [event["step"] for event in script.events("stalled")]


def to_time() -> Script:
    """Return a script whose agent asks for the time, as nothing has answered its `roll`."""
    script = Script(strict=False).to_my_roll()
    assert ["roll"] == script.roll()
    assert ["board"] == script.wait(8.1)
    assert ["time"] == script.server(board(cells=AFTER_61))
    return script


@pytest.mark.parametrize("time", ["The time is 18:04:27.", "** Not yet implemented: 'time'"])
def test_an_answer_to_time_in_another_form_is_accepted(time: str) -> None:
    script = to_time()
    assert ["roll"] == script.server(time)
    script.server("You roll 6 and 4.", ROLLED_64)
    assert 1 == len(script.questions)


def test_a_line_that_may_have_another_cause_than_time_proves_nothing() -> None:
    script = to_time()
    assert [] == script.server("Today is a nice day.")
    assert ["board"] == script.wait(2.1), "a server without `time`: a second board"
    assert ["roll"] == script.server(board(cells=AFTER_61))


def test_the_late_refusal_of_an_unknown_command_is_no_answer_to_time() -> None:
    script = to_time()
    assert [] == script.server("** Unknown command: 'kibitz'")
    assert ["time"] == script.wait(10.1)


def test_the_next_game_is_joined_again_only_once_the_server_has_dealt_with_the_first_join() -> None:
    script = Script(strict=False).to_my_roll()
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert ["join"] == script.server("Type 'join' if you want to play the next game, type 'leave' if you don't.")
    assert ["board"] == script.wait(8.1)
    assert [] == script.server(board(cells=AFTER_61, score="1:0", turn=0))
    assert ["time"] == script.wait(8.1)
    assert ["join"] == script.server(TIME)


def test_a_decision_of_which_nothing_is_known_ends_with_a_new_connection() -> None:
    script = to_time()
    said = [*script.wait(5), *script.server("7 zaphod zaphod logs in."), *script.wait(5)]
    said += script.server("8 zaphod zaphod logs out.")
    assert ["time"] == [line for line in said if line != "rawwho zaphod"]
    assert [] == script.wait(8)
    assert ["no answer tells whether a command was carried out"] == [it.reason for it in script.hang_ups]


def test_a_second_board_replaces_time_on_servers_without_it() -> None:
    script = Script(strict=False).to_my_roll()
    script.agent._connection.context.note_lack(Feature.TIME)
    assert ["roll"] == script.roll()
    assert ["board"] == script.wait(8.1)
    assert ["board"] == script.server(board(cells=AFTER_61))
    assert ["roll"] == script.server(board(cells=AFTER_61))


def reject_after_a_play(script: Script) -> str:
    """Answer an offer to resign after which the opponent has played on; return the board before that."""
    script.to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1), "ford wants to resign. You will win 1 point. Type 'accept' or 'reject'.")
    script.server("ford rolls 2 and 1.", "ford moves 19-21 19-20 .", PROMPT)
    script.questions = script.questions[-1:]
    assert isinstance(script.questions[0].question, ResignationQuestion)
    assert ["reject"] == script.verdict(accepted=False)
    return cells


def test_an_offer_to_resign_is_answered_although_the_opponent_has_played_on() -> None:
    script = Script(strict=False)
    reject_after_a_play(script)
    assert ["board"] == script.server("You reject. The game continues.")
    assert State.UNCLEAR is script.agent.state


def test_an_expired_offer_causes_one_refusal() -> None:
    script = Script(strict=False)
    cells = reject_after_a_play(script)
    assert ["board"] == script.server("** ford didn't double or resign.")
    script.server(board(cells=cells), PROMPT)
    script.questions = script.questions[-1:]
    assert ["roll"] == script.cube(CubeAction.ROLL)
    assert 1 == script.sent_so_far.count("reject")


@pytest.mark.parametrize("silent", [True, False])
def test_a_login_that_is_answered_unusually_takes_no_longer_than_20_seconds(*, silent: bool) -> None:
    answers = {} if silent else {word: ["What do you mean?"] for word in ("show", "set", "toggle")}
    script = Script(strict=False)
    took = []
    for _ in range(2):
        script.connect()
        script.raw(b"login: ")
        began = script.now
        answer(script, script.server(f"1 {ME} 1 h", OWN_INFO.replace(" 1457.85 0 1 ", " 1457.85 0 0 ")), answers)
        while not script.agent._connection.login.done:
            script.server("13 zaphod Does anybody play?")
            answer(script, script.wait(0.5), answers)
        took.append(script.now - began)
        script.lose()
    assert took[0] <= 21
    assert took[1] <= 7, "it was paid for once"


def test_a_board_that_was_corrected_is_noted_and_counted() -> None:
    script = Script(strict=False).to_their_turn()
    wrong = board(cells="-1:-1" + AFTER_61[4:], turn=-1).replace("board:You:ford:5:0:0:-1:", "board:You:ford:5:0:0:1:")
    script.server(wrong)
    assert 1 == script.agent.counters.corrected
    assert 1 == len(script.events("board_corrected"))
    assert 0 == script.agent.counters.unknown
    script.server(wrong)
    assert (2, 1) == (script.agent.counters.corrected, len(script.events("board_corrected"))), "recorded once"


def test_a_match_resumed_on_a_dance_continues_after_an_empty_move() -> None:
    """BaldLies saves a match between a roll and the line `can't move`."""
    script = resumed()
    dance = board(cells=CLOSED_OUT, dice="6:4")
    answer(script, script.server(RESUMED), {"board": [dance]})
    said = live_through(script, 40, {"board": [dance], "move": [board(cells=CLOSED_OUT, turn=-1)]})
    assert (1, []) == (said["move"], script.events("stalled"))
    assert State.THEIR_TURN is script.agent.state


def test_a_match_left_by_another_bot_as_stuck_counts_as_stuck() -> None:
    script = resumed(invite="ford", length=7)
    script.server(FORD, "6")
    script.wait(1)
    assert ["invite ford"] == [line for line in script.sent_so_far if line.startswith("invite")]
    script.server("** You invited ford to resume a saved match.", f"12 ford {STUCK_MATCH_TEXT}")
    script.wait(31)
    script.server(FORD, "6")
    script.wait(120)
    assert "invite ford 7" in script.sent_so_far


OURS = f"5 ford {ME} - 1 0 1500.00 0 0 1 h - -"
AGAIN = "7 ford ford logs in."
NO_RAWWHO = "** Not yet implemented: 'rawwho'"


@pytest.mark.parametrize("sign", [AGAIN, FORD, FORD.replace("ford -", "ford zaphod")])
@pytest.mark.parametrize("who", [[NO_RAWWHO], [FORD, "6"]])
def test_a_match_is_left_if_the_present_opponent_is_not_in_it(sign: str, who: list[str]) -> None:
    """On JIBS, a player who reconnects is no longer in the match."""
    script = Script(strict=False).to_their_turn()
    patience = script.agent.settings.timings.patience
    seen = board(cells=AFTER_61, turn=-1)
    script.server(seen)
    answers = {"board": [seen], "rawwho": who, "leave": [LEFT]}
    live_through(script, patience / 2, answers)
    script.server(sign)
    said = live_through(script, 2 * patience - 5, answers)
    assert (1, 0) == (said["rawwho ford"], said["leave"]), "a list that is a moment old is put right by then"
    assert 1 == live_through(script, 15, answers)["leave"]
    assert (["leave and rejoin"], State.LOBBY) == (
        [event["step"] for event in script.events("stalled")],
        script.agent.state,
    )


@pytest.mark.parametrize("follows", [OURS, "ford moves 24-18 13-11 .", None])
def test_an_outdated_list_does_not_end_a_match(follows: str | None) -> None:
    script = Script(strict=False).to_their_turn()
    script.server(FORD)
    if follows is not None:
        script.server(*(("ford rolls 6 and 2.",) if "moves" in follows else ()), follows)
    answers = {"board": [board(cells=AFTER_61, turn=-1)], "rawwho": [OURS]}
    assert 0 == live_through(script, 4 * script.agent.settings.timings.patience, answers)["leave"]
    assert [] == script.events("stalled")


def test_a_new_match_shown_only_by_a_board_replaces_a_stuck_one() -> None:
    """JIBS sends a player who joins only the start of the game."""
    memory = AgentMemory()
    memory.note_stuck("ford", 0.0)
    script = Script(strict=False)
    script.agent = Agent(script.agent.settings, memory)
    script.to_lobby()
    script.server(FORD, "6", "ford wants to play a 5 point match with you.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    script.server(f"5 {ME} ford - 1 0 1500.00 0 0 1 h - -", OURS, "6")
    said = script.server("Starting a new game with ford.", "You rolled 6, ford rolled 1", "It's your turn to move.")
    said += live_through(script, 5, {"board": [board(dice="6:1")]})
    assert "leave" not in said
    assert script.agent.state is State.MY_MOVE
    assert [(5, False)] == [(event["length"], event["resumed"]) for event in script.events("match_started")]
    assert memory.history_of("ford").stuck is None


def test_a_saved_match_that_is_resumed_by_every_invitation_is_not_left_for_ever() -> None:
    memory = AgentMemory()
    memory.note_stuck("ford", 0.0)
    script = Script(strict=False, invite="ford", length=1)
    script.agent = Agent(script.agent.settings, memory)
    script.to_lobby(saved=SAVED)
    answers = {**STILL, "invite": [RESUMED], "leave": [LEFT, FORD, "6"], "rawwho": [FORD, "6"]}
    said = Counter(answer(script, script.server(FORD, "6"), answers))
    said += live_through(script, 3 * 3600, answers)
    assert (5, 5) == (said["invite ford 1"], said["leave"])
    assert [60, 120, 240, 480, None] == [event["pause"] for event in script.events("start_failed")]
    assert ("ford",) == script.agent.status.given_up
    assert "no more matches with ford" in script.agent.status.sentence
    assert ["tell"] == [line.split()[0] for line in script.server("ford wants to play a 1 point match with you.")]
    assert "stuck" == script.events("invitation_refused")[-1]["code"]


def test_a_player_with_whom_matches_go_on_again_is_invited_as_before() -> None:
    script = Script(strict=False)
    sent = script.agent._connection.sent_invitations
    for _ in range(5):
        sent.start_failed("ford")
    assert sent.starts_fail("ford")
    sent.start_succeeded("ford")
    assert not sent.starts_fail("ford")
    assert () == script.agent.status.given_up
