"""What the commands share that make our strategies an engine for others."""

from __future__ import annotations

from collections.abc import Sequence

import click

from fibsbot.cli import UserError
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.names import DEFAULT, FALLBACK

strategy_option = click.option(
    "--strategy", metavar="NAME", help="Who decides; without it, who does so for `fibsbot play`."
)


def loaded(name: str | None) -> Sequence[Strategy]:
    """Return the strategy of this name, or the default one, and who decides where it fails.

    Raises UserError where it cannot be made.
    """
    chosen = name or DEFAULT
    try:
        return [load(it) for it in dict.fromkeys((chosen, FALLBACK))]
    except StrategyError as error:
        raise UserError(str(error)) from None
