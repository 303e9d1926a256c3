"""A simulation of a chouette on the server."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from fibs_protocol.words import Dice
from fibsbot.chouette import flow
from fibsbot.chouette.table import ChouetteTable, all_tables
from fibsbot.position import Position
from fibsbot.rules.state import Seat, Stage
from tests.server.simulated_world import ListedDice, Simulation

NAMES = ("alice", "bob", "carol", "dave")
CASTS = ((6, 5), (4, 3))
"""alice is in the box, bob is captain, carol and dave follow."""


class Chouette:
    """A simulation of a chouette in which the box has the first move."""

    def __init__(self, *dice: Dice, players: int = 4, db: Path | None = None) -> None:
        """Start a table, with these dice for the first game."""
        self.simulation = Simulation(ListedDice(*CASTS, *dice), db=db)
        self.users = {name: self.simulation.log_in(name) for name in NAMES[:players]}
        self.say("alice", "chouette open")
        for name in NAMES[1:players]:
            self.say(name, "chouette join alice")
        self.first_lines = self.say("alice", "chouette start")

    def say(self, name: str, line: str) -> list[str]:
        """Send a line as a player; return what the player receives."""
        return self.simulation.say(self.users[name], line)

    def heard(self, name: str) -> list[str]:
        """Return what a player has received because of the last line."""
        return self.simulation.received(self.users[name])

    def news(self, name: str) -> list[str]:
        """Return the lines about the table among them."""
        return [line.removeprefix("chouette: ") for line in self.heard(name) if line.startswith("chouette: ")]

    @property
    def table(self) -> ChouetteTable:
        """The table."""
        (table,) = all_tables(self.simulation.world)
        return table

    def ledger(self) -> dict[str, int]:
        """Return the ledger."""
        assert self.table.state is not None
        return dict(self.table.state.ledger)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and drop those who are late."""
        self.simulation.time += seconds
        flow.drop_late_players(self.simulation.world)
        self.simulation.collect()

    def win(self, seat: Seat) -> None:
        """Let box or captain bear off the last checker; both sides have one left."""
        match = self.table.match
        assert match is not None
        position = Position.from_sides(own=[1, *[0] * 24], opponent=[1, *[0] * 24])
        match.state = evolve(match.state, board=position, turn=seat, stage=Stage.ROLL, dice=None)
        name = match.names[seat]
        self.say(name, "roll")
        self.say(name, "off")

    def join_all(self) -> None:
        """Let everybody who is there join the next game."""
        for name in list(self.table.users):
            if name not in self.table.joined:
                self.say(name, "join")


def box_has_moved() -> Chouette:
    """Return a table of four after the box's first move, with the team to roll: bob is captain."""
    game = Chouette((3, 1))
    game.say("alice", "move 17-20 19-20")
    return game


def doubled_by_the_box() -> Chouette:
    """Return a table at which the box has doubled."""
    game = box_has_moved()
    game.say("bob", "roll")
    game.say("bob", "move 8-5 6-5")
    assert "It's your turn. Please roll or double" in game.heard("alice")
    game.say("alice", "double")
    return game
