"""Whole matches of every kind without connections: no refusals, no unknown lines, and all matches end."""

from __future__ import annotations

import random
from collections import deque

import pytest
from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.words import Toggle
from fibsbot.server.audience import render
from fibsbot.server.dice import SeededDice
from fibsbot.server.users import User
from tests.server.simulated_world import Simulation
from tests.server.tcp_clients import Player


@define
class LineQueue:
    """Stores the lines that a player sends, in place of a connection."""

    said: deque[str] = field(factory=deque)

    def send(self, line: str) -> None:
        """Store a line."""
        self.said.append(line)


@define
class Redoubler(Player):
    """A player who sometimes answers a double with another one."""

    def answer(self, message: m.Message) -> None:
        """Redouble sometimes."""
        offered = isinstance(message, m.OpponentDoubles | m.OpponentRedoubles) and message.may_redouble
        if offered and self.random.random() < 0.5:
            self.raw.send("redouble")
        else:
            Player.answer(self, message)


class TwoPlayers:
    """A simulation of two players who play by themselves."""

    def __init__(self, seed: int, *, automatic: bool) -> None:
        """Log both in, with all automatic toggles on or off."""
        self.simulation = Simulation(SeededDice(seed))
        self.users = [self.simulation.log_in("alice"), self.simulation.log_in("bob")]
        self.mouths = {user: LineQueue() for user in self.users}
        self.players: dict[User, Redoubler] = {}
        self.games: list[m.Message] = []
        """The messages about games that ended."""
        for user, mouth in self.mouths.items():
            for toggle in (Toggle.AUTOMOVE, Toggle.AUTODOUBLE, Toggle.BELL):
                user.settings[toggle] = automatic
            self.simulation.say(user, "set redoubles 3")
            source = random.Random(f"{seed}{user.name}")
            self.players[user] = Redoubler(mouth, "", source, doubles=0.3, resigns=0.05)  # type: ignore[arg-type] # no connection

    def hear(self) -> None:
        """Parse what both players received; every line has to parse to the message that the server sent."""
        for user, player in self.players.items():
            for message in self.simulation.messages(user):
                if isinstance(message, m.GameWon | m.GaveUp | m.ResignAccepted):
                    self.games.append(message)
                for line in render(user, message):
                    assert type(message) is type(parse(line)), line
                    player.react(message, line)

    def play(self, games: int) -> None:
        """Play until this many games have ended, or until both players are silent."""
        self.hear()
        while len(self.games) < 2 * games:
            speaker = next((user for user in self.users if self.mouths[user].said), None)
            if speaker is None:
                return
            self.simulation.say(speaker, self.mouths[speaker].said.popleft())
            self.hear()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("length", ["1", "5", "unlimited"])
@pytest.mark.parametrize("automatic", [False, True])
def test_matches_of_every_kind_are_played_to_their_end(seed: int, length: str, *, automatic: bool) -> None:
    hall = TwoPlayers(seed, automatic=automatic)
    host, guest = hall.users
    hall.simulation.start(host, guest, length)
    hall.play(4 if length == "unlimited" else 10)
    if length == "unlimited":
        assert 8 == len(hall.games)
        assert host.match is guest.match is not None
    else:
        assert host.match is guest.match is None
        assert [int(length)] * 2 == [host.account.experience, guest.account.experience]
    for player in hall.players.values():
        assert ([], []) == (player.refusals, player.unknown)
