"""The command `fibsbot play`: help, errors, interrupts, and the password, which is never shown."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import click
import pytest
from click.testing import CliRunner

from fibsbot.cli import main, play
from fibsbot.cli import play_session as play_module
from fibsbot.cli.options import server_address
from fibsbot.server.server import Server
from fibsbot.strategies.questions import LastResort
from tests import forked
from tests.bot.live_bots import CHEAP, Counting, Told, play_session, settings
from tests.forked import Forked
from tests.patience import SOON
from tests.service.accounts import opponent

SECRET = "swordfish"
HINT = "; --register creates the account if the server has none of this name"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as running:
        yield running


def start(tmp_path: Path, port: int, *arguments: str) -> Forked:
    """Start `fibsbot play` in an empty folder."""
    words = ("play", "--server", f"127.0.0.1:{port}", "--account", "marvin", *arguments)
    environment = {**os.environ, "FIBSBOT_PASSWORD": SECRET}
    return forked.start("fibsbot", *words, folder=tmp_path, environment=environment)


async def end_of(process: Forked) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr."""
    async with asyncio.timeout(SOON):
        await process.wait()
    done = process.finish()
    return done.returncode, done.stdout, done.stderr


def everything_written(folder: Path) -> str:
    return "".join(path.read_text("latin-1") for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
async def test_matches_are_played_and_the_password_is_never_written(server: Server, tmp_path: Path) -> None:
    ford = asyncio.create_task(play_session(settings(server.port, "ford"), LastResort()))
    options = ("--register", "--invite", "ford", "--matches", "1", "--pause", "0", "--verbose", "--log-format", "json")
    status, out, err = await end_of(start(tmp_path, server.port, *options))
    await ford
    assert 0 == status, err
    assert out.startswith("1 matches played, ")
    assert "logs/marvin-" in out
    assert '"event": "<<"' in err
    assert SECRET not in out + err + everything_written(tmp_path)


@pytest.mark.slow
async def test_the_first_interrupt_finishes_the_match_and_the_second_leaves(server: Server, tmp_path: Path) -> None:
    for interrupts, matches in ((1, 1), (2, 0)):
        playing = Counting(5)
        ford = asyncio.create_task(
            play_session(settings(server.port, "ford", matches=None), LastResort(), observer=playing)
        )
        options = ("--register", "--invite", "ford", "--length", "3", "--pause", "0.01", "--strategy", "random")
        process = start(tmp_path, server.port, *options)
        async with asyncio.timeout(SOON):
            await playing.reached.wait()
        process.send_signal(signal.SIGINT)
        if interrupts == 2:
            async with asyncio.timeout(SOON):
                while "once more: leave at once" not in process.errors:  # noqa: ASYNC110 - a file
                    await asyncio.sleep(0.01)
            process.send_signal(signal.SIGINT)
        status, out, err = await end_of(process)
        ford.cancel()
        assert (0 if matches else 130) == status, err
        assert ("1 matches played" in out) is bool(matches)
        assert ["once more: leave at once" in err, "the server saves the match" in err] == [True, interrupts == 2]


@pytest.mark.slow
async def test_a_player_on_a_list_is_not_played(server: Server, tmp_path: Path) -> None:
    (tmp_path / "blocked.txt").write_text("ford\n")
    (tmp_path / "my.toml").write_text('[account]\nname = "marvin"\n[lists]\nblock = ["blocked.txt"]\n')
    refused = Told("My operator doesn't want me to play you")
    process = start(tmp_path, server.port, "--config", "my.toml", "--register", "--pause", "0", "--strategy", "random")
    async with opponent(server.port, "ford", watcher=refused, invite="marvin"):
        async with asyncio.timeout(SOON):
            await refused.reached.wait()
        process.send_signal(signal.SIGINT)
        status, out, err = await end_of(process)
    assert (0, True) == (status, out.startswith("0 matches played")), err


@pytest.mark.slow
async def test_a_wrong_password_is_one_line_and_no_traceback(server: Server, tmp_path: Path) -> None:
    status, _, err = await end_of(start(tmp_path, server.port))
    assert 1 == status
    last = err.strip().splitlines()[-1]
    assert f"fibsbot: 127.0.0.1:{server.port} does not accept the name 'marvin' with this password{HINT}" == last
    assert "Traceback" not in err
    assert SECRET not in err


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "message"),
    [
        ([], {}, 2, "Missing option '--server'"),
        (
            ["--server", "x:", "--account", "marvin"],
            {},
            2,
            "expected HOST or HOST:PORT with a port from 1 to 65535, got 'x:'",
        ),
        (["--server", "x:0", "--account", "marvin"], {}, 2, "got 'x:0'"),
        (["--server", "x:1", "--account", "m n"], {}, 2, "expected letters and underscores, at most 20, got 'm n'"),
        (["--server", "x:1", "--account", "marvin"], {}, 78, "expected a password"),
        (["--server", "x:1", "--account", "marvin"], {"FIBSBOT_PASSWORD": "a b"}, 78, "expected a password"),
        (["--server", "127.0.0.1:1", "--account", "marvin"], {"FIBSBOT_PASSWORD": SECRET}, 1, "Connection refused"),
        (["--server", "x:1", "--account", "marvin", "--strategy", "nobody"], {}, 2, "no strategy is called 'nobody'"),
        (["--server", "x:1", "--account", "marvin", "--strategy", "enigne:1"], {}, 2, "did you mean 'engine'?"),
    ],
)
def test_errors_are_one_line_and_have_their_status(
    arguments: list[str], environment: dict[str, str], status: int, message: str, tmp_path: Path
) -> None:
    environment = {"FIBSBOT_PASSWORD": "", **environment}
    result = CliRunner().invoke(main, ["play", *arguments, "--log-dir", str(tmp_path)], env=environment)
    assert status == result.exit_code
    assert message in result.stderr.splitlines()[-1]
    assert SECRET not in result.output


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("fibs.com", ("fibs.com", 4321)),
        ("fibs.com:23", ("fibs.com", 23)),
        ("[::1]", ("::1", 4321)),
        ("[::1]:23", ("::1", 23)),
    ],
)
def test_the_default_port_is_that_of_fibs(value: str, expected: tuple[str, int]) -> None:
    context = click.Context(play.play)
    assert expected == server_address(context, play.play.params[1], value)


def test_cheap_checks_come_before_any_strategy_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> NoReturn:
        raise AssertionError(f"{name} was made")

    monkeypatch.setattr(play_module, "load", fail)
    for password, port, status in (("", 1, 78), (SECRET, 1, 1)):
        arguments = ["play", "--server", f"127.0.0.1:{port}", "--account", "marvin", "--log-dir", str(tmp_path)]
        result = CliRunner().invoke(main, arguments, env={"FIBSBOT_PASSWORD": password})
        assert status == result.exit_code, result.output


def test_a_password_file_gives_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "password"
    for content, status in ((SECRET + "\nmore\n", 1), ("", 78), ("\n" + SECRET, 78), ("pass word\n", 78)):
        file.write_text(content, "utf-8")
        account = ["--server", "127.0.0.1:1", "--account", "marvin", "--password-file", str(file)]
        options = ["--strategy", "random", "--log-dir", str(tmp_path / "logs")]
        result = CliRunner().invoke(main, ["play", *account, *options])
        assert status == result.exit_code
        assert SECRET not in result.output


def test_the_help_fits_80_columns() -> None:
    result = CliRunner().invoke(main, ["play", "--help"], terminal_width=80)
    assert 0 == result.exit_code
    assert 80 >= max(len(line) for line in result.output.splitlines())
