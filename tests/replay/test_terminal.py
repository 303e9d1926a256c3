"""The live board: frames, playback, and keys that arrive in any pieces."""

from __future__ import annotations

import io
import os
import pty
import signal
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fibsbot.replay.events import MatchBegan
from fibsbot.replay.keys import Key, KeyReader
from fibsbot.replay.places import Place
from fibsbot.replay.terminal import (
    DEFAULT_PAUSE,
    LONGEST_PAUSE,
    BoardFrame,
    FrameHistory,
    TerminalReplay,
    board_frames,
)
from fibsbot.rules.state import Seat
from tests.patience import SOON
from tests.replay.sample_match import sample_events, sample_transcript


@define
class Script(KeyReader):
    """Presses keys in their order, then none; and remembers how long it was waited."""

    presses: Iterator[Key | None] = field(kw_only=True)
    waits: list[float | None] = field(factory=list)

    def wait(self, seconds: float | None) -> Key | None:
        """Press the next key."""
        self.waits.append(seconds)
        key = next(self.presses, Key.QUIT if seconds is None else None)
        return key if key is not None or seconds is not None else Key.QUIT


def shown(
    *presses: Key | None,
    stepping: bool = True,
    speed: float = 1.0,
    timed: bool = True,
    start: Place | None = None,
    height: int = 40,
    width: int = 100,
) -> tuple[str, Script, bool]:
    """Show the paper match; return the last picture, the script, and whether it was seen to its end."""
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    script = Script(None, presses=iter(presses))
    film = FrameHistory(board_frames(sample_events(sample_transcript(timed=timed))))
    ended = TerminalReplay(film, console, script, speed, stepping, start).run()
    return pictures(console)[-1], script, ended


def pictures(console: Console) -> list[str]:
    """Return the pictures that a terminal was given."""
    assert isinstance(console.file, io.StringIO)
    return ["", *(f"Match {text}" for text in console.file.getvalue().split("Match ")[1:])]


def film() -> FrameHistory:
    """Return the paper match as a film."""
    return FrameHistory(board_frames(sample_events(sample_transcript())))


def test_every_event_is_a_frame() -> None:
    count = sum(1 for _ in sample_events(sample_transcript()))
    assert count == len(list(board_frames(sample_events(sample_transcript()))))
    lines = [line for frame in board_frames(sample_events(sample_transcript())) for line in frame.lines]
    assert [
        "  Game 1",
        "    1  ford    31: 8/5 6/5               1.5 s",
        "    2  marvin  doubles to 2              equity +0.250   1.5 s",
        "    2  ford    takes                     1.5 s",
        "    2  marvin  65: 24/13                 equity -0.125   1.5 s",
        "+   3  ford    42: 8/4 6/4 (rebuilt)     1.5 s",
        "- missing: 3 turns are missing",
        "    7  marvin  21: 13/11 6/5             1.5 s",
        "    8  ford    resigns a single game     1.5 s",
        "    8  marvin  rejects",
        "    8  ford    62: 24/18 13/11           1.5 s",
        "    9  ford    resigns a single game     1.5 s",
        "    9  marvin  accepts",
        "  marvin wins 2 points (single, resigned).",
        "  Game 2, Crawford game",
        "    1  marvin  64: 24/18 13/9",
        "    2  ford    55: not played",
        "  The game was not seen to its end.",
        "! byte 4711: cube: ours 1, theirs 2",
        "! byte 4711: position: ours (0, -2), theirs (0, 2)",
        "  The match was not seen to its end. Score: marvin 2, ford 0.",
    ] == lines


def test_a_frame_shows_the_match_the_board_and_the_history() -> None:
    picture, _, ended = shown(*[Key.SPACE] * 5)
    assert not ended
    lines = picture.replace("\r", "").split("\n")
    assert "Match 1: marvin - ford, 3 points, fibs.example:4321, 2026-01-02 03:04:05 UTC" == lines[0].rstrip()
    assert "game 1   turn 2   1/1/2   2026-01-02 03:04:33 UTC" == lines[1].rstrip()
    text = "\n".join(lines)
    for part in ("O: ford - score: 0", "Cube: 2 (owned by ford)", "Pips: marvin 156, ford 163", "marvin  65: 24/13"):
        assert part.replace("O:", "○:") in text


def test_the_board_is_seen_from_the_users_side() -> None:
    assert {Seat.B} == {frame.bottom_seat for frame in board_frames(sample_events(sample_transcript(Seat.B)))}
    assert {Seat.A} == {frame.bottom_seat for frame in board_frames(sample_events(sample_transcript(None)))}


def test_keys_move_forwards_backwards_and_to_the_next_game() -> None:
    place = "game 1   turn 2   1/1/2"
    assert place in shown(*[Key.SPACE] * 4)[0]
    assert place in shown(*[Key.NEXT] * 4)[0]
    assert place in shown(*[Key.SPACE] * 9, *[Key.PREVIOUS] * 5)[0]
    assert "Game 2, Crawford game" in shown(Key.GAME, Key.GAME)[0]
    assert "The end." in shown(*[Key.GAME] * 9)[0]
    assert "Match 1" in shown(*[Key.PREVIOUS] * 3)[0]


def test_quitting_at_the_end_counts_as_complete() -> None:
    assert [False, True] == [shown(Key.QUIT)[2], shown(*[Key.GAME] * 5, Key.QUIT)[2]]


def test_playback_keeps_the_recorded_pauses_and_stops_at_the_end() -> None:
    picture, script, ended = shown(stepping=False, speed=2.0)
    assert ended
    assert "The match was not seen to its end." in picture
    assert {0.0, 3.5, min(35.0, LONGEST_PAUSE) / 2} == set(script.waits)
    _, script, _ = shown(stepping=False, timed=False)
    assert {DEFAULT_PAUSE} == {it for it in script.waits[:10] if it is not None}
    _, script, _ = shown(stepping=False, speed=0.0)
    assert {0.0} == set(script.waits)


def test_space_pauses_and_p_continues() -> None:
    picture, script, ended = shown(None, Key.SPACE, Key.PREVIOUS, Key.TOGGLE_PAUSE, stepping=False)
    assert ended
    assert [False, False, True, True, False] == [it is None for it in script.waits[:5]]
    assert "The match was not seen to its end." in picture


def test_playback_starts_at_the_given_place() -> None:
    assert "game 1   turn 8   1/1/8" in shown(start=Place(1, 1, 8))[0]
    assert "Game 2, Crawford game" in shown(start=Place(1, 2))[0]


@pytest.mark.parametrize(("height", "width"), [(24, 80), (18, 60), (8, 20), (1, 1)])
def test_a_small_terminal_gets_no_more_lines_than_it_has(height: int, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    TerminalReplay(film(), console, Script(None, presses=iter([Key.SPACE] * 8)), 1.0, stepping=True).run()
    *live, last = pictures(console)
    assert all(picture.count("\n") < height for picture in live)
    assert ("7  marvin  21: 13/11 6/5" in last) == (width >= 60)


def test_going_back_is_limited_to_the_frames_kept() -> None:
    many = [BoardFrame(str(n), ("a", "b"), Seat.A, Place(1), (str(n),)) for n in range(12_000)]
    kept = FrameHistory(iter(many))
    while kept.next():
        pass
    while kept.previous():
        pass
    assert kept.current is many[2_000]
    assert ["1998", "1999", "2000"][-1:] == kept.last_lines(3)


@given(st.lists(st.sampled_from("nbg"), max_size=60))
def test_the_history_is_always_at_one_of_its_frames(moves: list[str]) -> None:
    whole = list(board_frames(sample_events(sample_transcript())))
    going, at = film(), -1
    games = [n for n, frame in enumerate(whole) if frame.begins_game]
    for move in moves:
        if move == "n":
            assert going.next() == (at + 1 < len(whole))
            at = min(at + 1, len(whole) - 1)
        elif move == "b":
            assert going.previous() == (at > 0)
            at = max(at - 1, min(at, 0))
        else:
            going.next_game()
            at = next((n for n in games if n > at), len(whole) - 1)
        assert (None if at < 0 else whole[at]) == going.current
        assert (whole[at + 1] if at + 1 < len(whole) else None) == going.peek()


def test_a_match_after_another_begins_a_frame_of_its_own() -> None:
    both = [
        *sample_events(sample_transcript()),
        *sample_events(sample_transcript(Seat.B, ("zaphod", "trillian")), match=2),
    ]
    headings = [a.heading for a, b in pairwise(board_frames(both)) if a.heading != b.heading]
    assert 1 == len(headings)
    assert isinstance(both[0], MatchBegan)


# -- keys -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def typed() -> Iterator[tuple[KeyReader, int]]:
    """Listen to a terminal; give also what types into it."""
    typing, listening = pty.openpty()
    with KeyReader(listening) as keys:
        yield keys, typing
    os.close(typing)
    os.close(listening)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b" ", [Key.SPACE]),
        (b"\r\x1b[C\x1bOC", [Key.NEXT] * 3),
        (b"b\x1b[D\x7f", [Key.PREVIOUS] * 3),
        (b"g\x1b[B", [Key.GAME] * 2),
        (b"xyz\x1b[99zp", [Key.TOGGLE_PAUSE]),
        (b"\x1b", []),
        (b"nq", [Key.NEXT, Key.QUIT]),
    ],
)
def test_keys_are_recognised_by_their_bytes(typed: tuple[KeyReader, int], data: bytes, expected: list[Key]) -> None:
    keys, typing = typed
    os.write(typing, data)
    heard = list(iter(lambda: keys.wait(0.15), None))
    assert expected == heard


def test_an_interrupt_just_before_the_wait_ends_it(typed: tuple[KeyReader, int]) -> None:
    """A signal that another thread gets, or that comes just before the wait begins, breaks off no system call."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # who was started in the background ignores it
    other = threading.Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            typed[0].wait(SOON)
        other.join()
        assert typed[0].wait(0.01) is None, "it is heard once"
    finally:
        signal.signal(signal.SIGINT, usual)


def test_a_closed_terminal_quits() -> None:
    typing, listening = pty.openpty()
    keys = KeyReader(listening)
    os.close(typing)
    assert Key.QUIT is keys.wait(None)
    os.close(listening)


def test_without_a_terminal_no_key_is_read() -> None:
    with KeyReader(None) as keys:
        assert keys.wait(0.0) is None
        assert not keys.is_listening
