"""Turns that the tracked match skips: nothing is found that tracking every message does not find, and nothing less."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from fibs_protocol.board import BoardState
from fibs_protocol.messages import Message
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.replay import session_tracker
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.session_tracker import SessionTracker
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from tests.examples import examples
from tests.replay.transcript_helpers import DATA, differences_in, events_of_bytes

RECORDS = [json.loads(line) for line in (DATA / "bot/tigergammon.jsonl").read_bytes().splitlines()]
LINES: list[dict[str, Any]] = [
    {**record, kind: line}
    for record in RECORDS
    for kind in ("received", "sent", "event")
    if kind in record
    for line in (record[kind].splitlines(keepends=True) if kind == "received" else [record[kind]])
]
"""The records of the session, with each line of the server in one of its own."""
ABOUT_TURNS = re.compile(r"board:| rolls? | moves? |'move |can't move|roll or double")
WRONG = ("-1", "0", "1", "2", "5", "6", "You")


@contextmanager
def every_message_tracked() -> Iterator[None]:
    """Have no turn skipped meanwhile, and no board compared with the user's play alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionTracker, "begin_regular_turns", lambda *_: None)
        patch.setattr(GameBuilder, "after_silent_play", lambda *_: None)
        yield


def as_log(lines: list[dict[str, Any]], *, silent: bool = False) -> bytes:
    """Return a session log with these records; a silent one has only what was received, as a raw capture."""
    chosen = [line for line in lines if "sent" not in line] if silent else lines
    return b"".join(json.dumps(record).encode() + b"\n" for record in [RECORDS[0], *chosen])


def backwards(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with its moves in the opposite order, if it has several."""
    kind = "sent" if "sent" in line else "received"
    text = str(line.get(kind, ""))
    moves = re.findall(r"[a-z0-9]+-[a-z0-9]+", text)
    return {**line, kind: text.replace(" ".join(moves), " ".join(reversed(moves)))} if len(moves) > 1 else line


def changed(line: dict[str, Any], place: int, word: str) -> dict[str, Any]:
    """Return a line of the server with one of its words changed."""
    text = str(line.get("received", ""))
    between = ":" if "board:" in text else " "
    words = text.split(between)
    words[place % len(words)] = word
    return {**line, "received": between.join(words)} if text else line


@st.composite
def damaged_logs(draw: st.DrawFn) -> bytes:
    """Draw a part of the session in which lines about turns are lost, repeated, moved, or changed."""
    lines: list[dict[str, Any]] = LINES[: draw(st.integers(150, 400))]
    turns = [place for place, line in enumerate(lines) if ABOUT_TURNS.search(str(line))]
    for place in draw(st.lists(st.sampled_from(turns[4:]), min_size=1, max_size=5, unique=True)):
        line = lines[place]
        match draw(st.sampled_from(["lost", "repeated", "moved", "changed", "backwards"])):
            case "lost":
                lines[place] = {"time": line["time"], "event": "lost"}
            case "repeated":
                lines[draw(st.sampled_from(turns))] = line
            case "moved":
                lines[place], lines[place + 1 : place + 2] = lines[min(place + 1, len(lines) - 1)], [line]
            case "changed":
                lines[place] = changed(line, draw(st.integers(0, 60)), draw(st.sampled_from(WRONG)))
            case "backwards":
                lines[place] = backwards(line)
    return as_log(lines, silent=draw(st.booleans()))


@pytest.mark.slow
@given(damaged_logs())
@settings(examples(50), deadline=None)
def test_a_damaged_log_tells_the_same_as_with_every_message_tracked(log: bytes) -> None:
    skipping = events_of_bytes(log)
    with every_message_tracked():
        assert events_of_bytes(log) == skipping


@pytest.mark.parametrize("silent", [False, True])
def test_nearly_all_turns_are_skipped(monkeypatch: pytest.MonkeyPatch, *, silent: bool) -> None:
    tracked: list[object] = []

    def counted(match: TrackedMatch, message: Message) -> TrackedMatch:
        tracked.append(message)
        return apply_message(match, message)

    monkeypatch.setattr(session_tracker, "apply_message", counted)
    events: list[MatchEvent] = events_of_bytes(as_log(LINES, silent=silent))
    few = sum(type(it).__name__ == "Board" for it in tracked)
    with every_message_tracked():
        assert events == events_of_bytes(as_log(LINES, silent=silent))
    assert differences_in(events) == []
    assert 10 * few < sum(type(it).__name__ == "Board" for it in tracked) - few


def test_a_board_of_something_else_is_no_part_of_a_regular_turn() -> None:
    line = next(str(it["received"]) for it in LINES if str(it.get("received")).startswith("board"))
    board, state = BoardState.from_line(line.strip()), start_match(FIBS, 5)
    turns = session_tracker.RegularTurns(GameBuilder(1, state, lambda _: None), board, state.turn)
    assert turns.goes_on(board)
    assert not turns.goes_on(evolve(board, player="zaphod"))
    assert not turns.goes_on(evolve(board, opponent="zaphod"))
    assert not turns.goes_on(evolve(board, direction=-board.direction))
    assert not turns.goes_on(evolve(board, post_crawford=1 - board.post_crawford))
    assert not turns.goes_on(evolve(board, turn=None))
