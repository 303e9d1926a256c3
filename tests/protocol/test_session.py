"""The state table of a connection: complete for the client, lenient towards the server, and drawn in the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.messages import Message
from fibs_protocol.session import (
    IN_GAME,
    IN_MATCH,
    TABLE,
    Role,
    Session,
    State,
    Trigger,
    TriggerCase,
    mermaid_diagram,
    trigger_of,
)
from fibs_protocol.words import YOU, Colour
from tests.protocol.test_board import START

DOCUMENT = Path(__file__).parents[2] / "docs" / "explanation" / "agent.md"


def at(state: State) -> Session:
    session = Session()
    session.state = state
    return session


def board(**fields: Any) -> Message:
    return m.Board(evolve(BoardState.from_line(START), **{"dice": (0, 0), **fields}))


def test_every_state_has_a_row_for_both_roles() -> None:
    assert set(Role) == set(TABLE)
    for role in Role:
        assert set(State) == set(TABLE[role])


def test_every_command_is_allowed_in_some_state() -> None:
    everywhere = {cue.kind for row in TABLE[Role.CLIENT].values() for cue in row}
    kinds = {kind for kind in vars(c).values() if isinstance(kind, type) and issubclass(kind, c.Command)}
    assert {c.Erase, c.ShutdownCommand} == kinds - everywhere - {c.Command}, "all but the administrators'"


def test_every_state_can_be_reached_and_left() -> None:
    moves = [(state, target) for role in Role for state, row in TABLE[role].items() for target in row.values()]
    assert set(State) - {State.CONNECTING} == {target for source, target in moves if source is not target}
    assert set(State) - {State.CLOSED} == {source for source, target in moves if source is not target}


def test_a_command_in_a_wrong_state_is_a_local_error() -> None:
    session = at(State.THEIR_TURN)
    with pytest.raises(LocalProtocolError, match="their turn"):
        session.client_says(c.Roll())
    assert State.THEIR_TURN is session.state
    assert State.AUTHENTICATING is at(State.LOGIN).client_says(c.Login("x", "marvin", "pass:word"))
    assert State.MY_ROLL is at(State.MY_ROLL).client_says(c.Roll())


@given(st.sampled_from([state for state in State if state in IN_MATCH]), st.integers(1, 6), st.integers(1, 6))
def test_in_a_match_a_message_means_the_same_in_every_state(state: State, die: int, other: int) -> None:
    assert State.MY_MOVE is at(state).server_says(m.Rolls(YOU, (die, other)))
    assert State.THEIR_TURN is at(state).server_says(m.Rolls("ford", (die, other)))
    assert State.MY_ROLL is at(state).server_says(m.RollOrDouble())
    assert State.LOBBY is at(state).server_says(m.MatchWon("ford", 5, 5, 0))


@pytest.mark.parametrize("state", [state for state in State if state in IN_GAME])
def test_boards_show_the_turn_unless_an_offer_is_pending(state: State) -> None:
    pending = state in (State.I_DOUBLED, State.THEY_DOUBLED, State.I_RESIGNED, State.THEY_RESIGNED)
    for fields, expected in (
        ({"turn": Colour.O}, State.MY_ROLL),
        ({"turn": Colour.O, "dice": (6, 4)}, State.MY_MOVE),
        ({"turn": Colour.X}, State.THEIR_TURN),
        ({"turn": Colour.X, "colour": Colour.X, "direction": 1}, State.MY_ROLL),
        ({"turn": None}, State.BETWEEN_GAMES),
    ):
        assert (state if pending else expected) is at(state).server_says(board(**fields))
        assert state is at(state).server_says(board(player="trillian", **fields)), "another player's board"


def test_a_message_without_a_transition_changes_nothing() -> None:
    for state in State:
        assert state is at(state).server_says(m.Shouts("ford", "You roll 6 and 4."))
        assert state is at(state).server_says(m.Unknown("You roll"))
    assert State.LOBBY is at(State.LOBBY).server_says(m.Rolls("ford", (6, 4)))


def test_triggers_distinguish_messages_of_one_kind() -> None:
    assert Trigger(m.Rolls, TriggerCase.YOU) == trigger_of(m.Rolls(YOU, (6, 4)))
    assert Trigger(m.Rolls, TriggerCase.OTHER) == trigger_of(m.Rolls("You_", (6, 4)))
    assert Trigger(m.Goodbye) == trigger_of(m.Goodbye())
    assert "Rolls(you)" == str(Trigger(m.Rolls, TriggerCase.YOU))


def test_the_diagram_in_the_documentation_is_that_of_the_table() -> None:
    assert f"```mermaid\n{mermaid_diagram()}\n```" in DOCUMENT.read_text("utf-8")
