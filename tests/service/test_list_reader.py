"""Lists of players from files and addresses: read again, and never worse than the last good copy."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from attrs import define, evolve, field
from structlog.testing import capture_logs

from fibsbot.policy import Direction, MatchRequest, NamePattern, Policy, reasons_to_refuse
from fibsbot.policy.name_lists import ListSettings, NameList
from fibsbot.server.server import Server
from fibsbot.service import list_reader
from fibsbot.service.list_reader import ListReader
from fibsbot.service.service import Service
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP
from tests.patience import SOON
from tests.service.accounts import in_background, opponent, plan, process_settings, until

THEIRS, OURS = Direction.THEIRS, Direction.OURS


@define
class Site:
    """A web site with a list."""

    text: str = "ford\n"
    status: int = 200
    etag: str = '"one"'
    url: str = ""
    statuses: list[int] = field(factory=list)
    """The status of each answer."""
    hang: bool = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request."""
        status = 304 if self.status == 200 and request.headers.get("If-None-Match") == self.etag else self.status
        self.statuses.append(status)
        if self.hang:
            await asyncio.sleep(1000)
        return web.Response(status=status, text=self.text if status == 200 else "", headers={"ETag": self.etag})


@contextlib.asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """Run a web site."""
    it = Site()
    app = web.Application()
    app.router.add_get("/secret-list", it.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    it.url = f"http://127.0.0.1:{runner.addresses[0][1]}/secret-list"
    try:
        yield it
    finally:
        await runner.cleanup()


def test_a_list_has_an_entry_per_line() -> None:
    names = NameList.parse("\ufeff# quitters\nford\n\n arthur:from  # since May\nQuit*\n")
    assert [True, True, False] == [names.has("ford", THEIRS), names.has("arthur", THEIRS), names.has("arthur", OURS)]
    assert (True, False) == (names.has("Quitter", OURS), names.has("quitter", OURS))


@pytest.mark.parametrize("text", ["<html>", "ford, arthur", "*", "???*", "ford\n*:to", "a" * 21, "ford\x00"])
def test_anything_else_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match=r"^line \d (is no name|matches everybody)$"):
        NameList.parse(text)


async def test_a_broken_site_changes_nothing_and_an_unchanged_list_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site() as it:
        settings = ListSettings(block=(it.url,))
        reader = ListReader(tmp_path)

        async def is_blocked(by: ListReader | None = None) -> bool:
            return (await asyncio.to_thread((by or reader).read, settings)).block.has("ford", THEIRS)

        assert not reader.load(settings).block.has("ford", THEIRS), "no address is asked"
        assert await is_blocked()
        assert await is_blocked()
        assert [200, 304] == it.statuses
        with capture_logs() as logs:
            for text, status, hang in (("<html>", 200, False), ("*", 200, False), ("", 503, False), ("", 200, True)):
                it.text, it.status, it.hang, it.etag = text, status, hang, '"two"'
                monkeypatch.setattr(list_reader, "TIMEOUT", 0.3 if hang else SOON)
                assert await is_blocked(), (text, status, hang)
        it.hang = False
        monkeypatch.setattr(list_reader, "TIMEOUT", SOON)
        assert ["line 1 is no name", "line 1 matches everybody", "status 503", "no whole answer within 0.3 s"] == [
            log["error"] for log in logs
        ]
        assert "secret" not in str(logs)
        again = ListReader(tmp_path)
        assert again.load(settings).block.has("ford", THEIRS), "also after a restart"
        it.text, it.etag = "arthur\n", '"three"'
        assert not await is_blocked()
    assert not await is_blocked(), "a site that is gone has no say"


def test_files_are_read_and_a_damaged_copy_is_as_good_as_none(tmp_path: Path) -> None:
    path, copies = tmp_path / "list.txt", tmp_path / "copies"
    path.write_text("ford\n")
    settings = ListSettings(allow=(str(path),))
    allow = ListReader(copies).load(settings).allow
    assert allow is not None
    assert allow.has("ford", OURS)
    path.unlink()
    for is_pipe in (False, True):  # nothing, and a pipe that nobody writes to
        if is_pipe:
            os.mkfifo(path)
        kept = ListReader(copies).load(settings).allow
        assert kept is not None
        assert kept.has("ford", OURS)
    path.unlink()
    next(copies.iterdir()).write_text("{")
    with capture_logs() as logs:
        nobody = ListReader(copies).load(settings).allow
    assert nobody is not None
    assert not nobody.has("ford", OURS)
    assert ["list of players cannot be read"] == [log["event"] for log in logs]


def test_lists_count_together_with_the_policy() -> None:
    def refused(policy: Policy, **fields: bool) -> set[str]:
        return {reason.code for reason in reasons_to_refuse(policy, MatchRequest("ford", 5, **fields))}  # type: ignore[arg-type]  # these two

    assert {"blocked"} == refused(Policy(), on_block_list=True)
    assert set() == refused(Policy(), on_allow_list=True)
    assert {"not_allowed"} == refused(Policy(), on_allow_list=False)
    assert set() == refused(Policy(allow=(NamePattern("ford"),)), on_allow_list=False)
    assert set() == refused(Policy(allow=(NamePattern("arthur"),)), on_allow_list=True)


def test_it_says_which_lists_cannot_be_read_and_what_holds(tmp_path: Path) -> None:
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_text("ford\n")
    reader, lists = ListReader(tmp_path / "copies"), ListSettings(block=(str(there), str(gone)), interval=10)
    assert {"lists.block[1]": None, "lists.block[2]": None} == reader.errors(lists), "nothing was tried"
    reader.read(lists)
    assert {
        "lists.block[1]": None,
        "lists.block[2]": "No such file or directory; there is no copy of it",
    } == reader.errors(lists)
    there.unlink()
    gone.write_text("arthur\n")
    assert reader.read(lists).block.has("ford", THEIRS)
    assert {
        "lists.block[1]": "No such file or directory; the last good copy holds",
        "lists.block[2]": None,
    } == reader.errors(lists)


async def test_neither_play_nor_its_end_waits_for_a_list_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file on a disk that does not answer, and an address that takes the question and says nothing."""
    hanging = threading.Event()

    def read_nothing(_: Path) -> list_reader.ListCopy:
        hanging.wait(SOON)
        return list_reader.ListCopy("")

    monkeypatch.setattr(list_reader, "_read_file", read_nothing)
    monkeypatch.setattr(list_reader, "LOADING_TIME", 0.05)
    try:
        async with site() as it, Server(seed=3, limits=CHEAP) as server:
            it.hang = True
            one = plan(server.port, "marvin", invite="ford")
            lists = ListSettings(block=(it.url, str(tmp_path / "file")), interval=10)
            one = evolve(one, agent=evolve(one.agent, lists=lists))
            service = Service([one], process_settings(state=tmp_path), lambda _: LastResort(), environment={})
            async with in_background(service.run()), opponent(server.port, "ford"):
                await until(lambda: len(it.statuses) > 0)
                await until(lambda: service.supervisor.accounts["marvin"].totals().matches > 0)
            readers = [thread for thread in threading.enumerate() if thread.name == "lists of players"]
            assert readers
            assert all(thread.daemon for thread in readers), "the end of a process waits for no such thread"
    finally:
        hanging.set()


@pytest.mark.slow
async def test_a_process_follows_its_lists(tmp_path: Path) -> None:
    async with site() as it, Server(seed=3, limits=CHEAP) as server:
        one = plan(server.port, "marvin", invite="ford")
        lists = evolve(ListSettings(block=(it.url,)), interval=10)
        one = evolve(one, agent=evolve(one.agent, lists=lists))
        service = Service([one], process_settings(state=tmp_path), lambda _: LastResort(), environment={})
        async with in_background(service.run()):
            marvin = service.supervisor.accounts["marvin"]
            await until(lambda: len(it.statuses) > 0 and marvin.has_lists)
            async with opponent(server.port, "ford", invite="marvin", length=1):
                await until(lambda: marvin.totals().messages > 20)
                assert 0 == marvin.totals().decisions
                it.text, it.etag = "", '"empty"'
                service._reread.set()
                await until(lambda: marvin.totals().matches > 0)
