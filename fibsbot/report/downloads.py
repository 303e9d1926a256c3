"""The match as files of other programs, within the page: links that need no network."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Final

from fibsbot.formats.errors import FormatError
from fibsbot.formats.mat import write_mat
from fibsbot.formats.sgf import write_sgf
from fibsbot.report.markup import Html, tag
from fibsbot.transcript import Transcript

_WRITERS: Final[dict[str, Callable[[Transcript], str]]] = {".mat": write_mat, ".sgf": write_sgf}
_NAME: Final = 60
"""Characters of a file's name, without its extension."""


def downloads(transcript: Transcript) -> Iterator[Html]:
    """Yield a link for each format that can say the match."""
    if not transcript.games:
        return
    name = re.sub(r"[^\w-]+", "_", "-".join(player.name for player in transcript.players))[:_NAME]
    for extension, write in _WRITERS.items():
        try:
            content = write(transcript).encode("utf-8", "replace")
        except FormatError:
            continue
        address = f"data:application/octet-stream;base64,{base64.b64encode(content).decode()}"
        yield tag("a", extension, href=address, download=f"{name}{extension}", title=f"Save the match as {extension}")
