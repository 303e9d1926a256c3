"""`fibsbot perft`: count the positions that the rules can reach, by all cores or a cluster."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from itertools import islice
from typing import Final

import click
from click.core import ParameterSource

from fibsbot.cli import UserError
from fibsbot.cli.options import WorkerOptions, game_option, worker_options
from fibsbot.cli.output import progress_bar
from fibsbot.rules.plays import PERFT_START, Cells, PerftCount, PositionCounts, perft_count, perft_level
from fibsbot.workers.pool import Piece, WorkerPool

MAX_DEPTH: Final = 3
"""At depth 4 there would be some 65 thousand million positions to count."""
CHUNK: Final = 250
"""Positions that a worker counts at a time."""


@click.command()
@click.argument("position", metavar="[POSITION]", required=False)
@game_option
@click.option("--depth", type=click.IntRange(1, MAX_DEPTH), default=2, show_default=True, help="Rolls to look ahead.")
@worker_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def perft(position: str | None, game: str | None, depth: int, workers: WorkerOptions, *, as_json: bool) -> None:
    """Count the positions that the rules can reach.

    From the opening position, over all 21 rolls and their plays. Equal positions count as often as they are reached,
    and a roll that leaves no play counts one. Depth 3 keeps all cores, or a cluster, busy for a minute or two.

    With --game from POSITION, or the set-up of the game, in one process; of a turn in parts only the first is played.
    """
    if game:
        from fibsbot.cli import games  # noqa: PLC0415 - backgammon does not need it

        source = click.get_current_context().get_parameter_source("scheduler")
        chosen = "--jobs" if workers.jobs else "--scheduler" if source is ParameterSource.COMMANDLINE else None
        if chosen:
            raise UserError(f"expected {chosen} without --game, got both")
        games.print_perft(games.read_game(game, position, None), depth, as_json=as_json)
        return
    if position is not None:
        raise UserError(f"expected --game with a position, got {position!r} without")
    if not as_json:
        click.echo("depth      positions  without a play  seconds")
    reached = PERFT_START
    for level in range(1, depth + 1):
        start = time.monotonic()
        if level == MAX_DEPTH or (level == depth and (workers.jobs or workers.scheduler)):
            with workers.open() as pool:
                count = count_with(pool, reached)
        else:
            count = perft_count(reached.items())
            if level < depth:
                reached = perft_level(reached)
        seconds = time.monotonic() - start
        if as_json:
            row = {"depth": level, "positions": count.positions, "without_play": count.without_play}
            click.echo(json.dumps(row | {"seconds": round(seconds, 3)}))
        else:
            click.echo(f"{level:5} {count.positions:14,} {count.without_play:15,} {seconds:8.1f}")


def count_with(pool: WorkerPool, reached: PositionCounts) -> PerftCount:
    """Have workers count what one more roll leads to, with a progress bar on a terminal."""
    left = iter(reached.items())
    chunks = list(iter(lambda: list(islice(left, CHUNK)), []))
    pieces = (Piece(f"positions from {CHUNK * number + 1}", chunk) for number, chunk in enumerate(chunks))
    count = PerftCount(0, 0)
    with (
        progress_bar("counting") as show,
        contextlib.closing(pool.run(count_chunk, pieces, ordered=False, on_progress=show.follow)) as counted,
    ):
        for done, (_, part) in enumerate(counted, 1):
            count += part
            show(done, len(chunks))
    return count


def count_chunk(_: None, chunk: Iterable[tuple[Cells, int]]) -> PerftCount:
    """Count in a worker."""
    return perft_count(chunk)
