"""Settings of the process that runs the bots."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from attrs import field, frozen
from attrs.validators import gt

from fibsbot.setting import setting

_PASSWORD_IN_URL: Final = re.compile(r"[a-z0-9+]+://(?:[^/@]*:[^/@]*@|.*[?&](?:ssl)?password=)", re.IGNORECASE)


class UnknownAccountError(ValueError):
    """No account has that name; the text is one line that lists those there are."""


@frozen
class ServiceSettings:
    """The process of `fibsbot run`."""

    store: str | None = setting(
        "fibsbot.db",
        "Where matches, opponents and ratings are stored: a file, whose directory is created if needed, or the URL of a"
        " database such as postgresql+psycopg://host/name, whose password is taken from ~/.pgpass.",
        expected="a path, or a URL without a password",
        check=lambda text: not _PASSWORD_IN_URL.match(text),
        blanks=True,
        secret=True,
        needs_restart=True,
    )
    control: Path | None = setting(
        Path("fibsbot.sock"),
        "Socket for `fibsbot status` and `fibsbot order`.",
        expected="a path of at most 100 bytes",
        check=lambda path: len(os.fsencode(path)) <= 100,  # sockets take no more than 107
        needs_restart=True,
    )
    web_port: int | None = setting(
        None,
        "Port on 127.0.0.1 for /metrics and /healthz; 0 takes a free one.",
        minimum=0,
        maximum=65_535,
        example=9464,
        needs_restart=True,
    )
    live: bool = setting(
        default=False,
        help="Whether browsers on this machine can watch boards, moves and chat at /live on that port.",
        needs_restart=True,
    )
    dashboard: bool = setting(
        default=False,
        help="Whether browsers on this machine can see all accounts at /dashboard on that port, with ratings, matches,"
        " reports and chances, and /live, too. `fibsbot status --dashboard` prints the address by which they can also"
        " pause and end them.",
        needs_restart=True,
    )
    state: Path | None = setting(
        Path("fibsbot.state"),
        "Directory of what outlives a restart besides the store: notices that are not delivered, players whom orders"
        " have blocked, and copies of lists of players. It is created when there is something to keep.",
        needs_restart=True,
    )
    thinkers: int = setting(
        2,
        "Number of decisions that strategies work on at the same time, for all accounts together.",
        minimum=1,
        maximum=256,
        needs_restart=True,
    )
    share_accounts: bool = setting(
        default=False,
        help="Whether other processes with the same store play these accounts, too. Each account is played by one of"
        " them at a time; when a process has ended, the others take over its accounts within half a minute.",
        needs_restart=True,
    )
    deadline: float = field(default=30.0, validator=gt(0))
    """Seconds that a strategy has for a decision: `timing.deadline`, because the accounts share the strategies."""
