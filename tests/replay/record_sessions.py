"""Records the sessions in tests/data/replay on the embedded server.

`python -m tests.replay.record_sessions` writes them anew. Of each session there are the session logs of both bots, what
one of them received, and what people received who watched: from the start, from the middle, with and without the boards
after throws. And what the server knew of the games.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fibs_protocol.words import Toggle
from fibsbot.policy import Lengths, Policy
from fibsbot.records.session_log import Received, Sent, read_session_log
from tests.replay.recording_server import RecordingServer, ServerGame, VariedStrategy

DATA: Final = Path(__file__).parent.parent / "data/replay"
HOURS: Final = 4 * 3600.0
POLICY: Final = Policy(lengths=Lengths(((1, 9),), unlimited=True))


@frozen
class Session:
    """How a session goes, once everybody is there."""

    name: str
    seed: int
    length: int
    """0 is unlimited."""
    go: Callable[[RecordingServer], None]


def _to_the_end(studio: RecordingServer) -> None:
    studio.run(HOURS)


def _with_breaks(studio: RecordingServer) -> None:
    """Lose connections in the middle of games; the bots come back and go on."""
    for name, seconds in (("marvin", 46.0), ("ford", 70.0), ("marvin", 90.0)):
        studio.run(seconds)
        studio.lose(name)
    studio.run(HOURS)


def _for_a_while(studio: RecordingServer) -> None:
    studio.run(200)
    studio.say("ford", "leave")
    studio.run(3)


SESSIONS: Final = (
    Session("three_points", 127, 3, _to_the_end),
    Session("interrupted", 33, 3, _with_breaks),
    Session("unlimited", 9, 0, _for_a_while),
)


def play(session: Session, folder: Path) -> RecordingServer:
    """Play a session; return the studio, closed."""
    studio = RecordingServer(folder, session.seed)
    inviting: dict[str, Any] = {"invite": "ford", "length": session.length} if session.length else {}
    studio.add("marvin", VariedStrategy(session.seed), policy=POLICY, **inviting)
    studio.add("ford", VariedStrategy(session.seed + 1), policy=POLICY)
    studio.enter("trillian")
    studio.enter("arthur", moreboards=False)
    studio.enter("zaphod")
    studio.run(60, lambda: {"marvin", "ford"} <= set(studio.world.users))
    studio.types("trillian", "watch marvin")
    studio.types("arthur", "watch ford")
    if not session.length:
        studio.run(20)
        for name in ("marvin", "ford"):
            settings = studio.world.users[name].settings
            settings.redoubles = 3
            settings[Toggle.AUTODOUBLE] = True
        studio.say("marvin", "invite ford unlimited")
    studio.run(60, lambda: studio.bots["marvin"].lines[True] > 80)
    studio.types("zaphod", "watch marvin")
    session.go(studio)
    studio.close()
    return studio


def typed_capture(path: Path) -> bytes:
    """Make of a session log what a terminal shows that echoes what is typed: LF alone, bells, telnet bytes."""
    out = bytearray(b"\xff\xfb\x01\xff\xfd\x03")
    for record in read_session_log(path):
        if isinstance(record, Received):
            out += record.data.replace(b"\r\n", b"\n").replace(b"It's your turn", b"\aIt's your turn")
        elif isinstance(record, Sent):
            out += record.data.replace(b"\r\n", b"\n")
    return bytes(out)


def server_facts(played: ServerGame) -> dict[str, Any]:
    """Return what the server knew of a game, for JSON."""
    result = played.result
    return {
        "names": played.names,
        "x": played.names[played.colours.index(min(played.colours))],
        "lines": played.lines,
        "winner": played.names[result.winner],
        "points": result.points,
        "how": result.how.value,
        "scores": played.scores,
    }


def captures_of(session: Session, studio: RecordingServer) -> dict[str, bytes]:
    """Return the files that a session makes, by their names."""
    files = {f"{name}.jsonl": studio.log_of(name).read_bytes() for name in ("marvin", "ford")}
    files |= {f"{name}.txt": bytes(studio.raw[name]) for name in ("marvin", "trillian", "arthur", "zaphod")}
    files["ford_typed.txt"] = typed_capture(studio.log_of("ford"))
    files["games.json"] = json.dumps([server_facts(played) for played in studio.played], indent=1).encode()
    return {f"{session.name}_{name}": data for name, data in files.items()}


def main() -> None:
    """Record all sessions."""
    DATA.mkdir(parents=True, exist_ok=True)
    for session in SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            files = captures_of(session, play(session, Path(folder)))
        for name, data in files.items():
            (DATA / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    main()
