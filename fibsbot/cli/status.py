"""`fibsbot status` and `fibsbot order`: show and control running bots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from fibsbot.bot.orders import Order, give_order, parse_order
from fibsbot.cli import UserError
from fibsbot.cli.options import load_config_file
from fibsbot.config import Config
from fibsbot.service.control_client import ControlError, InvalidOrderError, send_order
from fibsbot.text import short_duration

Command = TypeVar("Command", bound=Callable[..., Any])
TABLE_WIDTH: Final = 72
"""Columns that the table needs; on a narrower terminal each account has lines of its own."""


class NotRunningError(click.ClickException):
    """No bot runs there, or it could not carry out the order: exit status 1."""


def _socket_options(command: Command) -> Command:
    """Add the options that name the control socket."""
    for option in (
        click.option("--config", metavar="FILE", type=click.Path(path_type=Path), help="Its configuration file."),
        click.option(
            "--control",
            metavar="PATH",
            type=click.Path(path_type=Path),
            envvar="FIBSBOT_CONTROL",
            show_envvar=True,
            help=f"Control socket of the process.  [default: {Config().service.control}]",
        ),
    ):
        command = option(command)
    return command


def _socket(config: Path | None, control: Path | None) -> Path:
    """Return the path of the control socket."""
    if control is not None:
        return control
    found = load_config_file(config).service.control
    if found is None:
        raise UserError(f"{config}: service.control is switched off, so there is no control socket")
    return found


def _ask(path: Path, order: Order, account: str | None, arguments: Sequence[str] = ()) -> dict[str, Any]:
    try:
        return send_order(path, order, account, arguments)
    except InvalidOrderError as error:
        raise UserError(str(error)) from None
    except ControlError as error:
        raise NotRunningError(str(error)) from None


@click.command()
@click.argument("account", required=False)
@_socket_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@click.option("--dashboard", is_flag=True, help="Print the address of the dashboard; who has it can end the bots.")
def status(account: str | None, config: Path | None, control: Path | None, *, as_json: bool, dashboard: bool) -> None:
    """Show what the running bots are doing.

    Asks the process that `fibsbot run` has started. The exit status is 1 if no bot runs there, and when an account
    is stuck or was ended by an error.
    """
    answer = _ask(_socket(config, control), Order.STATUS, account)
    found = answer["status"]
    if dashboard:
        if not answer.get("dashboard"):
            raise UserError("there is no dashboard: set service.web_port and service.dashboard = true")
        click.echo(answer["dashboard"])
        return
    if as_json:
        click.echo(json.dumps(found))
    else:
        console = Console(highlight=False)
        console.print(status_report(found, narrow=console.width < TABLE_WIDTH))
    if not all(entry["healthy"] for entry in found["accounts"]):
        raise SystemExit(1)


@click.command()
@click.argument("word", metavar="ORDER", type=click.Choice([word.value for word in Order if word is not Order.STATUS]))
@click.argument("arguments", nargs=-1, metavar="[ARGUMENTS]...")
@click.option("--account", metavar="NAME", help="Account that gets the order; by default all, or the only one.")
@_socket_options
def order(
    word: str, arguments: tuple[str, ...], account: str | None, config: Path | None, control: Path | None
) -> None:
    """Control running bots.

    \b
    pause [ACCOUNT]            start no new match until `resume`
    resume [ACCOUNT]           start matches again after `pause`
    connect [ACCOUNT]          try to connect now, without waiting
    invite NAME LENGTH [GAME]  invite a player, once, as soon as both are free
    block NAME                 play a player no more, also after a restart
    unblock NAME               undo `block`
    say NAME TEXT              tell a player something
    finish [ACCOUNT]           finish the match, then log out
    quit [ACCOUNT]             log out at once; the server saves the match

    Without the name of an account the order is for all accounts, but for `invite` and `say`, which take one. The exit
    status is 1 if no bot runs there.
    """  # noqa: D301 - click's mark for lines that stay as they are
    given = parse_order(word) or Order.STATUS
    if not given.arguments and arguments:
        if account is not None or len(arguments) > 1:
            raise click.UsageError(
                f"expected one account, got {', '.join((*arguments, *([account] if account else ())))}"
            )
        (account,), arguments = arguments, ()
    try:
        give_order(given, arguments)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    answer = _ask(_socket(config, control), given, account, arguments)
    for name, said in answer.get("answers", {}).items():
        click.echo(f"{name}: {said}")
    if "answers" not in answer:
        click.echo(f"{given.value}: {', '.join(answer['accounts'])}")


def status_report(found: Mapping[str, Any], *, narrow: bool) -> Group:
    """Show the status that a process has returned: as a table, or on a narrow terminal as a few lines per account."""
    rows = [(_name(entry), _doing(entry), _facts(entry)) for entry in found["accounts"]]
    accounts = Text("\n\n").join(_paragraph(*row) for row in rows) if narrow else _table(rows)
    errors = [
        Text(f"{entry['account']}: {entry['last_error_at']} {entry['last_error']}")
        for entry in found["accounts"]
        if entry["last_error"]
    ]
    plans = [
        Text(f"{entry['account']}: {what}")
        for entry in found["accounts"]
        for what in (
            *([f"next attempt at {entry['next_attempt']}"] if entry.get("next_attempt") else []),
            *([f"invites {', '.join(entry['ordered'])} by order"] if entry.get("ordered") else []),
            *([f"blocked by order: {', '.join(entry['blocked'])}"] if entry.get("blocked") else []),
        )
    ]
    head = f"fibsbot {found['version']}, process {found['process']}, up {short_duration(found['uptime'])}"
    last = [Text("last errors"), *errors, Text("")] if errors else []
    plans += [Text("")] if plans else []
    gap = [Text("")] if narrow else []
    return Group(Text(head), *gap, accounts, *gap, *plans, *last, Text(_store(found["store"])))


def _name(account: Mapping[str, Any]) -> Text:
    return Text(account["account"], style="" if account["healthy"] else "bold red")


def _doing(account: Mapping[str, Any]) -> str:
    sentence: str = account["sentence"]
    return sentence if account["healthy"] else f"{sentence} (stuck or failed)"


def _facts(account: Mapping[str, Any]) -> dict[str, str]:
    counters, connected = account["counters"], account["connected"]
    return {
        "online": "no" if connected is None else short_duration(connected),
        "retries": str(account["reconnects"]),
        "won": f"{counters['wins']} of {counters['matches']}",
        "saved": str(account["saved"]),
        "invited": str(account["invitations"]),
    }


def _table(rows: Sequence[tuple[Text, str, Mapping[str, str]]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("account", no_wrap=True)
    table.add_column("doing")
    for fact in rows[0][2] if rows else ():
        table.add_column(fact, justify="right", no_wrap=True)
    for name, doing, facts in rows:
        table.add_row(name, Text(doing), *facts.values())
    return table


def _paragraph(name: Text, doing: str, facts: Mapping[str, str]) -> Text:
    return Text.assemble(name, f": {doing}\n", ", ".join(f"{what} {value}" for what, value in facts.items()))


def _store(store: Mapping[str, Any] | None) -> str:
    if store is None:
        return "store: none"
    numbers = f"{store['written']} records, {store['waiting']} waiting, {store['lost']} lost"
    return f"store: {numbers}" + (f"; trouble: {store['trouble']}" if store["trouble"] else "")
