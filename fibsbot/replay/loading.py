"""Any file that holds matches, as transcripts: session logs, captures, and files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fibsbot.replay.paper import find_format, read_paper
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.replay.spoken import Spoken


def load_transcripts(path: Path) -> Iterator[Transcript]:
    """Yield the matches in a file, one after the other, as soon as each is over.

    Raises CaptureError or FormatError for a file that holds none, OSError where it cannot be read.
    """
    kind = find_format(path)
    if kind is not None:
        yield from read_paper(path, kind)
        return
    from fibsbot.replay.captures import read_captures  # noqa: PLC0415 - slow to import: all that a server can say

    yield from transcripts_of(read_captures([path]))


def transcripts_of(spoken: Iterable[Spoken]) -> Iterator[Transcript]:
    """Yield the matches of a capture."""
    from fibsbot.replay.happenings import MatchEnded  # noqa: PLC0415 - slow to import: all that a server can say
    from fibsbot.replay.scribe import replay  # noqa: PLC0415 - likewise

    for happening in replay(spoken):
        if isinstance(happening, MatchEnded):
            yield happening.transcript
