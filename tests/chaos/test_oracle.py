"""What the proxy hears becomes the truth of a run: commands taken and refused, decisions, matches."""

from __future__ import annotations

from typing import cast

import pytest
from attrs import define, field
from fibs_protocol import messages as m
from fibs_protocol.words import YOU

from bench.chaos.oracle import READ_TIME, Oracle, shows_decision
from bench.chaos.proxy import ProxyConnection

WELCOME = "1 marvin 1001914002 host"
SAVED = "no saved games."
BOARD = (
    "board:You:ford:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    ":1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)
ROLL = BOARD.replace(":1:6:2:0:0:", ":1:0:0:0:0:")


@define(eq=False)
class FakeStream:
    """As much of a stream as a oracle looks at."""

    passed: int = 0


@define(eq=False)
class FakeConnection:
    """As much of a connection as a oracle looks at."""

    from_server: FakeStream = field(factory=FakeStream)
    logged_in: bool = False
    over: bool = False


@define
class Talk:
    """A conversation of the oracle's account with a server."""

    now: list[float]
    oracle: Oracle
    progress: list[str]
    connection: FakeConnection = field(factory=FakeConnection)

    @property
    def _connection(self) -> ProxyConnection:
        return cast("ProxyConnection", self.connection)

    def server(self, *lines: str, arrives: bool = True) -> None:
        """Let the server say something."""
        data = "".join(line + "\r\n" for line in lines).encode()
        self.oracle.server_said(self._connection, data)
        if arrives:
            self.connection.from_server.passed += len(data)
            self.oracle.client_heard(self._connection)
            self.now[0] += 2 * READ_TIME

    def lose(self, line: str) -> None:
        """Let the server say a line that gets lost."""
        self.server(line, arrives=False)
        self.oracle.lost(self._connection, f"{line}\r\n".encode(), to_server=False)
        self.connection.from_server.passed += len(line) + 2

    def client(self, line: str, *, arrives: bool = True) -> None:
        """Let the client say something."""
        data = f"{line}\r\n".encode()
        self.oracle.client_said(self._connection, data)
        if arrives:
            self.oracle.server_heard(self._connection, data)


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Be logged in, in a match, asked to move."""
    now = [100.0]
    monkeypatch.setattr("bench.chaos.oracle.time.monotonic", lambda: now[0])
    progress: list[str] = []
    talk = Talk(now, Oracle("marvin", progress.append), progress)
    talk.server(WELCOME, SAVED, "** You are now playing a 3 point match with ford", "Starting a new game with ford.")
    return talk


def test_a_login_that_comes_to_the_lobby_is_progress(talk: Talk) -> None:
    assert ["marvin"] == talk.progress
    assert talk.connection.logged_in
    assert 1 == talk.oracle.logins


def test_a_command_that_was_taken_is_an_answer_with_its_decision(talk: Talk) -> None:
    talk.server(BOARD)
    talk.client("move 24-18 13-11")
    talk.server(BOARD.replace(":1:6:2:0:0:", ":-1:0:0:0:0:"))
    (answer,) = talk.oracle.answers
    assert ("24/18 13/11", "move 24-18 13-11") == (answer.shown, answer.line)
    assert answer.xgid is not None
    assert answer.xgid.startswith("XGID=-b----E-C---eE---c-e----B-:0:0:1:62:")
    assert ["marvin", "marvin"] == talk.progress
    assert not talk.oracle.answered_twice


def test_a_refused_command_of_a_game_is_illegal_where_all_was_known(talk: Talk) -> None:
    talk.server(ROLL)
    talk.client("move 24-18 13-11")
    talk.server("** You have to roll the dice before moving.")
    (refusal,) = talk.oracle.refusals
    assert refusal.illegal
    assert "marvin: 'move 24-18 13-11' was refused: ** You have to roll the dice before moving." == str(refusal)
    assert [] == talk.oracle.answers


def test_a_command_that_crossed_the_end_of_the_match_is_not_illegal(talk: Talk) -> None:
    talk.server(BOARD)
    talk.server("** Player ford has left the game. The game was saved.", arrives=False)
    talk.client("move 24-18 13-11")
    talk.server("** You're not playing.")
    (refusal,) = talk.oracle.refusals
    assert not refusal.illegal
    assert "not yet known: ** Player ford has left the game" in str(refusal)


def test_a_lost_line_excuses_a_command_until_a_board_tells_again(talk: Talk) -> None:
    talk.server(BOARD)
    gone = "** Player ford has left the game. The game was saved."
    talk.lose(gone)
    talk.server("12 zaphod hello")
    talk.client("move 24-18 13-11")
    talk.server("** You're not playing.")
    talk.server(BOARD)
    talk.client("move 24-18 13-11")
    talk.server("** You're not playing.")
    assert [False, True] == [refusal.illegal for refusal in talk.oracle.refusals]


def test_a_refusal_in_the_lobby_is_never_illegal(talk: Talk) -> None:
    talk.client("invite zaphod 3")
    talk.server("** There is no one called zaphod")
    assert [("invite zaphod 3", False)] == [(refusal.command, refusal.illegal) for refusal in talk.oracle.refusals]


def test_a_second_answer_to_one_decision_is_noticed(talk: Talk) -> None:
    talk.server(BOARD)
    talk.client("move 24-18 13-11")
    talk.client("move 24-18 13-11")
    assert [
        "marvin: 'move 24-18 13-11' after 'move 24-18 13-11', and nothing was shown between"
    ] == talk.oracle.answered_twice


def test_an_answer_said_again_after_a_board_that_shows_the_decision_open_is_right(talk: Talk) -> None:
    talk.server(BOARD)
    talk.client("move 24-18 13-11", arrives=False)
    talk.client("board")
    talk.server(BOARD)
    talk.client("move 24-18 13-11")
    assert [] == talk.oracle.answered_twice


def test_matches_and_games_are_counted_from_the_accounts_side(talk: Talk) -> None:
    assert talk.oracle.playing
    talk.server("ford wins the game and gets 1 point. Sorry.", "You win the game and get 3 points. Congratulations!")
    talk.server("You win the 3 point match 3-1 .")
    (match,) = talk.oracle.matches
    assert [(False, 1), (True, 3)] == match.games
    assert (3, 1) == match.score
    assert not talk.oracle.playing


def test_a_match_that_goes_on_is_the_same_match(talk: Talk) -> None:
    playing = [talk.oracle.playing]
    for line in (
        "ford drops connection. The game was saved.",
        "You are now playing with ford. Your running match was loaded.",
    ):
        talk.server(line)
        playing.append(talk.oracle.playing)
    assert [True, False, True] == playing
    assert 1 == len(talk.oracle.matches)


def test_nobody_plays_on_a_connection_that_is_gone(talk: Talk) -> None:
    talk.connection.over = True
    assert not talk.oracle.playing


def test_an_older_connection_has_no_say(talk: Talk) -> None:
    old, talk.connection = talk.connection, FakeConnection()
    talk.server(WELCOME)
    talk.connection = old
    talk.server("You win the 3 point match 3-1 .")
    assert [None] == [match.score for match in talk.oracle.matches]


@pytest.mark.parametrize(
    ("message", "open_"),
    [
        (m.RollOrDouble(), True),
        (m.Rolls(YOU, (3, 1)), True),
        (m.Rolls("ford", (3, 1)), False),
        (m.OpponentDoubles("ford", may_redouble=False), True),
        (m.YouDouble("ford", may_redouble=False), False),
        (m.WhoEnd(), False),
    ],
)
def test_what_shows_a_decision_and_what_does_not(message: m.Message, *, open_: bool) -> None:
    assert open_ == shows_decision(message)
