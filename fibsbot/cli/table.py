"""`fibsbot table`: play against the bot in a browser or in the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import define

from fibsbot.cli import UserError
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
@click.option("--length", default=3, show_default=True, type=click.IntRange(1, 99), help="Points of the match.")
@click.option(
    "--level", default="club", show_default=True, type=click.Choice(list(LEVELS)), help="Strength of the bot."
)
@click.option("--terminal", is_flag=True, help="Play in this terminal.  [default: where there is no display]")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port of the page.  [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--output", default="matches", show_default=True, type=FOLDER, help="Folder for matches that are played.")
@laws_options
def table(  # noqa: PLR0913 - one for each option
    game: str, length: int, level: str, port: int, output: Path, *, terminal: bool, no_browser: bool, **named: Any
) -> None:
    """Play against the bot in a browser or in the terminal.

    No server, account or settings are needed. The address works on this machine only, until Ctrl-C. The match is
    written to a file as it is played, which `fibsbot report` opens.
    """
    laws = laws_from(**named)
    if terminal and (no_browser or port):
        raise UserError(f"expected --terminal without {'--no-browser' if no_browser else '--port'}")
    if terminal and (reason := _why_no_terminal()):
        raise UserError(f"expected a terminal to play in, but {reason}")
    terminal = terminal or not (no_browser or port or _has_display() or _why_no_terminal())
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
    if terminal:
        _play_in_terminal(match, partial(load, LEVELS[level]), path)
        return
    try:
        asyncio.run(_serve(match, load(LEVELS[level]), port, path, browse=not no_browser))
    except OSError as error:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {error.strerror or error}") from None


def _has_display() -> bool:
    """Return whether a browser could open a window here."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _why_no_terminal() -> str | None:
    """Return why the table cannot be drawn in this terminal; None if it can."""
    streams = {"standard input": sys.__stdin__, "standard output": sys.__stdout__, "standard error": sys.__stderr__}
    elsewhere = next((name for name, file in streams.items() if file is None or not file.isatty()), None)
    if elsewhere:
        return f"{elsewhere} is none"
    if os.environ.get("TERM", "dumb") == "dumb":
        return "TERM is 'dumb' or not set, so that nothing can be drawn"
    encoding = sys.__stderr__.encoding if sys.__stderr__ else ""
    return None if encoding.lower().replace("-", "") == "utf8" else f"its encoding is {encoding}, not UTF-8"


def _play_in_terminal(match: BotMatch, load: Callable[[], Any], path: Path) -> None:
    import asyncio  # noqa: PLC0415 - see `table`

    from fibsbot.strategies.loader import StrategyError  # noqa: PLC0415
    from fibsbot.table.hosts import LateBotHost  # noqa: PLC0415
    from fibsbot.table.terminal.app import TableApp  # noqa: PLC0415 - loads textual

    host = LateBotHost(match, load)
    app = TableApp(host, dark=not _is_light(os.environ.get("COLORFGBG", "")))
    file = MatchFile(path, app.warn)
    host.listen(lambda: file.write(match))
    app.run(loop=asyncio.new_event_loop())
    if isinstance(app.fault, StrategyError):
        raise UserError(str(app.fault))
    if app.fault is not None:
        raise app.fault
    if path.exists():
        click.echo(f"The match is in {path}; fibsbot report {path} opens it.")
    sys.stdout.flush()
    os._exit(app.return_code or 0)  # Python would wait for a bot that thinks or compiles


def _is_light(colours: str) -> bool:
    """Return whether a terminal says that its background is light: `0;15` is black on white."""
    return colours.rpartition(";")[2] in {"7", "15"}


async def _serve(match: BotMatch, bot: Any, port: int, path: Path, *, browse: bool) -> None:
    import asyncio  # noqa: PLC0415 - see `table`
    import webbrowser  # noqa: PLC0415

    from fibsbot.table.hosts import BotHost  # noqa: PLC0415
    from fibsbot.table.page_server import TablePage  # noqa: PLC0415 - loads aiohttp

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    host, file = BotHost(match, bot), MatchFile(path, partial(click.echo, err=True))
    host.listen(lambda: file.write(match))
    page = TablePage(host, port)
    await page.start()
    try:
        click.echo(f"{page.address}\nThe match is written to {path} as it is played; fibsbot report {path} opens it.")
        if browse and not take_early_signals():
            await asyncio.to_thread(webbrowser.open, page.address)
        await stop.wait()
    finally:
        await page.close()


@define
class MatchFile:
    """The file of a match, written as it is played, so that whatever ends the program costs no more than a decision."""

    path: Path
    warn: Callable[[str], object]
    """Called with a sentence if it cannot be written."""
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
            self.warn(f"cannot write the match to {self.path}: {error.strerror or error}")
        else:
            self._entries = entries
