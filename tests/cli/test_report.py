"""`fibsbot report`: pages about files and stores, and error messages."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Final

import aiohttp
import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from fibsbot.arena.soak import QUICK_TIMINGS, Entrant, play_pair
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.formats.transcript_json import write_json
from fibsbot.records.store import StoreWriter
from fibsbot.server.server import Server
from fibsbot.strategies import loader
from fibsbot.strategies.loader import load
from tests.arena.duel_strategies import install
from tests.bot.live_bots import CHEAP
from tests.forked import printing
from tests.formats.simulated_matches import simulate
from tests.records.store.recorder import Teller
from tests.records.store.test_live_store import StoringObserver
from tests.report.parsed_page import Page

WATCHED: Final = Path(__file__).parents[1] / "data" / "protocol" / "session_watch.txt"
FEW: Final = 4
"""Opponents in the store."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a few matches that broke off early, and one of which only results are known."""
    path = tmp_path_factory.mktemp("report") / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.log_in(1500.0, 0)
        for number in range(FEW):
            bot.start(f"ford{number}", 5)
            bot.sheet(f"s{number}", f"ford{number}")
            bot.enter("throw", 1, f"s{number}", dice="31", play="8/5 6/5")
            bot.save(f"ford{number}", 5)
        bot.start("zaphod", 1)
        bot.win_game(1, (1, 0))
        bot.end("zaphod", 1, score=(1, 0))
    return path


def report(*arguments: object) -> Result:
    """Write a report, with the fastest evaluator unless another is named."""
    judge = () if "--evaluator" in arguments else ("--evaluator", "heuristic")
    return CliRunner().invoke(main, ["report", *map(str, arguments), *judge])


def page(path: Path) -> Page:
    read = Page.read(path.read_text("utf-8"))
    assert [] == read.faults
    return read


def test_a_watched_match_of_a_capture(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    result = report(WATCHED, "-o", target, "--no-luck")
    assert (0, "") == (result.exit_code, result.stderr)
    assert result.stdout.startswith(f"{target}: 1 match, ")
    read = page(target)
    assert "SomeBot_39 \N{EN DASH} player_am" in read.text
    assert 30 < len(read.data("m1-data")["entries"])
    assert [target] == list(tmp_path.iterdir())


def test_existing_files_are_replaced_only_with_force(tmp_path: Path, store: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("mine")
    result = report("--store", store, "-o", target)
    assert (EXIT_USAGE, f"Error: {target} already exists; --force replaces it\n") == (result.exit_code, result.stderr)
    assert "mine" == target.read_text()
    assert (
        0 == report("--store", store, "-o", target, "--no-luck", "--last", 1, "--player", "ford0", "--force").exit_code
    )
    assert "ford0" in page(target).text


def test_a_store_becomes_an_index_the_latest_match_first(tmp_path: Path, store: Path) -> None:
    target = tmp_path / "report.html"
    result = report("--store", store, "-o", target, "--no-luck", "--last", 3)
    assert 0 == result.exit_code
    assert "match 5 is left out: " in result.stderr
    read = page(target)
    assert ["#m1", "#m2"] == [it for it in read.values("href") if it in {"#m1", "#m2", "#m3"}]
    assert read.text.index("ford3") < read.text.index("ford2")
    assert "ford1" not in read.text


@pytest.mark.slow
def test_a_folder_has_a_page_a_match(tmp_path: Path, store: Path) -> None:
    target = tmp_path / "pages"
    result = report("--store", store, "-o", target, "--no-luck")
    assert (0, f"{target / 'index.html'}: {FEW} matches\n") == (result.exit_code, result.stdout)
    assert ["index.html", *(f"match-{it}.html" for it in range(1, FEW + 1))] == sorted(
        it.name for it in target.iterdir()
    )
    assert [f"match-{it}.html" for it in range(FEW, 0, -1)] == page(target / "index.html").values("href")[1:]
    assert "ford1" in page(target / "match-2.html").text


def test_one_match_of_the_store_named_by_the_settings(tmp_path: Path, store: Path) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text(f'[service]\nstore = "{store}"\n')
    assert 0 == report("--match", 3, "--config", config, "-o", tmp_path / "one.html", "--no-luck").exit_code
    assert "marvin \N{EN DASH} ford2" in page(tmp_path / "one.html").text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "expected FILE, or a match of the store with --match, or the store with --store or --config"),
        (["x.mat", "--store", "STORE"], "expected FILE, or a store with --store or --config, got both"),
        (["/no/such/file"], "cannot read /no/such/file: No such file or directory"),
        (["--store", "/no/such/store"], "there is no store /no/such/store"),
        (["--store", "STORE", "--match", "77"], "the store has no match 77"),
        (["--store", "STORE", "--match", "5"], "match 5"),
        (
            ["--store", "STORE", "--player", "nobody"],
            "expected at least one match for --player nobody, found none that can be analysed",
        ),
        (["--store", "STORE", "--evaluator", "random"], "strategy 'random' is not an evaluator"),
        (["--store", "STORE", "--plies", "1"], "expected --plies with the evaluator engine, got it with 'heuristic'"),
        (["--store", "STORE", "--evaluator", "nosuch"], "no strategy is called 'nosuch'"),
        (["--store", "STORE", "-o", "/no/such/report.html"], "there is no folder /no/such for report.html"),
        (["--store", "STORE", "-o", "/dev/null"], "expected a file that ends in .html, or a folder, got /dev/null"),
    ],
)
def test_errors_are_reported_in_one_line(tmp_path: Path, store: Path, arguments: list[str], text: str) -> None:
    words = [str(store) if it == "STORE" else it for it in arguments]
    output = [] if "-o" in words else ["-o", tmp_path / "report.html"]
    result = report(*words, *output)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr
    assert 1 == len(result.stderr.splitlines())
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["analyse", "report"])
@pytest.mark.parametrize("target", [["-o", "report.html"], ["-o", "pages"]])
def test_a_file_that_is_no_match_is_reported_before_the_engine_gets_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, target: list[str]
) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loader, "load", lambda name: pytest.fail(f"{name} was loaded"))
    result = CliRunner().invoke(main, [command, str(readme), *(target if command == "report" else [])])
    told = f"Error: {readme}: expected a session log or a capture, got a text without any line of a server\n"
    assert (EXIT_USAGE, told) == (result.exit_code, result.stderr)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["analyse", "report"])
@pytest.mark.parametrize("arguments", [["--store", "/no/such/store"], ["--store", "STORE", "--player", "nobody"]])
def test_a_store_without_such_a_match_is_reported_before_the_engine_gets_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path, command: str, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loader, "load", lambda name: pytest.fail(f"{name} was loaded"))
    words = [str(store) if it == "STORE" else it for it in arguments]
    result = CliRunner().invoke(main, [command, *words])
    assert (EXIT_USAGE, 1) == (result.exit_code, len(result.stderr.splitlines()))


@pytest.mark.slow
async def test_matches_of_two_bots_become_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store filled by real bots on a real server, analysed on all cores."""
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "store.sqlite"
    writer = StoreWriter(path)
    async with Server(seed=4, limits=CHEAP) as server:
        one = Entrant("marvin", load("racer"), StoringObserver(writer, "marvin"))
        other = Entrant("ford", load("random"), StoringObserver(writer, "ford"))
        await play_pair(server, one, other, matches=2, length=1, timings=evolve(QUICK_TIMINGS, invitation=0.02))
        assert writer.close()
    target = tmp_path / "report.html"
    result = await asyncio.to_thread(report, "--store", path, "--player", "ford", "-o", target, "--evaluator", "racer")
    assert (0, "") == (result.exit_code, result.stderr)
    read = page(target)
    assert 4 == read.text.count("Luck-adjusted result"), "each of two matches, as each of both has stored it"
    assert all(read.data(f"m{number}-data")["entries"] for number in (1, 2, 3, 4))


@pytest.mark.slow
def test_from_the_standard_input_to_the_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["report", "-", "-o", "-", "--evaluator", "heuristic", "--no-luck"]
    result = CliRunner().invoke(main, arguments, input=WATCHED.read_bytes())
    assert (0, []) == (result.exit_code, list(tmp_path.iterdir()))
    assert [] == Page.read(result.stdout).faults
    assert f"-: 1 match, {len(result.stdout_bytes) // 1000} kB\n" == result.stderr


async def test_a_served_report_has_a_board_and_writes_nothing(tmp_path: Path) -> None:
    match = tmp_path / "match.json"
    match.write_text(write_json(simulate(1, 1)), encoding="utf-8")
    words = ("report", match, "--serve", "--no-browser", "--evaluator", "heuristic", "--no-luck", "--jobs", 1)
    with printing("fibsbot", *words) as (process, printed):
        address = printed.readline().strip()
        assert address.endswith("/report")
        async with aiohttp.ClientSession() as session:
            page = await (await session.get(address)).text()
            assert 'href="./?entry="' in page
            board = address.removesuffix("report")
            assert 200 == (await session.get(board)).status
            response = await session.post(f"{board}open", json={"entry": "m1g1t1"})
            assert {"done": True} == await response.json()
        process.send_signal(signal.SIGTERM)
        assert 0 == await process.wait()
    assert ["match.json"] == names_in(tmp_path)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
