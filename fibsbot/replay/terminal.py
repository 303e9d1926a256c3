"""A replay in a terminal: a board that is redrawn at playback speed or step by step, and the keys that control it.

The terminal's settings are restored at the end, whatever happens.
"""

from __future__ import annotations

import datetime as dt
import enum
import os
import re
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self

from attrs import define, evolve, field, frozen
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fibsbot.draw.markup import clean
from fibsbot.draw.text import draw_game, styled_board
from fibsbot.replay.event_text import (
    LONGEST_TEXT,
    difference_text,
    entry_actions,
    match_end_text,
    match_text,
    missing_beginning_text,
    result_text,
    shown_names,
    time_text,
)
from fibsbot.replay.events import (
    DifferenceFound,
    EntryAdded,
    GameBegan,
    GameEnded,
    MatchBegan,
    MatchEnded,
    MatchEvent,
    Place,
)
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Gap, Step

try:
    import termios
    import tty
except ImportError:  # where there is no such terminal, no key is heard
    HAVE_TERMINALS = False
else:
    HAVE_TERMINALS = True


class Key(enum.Enum):
    """What a key is for."""

    SPACE = enum.auto()
    NEXT = enum.auto()
    PREVIOUS = enum.auto()
    GAME = enum.auto()
    PLAY = enum.auto()
    QUIT = enum.auto()


_KEYS: Final = {
    b" ": Key.SPACE,
    b"\r": Key.NEXT,
    b"\n": Key.NEXT,
    b"n": Key.NEXT,
    b"l": Key.NEXT,
    b"\x1b[C": Key.NEXT,
    b"\x1bOC": Key.NEXT,
    b"b": Key.PREVIOUS,
    b"h": Key.PREVIOUS,
    b"\x7f": Key.PREVIOUS,
    b"\b": Key.PREVIOUS,
    b"\x1b[D": Key.PREVIOUS,
    b"\x1bOD": Key.PREVIOUS,
    b"g": Key.GAME,
    b"\x1b[B": Key.GAME,
    b"\x1bOB": Key.GAME,
    b"\x1b[6~": Key.GAME,
    b"p": Key.PLAY,
    b"q": Key.QUIT,
    b"Q": Key.QUIT,
    b"\x04": Key.QUIT,
}
_LONGEST_KEY: Final = max(map(len, _KEYS))
_SEQUENCE: Final = re.compile(rb"\x1b[\[O][0-9;]*[@-~]?")
"""What a key sends that has a name instead of a letter."""
_ESCAPE_PAUSE: Final = 0.05
"""Seconds within which the rest of an arrow key comes."""


class _SignalPipe:
    """A pipe that is readable as soon as a signal has come.

    One that comes just before `select` begins would not end its wait: Python heeds it only afterwards.
    """

    def __init__(self) -> None:
        self.pipe, self._end = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(self._end, False)
        self._usual = signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)

    def close(self) -> None:
        signal.set_wakeup_fd(self._usual)
        os.close(self.pipe)
        os.close(self._end)


@define
class KeyReader:
    """Listens to a terminal; where there is none it hears nothing, and waits all the same."""

    fd: int | None
    """Of the terminal; None for no terminal."""
    _before: list[Any] | None = None
    _terminated: Any = None
    _held: bytes = b""
    _waker: _SignalPipe | None = None

    @classmethod
    def of_stdin(cls) -> Self:
        """Listen to the standard input, if that is a terminal."""
        heard = HAVE_TERMINALS and sys.stdin is not None and sys.stdin.isatty()
        return cls(sys.stdin.fileno() if heard else None)

    @property
    def heard(self) -> bool:
        """Whether keys are heard."""
        return self.fd is not None

    def __enter__(self) -> Self:
        if self.fd is not None:
            self._terminated = signal.signal(signal.SIGTERM, _exit_on_signal)
            self._waker = _SignalPipe()
            self._before = termios.tcgetattr(self.fd)
            tty.setcbreak(self.fd, termios.TCSADRAIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd is not None and self._before is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)
            signal.signal(signal.SIGTERM, self._terminated)
        if self._waker is not None:
            self._waker.close()
            self._waker = None

    def wait(self, seconds: float | None) -> Key | None:
        """Return the next key that means something; None if none came in time. None waits as long as it takes."""
        if self.fd is None:
            time.sleep(seconds or 0.0)
            return None
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._held and not self._read(left):
                return None
            key = self._take()
            if key is not None:
                return key

    def _read(self, seconds: float | None) -> bool:
        """Read what was typed; return whether anything was. A terminal that is gone says quit."""
        if self.fd is None:
            return False
        listening = [self.fd] if self._waker is None else [self.fd, self._waker.pipe]
        ready = select.select(listening, [], [], seconds)[0]
        if self._waker is not None and self._waker.pipe in ready:
            os.read(self._waker.pipe, 64)  # a signal that lets the wait go on is heard once
        if self.fd not in ready:
            return bool(ready)
        try:
            data = os.read(self.fd, 64)
        except OSError:
            data = b""
        self._held += data or b"q"
        return True

    def _take(self) -> Key | None:
        """Take one key from what was read; None for one without a meaning."""
        if self._held == b"\x1b":
            self._read(_ESCAPE_PAUSE)
        for length in range(min(_LONGEST_KEY, len(self._held)), 0, -1):
            key = _KEYS.get(self._held[:length])
            if key is not None:
                self._held = self._held[length:]
                return key
        unknown = _SEQUENCE.match(self._held)
        self._held = self._held[unknown.end() if unknown else 1 :]
        return None


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    """Leave by an exception, so that the terminal is put right."""
    raise SystemExit(128 + number)


FRAMES_KEPT: Final = 10_000
"""Frames to which one can go back."""
MAX_LAST_LINES: Final = 6
"""Lines below the board, if the terminal has room for them."""
LONGEST_PAUSE: Final = 10.0
"""Seconds of a pause as it was played, at most."""
ACTION_WIDTH: Final = 24
"""Characters of the column of what was done."""
DEFAULT_PAUSE: Final = 1.5
"""Seconds for each step where no times are known."""
BOARD_HEIGHT: Final = 22
"""Lines of a picture without the last lines; a lower terminal gets one of them, and no blank lines."""
_HELP_STEP: Final = "space next, left back, g next game, p play on, q quit"
_HELP_PLAY: Final = "space pause, right next, g next game, q quit"
_STYLES: Final = {"!": "bold red", "-": "yellow", "+": "cyan"}
"""Of a line, by the mark it begins with: a difference, something missing, something rebuilt."""


@frozen
class BoardFrame:
    """What the picture shows at a time."""

    heading: str
    """Which match."""
    names: tuple[str, str]
    below: Seat
    """From whose side the board is seen."""
    place: Place
    lines: tuple[str, ...]
    """What has happened, each with the mark of its style."""
    state: GameState | None = None
    at: dt.datetime | None = None
    begins_game: bool = False


def board_frames(happenings: Iterable[MatchEvent]) -> Iterator[BoardFrame]:
    """Make a frame of everything that happens."""
    frame: BoardFrame | None = None
    for happening in happenings:
        if isinstance(happening, MatchBegan):
            frame = _first_frame(happening)
        elif frame is None:
            continue
        else:
            frame = _next_frame(evolve(frame, lines=(), begins_game=False), happening)
        yield frame


def _first_frame(began: MatchBegan) -> BoardFrame:
    match = began.transcript
    heading = match_text(began)
    below = Seat.A if match.user is None else match.user
    return BoardFrame(heading, shown_names(match), below, Place(began.match), (), at=began.at)


def _next_frame(frame: BoardFrame, happening: MatchEvent) -> BoardFrame:
    match happening:
        case GameBegan(match=match, game=game):
            line = f"  Game {game.number}{', Crawford game' if game.start.crawford else ''}"
            missing = missing_beginning_text(game)
            told = (line, f"- missing: {missing}") if missing else (line,)
            place = Place(match, game.number)
            return evolve(frame, place=place, state=game.start, lines=told, begins_game=True)
        case EntryAdded(match=match, step=step):
            at = step.entry.at or frame.at
            place = Place(match, step.game, step.turn)
            return evolve(frame, place=place, state=step.after, at=at, lines=tuple(_entry_lines(step, frame.names)))
        case DifferenceFound(differences=differences):
            lines = (f"! byte {happening.offset}: {difference_text(it)}" for it in islice(differences, MAX_LAST_LINES))
            return evolve(frame, lines=tuple(lines), at=happening.at or frame.at)
        case GameEnded(game=game):
            return evolve(frame, lines=(f"  {result_text(game.result, frame.names)}",))
        case MatchEnded(transcript=transcript):
            return evolve(frame, lines=(f"  {match_end_text(transcript)}",), at=transcript.ended or frame.at)
    return frame


def _entry_lines(step: Step, names: tuple[str, str]) -> Iterator[str]:
    entry = step.entry
    if isinstance(entry, Gap):
        yield f"- missing: {clean(entry.reason, LONGEST_TEXT)}"
        return
    mark = "+" if entry.rebuilt else " "
    known = [
        "" if entry.equity is None else f"equity {entry.equity:+.3f}",
        "" if entry.seconds is None else f"{entry.seconds:.1f} s",
    ]
    width = max(map(len, names))
    for seat, deed in entry_actions(step):
        facts = "   ".join(filter(None, known))
        yield f"{mark} {step.turn:>3}  {names[seat]:{width}}  {deed:{ACTION_WIDTH}}  {facts}".rstrip()
        known = []


# -- the film -------------------------------------------------------------------------------------------------------


@define
class FrameHistory:
    """Frames that can be gone through forwards and, as far as they are kept, backwards."""

    _coming: Iterator[BoardFrame]
    _seen: deque[BoardFrame] = field(factory=lambda: deque(maxlen=FRAMES_KEPT))
    _back: int = 0
    """How many frames the present one is before the last that was seen."""
    _peeked: BoardFrame | None = None

    @property
    def current(self) -> BoardFrame | None:
        """The present frame; None before the first."""
        return self._seen[-1 - self._back] if self._seen else None

    def peek(self) -> BoardFrame | None:
        """Return the frame after the present one; None at the end."""
        if self._back:
            return self._seen[-self._back]
        if self._peeked is None:
            self._peeked = next(self._coming, None)
        return self._peeked

    def next(self) -> bool:
        """Go on to the next frame, if there is one."""
        frame = self.peek()
        if frame is None:
            return False
        if self._back:
            self._back -= 1
        else:
            self._seen.append(frame)
            self._peeked = None
        return True

    def previous(self) -> bool:
        """Go back, if that is possible."""
        if self._back + 1 >= len(self._seen):
            return False
        self._back += 1
        return True

    def next_game(self) -> bool:
        """Go on to where the next game begins, or to the end."""
        moved = False
        while self.next():
            moved = True
            if self.current is not None and self.current.begins_game:
                break
        return moved

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of what has happened so far."""
        lines: deque[str] = deque(maxlen=count)
        end = len(self._seen) - self._back
        for frame in islice(self._seen, max(0, end - count), end):
            lines.extend(frame.lines)
        return list(lines)


# -- the picture ----------------------------------------------------------------------------------------------------


@define
class FramePainter:
    """Draws frames, one over the other."""

    console: Console
    live: Live

    def draw(self, film: FrameHistory, status: str) -> None:
        """Show the present frame."""
        frame = film.current
        if frame is None:
            return
        room = min(MAX_LAST_LINES, self.console.height - BOARD_HEIGHT)
        blank = [Text()] if room > 0 else []
        *before, last = map(_styled, ["", *film.last_lines(max(room, 1))])
        last.stylize("bold")
        help_line = Text(status, style="dim", no_wrap=True, overflow="ellipsis")
        self.live.update(
            Group(*_heading(frame), *blank, *_board(frame), *blank, *before[1:], last, *blank, help_line), refresh=True
        )


def _heading(frame: BoardFrame) -> Iterator[Text]:
    yield Text(frame.heading, style="bold", no_wrap=True, overflow="ellipsis")
    place = frame.place
    where = [f"game {place.game}" if place.game else "", f"turn {place.turn}" if place.turn else ""]
    yield Text("   ".join(filter(None, [*where, str(place), time_text(frame.at)])), no_wrap=True)


def _board(frame: BoardFrame) -> Iterator[Text]:
    state = frame.state
    if state is None:
        return
    yield styled_board(draw_game(state, frame.below, frame.names))
    position = state.position_for(frame.below)
    a, b = frame.names[frame.below], frame.names[frame.below.other]
    yield Text(f"   Pips: {a} {position.pips}, {b} {position.opponent_pips}", no_wrap=True)


def _styled(line: str) -> Text:
    style = _STYLES.get(line[:1], "")
    return Text(line, style=style, no_wrap=True, overflow="ellipsis")


# -- the show -------------------------------------------------------------------------------------------------------


@define
class TerminalReplay:
    """Shows a film, and obeys keys."""

    film: FrameHistory
    console: Console
    keys: KeyReader
    speed: float
    """Times as fast as it was played; 0 is without any pause."""
    stepping: bool
    start: Place | None = None
    """Where to begin: what comes before only says which match and game it is."""

    def run(self) -> bool:
        """Show everything; return False if somebody quits before the end."""
        with self.keys, Live(console=self.console, auto_refresh=False, vertical_overflow="crop") as live:
            screen = FramePainter(self.console, live)
            while self.film.next() and self._is_early():
                pass
            while True:
                screen.draw(self.film, self._status())
                if self.film.peek() is None and not self.stepping:
                    return True
                key = self.keys.wait(None if self.stepping else self._pause())
                if key is Key.QUIT:
                    return self.film.peek() is None
                self._obey(key)

    def _is_early(self) -> bool:
        frame = self.film.current
        return self.start is not None and frame is not None and frame.place < self.start

    def _obey(self, key: Key | None) -> None:
        """Do what a key says; without one it goes on."""
        match key:
            case Key.SPACE if not self.stepping:
                self.stepping = True
            case Key.PLAY:
                self.stepping = not self.stepping
            case Key.PREVIOUS:
                self.stepping = True
                self.film.previous()
            case Key.GAME:
                self.film.next_game()
            case _:
                self.film.next()

    def _pause(self) -> float:
        """Return the seconds until the next frame, as it was played if that is known."""
        now, then = self.film.current, self.film.peek()
        if not self.speed or now is None or then is None:
            return 0.0
        if now.at is None or then.at is None:
            return DEFAULT_PAUSE / self.speed
        seconds = (then.at - now.at).total_seconds()
        return min(max(seconds, 0.0), LONGEST_PAUSE) / self.speed

    def _status(self) -> str:
        if self.stepping:
            return _HELP_STEP if self.film.peek() else f"The end. {_HELP_STEP}"
        return _HELP_PLAY if self.keys.heard else ""
