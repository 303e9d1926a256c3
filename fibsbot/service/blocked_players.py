"""Keeps the players whom orders have blocked in a file, so that they are blocked after a restart, too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from fibsbot.files import read_json, replacing
from fibsbot.policy import is_player_name

_log = structlog.get_logger(__name__)


class BlockedPlayers:
    """The blocked players of all accounts."""

    def __init__(self, path: Path | None) -> None:
        """Load what earlier processes have kept; None: nothing is kept."""
        self._path = path
        self._blocked: dict[str, tuple[str, ...]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="blocked")
        """Writes, because a disk may be slow."""
        self._load()

    def of(self, account: str) -> frozenset[str]:
        """Return the players whom an account does not play."""
        return frozenset(self._blocked.get(account, ()))

    def keep(self, account: str, names: Iterable[str]) -> None:
        """Keep all blocked players of an account; return at once."""
        self._blocked[account] = tuple(sorted(names))
        self._thread.submit(self._save, json.dumps(self._blocked))

    def close(self) -> None:
        """Wait until everything is written."""
        self._thread.shutdown()

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            found = read_json(self._path.read_bytes())
            self._blocked = {account: tuple(filter(is_player_name, names)) for account, names in found.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, AttributeError) as error:
            _log.error("players whom orders have blocked cannot be read", file=str(self._path), error=str(error))

    def _save(self, text: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(self._path) as part:
                part.write_text(text, encoding="utf-8")
        except OSError as error:
            _log.error("a blocked player is blocked until the end of this process only", error=str(error))
