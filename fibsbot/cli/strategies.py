"""`fibsbot strategies`: what is installed."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from fibsbot.strategies.loader import InstalledStrategy, StrategyError, available


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def strategies(*, as_json: bool) -> None:
    """List the strategies and where they come from.

    A strategy that is installed but cannot be imported is listed with its error. A judge can say what positions are
    worth: it can study matches.
    """
    rows = [_row(origin) for origin in available()]
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
    elif _is_terminal():
        _print_table(rows)
    else:
        for row in rows:
            what = row["error"] or row["description"]
            click.echo("\t".join((row["name"], what, _origin(row), row["module"], _evaluates(row))))


def _row(origin: InstalledStrategy) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": origin.name,
        "description": "",
        "distribution": origin.distribution,
        "version": origin.version,
        "module": origin.reference,
        "judge": False,
        "error": "",
    }
    try:
        row["description"] = origin.description()
        row["judge"] = origin.is_evaluator()
    except StrategyError as error:
        row["error"] = str(error)
    return row


def _origin(row: dict[str, Any]) -> str:
    return f"{row['distribution']} {row['version']}".strip()


def _evaluates(row: dict[str, Any]) -> str:
    return "judge" if row["judge"] else ""


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Column, Table  # noqa: PLC0415

    table = Table("name", Column("what it does", ratio=1), "from", Column("module", overflow="fold"), "judge")
    for row in rows:
        what = f"[red]{escape(row['error'])}[/red]" if row["error"] else escape(row["description"])
        table.add_row(
            escape(row["name"]), what, escape(_origin(row)), escape(row["module"]), "yes" if row["judge"] else ""
        )
    Console().print(table)


def _is_terminal() -> bool:
    return sys.stdout.isatty()
