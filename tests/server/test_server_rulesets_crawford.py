"""The Crawford game in matches of games that are played with a cube: refused doubles, toggles, saved matches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.words import Departure
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.users import ClientMode, ServerMatch
from tests.server.test_server_rulesets import Club

EARLIER = Path(__file__).parent.parent / "data" / "server" / "saved_matches.json"
REFUSED = "** The Crawford rule doesn't allow you to double in this game."


def to_roll(match: ServerMatch, turn: Seat = Seat.B) -> None:
    """Let a player be about to roll."""
    match.state = evolve(match.state, stage=Stage.ROLL, turn=turn, dice=None, todo=(), throws=0)


def lose(club: Club, loser: str, level: str = "n") -> None:
    """Let a player resign the game, and both join the next one if there is one."""
    winner = "bob" if loser == "alice" else "alice"
    club.say(loser, f"resign {level}")
    club.say(winner, "accept")
    club.said.clear()
    if club.user(loser).match is not None:
        club.say(loser, "join")
        club.say(winner, "join")
    club.said.clear()


def to_crawford(game: str = "nackgammon", *off: str) -> Club:
    """Return a match to 3 in which alice has 2 points; these players have switched the toggle off."""
    club = Club()
    for name in off:
        club.say(name, "toggle crawford")
    club.invite(game, "3")
    lose(club, "bob", "g")
    return club


def may_double(club: Club, name: str) -> tuple[bool, bool]:
    """Return who may double by the line that a player gets."""
    club.say(name, "board")
    (board,) = (it for it in club.simulation.messages(club.user(name)) if isinstance(it, m.TableBoard))
    return board.state.may_double, board.state.opponent_may_double


@pytest.mark.parametrize("game", ["nackgammon", "hyper", "misere", "plakoto:cube"])
def test_nobody_may_double_in_the_crawford_game_and_in_the_next_one_both_may(game: str) -> None:
    club = to_crawford(game)
    if max(club.match.state.scores) < 2:  # a gammon counts 1
        lose(club, "bob")
    assert {2, 0} == set(club.match.state.scores)
    to_roll(club.match)
    assert (False, False) == may_double(club, "alice") == may_double(club, "bob")
    assert [REFUSED] == club.say("bob", "double")
    lose(club, "alice")
    to_roll(club.match)
    assert (True, True) == may_double(club, "alice") == may_double(club, "bob")
    assert ["You double. Please wait for alice to accept or reject."] == [
        line for line in club.say("bob", "double") if not line.startswith("table:")
    ]


def test_in_the_crawford_game_the_server_rolls_without_asking() -> None:
    club = to_crawford()
    heard: list[m.Message] = []
    for _ in range(30):
        seat = club.match.state.turn
        name = club.match.names[seat]
        club.say(name, "board")
        club.say(*club.said.pop())
        club.said.clear()
        heard += club.simulation.messages(club.user("alice"))
    assert any(isinstance(message, m.Rolls) for message in heard)
    assert not any(isinstance(message, m.RollOrDouble) for message in heard)


@pytest.mark.parametrize(("off", "has_rule"), [((), True), (("alice",), True), (("alice", "bob"), False)])
def test_the_rule_is_left_out_only_if_neither_player_wants_it(off: tuple[str, ...], *, has_rule: bool) -> None:
    club = to_crawford("nackgammon", *off)
    assert (has_rule, has_rule) == (club.match.state.laws.crawford, club.match.state.crawford)
    to_roll(club.match)
    assert (not has_rule, not has_rule) == may_double(club, "bob")
    assert (REFUSED in club.say("bob", "double")) is has_rule


def resumed(club: Club) -> ServerMatch:
    """Break the match off, and resume it."""
    club.simulation.log_out(club.user("bob"), Departure.DROPPED)
    club.log_in("bob")
    club.say("alice", "invite bob")
    club.say("bob", "join alice")
    club.said.clear()
    return club.match


def test_a_match_that_is_resumed_in_its_crawford_game_goes_on_with_it() -> None:
    club = to_crawford()
    before, after = club.match.state, resumed(club).state
    assert before == after
    assert after.crawford
    assert (False, False) == may_double(club, "bob")
    to_roll(club.match)
    assert [REFUSED] == club.say("bob", "double")
    lose(club, "alice")
    assert (False, True) == (club.match.state.crawford, club.match.state.post_crawford)


def test_toggles_that_are_switched_later_change_nothing() -> None:
    club = to_crawford()
    for name in ("alice", "bob"):
        club.say(name, "toggle crawford")
    assert resumed(club).state.crawford


def test_a_match_between_two_games_is_resumed_with_its_crawford_game() -> None:
    club = Club()
    club.invite("nackgammon", "3")
    club.say("bob", "resign g")
    club.say("alice", "accept")
    assert club.match.between_games
    assert resumed(club).state.crawford


def test_a_match_that_was_saved_before_there_was_a_crawford_game_goes_on_without_one() -> None:
    row = to_crawford().match.to_saved()
    values: dict[str, Any] = json.loads(EARLIER.read_text())["nackgammon"]  # as an earlier version has saved it
    del values["ruleset"]["crawford"]
    values["ruleset"]["scores"] = [2, 0]
    loaded = ServerMatch.from_saved(evolve(row, state=json.dumps(values)))
    assert loaded is not None
    assert loaded.game is not None
    assert (False, False) == (loaded.state.crawford, loaded.state.laws.crawford)


def test_people_read_it_below_the_board() -> None:
    club = Club()
    person = club.simulation.log_in("dora", ClientMode.TELNET)
    club.simulation.say(person, "toggle ready")
    club.say("alice", "invite dora 2 nackgammon")
    club.simulation.say(person, "join alice")
    assert not any("Crawford" in line for line in club.simulation.say(person, "board"))
    club.simulation.say(person, "resign n")
    club.say("alice", "accept")
    club.say("alice", "join")
    club.simulation.say(person, "join")
    assert any("Cube: 1 (Crawford game)" in line for line in club.simulation.say(person, "board"))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["nackgammon", "hyper", "plakoto:cube"])
def test_whole_matches_by_clients_that_double_whenever_a_line_allows_it(game: str) -> None:
    club = Club(4, doubles=1.0)
    club.invite(game, "7")
    club.play()
    club.check()
    assert club.user("alice").match is None
