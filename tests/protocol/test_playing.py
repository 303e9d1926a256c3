"""A match as a client plays it: each decision is offered once, with a current board, whatever lines are lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import CommandRefusedError, DecisionKind, OpenDecision
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState, fibs_moves
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import parse, write_command
from fibs_protocol.playing import MatchFlow
from fibs_protocol.session import Session
from fibs_protocol.words import YOU, Colour, FibsMove, Setting, Toggle
from fibsbot.fast_evolve import fast_evolve

POINTS = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
LINE = f"board:You:bob:3:0:0:{POINTS}:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
OWN = parse("2 alice 1 1 0 0 0 0 1 1 0 0 1 0 1 1500.00 0 0 0 0 0 UTC")


def board(**changes: Any) -> m.Board:
    return m.Board(fast_evolve(BoardState.from_line(LINE), **changes))


MINE, ROLLED = board(dice=(0, 0)), board()


class Client:
    """A flow with its session, as a connection has them."""

    def __init__(self, opponent: str | None = "bob", length: int | None = 3) -> None:
        self.session = Session()
        self.flow = MatchFlow(self.session, opponent, length)
        self.session.server_says(m.LoginPrompt())
        self.session.client_says(c.Login("test", "alice", "secret"))
        self.session.server_says(m.Welcome("alice", 1, "here"))
        assert isinstance(OWN, m.OwnInfo)
        self.flow.start(OWN)
        self.flow.commands.clear()

    def hear(self, *messages: m.Message) -> list[OpenDecision]:
        """Take messages of the server; return the decisions that they open."""
        found = []
        for message in messages:
            self.session.server_says(message)
            if (decision := self.flow.hear(message)) is not None:
                found.append(decision)
        return found

    def sent(self) -> list[Command]:
        """Return what has been sent since the last time."""
        sent, self.flow.commands = self.flow.commands, []
        return sent

    def begin(self) -> Client:
        """Begin a match."""
        self.hear(m.OpponentJoined("bob", 3), m.GameStarts("bob"))
        return self


def test_the_settings_of_a_player_are_made_before_the_invitation() -> None:
    flow = MatchFlow(Client().session, "bob", 3)
    assert isinstance(OWN, m.OwnInfo)
    flow.start(OWN)
    assert [
        c.SetCommand(Setting.BOARDSTYLE, "3"),
        c.ToggleCommand(Toggle.READY),
        c.Invite("bob", 3),
    ] == flow.commands


def test_the_opening_move_is_asked_for_with_its_board_and_once() -> None:
    client = Client().begin()
    assert client.hear(m.FirstMove(YOU)) == []
    assert [OpenDecision(DecisionKind.MOVE, ROLLED.state)] == client.hear(ROLLED)
    assert client.hear(ROLLED) == [] == client.sent()


def test_a_roll_waits_for_the_question_and_a_board() -> None:
    client = Client().begin()
    client.hear(m.FirstMove("bob"), m.Rolls("bob", (3, 1)), m.Moves("bob", (FibsMove(1, 4), FibsMove(1, 2))))
    assert client.hear(MINE) == []  # the server may still roll by itself
    assert [OpenDecision(DecisionKind.ROLL, MINE.state)] == client.hear(m.RollOrDouble())
    client.hear(m.Rolls(YOU, (3, 1)), ROLLED)
    assert client.hear(m.CannotMove(YOU)) == []


def test_a_question_without_a_board_asks_for_one() -> None:
    client = Client().begin()
    client.hear(m.FirstMove("bob"), m.CannotMove("bob"))
    assert client.hear(m.RollOrDouble()) == []
    assert [c.ShowBoard()] == client.sent()
    assert [OpenDecision(DecisionKind.ROLL, MINE.state)] == client.hear(MINE)


def test_after_silence_the_board_asks_again() -> None:
    client = Client().begin()
    assert client.hear(m.FirstMove(YOU), ROLLED)
    client.flow.on_silence()
    assert [c.ShowBoard()] == client.sent()
    assert [OpenDecision(DecisionKind.MOVE, ROLLED.state)] == client.hear(ROLLED)


def test_offers_are_decisions() -> None:
    client = Client().begin()
    client.hear(m.FirstMove("bob"), MINE)
    assert [DecisionKind.DOUBLE] == [decision.kind for decision in client.hear(m.OpponentDoubles("bob"))]
    client = Client().begin()
    client.hear(m.FirstMove("bob"), MINE)
    (decision,) = client.hear(m.ResignOffer("bob", YOU, 2))
    assert (DecisionKind.RESIGNATION, 2) == (decision.kind, decision.points)


def test_the_next_game_is_joined_and_the_end_is_the_end() -> None:
    client = Client().begin()
    client.hear(m.GameWon(YOU, 1), m.JoinNextGame())
    assert [c.Join()] == client.sent()
    end = m.MatchWon(YOU, 3, 3, 0)
    client.hear(end)
    assert end == client.flow.ended


def test_what_the_server_refuses_is_an_error_with_its_words() -> None:
    client = Client()
    with pytest.raises(CommandRefusedError, match=r"expected .*, got '.*bob is refusing games"):
        client.hear(m.RefusesGames("bob"))
    client.begin().hear(m.FirstMove(YOU), ROLLED)
    with pytest.raises(CommandRefusedError, match="You must give 2 moves"):
        client.hear(m.TooFewMoves(2))


@pytest.mark.parametrize(
    ("length", "messages", "joins"),
    [
        (None, [m.Invitation("bob", 5), m.JoinHint("bob"), m.Says("carol", "hi")], True),
        (3, [m.Invitation("bob", 5), m.JoinHint("bob"), m.Says("carol", "hi")], False),
        (None, [m.Invitation("bob", 9999), m.JoinHint("bob"), m.Says("carol", "hi")], False),
        (None, [m.Invitation("bob", 5), m.JoinHint("bob"), m.SavedMatchWarning(3), m.Says("carol", "hi")], False),
        (None, [m.ResumeInvitation("bob"), m.JoinHint("bob"), m.Says("carol", "hi")], True),
    ],
)
def test_the_first_good_invitation_is_accepted(length: int | None, messages: list[m.Message], joins: bool) -> None:  # noqa: FBT001
    client = Client(None, length)
    client.hear(*messages)
    assert ([c.Join("bob")] if joins else []) == client.sent()


def test_an_invitation_is_accepted_after_a_moment_of_silence() -> None:
    client = Client(None, None)
    client.hear(m.Invitation("bob", 5), m.JoinHint("bob"))
    assert client.flow.patience < 2
    client.flow.on_silence()
    assert [c.Join("bob")] == client.sent()


STEPS = st.lists(st.tuples(st.integers(1, 25), st.integers(0, 24)), min_size=1, max_size=4)


@given(STEPS)
def test_a_play_as_text_is_the_same_as_its_steps(steps: list[tuple[int, int]]) -> None:
    decision = OpenDecision(DecisionKind.MOVE, ROLLED.state)
    text = " ".join(f"{'bar' if a == 25 else a}/{b or 'off'}" for a, b in steps)
    assert decision.move(steps) == decision.move(text)


@given(STEPS)
def test_the_two_directions_mirror_each_other(steps: list[tuple[int, int]]) -> None:
    def mirrored(point: int | None) -> int | None:
        return None if point is None else 25 - point

    down, up = fibs_moves(steps, -1), fibs_moves(steps, 1)
    assert [(mirrored(move.source), mirrored(move.target)) for move in down] == [(it.source, it.target) for it in up]


@pytest.mark.parametrize("wrong", ["", "8", "8/", "8/5/3", "a/b", "8/5,", "99/5", "8/5(9)"])
def test_other_text_is_an_error(wrong: str) -> None:
    with pytest.raises(LocalProtocolError, match="expected"):
        write_command(OpenDecision(DecisionKind.MOVE, ROLLED.state).move(wrong))


def test_own_cells_are_the_same_for_both_colours_and_directions() -> None:
    state = ROLLED.state
    cells = tuple(-cell for cell in state.points[::-1])
    other = fast_evolve(state, points=cells, colour=Colour(-state.colour), direction=-state.direction)
    assert state.own_cells == other.own_cells
    assert sum(cell for cell in state.own_cells if cell > 0) == 15
