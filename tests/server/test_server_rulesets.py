"""Games other than backgammon on the server: whole matches, saved, watched, rated; other clients see nothing."""

from __future__ import annotations

import random
from collections import deque
from functools import partial
from typing import Any

import pytest

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.words import Departure
from fibsbot.games import GAMES
from fibsbot.server.audience import render
from fibsbot.server.dice import SeededDice
from fibsbot.server.ruleset_match import RulesetMatch
from fibsbot.server.users import User
from tests.server.ruleset_players import RulesetPlayer
from tests.server.simulated_world import Simulation


class Club:
    """A simulation of two users who play by themselves, and of a third one who has not asked for other games."""

    def __init__(self, seed: int = 1, **habits: Any) -> None:
        """Log everybody in."""
        self.simulation = Simulation(SeededDice(seed))
        self.said: deque[tuple[str, str]] = deque()
        self.players: dict[str, RulesetPlayer] = {}
        for name in ("alice", "bob"):
            source = random.Random(f"{seed}{name}")
            self.players[name] = RulesetPlayer(partial(self._queue, name), source, **habits)
            self.log_in(name)
        self.other = self.simulation.log_in("carol")

    def _queue(self, name: str, line: str) -> None:
        self.said.append((name, line))

    def log_in(self, name: str) -> User:
        """Log a player in who asks for other games."""
        user = self.simulation.log_in(name)
        for line in ("set games on", "toggle ready"):
            if not (line == "toggle ready" and user.ready):
                self.simulation.say(user, line)
        return user

    def user(self, name: str) -> User:
        """Return a player."""
        return self.simulation.world.users[name]

    def say(self, name: str, line: str) -> list[str]:
        """Send a line; let both players react to what they receive; return what the sender receives."""
        answer = self.simulation.say(self.user(name), line)
        for hearer, player in self.players.items():
            user = self.simulation.world.users.get(hearer)
            if user is None:
                continue
            for message in self.simulation.messages(user):
                for text in render(user, message):
                    assert type(message) is type(parse(text)), text
                    player.hear(message, text)
        return answer

    def invite(self, game: str, length: str = "1") -> RulesetMatch:
        """Begin a match."""
        self.say("alice", f"invite bob {length} {game}")
        self.say("bob", "join alice")
        return self.match

    @property
    def match(self) -> RulesetMatch:
        """The match that is played."""
        match = self.user("alice").match
        assert isinstance(match, RulesetMatch)
        return match

    def play(self, most: int = 20_000) -> int:
        """Play until nobody has anything to say, or so many lines; return their number."""
        lines = 0
        while self.said and lines < most:
            self.say(*self.said.popleft())
            lines += 1
        return lines

    def check(self) -> None:
        """Check that nothing was refused or not understood."""
        for player in self.players.values():
            assert ([], []) == (player.refusals, player.unknown)


def drawn_matches(players: dict[str, RulesetPlayer]) -> int:
    return sum(isinstance(end, m.GameDrawn) for end in players["alice"].ends)


@pytest.mark.parametrize("game", GAMES)
def test_two_clients_play_a_match_by_table_lines_alone_with_a_break(game: str) -> None:
    club = Club(doubles=0)
    club.invite(game)
    club.play(2)
    before = club.match.state
    club.simulation.log_out(club.user("bob"), Departure.DROPPED)
    assert club.user("alice").match is None
    club.log_in("bob")
    club.said.clear()
    assert ["alice", "bob"] == sorted(club.simulation.world.users)[:2]
    club.say("bob", "invite alice")
    club.say("alice", "join bob")
    resumed = club.match.state
    assert (before.table, before.todo, before.scores) == (resumed.table, resumed.todo, resumed.scores)
    club.play()
    club.check()
    assert club.user("alice").match is club.user("bob").match is None
    assert [1500.0, 1500.0] == [club.user(name).account.rating for name in ("alice", "bob")]
    ratings = [club.simulation.store.game_rating(name, game) for name in ("alice", "bob")]
    assert [1, 1] == [rating.experience for rating in ratings]
    assert sum(rating.rating for rating in ratings) == pytest.approx(3000)
    assert ratings[0].rating != ratings[1].rating
    saved = club.simulation.store.match("alice", "bob")
    assert saved is not None
    assert saved.over
