"""What is typed: single keys, and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input


def key_of(event: events.Key) -> str:
    """Return the name of a key; a printable one is its character, but for Tab and Enter."""
    return event.key if event.key in {"tab", "enter"} or not event.is_printable else event.character or ""


def is_free(focused: Widget | None, event: events.Key) -> bool:
    """Return whether a key has come to no line to type in, and is to be taken as such.

    Who types fast has pressed it before the line was there: then it belongs to the line.
    """
    late = isinstance(focused, Input) and event.is_printable
    if isinstance(focused, Input) and late:
        focused.insert_text_at_cursor(event.character or "")
    if late or focused is None:
        event.stop()
        event.prevent_default()
    return focused is None


class LineInput(Input):
    """A line to type in, on the screen while it is open: Enter takes it, Escape gives it up."""

    BINDINGS: ClassVar = [Binding("escape", "give_up", show=False)]

    def __init__(self, take: Callable[[str], object], closed: Callable[[], object], name: str, **options: Any) -> None:
        """Call `take` with what was typed, and `closed` after that or after Escape."""
        super().__init__(id=name, compact=True, **options)
        self._when_taken = take
        self._when_closed = closed
        self.display = False

    def open(self, text: str = "") -> None:
        """Let the person type."""
        self.display = True
        self.value = text
        self.cursor_position = len(text)
        self.screen.set_focus(self)

    async def action_submit(self) -> None:
        """Take the line."""
        self._when_taken(self.value)
        self.action_give_up()

    def action_give_up(self) -> None:
        """Close the line."""
        self.screen.set_focus(None)
        self.display = False
        self._when_closed()
