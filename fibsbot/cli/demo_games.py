"""The games of `fibsbot demo`: played on an embedded server, and shown as they go on."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import sys
import time
from collections.abc import Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
from attrs import evolve, frozen
from rich.console import Console

from fibsbot.arena.demo import Commentator, Display
from fibsbot.arena.match_board import BackgammonBoard, RulesetBoard
from fibsbot.arena.score_sheet import ScoreSheet
from fibsbot.arena.soak import QUICK_TIMINGS, Entrant, play_pair
from fibsbot.chouette import demo as chouette
from fibsbot.chouette.demo import ChouetteError
from fibsbot.cli import UserError
from fibsbot.cli.options import BACKGAMMON, CHOUETTE
from fibsbot.cli.output import typed_name
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.files import os_errors_as
from fibsbot.games import load_ruleset
from fibsbot.rules.laws import Laws
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY, PORTABLE, base_name
from fibsbot.strategies.base import Strategy, plays_game
from fibsbot.strategies.loader import Seeded, StrategyError, first_fault, load
from fibsbot.strategies.pool import close_strategy_in_time

BOT, OPPONENT = "fibsbot", "opponent"
LENGTH, POINT_GAME_LENGTH = 3, 50
"""Default lengths of a match of backgammon: a Point Game is worth 12 points on average."""
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

    @property
    def match_length(self) -> int:
        """The length of the match, by default that of the game."""
        if self.length is not None:
            return self.length
        if self.game != BACKGAMMON:
            return 1
        return POINT_GAME_LENGTH if self.laws and self.laws.point_game else LENGTH

    def strategies(self, usual: str) -> tuple[str, str]:
        """Return the names of the bot's strategy and of the opponents', by default the usual one."""
        return self.strategy, self.opponent_strategy or usual


def load_player(name: str) -> Strategy:
    """Make a strategy; raise UserError if it cannot be made."""
    try:
        return load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None


def _log_path(options: DemoOptions) -> Path:
    """Return the path of the session log, in a folder that exists; raise UserError if it cannot be made."""
    with os_errors_as(UserError, f"cannot make the folder {options.log_dir}"):
        options.log_dir.mkdir(mode=0o755, parents=True, exist_ok=True)  # not writable for others, whatever the umask
    return options.log_dir / f"demo-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.jsonl"


@contextlib.contextmanager
def closing_strategies(strategies: Iterable[Strategy]) -> Iterator[None]:
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


# -- matches --------------------------------------------------------------------------------------------------------


def _play_match(options: DemoOptions, console: Console) -> None:
    """Play a match between the bot and an opponent."""
    is_backgammon = options.game == BACKGAMMON
    names = options.strategies(FALLBACK_STRATEGY if is_backgammon else DEFAULT_STRATEGY)
    strategies = _player(names[0], options), _player(names[1], options)
    log_path = _log_path(options)
    board = (BackgammonBoard if is_backgammon else RulesetBoard)(BOT, OPPONENT)
    display, sheet = Display(console, board), ScoreSheet(BOT, OPPONENT)
    started = time.monotonic()
    with closing_strategies(strategies):
        _try_out(names, strategies, options.game, console)
        bot = Entrant(BOT, strategies[0], Commentator(display, sheet, leads=True), log_path)
        foe = Entrant(OPPONENT, strategies[1], Commentator(display, sheet, leads=False))
        _run(_play(display, bot, foe, options), log_path)
    if sheet.winner is None:
        raise UserError(f"the match was not finished; the session log {log_path} has the details")
    high, low = sorted(sheet.games[-1].score, reverse=True)
    duration = f", after {time.monotonic() - started:.1f} s" if is_backgammon else ""
    console.print(f"\n{sheet.winner} wins the match to {options.match_length}, {high} to {low}{duration}.\n")
    console.print(sheet.table(board.columns))
    program = typed_name()
    more = (
        f"\n`{program} replay {log_path}` shows the match again, `{program} report {log_path}` makes a page of it."
        if is_backgammon
        else f" `{program} rules {options.game}` explains the game."
    )
    console.print(f"\nThe session log is {log_path}.{more}", soft_wrap=True)


async def _play(display: Display, bot: Entrant, foe: Entrant, options: DemoOptions) -> None:
    """Play one match between two bots on an embedded server."""
    game = None if options.game == BACKGAMMON else options.game
    timings = evolve(QUICK_TIMINGS, pause=options.pause)
    async with Server(seed=options.seed, limits=SHORT_LIVED) as server:
        address = f"{server.host}:{server.port}"
        if game is None:
            display.print(f"A server listens on {address}; {BOT} and {OPPONENT} log in.")
        else:
            display.print(f"{load_ruleset(game).title}: a server listens on {address}.")
        length = options.match_length
        with display:
            await play_pair(server, bot, foe, matches=1, length=length, timings=timings, game=game, laws=options.laws)


def _player(name: str, options: DemoOptions) -> Strategy:
    """Make a strategy that plays the game. Raises UserError for one that does not."""
    strategy = load_player(name)
    if options.game == BACKGAMMON:
        return strategy
    if not plays_game(strategy, load_ruleset(options.game)):
        raise UserError(
            f"expected a strategy that plays {options.game}, such as engine, pips, blots or random, got {name!r}"
        )
    if isinstance(strategy, Seeded) and options.seed is not None:
        strategy.reseed(str(options.seed))
    return strategy


def _try_out(names: tuple[str, str], strategies: tuple[Strategy, Strategy], game: str, console: Console) -> None:
    """Ask the strategies some questions. Raises UserError for one that does not work."""
    games = [] if game == BACKGAMMON else [game]
    with console.status("The players get ready; the very first time that takes a while."):
        for name, strategy in zip(names, strategies, strict=True):
            if not games and base_name(name) in PORTABLE:
                continue  # ours play backgammon, and are to start at once
            if fault := first_fault(strategy, games):
                raise UserError(f"strategy {name!r} does not work: {fault}")


# -- chouette -------------------------------------------------------------------------------------------------------


def _play_chouette(options: DemoOptions, console: Console) -> None:
    """Play a chouette: the first player has the bot's strategy, the others have the opponent's."""
    bots, opponents = options.strategies(FALLBACK_STRATEGY)
    names = [bots, *(options.players - 1) * [opponents]]
    with contextlib.ExitStack() as stack:
        loaded: list[Strategy] = []
        stack.enter_context(closing_strategies(loaded))
        loaded += [load_player(name) for name in (FALLBACK_STRATEGY, *names)]
        pairs = [(strategy, loaded[0]) for strategy in loaded[1:]]
        log_path = _log_path(options)
        display = Display(console, BackgammonBoard(chouette.NAMES[0], ""))
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
        f"\nThe session log of {chouette.NAMES[0]} is {log_path}. "
        f"`{typed_name()} replay {log_path}` shows the games again.",
        soft_wrap=True,
    )


# -- all games ------------------------------------------------------------------------------------------------------


def play(*, pause: float | None, **options: Any) -> None:
    """Play a game with the options of the command; without a pause people get a moment in a terminal."""
    console = Console(highlight=False)
    if pause is None:
        pause = 0.15 if console.is_terminal else 0.0
    chosen = DemoOptions(pause=pause, **options)
    (_play_chouette if chosen.game == CHOUETTE else _play_match)(chosen, console)
