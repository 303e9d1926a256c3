"""Pacing: pauses between commands, the limit of commands per minute, thinking time, timeouts."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot.bot.events_and_actions import Action, QuitRequested, Send
from fibsbot.bot.settings import Timings
from fibsbot.strategies.base import CubeAction
from fibsbot.strategies.questions import ResignAnswer
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, ROLLED_64, Script, after, board
from tests.bot.simulation import Simulation
from tests.bot.test_hostile_messages import answer, any_line
from tests.bot.test_lost_lines import DoublingStrategy
from tests.examples import examples

PEOPLE = (
    "12 zaphod help",
    "12 arthur stats",
    "15 ford score",
    "15 ford move",
    "12 tricia who are you",
)


class Paced(Script):
    """A script that stores the commands with their times."""

    def __init__(self, **settings: Any) -> None:
        """Start without commands."""
        self.times: list[float] = []
        self.last_words: list[float] = []
        super().__init__(strict=False, **settings)

    def _do(self, action: Action) -> list[str]:
        if isinstance(action, Send):
            self.times.append(self.now)
        return super()._do(action)


def most_in_a_minute(times: list[float]) -> int:
    """Return the maximum number of commands in any 60 seconds."""
    return max((sum(start <= at < start + 60 - 1e-6 for at in times) for start in times), default=0)


def storm(script: Paced, rng: random.Random, steps: int) -> None:
    """Pass random events: lines of the game, chat, lost connections, time."""
    for _ in range(steps):
        match rng.randrange(12):
            case 0:
                script.wait(rng.choice([0.5, 3, 9, 45, 130]))
            case 1:
                script.lose(by_server=rng.random() < 0.5)
                script.now += rng.choice([0, 1, 10])
                script.connect()
                script.raw(b"login: ")
                script.server(f"1 {ME} 1 h", OWN_INFO)
            case 2 | 3 | 4:
                script.server(rng.choice(PEOPLE))
            case 5 | 6 if script.questions:
                answer(script, rng)
            case _:
                script.server(any_line(rng))


@examples(25)
@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0, 0.2, 1.5]))
@example(1, 1, 0)
def test_commands_per_minute_and_pauses_stay_within_their_limits(seed: int, limit: int, pause: float) -> None:
    timings = Timings(pause=pause, watchdog=2, patience=5, keep_alive=7)
    script = Paced(timings=timings, commands_a_minute=limit)
    script.connect()
    storm(script, random.Random(seed), 150)
    paced = list(script.times)
    script.event(QuitRequested(script.now))
    script.wait(100)
    assert limit >= most_in_a_minute(script.times)
    assert all(later - earlier >= pause - 1e-6 for earlier, later in itertools.pairwise(paced))
    assert len(script.times) <= len(paced) + 1, "only a goodbye does not wait for the pause"


def test_without_a_limit_only_the_pause_holds_commands_back() -> None:
    script = Paced(timings=Timings(pause=0))
    script.to_lobby()
    for _ in range(200):
        script.server(
            "ford has joined you. Your running match was loaded.", board(cells=AFTER_61), "** You're not playing."
        )
    assert 100 < most_in_a_minute(script.times)


def test_the_limit_holds_over_connections() -> None:
    script = Paced(commands_a_minute=3)
    for _ in range(10):
        script.connect()
        script.raw(b"login: ")
        script.server(f"1 {ME} 1 h", OWN_INFO, "Value of 'boardstyle' set to 3.")
        script.lose()
        script.now += 1
    assert 3 == len(script.times)


def test_a_command_that_waits_is_not_counted_as_lost() -> None:
    script = Paced(commands_a_minute=5)
    script.to_my_move()
    assert 5 == len(script.times), "login, show, set, join, roll"
    assert [] == script.first_play()
    assert [] == script.wait(50)
    assert [] == script.events("no_answer") + script.events("no_step")
    assert ["move 24-20 24-18"] == script.wait(10)


def test_a_decision_is_sent_before_all_queued_commands() -> None:
    script = Script().to_their_turn()
    script.server("12 zaphod help", "12 arthur help", "12 tricia help", "ford moves 17-23 19-20 .")
    script.server(board(cells=AFTER_61), "It's your turn. Please roll or double")
    assert ["roll"] == script.roll()
    assert 2 > sum(line.startswith("tell") for line in script.sent_so_far)


# -- thinking time --------------------------------------------------------------------------------------------------

SLOW = Timings(pause=0, think_least=20, think_most=40)


def test_a_play_is_sent_after_the_thinking_time() -> None:
    script = Script(timings=SLOW, seed=1).to_my_move()
    seen = script.now
    assert [] == script.first_play()
    assert [] == script.wait(19.9)
    assert 1 == len(script.wait(20.2))
    decision = script.events("decision")[-1]
    assert 0 <= decision["seconds"] < 10, "what is remembered is how long the strategy took"
    assert seen + 20 <= script.now


def test_the_thinking_time_of_the_strategy_counts() -> None:
    script = Script(timings=SLOW, seed=1).to_my_move()
    assert [] == script.wait(41)
    assert 1 == len(script.first_play())


def test_rolls_and_forced_plays_are_sent_at_once() -> None:
    script = Script(timings=SLOW, seed=1).to_my_roll()
    assert ["roll"] == script.roll()
    one_checker = "0:0:0:0:0:0:1:0:0:0:0:0:0:0:0:0:0:0:-5:-5:-5:0:0:0:0:0"
    script = Script(timings=SLOW, seed=1).to_lobby()
    script.server("ford has joined you. Your running match was loaded.")
    assert ["move 6-2 2-off"] == script.server(board(cells=one_checker, dice="6:4"))


@pytest.mark.parametrize("choice", [CubeAction.DOUBLE, 1])
def test_doubles_and_resignations_are_sent_after_the_thinking_time(choice: CubeAction | int) -> None:
    script = Script(timings=SLOW, seed=1).to_my_roll()
    assert [] == (script.cube(choice) if isinstance(choice, CubeAction) else script.answer(ResignAnswer(choice)))
    assert [] == script.wait(19)
    assert ("double" if choice is CubeAction.DOUBLE else "resign n") == script.wait(22)[0]


def test_answers_to_offers_are_sent_after_the_thinking_time() -> None:
    script = Script(timings=SLOW, seed=1).to_their_turn()
    script.server("ford doubles. Type 'accept' or 'reject'.")
    assert [] == script.cube(CubeAction.TAKE)
    assert [] == script.wait(19)
    assert "accept" == script.wait(22)[0]


def test_thinking_is_not_taken_for_a_lost_answer_and_is_cancelled_with_its_decision() -> None:
    timings = Timings(pause=0, watchdog=1, think_least=50, think_most=50)
    script = Script(timings=timings, seed=1).to_my_move()
    script.first_play()
    assert [] == script.wait(49)
    assert [] == script.events("no_answer") + script.events("no_step")
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert [] == [line for line in script.wait(20) if line.startswith("move")]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_pauses() -> None:
    def times(seed: int) -> list[tuple[float, str]]:
        simulation = Simulation(3)
        timings = Timings(think_least=1, think_most=9)
        marvin = simulation.add("marvin", DoublingStrategy(1), invite="ford", timings=timings, seed=seed)
        simulation.add("ford", DoublingStrategy(2), timings=timings, seed=5)
        simulation.run(3600, until=lambda: len(marvin.sent) > 40)
        simulation.close()
        return marvin.sent

    first, again, other = times(1), times(1), times(2)
    assert first == again
    assert first != other
    plays = [at for at, line in first if line.startswith("move")]
    assert 5 < len({round(later - earlier, 3) for earlier, later in itertools.pairwise(plays)})


# -- timeouts -------------------------------------------------------------------------------------------------------


def test_the_board_is_requested_every_minute_while_the_opponent_is_inactive() -> None:
    script = Script(timings=Timings(pause=0, keep_alive=3600)).to_their_turn()
    began, looks = script.now, []
    while script.now < began + 1200:
        for line in script.wait(1):
            looks += [script.now] if line == "board" else []
            script.server(board(turn=-1, other_dice="6:1"), "5 ford marvin - 1 0 1500.00 0 700 1 h - -", "6")
    assert 19 <= len(looks) <= 20
    assert all(59 < later - earlier < 62 for earlier, later in itertools.pairwise(looks))
    assert [] == script.hang_ups, "who is away is waited for"
    assert 0 == script.agent.counters.timeouts


def test_a_lost_move_is_found_by_requesting_the_board() -> None:
    script = Script(strict=False).to_their_turn()
    assert ["board"] == script.wait(60)
    script.server(board(cells=AFTER_61))
    assert ["board"] == script.wait(8.1), "does the server roll for us?"
    script.server(board(cells=AFTER_61))
    assert ["roll"] == script.roll()


def test_a_lost_double_of_the_opponent_is_found_by_requesting_the_board() -> None:
    script = Script(strict=False).to_my_move()
    cells = after(AFTER_61, script.plays()[0])
    script.first_play()
    script.server(board(cells=cells, turn=-1))
    assert ["board"] == script.wait(60)
    script.server(board(cells=cells, turn=1, may="0:0", doubled=1))
    assert ["accept"] == script.cube(CubeAction.TAKE)


def test_mutual_waiting_is_ended_by_a_new_connection() -> None:
    script = Script(strict=False).to_my_roll()
    script.answer(ResignAnswer(1))
    script.server("You want to resign. ford will win 1 point.")
    for look in range(1, 6):
        assert "board" in script.wait(60.1), look
        script.server(board(cells=AFTER_61))
    assert "rawwho ford" in script.sent_so_far
    script.server("5 ford marvin - 1 0 1500.00 0 20 1 h - -", "6")
    assert ["ford and we wait for each other"] == [hang_up.reason for hang_up in script.hang_ups]


def test_how_a_server_rolls_is_remembered_on_the_next_connection() -> None:
    theirs = board(cells=AFTER_61, cube=2, may="0:1")
    script = Script(strict=False).to_lobby()
    script.server("ford has joined you. Your running match was loaded.", theirs)
    assert ["board"] == script.wait(8.1)
    script.server(theirs)
    assert ["roll"] == script.roll()
    script.lose()
    script.questions.clear()
    script.to_lobby()
    script.server("ford has joined you. Your running match was loaded.", theirs)
    assert ["board"] == script.wait(8.1 / 8), "it never rolls by itself"


def test_a_server_that_rolls_after_all_is_waited_for_again() -> None:
    theirs = board(cells=AFTER_61, cube=2, may="0:1")
    script = Script(strict=False).to_lobby()
    script.server("ford has joined you. Your running match was loaded.", theirs)
    script.wait(8.1)
    script.server(theirs)
    assert ["roll"] == script.roll()
    script.server("You roll 6 and 4.", ROLLED_64.replace(":1:1:1:0:1:", ":2:0:1:0:1:"))
    script.lose()
    script.questions.clear()
    script.to_lobby()
    script.server("ford has joined you. Your running match was loaded.", theirs)
    script.server("You roll 6 and 4.")
    script.lose()
    script.to_lobby()
    script.server("ford has joined you. Your running match was loaded.", theirs)
    assert [] == script.wait(5)
