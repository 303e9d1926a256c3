"""The oracle records the true course of a run: commands accepted and refused, decisions, matches."""

from __future__ import annotations

from typing import cast

import pytest
from attrs import define, field

from bench.chaos.oracle import READ_TIME, Oracle, shows_decision
from bench.chaos.proxy import ProxyConnection
from fibs_protocol import messages as m
from fibs_protocol.words import YOU

WELCOME = "1 marvin 1001914002 host"
SAVED = "no saved games."
BOARD = (
    "board:You:ford:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    ":1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)
ROLL = BOARD.replace(":1:6:2:0:0:", ":1:0:0:0:0:")


@define(eq=False)
class FakeStream:
    """A stream with the attributes that an oracle reads."""

    passed: int = 0


@define(eq=False)
class FakeConnection:
    """A connection with the attributes that an oracle reads."""

    from_server: FakeStream = field(factory=FakeStream)
    logged_in: bool = False
    over: bool = False


@define
class Conversation:
    """A conversation of the oracle's account with a server."""

    now: list[float]
    oracle: Oracle
    progress: list[str]
    connection: FakeConnection = field(factory=FakeConnection)

    @property
    def _connection(self) -> ProxyConnection:
        return cast("ProxyConnection", self.connection)

    def server(self, *lines: str, arrives: bool = True) -> None:
        """Send lines as the server."""
        data = "".join(line + "\r\n" for line in lines).encode()
        self.oracle.server_said(self._connection, data)
        if arrives:
            self.connection.from_server.passed += len(data)
            self.oracle.client_heard(self._connection)
            self.now[0] += 2 * READ_TIME

    def lose(self, line: str) -> None:
        """Send a line as the server that gets lost."""
        self.server(line, arrives=False)
        self.oracle.lost(self._connection, f"{line}\r\n".encode(), to_server=False)
        self.connection.from_server.passed += len(line) + 2

    def client(self, line: str, *, arrives: bool = True) -> None:
        """Send a line as the client."""
        data = f"{line}\r\n".encode()
        self.oracle.client_said(self._connection, data)
        if arrives:
            self.oracle.server_heard(self._connection, data)


@pytest.fixture
def conversation(monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """Return a conversation that is logged in, in a match, at the prompt to move."""
    now = [100.0]
    monkeypatch.setattr("bench.chaos.oracle.time.monotonic", lambda: now[0])
    progress: list[str] = []
    conversation = Conversation(now, Oracle("marvin", progress.append), progress)
    conversation.server(
        WELCOME, SAVED, "** You are now playing a 3 point match with ford", "Starting a new game with ford."
    )
    return conversation


def test_a_login_that_reaches_the_lobby_is_progress(conversation: Conversation) -> None:
    assert ["marvin"] == conversation.progress
    assert conversation.connection.logged_in
    assert 1 == conversation.oracle.logins


def test_an_accepted_command_is_an_answer_to_its_decision(conversation: Conversation) -> None:
    conversation.server(BOARD)
    conversation.client("move 24-18 13-11")
    conversation.server(BOARD.replace(":1:6:2:0:0:", ":-1:0:0:0:0:"))
    (answer,) = conversation.oracle.answers
    assert ("24/18 13/11", "move 24-18 13-11") == (answer.shown, answer.line)
    assert answer.xgid is not None
    assert answer.xgid.startswith("XGID=-b----E-C---eE---c-e----B-:0:0:1:62:")
    assert ["marvin", "marvin"] == conversation.progress
    assert not conversation.oracle.answered_twice


def test_a_refused_game_command_is_illegal_if_no_line_was_lost(conversation: Conversation) -> None:
    conversation.server(ROLL)
    conversation.client("move 24-18 13-11")
    conversation.server("** You have to roll the dice before moving.")
    (refusal,) = conversation.oracle.refusals
    assert refusal.illegal
    assert "marvin: 'move 24-18 13-11' was refused: ** You have to roll the dice before moving." == str(refusal)
    assert [] == conversation.oracle.answers


def test_a_command_that_crossed_the_end_of_the_match_is_not_illegal(conversation: Conversation) -> None:
    conversation.server(BOARD)
    conversation.server("** Player ford has left the game. The game was saved.", arrives=False)
    conversation.client("move 24-18 13-11")
    conversation.server("** You're not playing.")
    (refusal,) = conversation.oracle.refusals
    assert not refusal.illegal
    assert "not yet known: ** Player ford has left the game" in str(refusal)


def test_a_lost_line_excuses_a_command_until_the_next_board(conversation: Conversation) -> None:
    conversation.server(BOARD)
    gone = "** Player ford has left the game. The game was saved."
    conversation.lose(gone)
    conversation.server("12 zaphod hello")
    conversation.client("move 24-18 13-11")
    conversation.server("** You're not playing.")
    conversation.server(BOARD)
    conversation.client("move 24-18 13-11")
    conversation.server("** You're not playing.")
    assert [False, True] == [refusal.illegal for refusal in conversation.oracle.refusals]


def test_a_refusal_in_the_lobby_is_never_illegal(conversation: Conversation) -> None:
    conversation.client("invite zaphod 3")
    conversation.server("** There is no one called zaphod")
    assert [("invite zaphod 3", False)] == [
        (refusal.command, refusal.illegal) for refusal in conversation.oracle.refusals
    ]


def test_a_second_answer_to_one_decision_is_noticed(conversation: Conversation) -> None:
    conversation.server(BOARD)
    conversation.client("move 24-18 13-11")
    conversation.client("move 24-18 13-11")
    assert [
        "marvin: 'move 24-18 13-11' after 'move 24-18 13-11', and nothing was shown between"
    ] == conversation.oracle.answered_twice


def test_an_answer_may_be_repeated_after_a_board_shows_the_decision_still_open(conversation: Conversation) -> None:
    conversation.server(BOARD)
    conversation.client("move 24-18 13-11", arrives=False)
    conversation.client("board")
    conversation.server(BOARD)
    conversation.client("move 24-18 13-11")
    assert [] == conversation.oracle.answered_twice


def test_a_refused_answer_leaves_its_decision_open(conversation: Conversation) -> None:
    conversation.lose(ROLL)
    conversation.client("move 24-18 13-11")
    conversation.server("** You have to roll the dice before moving.")
    conversation.client("roll")
    assert [] == conversation.oracle.answered_twice


def test_matches_and_games_are_counted_from_the_side_of_the_account(conversation: Conversation) -> None:
    assert conversation.oracle.playing
    conversation.server(
        "ford wins the game and gets 1 point. Sorry.", "You win the game and get 3 points. Congratulations!"
    )
    conversation.server("You win the 3 point match 3-1 .")
    (match,) = conversation.oracle.matches
    assert [(False, 1), (True, 3)] == match.games
    assert (3, 1) == match.score
    assert not conversation.oracle.playing


def test_a_resumed_match_is_the_same_match(conversation: Conversation) -> None:
    playing = [conversation.oracle.playing]
    for line in (
        "ford drops connection. The game was saved.",
        "You are now playing with ford. Your running match was loaded.",
    ):
        conversation.server(line)
        playing.append(conversation.oracle.playing)
    assert [True, False, True] == playing
    assert 1 == len(conversation.oracle.matches)


def test_nothing_is_played_on_a_lost_connection(conversation: Conversation) -> None:
    conversation.connection.over = True
    assert not conversation.oracle.playing


def test_an_older_connection_is_ignored(conversation: Conversation) -> None:
    old, conversation.connection = conversation.connection, FakeConnection()
    conversation.server(WELCOME)
    conversation.connection = old
    conversation.server("You win the 3 point match 3-1 .")
    assert [None] == [match.score for match in conversation.oracle.matches]


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
def test_messages_that_show_a_decision(message: m.Message, *, open_: bool) -> None:
    assert open_ == shows_decision(message)
