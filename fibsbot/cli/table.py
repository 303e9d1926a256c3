"""`fibsbot table`: play against the bot in a browser or in the terminal, or on a server."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import define, evolve

from fibsbot.cli import UserError
from fibsbot.cli.options import DEFAULT_PORT, FOLDER, AccountName, laws_from, laws_options, server_address
from fibsbot.early_signals import take_early_signals
from fibsbot.files import os_errors_as, replacing
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.rules.backgammon import is_backgammon

if TYPE_CHECKING:
    from fibsbot.rules.laws import Laws
    from fibsbot.rules.ruleset import Ruleset
    from fibsbot.rules.state import GameState
    from fibsbot.table.bot_match import BotMatch
    from fibsbot.transcript import Game

LEVELS: Final = {"casual": "pips", "club": "engine:0", "expert": "engine:1", "world": "engine:2"}
"""The strategy of each level; in other games than backgammon the engine looks as far ahead as it can there."""
PATIENCE: Final = 2.0
"""Seconds that the board waits for the bot, which is loaded by then unless it has to be compiled."""


@click.command()
@click.option("--game", default="backgammon", show_default=True, metavar="NAME", help="Game, see `fibsbot rules`.")
@click.option("--length", default=3, show_default=True, type=click.IntRange(0, 99), help="Points, 0: no end.")
@click.option(
    "--level", default="club", show_default=True, type=click.Choice(list(LEVELS)), help="Strength of the bot."
)
@click.option(
    "--position",
    metavar="ID",
    help="Play on from an XGID, a GNUbg ID, or both rows of a board with ` / ` between them, yours first.",
)
@click.option("--terminal", is_flag=True, help="Play in this terminal.  [default: where there is no display]")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port.  [default: 8375 if it is free]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--output", default="matches", show_default=True, type=FOLDER, help="Folder for matches that are played.")
@click.option(
    "--server",
    metavar="HOST[:PORT]",
    callback=server_address,
    help=f"Play on a server instead, such as fibs.com.  [default port: {DEFAULT_PORT}]",
)
@click.option("--user", metavar="NAME", type=AccountName(), help="Your name on the server.")
@click.option("--register", is_flag=True, help="Create the account on the server if it has none of this name.")
@click.option("--keyring", metavar="SERVICE", help="Take the password from this machine's keyring.")
@click.option(
    "--store", default="fibsbot.db", show_default=True, metavar="PLACE", help="Match store for matches on a server."
)
@laws_options
def table(  # noqa: PLR0913 - one argument per option
    *,
    game: str,
    length: int,
    level: str,
    position: str | None,
    terminal: bool,
    port: int,
    output: Path,
    server: tuple[str, int] | None,
    user: str | None,
    keyring: str | None,
    store: str,
    register: bool,
    no_browser: bool,
    **named: Any,
) -> None:
    """Play against the bot in a browser or in the terminal, or on a server.

    Against the bot no server, account or settings are needed. The address works on this machine only, until Ctrl-C.
    The match is written to a file as it is played, which `fibsbot report` opens. With --position the ID says the score
    and the length of the match.

    With --server you log in as a person to FIBS or a server that speaks its protocol, in either face. The password is
    asked for here, or taken from $FIBSBOT_PASSWORD or the keyring; it is sent once and kept nowhere.
    """
    in_terminal = _is_for_terminal(asked=terminal, page=bool(no_browser or port))
    if server is not None or user is not None:
        if server is None or user is None:
            raise click.UsageError("--server and --user belong together")
        page = None if in_terminal else {"port": port, "browse": not no_browser}
        _play_on_server(page, server, user, keyring, store, output, register=register)
        return
    laws = laws_from(**named)
    try:
        rules = load_ruleset(game)
    except UnknownGameError as error:
        raise UserError(str(error)) from None
    if laws and not is_backgammon(rules):
        raise UserError(f"expected no options of laws with --game {rules.name}, which is played by its own")
    import asyncio  # noqa: PLC0415 - slow to import

    from fibsbot.strategies.loader import StrategyError, load  # noqa: PLC0415 - as above
    from fibsbot.table.bot_match import BotMatch  # noqa: PLC0415

    start = None if position is None else _start_at(position, rules, laws or rules.laws)
    match = BotMatch(rules, laws or rules.laws, length, ("you", f"{level} bot"), SystemRandom(), start)
    path = path_of(match, output)
    with os_errors_as(UserError, f"cannot make the folder {output}"):
        output.mkdir(parents=True, exist_ok=True)
    if in_terminal:
        _play_in_terminal(match, partial(load, LEVELS[level]), path)
        return
    try:
        asyncio.run(_serve(match, partial(load, LEVELS[level]), port, path, browse=not no_browser))
    except StrategyError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {error.strerror or error}") from None


def _start_at(position: str, rules: Ruleset, laws: Laws) -> GameState:
    from fibsbot.table.set_up import SetUpError, read_position  # noqa: PLC0415 - seldom needed

    try:
        return read_position(position, rules, laws)
    except SetUpError as error:
        raise UserError(f"--position: {error}") from None


def path_of(match: BotMatch, folder: Path) -> Path:
    """Return the file of a match, which does not exist yet, in a folder."""
    name = f"{match.transcript.started:%Y%m%d-%H%M%S}-{match.state.rules.name}"
    paths = (folder / f"{name}{'' if number == 1 else f'-{number}'}.json" for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


def _play_on_server(show_page: dict[str, Any] | None, *arguments: Any, **options: Any) -> None:
    """Play on a server in the browser, by options of the page, or in the terminal if there are none."""
    from fibsbot.cli import server_table  # noqa: PLC0415 - the client, which no help needs

    if show_page is None:
        show = partial(server_table.in_terminal, dark=_is_dark())
    else:
        show = partial(server_table.in_browser, **show_page)
    server_table.play_on_server(show, *arguments, **options)


def _is_for_terminal(*, asked: bool, page: bool) -> bool:
    """Return whether to play in the terminal: if asked for, or where no browser could open the page."""
    reason = _why_no_terminal()
    if asked and page:
        raise UserError("expected --terminal without --no-browser and --port, which are about the page")
    if asked and reason:
        raise UserError(f"expected a terminal to play in, but {reason}")
    return asked or not (page or reason or _has_display())


def _has_display() -> bool:
    """Return whether a browser could open a window here."""
    return not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _why_no_terminal() -> str | None:
    """Return why the table cannot be drawn in this terminal; None if it can."""
    streams = {"standard input": sys.__stdin__, "standard output": sys.__stdout__, "standard error": sys.__stderr__}
    elsewhere = next((name for name, file in streams.items() if file is None or file.closed or not file.isatty()), None)
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
    app = TableApp(host, dark=_is_dark(), report_file=lambda: file.path.with_suffix(".html"))
    file = MatchFile(path, app.warn)
    host.listen(lambda: file.write(host.match))
    app.run(loop=asyncio.new_event_loop())
    if isinstance(app.fault, StrategyError):
        raise UserError(str(app.fault))
    if app.fault is not None:
        raise app.fault
    if file.path.exists():
        click.echo(f"The match is in {file.path}; fibsbot report {file.path} makes a page of it.")
    sys.stdout.flush()
    os._exit(app.return_code or 0)  # Python would wait for a bot that thinks or compiles


def _is_dark() -> bool:
    """Return whether the terminal does not say that its background is light: `0;15` is black on white."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] not in {"7", "15"}


async def _serve(match: BotMatch, load: Callable[[], Any], port: int, path: Path, *, browse: bool) -> None:
    """Serve the page until a signal; the board is there even if the very first start of the bot compiles for long."""
    import asyncio  # noqa: PLC0415 - see `table`
    import webbrowser  # noqa: PLC0415

    from fibsbot.table.hosts import LateBotHost  # noqa: PLC0415
    from fibsbot.table.page_server import PageServer  # noqa: PLC0415 - loads aiohttp

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    host, file = LateBotHost(match, load), MatchFile(path, partial(click.echo, err=True))
    host.listen(lambda: file.write(host.match))
    server = PageServer(port)
    page = server.add(host)
    await server.start()
    starting, stopping = asyncio.create_task(host.start()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
        address = server.address(page)
        click.echo(
            f"{address}\nThe match is written to {path} as it is played; fibsbot report {path} makes a page of it."
        )
        if browse and not take_early_signals():
            await asyncio.to_thread(webbrowser.open, address)
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
        await stopping
    finally:
        await host.close()
        await server.close()
    if not starting.done():
        sys.stdout.flush()
        os._exit(0)  # Python would wait for a bot that compiles


@define
class MatchFile:
    """The file of a match, written as it is played, so that whatever ends the program costs no more than a decision."""

    path: Path
    warn: Callable[[str], object]
    """Called with a sentence if it cannot be written."""
    _match: BotMatch | None = None
    _games: tuple[Game, ...] = ()
    """What it has of the match."""

    def write(self, match: BotMatch) -> None:
        """Write what has been played, or taken back, since the last time; another match gets another file."""
        from fibsbot.formats.transcript_json import write_json  # noqa: PLC0415 - loads cattrs

        transcript = match.transcript
        if match is not self._match and self._match is not None:
            self.path = path_of(match, self.path.parent)
        if match is not self._match:
            self._match, self._games = match, (evolve(transcript.games[0], entries=()),)
        if transcript.games == self._games:
            return
        try:
            with replacing(self.path) as part:
                part.write_text(write_json(transcript), encoding="utf-8")
        except OSError as error:
            self.warn(f"cannot write the match to {self.path}: {error.strerror or error}")
        else:
            self._games = transcript.games
