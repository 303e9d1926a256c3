"""`fibsbot demo`: the main job, on an embedded server."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from attrs import evolve
from rich.console import Console

from fibsbot.arena.demo import Commentator, MatchDisplay
from fibsbot.arena.soak import QUICK_TIMINGS, Entrant, play_pair
from fibsbot.cli import UserError
from fibsbot.cli.laws_options import laws_from, laws_options
from fibsbot.cli.options import FiniteRange
from fibsbot.log import LogLevel, configure_log
from fibsbot.rules.laws import Laws
from fibsbot.server.server import Server
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load

BOT, OPPONENT = "fibsbot", "opponent"
LENGTH, POINT_GAME_LENGTH = 3, 50
"""Default lengths: a Point Game is worth 12 points on average."""


@click.command()
@click.option(
    "--length", type=click.IntRange(1, 99), help="Length of the match.  [default: 3, or 50 in the Point Game]"
)
@click.option("--seed", type=int, help="Random seed for the dice, to see the same match again.")
@click.option("--strategy", default=DEFAULT_STRATEGY, show_default=True, help="Strategy of the bot.")
@click.option("--opponent-strategy", default=FALLBACK_STRATEGY, show_default=True, help="Strategy of its opponent.")
@click.option(
    "--pause", type=FiniteRange(0, 60), help="Seconds before each command.  [default: 0.15 in a terminal, else 0]"
)
@click.option(
    "--log-dir",
    default="logs",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the session log.",
)
@laws_options
def demo(  # noqa: PLR0913 - one argument an option
    *,
    length: int | None,
    seed: int | None,
    strategy: str,
    opponent_strategy: str,
    pause: float | None,
    log_dir: Path,
    **named: Any,
) -> None:
    """Play a whole match on an embedded server and watch it.

    Starts a server on 127.0.0.1, logs the bot and an opponent in over TCP, and draws the board as they play. At the end
    come the score sheet and the path of the session log.

    Other laws than those of FIBS are agreed on in the invitation: --laws 1931 --point-game.
    """
    laws = laws_from(**named)
    if length is None:
        length = POINT_GAME_LENGTH if laws and laws.point_game else LENGTH
    configure_log(level=LogLevel.WARNING)
    console = Console(highlight=False)
    try:
        strategies = load(strategy), load(opponent_strategy)
        log_dir.mkdir(parents=True, exist_ok=True)
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot make the folder {log_dir}: {error.strerror}") from None
    if pause is None:
        pause = 0.15 if console.is_terminal else 0.0
    started = dt.datetime.now(dt.UTC)
    log_path = log_dir / f"demo-{started:%Y%m%d-%H%M%S}.jsonl"
    display = MatchDisplay(console, BOT)
    try:
        with closing(strategies[0]), closing(strategies[1]):
            asyncio.run(_play(display, strategies, length, seed, pause, log_path, laws))
    except KeyboardInterrupt:
        click.echo(f"\nInterrupted; what was said until then is in {log_path}", err=True)
        sys.exit(130)
    sheet = display.sheet
    seconds = (dt.datetime.now(dt.UTC) - started).total_seconds()
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
    async with Server(seed=seed) as server:
        display.print(f"A server listens on {server.host}:{server.port}; {BOT} and {OPPONENT} log in.")
        bot = Entrant(BOT, strategies[0], Commentator(display, OPPONENT, leads=True), log_path)
        foe = Entrant(OPPONENT, strategies[1], Commentator(display, BOT, leads=False))
        with display:
            await play_pair(server, bot, foe, matches=1, length=length, timings=timings, laws=laws)
