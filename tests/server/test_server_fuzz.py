"""Arbitrary commands in any order raise no errors and keep the world consistent."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import invariant, rule

from fibs_protocol.commands import ShowTopic
from fibs_protocol.grammar.commands import COMMAND_FORMS
from fibs_protocol.words import Departure, Setting, Toggle
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.match import MatchState
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.connection import TelnetInput, as_ascii
from fibsbot.server.users import ServerMatch
from tests.examples import examples
from tests.server.fuzzed_world import FuzzedWorld

NAMES = ("alice", "bob", "carol", "person")
WORDS = (
    *NAMES,
    *(toggle.value for toggle in Toggle),
    *(setting.value for setting in Setting),
    *(what.value for what in ShowTopic),
    *(
        "1",
        "3",
        "9999",
        "unlimited",
        "n",
        "g",
        "b",
        "from",
        "to",
        "0",
        "-1",
        "ready",
        "UTC",
        "!!",
        "24-18",
        "bar-20",
        "1 off",
    ),
)

names = st.sampled_from(NAMES)
printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
arguments = st.lists(st.sampled_from(WORDS) | printable, max_size=3).map(" ".join)
lines = (
    st.builds("{} {}".format, st.sampled_from([form.name for form in COMMAND_FORMS] + ["!!", "re", "x"]), arguments)
    | printable
)


class Lobby(FuzzedWorld):
    """Four users, one of them a person, who log in and out, play and send anything."""

    SEED = 4

    @rule(name=names, line=lines)
    def anything(self, name: str, line: str) -> None:
        """Send any line."""
        self.simulation.time += 1
        self.say(name, line)

    @rule(name=names, other=names, length=st.sampled_from(["1", "3", "unlimited", ""]), watches=st.booleans())
    def match(self, *, name: str, other: str, length: str, watches: bool) -> None:
        """Invite and join; the guest may be watching the host."""
        guest = self.user(other)
        if watches:
            self.say(other, f"watch {name}")
        if not guest.ready:
            self.say(other, "toggle ready")
        self.say(name, f"invite {other} {length}")
        self.say(other, f"join {name}")

    @rule(data=st.data(), name=names, plays=st.integers(1, 40))
    def play(self, data: Any, name: str, plays: int) -> None:
        """Continue a match with sensible commands."""
        for _ in range(plays):
            match = self.user(name).match
            if match is None:
                return
            assert match.game is None
            seat = next((seat for seat in Seat if MatchState.of(match.state, seat)), None)
            if seat is None:
                self.say(match.names[0], "join")
                self.say(match.names[1], "join")
            elif match.state.stage is Stage.MOVE and not match.state.resignation:
                choices = legal_plays(match.state.position, match.state.dice or (0, 0))
                chosen = choices[data.draw(st.integers(0, 20)) % len(choices)]
                moves = play_to_fibs(chosen, match.direction(seat))
                text = " ".join(f"{move.source or 'bar'}-{move.target or 'off'}" for move in moves)
                self.say(match.names[seat], f"move {text}")
            else:
                action = data.draw(st.sampled_from(["roll", "double", "accept", "reject", "beaver", "redouble"]))
                self.say(match.names[seat], action)

    @rule(name=names, how=st.sampled_from([how for how in Departure if how.value not in ("left", "terminated")]))
    def leave(self, name: str, how: Departure) -> None:
        """Log out in some way."""
        self.simulation.log_out(self.user(name), how)

    @rule(name=names)
    def come_again(self, name: str) -> None:
        """Log in, perhaps for the second time."""
        self.log_in(name)

    @invariant()
    def who_plays_sits_at_a_table_for_two(self) -> None:
        """Players are logged in, have each other as opponents and do not watch."""
        users = self.simulation.world.users
        for user in users.values():
            if user.match is not None:
                assert user is user.match.users[user.match.seat(user.name)]
                assert user.watching is None
                assert users[user.opponent or ""].match is user.match

    @invariant()
    def everybody_watched_knows_the_watchers(self) -> None:
        """The index of watchers agrees with the users and has no empty entries."""
        world = self.simulation.world
        expected: dict[str, list[str]] = {}
        for user in world.users.values():
            if user.watching is not None:
                expected.setdefault(user.watching, []).append(user.name)
        actual = {name: [user.name for user in watchers] for name, watchers in world.watchers.items()}
        assert {name: sorted(row) for name, row in expected.items()} == {
            name: sorted(row) for name, row in actual.items()
        }
        assert set(actual) <= set(world.users)

    @invariant()
    def somebody_can_always_act(self) -> None:
        """A match waits for one player's decision, or for players to join the next game."""
        for user in self.simulation.world.users.values():
            if user.match is not None and not user.match.between_games:
                assert 1 == sum(MatchState.of(user.match.state, seat) is not None for seat in Seat)

    @invariant()
    def what_is_played_is_saved(self) -> None:
        """The database has the current state of every running match, and no message is left in the outbox."""
        world = self.simulation.world
        assert [] == world.unsaved_matches
        assert [] == world.outbox
        for user in world.users.values():
            if user.match is not None:
                saved = world.database.match(*user.match.names)
                assert saved is not None
                match = ServerMatch.from_saved(saved)
                assert match is not None
                assert (user.match.state, user.match.moves, user.match.rolls) == (
                    match.state,
                    match.moves,
                    match.rolls,
                )


TestLobby = Lobby.TestCase
TestLobby.settings = settings(examples(20), stateful_step_count=40, deadline=None)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=20))
def test_lines_do_not_depend_on_how_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    whole, pieces = TelnetInput(50), TelnetInput(50)
    whole.feed(data)
    begin = 0
    for cut in [*sorted(cuts), len(data)]:
        pieces.feed(data[begin:cut])
        begin = max(begin, cut)
    assert list(whole.lines) == list(pieces.lines)
    assert whole.answers == pieces.answers
    for line in map(as_ascii, whole.lines):
        assert line.isascii()
        assert line.isprintable()
        assert len(line) <= 50


text_lines = st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40), max_size=5)


@given(text_lines, st.sampled_from([b"\r\n", b"\n", b"\r\0", b"\r"]))
def test_all_usual_line_ends_are_accepted(texts: list[str], end: bytes) -> None:
    feed = TelnetInput(100)
    for text in texts:
        feed.feed(text.encode() + end)
    assert texts == list(feed.lines)
