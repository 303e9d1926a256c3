"""Any file that holds matches, as transcripts: session logs, captures, and files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from fibsbot.replay.captures import read_captures
from fibsbot.replay.happenings import MatchEnded
from fibsbot.replay.paper import find_format, read_paper
from fibsbot.replay.scribe import replay
from fibsbot.replay.spoken import Spoken
from fibsbot.transcript import Transcript


def load_transcripts(path: Path) -> Iterator[Transcript]:
    """Yield the matches in a file, one after the other, as soon as each is over.

    Raises CaptureError or FormatError for a file that holds none, OSError where it cannot be read.
    """
    kind = find_format(path)
    yield from transcripts_of(read_captures([path])) if kind is None else read_paper(path, kind)


def transcripts_of(spoken: Iterable[Spoken]) -> Iterator[Transcript]:
    """Yield the matches of a capture."""
    for happening in replay(spoken):
        if isinstance(happening, MatchEnded):
            yield happening.transcript
