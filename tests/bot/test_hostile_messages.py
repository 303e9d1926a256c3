"""Arbitrary lines of a server: the agent raises no errors, sends nothing illegal, and continues to play."""

from __future__ import annotations

import random

import pytest

from fibsbot.policy import Lengths, Policy
from fibsbot.strategies.questions import LastResort
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, START_CELLS, Script, board

NAMES = ("ford", "ford", "zaphod", ME, "You")
LINES = (
    "It's your turn. Please roll or double",
    "You roll {a} and {b}.",
    "{name} rolls {a} and {b}.",
    "Please move {a} pieces.",
    "{name} moves {p}-{q} bar-{q} {p}-off .",
    "{name} can't move.",
    "You can't move.",
    "The only possible move is {p}-{q} bar-{q} .",
    "Bearing off: {p} o {q} o",
    "{name} doubles. Type 'accept' or 'reject'.",
    "{name} doubles. Type 'accept', 'reject' or 'redouble'.",
    "You double. Please wait for {name} to accept or reject.",
    "{name} accepts the double. The cube shows {n}.",
    "You accept the double. The cube shows {n}.",
    "{name} redoubles to {n}. Type 'accept' or 'reject'.",
    "You accept the double to {n} and redouble.",
    "{name} accepts the redouble. The cube shows {n}.",
    "{name} wants to resign. You will win {n} points. Type 'accept' or 'reject'.",
    "You want to resign. {name} will win {n} points.",
    "{name} rejects. The game continues.",
    "You reject. The game continues.",
    "{name} wins the game and gets {n} points. Sorry.",
    "You win the game and get {n} points. Congratulations!",
    "{name} gives up. You win {n} points.",
    "score in 5 point match: ford-{n} marvin-{a}",
    "Type 'join' if you want to play the next game, type 'leave' if you don't.",
    "Starting a new game with {name}.",
    "You rolled {a}, {name} rolled {b}",
    "The number on the doubling cube is now {n}",
    "It's your turn to move.",
    "{name} makes the first move.",
    "{name} wins the 5 point match 5-{n} .",
    "{name} has joined you. Your running match was loaded.",
    "turn: {name}.",
    "points for {name}: {n}",
    "** Player {name} has joined you for a {n} point match.",
    "** You are now playing a {n} point match with {name}",
    "{name} drops connection. The game was saved.",
    "** You're not playing.",
    "** You did already roll the dice.",
    "** It's not your turn to move.",
    "** {name} didn't double or resign.",
    "** {name} wanted to resign. Type 'accept' or 'reject'.",
    "** You can't move to {p} in your first move.",
    "{name} wants to play a {n} point match with you.",
    "{name} wants to resume a saved match with you.",
    "WARNING: Don't accept if you want to continue the saved {n} point match!",
    "** You invited {name} to resume a saved match.",
    "** {name} is refusing games.",
    " *{name}              {n}              1 -  3",
    "5 {name} - - 1 0 1500.00 0 0 1 h - -",
    "8 {name} {name} drops connection.",
    "You're now watching {name}.",
    "** Please wait for {name} to join too.",
    "Value of 'boardstyle' set to 3.",
    "** You're now refusing to play with someone.",
)


def any_cells(rng: random.Random) -> str:
    cells = [0] * 26
    for colour, bar in ((1, 25), (-1, 0)):
        for _ in range(rng.randint(0, 15)):
            point = rng.randint(1, 24) if rng.random() < 0.9 else bar
            cells[point] += colour if cells[point] * colour >= 0 else 0
    return ":".join(map(str, cells))


def any_board(rng: random.Random) -> str:
    dice = ["0:0", "0:0", f"{rng.randint(1, 6)}:{rng.randint(1, 6)}", f"{rng.randint(-1, 7)}:{rng.randint(0, 6)}"]
    return board(
        player=rng.choice(["You", "You", "You", "trillian"]),
        opponent=rng.choice(NAMES),
        length=rng.choice([5, 5, 5, 1, 9999]),
        score=rng.choice(["0:0", "4:0", "3:4", "4:4", "5:0"]),
        cells=rng.choice([START_CELLS, AFTER_61, any_cells(rng)]),
        turn=rng.choice([-1, 0, 1]),
        dice=rng.choice(dice),
        other_dice=rng.choice(dice),
        cube=rng.choice([1, 2, 4, 64, 0, 3]),
        may=rng.choice(["1:1", "0:1", "1:0", "0:0"]),
        doubled=rng.choice([0, 0, 0, 1]),
        colour=rng.choice([1, -1]),
        direction=rng.choice([-1, 1]),
        crawford=rng.choice([0, 1]),
    )


def any_line(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return any_board(rng)
    values = {"a": rng.randint(0, 6), "b": rng.randint(1, 7), "p": rng.randint(1, 24), "q": rng.randint(1, 24)}
    return rng.choice(LINES).format(name=rng.choice(NAMES), n=rng.choice([0, 1, 2, 3, 4, 5, 9, 64]), **values)


def answer(script: Script, rng: random.Random) -> None:
    """Answer a question, usually sensibly."""
    strategy = LastResort() if rng.random() < 0.8 else RandomStrategy(rng.randrange(1000))
    script.answer(script.questions[0].question.put_to(strategy))


@pytest.mark.parametrize("seed", range(12))
def test_the_agent_survives_random_lines(seed: int) -> None:
    rng = random.Random(seed)
    script = Script(strict=False, policy=Policy(lengths=Lengths(unlimited=seed % 2 == 0))).to_lobby()
    for _ in range(600):
        script.server(any_line(rng))
        chance = rng.random()
        if script.questions and chance < 0.5:
            answer(script, rng)
        elif chance < 0.6:
            script.wait(rng.choice([1, 9, 130]))
        elif chance < 0.61:
            script.lose(by_server=rng.random() < 0.5)
            script.connect()
            script.raw(b"login: ")
            script.server(f"1 {ME} 1 h", OWN_INFO)
    script.lose()
    script.questions.clear()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, "no saved games.", "Value of 'boardstyle' set to 3.", "6")
    before = script.agent.counters.differences
    script.server("trillian has joined you. Your running match was loaded.")
    script.server(board(opponent="trillian", cells=AFTER_61, dice="6:4"))
    assert ["move 24-20 24-18"] == script.first_play()
    assert before == script.agent.counters.differences
