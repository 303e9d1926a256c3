"""Users play a chouette at random on a simulated server, and the log of each is replayed as it is written."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Final

from fibs_protocol.grammar import parse, parse_command
from fibs_protocol.words import Departure
from fibsbot.chouette import flow
from fibsbot.chouette.flow import DECISION_TIME
from fibsbot.chouette.rules import Chouette
from fibsbot.chouette.table import ChouetteTable, all_tables
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Stage
from fibsbot.server.dice import SeededDice
from tests.chouette.chouette_simulation import NAMES
from tests.server.simulated_world import Simulation

ROLLING: Final = ("roll",) * 92 + ("double",) * 6 + ("resign n", "resign g")


class LoggedChouette:
    """A chouette of four users, who decide at random, come late, and lose their connections."""

    def __init__(self, seed: int, *, trouble: float = 0.0) -> None:
        """Let the users take their seats; `trouble` is how likely each is before a decision: to be late, or away."""
        self.events: dict[str, list[MatchEvent]] = {name: [] for name in NAMES}
        self.ends: list[Chouette] = []
        """The games, each as it was when it ended."""
        self._random = random.Random(seed)
        self._trouble = trouble
        self._simulation = Simulation(SeededDice(seed))
        self._transcribers = {name: Transcriber(name, "test") for name in NAMES}
        self._users = {name: self._simulation.log_in(name) for name in NAMES}
        for name in NAMES:
            self._say(name, "chouette open" if name == NAMES[0] else f"chouette join {NAMES[0]}")
        self._say(NAMES[0], "chouette start")

    @property
    def ledgers(self) -> list[dict[str, int]]:
        """What everybody had won or lost before the first game, and after each."""
        return [dict.fromkeys(NAMES, 0), *(dict(end.ledger) for end in self.ends)]

    def play(self, games: int) -> None:
        """Play so many games, and close the logs."""
        while len(self.ends) < games:
            (table,) = all_tables(self._simulation.world)
            state = table.state
            assert state is not None
            if state.to_act is not None:
                self._act(table, state, state.to_act)
                continue
            self.ends.append(state)
            for name in NAMES:
                self._log_in(table, name)
                if len(self.ends) < games:
                    self._say(name, "join")
        for name in NAMES:
            self.events[name] += self._transcribers[name].close()

    def _act(self, table: ChouetteTable, state: Chouette, name: str) -> None:
        if self._random.random() < self._trouble:
            self._lose_connection(table, self._random.choice(NAMES))
        elif self._random.random() < self._trouble:
            self._simulation.time += DECISION_TIME
            flow.drop_late_players(self._simulation.world)
            self._simulation.collect()
            self._hear()
        elif name in table.users:
            self._say(name, self._decision(table, state))
        else:
            self._log_in(table, name)

    def _decision(self, table: ChouetteTable, state: Chouette) -> str:
        game, match = state.game, table.match
        assert match is not None
        if game.resignation is not None or game.answering is not None:
            return self._random.choice(["accept", "accept", "reject"])
        if game.stage is not Stage.MOVE:
            return self._random.choice(ROLLING)
        play = self._random.choice(legal_plays(game.position, game.dice or (0, 0)))
        moves = play_to_fibs(play, match.direction(game.turn))
        return "move " + " ".join(f"{it.source or 'bar'}-{it.target or 'off'}" for it in moves)

    def _lose_connection(self, table: ChouetteTable, name: str) -> None:
        if name in table.users:
            self._simulation.log_out(self._users[name], Departure.DROPPED)
            self.events[name] += self._transcribers[name].disconnect()
            self._hear()

    def _log_in(self, table: ChouetteTable, name: str) -> None:
        if name not in table.users:
            self._users[name] = self._simulation.log_in(name)
            self._hear()

    def _say(self, name: str, line: str) -> None:
        self.events[name] += self._transcribers[name].send(parse_command(line))
        self._simulation.say(self._users[name], line)
        self._hear()

    def _hear(self) -> None:
        for name in NAMES:
            self.receive(name, self._simulation.received(self._users[name]))

    def receive(self, name: str, lines: Iterable[str]) -> None:
        """Let a player receive lines."""
        for line in lines:
            self.events[name] += self._transcribers[name].receive(parse(line))
