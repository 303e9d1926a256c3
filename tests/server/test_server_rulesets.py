"""Games other than backgammon on the server: whole matches, saved, watched, rated; other clients see nothing."""

from __future__ import annotations

import random
import re
from collections import deque
from functools import partial
from typing import Any, Final

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.words import Departure
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.rules.ruleset import Part
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.audience import render
from fibsbot.server.dice import SeededDice
from fibsbot.server.texts import help_on_games
from fibsbot.server.users import ClientMode, ServerMatch, User
from tests.marks import is_long, some_slow
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
                    assert isinstance(message, type(parse(text)) | m.Unknown), text
                    player.hear(message, text)
        return answer

    def invite(self, game: str, length: str = "1") -> ServerMatch:
        """Begin a match."""
        self.say("alice", f"invite bob {length} {game}")
        self.say("bob", "join alice")
        return self.match

    @property
    def match(self) -> ServerMatch:
        """The match that is played."""
        match = self.user("alice").match
        assert match is not None
        assert match.game is not None
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


SHORT: Final = ("gioul", "hyper", "tapa")
"""Games that are played to the end here; `tests/arena/test_demo_of_every_game.py` has whole matches of all games."""


@pytest.mark.parametrize("game", some_slow(GAMES, is_long))
def test_two_clients_go_on_by_table_lines_alone_after_a_break(game: str) -> None:
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
    assert (before.sides, before.todo, before.scores) == (resumed.sides, resumed.todo, resumed.scores)
    assert 5 < club.play(12)
    club.check()


@pytest.mark.parametrize("game", SHORT)
def test_two_clients_play_a_match_by_table_lines_alone(game: str) -> None:
    club = Club(doubles=0)
    club.invite(game)
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


# -- laws that backgammon does not have -----------------------------------------------------------------------------


def play_until(club: Club, kind: type[m.Message], most: int = 3_000) -> list[m.Message]:
    """Play until alice receives a message of a kind; return all that she has received with it."""
    for _ in range(most):
        name, line = club.said.popleft()
        club.say(name, line)
        received = club.simulation.messages(club.user("alice"))
        if any(isinstance(message, kind) for message in received):
            return received
    raise AssertionError(f"no {kind.__name__} in {most} lines")


def test_a_double_is_named_played_and_followed_by_another_roll() -> None:
    club = Club(3)
    club.invite("acey-deucey", "unlimited")
    received = play_until(club, m.NumberNamed)
    named = next(message for message in received if isinstance(message, m.NumberNamed))
    assert any(f"names {named.number}" in line for line in club.match.moves)
    assert any(isinstance(message, m.Moves | m.OnlyMove | m.TableBoard) for message in received)
    play_until(club, m.RollsAgain)
    club.check()


def test_what_cannot_be_played_passes_to_the_opponent() -> None:
    club = Club(2)
    club.invite("gioul", "unlimited")
    received = play_until(club, m.RestLeft)
    after = received[received.index(next(it for it in received if isinstance(it, m.RestLeft))) + 1]
    assert isinstance(after, m.NextPart)
    club.check()


def test_bound_tables_are_opened_by_the_winner_of_a_contest() -> None:
    club = Club()
    club.invite("irish:binding")
    bound = parse_sides("24 6:2 5:2 4:2 3:2 2:2 1:4 / 25 10:14 hit=1", club.match.rules)
    club.match.state = evolve(
        club.match.state,
        stage=Stage.MOVE,
        board=bound,
        turn=Seat.A,
        dice=(3, 1),
        todo=(Part((3, 1)),),
    )
    club.said.clear()
    club.say("alice", "move 24-23 23-20")
    contest = next(it for it in club.simulation.messages(club.user("alice")) if isinstance(it, m.ContestRolls))
    name = "alice" if sum(contest.dice) > sum(contest.opponent_dice) else "bob"
    other = "bob" if name == "alice" else "alice"
    assert name == club.match.names[club.match.on_turn]
    assert ["** There is nothing to name."] == club.say(other, "name 6")
    assert ["** Type 'name' and one of these numbers first: 6, 5, 4, 3, 2, 1"] == club.say(name, "roll")
    assert ["** You can't name that. Choose one of 6, 5, 4, 3, 2, 1."] == club.say(name, "name 7")
    assert "You name the point to open: 6" in club.say(name, "name 6")
    assert 1 == club.match.state.sides_for(Seat.A).own.row[6]


def test_a_game_that_nobody_wins_counts_nothing_and_the_next_one_follows() -> None:
    club = Club()
    club.invite("greek", "3")
    trapped = parse_sides("24 2:14 pinned=24 / 24 1:14", club.match.rules)
    club.match.state = evolve(
        club.match.state, stage=Stage.MOVE, board=trapped, turn=Seat.A, dice=(2, 1), todo=(Part((1,)),)
    )
    club.said.clear()
    lines = club.say("alice", "move 2-1")
    assert "Nobody wins the game: the last checkers of both sides are pinned on their starts." in lines
    assert "score in 3 point match: alice-0 bob-0" in lines
    club.play(1)
    assert [0, 0] == list(club.match.state.scores)
    club.play(1)
    assert not club.match.between_games
    loaded = ServerMatch.from_saved(club.match.to_saved())
    assert loaded is not None
    assert club.match.state == loaded.state


def played(game: str, length: str, seed: int, **habits: float) -> Club:
    """Return two users who have played a match."""
    club = Club(seed, **habits)
    club.invite(game, length)
    club.play()
    club.check()
    return club


def test_the_cube_of_a_game_that_has_one_is_offered_taken_and_refused() -> None:
    club = played("nackgammon", "7", 1, doubles=1.0)
    assert any(isinstance(end, m.GaveUp) for end in club.players["alice"].ends)


def test_resignations_wait_for_their_answer_in_the_table_line() -> None:
    club = played("portes", "5", 2, resigns=0.2)
    assert any(isinstance(end, m.ResignAccepted) for end in club.players["bob"].ends)


def test_an_illegal_play_is_refused_with_the_law_that_forbids_it() -> None:
    club = Club()
    club.invite("plakoto")
    club.said.clear()
    name = club.match.names[club.match.state.turn]
    refused = club.say(name, "move 24-12 24-23")
    assert 1 == len(refused)
    assert refused[0].startswith("** You can't play that: ")
    assert "** You didn't roll" not in refused[0]


# -- others who see the match ---------------------------------------------------------------------------------------


def test_a_client_that_has_not_asked_sees_nothing_of_other_games() -> None:
    club = Club()
    simulation, carol = club.simulation, club.other
    assert ["** Type 'set games on' if you want to play other games than backgammon."] == simulation.say(
        carol, "invite bob 1 plakoto"
    )
    assert ["** carol plays backgammon only."] == club.say("alice", "invite carol 1 plakoto")
    told = ["alice wants to play Plakoto, but your client has not asked for it. Type 'set games on'."]
    assert told == simulation.received(carol)
    simulation.say(carol, "toggle report")
    simulation.say(carol, "watch alice")
    heard: list[str] = []
    club.invite("plakoto")
    heard += simulation.received(carol)
    while club.said:
        club.say(*club.said.popleft())
        heard += simulation.received(carol)
    assert ["alice plays Plakoto, which your client has not asked for. Type 'set games on'."] == heard
    assert carol.watching is None


def test_a_watcher_who_has_not_asked_is_told_in_one_line() -> None:
    club = Club()
    club.invite("plakoto")
    told = ["alice plays Plakoto, which your client has not asked for. Type 'set games on'."]
    for line in ("watch alice", "look alice"):
        assert told == club.simulation.say(club.other, line)
    club.simulation.say(club.other, "set games on")
    club.simulation.say(club.other, "watch alice")
    board = club.simulation.say(club.other, "board")
    assert 1 == len(board)
    assert board[0].startswith("table:alice:bob:plakoto:")
    refused = ["** You can't turn games off while you play or watch one."]
    assert refused == club.simulation.say(club.other, "set games off")
    assert refused == club.say("alice", "set games off")


def test_people_read_drawings_and_need_not_ask() -> None:
    club = Club()
    person = club.simulation.log_in("dora", ClientMode.TELNET)
    club.simulation.say(person, "toggle ready")
    club.say("alice", "invite dora 1 tabula")
    lines = club.simulation.say(person, "join alice")
    assert not any(line.startswith(("table:", "board:")) for line in lines)
    assert any(line.startswith("   +13-14-15-16-17-18---") for line in lines)
    assert any("HAND:" in line for line in lines)


def test_the_list_of_moves_and_the_ratings_are_of_the_game() -> None:
    club = Club()
    club.invite("tabula", "3")
    club.play(8)
    listed = club.say("alice", "oldmoves bob")
    assert "The game is Tabula." == listed[0]
    assert any(re.fullmatch(r"[XO]: \([1-6] [1-6] [1-6]\) .+", line) for line in listed)
    club.simulation.log_out(club.user("bob"))
    assert "  Tabula" in club.say("alice", "show saved")[1]
    club.log_in("bob")
    club.say("alice", "invite bob 1 hyper")
    club.said.clear()
    club.say("bob", "join alice")
    club.play()
    ranks = club.say("alice", "ratings hyper")
    assert 3 == len(ranks)
    assert {"alice", "bob"} == {line.split()[1] for line in ranks[1:]}
    assert any(line.startswith("  Rating in Hyper: 15") for line in club.say("alice", "whois " + ranks[1].split()[1]))
    assert [" rank name            rating    Experience"] == club.say("alice", "ratings tabula")


def test_a_corrupt_saved_match_is_refused() -> None:
    club = Club()
    row = club.invite("plakoto").to_saved()
    for text in ('{"ruleset": 1}', row.state.replace('"plakoto"', '"chess"'), row.state.replace("24:15", "24:16", 1)):
        assert ServerMatch.from_saved(evolve(row, state=text)) is None
    assert ServerMatch.from_saved(row) is not None


def test_an_invitation_that_names_backgammon_is_one_without_a_game() -> None:
    club = Club()
    assert ["** You invited bob to a 3 point match."] == club.say("alice", "invite bob 3 backgammon")
    club.say("bob", "join alice")
    match = club.user("alice").match
    assert match is not None
    assert match.game is None
    assert [line.partition(":")[0] for line in club.say("alice", "board")] == ["board"]


@pytest.mark.parametrize("line", ["invite bob 1 chess", "invite bob 1 chess:cube", "invite bob 1 plakoto::"])
def test_an_unknown_game_is_refused_in_one_line(line: str) -> None:
    refused = Club().say("alice", line)
    assert [f"** There is no game called '{line.rsplit(maxsplit=1)[-1]}'. Type 'help games'."] == refused


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("tabula:free:exact", "expected only one of free and exact: both change the same law"),
        ("plakoto:chess", "got 'chess'"),
    ],
)
def test_options_that_a_game_does_not_have_are_refused_with_the_reason(game: str, reason: str) -> None:
    (refused,) = Club().say("alice", f"invite bob 3 {game}")
    assert refused.startswith("** Laws: ")
    assert reason in refused


def test_the_help_on_each_game_names_the_common_options() -> None:
    for game in GAMES:
        said = "\n".join(help_on_games(game))
        assert all(option.name in said for option in load_ruleset(game).common_options), said


@pytest.mark.parametrize("topic", ["games", *GAMES])
def test_the_help_on_each_game_fits_a_screen(topic: str) -> None:
    club = Club()
    lines = club.say("alice", f"help {topic}")
    assert 2 <= len(lines) <= 24
    assert max(map(len, lines)) < 80
    assert lines == club.say("alice", topic)
