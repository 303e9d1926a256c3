"""The password is in no output, no log, no record and no list of processes, wherever it came from and whatever happens.

The real program runs in a process of its own, against a real server. Only the environment of that process may have the
password, where it came from there. One process is started as a shell would, to look at its arguments and environment;
the others are forked.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import keyring
import pytest

from fibs_protocol.commands import Login
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Connected, SendSecret, SettingsChanged
from fibsbot.config.build import account_settings, compare_configs
from fibsbot.config.checks import check
from fibsbot.server.server import Server
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, Counting, play_session, settings
from tests.commands import fibsbot
from tests.config.config_text import parse_config
from tests.forked import Forked, start
from tests.patience import SOON

ROOT: Final = Path(__file__).parents[2]
SECRET: Final = "Zq7-unmistakable-Xw9"
PARTS: Final = (SECRET, SECRET[:12], SECRET[-12:])
"""What is looked for: also a password that was cut in two."""

KEYRING: Final = """
from pathlib import Path
from keyring.backend import KeyringBackend

class Ring(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return Path(__file__).with_name("ring").read_text() if (service, username) == ("bots", "marvin") else None
    def set_password(self, service, username, password):
        raise NotImplementedError  # what the base asks for where a keyring is read only
"""
CRASH: Final = """
from fibsbot.bot.agent import Agent
handle = Agent.handle

def crash(self, event):
    if self.counters.decisions > 3:
        local = self._connection.context.settings
        raise RuntimeError(f"made up: {local!r} {self._connection.context!r} {vars(self)!r}")
    return handle(self, event)

Agent.handle = crash
"""
"""A module that Python imports before the program: after a few decisions, an error that tells all that it can reach."""


FILE: Final = """
[server]
port = {port}
register = {register}
[account]
name = "marvin"
{password}
[bot]
strategy = "random"
invite = "ford"
matches = 1
[timing]
pause = 0
[log]
level = "debug"
format = "{form}"
"""

EVERY: Final = ("file", "credential", "variable", "keyring")
SOME: Final = [("run", "file"), ("play", "credential"), ("play", "variable"), ("run", "keyring")]
LOOKED_AT: Final = ("run", "keyring")
OTHERS: Final = [("play", "file"), ("run", "credential"), ("run", "variable"), ("play", "keyring")]
"""Commands and sources, each with each in one of the two lists. How a password is found and what is then written have
nothing to do with each other, so that each thing that may happen needs one of the lists."""
CRASHING: Final = SOME[::2]
"""Fewer for crashes: wherever the password came from, it has been read by then."""


def hide(safe: Path) -> None:
    """Put the password into each place, below a folder that is not searched."""
    safe.mkdir()
    for name in ("file", "credential", "ring"):
        (safe / name).write_text(SECRET)
        (safe / name).chmod(0o600)
    (safe / "my_keyring.py").write_text(KEYRING)


def named(source: str, safe: Path) -> tuple[str, dict[str, str]]:
    """Return the setting that names a place, and what the environment must have for it."""
    return {
        "file": (f'password_file = "{safe / "file"}"', {}),
        "credential": ('password_credential = "credential"', {"CREDENTIALS_DIRECTORY": str(safe)}),
        "variable": ('password_env = "MARVINS"', {"MARVINS": SECRET}),
        "keyring": ('password_keyring = "bots"', {"PYTHON_KEYRING_BACKEND": "my_keyring.Ring"}),
    }[source]


class Program:
    """The program in a process of its own, in an empty folder where everything that it writes stays."""

    def __init__(self, folder: Path, port: int, source: str) -> None:
        """Be ready to start; the password comes from this source."""
        self.safe, self.folder = folder / "safe", folder / "work"
        hide(self.safe)
        self.folder.mkdir()
        self._port = port
        self._source = source

    async def start(self, command: str) -> asyncio.subprocess.Process:
        """Start it as a shell would."""
        environment = self._prepare(register=True)
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "fibsbot", command, "--config", "bot.toml"),
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=environment,
            )

    def fork(self, command: str, *, register: bool = True, crash: bool = False) -> Forked:
        """Start it; perhaps its account does not exist, or it crashes after some decisions. See `tests.forked`."""
        environment = self._prepare(register=register)
        if crash:
            (self.folder / "crash").mkdir()
            (self.folder / "crash" / "sitecustomize.py").write_text(CRASH)
            environment["PYTHONPATH"] = f"{self.folder / 'crash'}:{environment['PYTHONPATH']}"
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            words = ("fibsbot", command, "--config", "bot.toml")
            return start(*words, folder=self.folder, environment=environment, out=out.fileno(), err=err.fileno())

    def _prepare(self, *, register: bool) -> dict[str, str]:
        """Write the settings; return the environment."""
        password, more = named(self._source, self.safe)
        form = "json" if self._source in {"file", "keyring"} else "console"
        file = FILE.format(port=self._port, register=str(register).lower(), password=password, form=form)
        (self.folder / "bot.toml").write_text(file)
        paths = f"{ROOT}:{self.safe}"
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": paths, **more}

    def look(self, process: asyncio.subprocess.Process) -> str:
        """Return what other users of the machine see of the process, and where the password is not meant to be."""
        seen = b""
        if shutil.which("ps"):
            shown = ["ps", "-ww", "-o", "args=", "-p", str(process.pid)]
            seen += subprocess.run(shown, capture_output=True, check=True).stdout
        for path in (Path(f"/proc/{process.pid}/{name}") for name in ("cmdline", "environ")):
            seen += path.read_bytes() if path.exists() else b""
        if not seen:
            pytest.skip("there is neither ps nor /proc to see processes")
        assert b"fibsbot" in seen
        return seen.decode("latin-1")

    def written(self) -> str:
        """Return everything that was written, compressed or not."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return "".join(
            (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode("latin-1")
            for path in files
        )


async def end_of(process: asyncio.subprocess.Process | Forked) -> int:
    """Wait for the end of a process; return its exit status."""
    async with asyncio.timeout(SOON):
        return await process.wait()


def leaked(text: str) -> list[str]:
    """Return what of the password is in a text."""
    return [part for part in PARTS if part in text]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as running:
        yield running


@pytest.fixture
async def ford(server: Server) -> AsyncIterator[Counting]:
    """Have an opponent, and know when it has made three decisions."""
    playing = Counting(3)
    task = asyncio.create_task(
        play_session(settings(server.port, "ford", matches=None), LastResort(), observer=playing)
    )
    yield playing
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.slow
@pytest.mark.parametrize(("command", "source"), SOME)
async def test_a_match_leaves_no_trace_of_the_password(
    command: str, source: str, server: Server, ford: Counting, tmp_path: Path
) -> None:
    program = Program(tmp_path, server.port, source)
    process = program.fork(command) if (command, source) != LOOKED_AT else await program.start(command)
    async with asyncio.timeout(SOON):
        await ford.reached.wait()
    seen = "" if isinstance(process, Forked) else program.look(process)
    status = await end_of(process)
    written = program.written()
    assert 0 == status, written
    assert "match_ended" in written
    assert (command == "run") is (program.folder / "fibsbot.db").exists(), "the store is among what is searched"
    assert "********" in written, "the login stands in the session log"
    assert [] == leaked(seen + written)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "source"), OTHERS)
async def test_a_refused_login_leaves_no_trace_of_the_password(
    command: str, source: str, server: Server, tmp_path: Path
) -> None:
    program = Program(tmp_path, server.port, source)
    status = await end_of(program.fork(command, register=False))
    written = program.written()
    assert status
    assert "refuses this name and password" in written
    assert [] == leaked(written)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "source"), CRASHING)
@pytest.mark.usefixtures("ford")
async def test_a_crash_leaves_no_trace_of_the_password(
    command: str, source: str, server: Server, tmp_path: Path
) -> None:
    program = Program(tmp_path, server.port, source)
    process = program.fork(command, crash=True)
    async with asyncio.timeout(SOON):
        while "made up: AgentSettings" not in (program.folder / "stderr").read_text("latin-1"):  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    await end_of(process)
    assert "Traceback" in program.written()
    assert [] == leaked(program.written())


@pytest.mark.parametrize("source", EVERY)
def test_checking_a_file_leaves_no_trace_of_the_password(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(tmp_path / "safe")
    setting, more = named(source, tmp_path / "safe")
    if source == "keyring":
        monkeypatch.setattr(keyring, "get_password", lambda *_: SECRET)
    for right in (True, False):
        text = FILE.format(port=1 if right else 0, register="true", password=setting, form="json")
        (tmp_path / "bot.toml").write_text(text)
        result = fibsbot("check-config", tmp_path / "bot.toml", cwd=None, **more)
        assert (0 if right else 78) == result.returncode, result.stderr
        assert [] == leaked(result.stdout + result.stderr)


def test_objects_with_the_password_do_not_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARVINS", SECRET)
    text = FILE.format(port=1, register="true", password='password_env = "MARVINS"', form="json")
    (tmp_path / "bot.toml").write_text(text)
    config = parse_config(text)
    (plan,) = account_settings(config)
    agent = plan.agent
    assert SECRET == agent.password
    things = [
        config,
        plan,
        check(tmp_path / "bot.toml"),
        Login(agent.client, agent.name, SECRET),
        SendSecret(SECRET),
        SettingsChanged(0.0, agent),
        Agent(agent).handle(Connected(0.0)),
        vars(Agent(agent)),
        compare_configs(config, config),
    ]
    assert [] == [thing for thing in things if leaked(f"{thing!r} {thing}")]
