"""Random users at a chouette: whatever they send, nobody else is harmed, and the table comes to an end."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from fibs_protocol.words import Departure
from fibsbot.chouette import flow
from fibsbot.chouette.flow import DECISION_TIME
from fibsbot.chouette.table import all_tables, saved_tables
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Stage
from tests.examples import examples
from tests.server.fuzzed_world import FuzzedWorld

NAMES: Final = ("alice", "bob", "carol", "dave", "person")
LINES: Final = (
    *("chouette", "chouette open", "chouette start", "chouette leave", "chouette say hi", "chouette x"),
    *(f"chouette join {name}" for name in NAMES),
    *("roll", "double", "accept", "reject", "resign n", "resign g", "beaver", "off", "move 8-5", "board", "pip"),
    *("join", "join alice", "leave", "invite bob 3", "watch bob", "unwatch", "look carol", "blind bob", "gag alice"),
    *("kibitz hi", "whisper hi", "say hi", "toggle double", "toggle greedy", "show games", "who", "whois bob", "panic"),
    *("oldmoves bob", "set boardstyle 1"),
)


class Table(FuzzedWorld):
    """Five users, one of them a person, who play, say anything, log in and out, and let time pass."""

    SEED = 3

    @initialize(start=st.booleans())
    def sit_down(self, *, start: bool) -> None:
        """Let four users play, or begin with nothing."""
        if start:
            self.say("alice", "chouette open")
            for name in NAMES[1:4]:
                self.say(name, "chouette join alice")
            self.say("alice", "chouette start")

    @rule(name=st.sampled_from(NAMES), line=st.sampled_from(LINES))
    def anything(self, name: str, line: str) -> None:
        """Send any line."""
        self.say(name, line)

    @rule(data=st.data(), actions=st.integers(1, 60))
    def play(self, data: Any, actions: int) -> None:
        """Let those whose decision is awaited decide, at every table."""
        for _ in range(actions):
            for table in list(all_tables(self.simulation.world)):
                state, match = table.state, table.match
                if state is None or match is None or not table.users:
                    continue
                name = state.to_act
                if name is None:
                    for joining in list(table.users):
                        self.say(joining, "join")
                elif state.game.stage is Stage.MOVE and not state.game.resignation:
                    choices = legal_plays(state.game.position, state.game.dice or (0, 0))
                    chosen = choices[data.draw(st.integers(0, 20)) % len(choices)]
                    moves = play_to_fibs(chosen, match.direction(match.seat(name)))
                    self.say(name, "move " + " ".join(f"{it.source or 'bar'}-{it.target or 'off'}" for it in moves))
                else:
                    self.say(name, data.draw(st.sampled_from(["roll", "double", "accept", "reject"])))

    @rule(name=st.sampled_from(NAMES))
    def log_out(self, name: str) -> None:
        """Lose the connection."""
        self.simulation.log_out(self.user(name), Departure.DROPPED)

    @rule(name=st.sampled_from(NAMES))
    def come_again(self, name: str) -> None:
        """Log in, perhaps for the second time."""
        self.log_in(name)

    @rule(seconds=st.sampled_from([1.0, DECISION_TIME]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.simulation.time += seconds
        flow.drop_late_players(self.simulation.world)
        self.simulation.collect()

    @invariant()
    def everybody_has_one_seat_and_the_board_of_it(self) -> None:
        """Box and captain have the table's game as their match, the others see it, and nobody else does."""
        world = self.simulation.world
        for table in all_tables(world):
            assert len(set(table.seats)) == len(table.seats) <= 6
            assert set(table.users) <= set(table.seats)
            match, state = table.match, table.state
            if match is None or state is None:
                assert set(table.users) == set(table.seats)
                continue
            assert (state.box, state.captain) == match.names
            for name, user in table.users.items():
                assert (world.users[name], table) == (user, user.table)
                plays = name in match.names and (table.playing or name in table.seats)
                assert user.match is (match if plays else None)
                assert (user in match.users.values()) == plays
                assert (user in match.teammates) == (not plays)
        for name, user in world.users.items():
            seats = [table for table in all_tables(world) if name in table.seats]
            assert seats == ([] if user.table is None else [user.table])

    @invariant()
    def the_ledger_is_balanced_and_saved(self) -> None:
        """What the database has is what is played."""
        world = self.simulation.world
        assert [] == world.unsaved_matches
        saved = {table.number: table for table in saved_tables(world.database.saved_tables())}
        assert {table.number for table in all_tables(world)} == set(saved)
        for table in all_tables(world):
            assert table.state is None or 0 == sum(table.state.ledger.values())
            assert table.state == saved[table.number].state
            assert table.seats == saved[table.number].seats

    @invariant()
    def every_wait_ends(self) -> None:
        """While somebody of a table is there, there is a deadline for whatever is awaited."""
        for table in all_tables(self.simulation.world):
            if table.state is not None and table.users:
                assert table.deadline is not None
                assert table.deadline <= self.simulation.time + DECISION_TIME

    def teardown(self) -> None:
        """With nobody but one player at each table, all tables are closed in the end."""
        world = self.simulation.world
        for _ in range(20 * len(all_tables(world))):
            self.wait(DECISION_TIME)
        assert [] == [table for table in all_tables(world) if table.users and table.state is not None]


TestTable = Table.TestCase
TestTable.settings = settings(examples(16), stateful_step_count=30, deadline=None)
