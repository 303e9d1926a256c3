"""Option types and options that several commands share: numbers, names, workers, laws, configuration file, store.

Imports nothing slow: settings, worker pools and SQLAlchemy are imported only if a command needs them.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click
from attrs import frozen
from click.core import ParameterSource

from fibs_protocol.words import GUEST
from fibsbot.cli import ConfigError, RunError, UserError
from fibsbot.engine import DEFAULT_TRIALS, MAX_TRIALS
from fibsbot.rules.law_words import LIMIT_WORD, MOST_LIMIT, LawWordsError, parse_law_words
from fibsbot.rules.laws import FIBS, LAWS, Laws
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.text import errors_as
from fibsbot.workers.errors import MissingClusterError, TlsFiles, UnusableSchedulerError, WorkError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from fibsbot.config import Config
    from fibsbot.workers.pool import WorkerPool


_Command = TypeVar("_Command", bound=Callable[..., Any])
FILE: Final = click.Path(dir_okay=False, path_type=Path)
"""A file that need not exist."""
FOLDER: Final = click.Path(file_okay=False, path_type=Path)
"""A folder that need not exist."""
BACKGAMMON: Final = "backgammon"
CHOUETTE: Final = "chouette"
"""Names for `--game` beside those of other tables games."""
_TLS_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A certificate or key."""


class FiniteRange(click.FloatRange):
    """A range of finite floats."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail with what was expected."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"expected a number, got {number:g}", param, ctx)
        return number


class PlayerName(click.ParamType[str]):
    """A player name of FIBS."""

    name = "name"
    _PATTERN = re.compile(r"[A-Za-z_]{1,20}")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        if not self._PATTERN.fullmatch(str(value)):
            self.fail(f"expected letters and underscores, at most 20, got {value!r}", param, ctx)
        return str(value)


class AccountName(PlayerName):
    """The name of an account."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        if str(value).lower() == GUEST:
            self.fail(f"expected the name of an account, got {value!r}, which servers keep for registering", param, ctx)
        return super().convert(value, param, ctx)


class Day(click.ParamType[dt.datetime]):
    """A day, as its beginning in UTC."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.datetime:
        """Return the beginning of the day, or fail with what was expected."""
        try:
            return dt.datetime.strptime(str(value), "%Y-%m-%d").replace(tzinfo=dt.UTC)
        except ValueError:
            self.fail(f"expected a day such as 2026-01-31, got {value!r}", param, ctx)


class PositionClass(click.ParamType[str]):
    """A class of positions of backgammon."""

    name = "class"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        from fibsbot.analysis.position_classes import CLASSES  # noqa: PLC0415 - loads the engine's arrays

        if value not in CLASSES:
            self.fail(f"expected one of {', '.join(CLASSES)}; got {value!r}", param, ctx)
        return str(value)


class DecisionKind(click.ParamType[str]):
    """A kind of decisions."""

    name = "kind"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        from fibsbot.analysis.selection import KINDS  # noqa: PLC0415 - slow to import: rules and transcripts

        if value not in KINDS:
            self.fail(f"expected one of {', '.join(KINDS)}; got {value!r}", param, ctx)
        return str(value)


def decision_options(least_loss: float, default: str = "") -> Callable[[_Command], _Command]:
    """Return a decorator that adds the options which select decisions.

    The command gets them as `decisions: DecisionSelection`.

    Args:
        least_loss: least loss unless `--worse-than` says another one.
        default: the same in words for the help; by default the number.
    """
    options = (
        click.option(
            "--player", metavar="NAME", help="Select matches with this player, and only the decisions of this player."
        ),
        click.option(
            "--since",
            metavar="DATE",
            type=Day(),
            help="Select matches from this day on (UTC); those without a date are left out.",
        ),
        click.option(
            "--kind",
            "kinds",
            metavar="KIND",
            multiple=True,
            type=DecisionKind(),
            help="Select errors of this kind: play, double, take, resign, accept or name; repeatable.",
        ),
        click.option(
            "--class",
            "classes",
            metavar="CLASS",
            multiple=True,
            type=PositionClass(),
            help='Select errors in positions of this class, such as "back game" or race; repeatable.',
        ),
        click.option(
            "--worse-than",
            "least_loss",
            metavar="LOSS",
            default=least_loss,
            show_default=default or True,
            type=FiniteRange(0.0),
            help="Select errors that lost this much equity or more.",
        ),
    )

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def run(
            *arguments: Any,
            player: str | None,
            since: dt.datetime | None,
            kinds: tuple[str, ...],
            classes: tuple[str, ...],
            least_loss: float,
            **rest: Any,
        ) -> None:
            from fibsbot.analysis.selection import DecisionSelection  # noqa: PLC0415 - slow to import: see DecisionKind

            command(*arguments, decisions=DecisionSelection(player, since, kinds, classes, least_loss), **rest)

        decorated: Any = run
        for option in reversed(options):
            decorated = option(decorated)
        return cast("_Command", decorated)

    return decorate


class GameName(click.ParamType[str]):
    """A game other than backgammon by its name, with options after colons."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name in lower case, or fail with what was expected."""
        from fibsbot.games import UnknownGameError, load_other_game  # noqa: PLC0415 - most commands need no game

        try:
            return load_other_game(str(value)).full_name
        except UnknownGameError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete the name."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - needed by nothing else

        from fibsbot.games import GAMES  # noqa: PLC0415 - as above

        return [CompletionItem(name) for name in sorted(GAMES) if name.startswith(incomplete)]


optional_position: Final = click.argument("position", metavar="XGID|POSITION", required=False)
"""A position of backgammon, or with `--game` of that game."""
game_option: Final = click.option(
    "--game",
    metavar="GAME[:OPTION]",
    help='A tables game, see `fibsbot rules`. POSITION has two rows, as in "24:12 23 / 24:15"; default: the set-up.',
)


def given_id(position: str | None) -> str:
    """Return the ID of a position of backgammon; raise UsageError if there is none."""
    if position is None:
        raise click.UsageError("Missing argument 'XGID|POSITION'.")
    return position


def rollout_options(command: _Command) -> _Command:
    """Add `--rollout` and `--trials`, and call the command with `rollout`: games of a candidate at most, or None."""

    @functools.wraps(command)
    def run(*arguments: Any, rollout: bool, trials: int | None, **options: Any) -> None:
        if trials and not rollout:
            raise UserError("expected --trials with --rollout, got it without")
        command(*arguments, rollout=(trials or DEFAULT_TRIALS) if rollout else None, **options)

    decorated: Any = click.option(
        "--trials",
        metavar="N",
        type=click.IntRange(1, MAX_TRIALS),
        help="Number of games per candidate with --rollout, at most; rounded up to a multiple of 36.  "
        f"[default: {DEFAULT_TRIALS}]",
    )(run)
    help_text = "Roll out close decisions by the engine, which takes a second for each."
    return cast("_Command", click.option("--rollout", is_flag=True, help=help_text)(decorated))


def engine_name(option: str, name: str, plies: int | None = None, rollout: int | None = None) -> str:
    """Return the full name of the strategy that an option names, with plies and rollouts of `rollout` games at most.

    Raises UserError for plies or rollouts of another strategy than the engine.
    """
    parts = [] if plies is None else [str(plies)]
    if rollout is not None:
        parts += ["rollout"] if rollout == DEFAULT_TRIALS else ["rollout", f"trials={rollout}"]
    if not parts:
        return name
    if name != DEFAULT_STRATEGY:
        wanted = "--rollout" if plies is None else "--plies"
        raise UserError(f"expected {wanted} with the {option} {DEFAULT_STRATEGY}, got it with {name!r}")
    return f"{DEFAULT_STRATEGY}:{','.join(parts)}"


@frozen
class WorkerOptions:
    """The options that say who does work that is cut into pieces; see `worker_options`."""

    scheduler: str | None = None
    jobs: int | None = None
    tls: TlsFiles | None = None

    @contextlib.contextmanager
    def open_if_chosen(self) -> Iterator[WorkerPool | None]:
        """Open the workers if an option says which; else yield None, and the command starts what is worthwhile."""
        if self.scheduler or self.jobs:
            with self.open() as pool:
                yield pool
        else:
            yield None

    @contextlib.contextmanager
    def open(self) -> Iterator[WorkerPool]:
        """Open the workers. Raises what `work_errors` makes of a WorkError, also of one while they are used."""
        from fibsbot.workers.opening import open_pool  # noqa: PLC0415 - slow to import, and not needed for a help text

        with (
            work_errors(),
            open_pool(self.scheduler or None, jobs=self.jobs, tls=self.tls, report=_report_wait) as pool,
        ):
            yield pool


def _report_wait(text: str) -> None:
    """Print a line about a wait on stderr; a terminal shows the number of workers."""
    if not sys.stderr.isatty():
        click.echo(text, err=True)


def work_errors() -> contextlib.AbstractContextManager[None]:
    """Turn a WorkError into the error of the command line with its exit status."""
    return errors_as((MissingClusterError, ConfigError), (UnusableSchedulerError, UserError), (WorkError, RunError))


def tls_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a cluster's certificates to a command, which gets them as `tls: TlsFiles`."""

    @click.option("--tls-ca-file", type=_TLS_FILE, help="Certificate of the cluster's authority, a PEM file.")
    @click.option("--tls-cert", type=_TLS_FILE, help="Certificate for the cluster, a PEM file.")
    @click.option("--tls-key", type=_TLS_FILE, help="Key of this certificate, a PEM file.")
    @functools.wraps(command)
    def with_tls(
        *arguments: Any, tls_ca_file: Path | None, tls_cert: Path | None, tls_key: Path | None, **options: Any
    ) -> None:
        command(*arguments, tls=TlsFiles(tls_ca_file, tls_cert, tls_key), **options)

    return with_tls


def worker_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--scheduler`, `--jobs` and the TLS files to a command, which gets them as `workers: WorkerOptions`."""

    @click.option(
        "--scheduler",
        metavar="ADDRESS",
        envvar="DASK_SCHEDULER_ADDRESS",
        show_envvar=True,
        help="Use the workers of this Dask scheduler, such as tls://HOST:8786, instead of local processes.",
    )
    @click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1),
        help="Number of local processes, also where DASK_SCHEDULER_ADDRESS is set.  [default: one per core]",
    )
    @tls_options
    @functools.wraps(command)
    def with_workers(*arguments: Any, scheduler: str | None, jobs: int | None, tls: TlsFiles, **options: Any) -> None:
        if jobs and scheduler:
            source = click.get_current_context().get_parameter_source("scheduler")
            if source is ParameterSource.COMMANDLINE:
                raise UserError("expected --scheduler or --jobs, got both")
            scheduler = None
        command(*arguments, workers=WorkerOptions(scheduler, jobs, tls), **options)

    return with_workers


def option_text(parameter: click.Parameter) -> str:
    """Return how an option is typed: `--length`, or both forms of a switch, `--cube/--no-cube`."""
    return "/".join((parameter.opts[0], *parameter.secondary_opts))


def check_options_with_game(context: click.Context, allowed: frozenset[str]) -> None:
    """Raise UsageError if an option was typed that has no effect with `--game`; `allowed` names the others."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in allowed and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option_text(parameter)} does not apply to --game")


_LAWS_OPTIONS: Final = (
    click.option("--laws", type=click.Choice(list(LAWS)), help="Laws to play by.  [default: fibs]"),
    click.option("--point-game", is_flag=True, help="Score for each checker that the loser has left."),
    click.option(
        "--automatic",
        type=click.Choice(["double", "add-one"]),
        help="What a tie in the opening roll does to the cube.",
    ),
    click.option(
        "--limit", type=click.IntRange(2, MOST_LIMIT), metavar="N", help="Highest cube by ties and rejected rolls."
    ),
    click.option("--reject-first", is_flag=True, help="Allow to reject the first roll, which doubles the cube."),
    click.option("--no-triple", is_flag=True, help="Count a backgammon as a gammon."),
    click.option("--cube/--no-cube", default=True, help="Play with the doubling cube."),
)

LAWS_PARAMETERS: Final = frozenset({"laws", "point_game", "automatic", "limit", "reject_first", "no_triple", "cube"})
"""The names of the parameters that a command gets, as `laws_from` takes them."""


def laws_options(command: _Command) -> _Command:
    """Add the options; the command gets them as keywords, for `laws_from`."""
    for option in reversed(_LAWS_OPTIONS):
        command = option(command)
    return command


def laws_from(  # noqa: PLR0913 - one argument per option
    *,
    laws: str | None = None,
    point_game: bool = False,
    automatic: str | None = None,
    limit: int | None = None,
    reject_first: bool = False,
    no_triple: bool = False,
    cube: bool = True,
) -> Laws | None:
    """Return the laws that the options name; None if they change nothing of those of FIBS. Raises click.UsageError."""
    given = (("point", point_game), (automatic or "", automatic), ("reject", reject_first), ("no-triple", no_triple))
    words = [laws or FIBS.name, *(word for word, chosen in given if chosen), *([] if cube else ["no-cube"])]
    words += [LIMIT_WORD, str(limit)] if limit is not None else []
    try:
        named = parse_law_words(" ".join(words))
    except LawWordsError as error:
        raise click.UsageError(f"laws: {error}") from None
    return None if named == FIBS else named


def load_config_file(path: Path | None) -> Config:
    """Return the settings of a configuration file, or the defaults without one; raise ConfigError."""
    from fibsbot.config import Config, ConfigProblemsError  # noqa: PLC0415 - the settings of a whole bot
    from fibsbot.config.parser import load_config  # noqa: PLC0415
    from fibsbot.config.settings import format_problems  # noqa: PLC0415

    try:
        return load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(format_problems(path or Path(), error.problems)) from None


DEFAULT_PORT: Final = 4321
"""Port of a server that is named without one: that of FIBS, and of `fibsbot serve`."""


def server_address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, int] | None:
    """Return host and port of a server that an option names."""
    if value is None:
        return None
    host, colon, port = value.rpartition(":")
    if not colon or value.endswith("]"):
        host, port = value, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"expected HOST or HOST:PORT with a port from 1 to 65535, got {value!r}")
    return host.strip("[]"), int(port)


def configured_store(path: Path | None) -> str:
    """Return the location of the store by a configuration file, or by the defaults without one."""
    store = load_config_file(path).service.store
    if store is None:
        raise UserError(f"{path} keeps no store")
    return store


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Turn a StoreError into a UserError, or into a ConfigError if an extra is missing."""
    try:
        yield
    except Exception as error:
        store = sys.modules.get("fibsbot.records.store")  # SQLAlchemy is slow to import, and files need none
        if store and isinstance(error, store.StoreError):
            kind = ConfigError if isinstance(error, store.MissingPsycopgError) else UserError
            raise kind(str(error)) from None
        raise
