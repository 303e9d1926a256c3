"""`fibsbot rules`: the rules of a game, or the list of all games."""

from __future__ import annotations

import click

from fibsbot.cli import UserError
from fibsbot.cli.games import read_ruleset
from fibsbot.drawing.backgammon_rules import PAGES
from fibsbot.drawing.rules_text import describe_page, describe_rules, list_games
from fibsbot.games import GAMES, unknown_game


@click.command()
@click.argument("game", metavar="GAME[:OPTION]", required=False)
def rules(game: str | None) -> None:
    """Print the rules of a game, or list the games.

    The rules come with the set-up, their source, what was read into it, and the options, which follow the name after
    colons, as in plakoto:exception. Without a game, each line has a name, a title and the options.
    """
    pages = {page.name: page for page in PAGES}
    if game is None:
        lines = list_games()
    elif game.lower() in pages:
        lines = describe_page(pages[game.lower()])
    elif game.lower().partition(":")[0] not in GAMES:
        raise UserError(str(unknown_game(game, *pages)))
    else:
        lines = describe_rules(read_ruleset(game))
    click.echo("\n".join(lines))
