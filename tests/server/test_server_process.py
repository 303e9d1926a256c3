"""`fibsbot serve` as a process: kill and restart, graceful end, refusals."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from attrs import define, field

from fibs_protocol import messages as m
from fibsbot.server.server import Server
from tests.forked import Forked, run, start
from tests.patience import SOON
from tests.server.tcp_clients import PASSWORD, Player, Raw, register, two_raw_players

pytestmark = pytest.mark.slow


@define
class Serve:
    """A running `fibsbot serve`."""

    process: Forked
    port: int

    async def end(self, number: signal.Signals) -> int:
        """Send a signal; return the exit status."""
        self.process.send_signal(number)
        async with asyncio.timeout(SOON):
            return await self.process.wait()


@asynccontextmanager
async def serve(*arguments: str) -> AsyncIterator[Serve]:
    """Start `fibsbot serve` on a free port and wait until it listens."""
    process = start("fibsbot", "serve", "--port", "0", *arguments)
    try:
        async with asyncio.timeout(SOON):
            while "\n" not in process.errors:  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.01)
        found = re.search(r"port\S*?=\S*?(\d{2,5})", re.sub("\x1b\\[[0-9;]*m", "", process.errors))
        assert found, process.errors
        yield Serve(process, int(found[1]))
    finally:
        process.kill()
        await process.wait()


@define
class RecordingPlayer(Player):
    """A player who stores the opponent's plays of the current game."""

    plays: list[str] = field(factory=list)
    halfway: asyncio.Event = field(factory=asyncio.Event)
    """Set when some turns have been played."""

    def react(self, message: m.Message, line: str) -> None:
        """Store the play, then react."""
        if isinstance(message, m.GameStarts):
            self.plays.clear()
        if isinstance(message, m.Moves):
            self.plays.append(line.split(" moves ")[1].rstrip(" ."))
        Player.react(self, message, line)
        if self.boards > 60:
            self.halfway.set()


async def recording_players(port: int, seed: int) -> list[RecordingPlayer]:
    """Log in two players."""
    players = await two_raw_players(port, seed, "alice", "bob")
    return [RecordingPlayer(player.raw, player.opponent, player.random, doubles=0.02) for player in players]


async def test_a_match_survives_a_server_that_is_killed(tmp_path: Path) -> None:
    db = str(tmp_path / "server.db")
    async with serve("--database", db, "--seed", "5") as first:
        await register(first.port, "alice", "bob")
        players = await recording_players(first.port, 5)
        await players[0].raw.ask("invite bob 9", "match.\r\n")
        await players[1].raw.ask("join alice", "with alice\r\n")
        games = [asyncio.create_task(player.play()) for player in players]
        await players[0].halfway.wait()
        await first.end(signal.SIGKILL)
        ended = await asyncio.gather(*games, return_exceptions=True)
    assert all(isinstance(end, EOFError | ConnectionError) for end in ended), ended

    async with serve("--database", db, "--seed", "5") as second:
        again = await recording_players(second.port, 6)
        for player, before in zip(again, players, strict=True):
            listed = await player.raw.ask(f"oldmoves {player.opponent}\r\nport", "running on port")
            assert [play for play in before.plays if f") {play}\r\n" not in listed] == []
        await again[0].raw.ask("invite bob", "saved match.\r\n")
        loaded = await again[1].raw.ask("join alice", "points for bob: ")
        assert "Your running match was loaded.\r\nturn: " in loaded
        won, lost = await asyncio.gather(*(player.play() for player in again))
        assert (won.winner_points, won.loser_points) == (lost.winner_points, lost.loser_points)
        assert 9 == won.length
        assert [] == [*again[0].refusals, *again[1].refusals]
        received = await again[0].raw.ask("whois alice", "Experience: 9\r\n")
        assert "Rating: 1500.00" not in received


async def test_sigterm_is_announced_and_ends_with_status_0(tmp_path: Path) -> None:
    async with serve("--database", str(tmp_path / "server.db")) as served:
        await register(served.port, "alice")
        raw = await Raw.log_in(served.port, "alice")
        assert 0 == await served.end(signal.SIGTERM)
        assert "** System administrator causes shutdown. FIBS is terminating." in await raw.rest()
    assert PASSWORD not in served.process.errors
    assert "stopped" in served.process.errors.splitlines()[-1]


async def test_a_port_in_use_is_one_line_and_status_2() -> None:
    async with Server() as server:
        done = run("serve", "--port", server.port)
    assert 2 == done.returncode
    assert re.fullmatch(r"[^\n]*cannot listen on 127.0.0.1:\d+: [^\n]*--port[^\n]*\n", done.stderr), done.stderr


def test_another_port_is_not_proposed_for_an_unknown_host() -> None:
    done = run("serve", "--host", "nonsense.invalid", "--port", 0)
    assert 2 == done.returncode
    assert re.fullmatch(r"[^\n]*cannot listen on nonsense.invalid:0: [^\n]+\n", done.stderr), done.stderr
    assert "--port" not in done.stderr


@pytest.mark.parametrize("content", [b"this is no database, but it is long enough to be looked at" * 20, None])
def test_a_database_that_cannot_be_used_is_one_line_and_status_2(tmp_path: Path, content: bytes | None) -> None:
    db = tmp_path / "server.db"
    if content is None:
        db = tmp_path / "missing" / "server.db"
    else:
        db.write_bytes(content)
    done = run("serve", "--port", 0, "--database", db)
    assert 2 == done.returncode
    assert 1 == done.stderr.count("\n"), done.stderr
    assert f"cannot use the database: {db}: " in done.stderr


async def test_two_servers_cannot_share_a_database(tmp_path: Path) -> None:
    db = str(tmp_path / "server.db")
    async with serve("--database", db):
        done = run("serve", "--port", 0, "--database", db)
    assert 2 == done.returncode
    assert f"cannot use the database: another process uses {db}\n" in done.stderr
