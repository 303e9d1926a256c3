"""`fibsbot table --server` and `fibsbot serve --web` as processes: the way in, what is refused, what is kept."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import aiohttp
import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.server.server import Server
from tests import forked
from tests.bot.live_bots import CHEAP
from tests.patience import SOON
from tests.table.people import at_table, is_playing, login, play_on, until
from tests.table.test_guest_pages import log_in, play_by_posts, wait_for

PASSWORD = "secret_of_ann"


@asynccontextmanager
async def process(folder: Path, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run fibsbot in a folder; end it by SIGINT."""
    environment = {**os.environ, "FIBSBOT_PASSWORD": PASSWORD}
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fibsbot", *words), cwd=folder, env=environment, stdout=pipe, stderr=pipe
    )
    try:
        yield running
    finally:
        if running.returncode is None:
            running.send_signal(signal.SIGINT)
            async with asyncio.timeout(SOON):
                await running.wait()


async def errors_of(folder: Path, *words: str) -> str:
    """Run fibsbot in a folder, to its end with an error; return what it has written to stderr."""
    running = forked.start("fibsbot", *words, folder=folder, environment={**os.environ, "FIBSBOT_PASSWORD": PASSWORD})
    try:
        async with asyncio.timeout(SOON):
            assert await running.wait() != 0
    finally:
        running.kill()
    return running.errors


async def line_with(stream: asyncio.StreamReader | None, text: str) -> str:
    """Read lines until one has a text."""
    assert stream is not None
    async with asyncio.timeout(SOON):
        while text not in (line := (await stream.readline()).decode()):
            assert line
    return line.strip()


def files_with(folder: Path, text: str) -> list[Path]:
    """Return the files of a folder that have a text."""
    return [file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.mark.slow
async def test_a_person_plays_a_match_which_stats_finds_and_no_file_has_the_password(tmp_path: Path) -> None:
    async with Server(seed=5, limits=CHEAP) as server, at_table(login(server.port, "ben")) as ben:
        words = ("table", "--server", f"127.0.0.1:{server.port}", "--user", "ann", "--register", "--no-browser")
        async with process(tmp_path, *words) as running, aiohttp.ClientSession() as web:
            page = await line_with(running.stdout, "http://")
            await wait_for(web, page, '"name": "ben", "rating": 1500.0, "experience": 0, "state": "ready"')
            await web.post(page + "ready", json={})
            await web.post(page + "invite", json={"name": "ben", "length": 1})
            await until(ben, lambda: "ann" in ben.session.lobby.invitations)
            ben.request("join", {"name": "ann"})
            await until(ben, lambda: is_playing(ben))
            playing = asyncio.create_task(play_on(ben, Random(1), lambda: False))
            await play_by_posts(web, page)
            playing.cancel()
        assert running.stdout is not None
        assert "Session log:" in (await running.stdout.read()).decode()
        assert running.returncode == 0
    result = CliRunner().invoke(main, ["stats", "--store", str(tmp_path / "fibsbot.db"), "--json"])
    (account,) = json.loads(result.output)["accounts"]
    assert (account["account"], [row["opponent"] for row in account["opponents"]]) == ("ann", ["ben"])
    assert files_with(tmp_path, PASSWORD) == []


async def test_a_refused_password_is_one_line(tmp_path: Path) -> None:
    async with Server(limits=CHEAP) as server:
        await server.register("ann", "another_password")
        words = ("table", "--server", f"127.0.0.1:{server.port}", "--user", "ann", "--no-browser")
        errors = await errors_of(tmp_path, *words)
    assert errors.strip().splitlines()[-1].endswith("does not accept this name with this password.")
    assert "Traceback" not in errors
    assert PASSWORD not in errors


async def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    async with Server(limits=CHEAP) as server:
        port = server.port
    errors = await errors_of(tmp_path, "table", "--server", f"127.0.0.1:{port}", "--user", "ann", "--no-browser")
    assert errors.strip().splitlines()[-1].endswith(f"Cannot connect to 127.0.0.1:{port}: Connection refused.")


def test_a_server_is_played_on_by_name_and_with_a_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIBSBOT_PASSWORD", raising=False)
    monkeypatch.chdir(tmp_path)
    alone = CliRunner().invoke(main, ["table", "--server", "127.0.0.1"])
    assert (alone.exit_code, "belong together" in alone.output) == (2, True)
    unknown = CliRunner().invoke(main, ["table", "--server", "127.0.0.1", "--user", "ann"])
    assert (unknown.exit_code, "FIBSBOT_PASSWORD" in unknown.output) == (2, True)


@pytest.mark.slow
async def test_serve_web_lets_guests_in(tmp_path: Path) -> None:
    async with (
        process(tmp_path, "serve", "--port", "0", "--web", "0") as running,
        aiohttp.ClientSession() as web,
    ):
        root = (await line_with(running.stderr, "people play at")).rpartition(" ")[2]
        page = await log_in(web, root, "ann")
        state = await wait_for(web, page, '"online": true')
        assert state["lobby"]["user"] == "ann"
    assert running.returncode == 0
