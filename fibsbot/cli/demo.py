"""`fibsbot demo` and `fibsbot soak`: bots on an embedded server, one match to watch or many to test.

The demo is the main job, also in other games than backgammon for two. GAMES lists the games: a function for each,
which plays with the options of the command.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from attrs import evolve, frozen
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fibsbot.arena import chouette, table_demo
from fibsbot.arena.chouette import ChouetteError
from fibsbot.arena.demo import Commentator, MatchDisplay
from fibsbot.arena.soak import QUICK_TIMINGS, Entrant, SoakReport, SoakSettings, play_pair, run
from fibsbot.arena.table_demo import TableDisplay
from fibsbot.cli import UserError
from fibsbot.cli.options import FOLDER, LAWS_PARAMETERS, FiniteRange, GameName, laws_from, laws_options, option_text
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.files import os_errors_as
from fibsbot.games import load_ruleset
from fibsbot.games.backgammons import is_backgammon
from fibsbot.log import LogLevel, configure_log
from fibsbot.policy import LONGEST_MATCH
from fibsbot.rules.chouette import FEWEST_PLAYERS, MOST_PLAYERS
from fibsbot.rules.laws import Laws
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY, PORTABLE, base_name
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, first_fault, load
from fibsbot.strategies.pool import close_strategy_in_time
from fibsbot.strategies.questions import DEFAULT_TABLE_STRATEGY, TablesOnlyStrategy
from fibsbot.strategies.table_games import TABLE_STRATEGIES, UnknownTableStrategyError, load_table_strategy

BOT, OPPONENT = "fibsbot", "opponent"
LENGTH, POINT_GAME_LENGTH = 3, 50
"""Default lengths of a match: a Point Game is worth 12 points on average."""
BACKGAMMON: Final = "backgammon"
T = TypeVar("T")


@frozen
class DemoOptions:
    """The options of the command."""

    game: str
    length: int | None
    seed: int | None
    strategy: str
    opponent_strategy: str | None
    """None: the usual one of the game."""
    pause: float
    log_dir: Path
    players: int
    games: int
    laws: Laws | None
    """Other laws than those of FIBS."""

    def strategies(self, usual: str) -> tuple[str, str]:
        """Return the names of the bot's strategy and of the opponents', by default the usual one."""
        return self.strategy, self.opponent_strategy or usual


@frozen
class DemoGame:
    """A game that can be shown."""

    play: Callable[[DemoOptions, Console], None]
    """Plays it."""
    options: frozenset[str]
    """The options that not every game has, and this one does."""


def _load(name: str) -> Strategy:
    """Make a strategy; raise UserError if it cannot be made."""
    try:
        return load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None


def _log_path(options: DemoOptions) -> Path:
    """Return the path of the session log, in a folder that exists; raise UserError if it cannot be made."""
    with os_errors_as(UserError, f"cannot make the folder {options.log_dir}"):
        options.log_dir.mkdir(parents=True, exist_ok=True)
    return options.log_dir / f"demo-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.jsonl"


@contextlib.contextmanager
def _closing(strategies: Iterable[Strategy]) -> Iterator[None]:
    """Close the strategies in the end."""
    try:
        yield
    finally:
        for strategy in strategies:
            close_strategy_in_time(strategy, type(strategy).__name__)


def _run(playing: Coroutine[Any, Any, T], log_path: Path) -> T:
    """Run the whole game; end the program after Ctrl-C."""
    try:
        return asyncio.run(playing)
    except KeyboardInterrupt:
        click.echo(f"\nInterrupted; the session so far is in {log_path}", err=True)
        sys.exit(130)


# -- backgammon -----------------------------------------------------------------------------------------------------


def _play_backgammon(options: DemoOptions, console: Console) -> None:
    """Play a match of backgammon between the bot and an opponent."""
    names = options.strategies(FALLBACK_STRATEGY)
    strategies = _load(names[0]), _load(names[1])
    log_path = _log_path(options)
    laws = options.laws
    length = options.length or (POINT_GAME_LENGTH if laws and laws.point_game else LENGTH)
    display = MatchDisplay(console, BOT)
    started = time.monotonic()
    with _closing(strategies):
        for name, strategy in zip(names, strategies, strict=True):
            if base_name(name) not in PORTABLE and (fault := first_fault(strategy)):
                raise UserError(f"strategy {name!r} does not work: {fault}")
        _run(_play(display, strategies, length, options.seed, options.pause, log_path, laws), log_path)
    sheet = display.sheet
    seconds = time.monotonic() - started
    if sheet.winner is None:
        raise UserError(f"the match was not finished; the session log {log_path} has the details")
    score = sheet.games[-1].score
    console.print(
        f"\n{sheet.winner} wins the match to {length}, {max(score)} to {min(score)}, after {seconds:.1f} s.\n"
    )
    console.print(sheet.table())
    console.print(
        f"\nThe session log is {log_path}.\n"
        f"`fibsbot replay {log_path}` shows the match again, `fibsbot report {log_path}` makes a page of it.",
        soft_wrap=True,
    )


async def _play(  # noqa: PLR0913, PLR0917 - what the command was given
    display: MatchDisplay,
    strategies: tuple[Strategy, Strategy],
    length: int,
    seed: int | None,
    pause: float,
    log_path: Path,
    laws: Laws | None,
) -> None:
    timings = evolve(QUICK_TIMINGS, pause=pause)
    async with Server(seed=seed, limits=SHORT_LIVED) as server:
        display.print(f"A server listens on {server.host}:{server.port}; {BOT} and {OPPONENT} log in.")
        bot = Entrant(BOT, strategies[0], Commentator(display, OPPONENT, leads=True), log_path)
        foe = Entrant(OPPONENT, strategies[1], Commentator(display, BOT, leads=False))
        with display:
            await play_pair(server, bot, foe, matches=1, length=length, timings=timings, laws=laws)


# -- chouette -------------------------------------------------------------------------------------------------------


def _play_chouette(options: DemoOptions, console: Console) -> None:
    """Play a chouette: the first player has the bot's strategy, the others have the opponent's."""
    bots, opponents = options.strategies(FALLBACK_STRATEGY)
    names = [bots, *(options.players - 1) * [opponents]]
    with contextlib.ExitStack() as stack:
        loaded: list[Strategy] = []
        stack.enter_context(_closing(loaded))
        loaded += [_load(name) for name in (FALLBACK_STRATEGY, *names)]
        pairs = [(strategy, loaded[0]) for strategy in loaded[1:]]
        log_path = _log_path(options)
        display = MatchDisplay(console, chouette.NAMES[0])
        try:
            sheet = _run(
                chouette.play(
                    display, pairs, games=options.games, seed=options.seed, pause=options.pause, log_path=log_path
                ),
                log_path,
            )
        except ExceptionGroup as group:
            failed = group.subgroup((ChouetteError, ConnectionFailedError))
            if failed is None:
                raise
            raise UserError(f"{failed.exceptions[0]}; the session log {log_path} has the details") from None
    console.print(sheet.table())
    console.print(
        f"\nThe session log of {chouette.NAMES[0]} is {log_path}. `fibsbot replay {log_path}` shows the games again.",
        soft_wrap=True,
    )


# -- other tables games ---------------------------------------------------------------------------------------------


def _play_table_game(options: DemoOptions, console: Console) -> None:
    """Play a match of a game of the family between the bot and an opponent."""
    log_path = _log_path(options)
    length = 1 if options.length is None else options.length
    display = TableDisplay(console, BOT, OPPONENT)
    players = options.strategies(DEFAULT_TABLE_STRATEGY)
    strategies = _table_player(players[0], options), _table_player(players[1], options)
    with _closing(strategies):
        with console.status("The players get ready; the very first time that takes a while."):
            for name, strategy in zip(players, strategies, strict=True):
                if fault := first_fault(strategy, [options.game]):
                    raise UserError(f"strategy {name!r} does not work: {fault}")
        playing = table_demo.play(
            display,
            strategies,
            game=options.game,
            length=length,
            seed=options.seed,
            pause=options.pause,
            log_path=log_path,
        )
        _run(playing, log_path)
    if display.winner is None:
        raise UserError(f"the match was not finished; the session log {log_path} has the details")
    high, low = sorted(display.score, reverse=True)
    console.print(f"\n{display.winner} wins the match to {length}, {high} to {low}.\n")
    console.print(display.sheet())
    console.print(f"\nThe session log is {log_path}. `fibsbot rules {options.game}` explains the game.", soft_wrap=True)


def _table_player(name: str, options: DemoOptions) -> Strategy:
    """Make a strategy for the game; where only the set-up differs, those for backgammon play it, too."""
    if base_name(name) not in TABLE_STRATEGIES and is_backgammon(load_ruleset(options.game)):
        return _load(name)
    try:
        return TablesOnlyStrategy(load_table_strategy(name, seed=options.seed))
    except UnknownTableStrategyError as error:
        raise UserError(str(error)) from None


# -- the command ----------------------------------------------------------------------------------------------------

GAMES: Final = {
    BACKGAMMON: DemoGame(_play_backgammon, LAWS_PARAMETERS | {"length", "strategy", "opponent_strategy"}),
    "chouette": DemoGame(_play_chouette, frozenset({"players", "games", "strategy", "opponent_strategy"})),
}
"""The games that are not of the family, by the name that `--game` takes."""
OF_THE_FAMILY: Final = DemoGame(_play_table_game, frozenset({"length", "strategy", "opponent_strategy"}))


class _AnyGame(GameName):
    """Any game, those that are not of the family, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        return str(value) if value in GAMES else super().convert(value, param, ctx)


@click.command()
@click.option(
    "--game",
    default=BACKGAMMON,
    show_default=True,
    type=_AnyGame(),
    help="Game to play and watch: backgammon, chouette or one that `fibsbot rules` lists.",
)
@click.option(
    "--length",
    type=click.IntRange(1, LONGEST_MATCH),
    help="Length of the match.  [default: 3; in the Point Game 50, in other games 1]",
)
@click.option(
    "--players",
    default=4,
    show_default=True,
    type=click.IntRange(FEWEST_PLAYERS, MOST_PLAYERS),
    help="Players of a chouette.",
)
@click.option("--games", default=2, show_default=True, type=click.IntRange(1, 99), help="Games of a chouette.")
@click.option("--seed", type=int, help="Random seed for the dice, to see the same match again.")
@click.option("--strategy", default=DEFAULT_STRATEGY, show_default=True, help="Strategy of the bot.")
@click.option(
    "--opponent-strategy",
    help=f"Strategy of its opponents.  [default: {FALLBACK_STRATEGY}; in other games {DEFAULT_TABLE_STRATEGY}]",
)
@click.option(
    "--pause", type=FiniteRange(0, 60), help="Seconds before each command.  [default: 0.15 in a terminal, else 0]"
)
@click.option("--log-dir", default="logs", show_default=True, type=FOLDER, help="Folder for the session log.")
@laws_options
@click.pass_context
def demo(context: click.Context, /, *, game: str, pause: float | None, **others: Any) -> None:
    """Play a whole match on an embedded server and watch it.

    Starts a server on 127.0.0.1, logs the bot and an opponent in over TCP, and draws the board as they play. At the end
    come the score sheet and the path of the session log.

    Other laws than those of FIBS are agreed on in the invitation, as with --laws 1931 --point-game.

    --game chouette plays some games with three to six players at one table, one of them in the box against the others.
    """
    chosen = GAMES.get(game, OF_THE_FAMILY)
    foreign = frozenset().union(*(one.options for one in GAMES.values())) - chosen.options
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in foreign and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UserError(f"{option_text(parameter)} does not apply to --game {game}")
    configure_log(level=LogLevel.WARNING)
    console = Console(highlight=False)
    if pause is None:
        pause = 0.15 if console.is_terminal else 0.0
    laws = laws_from(**{name: others.pop(name) for name in LAWS_PARAMETERS})
    chosen.play(DemoOptions(game=game, pause=pause, laws=laws, **others), console)


# -- soak --------------------------------------------------------------------------------------------------------------


@click.command()
@click.option("--matches", default=20, show_default=True, type=click.IntRange(1), help="Number of matches.")
@click.option(
    "--length",
    default=1,
    show_default=True,
    type=click.IntRange(1, LONGEST_MATCH),
    help="Match length in points.",
)
@click.option("--game", type=GameName(), help="Game to play, with options after colons.  [default: backgammon]")
@click.option("--seed", default=1, show_default=True, type=int, help="Random seed for the dice.")
@click.option("--pairs", default=1, show_default=True, type=click.IntRange(1, 500), help="Pairs that play at once.")
@click.option("--strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of one bot of each pair.")
@click.option("--opponent-strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of the other.")
@click.option("--log-dir", type=FOLDER, help="Write session logs into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def soak(  # noqa: PLR0913 - one argument per option
    *,
    matches: int,
    length: int,
    game: str | None,
    seed: int,
    pairs: int,
    strategy: str,
    opponent_strategy: str,
    log_dir: Path | None,
    as_json: bool,
) -> None:
    """Play many matches, bot against bot, and report failures.

    Everything happens on an embedded server in this process, over real TCP. With one pair, the same seed gives the same
    matches. The exit status is 1 unless every match was finished, no command was refused, and no agent's state ever
    differed from a board of the server.
    """
    configure_log(level=LogLevel.ERROR)
    try:
        if log_dir:
            log_dir.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys((strategy, opponent_strategy)):
            # What a game's first decision compiles is compiled now, where nobody waits for an answer.
            tried = load(name)
            with _closing([tried]):
                if fault := first_fault(tried, [game] if game else ()):
                    raise UserError(f"strategy {name!r} does not work: {fault}")
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot create the folder {log_dir}: {error.strerror}") from None

    def make_strategies(_: int) -> tuple[Strategy, Strategy]:
        return load(strategy), load(opponent_strategy)

    with Progress(
        TextColumn("matches"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=matches)
        settings = SoakSettings(matches, length, seed, pairs, log_dir=log_dir, game=game)
        report = asyncio.run(run(settings, make_strategies, lambda: progress.advance(task)))
    click.echo(json.dumps(report.as_dict()) if as_json else _format_report(report))
    sys.exit(0 if report.clean else 1)


def _format_report(report: SoakReport) -> str:
    """Return a report as text, one fact per line."""
    facts = {name: value for name, value in report.as_dict().items() if name not in {"examples", "clean"}}
    width = max(map(len, facts))
    lines = [f"{name.replace('_', ' '):{width}}  {value:>10}" for name, value in facts.items()]
    lines += ["", "Nothing went wrong." if report.clean else "Not everything went well:", *report.examples]
    return "\n".join(lines)
