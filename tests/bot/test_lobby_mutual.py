"""Bots with saved matches against each other resume them, independent of the order of lines."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Final

import pytest

from fibs_protocol import commands as c
from fibs_protocol.grammar import parse_command
from fibs_protocol.words import FibsMove
from fibsbot.fibs_numbering import play_from_fibs
from fibsbot.strategies.questions import PlayQuestion
from tests.bot.agent_script import ME, OWN_INFO, START_CELLS, TIME, Script, after, board

NAMES: Final = ("anna", "bert", "carl", "dora", "emil")
HEADER: Final = "  opponent          matchlength   score (your points first)"


class ResumeServer:
    """A server that supports only invitations to resume saved matches; each pair of players has one.

    The inviter is on turn and has rolled; after that play nothing more happens. Lines to and from each player keep
    their order, but which player's line is delivered next is random, and some lines are lost.
    """

    def __init__(self, names: tuple[str, ...], rng: random.Random, loss: float = 0.0) -> None:
        """Log in all players."""
        self.rng = rng
        self.loss = 0.0
        self.players = {name: Script(name=name, strict=False) for name in names}
        self.to_player: dict[str, deque[str]] = {name: deque() for name in names}
        self.to_server: dict[str, deque[str]] = {name: deque() for name in names}
        self.invitation: dict[str, str] = {}
        self.table: dict[str, str] = {}
        self.hosts: set[str] = set()
        self.plays: dict[str, list[tuple[FibsMove, ...]]] = {name: [] for name in names}
        self.invites = 0
        for name in names:
            self.log_in(name)
        self.deliver_all()
        self.loss = loss

    def log_in(self, name: str) -> None:
        """Log in a player."""
        player = self.players[name]
        player.connect()
        player.raw(b"login: ")
        self.send_lines(name, f"1 {name} 1 h", OWN_INFO.replace(ME, name), *self.list_of_users(), "6")

    def list_of_users(self) -> Iterator[str]:
        """Yield the `5` lines of all players."""
        return (f"5 {name} {self.table.get(name, '-')} - 1 0 1500.00 9 0 1 h fibsbot -" for name in self.players)

    def send_lines(self, name: str, *lines: str) -> None:
        """Queue lines to a player."""
        self.to_player[name].extend(line for line in lines if self.rng.random() >= self.loss)

    def send_lines_to_all(self, *lines: str) -> None:
        """Queue lines to all players."""
        for name in self.players:
            self.send_lines(name, *lines)

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
                player = self.players[name]
                self.send(name, player.server(queue.popleft()))
                while player.questions and isinstance(player.questions[0].question, PlayQuestion):
                    self.send(name, player.first_play())
            else:
                self.obey(name, queue.popleft())
        raise AssertionError("they talk without end")

    def send(self, name: str, commands: list[str]) -> None:
        """Queue commands to the server."""
        self.to_server[name].extend(command for command in commands if self.rng.random() >= self.loss)

    def wait(self, seconds: int) -> None:
        """Advance the clock; players who disconnect log in again."""
        for _ in range(seconds):
            for name, player in self.players.items():
                self.send(name, player.wait(1.0))
                if player.hang_ups:
                    player.hang_ups.clear()
                    self.to_player[name].clear()
                    player.lose()
                    self.log_in(name)
            self.deliver_all()

    # -- commands -----------------------------------------------------------------------------------------------

    def obey(self, name: str, command: str) -> None:
        """Answer a command."""
        word, _, rest = command.partition(" ")
        match word:
            case "set":
                self.send_lines(name, "Value of 'boardstyle' set to 3.")
            case "show":
                others = (other for other in self.players if other != name)
                self.send_lines(name, HEADER, *(f" *{other}                5              2 -  2" for other in others))
            case "rawwho":
                self.send_lines(name, *self.list_of_users(), "6")
            case "invite":
                self.invite(name, rest)
            case "join":
                self.join(name, rest)
            case "board" if name in self.table:
                self.show_board(name)
            case "board":
                self.send_lines(name, "** You're not playing.")
            case "move":
                self.play(name, command)
            case "time":
                self.send_lines(name, TIME)

    def invite(self, name: str, guest: str) -> None:
        """Announce an invitation to the guest; the last one of a player counts."""
        self.invites += 1
        if name in self.table:
            self.send_lines(name, "** You are already playing.")
        elif guest in self.table:
            self.send_lines(name, f"** {guest} is already playing with someone else.")
        else:
            self.invitation[name] = guest
            self.send_lines(guest, f"{name} wants to resume a saved match with you.", f"Type 'join {name}' to accept.")
            self.send_lines(name, f"** You invited {guest} to resume a saved match.")

    def join(self, name: str, host: str) -> None:
        """Resume the match of two players."""
        if name in self.table:
            self.send_lines(name, "** You can't play two games at once")
        elif host in self.table:
            self.send_lines(name, f"** Error: {host} is already playing with someone else.")
        elif self.invitation.get(host) != name:
            self.send_lines(name, f"** {host} didn't invite you.")
        else:
            self.table |= {name: host, host: name}
            self.hosts.add(host)
            self.send_lines(name, f"You are now playing with {host}. Your running match was loaded.")
            self.send_lines(host, f"{name} has joined you. Your running match was loaded.")
            self.show_board(name)
            self.show_board(host)
            self.send_lines_to_all(*self.list_of_users(), "6")

    def play(self, name: str, command: str) -> None:
        """Make the host's play."""
        move = parse_command(command)
        assert isinstance(move, c.Move)
        self.plays[name].append(move.moves)
        self.show_board(name)
        self.show_board(self.table[name])

    def show_board(self, name: str) -> None:
        """Show a player the opening position, or the one after the host's play."""
        ours = name in self.hosts
        host, opponent = (name if ours else self.table[name]), self.table[name]
        made = [after(START_CELLS, play_from_fibs(play, -1)) for play in self.plays[host]]
        dice = "0:0" if made else "6:4"
        seat = {"dice": dice} if ours else {"other_dice": dice, "colour": -1, "direction": 1}
        cells, turn = (made[-1], -1) if made else (START_CELLS, 1)
        self.send_lines(name, board(opponent=opponent, score="2:2", cells=cells, turn=turn, **seat))

    @property
    def waiting(self) -> list[str]:
        """The players without a match."""
        return [name for name in self.players if name not in self.table]


def check(server: ResumeServer) -> None:
    """Check that all players who can play do so, and that each host has made one play."""
    count = len(server.players)
    assert count % 2 == len(server.waiting)
    assert [1] * (count // 2) == [len(server.plays[host]) for host in server.hosts]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(20))
def test_bots_with_saved_matches_resume_them(count: int, seed: int) -> None:
    server = ResumeServer(NAMES[:count], random.Random(seed))
    server.wait(100)
    check(server)
    assert server.invites <= 6 * count


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_bots_resume_their_matches_although_one_line_in_ten_is_lost(count: int, seed: int) -> None:
    server = ResumeServer(NAMES[:count], random.Random(seed), loss=0.1)
    for _ in range(10):
        if len(server.waiting) > count % 2:
            server.wait(60)
    server.wait(120)
    check(server)
