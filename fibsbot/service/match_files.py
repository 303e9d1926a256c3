"""Writes each finished match into a file of its own: `.mat`, or our JSON if it is no backgammon.

A thread does that, and no error reaches the play. A match that was resumed after a restart has what this process has
seen of it; the store has all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from fibsbot.files import is_disk_full, replacing
from fibsbot.formats import Format
from fibsbot.formats.conversion import write_matches
from fibsbot.policy import is_player_name
from fibsbot.records.session_log import utc_now
from fibsbot.replay.events import MatchEnded, MatchEvent
from fibsbot.rules.state import Seat
from fibsbot.transcript import Transcript

_log = structlog.get_logger(__name__)


class MatchFiles:
    """The files of the matches of all accounts."""

    def __init__(self, directories: Mapping[str, Path]) -> None:
        """Write the matches of each account into its directory; those of other accounts are not written."""
        self._directories = directories
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="match-files")
        self.error: str | None = None
        """Why the last match could not be written, if the disk was full."""

    def on_match_event(self, account: str, event: MatchEvent) -> None:
        """Write a match that is over; return at once."""
        directory = self._directories.get(account)
        if directory is None or not isinstance(event, MatchEnded):
            return
        match = event.transcript
        if match.winner is not None and match.user is Seat.A and match.players[Seat.A].name == account:
            self._thread.submit(self._write, directory, match)

    def close(self) -> None:
        """Wait until everything is written."""
        self._thread.shutdown()

    def _write(self, directory: Path, match: Transcript) -> None:
        path = directory
        try:
            kind = Format.MAT if match.is_backgammon else Format.JSON
            text = "".join(write_matches(kind, [match]))
            directory.mkdir(parents=True, exist_ok=True)
            path = _free_name(directory, match, kind)
            with replacing(path) as part:
                part.write_text(text, encoding="utf-8")
        except OSError as error:
            self.error = f"{path}: {error.strerror}" if is_disk_full(error) else None
            _log.error("match is not written", file=str(path), error=error.strerror or str(error))
        except Exception as error:  # noqa: BLE001 - a match that no format can hold costs nothing else
            _log.error("match is not written", file=str(path), error=f"{type(error).__name__}: {error}")
        else:
            self.error = None
            _log.info("match written", file=str(path))


def _free_name(directory: Path, match: Transcript, kind: Format) -> Path:
    """Return a path that no file has: date, account, opponent and length."""
    at = (match.ended or match.started or utc_now()).strftime("%Y-%m-%d_%H%M%S")
    names = [player.name if is_player_name(player.name) else "unknown" for player in match.players]
    stem = f"{at}_{names[0]}_{names[1]}_{match.length}"
    suffix = kind.extension
    path, number = directory / f"{stem}{suffix}", 2
    while path.exists():
        path, number = directory / f"{stem}-{number}{suffix}", number + 1
    return path
