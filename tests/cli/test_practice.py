"""`fibsbot practice`: answers survive a kill, a second start goes on, and what is wrong is said in a line."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import aiohttp
import pytest

from fibsbot.analysis.selection import DecisionSelection
from fibsbot.cli import EXIT_USAGE
from fibsbot.cli.matches import MatchSelection
from fibsbot.cli.options import WorkerOptions
from fibsbot.cli.practice_session import PracticeSession
from fibsbot.formats.transcript_json import write_json
from fibsbot.rules.state import Seat
from fibsbot.table.practice_host import PracticeFeed
from tests.commands import fibsbot
from tests.forked import Forked, printing
from tests.formats.simulated_matches import simulate
from tests.patience import SOON


@pytest.fixture
def match(tmp_path: Path) -> Path:
    """A match of a person called anna."""
    path = tmp_path / "match.json"
    path.write_text(
        write_json(simulate(5, 5, games=3, names=("anna", "bert"), user=Seat.A, finished=True)), encoding="utf-8"
    )
    return path


async def state_when(session: aiohttp.ClientSession, address: str, part: str) -> dict[str, Any]:
    """Return what is shown of practice as soon as its exercise has a part."""
    async with asyncio.timeout(SOON):
        while True:
            state = await (await session.get(f"{address}state")).json()
            practice: dict[str, Any] = state["practice"]
            if (practice["exercise"] or {}).get(part):
                return practice
            await asyncio.sleep(0.02)


def practice(match: Path, *options: object) -> Any:
    """Start the command; yield the process and what it prints."""
    place = match.with_name("progress.db")
    words = ("practice", match, "--no-browser", "--evaluator", "heuristic", "--progress", place, "--jobs", 1)
    return printing("fibsbot", *words, *options)


async def answer_one(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        await state_when(session, address, "about")
        await session.post(f"{address}solution", json={})
        await state_when(session, address, "verdict")


async def test_answers_survive_a_kill_and_come_again_another_day(match: Path) -> None:
    place = match.with_name("progress.db")
    process: Forked
    for _ in range(2):
        with practice(match) as (process, printed):
            await answer_one(printed.readline().strip())
            assert f"Your answers are kept in {place}.\n" == printed.readline()
            process.kill()
            await process.wait()
    listed = fibsbot("practice", "--list", "--progress", place)
    assert (0, "0 due, 2 later; the next comes tomorrow\n") == (listed.returncode, listed.stdout)
    rows = [json.loads(line) for line in fibsbot("db", "export", "--store", place).stdout.splitlines()]
    cards = [row for row in rows if row["table"] == "practice_cards"]
    assert [("anna", "anna"), ("anna", "anna")] == [
        (card["player"], json.loads(card["exercise"])["player"]) for card in cards
    ]
    assert [1, 1] == [row["rating"] for row in rows if row["table"] == "practice_reviews"]


async def test_without_matches_those_exercises_come_that_are_kept(match: Path) -> None:
    with practice(match, "--player", "bert") as (process, printed):
        await answer_one(printed.readline().strip())
        process.send_signal(signal.SIGTERM)
        assert 0 == await process.wait()
    words = ("practice", "--no-browser", "--progress", match.with_name("progress.db"))
    with printing("fibsbot", *words) as (process, printed):
        address = printed.readline().strip()
        async with aiohttp.ClientSession() as session:
            state = await (await session.get(f"{address}state")).json()
        assert (0, 0, 1, "tomorrow") == tuple(state["practice"][name] for name in ("due", "new", "later", "next"))
        process.send_signal(signal.SIGINT)
        assert 0 == await process.wait()


async def test_exercises_that_are_kept_are_selected_as_new_ones_are(match: Path) -> None:
    with practice(match, "--worse-than", "0.01", "--kind", "play") as (process, printed):
        await answer_one(printed.readline().strip())
        process.send_signal(signal.SIGTERM)
        assert 0 == await process.wait()
    words = ("practice", "--list", "--progress", match.with_name("progress.db"))
    for options, said in {
        (): "0 due, 1 later; the next comes tomorrow\n",
        ("--kind", "play"): "0 due, 1 later; the next comes tomorrow\n",
        ("--kind", "double"): "0 due, 0 later\n",
        ("--player", "bert"): "0 due, 0 later\n",
        ("--worse-than", "9"): "0 due, 0 later\n",
    }.items():
        listed = fibsbot(*words, *options)
        assert (0, said) == (listed.returncode, listed.stdout)


def test_a_match_of_nobody_says_what_to_do(match: Path) -> None:
    match.write_text(write_json(simulate(5, 1, games=1, names=("anna", "bert"))), encoding="utf-8")
    selection = MatchSelection((match,), None, None, DecisionSelection(), None)
    said = create_autospec(PracticeFeed, instance=True, stopped=False)
    session = PracticeSession(
        selection=selection,
        evaluator="heuristic",
        workers=WorkerOptions(jobs=1),
        journal=match.with_name("journal"),
        kept=DecisionSelection(),
    )
    session.feed(said)
    said.fail.assert_called_once_with("match.json, match 1 does not say whose it is: --player NAME does")
    said.add.assert_not_called()


def test_what_is_wrong_is_said_in_a_line(match: Path, tmp_path: Path) -> None:
    for words, said in {
        ("missing.mat",): "fibsbot: cannot read missing.mat: No such file or directory\n",
        ("--progress", match): f"fibsbot: cannot use the store {match}: file is not a database\n",
        ("--store", "nothing.db"): "fibsbot: there is no store nothing.db\n",
        (match, "--list"): "fibsbot: expected --list without FILE: it lists what is due in the store of progress\n",
        ("--list", "--progress", "mysql://x/y"): "fibsbot: expected a store on SQLite (a file) or PostgreSQL, "
        "got mysql://x/y\n",
    }.items():
        done = fibsbot("practice", *words, "--no-browser", cwd=tmp_path)
        assert (EXIT_USAGE, said) == (done.returncode, done.stderr)
    assert not (tmp_path / "nothing.db").exists()
    done = fibsbot("practice", "--list", cwd=tmp_path)
    assert (0, "0 due, 0 later\n") == (done.returncode, done.stdout)
