"""`fibsbot demo` and `fibsbot soak`: bots on an embedded server, one match to watch or many to test.

The demo is the main job, also in other games than backgammon for two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from fibsbot.chouette import FEWEST_PLAYERS, MOST_PLAYERS
from fibsbot.cli import UserError
from fibsbot.cli.options import (
    BACKGAMMON,
    CHOUETTE,
    FOLDER,
    LAWS_PARAMETERS,
    FiniteRange,
    GameName,
    laws_from,
    laws_options,
    option_text,
)
from fibsbot.log import LogLevel, configure_log
from fibsbot.match import LONGEST_MATCH
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY

_OPTIONS: Final = {
    BACKGAMMON: LAWS_PARAMETERS | {"length", "strategy", "opponent_strategy"},
    CHOUETTE: frozenset({"players", "games", "strategy", "opponent_strategy"}),
}
"""The options that not every game has, for the games that are not of the family of tables games."""
_OPTIONS_OF_OTHERS: Final = frozenset({"length", "strategy", "opponent_strategy"})
"""The same for those of the family."""


class _AnyGame(GameName):
    """Any game, those that are not of the family, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with what was expected."""
        return str(value) if value in _OPTIONS else super().convert(value, param, ctx)


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
    help=f"Strategy of its opponents.  [default: {FALLBACK_STRATEGY}; in other games {DEFAULT_STRATEGY}]",
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
    foreign = frozenset().union(*_OPTIONS.values()) - _OPTIONS.get(game, _OPTIONS_OF_OTHERS)
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in foreign and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UserError(f"{option_text(parameter)} does not apply to --game {game}")
    configure_log(level=LogLevel.WARNING)
    laws = laws_from(**{name: others.pop(name) for name in LAWS_PARAMETERS})
    from fibsbot.cli import demo_games  # noqa: PLC0415 - server and bots, which no help text needs

    demo_games.play(game=game, pause=pause, laws=laws, **others)


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
    from fibsbot.arena.soak import SoakSettings  # noqa: PLC0415 - see `demo`
    from fibsbot.cli.soak_matches import play_matches  # noqa: PLC0415

    settings = SoakSettings(matches, length, seed, pairs, log_dir=log_dir, game=game)
    play_matches(settings, (strategy, opponent_strategy), as_json=as_json)
