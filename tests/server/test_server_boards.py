"""A client that acts at each board gets one board for each decision, unless it asks for more."""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import Final

import pytest
from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.words import YOU
from fibsbot.fibs_numbering import play_to_fibs, player_position
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.dice import SeededDice
from fibsbot.server.users import User
from tests.server.simulated_world import Simulation, boards, no_boards, set_state, two_players

LONGEST: Final = 3000
"""Number of commands after which a match counts as stuck; few have a third of that."""


@define
class BoardClient:
    """A client that acts only at boards, as older bots do on FIBS, and requests those that are not sent."""

    user: User
    random: random.Random
    saying: deque[str] = field(factory=deque)
    """The commands to send, in this order."""
    asks: bool = False
    """Whether to request the board before anything else."""
    offered: bool = False
    """Whether a resignation waits for its answer: until then boards are ignored."""

    def hear(self, message: m.Message) -> None:
        """React to a message other than a board."""
        match message:
            case m.CannotMove() | m.OpponentDoubles() | m.OpponentRedoubles() | m.YouResumed() | m.OpponentResumed():
                self.asks = True
            case m.ResignRejected():
                self.offered = False
                self.asks = message.player != YOU
            case m.ResignOffer():
                self.offered = True
                if message.player != YOU:
                    self.saying.append(self.random.choice(("accept", "reject")))
            case m.GameStarts():
                self.offered = False
                if self.random.random() < 0.3:
                    self.saying.append("toggle double")
            case m.JoinNextGame():
                self.saying.append("join")
            case m.ResumeInvitation() | m.Invitation():
                self.saying.append(f"join {message.name}")

    def act(self, board: BoardState) -> bool:
        """Act at a board; return whether it requires a decision."""
        chance = self.random.random()
        rolled = board.dice != (0, 0)
        plays = legal_plays(player_position(board), board.dice) if rolled else ()
        asked = board.turn is board.colour and (bool(plays) if rolled else board.may_double)
        if self.offered or not (asked or board.was_doubled):
            return False
        if board.was_doubled:
            self.saying.append("accept" if chance < 0.8 else "reject")
        elif chance < 0.02:
            self.saying.append(f"resign {self.random.choice('ngb')}")
        elif not rolled:
            self.saying.append("double" if chance < 0.2 else "roll")
        else:
            moves = play_to_fibs(self.random.choice(plays), board.direction)
            self.saying.append("move " + " ".join(f"{move.source or 'bar'}-{move.target or 'off'}" for move in moves))
        return True


class Matches:
    """Two such clients, who play, leave and resume."""

    def __init__(self, seed: int) -> None:
        """Log both in; all choices follow from the seed."""
        self.random = random.Random(seed)
        self.simulation = Simulation(SeededDice(seed))
        self.clients = [
            BoardClient(self.simulation.log_in(name), random.Random(f"{seed}{name}")) for name in ("alice", "bob")
        ]
        self.happened: Counter[str] = Counter()
        self._breaks = 0
        """Number of rejected resignations and resumes, after each of which the same decision is repeated."""
        self._decisions: set[tuple[object, ...]] = set()

    def say(self, client: BoardClient, line: str) -> None:
        """Send a line as one client, and let both handle the messages it causes."""
        self.simulation.say(client.user, line)
        received = {one.user: self.simulation.messages(one.user) for one in self.clients}
        for one in self.clients:
            self.hear(one, received[one.user])

    def hear(self, client: BoardClient, messages: list[m.Message]) -> None:
        """Let a client handle the messages caused by the last line."""
        before: m.Message | None = None
        for message in messages:
            assert not isinstance(message, m.Refusal) or isinstance(message, m.WaitForJoin), message
            self.happened[message.kind()] += 1
            if isinstance(before, m.CannotMove) and isinstance(message, m.Rolls) and message.player == YOU:
                self.happened["automatic roll after a dance"] += 1
            self._breaks += isinstance(message, m.ResignRejected)
            if not isinstance(message, m.Board):
                client.hear(message)
            elif client.act(message.state):
                match = client.user.match
                assert match is not None
                state = match.state
                key = (client.user.name, match.rolls, state.stage, state.cube, state.scores, self._breaks)
                assert key not in self._decisions, f"a second board for {key}"
                self._decisions.add(key)
            before = message

    def play(self, length: str) -> None:
        """Play a whole match."""
        host, guest = self.clients
        self.simulation.say(guest.user, "toggle ready")
        self.say(host, f"invite {guest.user.name} {length}")
        for _ in range(LONGEST):
            asking = next((client for client in self.clients if client.asks), None)
            speaking = [client for client in self.clients if client.saying]
            if asking is not None:
                asking.asks = False
                self.say(asking, "board")
            elif not speaking:
                break
            elif host.user.match is not None and self.random.random() < 0.01:
                self.leave_and_resume()
            else:
                client = self.random.choice(speaking)
                self.say(client, client.saying.popleft())
        assert host.user.match is guest.user.match is None, "both players are silent although the match is not over"

    def leave_and_resume(self) -> None:
        """Let one player leave at any point and invite the other one to resume."""
        host, guest = self.random.sample(self.clients, 2)
        self.say(host, "leave")
        self._breaks += 1
        for client in self.clients:
            client.saying.clear()
            client.offered = False
        self.say(host, f"invite {guest.user.name}")


@pytest.mark.slow
@pytest.mark.parametrize("length", ["1", "3", "7"])
def test_each_decision_has_one_board_and_every_match_ends(length: str) -> None:
    happened: Counter[str] = Counter()
    for seed in range(3):
        matches = Matches(seed)
        matches.play(length)
        happened += matches.happened
    if length == "7":
        kinds = (m.YouResumed, m.CannotMove, m.DoubleAccepted, m.ResignRejected)
        assert all(happened[kind.kind()] for kind in kinds)
        assert happened["automatic roll after a dance"]


def test_an_automatic_roll_after_a_dance_sends_no_board_to_the_player_on_turn() -> None:
    simulation, alice, bob = two_players((6, 4), (6, 6), (3, 1))
    closed = Position.from_sides([2, 2, 2, 2, 2, 2, *[0] * 17, 3, 0], [0, 0, 0, 0, 0, 4, 0, 10, *[0] * 16, 1])
    match = alice.match
    assert match is not None
    set_state(match, board=closed.swapped(), turn=Seat.B, stage=Stage.ROLL, dice=None, cube=2, owner=Seat.B)
    simulation.say(bob, "roll")
    received = simulation.received(alice)
    assert ["bob can't move.", "You roll 3 and 1.", "Please move 2 pieces."] == received[-3:]
    assert 2 == len(boards(simulation.received(bob)))


def test_the_crawford_game_has_no_board_between_a_move_and_the_automatic_roll() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 2))
    match = alice.match
    assert match is not None
    set_state(match, scores=(2, 0), crawford=True)
    simulation.say(alice, "move 12-16 17-23")
    received = simulation.received(bob)
    assert ["alice moves 12-16 17-23 .", "You roll 5 and 2.", "Please move 2 pieces."] == no_boards(received)
    assert [received[2]] == boards(received)
    assert BoardState.from_line(received[2]).may_double
