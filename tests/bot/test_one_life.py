"""What outlives a connection, and what is made with it; the order in which the parts take a message."""

from __future__ import annotations

from collections import Counter

from fibsbot.bot.agent import AgentConnection, Handover
from fibsbot.bot.context import AgentContext, AgentMemory
from fibsbot.bot.events_and_actions import PauseRequested
from fibsbot.bot.settings import AgentSettings
from fibsbot.chouette.bot import ChouetteFlow
from fibsbot.policy import Policy
from fibsbot.strategies.questions import ResignAnswer, RollQuestion
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, PROMPT, Script, board


def reconnect(script: Script, *saved: str) -> None:
    """Lose the connection and log in again."""
    assert [] == script.lose()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, *(saved or ("no saved games.",)), "Value of 'boardstyle' set to 3.")


def test_no_part_but_that_of_a_chouette_takes_a_message_twice() -> None:
    connection = AgentConnection(AgentContext.of(AgentSettings(ME, "secret"), AgentMemory()), Handover())
    for kinds in (connection._handlers, connection._seated_handlers):
        assert len(kinds) > 20
        for kind, handlers in kinds.items():
            parts = Counter(type(handler.__self__) for handler in handlers)  # type: ignore[attr-defined]
            assert [] == [part for part, times in parts.items() if times > 1 and part is not ChouetteFlow], kind


def test_orders_hold_on_the_next_connection() -> None:
    script = Script().to_lobby()
    script.event(PauseRequested(script.now, paused=True))
    reconnect(script)
    script.server("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
    assert "paused" == script.events("invitation_refused")[-1]["code"]


def test_a_new_connection_knows_nobody_and_waits_for_nothing() -> None:
    script = Script(strict=False).to_my_move()
    before = script.agent._connection
    script.lose()
    connection = script.agent._connection
    assert connection is not before
    assert {} == connection._lobby.players.users
    assert {} == connection.context.timers
    assert (None, before.context.tracked.match) == (script.agent.tracked.opponent, script.agent.tracked.match)
    assert ["ford"] == list(connection.saved_matches.matches)
    assert connection.context.counters is before.context.counters


def test_a_level_that_was_rejected_is_not_offered_after_a_new_connection_either() -> None:
    script = Script().to_my_roll()
    assert ["resign n"] == script.answer(ResignAnswer(1))
    script.server("You want to resign. ford will win 1 point.", "ford rejects. The game continues.")
    reconnect(script, "  opponent          matchlength   score (your points first)", "  ford   5   0 -  0")
    script.server("ford has joined you. Your running match was loaded.", board(cells=AFTER_61), PROMPT)
    question = script.questions[-1].question
    assert isinstance(question, RollQuestion)
    assert 2 == question.resign_from


def test_an_invitation_that_was_refused_is_not_explained_again() -> None:
    script = Script(policy=Policy(accept=False)).to_lobby()
    invited = "ford wants to play a 5 point match with you."
    script.server(invited)
    reconnect(script)
    script.server(invited)
    script.wait(60)
    assert 2 == len(script.events("invitation_refused"))
    assert 1 == sum(line.startswith("tell ford ") for line in script.sent_so_far)
