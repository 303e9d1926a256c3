"""Arbitrary commands in matches of any game raise no errors, and a client that has not asked never sees a table."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import invariant, rule

from fibs_protocol import messages as m
from fibs_protocol.words import Departure
from fibsbot.games import GAMES
from fibsbot.position import Play
from fibsbot.rules.game import choices
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.state import Stage
from fibsbot.server.users import ServerMatch, User
from fibsbot.table_lines import moves_to_fibs
from tests.examples import examples
from tests.server.fuzzed_world import FuzzedWorld

NAMES = ("alice", "bob", "person", "plain")
OPTIONS = ("acey-deucey:stakes", "irish:binding", "plakoto:exception", "gioul:may", "portes:tavla", "chess", "")
LINES = (
    *("roll", "double", "accept", "reject", "beaver", "redouble", "off", "join", "leave", "board", "pip", "panic"),
    *("name 1", "name 6", "name x", "name", "rethrow", "resign n", "resign b", "move", "move 24-23", "move bar-20"),
    *("set games on", "set games off", "set games", "set boardstyle 1", "set boardstyle 3", "toggle greedy"),
    *("toggle automove", "toggle autoboard", "toggle double", "toggle moves", "watch alice", "watch bob", "unwatch"),
    *("look alice", "oldmoves bob", "oldmoves alice", "oldboard alice", "oldboard bob", "show saved", "show games"),
    *("ratings tabula", "ratings hyper alice", "whois alice", "help games", "help gioul", "gul", "kibitz hi"),
)
names = st.sampled_from(NAMES)


class Club(FuzzedWorld):
    """Two clients that ask for other games, one that does not, and a person."""

    SEED = 7

    def log_in(self, name: str) -> User:
        """Log a user in; both clients ask for other games."""
        user = super().log_in(name)
        if name in ("alice", "bob"):
            self.say(name, "set games on")
        return user

    def check(self, user: User, message: Any, lines: list[str]) -> None:
        """Check that the client that has not asked for other games receives no table."""
        if user.name == "plain":
            assert not any(text.startswith("table:") for text in lines)
            assert not isinstance(message, m.TableBoard)

    @rule(name=names, line=st.sampled_from(LINES))
    def anything(self, name: str, line: str) -> None:
        """Send any line; the client that has not asked for other games never does."""
        if name != "plain" or line != "set games on":
            self.say(name, line)

    @rule(name=names, other=names, length=st.sampled_from(["1", "3", "unlimited", ""]), game=st.sampled_from(GAMES))
    def invite(self, name: str, other: str, length: str, game: str) -> None:
        """Invite and join."""
        self.match(name, other, length, game)

    @rule(name=names, other=names, game=st.sampled_from(OPTIONS))
    def invite_to_option(self, name: str, other: str, game: str) -> None:
        """Invite to a game with an option, or to none, and join."""
        self.match(name, other, "3", game)

    def match(self, name: str, other: str, length: str, game: str) -> None:
        """Invite and join."""
        if not self.user(other).ready:
            self.say(other, "toggle ready")
        self.say(name, f"invite {other} {length} {game}" if length else f"invite {other}")
        self.say(other, f"join {name}")

    @rule(data=st.data(), name=names, plays=st.integers(1, 40))
    def play(self, data: Any, name: str, plays: int) -> None:
        """Continue a match with sensible commands."""
        for _ in range(plays):
            match = self.user(name).match
            if match is None or match.game is None:
                return
            state = match.state
            if state.decides is None:
                for player in match.names:
                    self.say(player, "join")
                continue
            if state.stage is Stage.MOVE and not state.resignation:
                found = legal_plays(state.rules, state.sides, state.part) or (Play(),)
                moves = moves_to_fibs(found[data.draw(st.integers(0, 20)) % len(found)])
                line = "move " + " ".join(f"{move.source or 'bar'}-{move.target or 'off'}" for move in moves)
            elif state.stage is Stage.NAME and not state.resignation:
                line = f"name {choices(state)[-1]}"
            else:
                line = data.draw(st.sampled_from(["roll", "double", "accept", "reject"]))
            self.say(match.names[state.decides], line)

    @rule(name=names, how=st.sampled_from([Departure.LOGGED_OUT, Departure.DROPPED]))
    def leave(self, name: str, how: Departure) -> None:
        """Log out in some way."""
        self.simulation.log_out(self.user(name), how)

    @invariant()
    def what_is_played_is_saved_and_waits_for_somebody(self) -> None:
        """The database has the state of every match, and every match waits for a player who is there."""
        world = self.simulation.world
        assert [] == world.unsaved_matches
        for user in world.users.values():
            match = user.match
            if match is None or match.game is None:
                continue
            assert user.plays_games
            assert match.between_games or match.state.decides is not None
            assert match.shown(match.seat(user.name), "You", "x").state.flaw() is None
            saved = world.database.match(*match.names)
            assert saved is not None
            loaded = ServerMatch.from_saved(saved)
            assert loaded is not None
            assert (match.state, match.moves, match.rolls) == (loaded.state, loaded.moves, loaded.rolls)


TestClub = Club.TestCase
TestClub.settings = settings(examples(12), stateful_step_count=30, deadline=None)
