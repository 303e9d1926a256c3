"""A person's session without I/O: hostile lines, and what a person may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from fibs_protocol import commands as c
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import Toggle
from fibsbot.bot.events_and_actions import Connected, ConnectionLost, MessageReceived, Send, Woken
from fibsbot.policy import is_bot
from fibsbot.table.model import Action, Preference
from fibsbot.table.orders import ORDERS, OrderError
from fibsbot.table.page_state import PageView, page_state
from fibsbot.table.server_lobby import ServerLobby
from fibsbot.table.server_session import InputGiven, ServerSession, person_settings
from tests.bot.hostile_server import HostileMessages
from tests.marks import all_but, some_thorough

LOGIN = (
    b"login: 1 marvin 1 localhost\r\n"
    b"2 marvin 1 1 0 0 0 0 1 1 0 0 1 0 1 1500.00 0 0 0 0 0 UTC\r\n3\r\n4\r\n"
    b"5 marvin - - 1 0 1500.00 0 0 1 h - -\r\n6\r\n"
)


def sent_by(actions: list[Any]) -> Iterator[c.Command]:
    """Yield the commands among actions."""
    return (action.command for action in actions if isinstance(action, Send))


def test_a_person_is_not_taken_for_a_bot() -> None:
    assert not is_bot("ford", person_settings("ford", "secret").client)


@pytest.mark.parametrize("seed", some_thorough(map(str, range(1, 30)), all_but("1", "2", "3", "4")))
def test_a_session_survives_hostile_lines(seed: str) -> None:
    """Nothing raises, the page can be drawn, and what is sent stays within bounds."""
    hostile, random = HostileMessages(int(seed)), Random(seed)
    session = ServerSession(person_settings("marvin", "secret_word"))
    session.preferences.update(Preference)
    sent = 0
    for connection in range(3):
        now, reader = 1000.0 * connection, MessageReader(banner=True)
        sent += len(list(sent_by(session.handle(Connected(now)))))
        for data in (LOGIN, *filter(None, (hostile.line() for _ in range(700)))):
            reader.receive_data(data)
            while (received := reader.next_message()) is not None:
                now += 0.05
                sent += len(list(sent_by(session.handle(MessageReceived(now, received.message)))))
            if random.random() < 0.2:
                session.handle(Woken(now := now + 2))
            if session.match is not None and random.random() < 0.3:
                session.match.act(random.choice(list(Action)), [random.randrange(26)])
                session.handle(InputGiven(now))
            if session.match is not None and random.random() < 0.05:
                assert page_state(session.match, PageView())["board"].startswith("<svg")
        assert all(len(line["text"]) <= 500 for line in session.lobby.as_dict()["lines"].values())
        assert len(session.lobby.as_dict()["lines"]) <= 300
        session.handle(ConnectionLost(now, "cut", by_server=False))
    assert sent < 3 * 700


def test_nothing_but_the_login_and_what_it_needs_is_sent_unasked() -> None:
    session, reader = ServerSession(person_settings("marvin", "secret_word")), MessageReader(banner=True)
    sent = list(sent_by(session.handle(Connected(0.0))))
    reader.receive_data(LOGIN)
    now = 0.0
    while (received := reader.next_message()) is not None:
        sent += sent_by(session.handle(MessageReceived(now, received.message)))
    for _ in range(100):
        now += 30.0
        sent += sent_by(session.handle(Woken(now)))
    allowed = (c.Login, c.SetCommand, c.ToggleCommand, c.Show, c.ShowLaws, c.Rawwho, c.Time)
    assert [command for command in sent if not isinstance(command, allowed)] == []
    assert c.ToggleCommand(Toggle.READY) not in sent
    assert sum(isinstance(command, c.Login) for command in sent) == 1
    assert "secret_word" not in repr(sent)


WRONG: tuple[dict[str, object], ...] = (
    {},
    {"name": 5},
    {"name": "a b"},
    {"name": "<b>"},
    {"name": "x" * 99},
    {"text": ""},
    {"text": "x" * 999},
    {"text": 1},
)


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_order_without_sense_is_one_line_and_no_command(order: str) -> None:
    lobby = ServerLobby("marvin")
    if not _needs_something(order, lobby):
        return
    for asked in WRONG:
        with pytest.raises(OrderError) as raised:
            ORDERS[order](asked, lobby)
        assert "\n" not in str(raised.value)


def _needs_something(order: str, lobby: ServerLobby) -> bool:
    try:
        return not ORDERS[order]({}, lobby)
    except OrderError:
        return True


@pytest.mark.parametrize("wrong", [-1, 1000, 1.5, "5", True, [3]])
def test_an_invitation_has_a_length_that_servers_take(wrong: object) -> None:
    with pytest.raises(OrderError):
        ORDERS["invite"]({"name": "ann", "length": wrong}, ServerLobby("marvin"))


def test_an_invitation_names_the_game_or_the_laws() -> None:
    lobby = ServerLobby("marvin")
    assert ORDERS["invite"]({"name": "ann", "length": 3, "game": "plakoto"}, lobby) == (
        c.InviteToGame("ann", 3, "plakoto"),
    )
    assert ORDERS["invite"]({"name": "ann", "length": 0}, lobby) == (c.Invite("ann", 9999),)
    assert ORDERS["invite"]({"name": "ann"}, lobby) == (c.Invite("ann", None),)
    by_laws = {"name": "ann", "length": 5, "laws": "1931 point"}
    assert ORDERS["invite"](by_laws, lobby) == (c.InviteByLaws("ann", 5, "1931 point"),)
    lobby.ready = False
    assert ORDERS["join"]({"name": "ann"}, lobby) == (c.ToggleCommand(Toggle.READY), c.Join("ann"))
