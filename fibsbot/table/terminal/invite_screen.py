"""The form of an invitation: length, game and laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Select, Static

from fibsbot.games import GAMES
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.table.terminal.canvas import plain

LAWS: Final = (
    ("as on FIBS", ""),
    ("of 1931", "1931"),
    ("of 1931, Point Game", "1931 point"),
    ("of 1970", "1970"),
    ("modern", "modern"),
)
"""Laws of backgammon, and the words by which an invitation names them."""
USUAL_LENGTH: Final = "5"


class InviteScreen(ModalScreen[None]):
    """Asks to what somebody is to be invited."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss", show=False)]

    def __init__(self, name: str, invite: Callable[[int, str, str], str]) -> None:
        """Call `invite` with length, game and laws; it returns what was wrong, or an empty text."""
        super().__init__()
        self._invited = name
        self._invite = invite
        self._length = Input(USUAL_LENGTH, type="integer", max_length=3, compact=True, id="length")
        games = [BACKGAMMON.name, *sorted(GAMES)]
        self._game = Select([(one, one) for one in games], value=games[0], allow_blank=False, compact=True, id="game")
        self._laws = Select(LAWS, value="", allow_blank=False, compact=True, id="laws")
        self._fault = Static(markup=False, id="fault")

    def compose(self) -> ComposeResult:
        """Show the form."""
        with Vertical(id="invitation"):
            yield Static(f"Invite {plain(self._invited)}", markup=False, classes="title")
            with Horizontal(classes="row"):
                yield Static("Points", classes="label")
                yield self._length
                yield Static("0: unlimited")
            with Horizontal(classes="row"):
                yield Static("Game", classes="label")
                yield self._game
            with Horizontal(classes="row"):
                yield Static("Laws", classes="label")
                yield self._laws
            yield Static("Other games and laws: only on servers that have them, such as fibsbot serve.", id="note")
            yield self._fault
            with Horizontal(classes="row"):
                yield Button("Invite", compact=True, variant="primary", id="invite")
                yield Button("Cancel", compact=True, id="cancel")

    def on_mount(self) -> None:
        """Begin with the length."""
        self._length.focus()

    def on_select_changed(self) -> None:
        """Let laws be chosen for backgammon alone."""
        self._laws.disabled = self._game.value != BACKGAMMON.name

    def on_input_submitted(self) -> None:
        """Invite."""
        self._submit()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Invite, or do not."""
        if event.button.id == "invite":
            self._submit()
        else:
            self.dismiss()

    def _submit(self) -> None:
        typed = self._length.value
        if not typed.isdecimal():
            self._fault.update(f"expected a length such as {USUAL_LENGTH}, got {typed or 'none'}")
            return
        laws = "" if self._laws.disabled else str(self._laws.value)
        fault = self._invite(int(typed), str(self._game.value), laws)
        if fault:
            self._fault.update(fault)
        else:
            self.dismiss()
