"""The games of `fibsbot demo`: played on an embedded server, and shown as they go on."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from attrs import evolve, frozen
from rich.console import Console

from fibsbot.arena.demo import Commentator, LiveDisplay, MatchDisplay
from fibsbot.arena.ruleset_demo import RulesetCommentator, RulesetDisplay
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
"""Default lengths of a match: a Point Game is worth 12 points on average."""
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


async def _play(  # noqa: PLR0913, PLR0917 - what is played, by whom and where it is shown
    display: LiveDisplay, heading: str, bot: Entrant, foe: Entrant, length: int, options: DemoOptions
) -> None:
    """Play one match between two bots on an embedded server, whose address completes the heading."""
    game = None if options.game == BACKGAMMON else options.game
    timings = evolve(QUICK_TIMINGS, pause=options.pause)
    async with Server(seed=options.seed, limits=SHORT_LIVED) as server:
        display.print(heading.format(f"{server.host}:{server.port}"))
        with display:
            await play_pair(server, bot, foe, matches=1, length=length, timings=timings, game=game, laws=options.laws)


# -- backgammon -----------------------------------------------------------------------------------------------------


def _play_backgammon(options: DemoOptions, console: Console) -> None:
    """Play a match of backgammon between the bot and an opponent."""
    names = options.strategies(FALLBACK_STRATEGY)
    strategies = load_player(names[0]), load_player(names[1])
    log_path = _log_path(options)
    laws = options.laws
    length = options.length or (POINT_GAME_LENGTH if laws and laws.point_game else LENGTH)
    display = MatchDisplay(console, BOT)
    started = time.monotonic()
    with closing_strategies(strategies):
        for name, strategy in zip(names, strategies, strict=True):
            if base_name(name) not in PORTABLE and (fault := first_fault(strategy)):
                raise UserError(f"strategy {name!r} does not work: {fault}")
        bot = Entrant(BOT, strategies[0], Commentator(display, OPPONENT, leads=True), log_path)
        foe = Entrant(OPPONENT, strategies[1], Commentator(display, BOT, leads=False))
        heading = f"A server listens on {{}}; {BOT} and {OPPONENT} log in."
        _run(_play(display, heading, bot, foe, length, options), log_path)
    sheet = display.sheet
    seconds = time.monotonic() - started
    if sheet.winner is None:
        raise UserError(f"the match was not finished; the session log {log_path} has the details")
    score = sheet.games[-1].score
    console.print(
        f"\n{sheet.winner} wins the match to {length}, {max(score)} to {min(score)}, after {seconds:.1f} s.\n"
    )
    console.print(sheet.table())
    program = typed_name()
    console.print(
        f"\nThe session log is {log_path}.\n"
        f"`{program} replay {log_path}` shows the match again, `{program} report {log_path}` makes a page of it.",
        soft_wrap=True,
    )


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
        f"\nThe session log of {chouette.NAMES[0]} is {log_path}. "
        f"`{typed_name()} replay {log_path}` shows the games again.",
        soft_wrap=True,
    )


# -- other tables games ---------------------------------------------------------------------------------------------


def _play_ruleset(options: DemoOptions, console: Console) -> None:
    """Play a match of a game of the family between the bot and an opponent."""
    log_path = _log_path(options)
    length = 1 if options.length is None else options.length
    display = RulesetDisplay(console, BOT, OPPONENT)
    players = options.strategies(DEFAULT_STRATEGY)
    strategies = _player(players[0], options), _player(players[1], options)
    with closing_strategies(strategies):
        with console.status("The players get ready; the very first time that takes a while."):
            for name, strategy in zip(players, strategies, strict=True):
                if fault := first_fault(strategy, [options.game]):
                    raise UserError(f"strategy {name!r} does not work: {fault}")
        bot = Entrant(BOT, strategies[0], RulesetCommentator(display, OPPONENT, leads=True), log_path)
        foe = Entrant(OPPONENT, strategies[1], RulesetCommentator(display, BOT, leads=False))
        heading = f"{load_ruleset(options.game).title}: a server listens on {{}}."
        _run(_play(display, heading, bot, foe, length, options), log_path)
    if display.winner is None:
        raise UserError(f"the match was not finished; the session log {log_path} has the details")
    high, low = sorted(display.score, reverse=True)
    console.print(f"\n{display.winner} wins the match to {length}, {high} to {low}.\n")
    console.print(display.sheet())
    console.print(
        f"\nThe session log is {log_path}. `{typed_name()} rules {options.game}` explains the game.", soft_wrap=True
    )


def _player(name: str, options: DemoOptions) -> Strategy:
    """Make a strategy that plays the game. Raises UserError for one that does not."""
    strategy = load_player(name)
    if not plays_game(strategy, load_ruleset(options.game)):
        raise UserError(
            f"expected a strategy that plays {options.game}, such as engine, pips, blots or random, got {name!r}"
        )
    if isinstance(strategy, Seeded) and options.seed is not None:
        strategy.reseed(str(options.seed))
    return strategy


# -- all games ------------------------------------------------------------------------------------------------------

_PLAY: Final[dict[str, Callable[[DemoOptions, Console], None]]] = {
    BACKGAMMON: _play_backgammon,
    CHOUETTE: _play_chouette,
}
"""What plays each game that is not of the family of tables games."""


def play(*, pause: float | None, **options: Any) -> None:
    """Play a game with the options of the command; without a pause people get a moment in a terminal."""
    console = Console(highlight=False)
    if pause is None:
        pause = 0.15 if console.is_terminal else 0.0
    chosen = DemoOptions(pause=pause, **options)
    _PLAY.get(chosen.game, _play_ruleset)(chosen, console)
