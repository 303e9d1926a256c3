"""Shows a replay in a terminal: one picture that changes, as fast as it was played, or step by step."""

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

from fibsbot.draw.markup import clean
from fibsbot.draw.text import draw_game, styled
from fibsbot.replay.happenings import (
    Differed,
    GameBegan,
    GameEnded,
    Happened,
    Happening,
    MatchBegan,
    MatchEnded,
)
from fibsbot.replay.keys import Key, Keys
from fibsbot.replay.places import Place
from fibsbot.replay.telling import (
    LONGEST_TEXT,
    beginning_in_words,
    deeds,
    difference_in_words,
    end_in_words,
    match_in_words,
    names_of,
    result_in_words,
    time_in_words,
)
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Gap, Step

KEPT: Final = 10_000
"""Frames to which one can go back."""
LAST: Final = 6
"""Lines below the board, if the terminal has room for them."""
LONGEST_PAUSE: Final = 10.0
"""Seconds of a pause as it was played, at most."""
PLAY: Final = 24
"""Characters of the column of what was done."""
USUAL_PAUSE: Final = 1.5
"""Seconds for each step where no times are known."""
HEIGHT: Final = 22
"""Lines of a picture without the last lines; a lower terminal gets one of them, and no blank lines."""
_HELP_STEP: Final = "space next, left back, g next game, p play on, q quit"
_HELP_PLAY: Final = "space pause, right next, g next game, q quit"
_STYLES: Final = {"!": "bold red", "-": "yellow", "+": "cyan"}
"""Of a line, by the mark it begins with: a difference, something missing, something rebuilt."""


@frozen
class Frame:
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


def frames(happenings: Iterable[Happening]) -> Iterator[Frame]:
    """Make a frame of everything that happens."""
    frame: Frame | None = None
    for happening in happenings:
        if isinstance(happening, MatchBegan):
            frame = _first(happening)
        elif frame is None:
            continue
        else:
            frame = _next(evolve(frame, lines=(), begins_game=False), happening)
        yield frame


def _first(began: MatchBegan) -> Frame:
    match = began.transcript
    heading = match_in_words(began)
    below = Seat.A if match.user is None else match.user
    return Frame(heading, names_of(match), below, Place(began.match), (), at=began.at)


def _next(frame: Frame, happening: Happening) -> Frame:
    match happening:
        case GameBegan(match=match, game=game):
            line = f"  Game {game.number}{', Crawford game' if game.start.crawford else ''}"
            missing = beginning_in_words(game)
            told = (line, f"- missing: {missing}") if missing else (line,)
            place = Place(match, game.number)
            return evolve(frame, place=place, state=game.start, lines=told, begins_game=True)
        case Happened(match=match, step=step):
            at = step.entry.at or frame.at
            place = Place(match, step.game, step.turn)
            return evolve(frame, place=place, state=step.after, at=at, lines=tuple(_lines(step, frame.names)))
        case Differed(differences=differences):
            lines = (f"! byte {happening.offset}: {difference_in_words(it)}" for it in islice(differences, LAST))
            return evolve(frame, lines=tuple(lines), at=happening.at or frame.at)
        case GameEnded(game=game):
            return evolve(frame, lines=(f"  {result_in_words(game.result, frame.names)}",))
        case MatchEnded(transcript=transcript):
            return evolve(frame, lines=(f"  {end_in_words(transcript)}",), at=transcript.ended or frame.at)
    return frame


def _lines(step: Step, names: tuple[str, str]) -> Iterator[str]:
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
    for seat, deed in deeds(step):
        facts = "   ".join(filter(None, known))
        yield f"{mark} {step.turn:>3}  {names[seat]:{width}}  {deed:{PLAY}}  {facts}".rstrip()
        known = []


# -- the film -------------------------------------------------------------------------------------------------------


@define
class Film:
    """Frames that can be gone through forwards and, as far as they are kept, backwards."""

    _coming: Iterator[Frame]
    _seen: deque[Frame] = field(factory=lambda: deque(maxlen=KEPT))
    _back: int = 0
    """How many frames the present one is before the last that was seen."""
    _peeked: Frame | None = None

    @property
    def current(self) -> Frame | None:
        """The present frame; None before the first."""
        return self._seen[-1 - self._back] if self._seen else None

    def peek(self) -> Frame | None:
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
class Screen:
    """Draws frames, one over the other."""

    console: Console
    live: Live

    def draw(self, film: Film, status: str) -> None:
        """Show the present frame."""
        frame = film.current
        if frame is None:
            return
        room = min(LAST, self.console.height - HEIGHT)
        blank = [Text()] if room > 0 else []
        *before, last = map(_styled, ["", *film.last_lines(max(room, 1))])
        last.stylize("bold")
        help_line = Text(status, style="dim", no_wrap=True, overflow="ellipsis")
        self.live.update(
            Group(*_heading(frame), *blank, *_board(frame), *blank, *before[1:], last, *blank, help_line), refresh=True
        )


def _heading(frame: Frame) -> Iterator[Text]:
    yield Text(frame.heading, style="bold", no_wrap=True, overflow="ellipsis")
    place = frame.place
    where = [f"game {place.game}" if place.game else "", f"turn {place.turn}" if place.turn else ""]
    yield Text("   ".join(filter(None, [*where, str(place), time_in_words(frame.at)])), no_wrap=True)


def _board(frame: Frame) -> Iterator[Text]:
    state = frame.state
    if state is None:
        return
    yield styled(draw_game(state, frame.below, frame.names))
    position = state.position_for(frame.below)
    a, b = frame.names[frame.below], frame.names[frame.below.other]
    yield Text(f"   Pips: {a} {position.pips}, {b} {position.opponent_pips}", no_wrap=True)


def _styled(line: str) -> Text:
    style = _STYLES.get(line[:1], "")
    return Text(line, style=style, no_wrap=True, overflow="ellipsis")


# -- the show -------------------------------------------------------------------------------------------------------


@define
class Show:
    """Shows a film, and obeys keys."""

    film: Film
    console: Console
    keys: Keys
    speed: float
    """Times as fast as it was played; 0 is without any pause."""
    stepping: bool
    start: Place | None = None
    """Where to begin: what comes before only says which match and game it is."""

    def run(self) -> bool:
        """Show everything; return False if somebody quits before the end."""
        with self.keys, Live(console=self.console, auto_refresh=False, vertical_overflow="crop") as live:
            screen = Screen(self.console, live)
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
            return USUAL_PAUSE / self.speed
        seconds = (then.at - now.at).total_seconds()
        return min(max(seconds, 0.0), LONGEST_PAUSE) / self.speed

    def _status(self) -> str:
        if self.stepping:
            return _HELP_STEP if self.film.peek() else f"The end. {_HELP_STEP}"
        return _HELP_PLAY if self.keys.heard else ""
