"""Known differences between servers, each with a script in which the agent handles it."""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from fibsbot.match import Owner
from fibsbot.strategies.base import CubeAction
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, PROMPT, ROLLED_64, START_CELLS, Script, after, board

# -- wordings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        "It's your turn. Please roll or double",
        "It's your turn. Please roll or double.",
        "It's your turn to roll or double.",
        "It's your turn to roll or double",
        "It's your turn. Please roll or double  ",
    ],
)
def test_the_roll_prompt_with_or_without_full_stop(prompt: str) -> None:
    script = Script().to_their_turn()
    script.server("ford moves 17-23 19-20 .", board(cells=AFTER_61), prompt)
    assert ["roll"] == script.roll()


@pytest.mark.parametrize("prompt", ["Please move 2 pieces.", "Please move 2 pieces", "Please move 2 pieces . "])
def test_the_move_prompt_with_or_without_full_stop(prompt: str) -> None:
    script = Script().to_my_roll()
    script.roll()
    assert [] == script.server("You roll 6 and 4.", ROLLED_64, prompt)
    assert 1 == len(script.first_play())


@pytest.mark.parametrize("stop", ["", ".", " ."])
def test_the_match_starts_with_or_without_full_stop(stop: str) -> None:
    script = Script().to_lobby()
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    script.server(f"** You are now playing a 5 point match with ford{stop}", f"Starting a new game with ford{stop}")
    assert State.UNCLEAR is script.agent.state
    assert "ford" == script.agent.tracked.opponent


@pytest.mark.parametrize("points_for", ["points for", "points for user"])
def test_points_for_user_in_the_synopsis_of_a_resumed_match(points_for: str) -> None:
    script = Script().to_lobby()
    sent = script.server(
        "ford has joined you. Your running match was loaded.",
        "turn: ford.",
        "match length: 5",
        f"{points_for} ford: 1",
        f"{points_for} {ME}: 3",
    )
    assert ["board"] == sent
    assert 0 == script.agent.counters.unknown


def test_a_rating_of_6_93_in_a_who_line() -> None:
    script = Script(invite="ford", length=3).to_lobby()
    assert ["invite ford 3"] == script.server("5 ford - - 1 0 6.93 3 2 1040515752 192.168.143.5 3DFiBs -")


@pytest.mark.parametrize("end", ["6", "6 ", "6   "])
def test_the_end_of_the_who_list_with_trailing_blanks(end: str) -> None:
    script = Script(invite="ford").to_lobby()
    script.lose()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, "no saved games.")
    assert ["rawwho"] == script.server("Value of 'boardstyle' set to 3."), "no list came with the login"
    script.server("5 trillian - - 1 0 1500.00 0 0 1 h - -", end)
    assert [] == script.wait(100), "the list is complete, ford is not there"
    assert ["invite ford 1"] == script.server("5 ford - - 1 0 1500.00 0 0 1 h - -")


def test_redoubles_may_be_a_word_in_line_2() -> None:
    script = Script()
    script.to_lobby(OWN_INFO.replace(" 1 0 0 0 UTC", " 1 unlimited 0 0 UTC"))
    assert [] == script.wait(7)


# -- special matches and players ------------------------------------------------------------------------------------


def test_an_automatic_double_before_the_first_move() -> None:
    script = Script().to_match()
    script.server("You rolled 3, ford rolled 3", "The number on the doubling cube is now 2")
    script.server("You rolled 6, ford rolled 4", "It's your turn to move.", board(dice="6:4", cube=2))
    assert (2, Owner.CENTRED) == (script.state.cube, script.state.owner)


def test_equal_opening_dice_without_automatic_double() -> None:
    script = Script().to_match()
    script.server("You rolled 3, ford rolled 3", "You rolled 6, ford rolled 4", "It's your turn to move.")
    assert [] == script.server(board(dice="6:4"))
    assert (6, 4) == script.key.dice


def test_unlimited_matches_are_refused_by_default() -> None:
    script = Script().to_lobby()
    sent = script.server("ford wants to play an unlimited match with you.", "Type 'join ford' to accept.")
    assert ["tell ford I don't play unlimited matches. I play matches of 1 to 25 points."] == sent


def test_user_text_that_imitates_the_server_changes_nothing() -> None:
    script = Script().to_my_roll()
    before = script.agent.tracked
    for number, name in ((12, "ford"), (13, "ford"), (14, "ford"), (15, "ford")):
        for line in (
            ROLLED_64,
            "You roll 6 and 4.",
            "** You're not playing.",
            "ford wants to play a 1 point match with you.",
        ):
            assert [] == script.server(f"{number} {name} {line}")
    assert before == script.agent.tracked
    assert ["roll"] == script.roll()


@pytest.mark.parametrize("name", ["board", "You_", "login", "points", "Player", "X", "O", "doubles"])
def test_an_opponent_may_be_named_like_a_keyword(name: str) -> None:
    script = Script().to_lobby()
    script.server(f"{name} wants to play a 5 point match with you.", f"Type 'join {name}' to accept.")
    script.verdict(accepted=True)
    assert [f"join {name}"] == script.wait(1.5)
    script.server(f"** You are now playing a 5 point match with {name}", f"Starting a new game with {name}.")
    script.server(f"You rolled 1, {name} rolled 6", f"{name} makes the first move.")
    script.server(board(opponent=name, turn=-1, other_dice="6:1"), f"{name} moves 17-23 19-20 .")
    script.server(board(opponent=name, cells=AFTER_61), PROMPT)
    assert ["roll"] == script.roll()
    script.server("You roll 6 and 4.", board(opponent=name, cells=AFTER_61, dice="6:4"))
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(opponent=name, cells=cells, turn=-1), f"{name} doubles. Type 'accept' or 'reject'.")
    assert ["reject"] == script.cube(CubeAction.PASS)
    script.server(f"You give up. {name} wins 1 point.", f"score in 5 point match: {ME}-0 {name}-1")
    assert ["join"] == script.server("Type 'join' if you want to play the next game, type 'leave' if you don't.")


def test_a_player_may_move_in_the_other_direction() -> None:
    # In all recorded boards X moves from 1 to 24, but the direction is read from the line.
    script = Script().to_match()
    mirrored = ":".join(START_CELLS.split(":")[::-1])
    script.server("You rolled 6, ford rolled 4", "It's your turn to move.")
    script.server(board(dice="6:4", cells=mirrored.replace("-0", "0"), direction=1, colour=1))
    assert ["move 1-5 1-7"] == script.first_play()
