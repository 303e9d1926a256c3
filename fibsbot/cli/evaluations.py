"""Evaluations on the command line: search options, the engine, and how chances and equities are printed.

Imports no engine: that takes a third of a second, and a mistyped position must be reported before.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import evolve, frozen

from fibsbot.cli import UserError
from fibsbot.cli.options import rollout_options
from fibsbot.cli.output import spinner
from fibsbot.cli.positions import read_state
from fibsbot.engine import MAX_PLIES, engine_details, short_details
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.strategies.base import CHANCE_NAMES
from fibsbot.text import format_percent

if TYPE_CHECKING:
    from fibsbot.engine.arrays import Outcomes
    from fibsbot.engine.cube import Stakes
    from fibsbot.engine.engine import Engine
    from fibsbot.engine.search import SearchLimits


DEFAULT_PLIES: Final = 2
"""Plies that the engine looks ahead by default."""
LONGEST_TIME: Final = 86_400.0
"""Maximum of `--time`, in seconds."""
_UNITS: Final = {"ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME: Final = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,6})?) ?(?P<unit>ms|s|min|m|h|)")


def _seconds(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """Parse a time with its unit; without one it is in seconds."""
    if value is None:
        return None
    match = _TIME.fullmatch(value.strip().lower())
    seconds = float(match["number"]) * _UNITS[match["unit"]] if match else 0.0
    if not 0 < seconds <= LONGEST_TIME:
        raise click.BadParameter(f"expected a time such as 500ms, 2s, 1m or 1h, a day at most, got {value!r}")
    return seconds


position_argument: Final = click.argument("position", metavar="POSITION")
plies_option: Final = click.option(
    "--plies",
    metavar="N",
    type=click.IntRange(0, MAX_PLIES),
    help=f"Plies to look ahead, 0 to {MAX_PLIES}.  [default: {DEFAULT_PLIES}]",
)
time_option: Final = click.option(
    "--time",
    "seconds",
    metavar="T",
    callback=_seconds,
    help="Time for the decision, as in 500ms or 2s; the depth depends on it.",
)
networks_option: Final = click.option(
    "--networks",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory of networks to use instead of the bundled ones.",
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@frozen
class SearchOptions:
    """The options that say how a decision is searched for; see `search_options`."""

    rollout: int | None
    """Games of a candidate at most; None without a rollout."""
    plies: int | None
    seconds: float | None
    networks: Path | None


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that search for one decision, which get `as_json` and `search: SearchOptions`."""

    @rollout_options
    @plies_option
    @time_option
    @networks_option
    @json_option
    @functools.wraps(command)
    def with_search(
        *arguments: Any,
        rollout: int | None,
        plies: int | None,
        seconds: float | None,
        networks: Path | None,
        **options: Any,
    ) -> None:
        command(*arguments, search=SearchOptions(rollout, plies, seconds, networks), **options)

    return with_search


def search_limits(plies: int | None, seconds: float | None) -> SearchLimits:
    """Return the limits of a search: a number of plies, or a time."""
    from fibsbot.engine.search import SearchLimits  # noqa: PLC0415 - loads the engine

    if plies is None:
        plies = DEFAULT_PLIES if seconds is None else MAX_PLIES
    return SearchLimits(plies, seconds)


def deciding_engine(engine: Engine, search: SearchOptions) -> tuple[Engine, SearchLimits]:
    """Return the engine that decides and the limits of its search; if asked to, it rolls out close decisions."""
    limits = search_limits(search.plies, search.seconds)
    if search.rollout is None:
        return engine, limits
    from fibsbot.engine.rollout.rollout_engine import RolloutEngine, RolloutLimits  # noqa: PLC0415 - loads the engine

    limits = evolve(limits, plies=DEFAULT_PLIES if search.plies is None else search.plies)
    return RolloutEngine.around(engine, RolloutLimits(search.rollout)), limits


def read_position(text: str) -> MatchState:
    """Parse a position that the engine can evaluate; raise UserError for any other."""
    state = read_state(text)
    if state.phase is Phase.RESIGNED:
        raise UserError("expected a decision about a play or the cube, got an offer to resign")
    if state.position.over:
        raise UserError("expected a game that goes on, got one that is over")
    return state


def before_roll(state: MatchState) -> tuple[MatchState, str | None]:
    """Return the state before the roll, seen by the player to roll, and a note if that changes the state."""
    rolling = evolve(state, phase=Phase.ROLL, dice=None)
    match state.phase:
        case Phase.MOVE:
            return rolling, "before the roll: the dice of the position are ignored"
        case Phase.DOUBLED:
            return rolling.swapped(), "before the double, seen by the player who doubled"
    return rolling, None


def stakes_of(state: MatchState) -> Stakes:
    """Return the stakes of a position."""
    from fibsbot.engine.cube import Stakes  # noqa: PLC0415 - loads the engine

    return Stakes.of(state)


def evaluated_by(networks: str) -> str:
    """Return the last line of values: whose they are, without the networks, which --json names."""
    return f"\nby {short_details(engine_details(networks))}"


def check_may_double(state: MatchState, expected: str) -> None:
    """Raise UserError if the player on roll may not double, or has no use for it."""
    if stakes_of(state).can_double(state.owner):
        return
    if state.owner is Owner.OPPONENT:
        got = "the opponent's"
    elif state.crawford:
        got = "none: this is the Crawford game"
    elif state.cubeless:
        got = "none: the game is played without a cube"
    elif not state.cube_turns:
        got = f"one at {state.cube}, and no more than {state.cube_limit} is allowed"
    else:
        got = f"one at {state.cube}, which wins the match as it is"
    raise UserError(f"expected {expected}, got {got}")


@contextlib.contextmanager
def open_engine(networks: Path | None, *, warm: bool = False) -> Iterator[Engine]:
    """Load the engine and yield it, with a spinner while the block takes long. Raises UserError.

    A decision with a time limit needs a warm engine: compiling and loading would count against its time.
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
"""Column headings of the chances."""
WIDTHS: Final = (7, 8, 7, 8, 8, 7)
DIGITS: Final = 6
"""Digits after the decimal point in JSON."""


def chance_headings() -> str:
    """Return the column headings of `format_chances`."""
    return "".join(f"{name:>{width}}" for name, width in zip(HEADINGS, WIDTHS, strict=True))


def format_chances(outcomes: Outcomes) -> str:
    """Return the six chances in columns."""
    return "".join(f"{chance:{width}.3f}" for chance, width in zip(outcomes.tolist(), WIDTHS, strict=True))


def chances_row(outcomes: Outcomes) -> dict[str, float]:
    """Return the six chances by name."""
    return {name: round_number(chance) for name, chance in zip(CHANCE_NAMES, outcomes.tolist(), strict=True)}


def round_number(value: float) -> float:
    """Return a number rounded for JSON."""
    return round(float(value), DIGITS) + 0.0


def format_equity(value: float) -> str:
    """Return an equity as text, zero always with a plus sign."""
    return f"{round(float(value), 4) + 0.0:+.4f}"


def match_chance(stakes: Stakes, worth: float) -> float | None:
    """Return the chance to win the match that an equity stands for; None in an unlimited match."""
    return min(max(stakes.match_chance(worth), 0.0), 1.0) if stakes.match else None


def format_match_chance(stakes: Stakes, worth: float) -> str:
    """Return the chance to win the match in percent; empty in an unlimited match."""
    chance = match_chance(stakes, worth)
    return "" if chance is None else format_percent(chance, 2)


def equity_row(stakes: Stakes, worth: float) -> dict[str, Any]:
    """Return an equity and its chance to win the match, for JSON."""
    chance = match_chance(stakes, worth)
    return {"equity": round_number(worth), "match_chance": None if chance is None else round_number(chance)}
