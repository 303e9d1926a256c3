"""Widgets that show a canvas, and pass clicks on; what the keys do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from attrs import frozen
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from fibsbot.table.terminal.board import BoardSize
from fibsbot.table.terminal.canvas import Canvas
from fibsbot.table.terminal.colours import Colours
from fibsbot.table.terminal.keys import KeyLabel

RIGHT_BUTTON = 3


class CanvasWidget(Widget):
    """Shows what a function draws in the size of the widget."""

    def __init__(self, draw: Callable[[int, int], Canvas], name: str) -> None:
        """Show what `draw` returns; it takes width and height."""
        super().__init__(id=name)
        self._draw = draw
        self._canvas: Canvas | None = None

    def redraw(self) -> None:
        """Draw anew, and show the lines that have changed."""
        if not self.size.area:
            return
        before = self._canvas
        after = self._canvas = self._draw(*self.size)
        if before is None or (before.width, before.height) != (after.width, after.height):
            self.refresh()
            return
        changed = [y for y in range(before.height) if before.line(y) != after.line(y)]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def on_resize(self) -> None:
        """Draw anew in another size."""
        self._canvas = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return a line of the canvas."""
        if self._canvas is None:
            self._canvas = self._draw(*self.size)
        if y < self._canvas.height:
            return Strip(self._canvas.segments(y))
        return Strip.blank(self.size.width, self.rich_style)

    @property
    def text(self) -> list[str]:
        """What is shown, without colours."""
        return (self._canvas or self._draw(*self.size)).lines


@frozen
class BoardInputs:
    """What the mouse does on the board."""

    size: Callable[[], BoardSize | None]
    """Returns the size of the board that is shown."""
    hover: Callable[[int], object]
    """Called with the place below the mouse."""
    click: Callable[[int, bool], object]
    """Called with the place, and whether it was the right button."""
    drag: Callable[[int, int], object]
    """Called with the places where a button went down and up."""
    click_dice: Callable[[], object]


class BoardWidget(CanvasWidget):
    """The board, on which the mouse plays."""

    def __init__(self, draw: Callable[[int, int], Canvas], inputs: BoardInputs, name: str) -> None:
        """Show what `draw` returns, and pass on what the mouse does."""
        super().__init__(draw, name)
        self._inputs = inputs
        self._pressed: int | None = None

    def _place(self, event: events.MouseEvent) -> int | None:
        size = self._inputs.size()
        return None if size is None else size.place_at(event.x, event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Go to the checker below the mouse."""
        place = self._place(event)
        if place is not None and not event.button:
            self._inputs.hover(place)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where a button went down."""
        self._pressed = self._place(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Play the checker, or move it to where the button went up."""
        place, pressed = self._place(event), self._pressed
        self._pressed = None
        size = self._inputs.size()
        if pressed is not None and place is not None and place != pressed:
            self._inputs.drag(pressed, place)
        elif place is not None and place == pressed:
            self._inputs.click(place, event.button == RIGHT_BUTTON)
        elif size is not None and pressed is None and size.is_middle(event.x, event.y):
            self._inputs.click_dice()


class KeysWidget(CanvasWidget):
    """The line of keys that may be pressed; a click presses one."""

    def __init__(
        self,
        labels: Callable[[], Sequence[KeyLabel]],
        colours: Callable[[], Colours],
        press: Callable[[str], object],
        name: str,
    ) -> None:
        """Show these keys; a click on one calls `press` with it."""
        super().__init__(self._draw_keys, name)
        self._labels = labels
        self._colours = colours
        self._press = press
        self._areas: list[tuple[range, int, str]] = []
        """Columns and line of each key."""

    def _draw_keys(self, width: int, height: int) -> Canvas:
        colours = self._colours()
        canvas = Canvas(width, height, colours.screen)
        x, y, self._areas = 0, 0, []
        for label in self._labels():
            if x and x + len(label.text) > width:
                x, y = 0, y + 1
            canvas.write(x, y, label.text, colours.faint)
            canvas.write(x, y, f"[{label.key}]", colours.key + Style(bold=True))
            self._areas.append((range(x, x + len(label.text)), y, label.key))
            x += len(label.text) + 2
        return canvas

    def on_click(self, event: events.Click) -> None:
        """Press the key below the mouse."""
        for columns, line, key in self._areas:
            if line == event.y and event.x in columns:
                self._press(key)
                return


class HelpScreen(ModalScreen[None]):
    """What keys and mouse do."""

    BINDINGS: ClassVar = [Binding("escape,h,f1,q,space,enter,question_mark", "dismiss", show=False)]

    def __init__(self, text: str) -> None:
        """Show a text."""
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Show the text."""
        with VerticalScroll(id="help"):
            yield Static(self._text + "\nEscape closes this.", markup=False)

    def on_mount(self) -> None:
        """Let keys scroll where the text is too long."""
        self.query_one("#help").focus()

    def on_click(self) -> None:
        """Close."""
        self.dismiss()
