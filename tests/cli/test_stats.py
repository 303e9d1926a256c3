"""`fibsbot stats`: statistics of the matches in a store, as text and as JSON.

`FIBSBOT_GOLDEN=write pytest tests/cli/test_stats.py` writes the golden file anew; read the difference before it is
committed.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import re
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from fibsbot.analysis.results import wilson
from fibsbot.cli import EXIT_CONFIG, EXIT_USAGE, main
from fibsbot.fibs_ratings import winning_chance
from fibsbot.records.store import StoreWriter
from fibsbot.server.server import Server
from fibsbot.service.account import Hooks
from fibsbot.strategies.loader import load
from tests.bot.live_bots import CHEAP
from tests.patience import SOON
from tests.records.store.recorder import NOON, Teller
from tests.service.accounts import plan, supervisor

GOLDEN: Final = Path(__file__).parents[1] / "data" / "analysis" / "stats.golden"
HOSTILE: Final = "\x1b[31m[bold]<script>\u202etpircs" + "x" * 200
OPPONENTS: Final = (("ford", 1480.0), ("arthur", 1350.5), (HOSTILE, None), ("trillian", 1723.25))
"""Names, and ratings where they are known."""


def play(bot: Teller, number: int) -> None:
    """Play a match, and learn what it did to the rating."""
    opponent, rating = OPPONENTS[number % 4]
    length = (1, 3, 5)[number % 3]
    won = number % 5 not in {0, 3}
    ours = 1500.0 + 7 * (number % 4) - number
    bot.rate(ours, 400 + 3 * number)
    bot.tell("match_started", opponent=opponent, length=length, resumed=False, rating=rating, experience=900)
    bot.tell("game_started", opponent=opponent, game=1)
    score = (length, 0) if won else (0, length)
    bot.win_game(length, score, None if won else opponent)
    bot.end(opponent, length, won=won, score=score)
    chance = winning_chance(ours, rating or 1500.0, length)
    gain = 4 * length**0.5 * ((1 - chance) if won else -chance)
    bot.rate(round(ours + gain, 2), 400 + 3 * number + length)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with an account that played all winter, and one that never played."""
    path = tmp_path_factory.mktemp("stats") / "store.sqlite"
    with Teller(str(path), "marvin") as bot:
        for number in range(24):
            bot.now = NOON + dt.timedelta(days=4 * number)
            bot.log_in()
            play(bot, number)
            bot.wait(3600 * (1 + number % 3))
            bot.tell("connection_lost", reason="connection reset by peer" if number % 4 else "timed out: " + HOSTILE)
        bot.now += dt.timedelta(days=1)
        bot.log_in()
        bot.start("arthur", 5)
        bot.save("arthur", 5, "opponent_gone", how="dropped connection")
        bot.wait(60)
        bot.resume("arthur", 5)
        bot.save("arthur", 5, "opponent_gone", how="left")
    with Teller(str(path), "slartibartfast") as bot:
        bot.now = NOON
        bot.log_in(1500.0, 0)
    return path


def stats(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["stats", *map(str, arguments)], env={"COLUMNS": "80"})


def as_json(*arguments: object) -> list[dict[str, Any]]:
    result = stats("--json", *arguments)
    assert 0 == result.exit_code, result.output
    accounts: list[dict[str, Any]] = json.loads(result.stdout)["accounts"]
    return accounts


def test_output_as_text(store: Path) -> None:
    result = stats("--store", store, "--top", 3)
    assert 0 == result.exit_code, result.output
    text = "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()


def test_no_figure_is_cut_in_a_narrow_terminal(store: Path) -> None:
    def figures(columns: int) -> list[str]:
        arguments = ["stats", "--store", str(store), "--account", "marvin"]
        shown = CliRunner().invoke(main, arguments, env={"COLUMNS": str(columns)}).stdout.partition("Rating")[0]
        return re.findall(r"(?m)expected$|[0-9.]+(?: %)?", shown)

    assert figures(80) == figures(48) == figures(30)


def test_the_store_says_when_it_is_empty(tmp_path: Path) -> None:
    with Teller(str(tmp_path / "empty.sqlite")) as bot:
        assert bot.writer.flush()
    result = stats("--store", tmp_path / "empty.sqlite")
    assert (0, f"{tmp_path / 'empty.sqlite'}: no account has written anything yet\n") == (
        result.exit_code,
        result.stdout,
    )
    assert [] == as_json("--store", tmp_path / "empty.sqlite")


def test_programs_read_the_same_and_whole_names(store: Path) -> None:
    marvin, slartibartfast = as_json("--store", store)
    assert (24, 14, 10) == tuple(marvin["total"][name] for name in ("matches", "wins", "losses"))
    assert list(wilson(14, 24)) == [marvin["total"][name] for name in ("low", "high")]
    assert {name for name, _ in OPPONENTS} == {row["opponent"] for row in marvin["opponents"]}
    for groups in ("opponents", "lengths", "months"):
        assert 24 == sum(row["matches"] for row in marvin[groups])
        assert pytest.approx(marvin["total"]["expected"]) == sum(row["expected"] for row in marvin[groups])
    assert [{"opponent": "arthur", "started": 7, "finished": 6, "left": 1, "dropped": 1, "resumed": 1}] == marvin[
        "breaks"
    ]
    assert (0, 1, None) == (
        slartibartfast["total"]["matches"],
        slartibartfast["online"]["unseen"],
        slartibartfast["first"],
    )


def test_one_account_from_a_day_on(store: Path) -> None:
    (march,) = as_json("--store", store, "--account", "marvin", "--since", "2026-03-01")
    assert ["2026-03", "2026-04"] == [row["month"] for row in march["months"]]
    assert march["first"].startswith("2026-03-03")
    assert all(point["at"] >= "2026-03-01" for point in march["ratings"])
    (later,) = as_json("--store", store, "--account", "marvin", "--since", "2027-01-01")
    assert (0, [], []) == (later["total"]["matches"], later["breaks"], later["ratings"])
    assert "nothing yet" in stats("--store", store, "--account", "marvin", "--since", "2027-01-01").stdout


def test_the_rating_is_drawn(store: Path, tmp_path: Path) -> None:
    result = stats("--store", store, "--plot", tmp_path / "rating.svg")
    assert 0 == result.exit_code
    assert f"the rating is drawn in {tmp_path / 'rating.svg'}\n" == result.stderr
    root = ET.fromstring((tmp_path / "rating.svg").read_text())  # noqa: S314 - our own picture
    assert root.tag.endswith("svg")
    assert {"Ratings", "marvin", "slartibartfast"} <= set(root.itertext())
    assert 0 == stats("--store", store, "--account", "marvin", "--plot", tmp_path / "rating.svg").exit_code
    assert "Rating of marvin" in (tmp_path / "rating.svg").read_text()


def test_the_file_of_settings_names_the_store(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text(f'[service]\nstore = "{store}"\n')
    assert as_json("--store", store) == as_json("--config", config)
    config.write_text('[service]\nstore = "off"\nnonsense = 1\n')
    assert EXIT_CONFIG == stats("--config", config).exit_code


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--account", "zaphod"], "no account is called 'zaphod'; in the store are: marvin, slartibartfast"),
        (["--since", "yesterday"], "expected a day such as 2026-01-31, got 'yesterday'"),
        (["--plot", "/no/such/folder/x.svg"], "there is no folder /no/such/folder for x.svg"),
        (["--luck", "--evaluator", "random"], "strategy 'random' is not an evaluator"),
        (["--luck", "--evaluator", "nosuch"], "no strategy is called 'nosuch'"),
    ],
)
def test_errors_are_reported_in_one_line(store: Path, arguments: list[str], text: str) -> None:
    result = stats("--store", store, *arguments)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr
    assert "Traceback" not in result.output


def test_a_path_without_a_store_is_reported(tmp_path: Path) -> None:
    result = stats("--store", tmp_path / "nowhere.sqlite")
    assert (EXIT_USAGE, f"Error: there is no store {tmp_path / 'nowhere.sqlite'}\n") == (
        result.exit_code,
        result.stderr,
    )


def test_matches_of_which_only_results_are_known_keep_their_luck(store: Path) -> None:
    (marvin,) = as_json("--store", store, "--account", "marvin", "--luck")
    assert (0, 24) == (marvin["luck"]["matches"], marvin["luck"]["left_out"])
    assert "0 matches adjusted for luck; 24 not seen" in stats("--store", store, "--luck").stdout


@pytest.mark.slow
async def test_results_of_two_bots_are_adjusted_for_luck(tmp_path: Path) -> None:
    """A store filled by real bots on a real server: the luck of one is the bad luck of the other."""
    path = tmp_path / "store.sqlite"
    writer = StoreWriter(path)
    strategies = {"plain": lambda: load("engine:0"), "random": lambda: load("random", seed=1)}
    async with Server(limits=CHEAP, seed=11) as server, asyncio.timeout(SOON):
        one = plan(server.port, "marvin", invite="ford", length=1, matches=1)
        other = plan(server.port, "ford", "random", length=1, matches=1)
        await supervisor(one, other, strategies=strategies, hooks=Hooks(store_record=writer.put)).run()
    assert writer.close()
    ford, marvin = await asyncio.to_thread(as_json, "--store", path, "--luck", "--evaluator", "engine:0")
    for account in (marvin, ford):
        assert 1 == account["total"]["matches"] == account["luck"]["matches"]
        assert 0 == account["luck"]["left_out"]
    assert marvin["total"]["wins"] == ford["total"]["losses"]
    assert pytest.approx(1) == marvin["total"]["expected"] + ford["total"]["expected"]
    assert pytest.approx(-ford["luck"]["luck"]) == marvin["luck"]["luck"]
    assert marvin["luck"]["pr"] < 1
    assert ford["luck"]["pr"] > 10
    assert (marvin["luck"]["pr"], ford["luck"]["pr"]) == (ford["luck"]["opponents_pr"], marvin["luck"]["opponents_pr"])
