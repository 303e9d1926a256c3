"""`fibsbot replay` in a real terminal: the live board, keys, and a terminal that is afterwards as it was before."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path
from typing import Any, Final, Self

import pytest
from attrs import define, field

from fibsbot.formats.transcript_json import write_json
from tests.forked import Forked, start
from tests.patience import SOON
from tests.replay.sample_match import sample_transcript

WATCHED: Final = Path(__file__).parent.parent / "data" / "protocol" / "session_watch.txt"
CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

pytestmark = pytest.mark.slow


@define
class Terminal:
    """A terminal of 100 columns and 36 lines in which a command runs."""

    arguments: tuple[str, ...]
    size: tuple[int, int] = (36, 100)
    text: str = ""
    """The output since the last key, without control sequences."""
    before: list[Any] = field(init=False)
    _fd: int = field(init=False)
    _inner: int = field(init=False)
    process: Forked = field(init=False)

    def __enter__(self) -> Self:
        self._fd, self._inner = pty.openpty()
        fcntl.ioctl(self._inner, termios.TIOCSWINSZ, struct.pack("HHHH", *self.size, 0, 0))
        self.before = termios.tcgetattr(self._inner)
        environment = {**os.environ, "TERM": "xterm-256color", "LINES": "", "COLUMNS": ""}
        self.process = start("fibsbot", "replay", *self.arguments, environment=environment, terminal=self._inner)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.process.join()
        os.close(self._fd)
        os.close(self._inner)

    def press(self, keys: str) -> None:
        """Press keys, and forget what was shown before."""
        self.text = ""
        os.write(self._fd, keys.encode())

    def expect(self, *parts: str) -> str:
        """Wait until all of these were shown; return everything that was."""
        end = time.monotonic() + SOON
        while not all(part in self.text for part in parts):
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"expected {parts}, got {self.text[-2000:]!r}")
        return self.text

    def end(self) -> int:
        """Wait for the command to end and check that the terminal is restored; return its exit status."""
        end = time.monotonic() + SOON
        while self.process.returncode is None and time.monotonic() < end:
            self._read(0.05)
        while self._read(0.05):
            pass
        assert self.before == termios.tcgetattr(self._inner)
        assert self.process.returncode is not None
        return self.process.returncode

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self._fd], [], [], seconds)[0]:
            return False
        self.text += CONTROL.sub("", os.read(self._fd, 2**16).decode("utf-8", "replace"))
        return True


@pytest.fixture
def match(tmp_path: Path) -> str:
    """Write the sample match into a file; return its path."""
    path = tmp_path / "match.json"
    path.write_text(write_json(sample_transcript()), encoding="utf-8")
    return str(path)


def test_a_match_is_gone_through_step_by_step(match: str) -> None:
    with Terminal((match, "--step")) as terminal:
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
    with Terminal((match, "--step", "--start", "1/1/8")) as terminal:
        terminal.expect("game 1   turn 8   1/1/8", "8  marvin  rejects")
        terminal.press("q")
        assert 0 == terminal.end()


def test_ctrl_c_leaves_the_terminal_as_it_was(match: str) -> None:
    with Terminal((match, "--step")) as terminal:
        terminal.expect("space next")
        terminal.press("\x03")
        assert 130 == terminal.end()
        assert "Traceback" not in terminal.text


def test_a_signal_to_end_leaves_the_terminal_as_it_was(match: str) -> None:
    with Terminal((match, "--step")) as terminal:
        terminal.expect("space next")
        terminal.process.send_signal(signal.SIGTERM)
        assert 128 + 15 == terminal.end()
        assert "Traceback" not in terminal.text


def test_without_pauses_a_capture_runs_to_its_end() -> None:
    with Terminal((str(WATCHED), "--speed", "max")) as terminal:
        terminal.expect("SomeBot_39", "The match was not seen to its end.")
        assert 0 == terminal.end()


def test_a_show_can_be_stopped_and_goes_on(match: str) -> None:
    with Terminal((match, "--speed", "0.01")) as terminal:
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
    with Terminal((str(path),)) as terminal:
        assert 2 == terminal.end()
        assert "fibsbot: cannot read " in terminal.text
        assert "got a text without any line of a server" in " ".join(terminal.text.split())


def test_a_strict_show_ends_at_the_first_difference() -> None:
    lies = WATCHED.parent / "client_test_lines.txt"
    with Terminal((str(lies), "--speed", "max", "--strict")) as terminal:
        assert 1 == terminal.end()
        assert "theirs" in terminal.text
