"""`fibsbot status` and `fibsbot order`, against a process that runs, one that is stuck, and none."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.testing import CliRunner, Result

from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.cli import main
from fibsbot.cli.status import order as order_command
from fibsbot.service.control_server import ControlServer
from fibsbot.service.settings import UnknownAccountError

ACCOUNT: Final[dict[str, Any]] = {
    "account": "marvin",
    "state": "MY_ROLL",
    "sentence": "playing ford, 3-2 of 5",
    "opponent": "ford",
    "length": 5,
    "score": [3, 2],
    "uptime": 400_000.0,
    "connected": 7200.0,
    "reconnects": 2,
    "crashes": 0,
    "saved": 1,
    "invitations": 0,
    "last_error": "connection lost: closed by the server",
    "last_error_at": "2026-01-02T03:04:05+00:00",
    "healthy": True,
    "counters": {"matches": 12, "wins": 7},
}
STORE: Final = {"healthy": True, "waiting": 0, "written": 4711, "lost": 0, "trouble": None}
STATUS: Final[dict[str, Any]] = {
    "version": "0.1.0",
    "process": 42,
    "uptime": 400_000.0,
    "accounts": [ACCOUNT],
    "store": STORE,
}


class House:
    """A fake process."""

    def __init__(self) -> None:
        """Report a healthy status."""
        self.status = STATUS
        self.orders: list[tuple[Order, str | None]] = []
        self.given: list[GivenOrder] = []
        self.dashboard: str | None = None

    def __call__(self, given: GivenOrder, account: str | None) -> Mapping[str, Any]:
        """Record the order."""
        order = given.order
        if account not in (None, "marvin"):
            raise UnknownAccountError(f"expected one of marvin, got {account!r}")
        self.orders.append((order, account))
        self.given.append(given)
        return (
            {"status": self.status, "dashboard": self.dashboard} if order is Order.STATUS else {"accounts": ["marvin"]}
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Listen on the control socket that the commands use."""
    house = House()
    control = ControlServer(tmp_path / "fibsbot.sock", house)
    await control.start()
    before = Path.cwd()
    os.chdir(tmp_path)
    yield house
    os.chdir(before)
    await control.close()


async def fibsbot(*arguments: str, **environment: str) -> Result:
    """Run a command."""
    environment = {"COLUMNS": "80", **environment}
    return await asyncio.to_thread(CliRunner().invoke, main, arguments, env=environment)


@pytest.mark.usefixtures("house")
async def test_people_get_a_table_that_fits_their_terminal() -> None:
    result = await fibsbot("status")
    assert 0 == result.exit_code
    lines = result.stdout.splitlines()
    assert "fibsbot 0.1.0, process 42, up 4 d" == lines[0]
    assert "marvin playing ford, 3-2 of 5 2 h 2 7 of 12 1 0" == " ".join(lines[4].split())
    assert "marvin: 2026-01-02T03:04:05+00:00 connection lost: closed by the server" in result.stdout
    assert "store: 4711 records, 0 waiting, 0 lost" == lines[-1]
    assert 80 >= max(map(len, lines))


@pytest.mark.parametrize("columns", [30, 45, 71])
async def test_on_a_narrow_terminal_nothing_is_cut(house: House, columns: int) -> None:
    house.status = {**STATUS, "accounts": [ACCOUNT, {**ACCOUNT, "account": "a_name_of_20_letters"}]}
    shown = (await fibsbot("status", COLUMNS=str(columns))).stdout
    assert columns >= max(map(len, shown.splitlines()))
    for name in ("marvin", "a_name_of_20_letters"):
        sentence = f"{name}: playing ford, 3-2 of 5 online 2 h, retries 2, won 7 of 12, saved 1, invited 0"
        assert sentence in " ".join(shown.split())


@pytest.mark.usefixtures("house")
async def test_programs_get_one_json_object() -> None:
    result = await fibsbot("status", "--json")
    assert (0, STATUS) == (result.exit_code, json.loads(result.stdout))


async def test_the_address_of_the_dashboard_is_printed_only_when_it_is_asked_for(house: House) -> None:
    missing = await fibsbot("status", "--dashboard")
    assert (2, 1) == (missing.exit_code, len(missing.stderr.splitlines()))
    house.dashboard = "http://127.0.0.1:9464/dashboard#token"
    assert house.dashboard == (await fibsbot("status", "--dashboard")).stdout.strip()
    for form in ((), ("--json",)):
        assert "token" not in (await fibsbot("status", *form)).output


@pytest.mark.parametrize("form", [(), ("--json",)])
async def test_an_account_that_is_stuck_or_has_failed_shows_in_the_exit_status(
    house: House, form: tuple[str, ...]
) -> None:
    trouble = {**STORE, "trouble": "disk full", "waiting": 3}
    house.status = {**STATUS, "accounts": [{**ACCOUNT, "healthy": False, "connected": None}], "store": trouble}
    result = await fibsbot("status", *form)
    assert 1 == result.exit_code
    if not form:
        assert "stuck" in result.stdout
        assert "store: 4711 records, 3 waiting, 0 lost; trouble: disk full" in result.stdout


async def test_a_name_that_looks_like_markup_is_shown_as_it_is(house: House) -> None:
    account = {**ACCOUNT, "sentence": "playing [red]x[/], 0-0 of 1", "last_error": None}
    house.status = {**STATUS, "accounts": [account], "store": None}
    result = await fibsbot("status", COLUMNS="120")
    assert "playing [red]x[/], 0-0 of 1" in result.stdout
    assert result.stdout.endswith("store: none\n")


async def test_orders_get_there(house: House) -> None:
    for word in ("pause", "resume", "finish", "quit"):
        assert f"{word}: marvin\n" == (await fibsbot("order", word)).stdout
    assert "pause: marvin\n" == (await fibsbot("order", "pause", "marvin")).stdout
    assert [(Order(word), None) for word in ("pause", "resume", "finish", "quit")] == house.orders[:4]  # type: ignore[call-arg]  # by its word
    assert (Order.PAUSE, "marvin") == house.orders[4]


@pytest.mark.usefixtures("house")
async def test_an_account_that_is_not_there_is_one_line() -> None:
    for arguments in (("status", "zaphod"), ("order", "pause", "zaphod")):
        result = await fibsbot(*arguments)
        assert (2, "Error: expected one of marvin, got 'zaphod'\n") == (result.exit_code, result.stderr)


async def test_the_socket_is_found_by_option_by_variable_and_by_the_settings(house: House, tmp_path: Path) -> None:
    path = str(tmp_path / "fibsbot.sock")
    (tmp_path / "bots.toml").write_text(f'service.control = "{path}"')
    (tmp_path / "off.toml").write_text("service.control = false")
    (tmp_path / "bad.toml").write_text("service.control = 3")
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert "nothing runs at fibsbot.sock" in (await fibsbot("status")).stderr
    for arguments, environment in (
        (("--control", path), {}),
        ((), {"FIBSBOT_CONTROL": path}),
        (("--config", str(tmp_path / "bots.toml")), {}),
    ):
        assert 0 == (await fibsbot("status", *arguments, **environment)).exit_code
    off = await fibsbot("order", "finish", "--config", str(tmp_path / "off.toml"))
    assert (2, True) == (off.exit_code, "service.control is switched off" in off.stderr)
    bad = await fibsbot("order", "finish", "--config", str(tmp_path / "bad.toml"))
    assert (78, True) == (bad.exit_code, "service.control: expected a path" in bad.stderr)
    assert 3 == len(house.orders)


async def test_orders_about_other_players_get_there_with_their_arguments(house: House) -> None:
    for words in (("invite", "ford", "5", "plakoto"), ("block", "ford"), ("say", "ford", "good", "luck")):
        assert 0 == (await fibsbot("order", *words, "--account", "marvin")).exit_code
    assert [
        GivenOrder(Order.INVITE, "ford", 5, "plakoto"),
        GivenOrder(Order.BLOCK, "ford"),
        GivenOrder(Order.SAY, "ford", text="good luck"),
    ] == house.given


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("invite", "ford"), "expected invite NAME LENGTH [GAME], got no length"),
        (("invite", "ford", "0"), "expected points from 1 to 99, or unlimited, got '0'"),
        (("invite", "ford", "5", "chess"), "expected the name of a game, such as plakoto, got 'chess'"),
        (("block", "*"), "expected block NAME with the name of a player, got '*'"),
        (("say", "ford"), "expected a text of printable ASCII characters in one line"),
        (("say", "ford", "one\nquit"), "expected a text of printable ASCII characters in one line"),
        (("pause", "marvin", "ford"), "expected one account, got marvin, ford"),
    ],
)
async def test_an_order_that_makes_no_sense_is_one_line(house: House, words: tuple[str, ...], error: str) -> None:
    result = await fibsbot("order", *words)
    assert (2, f"Error: {error}") == (result.exit_code, result.stderr.splitlines()[-1])
    assert [] == house.orders


@pytest.mark.usefixtures("house")
async def test_what_is_planned_is_shown(house: House) -> None:
    plans = {"next_attempt": "2026-01-02T03:04:05+00:00", "ordered": ["ford"], "blocked": ["arthur", "zaphod"]}
    house.status = {**STATUS, "accounts": [{**ACCOUNT, **plans}]}
    lines = (await fibsbot("status")).stdout.splitlines()
    assert [
        "marvin: next attempt at 2026-01-02T03:04:05+00:00",
        "marvin: invites ford by order",
        "marvin: blocked by order: arthur, zaphod",
    ] == [line for line in lines if line.startswith("marvin: ") and "error" not in line][:3]


def test_the_help_lists_every_order_with_its_meaning() -> None:
    text = order_command.get_help(click.Context(order_command, max_content_width=80))
    for it in Order:
        if it is not Order.STATUS:
            usage, first_words = it.usage if it.arguments else f"{it.value} [ACCOUNT]", it.help[:20]
            assert f"{usage:26} {first_words}" in text
