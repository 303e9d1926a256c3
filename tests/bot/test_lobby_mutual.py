"""Bots among themselves: whoever has a match to go on with finds the other, whatever the order of the lines."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Final

import pytest

from tests.bot.script import ME, OWN_INFO, Script, board

NAMES: Final = ("anna", "bert", "carl", "dora", "emil")
HEADER: Final = "  opponent          matchlength   score (your points first)"


class Hall:
    """A server that knows of nothing but invitations to go on with saved matches; everybody has one with everybody.

    Lines to and from each player keep their order; whose turn it is to be delivered is left to chance, and some get
    lost.
    """

    def __init__(self, names: tuple[str, ...], rng: random.Random, loss: float = 0.0) -> None:
        """Log everybody in."""
        self.rng = rng
        self.loss = 0.0
        self.players = {name: Script(name=name, strict=False) for name in names}
        self.to_player: dict[str, deque[str]] = {name: deque() for name in names}
        self.to_server: dict[str, deque[str]] = {name: deque() for name in names}
        self.invitation: dict[str, str] = {}
        self.table: dict[str, str] = {}
        self.invites = 0
        for name, player in self.players.items():
            player.connect()
            player.raw(b"login: ")
            own_info = OWN_INFO.replace(ME, name)
            self.tell(name, f"1 {name} 1 h", own_info, *self.list_of_users(), "6")
        self.deliver_all()
        self.loss = loss

    def list_of_users(self) -> Iterator[str]:
        """Write the `5` lines of all players."""
        return (f"5 {name} {self.table.get(name, '-')} - 1 0 1500.00 9 0 1 h fibsbot -" for name in self.players)

    def tell(self, name: str, *lines: str) -> None:
        """Have lines on their way to a player."""
        self.to_player[name].extend(line for line in lines if self.rng.random() >= self.loss)

    def tell_all(self, *lines: str) -> None:
        """Have lines on their way to everybody."""
        for name in self.players:
            self.tell(name, *lines)

    # -- delivering ---------------------------------------------------------------------------------------------

    def deliver_all(self) -> None:
        """Deliver lines until there are none left."""
        for _ in range(5_000):
            both = (*self.to_player.items(), *self.to_server.items())
            queues = [(name, queue) for name, queue in both if queue]
            if not queues:
                return
            name, queue = self.rng.choice(queues)
            if queue is self.to_player[name]:
                self.send(name, self.players[name].server(queue.popleft()))
            else:
                self.obey(name, queue.popleft())
        raise AssertionError("they talk without end")

    def send(self, name: str, commands: list[str]) -> None:
        """Have commands on their way to the server."""
        self.to_server[name].extend(command for command in commands if self.rng.random() >= self.loss)

    def wait(self, seconds: int) -> None:
        """Let time go by."""
        for _ in range(seconds):
            for name, player in self.players.items():
                self.send(name, player.wait(1.0))
            self.deliver_all()

    # -- what the server does -----------------------------------------------------------------------------------

    def obey(self, name: str, command: str) -> None:
        """Answer a command."""
        word, _, rest = command.partition(" ")
        match word:
            case "set":
                self.tell(name, "Value of 'boardstyle' set to 3.")
            case "show":
                others = (other for other in self.players if other != name)
                self.tell(name, HEADER, *(f" *{other}                5              1 -  3" for other in others))
            case "rawwho":
                self.tell(name, *self.list_of_users(), "6")
            case "invite":
                self.invite(name, rest)
            case "join":
                self.join(name, rest)
            case "board" if name in self.table:
                self.tell(name, board(opponent=self.table[name], score="1:3", turn=-1))
            case "board":
                self.tell(name, "** You're not playing.")
            case "time":
                self.tell(name, "Monday, x")

    def invite(self, name: str, guest: str) -> None:
        """Tell the guest; the last invitation of a player counts."""
        self.invites += 1
        if name in self.table:
            self.tell(name, "** You are already playing.")
        elif guest in self.table:
            self.tell(name, f"** {guest} is already playing with someone else.")
        else:
            self.invitation[name] = guest
            self.tell(guest, f"{name} wants to resume a saved match with you.", f"Type 'join {name}' to accept.")
            self.tell(name, f"** You invited {guest} to resume a saved match.")

    def join(self, name: str, host: str) -> None:
        """Put two at a table."""
        if name in self.table:
            self.tell(name, "** You can't play two games at once")
        elif host in self.table:
            self.tell(name, f"** Error: {host} is already playing with someone else.")
        elif self.invitation.get(host) != name:
            self.tell(name, f"** {host} didn't invite you.")
        else:
            self.table |= {name: host, host: name}
            self.tell(name, f"You are now playing with {host}. Your running match was loaded.")
            self.tell(host, f"{name} has joined you. Your running match was loaded.")
            self.tell_all(*self.list_of_users(), "6")

    @property
    def waiting(self) -> list[str]:
        """Who is not at a table."""
        return [name for name in self.players if name not in self.table]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(10))
def test_bots_with_saved_matches_find_each_other(count: int, seed: int) -> None:
    hall = Hall(NAMES[:count], random.Random(seed))
    hall.wait(100)
    assert count % 2 == len(hall.waiting)
    assert hall.invites <= 6 * count


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_bots_find_each_other_although_one_line_in_ten_gets_lost(count: int, seed: int) -> None:
    hall = Hall(NAMES[:count], random.Random(seed), loss=0.1)
    for _ in range(10):
        if len(hall.waiting) > count % 2:
            hall.wait(60)
    assert count % 2 == len(hall.waiting)
