"""`fibsbot table`: play against the bot in a browser."""

from __future__ import annotations

import signal
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import define

from fibsbot.cli import ConfigError, UserError
from fibsbot.cli.options import FOLDER, laws_from, laws_options
from fibsbot.early_signals import take_early_signals
from fibsbot.files import os_errors_as, replacing
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.rules.backgammon import is_backgammon

if TYPE_CHECKING:
    from fibsbot.table.bot_match import BotMatch

LEVELS: Final = {"casual": "pips", "club": "engine:0", "expert": "engine:1", "world": "engine:2"}
"""The strategy of each level; in other games than backgammon the engine looks as far ahead as it can there."""


@click.command()
@click.option("--game", default="backgammon", show_default=True, metavar="NAME", help="Game, see `fibsbot rules`.")
@click.option("--length", default=3, show_default=True, type=click.IntRange(0, 99), help="Points, 0: no end.")
@click.option(
    "--level", default="club", show_default=True, type=click.Choice(list(LEVELS)), help="Strength of the bot."
)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port.  [default: 8375 if it is free]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--output", default="matches", show_default=True, type=FOLDER, help="Folder for matches that are played.")
@laws_options
def table(game: str, length: int, level: str, port: int, output: Path, *, no_browser: bool, **named: Any) -> None:  # noqa: PLR0913
    """Play against the bot in a browser.

    No server, account or settings are needed. The address works on this machine only, until Ctrl-C. The match is
    written to a file as it is played, which `fibsbot report` opens.
    """
    laws = laws_from(**named)
    try:
        rules = load_ruleset(game)
    except UnknownGameError as error:
        raise UserError(str(error)) from None
    if laws and not is_backgammon(rules):
        raise UserError(f"expected no options of laws with --game {rules.name}, which is played by its own")
    import asyncio  # noqa: PLC0415 - slow to import

    from fibsbot.strategies.loader import load  # noqa: PLC0415 - as above
    from fibsbot.table.bot_match import BotMatch  # noqa: PLC0415

    match = BotMatch(rules, laws or rules.laws, length, ("you", f"{level} bot"), SystemRandom())
    path = output / f"{match.transcript.started:%Y%m%d-%H%M%S}-{rules.name}.json"
    with os_errors_as(UserError, f"cannot make the folder {output}"):
        output.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(_serve(match, load(LEVELS[level]), port, path, browse=not no_browser))
    except ModuleNotFoundError as error:
        raise ConfigError("the page needs aiohttp (pip install 'fibsbot[web]'), found none") from error
    except OSError as error:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {error.strerror or error}") from None


async def _serve(match: BotMatch, bot: Any, port: int, path: Path, *, browse: bool) -> None:
    import asyncio  # noqa: PLC0415 - see `table`
    import webbrowser  # noqa: PLC0415

    from fibsbot.table.hosts import BotHost  # noqa: PLC0415
    from fibsbot.table.page_server import PageServer  # noqa: PLC0415 - loads aiohttp

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    host, file = BotHost(match, bot), MatchFile(path)
    host.listen(lambda: file.write(match))
    server = PageServer(port)
    page = server.add(host)
    await server.start()
    try:
        await host.start()
        address = server.address(page)
        click.echo(f"{address}\nThe match is written to {path} as it is played; fibsbot report {path} opens it.")
        if browse and not take_early_signals():
            await asyncio.to_thread(webbrowser.open, address)
        await stop.wait()
    finally:
        await host.close()
        await server.close()


@define
class MatchFile:
    """The file of a match, written as it is played, so that whatever ends the program costs no more than a decision."""

    path: Path
    _entries: int = 0
    """What it has of the match."""

    def write(self, match: BotMatch) -> None:
        """Write what has been played since the last time."""
        from fibsbot.formats.transcript_json import write_json  # noqa: PLC0415 - loads cattrs

        transcript = match.transcript
        entries = sum(len(game.entries) for game in transcript.games)
        if entries == self._entries:
            return
        try:
            with replacing(self.path) as part:
                part.write_text(write_json(transcript), encoding="utf-8")
        except OSError as error:
            click.echo(f"cannot write the match to {self.path}: {error.strerror or error}", err=True)
        else:
            self._entries = entries
