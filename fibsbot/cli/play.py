"""`fibsbot play`: connect to a server and play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click
from attrs import evolve

from fibsbot.cli import UserError
from fibsbot.cli.options import (
    DEFAULT_PORT,
    FOLDER,
    AccountName,
    FiniteRange,
    PlayerName,
    load_config_file,
    server_address,
)
from fibsbot.config import Config, UnknownAccountError
from fibsbot.config.settings import DEFAULT_VARIABLE, AccountConfig
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.policy import CHOUETTE, Lengths
from fibsbot.policy.policy import ANY_GAME, full_game_name, is_game


def _games(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    wrong = [name for name in names if name not in (ANY_GAME, CHOUETTE) and not is_game(name)]
    if wrong:
        raise click.BadParameter(f"expected games such as plakoto,{CHOUETTE} or {ANY_GAME}, got {wrong[0]!r}")
    return tuple(map(full_game_name, names))


OVERRIDES: Final = {
    "register": ("server", "register"),
    "invite": ("bot", "invite"),
    "length": ("bot", "invite_length"),
    "strategy": ("bot", "strategy"),
    "matches": ("bot", "matches"),
    "deadline": ("timing", "deadline"),
    "pause": ("timing", "pause"),
    "log_dir": ("log", "directory"),
    "log_format": ("log", "format"),
}
"""Options that override a setting: its section and name."""


def _override_option(name: str, about: str, kind: Any = None) -> Callable[[Any], Any]:
    """Return an option that overrides a setting, and shows the setting's default."""
    section, setting = OVERRIDES[name.removeprefix("--").replace("-", "_")]
    default = getattr(getattr(Config(), section), setting)
    shown = str(getattr(default, "value", default)) if default is not None else False
    return click.option(name, type=kind, show_default=shown, help=about)


@click.command()
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=lambda _ctx, _param, path: path and load_config_file(path),
    help="Configuration file (see config/fibsbot.toml); options override it.",
)
@click.option(
    "--server",
    metavar="HOST[:PORT]",
    callback=server_address,
    help=f"Server to connect to.  [default port: {DEFAULT_PORT}]",
)
@click.option("--account", "account_name", metavar="NAME", type=AccountName(), help="Name of the account.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    help=f"File whose first line is the password.  [default: the configuration file's, or ${DEFAULT_VARIABLE}]",
)
@click.option("--register", is_flag=True, default=None, help="Create the account if the server has none of this name.")
@click.option("--invite", metavar="NAME", type=PlayerName(), help="Player to invite whenever no match is on.")
@_override_option("--length", "Length of the matches to invite to.", click.IntRange(1, 99))
@click.option(
    "--max-length",
    show_default=str(Lengths().ranges[-1][1]),
    type=click.IntRange(1, 99),
    help="Longest match to accept.",
)
@click.option(
    "--games",
    metavar="NAMES",
    callback=_games,
    help="Games to accept besides backgammon, such as plakoto,chouette, or any. The bot tells the server that it knows "
    "them ('set games on'); only `fibsbot serve` has them.  [default: none, or policy.games of the file]",
)
@_override_option("--strategy", "Strategy that plays.")
@click.option("--matches", type=click.IntRange(1), metavar="N", help="Log out after N matches.")
@_override_option("--deadline", "Time limit for a decision, in seconds.", FiniteRange(0, min_open=True))
@_override_option("--pause", "Minimum seconds between two commands.", FiniteRange(0))
@_override_option("--log-dir", "Folder for session logs.", FOLDER)
@_override_option(
    "--log-format", "Format of the program's own log on stderr.", click.Choice([form.value for form in LogFormat])
)
@click.option("-v", "--verbose", is_flag=True, help="Log every line sent (<<) and received (>>).")
def play(  # noqa: PLR0913 - one argument per option
    config: Config | None,
    server: tuple[str, int] | None,
    account_name: str | None,
    password_file: Path | None,
    *,
    max_length: int | None,
    games: tuple[str, ...] | None,
    verbose: bool,
    **options: Any,
) -> None:
    """Connect to a server and play.

    The sections [service] and [[notify]] of a configuration file have no effect here: the store, the web pages, the
    control socket and notices belong to `fibsbot run`.

    Ctrl-C finishes the match and logs out; a second Ctrl-C logs out at once, and the server saves the match.
    """
    if server is None and config is None:
        raise click.UsageError("Missing option '--server'.")
    account = _account(config or Config(), account_name)
    if password_file:
        account = evolve(account, password_file=password_file)
    chosen = _with_overrides((config or Config()).for_account(account), options)
    if server:
        chosen = evolve(chosen, server=evolve(chosen.server, host=server[0], port=server[1]))
    if max_length:
        chosen = evolve(chosen, policy=evolve(chosen.policy, lengths=_limit_lengths(chosen.policy.lengths, max_length)))
    if games is not None:
        chosen = evolve(chosen, policy=evolve(chosen.policy, games=games))
    configure_log(chosen.log.format, LogLevel.DEBUG if verbose else chosen.log.level)
    from fibsbot.cli.play_session import play_account  # noqa: PLC0415 - the whole agent, which no help text needs

    play_account(chosen)


def _account(config: Config, name: str | None) -> AccountConfig:
    """Return the account that plays: the only one, whatever its name, or the one with this name."""
    try:
        account = config.account_called(name) if len(config.accounts) > 1 else [*config.accounts, AccountConfig()][0]
    except UnknownAccountError as error:
        raise UserError(f"--account: {error}") from None
    if name is None and account.name is None:
        raise click.UsageError("Missing option '--account'.")
    return evolve(account, name=name or account.name)


def _with_overrides(config: Config, options: Mapping[str, Any]) -> Config:
    """Return the configuration with the values of the given options."""
    for option, (section, setting) in OVERRIDES.items():
        if options[option] is not None:
            value = LogFormat(options[option]) if option == "log_format" else options[option]
            table = evolve(getattr(config, section), **{setting: value})
            config = evolve(config, **{section: table})
    if options["length"] is not None:
        config = evolve(config, bot=evolve(config.bot, invite_lengths=()))  # which would come before it
    return config


def _limit_lengths(lengths: Lengths, longest: int) -> Lengths:
    """Return the lengths from the shortest accepted one up to this one."""
    shortest = min((least for least, _ in lengths.ranges), default=1)
    return evolve(lengths, ranges=((min(shortest, longest), longest),))
