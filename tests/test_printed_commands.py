"""Every command that the README and the pages of `docs/` print runs as it stands there.

The commands of a page run in their order, in a folder that has what they name (a log, a capture, a store). Servers and
bots run until the end of their page and are then ended by Ctrl-C. Ports, process IDs and positions are filled in, and
numbers of repetitions are made small; everything else is as printed. Python whose docstring begins with the name of a
file is saved as that file.
"""

from __future__ import annotations

import datetime as dt
import functools
import gzip
import itertools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from attrs import define, evolve, field, frozen
from click.testing import CliRunner

from fibsbot.cli import COMMANDS, main
from fibsbot.formats.mat import write_mat
from tests.forked import Forked, start
from tests.formats.simulated_matches import simulate
from tests.records.store.recorder import NOON, Teller

ROOT: Final = Path(__file__).parent.parent
DATA: Final = Path(__file__).parent / "data"
PAGES: Final = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$|((?:^    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
PROGRAM: Final = re.compile(r'^```python\n("""(\w+\.py): .*?)^```$', re.MULTILINE | re.DOTALL)
"""A file of Python on a page, and its name."""
NAMES: Final = "|".join(COMMANDS)
COMMAND: Final = re.compile(rf"(?:\.venv/bin/)?fibsbot (?:{NAMES})\b")
STARTED: Final = 60.0
"""Seconds after which a service must be at work."""
BEARER: Final = "XGID=-BBAA---------------aab---:0:0:1:00:0:0:0:0:10"
POSITIONS: Final = {
    "bearoff XGID": f"bearoff {BEARER}",
    "eval POSITION": "eval 4HPwATDgc/ABMA",
    "best POSITION": "best 4HPwATDgc/ABMA --dice 31",
    "cube POSITION": "cube 4HPwATDgc/ABMA",
    "rollout POSITION": "rollout 4HPwATDgc/ABMA --dice 31 --trials 36 --truncate 5",
    "show XGID": "show XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10",
}
"""The positions that the pages leave to their readers."""
SERVICES: Final = {
    "serve": "listening",
    "play": "saved_matches",
    "run": "saved_matches",
    "external": "localhost",
    "table": "http://",
    "practice": "http://",
    "report": "http://",
}
"""Commands that run until they are stopped, and what they print once they are at work."""
PAGES_OF_THEIR_OWN: Final = ("table", "practice", "report")
"""Those that open the browser."""
FEWER: Final = {"--games": "2", "--matches": "1", "--trials": "36", "--length": "1", "--checkers": "6"}
"""Options that say how much is to be done, and the least that shows the command at work."""
ELSEWHERE: Final = {
    "telnet": "an interactive program",
    "fibsbot replay logs/marvin.jsonl --step": "needs a terminal; tests/cli/test_replay_terminal.py has one",
    "fibsbot table --server": "asks for a password; tests/cli/test_server_table.py logs in",
    "fibsbot status --dashboard": "needs a process with a dashboard; tests/cli/test_status.py has one",
    "sudo": "changes the machine",
    "make wheels": "takes minutes; `make test-wheel` builds one",
    "systemctl": "needs systemd",
    "fibsbot train": "takes hours; tests/cli/test_train.py trains small networks",
    "dask scheduler": "runs until it is stopped; tests/workers has one",
    "fibsbot worker": "runs until it is stopped; tests/workers has some",
    "fibsbot analyse matches/*.mat": "needs a cluster; tests/workers has one",
    "fibsbot rollout --openings": "needs a cluster; tests/cli/engine has smaller ones without",
    "fibsbot export match.mat --player NAME": "whoever NAME is; tests/cli/test_export.py exports errors",
    "fibsbot export session.jsonl -o session.apkg": "this short log has no error; tests/cli/test_export.py has some",
    "fibsbot export matches/ --player anna --kind": "nor has this match one with the cube",
    "python -m bench.chaos": "takes minutes; tests/chaos/test_command.py runs it",
}
"""Commands that do not run here, and why."""
MISSING: Final = [name for name in ("gnubg", "jq") if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/games")]
"""Optional programs that this machine does not have."""


@frozen
class Printed:
    """A command on a page."""

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its words, without the folder of the program."""
        words = shlex.split(self.text, comments=True)
        return [Path(words[0]).name, *words[1:]] if words else []

    @property
    def is_service(self) -> bool:
        """Whether it runs until it is stopped."""
        if self.words[1] == "report":
            return "--serve" in self.words
        return self.words[1] in SERVICES and "--list" not in self.words

    @property
    def needs_shell(self) -> bool:
        """Whether a shell must see it."""
        return self.words[0] != "fibsbot" or bool(re.search(r"[|>]|\$\(", self.text.split(" #")[0]))


def name_of(page: Path) -> str:
    """Return the path of a page in the project."""
    return str(page.relative_to(ROOT))


@functools.cache
def printed(page: Path) -> list[Printed]:
    """Return the commands of a page: all lines of `sh` blocks, and in other blocks what follows a `$`."""
    found = [
        Printed(name_of(page), line.strip().removeprefix("$ "))
        for block in BLOCK.finditer(page.read_text())
        for line in (block[2] or block[3] or "").splitlines()
        if block[1] == "sh" or line.strip().startswith("$ fibsbot ")
    ]
    return [command for command in found if command.words]


def repeated(command: Printed) -> bool:
    """Whether a page before this one prints the same command, so that running it again shows nothing new."""
    before = itertools.takewhile(lambda page: name_of(page) != command.page, PAGES)
    return command.words[0] == "fibsbot" and command.words in [it.words for page in before for it in printed(page)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_stand_where_they_are_found(page: Path) -> None:
    blocks = [block for block in BLOCK.finditer(page.read_text()) if block[1] not in {"sh", "console"}]
    lines = [line.strip() for block in blocks for line in (block[2] or block[3] or "").splitlines()]
    assert [] == [line for line in lines if COMMAND.match(line)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have everything that the pages name, in one folder to copy from."""
    folder = tmp_path_factory.mktemp("library")
    log = gzip.decompress((DATA / "replay" / "interrupted_marvin.jsonl.gz").read_bytes())
    short = b"".join(log.splitlines(keepends=True)[:60])
    (folder / "logs").mkdir()
    for name in ("logs/mybot.jsonl", "logs/marvin.jsonl", "session.jsonl", "marvin.jsonl", "evening.jsonl"):
        (folder / name).write_bytes(short)
    capture = gzip.decompress((DATA / "replay" / "three_points_ford_typed.txt.gz").read_bytes())
    (folder / "capture.txt").write_bytes(capture + capture)
    match = evolve(simulate(1, 1, names=("anna", "bert")), started=dt.datetime(2026, 10, 2, tzinfo=dt.UTC))
    game = evolve(match.games[0], entries=match.games[0].entries[:4], result=None)
    (folder / "matches").mkdir(exist_ok=True)
    for name in ("match.mat", "matches/match.mat"):
        (folder / name).write_text(write_mat(evolve(match, games=(game,))))
    shutil.copy(DATA / "formats" / "automatic_doubles.sgf", folder / "mail.txt")
    (folder / "my-password").write_text("MyBotsPassword\n")
    shutil.copy(folder / "my-password", folder / "secret")
    settings = f'[account]\nname = "marvin"\npassword_file = "{folder / "secret"}"\n'
    for name in ("my.toml", "bots.toml"):
        (folder / name).write_text(settings)
    (folder / "config").mkdir()
    shutil.copy(ROOT / "config" / "fibs.toml", folder / "config")
    with Teller(str(folder / "fibsbot.db")) as bot:
        bot.log_in(1500.0, 0)
        for number in range(17):
            bot.now = NOON + dt.timedelta(hours=number)
            bot.start("ford", 5)
            bot.sheet(f"s{number}", "ford")
            bot.enter("throw", 1, f"s{number}", dice="31", play="8/5 6/5")
            bot.save("ford", 5)
    for name in ("store.db", "store-2026-11-21.db"):
        shutil.copy(folder / "fibsbot.db", folder / name)
    return folder


@define
class Sitting:
    """Somebody who types the commands of a page."""

    folder: Path
    library: Path
    port: int
    _running: list[Forked] = field(factory=list)
    _kinds: list[str] = field(factory=list)
    _outputs: list[Path] = field(factory=list)
    _signalled: set[int] = field(factory=set)
    """Process IDs of services that a page sends SIGTERM; one that is just ending has no handler for it any more."""

    def type(self, command: Printed) -> None:
        """Run a command; start it if it is a service."""
        again = repeated(command)
        text = command.text.replace("fibs.com:4321", "127.0.0.1:4321").replace("4321", str(self.port))
        for option, least in FEWER.items():
            text = re.sub(rf"{option} \d+", f"{option} {least}", text)
        if "fibsbot demo" in text and "--length" not in text:
            text = text.replace("fibsbot demo", "fibsbot demo --length 1")
        for word, position in POSITIONS.items():
            text = re.sub(rf"{word}(?!\S)", position, text)
        if "PID" in text:
            text = text.replace("PID", str(self._running[-1].pid))
            self._signalled.add(self._running[-1].pid)
        command = Printed(command.page, text)
        if " ".join(command.words).startswith(tuple(ELSEWHERE)) or any(name in text for name in MISSING):
            return
        if again and (not command.is_service or command.words[1] in PAGES_OF_THEIR_OWN):  # nothing needs one
            return
        # The log of a bot that played a match, in place of that of one that has only just started.
        shutil.copytree(self.library / "logs", self.folder / "logs", dirs_exist_ok=True)
        if command.needs_shell:
            done = subprocess.run(["bash", "-c", text], cwd=self.folder, capture_output=True, check=False)
            assert (0, False) == (done.returncode, b"Traceback" in done.stderr), (text, done.stderr)
        elif command.is_service:
            self._start(command)
        else:
            result = CliRunner().invoke(main, command.words[1:])
            assert 0 == result.exit_code, (text, result.output, result.exception)

    def _start(self, command: Printed) -> None:
        more: list[str] = []
        if command.words[1] == "run":
            self._stop("play")  # the same account
            settings = self.folder / command.words[command.words.index("--config") + 1]
            place = f'[server]\nhost = "127.0.0.1"\nport = {self.port}\n'
            text, found = re.subn(r'^\[server\]\nhost = ".*"\n', place, settings.read_text(), flags=re.MULTILINE)
            settings.write_text(text if found else f"{text}\n{place}")
        if command.words[1] == "serve":
            self._stop("serve")  # a page shows several ways to start one, and only one can have the port
            more = [] if "--port" in command.words else ["--port", str(self.port)]
            more = ["0", *more] if command.words[-1] == "--web" else more
        if command.words[1] in PAGES_OF_THEIR_OWN:
            more = [] if "--no-browser" in command.words else ["--no-browser"]
        path = self.folder / f"output{len(list(self.folder.glob('output*')))}"
        with path.open("wb") as file:
            words = ("fibsbot", *command.words[1:], *more)
            process = start(*words, folder=self.folder, out=file.fileno(), err=file.fileno())
        self._running.append(process)
        self._kinds.append(command.words[1])
        self._outputs.append(path)
        limit = time.monotonic() + STARTED
        while SERVICES[command.words[1]] not in path.read_text("utf-8"):
            assert process.returncode is None, (command.text, path.read_text("utf-8"))
            assert time.monotonic() < limit, (command.text, path.read_text("utf-8"))
            time.sleep(0.02)

    def have_account(self, name: str) -> None:
        """Start a server that has an account of this name."""
        self.type(Printed("", "fibsbot serve --port 4321"))
        register = (
            f"fibsbot play --server 127.0.0.1:4321 --account {name} --password-file secret --register --strategy random"
        )
        self.type(Printed("", register))
        self._stop("play")

    def leave(self) -> None:
        """Stop all services, the youngest first."""
        self._stop(*SERVICES)

    def _stop(self, *kinds: str) -> None:
        """Interrupt services of some kinds."""
        for kind, process in reversed(list(zip(self._kinds, self._running, strict=True))):
            if kind in kinds:
                process.send_signal(signal.SIGINT)
                process.process.join(STARTED)

    def ends(self) -> list[tuple[int | None, bool]]:
        """Return the exit status of each service, and whether it printed a traceback."""
        texts = [path.read_text("utf-8") for path in self._outputs]
        statuses = [
            0 if it.returncode == -signal.SIGTERM and it.pid in self._signalled else it.returncode
            for it in self._running
        ]
        return [(status, "Traceback" in text) for status, text in zip(statuses, texts, strict=True)]


@pytest.fixture
def sitting(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sitting]:
    """Sit down in a folder of one's own, with the program where the README has it and on the PATH."""
    folder = tmp_path / "folder"
    shutil.copytree(library, folder)
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, options in {"fibsbot": " -m fibsbot", "python": ""}.items():
        program = binaries / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{options} "$@"\n')
        program.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{binaries}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    somebody = Sitting(folder, library, port)
    try:
        yield somebody
    finally:
        somebody.leave()


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if printed(page)], ids=name_of)
def test_every_command_runs_as_printed(page: Path, sitting: Sitting) -> None:
    commands = printed(page)
    for text, name in PROGRAM.findall(page.read_text()):
        (sitting.folder / name).write_text(text)
    if page.parent.name != "tutorials" and any(command.words[1] in {"play", "run"} for command in commands):
        sitting.have_account("mybot" if page.name == "README.md" else "marvin")
    for command in commands:
        sitting.type(command)
    sitting.leave()
    assert {(0, False)} >= set(sitting.ends())
