"""A replay in a terminal: a board that is redrawn at playback speed or step by step, and the keys that control it.

The terminal's settings are restored at the end, whatever happens.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from attrs import define, evolve, field, frozen
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fibsbot.drawing.board_text import draw_game
from fibsbot.drawing.coloured_board import styled_board
from fibsbot.drawing.markup import clean
from fibsbot.replay import event_text, events
from fibsbot.replay.keys import Key, KeyReader
from fibsbot.replay.places import Place
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Gap, Step

FRAMES_KEPT: Final = 10_000
"""Frames that are kept for going back."""
MAX_LAST_LINES: Final = 6
"""Lines of history below the board, if the terminal has room."""
LONGEST_PAUSE: Final = 10.0
"""Seconds of a pause between two frames, at most."""
ACTION_WIDTH: Final = 24
"""Characters of the column of actions."""
DEFAULT_PAUSE: Final = 1.5
"""Seconds per frame if no times are known."""
USUAL_BOARD: Final = 15
"""Lines of the board of backgammon; those of other games may have more below."""
LINES_AROUND_BOARD: Final = 7
"""Lines of a frame without board and history; a shorter terminal gets one line of history and no blank lines."""
_HELP_STEP: Final = "space next, left back, g next game, p play on, q quit"
_HELP_PLAY: Final = "space pause, right next, g next game, q quit"
_STYLES: Final = {"!": "bold red", "-": "yellow", "+": "cyan"}
"""Style of a line by its first character: a difference, a gap, a reconstructed entry."""


@frozen
class BoardFrame:
    """One frame of a replay."""

    heading: str
    """Number, players and length of the match."""
    names: tuple[str, str]
    bottom_seat: Seat
    """The player at the bottom of the board."""
    place: Place
    lines: tuple[str, ...]
    """New lines of history, each with the mark of its style."""
    state: GameState | None = None
    at: dt.datetime | None = None
    begins_game: bool = False


def board_frames(replayed: Iterable[events.MatchEvent]) -> Iterator[BoardFrame]:
    """Yield a frame for each event."""
    frame: BoardFrame | None = None
    for event in replayed:
        if isinstance(event, events.MatchBegan):
            frame = _first_frame(event)
        elif frame is None:
            continue
        else:
            frame = _next_frame(evolve(frame, lines=(), begins_game=False), event)
        yield frame


def _first_frame(began: events.MatchBegan) -> BoardFrame:
    match = began.transcript
    heading = event_text.match_text(began)
    bottom_seat = Seat.A if match.user is None else match.user
    return BoardFrame(heading, event_text.shown_names(match), bottom_seat, Place(began.match), (), at=began.at)


def _next_frame(frame: BoardFrame, event: events.MatchEvent) -> BoardFrame:
    match event:
        case events.GameBegan(match=match, game=game):
            line = f"  Game {game.number}{', Crawford game' if game.start.crawford else ''}"
            missing = event_text.missing_beginning_text(game)
            lines = (line, f"- missing: {missing}") if missing else (line,)
            place = Place(match, game.number)
            return evolve(frame, place=place, state=game.start, lines=lines, begins_game=True)
        case events.EntryAdded(match=match, step=step):
            at = step.entry.at or frame.at
            place = Place(match, step.game, step.turn)
            return evolve(frame, place=place, state=step.after, at=at, lines=tuple(_entry_lines(step, frame.names)))
        case events.DifferenceFound(differences=differences):
            shown = (
                f"! byte {event.offset}: {event_text.difference_text(difference)}"
                for difference in islice(differences, MAX_LAST_LINES)
            )
            return evolve(frame, lines=tuple(shown), at=event.at or frame.at)
        case events.GameEnded(game=game, end=end):
            return evolve(frame, lines=(f"  {event_text.result_text(game.result, end, frame.names)}",))
        case events.MatchEnded(transcript=transcript):
            return evolve(frame, lines=(f"  {event_text.match_end_text(transcript)}",), at=transcript.ended or frame.at)
    return frame


def _entry_lines(step: Step, names: tuple[str, str]) -> Iterator[str]:
    entry = step.entry
    if isinstance(entry, Gap):
        yield f"- missing: {clean(entry.reason, event_text.LONGEST_TEXT)}"
        return
    mark = "+" if entry.rebuilt else " "
    known = [
        "" if entry.equity is None else f"equity {entry.equity:+.3f}",
        "" if entry.seconds is None else f"{entry.seconds:.1f} s",
    ]
    width = max(map(len, names))
    for seat, action in event_text.entry_actions(step):
        facts = "   ".join(filter(None, known))
        yield f"{mark} {step.turn:>3}  {names[seat]:{width}}  {action:{ACTION_WIDTH}}  {facts}".rstrip()
        known = []


# -- frames ---------------------------------------------------------------------------------------------------------


@define
class FrameHistory:
    """Frames, with moving forwards and, as far as they are kept, backwards."""

    _coming: Iterator[BoardFrame]
    _seen: deque[BoardFrame] = field(factory=lambda: deque(maxlen=FRAMES_KEPT))
    _back: int = 0
    """Number of frames between the current one and the last that was seen."""
    _peeked: BoardFrame | None = None

    @property
    def current(self) -> BoardFrame | None:
        """The current frame; None before the first."""
        return self._seen[-1 - self._back] if self._seen else None

    def peek(self) -> BoardFrame | None:
        """Return the frame after the current one; None at the end."""
        if self._back:
            return self._seen[-self._back]
        if self._peeked is None:
            self._peeked = next(self._coming, None)
        return self._peeked

    def next(self) -> bool:
        """Move to the next frame; return False at the end."""
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
        """Move to the previous frame; return False if it is not kept."""
        if self._back + 1 >= len(self._seen):
            return False
        self._back += 1
        return True

    def next_game(self) -> bool:
        """Move to the start of the next game, or to the end."""
        moved = False
        while self.next():
            moved = True
            if self.current is not None and self.current.begins_game:
                break
        return moved

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of history up to the current frame."""
        lines: deque[str] = deque(maxlen=count)
        end = len(self._seen) - self._back
        for frame in islice(self._seen, max(0, end - count), end):
            lines.extend(frame.lines)
        return list(lines)


# -- the board ------------------------------------------------------------------------------------------------------


@define
class FramePainter:
    """Draws frames, each in place of the one before."""

    console: Console
    live: Live

    def draw(self, history: FrameHistory, status: str) -> None:
        """Show the current frame."""
        frame = history.current
        if frame is None:
            return
        board = list(_board(frame))
        shown = sum(text.plain.count("\n") + 1 for text in board)
        room = min(MAX_LAST_LINES, self.console.height - LINES_AROUND_BOARD - max(shown, USUAL_BOARD))
        blank = [Text()] if room > 0 else []
        *before, last = map(_styled, ["", *history.last_lines(max(room, 1))])
        last.stylize("bold")
        help_line = Text(status, style="dim", no_wrap=True, overflow="ellipsis")
        self.live.update(
            Group(*_heading(frame), *blank, *board, *blank, *before[1:], last, *blank, help_line), refresh=True
        )


def _heading(frame: BoardFrame) -> Iterator[Text]:
    yield Text(frame.heading, style="bold", no_wrap=True, overflow="ellipsis")
    place = frame.place
    where = [f"game {place.game}" if place.game else "", f"turn {place.turn}" if place.turn else ""]
    yield Text("   ".join(filter(None, [*where, str(place), event_text.time_text(frame.at)])), no_wrap=True)


def _board(frame: BoardFrame) -> Iterator[Text]:
    state = frame.state
    if state is None:
        return
    yield styled_board(draw_game(state, frame.bottom_seat, frame.names))
    sides = state.sides_for(frame.bottom_seat)
    a, b = frame.names[frame.bottom_seat], frame.names[frame.bottom_seat.other]
    yield Text(f"   Pips: {a} {sides.own.pips}, {b} {sides.opponent.pips}", no_wrap=True)


def _styled(line: str) -> Text:
    style = _STYLES.get(line[:1], "")
    return Text(line, style=style, no_wrap=True, overflow="ellipsis")


# -- playback -------------------------------------------------------------------------------------------------------


@define
class TerminalReplay:
    """Plays frames back, controlled by keys."""

    history: FrameHistory
    console: Console
    keys: KeyReader
    speed: float
    """Playback speed factor; 0: no pauses."""
    stepping: bool
    start: Place | None = None
    """The first place that is shown."""

    def run(self) -> bool:
        """Show all frames; return False if the user quits before the end."""
        with self.keys, Live(console=self.console, auto_refresh=False, vertical_overflow="crop") as live:
            screen = FramePainter(self.console, live)
            while self.history.next() and self._is_early():
                pass
            while True:
                screen.draw(self.history, self._status())
                if self.history.peek() is None and not self.stepping:
                    return True
                key = self.keys.wait(None if self.stepping else self._pause())
                if key is Key.QUIT:
                    return self.history.peek() is None
                self._handle_key(key)

    def _is_early(self) -> bool:
        frame = self.history.current
        return self.start is not None and frame is not None and frame.place < self.start

    def _handle_key(self, key: Key | None) -> None:
        """Carry out a key; None moves to the next frame."""
        match key:
            case Key.SPACE if not self.stepping:
                self.stepping = True
            case Key.TOGGLE_PAUSE:
                self.stepping = not self.stepping
            case Key.PREVIOUS:
                self.stepping = True
                self.history.previous()
            case Key.GAME:
                self.history.next_game()
            case _:
                self.history.next()

    def _pause(self) -> float:
        """Return the seconds until the next frame, from the recorded times if they are known."""
        now, then = self.history.current, self.history.peek()
        if not self.speed or now is None or then is None:
            return 0.0
        if now.at is None or then.at is None:
            return DEFAULT_PAUSE / self.speed
        seconds = (then.at - now.at).total_seconds()
        return min(max(seconds, 0.0), LONGEST_PAUSE) / self.speed

    def _status(self) -> str:
        if self.stepping:
            return _HELP_STEP if self.history.peek() else f"The end. {_HELP_STEP}"
        return _HELP_PLAY if self.keys.is_listening else ""
