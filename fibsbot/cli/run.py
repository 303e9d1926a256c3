"""`fibsbot run`: all accounts of a configuration file, left running."""

from __future__ import annotations

from pathlib import Path

import click

from fibsbot.log import LogFormat


@click.command()
@click.option(
    "--config",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="TOML file with settings; see config/fibsbot.toml.",
)
@click.option(
    "--log-format",
    type=click.Choice([form.value for form in LogFormat]),
    help="Format of the program's own log, on stderr, instead of the file's.",
)
def run(path: Path, log_format: str | None) -> None:
    """Run all accounts of a configuration file until stopped.

    The first SIGTERM or Ctrl-C finishes the matches and logs out, the second logs out at once, the third kills. SIGHUP
    reads the file again. `fibsbot status` shows what the bots are doing, `fibsbot order` controls them. The exit status
    is 78 when starting again would not help: settings that cannot be used, a password that is refused, a name that
    somebody else has logged in with.
    """
    from fibsbot.cli.run_service import run_accounts  # noqa: PLC0415 - the whole service, which no help text needs

    run_accounts(path, log_format)
