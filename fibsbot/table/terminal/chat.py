"""What people say, in the terminal: the lines by their kinds, and the line that is typed, to whom it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from attrs import frozen
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Static

from fibsbot.table.orders import LONGEST_TEXT
from fibsbot.table.server_host import ServerHost
from fibsbot.table.server_lobby import ChatLine, LineKind
from fibsbot.table.terminal.canvas import Canvas, plain
from fibsbot.table.terminal.colours import Colours
from fibsbot.table.terminal.line_input import LineInput

KINDS: Final[Mapping[str, frozenset[LineKind]]] = {
    "all": frozenset(LineKind),
    "tells": frozenset({LineKind.TELL}),
    "match": frozenset({LineKind.KIBITZ, LineKind.WHISPER}),
    "shouts": frozenset({LineKind.SHOUT}),
}
"""The kinds of lines that are shown together."""


def line_in_words(line: ChatLine) -> str:
    """Return who says what, or a notice."""
    if line.kind is LineKind.NOTICE:
        return f"* {line.text}"
    name = "you" if line.own else line.name
    return f"{name}: {line.text}" if line.kind is LineKind.TELL else f"{name} ({line.kind.value}): {line.text}"


def wrapped(line: ChatLine, width: int) -> list[str]:
    """Return a line in lines of a width."""
    return wrap(plain(line_in_words(line)), max(width, 10), subsequent_indent="  ")


def style_of(line: ChatLine, colours: Colours) -> Style:
    """Return how a line looks."""
    if line.kind is LineKind.NOTICE:
        return colours.faint
    return colours.own if line.own else colours.opponent if line.kind is LineKind.TELL else colours.screen


class ChatLog:
    """The lines of the lobby, from the newest up."""

    def __init__(self, lines: Sequence[ChatLine]) -> None:
        """Show these lines, to which others are added."""
        self._lines = lines
        self.kinds = "all"
        """The name of the kinds that are shown."""
        self._back = 0
        """How many lines below are not shown."""

    def change_kinds(self, name: str = "") -> None:
        """Show lines of other kinds, by default the next."""
        names = list(KINDS)
        self.kinds = name or names[(names.index(self.kinds) + 1) % len(names)]
        self._back = 0

    def scroll(self, lines: int) -> None:
        """Scroll up by a number of lines, to older ones; down if it is negative."""
        self._back = max(self._back + lines, 0)

    def draw(self, width: int, height: int, colours: Colours) -> Canvas:
        """Draw as many lines as there is room for."""
        canvas = Canvas(width, height, colours.screen)
        found: list[tuple[str, Style]] = []
        for line in reversed(self._lines):
            if len(found) >= height + self._back:
                break
            if line.kind in KINDS[self.kinds]:
                style = style_of(line, colours)
                found += [(text, style) for text in reversed(wrapped(line, width))]
        self._back = max(min(self._back, len(found) - height), 0)
        shown = found[self._back : self._back + height][::-1]
        for y, (text, style) in enumerate(shown):
            canvas.write(0, y, text, style)
        return canvas


@frozen
class Recipient:
    """To whom a line goes."""

    label: str
    order: str
    """The order that sends it."""
    name: str | None = None
    """The player's name, where the order needs it."""


def recipients_of(host: ServerHost, name: str | None = None) -> list[Recipient]:
    """Return to whom a line can go now, to the named player first."""
    session = host.session
    found = [] if name is None else [Recipient(f"tell {name}", "tell", name)]
    if session.playing:
        found.append(Recipient("to your opponent", "say"))
    if session.playing or host.watching:
        found += [Recipient("kibitz", "kibitz"), Recipient("whisper", "whisper")]
    return [*found, Recipient("shout", "shout")]


class _TalkInput(LineInput):
    """The line, in which Tab changes to whom it goes."""

    BINDINGS: ClassVar = [Binding("tab", "turn", show=False)]

    def __init__(self, turn: Callable[[], object], take: Callable[[str], object], closed: Callable[[], object]) -> None:
        super().__init__(take, closed, "talk-text", max_length=LONGEST_TEXT)
        self.action_turn = turn


class TalkLine(Horizontal):
    """The line in which a person says something, and to whom."""

    def __init__(self, say: Callable[[Recipient, str], object], closed: Callable[[], object]) -> None:
        """Call `say` with what was typed, and `closed` when the line is closed."""
        super().__init__(classes="talk")
        self._say = say
        self._when_closed = closed
        self._recipients: Sequence[Recipient] = ()
        self._at = 0
        self._label = Static(markup=False, classes="talk-to")
        self._text = _TalkInput(self._turn, self._when_taken, self._close)
        self.display = False

    def compose(self) -> ComposeResult:
        """Put label and line beside each other."""
        yield self._label
        yield self._text

    def open(self, recipients: Sequence[Recipient]) -> None:
        """Let the person type to one of these."""
        self._recipients, self._at = recipients, 0
        self.display = True
        self._show_recipient()
        self._text.open()

    def _show_recipient(self) -> None:
        more = " (Tab: others)" if len(self._recipients) > 1 else ""
        self._label.update(f"{plain(self._recipients[self._at].label)}{more}: ")

    def _turn(self) -> None:
        self._at = (self._at + 1) % len(self._recipients)
        self._show_recipient()

    def _when_taken(self, text: str) -> None:
        if text.strip():
            self._say(self._recipients[self._at], text)

    def _close(self) -> None:
        self.display = False
        self._when_closed()
