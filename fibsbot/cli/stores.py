"""What commands that read a store share: where it is, and why it cannot be read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from fibsbot.cli import ConfigError, UserError


def place_by_config(path: Path | None) -> str:
    """Return where a file of settings, or the defaults, keep the store."""
    # Only who asks for a store needs the settings: those of a whole bot, and what reads them.
    from fibsbot.config import Config, ConfigProblemsError, load_config  # noqa: PLC0415
    from fibsbot.config.problems import told  # noqa: PLC0415

    try:
        config = load_config(path) if path else Config()
    except ConfigProblemsError as error:
        raise ConfigError(told(path or Path(), error.problems)) from None
    if config.service.store is None:
        raise UserError(f"{path} keeps no store")
    return config.service.store


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Tell in one line why a store cannot be used."""
    try:
        yield
    except Exception as error:
        store = sys.modules.get("fibsbot.records.store")  # SQLAlchemy is slow to import, and files need none
        if store and isinstance(error, store.StoreError):
            raise UserError(str(error)) from None
        raise
