"""`fibsbot run` as operators use it: real processes, real signals, real crashes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_CONFIG, EXIT_FAILED, main
from fibsbot.cli.run_service import REGISTER_HINT
from fibsbot.records.store import Store
from fibsbot.records.stored_rows import MatchOutcome
from fibsbot.server.server import Server
from tests.bot.live_bots import CHEAP, Watcher
from tests.cli.running_service import ROOT, Fleet, fleet, settings
from tests.service.accounts import opponent, until

MARVIN: Final = 'marvin\nbot.invite = "ford"'

PLUGIN: Final = """
import asyncio, itertools
from fibsbot.strategies.questions import LastResort

class Fit(BaseException):
    pass

ERRORS = itertools.cycle([SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), Fit(), StopIteration()])

class Weird(LastResort):
    \"\"\"Raises something else each time, once the first questions are over.\"\"\"

    name = "weird"
    asked = 0

    def choose_play(self, state, plays):
        Weird.asked += 1
        if Weird.asked > 20:
            raise next(ERRORS)
        return super().choose_play(state, plays)
"""
CRASH: Final = """
from fibsbot.bot.agent import Agent
handle = Agent.handle

def crash(self, event):
    if self.tracked.user == "marvin" and self.counters.decisions == 4 and not crash.done:
        crash.done = True
        secret = self._connection.context.settings.password
        raise SystemError(f"made up, with {secret} inside")
    return handle(self, event)

crash.done = False
Agent.handle = crash
"""
"""A module that Python imports before the program: an error in the middle of a match."""
HASTE: Final = """
import importlib, os, signal
command = importlib.import_module("fibsbot.cli.run_service")
check = command.check

def hurried(path, **options):
    os.kill(os.getpid(), signal.SIGHUP)
    return check(path, **options)

command.check = hurried
"""
"""The same: somebody who wants the settings read again while they are read for the first time."""


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as running:
        yield running


@pytest.mark.slow
async def test_accounts_play_each_other_and_the_first_sigterm_finishes_the_match(
    server: Server, tmp_path: Path
) -> None:
    text = settings(server.port, MARVIN, "ford", "arthur", pause=0.02, more="service.web_port = 0\n")
    async with fleet(tmp_path, text) as it:
        await it.until("game_started", 2)
        found = await it.status()
        while found["accounts"][0]["opponent"] is None:  # between two matches
            found = await it.status()
        assert ["marvin", "ford", "arthur"] == [account["account"] for account in found["accounts"]]
        assert "ford" == found["accounts"][0]["opponent"]
        url = (await it.until("metrics and health"))["url"]
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert b"200" in await reader.readline()
        writer.close()
        await writer.wait_closed()
        it.signal(signal.SIGTERM)
        assert 0 == await it.end()
        assert [] == it.events("match_saved")
        started = len(it.events("match_started"))
        assert started == len(it.events("match_ended")) >= 2
    assert "arthur: 0 matches played, 0 won; logged out" == it.said.splitlines()[-1]
    with Store.open(tmp_path / "store.db") as store:
        assert started == len(list(store.matches()))
    assert not (tmp_path / "socket").exists()


@pytest.mark.slow
async def test_the_second_signal_leaves_at_once_and_the_match_is_saved(server: Server, tmp_path: Path) -> None:
    text = settings(server.port, MARVIN, pause=0.02, more="bot.invite_length = 9\n")
    async with opponent(server.port, "ford"), fleet(tmp_path, text) as it:
        await it.until("decision", 5)
        it.signal(signal.SIGTERM)
        await it.until("asked to end")
        it.signal(signal.SIGINT)
        assert 0 == await it.end()
        assert (1, 0) == (len(it.events("match_saved")), len(it.events("match_ended")))
        with Store.open(tmp_path / "store.db") as store:
            assert [MatchOutcome.SAVED] == [match.outcome for match in store.matches()]


@pytest.mark.slow
async def test_after_kill_9_the_next_start_finishes_the_match_and_the_store_is_whole(
    server: Server, tmp_path: Path
) -> None:
    text = settings(server.port, MARVIN, pause=0.02, more="bot.invite_length = 5\nbot.matches = 1\n")
    watcher = Watcher()
    async with opponent(server.port, "ford", watcher=watcher), fleet(tmp_path, text) as it:
        for kills in range(1, 3):
            await it.until("decision", 15 * kills)
            it.signal(signal.SIGKILL)
            assert -signal.SIGKILL == await it.end()
            assert (tmp_path / "socket").exists(), "a dead process takes nothing away"
            assert (1, "", "fibsbot: nothing runs at socket\n") == await it.say("status", "--config", "bots.toml")
            await it.start()
            await it.until("match_resumed", kills)
        assert 0 == await it.end()
        assert (0, "") == (await it.say("db", "check", "--store", "store.db"))[::2]
    assert 1 == len(watcher.named("match_ended"))
    with Store.open(tmp_path / "store.db") as store:
        (match,) = store.matches()
        assert match.outcome in {MatchOutcome.WON, MatchOutcome.LOST}
        decisions = len(list(store.decisions(match)))
    assert len(it.events("decision")) - 2 <= decisions <= len(it.events("decision"))


@pytest.mark.slow
async def test_sighup_changes_what_can_be_changed_and_says_what_cannot(server: Server, tmp_path: Path) -> None:
    async with opponent(server.port, "ford"), fleet(tmp_path, settings(server.port, "marvin")) as it:
        await it.until("logged_in")
        it.write(settings(server.port, "marvin", more="bot.invite_length = 200\n"))
        it.signal(signal.SIGHUP)
        event = await it.until("settings cannot be used, the old ones stay")
        assert event["problem"].startswith("bot.invite_length: expected a whole number from 1 to 99")
        it.write(settings(server.port, "marvin\nclient = 'other'", more='bot.invite = "ford"\n'))
        it.signal(signal.SIGHUP)
        await it.until("setting changed", setting="bot.invite")
        await it.until("setting changed, but needs a restart", setting="account.client")
        await it.until("match_ended")
        it.signal(signal.SIGHUP)
        await it.until("setting changed, but needs a restart", 2)
        (tmp_path / "bots.toml").unlink()
        it.signal(signal.SIGHUP)
        await it.until("settings cannot be used, the old ones stay", 2)
        it.signal(signal.SIGTERM)
        assert 0 == await it.end()


@pytest.mark.slow
async def test_a_sighup_that_comes_too_early_waits(server: Server, tmp_path: Path) -> None:
    (tmp_path / "haste").mkdir()
    (tmp_path / "haste" / "sitecustomize.py").write_text(HASTE)
    paths = f"{tmp_path / 'haste'}:{ROOT}"
    async with fleet(tmp_path, settings(server.port, "marvin"), PYTHONPATH=paths) as it:
        await it.until("settings read again, nothing has changed")
        await it.until("logged_in")
        it.signal(signal.SIGTERM)
        assert 0 == await it.end()


@pytest.mark.slow
async def test_after_a_sighup_that_came_too_early_bad_settings_still_end_with_78(tmp_path: Path) -> None:
    (tmp_path / "haste").mkdir()
    (tmp_path / "haste" / "sitecustomize.py").write_text(HASTE)
    async with fleet(tmp_path, "[server", PYTHONPATH=f"{tmp_path / 'haste'}:{ROOT}") as it:
        assert EXIT_CONFIG == await it.end()


@pytest.mark.slow
async def test_a_crash_in_the_middle_of_a_match_ends_neither_the_process_nor_the_match(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "crash").mkdir()
    (tmp_path / "crash" / "sitecustomize.py").write_text(CRASH)
    text = settings(server.port, MARVIN, "ford", "arthur", pause=0.01, more="bot.matches = 1\nbot.invite_length = 1\n")
    text = text.replace('name = "arthur"', 'name = "arthur"\nbot.matches = false')
    async with fleet(tmp_path, text, PYTHONPATH=f"{tmp_path / 'crash'}:{ROOT}") as it:
        crash = await it.until("account crashed")
        assert ("marvin", 1) == (crash["account"], crash["crashes"])
        assert "SystemError: made up, with ******** inside" == crash["error"]
        assert "Traceback" in crash["exception"]
        await it.until("account ended", 2)
        assert [True] == [event["resumed"] for event in it.events("match_started")[2:] if event["account"] == "marvin"]
        (arthur,) = (it for it in (await it.status())["accounts"] if it["account"] == "arthur")
        assert (0, 1) == (arthur["crashes"], arthur["counters"]["connections"])
        it.signal(signal.SIGTERM)
        assert 0 == await it.end()


@pytest.mark.slow
async def test_a_plug_in_that_raises_the_weirdest_things_costs_decisions_alone(server: Server, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    (plugins / "weird-1.0.dist-info").mkdir(parents=True)
    (plugins / "weird-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: weird\nVersion: 1.0\n")
    (plugins / "weird-1.0.dist-info" / "entry_points.txt").write_text("[fibsbot.strategies]\nweird = weird:Weird\n")
    (plugins / "weird.py").write_text(PLUGIN)
    text = settings(server.port, f'{MARVIN}\nbot.strategy = "weird"', "ford", more="bot.matches = 1\n")
    async with fleet(tmp_path, text, PYTHONPATH=f"{plugins}:{ROOT}") as it:
        assert 0 == await it.end()
        assert {event["account"] for event in it.events("fallback")} == {"marvin"}
        reasons = " ".join(event["reason"] for event in it.events("fallback"))
        assert all(name in reasons for name in ("SystemExit", "KeyboardInterrupt", "CancelledError", "Fit"))
        assert [] == it.events("account crashed")


@pytest.mark.slow
async def test_a_second_instance_is_refused_and_the_first_plays_on(server: Server, tmp_path: Path) -> None:
    async with fleet(tmp_path, settings(server.port, "marvin")) as it:
        await it.until("logged_in")
        code, _, err = await it.say("run", "--config", "bots.toml")
        last = err.splitlines()[-1]
        assert (1, "fibsbot: another process is running, with the control socket socket") == (code, last)
        assert 1 == len((await it.status())["accounts"])


@pytest.mark.slow
async def test_where_another_start_would_not_help_the_status_is_78(server: Server, tmp_path: Path) -> None:
    await server.register("marvin", "another")
    text = settings(server.port, "marvin").replace("register = true", "register = false")
    async with fleet(tmp_path, text) as it:
        assert EXIT_CONFIG == await it.end()
        refused = "marvin: 0 matches played, 0 won; the server refuses this name and password"
        assert f"{refused}{REGISTER_HINT}" == it.said.splitlines()[-1]
        assert 1 == len(it.events("disconnecting"))


@pytest.mark.slow
async def test_systemd_is_reported(server: Server, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(0)
        heard: list[str] = []

        def told(line: str) -> bool:
            with contextlib.suppress(BlockingIOError):
                while True:
                    heard.extend(systemd.recv(4096).decode().splitlines())
            return any(said.startswith(line) for said in heard)

        more = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "1000000"}
        async with (
            opponent(server.port, "ford"),
            fleet(tmp_path, settings(server.port, MARVIN, pause=0.05), **more) as it,
        ):
            for line in ("READY=1", "WATCHDOG=1", "STATUS=playing ford, 0-0 of 1, up "):
                await until(partial(told, line))
            it.signal(signal.SIGTERM)
            await until(lambda: told("STOPPING=1"))
            assert 0 == await it.end()


# -- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["account: expected a table [account] with the name of an account, got none"]),
        ("[server", ["expected a TOML file"]),
        (
            'server.port = 0\n[account]\nname = "marvin"\npassword_env = "NOBODY_HAS_SET_THIS"',
            [
                "server.port: expected a whole number from 1 to 65535, got 0",
                "account.password_env: expected the name of a variable that is set, got one that is not",
            ],
        ),
    ],
)
def test_settings_that_cannot_be_used_are_told_at_once_and_the_status_is_78(
    text: str, lines: list[str], tmp_path: Path
) -> None:
    (tmp_path / "bots.toml").write_text(text)
    result = CliRunner().invoke(main, ["run", "--config", str(tmp_path / "bots.toml")])
    assert EXIT_CONFIG == result.exit_code
    for line in lines:
        assert line in result.output


def test_session_logs_that_cannot_be_written_are_a_problem_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").write_text("a file where the directory should be")
    Fleet(tmp_path).write(settings(1, "marvin"))
    result = CliRunner().invoke(main, ["run", "--config", "bots.toml"])
    assert EXIT_CONFIG == result.exit_code
    assert "log.directory: expected a directory where this user can write, got logs" in result.output
    assert not (tmp_path / "store.db").exists(), "the work has not begun"


@pytest.mark.parametrize("problem", [OSError(errno.EROFS, "Read-only file system"), None])
def test_a_control_socket_that_can_never_be_made_is_a_problem_of_the_settings(
    problem: OSError | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.chdir(tmp_path)

    def refuse(_: Path) -> None:
        raise problem or AssertionError

    if problem:
        monkeypatch.setattr("fibsbot.service.control_server.remove_stale_socket", refuse)
    else:
        (tmp_path / "socket").write_text("no socket")
    Fleet(tmp_path).write(settings(1, "marvin"))
    result = CliRunner().invoke(main, ["run", "--config", "bots.toml"])
    assert EXIT_CONFIG == result.exit_code
    reason = problem.strerror if problem else "the path has a file of another kind"
    assert f"Error: cannot make the control socket socket: {reason}" == result.stderr.splitlines()[-1]


@pytest.mark.parametrize("problem", [errno.EAGAIN, errno.EADDRINUSE, errno.ENOSPC, errno.EMFILE])
def test_after_trouble_with_the_control_socket_that_may_pass_the_process_may_be_started_again(
    problem: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setenv("SECRET", "x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fibsbot.service.control_server.remove_stale_socket", refuse)
    Fleet(tmp_path).write(settings(1, "marvin"))
    assert EXIT_FAILED == CliRunner().invoke(main, ["run", "--config", "bots.toml"]).exit_code


def test_a_store_that_can_never_be_used_is_a_problem_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store.db").write_text("no database, but a text that is long enough to be one" * 100)
    Fleet(tmp_path).write(settings(1, "marvin"))
    result = CliRunner().invoke(main, ["run", "--config", "bots.toml"])
    assert EXIT_CONFIG == result.exit_code
    said = "service.store: expected a store that can be used, got store.db: file is not a database"
    assert said in result.output.splitlines()[-1]
