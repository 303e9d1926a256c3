"""`fibsbot ubgi`: ours as an engine for programs that speak UBGI."""

from __future__ import annotations

import sys
from functools import partial

import click

from fibsbot.cli.engines import loaded, strategy_option
from fibsbot.external.ubgi import UbgiEngine, serve
from fibsbot.log import LogFormat, LogLevel, configure


@click.command()
@strategy_option
@click.option("--verbose", is_flag=True, help="Tell on stderr why a line is answered by sorry.")
def ubgi(strategy: str | None, *, verbose: bool) -> None:
    """Be an engine that speaks UBGI on stdin and stdout.

    UBGI is the Universal Backgammon Interface, draft 0.01: after `ubgi` every XGID and every raw board of FIBS is
    answered by a play, roll, double, take or drop, and what is not understood by sorry. `quit` ends it.
    """
    configure(LogFormat.CONSOLE, LogLevel.INFO if verbose else LogLevel.WARNING)
    engine = UbgiEngine(partial(loaded, strategy))
    try:
        serve(engine, sys.stdin.buffer, sys.stdout.buffer)
    finally:
        engine.close()
