"""Questions that the strategy's pool loses, or that have no answer: the wait ends, and something is decided."""

from __future__ import annotations

from fibsbot.bot.events_and_actions import StrategyAnswered
from fibsbot.bot.settings import Timings
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.strategies.questions import LastResort
from tests.bot.agent_script import AFTER_61, Script, board
from tests.chouette.test_chouette_bot import captain, shown

LOST = "no answer came"
TIMINGS = Timings(pause=0, invitation=1, deadline=10)
LAST_RESORT_AFTER = 60.0
"""Six deadlines: two strategies have one each to begin and one to answer."""
CLOSED_OUT = "0:0:0:0:0:4:5:0:0:0:0:0:0:0:0:0:0:0:-3:-2:-2:-2:-2:-2:-2:6"
"""We have six checkers on the bar of closed points."""


def test_the_last_resort_decides_when_the_answer_to_a_question_is_lost() -> None:
    script = Script(timings=TIMINGS).to_my_move()
    assert [] == [line for line in script.wait(LAST_RESORT_AFTER - 1) if line.startswith("move")]
    assert "move 24-20 24-18" in script.wait(2)
    assert LOST == script.events("decision")[-1]["fallback"]


def test_the_last_resort_decides_at_a_chouette() -> None:
    script = captain(timings=TIMINGS)
    assert "roll" not in script.wait(LAST_RESORT_AFTER - 1)
    assert "roll" in script.wait(2)
    assert LOST == script.events("chouette_decision")[-1]["fallback"]


def test_an_invitation_about_which_the_answer_is_lost_is_decided_by_the_policy() -> None:
    script = Script(timings=TIMINGS).to_lobby()
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    assert "join ford" in script.wait(120)


def test_eight_lost_questions_do_not_keep_the_ninth_from_being_asked() -> None:
    script = Script(strict=False, timings=TIMINGS).to_my_move()
    for die in range(1, 6):
        script.server(board(cells=AFTER_61, dice=f"{die}:6"), board(cells=AFTER_61, dice=f"{die}:5"))
    script.wait(LAST_RESORT_AFTER + 1)
    assert [LOST] == [it["fallback"] for it in script.events("decision") if it["phase"] == "move"]


def test_a_question_without_any_answer_does_not_stop_the_match() -> None:
    script = Script(timings=TIMINGS).to_my_move()
    ask = script.questions.pop(0)
    assert ["leave"] == script.event(StrategyAnswered(script.now, ask.key, None, "nonsense"))
    assert ["a question has no answer"] == [it["why"] for it in script.events("stalled")]


def test_a_question_without_any_answer_at_a_chouette_is_asked_again() -> None:
    script = captain(timings=TIMINGS)
    ask = script.questions.pop(0)
    assert ["chouette"] == script.event(StrategyAnswered(script.now, ask.key, None, "nonsense"))


def test_where_there_is_no_legal_play_nothing_has_to_be_thought_about() -> None:
    script = captain(timings=TIMINGS)
    assert ["roll"] == script.roll()
    script.server("You roll 6 and 4.", "Please move 2 pieces.")
    assert ["move"] == script.server(shown(cells=CLOSED_OUT, dice="6:4"))
    assert [] == script.questions


def test_the_last_resort_has_an_answer_without_legal_plays() -> None:
    state = MatchState(Position.start(), phase=Phase.MOVE, dice=(6, 4))
    assert Play() == LastResort().choose_play(state, ()).play
