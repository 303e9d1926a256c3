"""The facts remembered about other players, and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot import context, invitations, players
from fibsbot.bot.context import DAY, MAX_PLAYERS, AgentMemory
from fibsbot.policy import Policy
from tests.bot.agent_script import Script
from tests.bot.lobby_lines import saved, who


def name(number: int) -> str:
    """Write a number with letters: names have no digits."""
    letters = ""
    while number or not letters:
        number, digit = divmod(number, 26)
        letters += chr(97 + digit)
    return f"x{letters}"


def test_nothing_is_known_of_a_stranger() -> None:
    known = AgentMemory().history_of("ford")
    assert (None, 0, None) == (known.since_last(10.0), known.matches_today(10.0), known.refused)


@given(st.lists(st.integers(0, 250_000), min_size=1), st.lists(st.integers(-250_000, 0)))
def test_matches_of_a_day_are_counted_and_the_last_one_is_always_known(times: list[int], before: list[int]) -> None:
    memory = AgentMemory()
    memory.load("ford", before)
    for at in sorted(times):
        memory.note_played("ford", at)
    now = max(times)
    everything = [*before, *times]
    assert sum(at > now - DAY for at in everything) == memory.history_of("ford").matches_today(now)
    assert 0 == memory.history_of("ford").since_last(now)
    assert DAY * 9 == memory.history_of("ford").since_last(now + DAY * 9)
    assert 0 == memory.history_of("ford").matches_today(now + DAY)


def test_matches_with_bots_are_counted_together() -> None:
    memory = AgentMemory()
    memory.load("GammonBot", [-9.0, -DAY * 2])
    memory.load("ford", [-1.0])
    memory.note_played("gnubot", 5.0, bot=True)
    memory.note_played("ford", 7.0)
    assert (2, 5.0) == (memory.bots.matches_today(10.0), memory.bots.since_last(10.0))
    assert 1 == memory.bots.matches_today(DAY)


def test_stored_history_and_new_events_are_combined() -> None:
    memory = AgentMemory()
    memory.note_refusal("ford", 50.0)
    memory.note_played("ford", 60.0)
    memory.load("ford", [-5.0, -9.0], refused=-100.0)
    assert ([-9.0, -5.0, 60.0], 50.0) == (memory.history_of("ford").matches, memory.history_of("ford").refused)
    memory.load("ford")
    assert 50.0 == memory.history_of("ford").refused


def test_features_of_a_newer_version_are_left_out() -> None:
    assert {context.Feature.BOARDSTYLE, context.Feature.TIME} == context.features_named(
        [context.Feature.TIME.value, "telepathy", context.Feature.BOARDSTYLE.value]
    )


def test_a_saved_match_is_remembered_until_it_is_played() -> None:
    memory = AgentMemory()
    memory.load("ford", broke_off=-7.0)
    assert -7.0 == memory.history_of("ford").broke_off
    memory.note_broken_off("ford", 3.0)
    memory.load("ford", broke_off=-7.0)
    assert 3.0 == memory.history_of("ford").broke_off
    memory.note_played("ford", 4.0)
    assert None is memory.history_of("ford").broke_off


def test_the_player_met_longest_ago_is_forgotten_first() -> None:
    memory = AgentMemory()
    memory.note_played("ford", 0.0)
    for number in range(MAX_PLAYERS - 1):
        memory.note_refusal(name(number), 1.0)
    memory.note_refusal("ford", 2.0)
    memory.load("zaphod", [3.0])
    assert [0.0] == memory.history_of("ford").matches
    assert None is memory.history_of(name(0)).refused
    assert MAX_PLAYERS == len(memory._known)


def test_the_end_of_a_match_is_remembered_and_a_break_is_not() -> None:
    script = Script().to_my_roll()
    script.server("ford drops connection. The game was saved.")
    assert [] == script.agent._connection.context.memory.history_of("ford").matches
    script = Script().to_my_roll()
    script.server("ford gives up. You win 5 points.", "You win the 5 point match 5-0 .")
    assert [script.now] == script.agent._connection.context.memory.history_of("ford").matches


@pytest.mark.slow
def test_many_strangers_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 2_000
    monkeypatch.setattr(context, "MAX_PLAYERS", many)
    monkeypatch.setattr(invitations, "MAX_TRIED", many)
    monkeypatch.setattr(players, "MAX_USERS", many)
    script = Script(policy=Policy(accept=False)).to_lobby(saved=saved("ford"))
    for number in range(many + 500):
        stranger = name(number)
        script.server(
            f"7 {stranger} {stranger} logs in.",
            who(stranger),
            f"{stranger} wants to play a 5 point match with you.",
            f"{stranger} wants to resume a saved match with you.",
            f"12 {stranger} hello",
        )
    agent = script.agent
    sizes = {
        "who": len(agent._connection._lobby.players.users),
        "saved": len(agent._connection.saved_matches.matches),
        "offers": agent._connection.invitations.waiting,
        "told": len(agent._connection.invitations._told),
        "tries": len(agent._connection.saved_matches._sent_invitations._attempts),
        "taken": len(agent._connection.saved_matches._sent_invitations._announced_resumes),
        "announced": len(agent._connection._lobby.players._announced),
        "known": len(script.agent._connection.context.memory._known),
    }
    bounds = {"who": many, "saved": 1_000, "offers": 100, "told": 2_000, "tries": many, "known": many}
    assert "ford" in agent._connection.saved_matches.matches
    assert {} == {what: size for what, size in sizes.items() if size > bounds.get(what, 0)}
