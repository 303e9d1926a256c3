"""The server over TCP: whole matches by raw clients, login and registration, limits, garbage."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator

import pytest
from attrs import evolve
from structlog.testing import capture_logs

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.words import UNLIMITED
from fibsbot.server.limits import ServerLimits
from fibsbot.server.server import Server
from tests.patience import SOON
from tests.server.ruleset_players import RulesetPlayer
from tests.server.tcp_clients import CHEAP, PASSWORD, Player, Raw, register, two_raw_players

pytestmark = pytest.mark.slow


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(seed=1, limits=CHEAP) as running:
        for name in ("alice", "bob", "carol"):
            await running.register(name, PASSWORD)
        yield running


async def play_match(server: Server, seed: int, length: int) -> tuple[Player, Player]:
    """Play one match between two raw clients."""
    first, second = await two_raw_players(server.port, seed, "alice", "bob")
    first.resigns = second.resigns = 0.01
    await first.raw.ask(f"invite bob {'unlimited' if length == UNLIMITED else length}", "match.\r\n")
    await second.raw.ask("join alice", "with alice\r\n")
    won, lost = await asyncio.gather(first.play(), second.play())
    assert {"You"} < {won.winner, lost.winner}
    assert (won.winner_points, won.loser_points) == (lost.winner_points, lost.loser_points)
    return first, second


@pytest.mark.parametrize(
    ("seed", "length"), [(1, 1), (2, 1), (3, 3), (4, 5), pytest.param(5, 9, marks=pytest.mark.slow)]
)
async def test_two_raw_clients_play_a_match_to_its_end_without_a_refusal(
    server: Server, seed: int, length: int
) -> None:
    for player in await play_match(server, seed, length):
        assert ([], []) == (player.refusals, player.unknown)
        assert player.boards > 10
        await player.raw.close()


async def ruleset_player(port: int, name: str) -> tuple[Raw, RulesetPlayer]:
    """Log a client in that plays any game."""
    raw = await Raw.log_in(port, name)
    for command in ("set boardstyle 3", "set games on", "toggle ready", "toggle notify"):
        raw.send(command)
    await raw.ask("port", "running on port")
    return raw, RulesetPlayer(raw.send, random.Random(name))


async def until_the_match_ends(raw: Raw, player: RulesetPlayer) -> m.MatchWon:
    """Play until the match ends; return its last message."""
    while True:
        line = (await raw.until("\r\n")).rstrip("\r\n")
        message = parse(line)
        if isinstance(message, m.MatchWon):
            return message
        player.hear(message, line)


async def test_two_raw_clients_play_a_match_of_another_game(server: Server) -> None:
    (host, first), (guest, second) = [await ruleset_player(server.port, name) for name in ("alice", "bob")]
    await host.ask("invite bob 1 plakoto:exception", "(exception).\r\n")
    await guest.ask("join alice", " with alice\r\n")
    ends = await asyncio.gather(until_the_match_ends(host, first), until_the_match_ends(guest, second))
    assert "You" in {end.winner for end in ends}
    for player in (first, second):
        assert ([], []) == (player.refusals, player.unknown)
        assert player.tables > 20


async def test_the_same_seed_gives_the_same_match() -> None:
    transcripts = []
    for _ in range(2):
        async with Server(seed=7, limits=CHEAP) as server:
            for name in ("alice", "bob"):
                await server.register(name, PASSWORD)
            first, _ = await play_match(server, 7, 1)
            transcripts.append(server.world.database.match("alice", "bob"))
            await first.raw.close()
    assert transcripts[0] == transcripts[1]


# -- logging in -----------------------------------------------------------------------------------------------------


async def test_a_client_logs_in_and_gets_its_blocks(server: Server) -> None:
    raw = await Raw.connect(server.port)
    received = await raw.ask(f"login test 1008 alice {PASSWORD}", "\n6\r\n")
    assert received.startswith("1 alice ")
    assert ["2 alice", "3\r\n", "4\r\n", "5 alice"] == [
        part for part in ("2 alice", "3\r\n", "4\r\n", "5 alice") if part in received
    ]


@pytest.mark.parametrize(
    "line",
    [
        "login test 1008 alice wrong",
        "login test 1008 nobody_here secret",
        f"login a_client_with_21_chars 1008 alice {PASSWORD}x",
        f"login abcdefghijklmnopqrstu 1008 alice {PASSWORD}",
        f"login test x alice {PASSWORD}",
        "login me",
        "connect alice wrong",
        "",
        "login test 1008 alice",
    ],
)
async def test_a_failed_login_is_answered_by_another_prompt(server: Server, line: str) -> None:
    raw = await Raw.connect(server.port)
    assert "login: " == await raw.ask(line, "login: ")


async def test_wrong_passwords_are_counted(server: Server) -> None:
    raw = await Raw.connect(server.port)
    for _ in range(CHEAP.login_attempts):
        raw.send("connect alice wrong")
    assert (CHEAP.login_attempts - 1) * "login: " == await raw.rest()


async def test_a_second_login_closes_the_first(server: Server) -> None:
    first = await Raw.log_in(server.port, "alice")
    second = await Raw.connect(server.port)
    received = await second.ask(f"login test 1008 alice {PASSWORD}", "\n6\r\n")
    assert received.startswith("** Warning: You are already logged in.\r\n1 alice ")
    await first.rest()
    assert "The server is running" in await second.ask("port", "running on port")


async def test_a_person_logs_in_with_hidden_password_and_gets_prompts(server: Server) -> None:
    raw = await Raw.connect(server.port)
    assert "\xff\xfb\x01password: " == await raw.ask("alice", "password: ")
    received = await raw.ask(PASSWORD, "> ")
    assert received.startswith("\xff\xfc\x01\r\n")
    assert "1 alice" not in received
    assert f"The server is running on port {server.port}.\r\n> " == await raw.ask("port", "> ")
    assert "> " == await raw.ask("", "> ")


async def test_connect_gives_a_person_no_prompts(server: Server) -> None:
    raw = await Raw.connect(server.port)
    await raw.ask(f"connect alice {PASSWORD}", "+\r\n")
    raw.send("port")
    raw.send("bye")
    assert "> " not in await raw.rest()


async def test_messages_from_others_do_not_run_into_the_prompt(server: Server) -> None:
    person = await Raw.connect(server.port)
    person.send("alice")
    await person.ask(PASSWORD, "> ")
    other = await Raw.log_in(server.port, "bob")
    assert "\r\nbob logs in.\r\n> " == await person.until("> ")
    other.send("shout hello")
    assert "\r\nbob shouts: hello\r\n> " == await person.until("> ")


async def test_a_guest_registers_and_is_logged_in(server: Server) -> None:
    watcher = await Raw.log_in(server.port, "alice")
    raw = await Raw.connect(server.port)
    assert "Welcome to FIBS. You just logged in as guest." in await raw.ask("guest", "> ")
    assert "** Please use another name. 'bob' is already used by someone else." in await raw.ask("name bob", "> ")
    assert "'guest' is already used" in await raw.ask("name guest", "> ")
    assert "only contain letters" in await raw.ask("name me2", "> ")
    assert "only contain letters" in await raw.ask("name two words", "> ")
    for line in ("shout hi", "invite bob 3 plakoto", "message bob hi", "cls", "set"):
        assert f"** Unknown command: '{line.split()[0]}'" in await raw.ask(line, "> ")
    hint = "Type in no password and hit Enter/Return if you want to change it now.\r\n"
    assert (await raw.ask("name newcomer", "password: ")).endswith(f"{hint}\xff\xfb\x01Please give your password: ")
    assert "\xff\xfc\x01** No password given. Please choose a new name\r\n> " == await raw.ask("", "> ")
    await raw.ask("name newcomer", "password: ")
    assert "Minimal password length is 4 characters." in await raw.ask("abc", "password: ")
    for foreign in ("p\xe4ssword", "\xc3\xa4\xc3\xb6"):
        assert "Passwords may only contain ASCII characters." in await raw.ask(foreign, "password: ")
    await raw.ask("good word", "retype your password: ")
    assert "** The two passwords were not identical." in await raw.ask("other word", "Password: ")
    await raw.ask("good word", "retype your password: ")
    received = await raw.ask("good word", "> ")
    assert "\xff\xfc\x01\r\nYou are registered.\r\nType 'help beginner' to get started.\r\n" in received
    assert "7 newcomer newcomer just registered and logs in." in await watcher.until("logs in.")
    raw.send("bye")
    assert "Goodbye." in await raw.rest()
    again = await Raw.connect(server.port)
    again.send("newcomer")
    assert "password: " in await again.until("password: ")
    await again.ask("good word", "> ")


async def test_a_password_is_stored_with_the_cost_that_the_limits_say() -> None:
    for limits, cost in ((None, 2**14), (CHEAP, CHEAP.password_cost)):
        async with Server(limits=limits) as server:
            await register(server.port, "alice")
            account = server.world.database.account("alice")
        assert account is not None
        assert account.password.startswith(f"{cost}$")


async def test_a_guest_may_leave(server: Server) -> None:
    raw = await Raw.connect(server.port)
    await raw.ask("login test 1008 guest guest", "> ")
    raw.send("bye")
    assert "Goodbye." in await raw.rest()


async def test_a_password_can_be_changed(server: Server) -> None:
    raw = await Raw.log_in(server.port, "alice")
    usage = await raw.ask("password", "colon!")
    assert "** usage: password <old password>:<new password>:<new password>\r\n** NOTE: The character" in usage
    assert "** Sorry. Old password not correct." in await raw.ask("password wrong:newword:newword", "correct.")
    assert "** Please give your new password twice." in await raw.ask(f"password {PASSWORD}:newword:other", "twice.")
    assert "Minimal password" in await raw.ask(f"password {PASSWORD}:new:new", "characters.")
    assert "only contain ASCII" in await raw.ask(f"password {PASSWORD}:n\xe4wword:n\xe4wword", "characters.")
    assert "Password changed." in await raw.ask(f"password {PASSWORD}:newword:newword", "changed.")
    raw.send("bye")
    await raw.rest()
    other = await Raw.connect(server.port)
    await other.ask("login test 1008 alice newword", "\n6\r\n")


async def test_no_password_appears_in_the_log(server: Server) -> None:
    with capture_logs() as log:
        raw = await Raw.connect(server.port)
        await raw.ask(f"login test 1008 alice {PASSWORD}x", "login: ")
        await raw.ask(f"login test 1008 alice {PASSWORD}", "\n6\r\n")
        await raw.ask(f"password {PASSWORD}:{PASSWORD}new:{PASSWORD}new", "changed.")
        raw.send("bye")
        await raw.rest()
    assert log
    assert PASSWORD not in repr(log)


# -- bounds ---------------------------------------------------------------------------------------------------------


async def test_garbage_does_no_harm(server: Server) -> None:
    observer = await Raw.log_in(server.port, "alice")
    source = random.Random(1)
    for before in (b"", b"guest\r\n", b"guest\r\nname someone\r\n", f"login x 1008 bob {PASSWORD}\r\n".encode()):
        raw = await Raw.connect(server.port)
        raw.writer.write(
            before + source.randbytes(20_000) + b"\r\n" + b"\xff\xfa" + b"x" * 5000 + b"\xff\xfd\x03" * 300
        )
        await asyncio.sleep(0.05)
        await raw.close()
    assert "running on port" in await observer.ask("port", "running on port")


async def test_a_long_line_is_cut_and_the_next_one_is_read(server: Server) -> None:
    raw = await Raw.log_in(server.port, "alice")
    received = await raw.ask("tell alice " + "x" * 50_000, "\n")
    assert len(received) < CHEAP.line + 50
    assert "running on port" in await raw.ask("port", "running on port")


async def test_a_client_that_does_not_read_is_dropped_and_others_never_wait() -> None:
    limits = evolve(CHEAP, send_buffer=20_000, commands_per_second=1e6)
    async with Server(limits=limits) as server:
        assert server._server is not None
        for listening in server._server.sockets:  # what is accepted has the same buffers; else they grow to megabytes
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        for name in ("alice", "bob"):
            await server.register(name, PASSWORD)
        deaf = await Raw.log_in(server.port, "alice")
        deaf.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.writer.transport.pause_reading()  # type: ignore[attr-defined] # a socket's transport can
        observer = await Raw.log_in(server.port, "bob")
        for _ in range(5_000):
            deaf.send("set timezone nowhere")  # answered by 15 kB
            if "alice" not in server.world.users:
                break
            await asyncio.sleep(0.001)
        assert "running on port" in await observer.ask("port", "running on port")
        assert "alice" not in server.world.users
        deaf.writer.transport.abort()


async def test_connections_are_counted_in_all_and_for_each_address() -> None:
    for limits in (evolve(CHEAP, connections=2), evolve(CHEAP, connections_per_address=2)):
        async with Server(limits=limits) as server:
            kept = [await Raw.connect(server.port) for _ in range(2)]
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await Raw.connect(server.port)
            await kept.pop().close()
            async with asyncio.timeout(SOON):
                while len(kept) < 2:
                    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                        kept.append(await Raw.connect(server.port))
                    await asyncio.sleep(0.02)


async def test_a_login_that_takes_too_long_is_closed() -> None:
    async with Server(limits=evolve(CHEAP, login_time=0.05)) as server:
        assert "" == await (await Raw.connect(server.port)).rest()


async def test_an_idle_client_is_timed_out() -> None:
    async with Server(limits=evolve(CHEAP, idle_time=0.3)) as server:
        for name in ("alice", "bob"):
            await server.register(name, PASSWORD)
        idle = await Raw.log_in(server.port, "alice")
        assert "Connection timed out." in await idle.rest()
        assert {} == server.world.users


async def test_a_client_that_sends_too_fast_is_read_more_slowly() -> None:
    async with Server(limits=evolve(CHEAP, commands_per_second=50.0, burst=5)) as server:
        await server.register("alice", PASSWORD)
        raw = await Raw.log_in(server.port, "alice")
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(25):
            raw.send("port")
        for _ in range(25):
            await raw.until("running on port")
        assert loop.time() - began > 0.3


async def test_a_lost_connection_is_noticed(server: Server) -> None:
    observer = await Raw.log_in(server.port, "alice")
    other = await Raw.log_in(server.port, "bob")
    await observer.until("7 bob bob logs in.")
    await other.close()
    assert "8 bob bob drops connection." in await observer.until("connection.")


async def test_a_shutdown_is_announced_and_everything_saved() -> None:
    async with Server(limits=CHEAP, seed=1) as server:
        for name in ("alice", "bob"):
            await server.register(name, PASSWORD)
        first, second = await two_raw_players(server.port, 1, "alice", "bob")
        await first.raw.ask("invite bob 3", "You invited")
        await second.raw.ask("join alice", "now playing")
        await server.stop()
        received = await first.raw.rest()
        assert (
            "** System administrator causes shutdown. FIBS is terminating.\r\n** All running games will be saved."
            in received
        )
        assert "Your game with bob was saved." in received


def test_limits_have_sensible_defaults() -> None:
    assert ServerLimits().connections_per_address <= ServerLimits().connections


async def test_a_database_that_fails_ends_everything_at_once() -> None:
    async with Server(limits=CHEAP) as server:
        for name in ("alice", "bob"):
            await server.register(name, PASSWORD)
        observer = await Raw.log_in(server.port, "alice")
        raw = await Raw.log_in(server.port, "bob")
        server.world.database.close()
        with capture_logs() as log:
            raw.send("save")
            assert "Settings saved." not in await raw.rest()
            await observer.rest()
        assert server.failed.is_set()
        assert ["the database failed"] == [entry["event"] for entry in log if entry["log_level"] == "critical"]


async def test_an_internal_error_ends_one_connection_and_reveals_no_secrets(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = await Raw.log_in(server.port, "alice")
    raw = await Raw.log_in(server.port, "bob")

    def fail(*_: object) -> None:
        secret = PASSWORD
        raise RuntimeError(f"{len(secret)}")

    monkeypatch.setattr("fibsbot.server.server.dispatch.handle", fail)
    with capture_logs() as log:
        raw.send("port")
        await raw.rest()
        await observer.until("drops connection.")
    assert "RuntimeError" in repr(log)
    assert PASSWORD not in repr(log)


async def test_the_number_of_accounts_is_bounded() -> None:
    async with Server(limits=evolve(CHEAP, accounts=1)) as server:
        await server.register("alice", PASSWORD)
        raw = await Raw.connect(server.port)
        await raw.ask("guest", "> ")
        assert "** Permission denied" in await raw.ask("name bob", "> ")


async def test_a_client_that_keeps_sending_still_gets_the_goodbye(server: Server) -> None:
    observer = await Raw.log_in(server.port, "bob")
    raw = await Raw.log_in(server.port, "alice")
    raw.writer.write(b"bye\r\n" + b"shout too late\r\n" * 5000)
    assert "Goodbye." in await raw.rest()
    assert "too late" not in await observer.ask("port", "running on port")
