"""The options of commands that play by other laws than those of FIBS, declared once, and the laws that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from fibsbot.rules.law_words import LIMIT_WORD, MOST_LIMIT, LawWordsError, parse_law_words
from fibsbot.rules.laws import FIBS, LAWS, Laws

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS: Final = (
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


def laws_options(command: Command) -> Command:
    """Add the options; the command gets them as keywords, for `laws_from`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def laws_from(  # noqa: PLR0913 - one argument an option
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
