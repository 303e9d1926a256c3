"""`fibsbot bearoff`: the bear-off tables, and what they say of a position."""

from __future__ import annotations

import json
import time
from typing import Any, Final

import click
from attrs import asdict

from fibsbot.cli import UserError
from fibsbot.cli.options import WorkerOptions, worker_options
from fibsbot.cli.positions import read_state
from fibsbot.engine.arrays import LOSE, LOSE_GAMMON, WIN, WIN_GAMMON, boards_of
from fibsbot.engine.bearoff import BearoffTables, MoneyEquities, SideRolls, compute_and_save, load_tables
from fibsbot.engine.bearoff.storage import (
    DEFAULT_CHECKERS,
    MAX_CHECKERS,
    TableFile,
    UnusableTablesError,
    path_for,
    read_tables,
)
from fibsbot.files import check_writable
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.text import short_duration

EQUAL: Final = 1e-6
"""Equities that differ by less are equal: the tables keep seven digits."""


ESTIMATE_NOTE: Final = "from each side's own rolls: 0.1 % off on average, 1.4 % at worst with 6 to 8 checkers per side"
"""Printed with chances that are not exact; measured, see docs/explanation/bearoff.md."""


@click.command()
@click.argument("position", metavar="[XGID]", required=False)
@click.option("--build", "to_build", is_flag=True, help="Compute the tables, even if there are good ones.")
@click.option(
    "--checkers",
    type=click.IntRange(DEFAULT_CHECKERS, MAX_CHECKERS),
    help=f"Checkers per side with exact cube equities.  [default: {DEFAULT_CHECKERS}]",
)
@worker_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def bearoff(
    position: str | None, *, to_build: bool, checkers: int | None, workers: WorkerOptions, as_json: bool
) -> None:
    """Show the bear-off tables, or what they say about a position.

    XGID is eXtreme Gammon's ID or GNU Backgammon's PositionID:MatchID of a position with all checkers home. Without it,
    the stored tables are listed. They are in the folder FIBSBOT_CACHE or in the user's cache folder.

    With --scheduler or --jobs, these workers compute the three parts of the tables for --build.
    """
    if position is None:
        built = _build(checkers or DEFAULT_CHECKERS, workers) if to_build else None
        _list(checkers, built, as_json=as_json)
        return
    if to_build:
        raise UserError("expected a position or --build, got both")
    state = _state(position)
    tables = load_tables(compute=True, checkers=checkers, report=_note)
    assert tables is not None  # noqa: S101 - what is not there is computed
    row = _row(state, tables)
    click.echo(json.dumps(row) if as_json else "\n".join(_lines(row)))


def _note(text: str) -> None:
    click.echo(f"fibsbot bearoff: {text}", err=True)


def _build(checkers: int, workers: WorkerOptions) -> TableFile:
    """Compute tables and keep them; a folder that takes no file is refused before anything is computed."""
    path = path_for(checkers)
    try:
        check_writable(path)
    except OSError as error:
        raise UserError(f"cannot keep the bear-off tables as {path}: {error.strerror or error}") from error
    with workers.open_if_chosen() as pool:
        _, built = compute_and_save(checkers, None, _note, pool)
    if built is None:
        raise UserError("computed the tables, but could not keep them")
    return built


def _list(checkers: int | None, built: TableFile | None, *, as_json: bool) -> None:
    """Show which tables are kept, or those that were built just now."""
    counts = (checkers,) if checkers else (DEFAULT_CHECKERS,) if built else range(DEFAULT_CHECKERS, MAX_CHECKERS + 1)
    rows = [row for row in map(_file, counts) if row]
    if as_json:
        click.echo(json.dumps({"path": str(path_for(checkers or DEFAULT_CHECKERS)), "tables": rows}))
        return
    texts = ["\n".join(f"{name:10}{value}" for name, value in _table_lines(row).items()) for row in rows]
    click.echo("\n\n".join(texts), nl=bool(rows))
    if not rows:
        click.echo(
            f"no tables at {path_for(checkers or DEFAULT_CHECKERS)}; `fibsbot bearoff --build` computes them in seconds"
        )


def _file(checkers: int) -> dict[str, Any] | None:
    """Return what is to be said about a file of tables; None if there is none."""
    path = path_for(checkers)
    row = {"path": str(path), "checkers": checkers}
    try:
        kept = read_tables(path, checkers)[1]
    except FileNotFoundError:
        return None
    except UnusableTablesError as error:
        return row | {"error": str(error)}
    age = max(time.time() - kept.written, 0.0)
    return row | {"error": None, "bytes": kept.bytes, "sha256": kept.checksum, "age": round(age, 1)}


def _table_lines(row: dict[str, Any]) -> dict[str, str]:
    if row["error"]:
        return {"path": row["path"], "damaged": row["error"]}
    return {
        "path": row["path"],
        "size": f"{row['bytes'] / 1e6:.1f} MB",
        "checksum": f"sha256 {row['sha256']}, good",
        "age": short_duration(row["age"]),
        "chances": "15 checkers a side",
        "cube": f"exact up to {row['checkers']} checkers a side",
    }


def _state(text: str) -> MatchState:
    """Read a position, and return it as seen by the player on roll."""
    state = read_state(text)
    if state.phase is Phase.RESIGNED:
        raise UserError("expected a position before a roll, got an offer to resign")
    # The player who answers a double sees the board; the roll is the other's.
    return state.swapped() if state.phase is Phase.DOUBLED else state


def _row(state: MatchState, tables: BearoffTables) -> dict[str, Any]:
    """Return everything that the tables say of a position."""
    boards = boards_of([state.position])
    if not tables.covers(boards)[0]:
        raise UserError("expected a position with all checkers of both sides home or off, and not all of both off")
    own, opponent = tables.sides(boards[0])
    found = tables.evaluate(boards)[0].tolist()
    money = tables.money(boards[0])
    return {
        "win": found[WIN],
        "win_gammon": found[WIN_GAMMON],
        "lose": found[LOSE],
        "lose_gammon": found[LOSE_GAMMON],
        "exact": money is not None,
        "dice_left_out": state.dice,
        "player": _needs(own),
        "opponent": _needs(opponent),
        "money": None if money is None or state.position.over else _money(money, state),
    }


def _needs(side: SideRolls) -> dict[str, Any]:
    return asdict(side) | {"epc": side.effective_pips, "wastage": side.wastage}


def _money(money: MoneyEquities, state: MatchState) -> dict[str, Any]:
    owner = state.owner
    may_double = owner is not Owner.OPPONENT
    return {
        "cubeless": money.cubeless,
        **{name.lower(): money.value(value) for name, value in Owner.__members__.items()},
        "no_double": money.no_double(owner),
        "double_take": money.double_take if may_double else None,
        "double_pass": 1.0 if may_double else None,
        "verdict": _verdict(money, owner),
    }


def _verdict(money: MoneyEquities, owner: Owner) -> str:
    """Say what to do with the cube, for money, as players say it."""
    if owner is Owner.OPPONENT:
        return "the opponent has the cube"
    word = "double" if owner is Owner.CENTRED else "redouble"
    answer = "pass" if money.double_take > 1 + EQUAL else "beaver" if money.double_take < -EQUAL else "take"
    gain = money.double - money.no_double(owner)
    if gain < -EQUAL:
        return f"no {word}, {answer}"
    return f"{word if gain > EQUAL else f'optional {word}'}, {answer}"


def _lines(row: dict[str, Any]) -> list[str]:
    """Write a position's figures for people."""
    lines = [f"{'':14}{'player':>10}{'opponent':>10}"]
    numbers = {"pips": "d", "mean": ".4f", "deviation": ".4f", "epc": ".3f", "wastage": ".3f"}
    names = {"mean": "mean rolls", "deviation": "deviation", "epc": "EPC"}
    for name, form in numbers.items():
        values = [f"{row[side][name]:{form}}".rjust(10) for side in ("player", "opponent")]
        lines.append(f"{names.get(name, name):14}{''.join(values)}")
    for name, pair in {"wins %": ("win", "lose"), "gammons %": ("win_gammon", "lose_gammon")}.items():
        lines.append(f"{name:14}{''.join(f'{row[key] * 100:10.3f}' for key in pair)}")
    lines.append("")
    lines.append("exact" if row["exact"] else ESTIMATE_NOTE)
    if row["dice_left_out"]:
        lines.append("before the roll: the dice of the position are ignored")
    money = row["money"]
    if money:
        lines.append(f"for money: {money['verdict']}")
        names = {
            "cubeless": "without a cube",
            "centred": "cube in the middle",
            "player": "own cube",
            "opponent": "opponent's cube",
            "no_double": "no double",
            "double_take": "double, take",
            "double_pass": "double, pass",
        }
        lines += [f"  {text:20}{money[name]:+8.4f}" for name, text in names.items() if money[name] is not None]
    return lines
