"""Positions on the command line: arguments, search options, and how chances and equities are printed.

Imports no engine: that takes a third of a second, and a mistyped position must be reported before.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from attrs import evolve
from rich.console import Console

from fibsbot.cli import UserError
from fibsbot.cli.output import spinner
from fibsbot.draw.text import describe_state, draw_state, styled_board
from fibsbot.engine import MAX_PLIES
from fibsbot.engine.arrays import Outcomes
from fibsbot.engine.cube import Stakes
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id, parse_state
from fibsbot.rules.plays import check_dice
from fibsbot.strategies.evaluator import CHANCE_NAMES
from fibsbot.text import format_percent

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.search import SearchLimits


def read_state(text: str) -> MatchState:
    """Read an XGID or a GNUbg ID; else raise UserError."""
    try:
        return parse_state(text)
    except NotationError as error:
        raise UserError(str(error)) from error


def read_dice(text: str) -> Dice:
    """Read a throw; else raise UserError."""
    try:
        return check_dice((int(text[:1]), int(text[1:])))
    except ValueError as error:
        raise UserError(f"expected --dice with two digits from 1 to 6, as in 31, got {text!r}") from error


def ids_of(state: MatchState) -> dict[str, str]:
    """Return the state as other programs read it, as far as they can say it."""
    ids = {"gnubg_id": format_gnubg_id(state)}
    if state.phase is not Phase.RESIGNED:
        ids = {"xgid": str(Xgid.of(state)), **ids}
    return ids


def print_state(state: MatchState) -> None:
    """Draw the board, and say below it what the drawing leaves out."""
    lines = draw_state(state)
    console = Console(highlight=False)
    console.print(styled_board(lines) if console.is_terminal else "\n".join(lines), markup=False, soft_wrap=True)
    for name, value in [*describe_state(state), *ids_of(state).items()]:
        click.echo(f"   {name.replace('_', ' '):9} {value}")


DEFAULT_PLIES: Final = 2
"""How deep is looked where nobody says otherwise."""
LONGEST_TIME: Final = 86_400.0
"""Seconds that a decision may take."""
_UNITS: Final = {"ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0}
_TIME: Final = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,6})?) ?(?P<unit>ms|s|min|m|)")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _seconds(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Read a time with its unit; seconds without one."""
    if value is None:
        return None
    match = _TIME.fullmatch(value.strip().lower())
    seconds = float(match["number"]) * _UNITS[match["unit"]] if match else 0.0
    if not 0 < seconds <= LONGEST_TIME:
        raise click.BadParameter(f"expected a time such as 500ms, 2s or 1m, a day at most, got {value!r}")
    return seconds


position_argument: Final = click.argument("position", metavar="POSITION")
plies_option: Final = click.option(
    "--plies",
    metavar="N",
    type=click.IntRange(0, MAX_PLIES),
    help=f"Rolls to look ahead, 0 to {MAX_PLIES}.  [default: {DEFAULT_PLIES}]",
)
time_option: Final = click.option(
    "--time",
    "seconds",
    metavar="T",
    callback=_seconds,
    help="Time for the decision, as in 500ms or 2s: as deep as fits.",
)
networks_option: Final = click.option(
    "--networks",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where other networks are than those that come along.",
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def search_options(command: _Command) -> _Command:
    """Add the options of whatever looks ahead for one decision."""
    for option in (json_option, networks_option, time_option, plies_option):
        command = option(command)
    return command


def search_limits(plies: int | None, seconds: float | None) -> SearchLimits:
    """Return how far to look: so many plies, or as many as fit into a time."""
    from fibsbot.engine.search import SearchLimits  # noqa: PLC0415 - loads the engine

    if plies is None:
        plies = DEFAULT_PLIES if seconds is None else MAX_PLIES
    return SearchLimits(plies, seconds)


def read_position(text: str) -> MatchState:
    """Read a position that the engine can say something about; else raise UserError."""
    state = read_state(text)
    if state.phase is Phase.RESIGNED:
        raise UserError("expected a decision about a play or the cube, got an offer to resign")
    if state.position.over:
        raise UserError("expected a game that goes on, got one that is over")
    return state


def before_roll(state: MatchState) -> tuple[MatchState, str | None]:
    """Return the state before the throw, seen by who is to throw, and what that changes in a few words."""
    rolling = evolve(state, phase=Phase.ROLL, dice=None)
    match state.phase:
        case Phase.MOVE:
            return rolling, "before the throw: the dice of the position are left out"
        case Phase.DOUBLED:
            return rolling.swapped(), "before the double, seen by who has doubled"
    return rolling, None


def check_may_double(state: MatchState, expected: str) -> None:
    """Raise UserError, with what was expected, where the player on roll may not turn the cube or has no use for it."""
    from fibsbot.engine.cube import Stakes  # noqa: PLC0415 - loads the engine

    if not Stakes.of(state).can_double(state.owner):
        raise UserError(f"expected {expected}, got another one")


@contextlib.contextmanager
def open_engine(networks: Path | None, *, warm: bool = False) -> Iterator[Engine]:
    """Give the engine, and show that somebody is thinking where that takes long; else raise UserError.

    A decision that has a time needs a warm engine: what is compiled or loaded first would be taken off its time.
    """
    with spinner("thinking"):
        from fibsbot.engine.engine import Engine  # noqa: PLC0415 - loads the engine
        from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - loads the engine

        try:
            engine = Engine.load(networks) if networks else Engine.load()
        except NetworkError as error:
            raise UserError(str(error)) from error
        if warm:
            engine.warm_up()
        yield engine


HEADINGS: Final = ("win", "gammon", "bg", "lose", "gammon", "bg")
"""What stands above their columns."""
WIDTHS: Final = (7, 8, 7, 8, 8, 7)
DIGITS: Final = 6
"""Digits after the point in what programs read."""


def chance_headings() -> str:
    """Return what stands above `chances`."""
    return "".join(f"{name:>{width}}" for name, width in zip(HEADINGS, WIDTHS, strict=True))


def format_chances(outcomes: Outcomes) -> str:
    """Write the six chances in columns."""
    return "".join(f"{chance:{width}.3f}" for chance, width in zip(outcomes.tolist(), WIDTHS, strict=True))


def chances_row(outcomes: Outcomes) -> dict[str, float]:
    """Return the six chances by name."""
    return {name: round_number(chance) for name, chance in zip(CHANCE_NAMES, outcomes.tolist(), strict=True)}


def round_number(value: float) -> float:
    """Return a figure for programs."""
    return round(float(value), DIGITS) + 0.0


def format_equity(value: float) -> str:
    """Write an equity; nothing is never negative."""
    return f"{round(float(value), 4) + 0.0:+.4f}"


def match_chance(stakes: Stakes, worth: float) -> float | None:
    """Return the chance to win the match that so much is worth; None where there is no match."""
    return min(max(stakes.match_chance(worth), 0.0), 1.0) if stakes.match else None


def format_match_chance(stakes: Stakes, worth: float) -> str:
    """Write the same; nothing where there is no match."""
    chance = match_chance(stakes, worth)
    return "" if chance is None else format_percent(chance, 2)


def equity_row(stakes: Stakes, worth: float) -> dict[str, Any]:
    """Return an equity, and the chance to win the match that it is, by name."""
    chance = match_chance(stakes, worth)
    return {"equity": round_number(worth), "match_chance": None if chance is None else round_number(chance)}
