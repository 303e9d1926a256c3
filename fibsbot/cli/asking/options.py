"""What the commands have in common that ask the engine: positions, how deep to look, which networks.

Numba takes a third of a second to load, so no command imports the engine before it knows that it was asked rightly.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from attrs import evolve

from fibsbot.cli import UserError
from fibsbot.cli.positions import read_state
from fibsbot.cli.progress import shown_waiting
from fibsbot.engine import MOST_PLIES
from fibsbot.match import MatchState, Phase

if TYPE_CHECKING:
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.search import Limits

PLIES: Final = 2
"""How deep is looked where nobody says otherwise."""
LONGEST: Final = 86_400.0
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
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"expected a time such as 500ms, 2s or 1m, a day at most, got {value!r}")
    return seconds


position_argument: Final = click.argument("position", metavar="POSITION")
plies_option: Final = click.option(
    "--plies",
    metavar="N",
    type=click.IntRange(0, MOST_PLIES),
    help=f"Rolls to look ahead, 0 to {MOST_PLIES}.  [default: {PLIES}]",
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


def with_search_options(command: _Command) -> _Command:
    """Add the options of whatever looks ahead for one decision."""
    for option in (json_option, networks_option, time_option, plies_option):
        command = option(command)
    return command


def limits_of(plies: int | None, seconds: float | None) -> Limits:
    """Return how far to look: so many plies, or as many as fit into a time."""
    from fibsbot.engine.search import Limits  # noqa: PLC0415 - loads the engine

    if plies is None:
        plies = PLIES if seconds is None else MOST_PLIES
    return Limits(plies, seconds)


def read_position(text: str) -> MatchState:
    """Read a position that the engine can say something about; else raise UserError."""
    state = read_state(text)
    if state.phase is Phase.RESIGNED:
        raise UserError("expected a decision about a play or the cube, got an offer to resign")
    if state.position.over:
        raise UserError("expected a game that goes on, got one that is over")
    return state


def before_throw(state: MatchState) -> tuple[MatchState, str | None]:
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
def opened_engine(networks: Path | None, *, warm: bool = False) -> Iterator[Engine]:
    """Give the engine, and show that somebody is thinking where that takes long; else raise UserError.

    A decision that has a time needs a warm engine: what is compiled or loaded first would be taken off its time.
    """
    with shown_waiting("thinking"):
        from fibsbot.engine.engine import Engine  # noqa: PLC0415 - loads the engine
        from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - loads the engine

        try:
            engine = Engine.load(networks) if networks else Engine.load()
        except NetworkError as error:
            raise UserError(str(error)) from error
        if warm:
            engine.warm_up()
        yield engine
