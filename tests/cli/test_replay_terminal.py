"""`fibsbot replay` in a real terminal: the live board, keys, and a terminal that is afterwards as it was before."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

import pytest

from fibsbot.formats.transcript_json import write_json
from tests.replay.sample_match import sample_transcript
from tests.terminal import Terminal

WATCHED: Final = Path(__file__).parent.parent / "data" / "protocol" / "session_watch.txt"

pytestmark = pytest.mark.slow


@pytest.fixture
def match(tmp_path: Path) -> str:
    """Write the sample match into a file; return its path."""
    path = tmp_path / "match.json"
    path.write_text(write_json(sample_transcript()), encoding="utf-8")
    return str(path)


def test_a_match_is_gone_through_step_by_step(match: str) -> None:
    with Terminal(("replay", match, "--step")) as terminal:
        terminal.expect("Match 1: marvin - ford, 3 points, fibs.example:4321", "space next, left back")
        terminal.press(" ")
        terminal.expect("Game 1", "○: ford - score: 0", "●: marvin - score: 0", "Pips: marvin 167, ford 167")
        terminal.press("\x1b[C")
        terminal.expect("1  ford    31: 8/5 6/5               1.5 s", "turn 1   1/1/1   2026-01-02 03:04:12 UTC")
        terminal.press("\n")
        terminal.expect("doubles to 2              equity +0.250")
        terminal.press("\x1b[D")
        terminal.expect("turn 1   1/1/1   2026-01-02 03:04:12 UTC")
        terminal.press("g")
        terminal.expect("Game 2, Crawford game", "●: marvin - score: 2")
        terminal.press("g")
        terminal.expect("The end.")
        terminal.press("q")
        assert 0 == terminal.end()
        assert "\x1b[?25h" not in terminal.text


def test_it_begins_in_the_middle(match: str) -> None:
    with Terminal(("replay", match, "--step", "--start", "1/1/8")) as terminal:
        terminal.expect("game 1   turn 8   1/1/8", "8  marvin  rejects")
        terminal.press("q")
        assert 0 == terminal.end()


def test_ctrl_c_leaves_the_terminal_as_it_was(match: str) -> None:
    with Terminal(("replay", match, "--step")) as terminal:
        terminal.expect("space next")
        terminal.press("\x03")
        assert 130 == terminal.end()
        assert "Traceback" not in terminal.text


def test_a_signal_to_end_leaves_the_terminal_as_it_was(match: str) -> None:
    with Terminal(("replay", match, "--step")) as terminal:
        terminal.expect("space next")
        terminal.process.send_signal(signal.SIGTERM)
        assert 128 + 15 == terminal.end()
        assert "Traceback" not in terminal.text


def test_without_pauses_a_capture_runs_to_its_end() -> None:
    with Terminal(("replay", str(WATCHED), "--speed", "max")) as terminal:
        terminal.expect("SomeBot_39", "The match was not seen to its end.")
        assert 0 == terminal.end()


def test_a_show_can_be_stopped_and_goes_on(match: str) -> None:
    with Terminal(("replay", match, "--speed", "0.01")) as terminal:
        terminal.expect("space pause")
        terminal.press(" ")
        terminal.expect("space next")
        terminal.press("p")
        terminal.expect("space pause")
        terminal.press("q")
        assert 0 == terminal.end()


def test_an_unreadable_file_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text("nothing that a server says\n", encoding="utf-8")
    with Terminal(("replay", str(path))) as terminal:
        assert 2 == terminal.end()
        assert "fibsbot: cannot read " in terminal.text
        assert "got a text without any line of a server" in " ".join(terminal.text.split())


def test_a_strict_show_ends_at_the_first_difference() -> None:
    lies = WATCHED.parent / "client_test_lines.txt"
    with Terminal(("replay", str(lies), "--speed", "max", "--strict")) as terminal:
        assert 1 == terminal.end()
        assert "theirs" in terminal.text
