"""A board that was on its way when a play was said shows nothing new, in a match that was resumed, too."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from tests.bot.agent_script import AFTER_61, ME, PROMPT, board
from tests.replay.transcript_helpers import differences_in, entry_facts, events_of_bytes, steps_of, transcripts_in

RESUMED = (f"1 {ME} 1041253132 192.168.1.1", "ford has joined you. Your running match was loaded.")
OLDER = board(turn=-1, other_dice="6:1")
PLAYED = "ford moves 17-23 19-20 ."
NEWER = board(cells=AFTER_61)
ROLLED = ("You roll 6 and 4.", board(cells=AFTER_61, dice="6:4"))


def session_log(lines: tuple[str, ...]) -> bytes:
    """Return a session log in which `board` is sent, and the server says these lines."""
    now = dt.datetime(2026, 1, 2, tzinfo=dt.UTC).isoformat()
    records = [("received", line) for line in RESUMED] + [("sent", "board")] + [("received", line) for line in lines]
    first = {"fibsbot_session_log": 1, "time": now, "server": "127.0.0.1:4321", "user": ME}
    rest = [{"time": now, kind: line + "\r\n"} for kind, line in records]
    return "".join(json.dumps(record) + "\n" for record in (first, *rest)).encode()


@pytest.mark.parametrize(
    "lines",
    [
        (PLAYED, OLDER, NEWER, PROMPT, *ROLLED),
        (PLAYED, OLDER, PROMPT, *ROLLED),
        (OLDER, PLAYED, OLDER, NEWER, PROMPT, *ROLLED),
        (OLDER, PLAYED, NEWER, OLDER, PROMPT, *ROLLED),
        (PLAYED, NEWER, OLDER, PROMPT, *ROLLED),
    ],
)
def test_an_older_board_is_no_difference(lines: tuple[str, ...]) -> None:
    events = events_of_bytes(session_log(lines))
    assert [] == differences_in(events)
    (transcript,) = transcripts_in(events)
    facts = [entry_facts(step.entry) for _, step in steps_of([transcript])]
    assert [("throw", "B", (1, 6), False), ("throw", "A", (4, 6), True)] == [it for it in facts if it != ("gap",)]
