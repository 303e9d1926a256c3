"""A match as a list of positions, one line a decision: GNUbg IDs, XGIDs, or position lines of Snowie.

Seat A is X in an XGID and player 1 in a GNUbg ID, so that the board does not turn round between two lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from fibsbot.formats.detect import Format
from fibsbot.formats.snowie import SnowiePosition, sayable, write_snowie
from fibsbot.formats.text import one_line
from fibsbot.match import Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import Seat
from fibsbot.transcript import Decision, Transcript, decisions, walk


def positions(transcript: Transcript, kind: Format) -> Iterator[str]:
    """Yield a line for each decision of a match, of both players, in their order.

    Plays, doubles and their answers; not resignations, of which these formats know nothing. A position that a format
    cannot say has no line. Raises TranscriptError where the match cannot have happened so.
    """
    write = _WRITERS[kind]
    for game in transcript.games:
        for step in walk(game):
            for decision in decisions(step):
                if isinstance(decision.answer, Level) or decision.state.phase is Phase.RESIGNED:
                    continue
                line = write(transcript, decision)
                if line:
                    yield line


def write_positions(transcript: Transcript, kind: Format) -> str:
    """Return all lines; see `positions`."""
    return "".join(positions(transcript, kind))


def _xgid(_: Transcript, decision: Decision) -> str:
    try:
        return f"{Xgid.of(decision.state, 1 if decision.seat is Seat.A else -1)}\n"
    except NotationError:
        return ""


def _gnubg_id(_: Transcript, decision: Decision) -> str:
    try:
        return f"{format_gnubg_id(decision.state, 1 if decision.seat is Seat.A else 0)}\n"
    except NotationError:
        return ""


def _snowie(transcript: Transcript, decision: Decision) -> str:
    if not sayable(decision.state):
        return ""
    own, other = (one_line(transcript.players[seat].name) for seat in (decision.seat, decision.seat.other))
    return write_snowie(SnowiePosition(decision.state, (own, other), decision.seat))


_WRITERS: Final[Mapping[Format, Callable[[Transcript, Decision], str]]] = {
    Format.XGID: _xgid,
    Format.GNUBG_IDS: _gnubg_id,
    Format.SNOWIE: _snowie,
}
