"""`fibsbot.testing` finds what is wrong with a strategy, and says it in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from fibsbot.match import MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.simple_players import PipPlayer
from fibsbot.testing import check_strategy, strategy_faults


class Sound(PipPlayer):
    """Plays backgammon, doubles, and no other game."""

    name = "sound"

    def plays_game(self, rules: Ruleset) -> bool:
        """Return whether it is backgammon."""
        return is_backgammon(rules)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play that leaves the lowest pip count."""
        assert len(plays) > 1, "forced plays are not asked"
        return PlayAnswer(min(plays, key=lambda play: state.position.play(play).points[25]), 0.5)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double every time."""
        assert state.may_double
        assert state.phase is Phase.ROLL
        return CubeAnswer(CubeAction.DOUBLE)


class Careless(Sound):
    """Answers wrongly where one does not look."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Make no play from the bar, divide by zero in the bear-off, and value a play wrongly at a match score."""
        if state.position.points[25] > 0:
            return PlayAnswer(Play())
        if state.position.off:
            raise ZeroDivisionError("division by zero")
        return PlayAnswer(plays[0], float("nan") if state.length else None)

    def answer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Beaver, allowed or not."""
        return CubeAnswer(CubeAction.BEAVER)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Compare the rating, which may be unknown."""
        return None if opponent.rating > 1000 else "no"  # type: ignore[operator]

    def close(self) -> None:
        """Fail."""
        raise OSError("already closed")


class Sleepy(Sound):
    """Is slow once, and hangs later."""

    def __init__(self) -> None:
        self.questions = 0
        self.woken = threading.Event()

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Take long for the first answer; give no second one until it is woken."""
        self.questions += 1
        if self.questions == 1:
            time.sleep(0.6)
        elif self.questions == 2:
            self.woken.wait()
        return 0


def test_a_sound_strategy_has_no_faults() -> None:
    check_strategy(Sound(), games=["nackgammon"])


def test_faults_are_lines_with_a_position_each() -> None:
    faults = strategy_faults(Careless(), games=["plakoto"])
    starts = [
        "choose_play gave a wrong value ",
        "choose_play answered nonsense ",
        "choose_play raised ZeroDivisionError ",
        "answer_double answered nonsense ",
        "accept_invitation raised TypeError ",
        "plays_game answered False; at plakoto: expected a strategy that plays this ruleset",
        "close failed; at the end: expected it to return, got OSError: already closed",
    ]
    assert sorted(starts) == sorted(
        start for start in starts if sum(fault.startswith(start) for fault in faults) == 1
    ), faults
    assert len(faults) == len(starts)
    (bar,) = (fault for fault in faults if fault.startswith("choose_play answered nonsense"))
    assert "on the bar" in bar
    assert "expected one of the" in bar
    with pytest.raises(AssertionError, match="choose_play raised ZeroDivisionError"):
        check_strategy(Careless(), games=[])


@pytest.mark.slow
def test_a_slow_strategy_is_not_waited_for() -> None:
    sleepy = Sleepy()
    faults = strategy_faults(sleepy, games=[], deadline=0.5)
    sleepy.woken.set()
    assert any(fault.startswith("resign was slow 1 of 2 times; at the opening, unlimited") for fault in faults)
    assert any(fault.startswith("resign gave no answer 1 of 2 times") for fault in faults)


def test_an_object_that_is_no_strategy_lacks_something() -> None:
    (fault,) = strategy_faults(object())  # type: ignore[arg-type]
    assert fault.startswith("expected a strategy, got object, which lacks accept_invitation, ")


@pytest.mark.slow
@pytest.mark.thorough
def test_a_strategy_plays_all_rulesets_that_it_says_it_plays() -> None:
    check_strategy(PipPlayer())
