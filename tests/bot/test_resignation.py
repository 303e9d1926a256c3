"""Resignations of the bot: levels, limits, and when the strategy is not asked."""

from __future__ import annotations

from typing import Any

import pytest

from fibsbot.match import MatchState
from fibsbot.policy import Lengths, Policy
from fibsbot.position import Position
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.questions import LastResort, ResignAnswer, RollQuestion
from tests.bot.agent_script import AFTER_61, PROMPT, Script, board


class Resigning(LastResort):
    """Resigns at a given level, and counts the questions."""

    def __init__(self, level: int) -> None:
        """Resign at this level."""
        self.level = level
        self.asked = 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Resign."""
        self.asked += 1
        return self.level


def to_roll(score: str = "0:0", cube: int = 1, length: int = 5, **settings: Any) -> Script:
    """Return a script before our roll."""
    script = Script(**settings).to_lobby()
    script.server("ford has joined you. Your running match was loaded.")
    may = "1:1" if cube == 1 else "1:0"
    script.server(board(cells=AFTER_61, score=score, cube=cube, length=length, may=may), PROMPT)
    return script


def answered(script: Script, strategy: LastResort) -> list[str]:
    """Answer the oldest question by a strategy."""
    return script.answer(script.questions[0].question.put_to(strategy))


@pytest.mark.parametrize(("level", "command"), [(1, "resign n"), (2, "resign g"), (3, "resign b")])
def test_positions_that_the_strategy_considers_lost_are_resigned(level: int, command: str) -> None:
    assert [command] == answered(to_roll(), Resigning(level))


def test_the_strategy_is_not_asked_if_resigning_is_off() -> None:
    strategy = Resigning(1)
    assert ["roll"] == answered(to_roll(resign=False), strategy)
    assert 0 == strategy.asked


@pytest.mark.parametrize(
    ("score", "cube", "level", "command"),
    [
        ("0:4", 1, 1, "roll"),
        ("0:3", 1, 1, "resign n"),
        ("0:3", 1, 2, "roll"),
        ("0:2", 1, 2, "resign g"),
        ("0:2", 1, 3, "roll"),
        ("0:3", 2, 1, "roll"),
        ("0:2", 2, 1, "resign n"),
        ("4:0", 1, 3, "resign b"),
    ],
)
def test_no_resignation_loses_the_match(score: str, cube: int, level: int, command: str) -> None:
    assert [command] == answered(to_roll(score, cube), Resigning(level))


def test_no_lower_level_is_offered_to_avoid_losing_the_match() -> None:
    script = to_roll("0:3")
    strategy = Resigning(2)
    assert ["roll"] == answered(script, strategy)
    assert 1 == strategy.asked, "a single game would have been offered"


def test_the_strategy_is_not_asked_if_any_resignation_would_lose_the_match() -> None:
    strategy = Resigning(1)
    assert ["roll"] == answered(to_roll("0:4"), strategy)
    assert 0 == strategy.asked


def test_the_match_is_resigned_if_enabled() -> None:
    assert ["resign n"] == answered(to_roll("0:4", resign_match=True), Resigning(1))


def test_an_unlimited_match_has_no_last_game() -> None:
    script = to_roll(length=9999, score="0:90", policy=Policy(lengths=Lengths(unlimited=True)))
    assert ["resign b"] == answered(script, Resigning(3))


def test_after_a_rejected_offer_only_more_is_offered_and_never_the_match() -> None:
    script = to_roll("0:3")
    assert ["resign n"] == script.answer(ResignAnswer(1))
    script.server("You want to resign. ford will win 1 point.")
    script.server("ford rejects. The game continues.", board(cells=AFTER_61, score="0:3"))
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert (2, 1) == (question.resign_from, question.resign_to)
    assert ["roll"] == script.cube(CubeAction.ROLL)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_question_accepts_only_the_levels_it_offers(level: int) -> None:
    state = MatchState(Position.start(), length=5)
    question = RollQuestion(state, may_double=False, resign_from=2, resign_to=2)
    answer = question.put_to(Resigning(level))
    assert (ResignAnswer(2) if level == 2 else CubeAnswer(CubeAction.ROLL)) == answer
