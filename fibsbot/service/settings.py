"""What an operator can choose about the process that runs the bots."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import field, frozen
from attrs.validators import ge, gt, le, optional

from fibsbot.bot.settings import RunSettings

HOST: Final = "127.0.0.1"
"""Where the web server listens."""


@frozen
class AccountSettings:
    """One account's bot."""

    run: RunSettings
    strategy: str
    """Who decides, by the name under which `fibsbot strategies` lists it."""


@frozen
class ServiceSettings:
    """The process."""

    store: str | None = None
    """Where matches are remembered: a file's path, or a URL such as `postgresql+psycopg://host/name`; None: nowhere."""
    control: Path | None = None
    """The control socket; None: there is none."""
    web_port: int | None = field(default=None, validator=optional([ge(0), le(65_535)]))
    """Port on 127.0.0.1 for `/metrics` and `/healthz`; 0 takes a free one; None: off."""
    live: bool = False
    """Whether `/live` shows the boards there, for browsers."""
    thinkers: int = field(default=2, validator=ge(1))
    """Decisions of all accounts together that strategies may work on at the same time."""
    deadline: float = field(default=30.0, validator=gt(0))
    """Seconds that a strategy has for one decision."""
