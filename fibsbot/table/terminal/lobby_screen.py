"""The lobby of a server in a terminal: invitations, saved matches, players, chat, and what keys and clicks do there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen

from fibsbot.table.server_host import ServerHost
from fibsbot.table.server_lobby import PlayerLine, ReceivedInvitation, SavedMatchLine
from fibsbot.table.terminal import help as help_texts
from fibsbot.table.terminal.app import TableApp
from fibsbot.table.terminal.canvas import Canvas
from fibsbot.table.terminal.chat import KINDS, ChatLog, Recipient, TalkLine, recipients_of
from fibsbot.table.terminal.keys import ALWAYS, KeyLabel
from fibsbot.table.terminal.line_input import LineInput, is_free, key_of
from fibsbot.table.terminal.lobby_list import LobbyList, Row
from fibsbot.table.terminal.server_orders import ServerOrders
from fibsbot.table.terminal.widgets import CanvasWidget, HelpScreen, KeysWidget

WIDE: Final = 120
"""Columns from which on the chat is beside the list."""
PAGE: Final = 10
"""Rows that PgUp and PgDn go."""
WHEEL: Final = 3
"""Rows or lines that the wheel goes."""
MANY: Final = 10**6
"""More rows than there are."""
LONGEST_NAME: Final = 20
"""Characters of a name that is searched for."""
AWAY: Final = Recipient("away, what others are told", "away")


class ScrolledCanvas(CanvasWidget):
    """A canvas in which the wheel and clicks do something."""

    def __init__(
        self,
        draw: Callable[[int, int], Canvas],
        name: str,
        scroll: Callable[[int], object],
        click: Callable[[events.Click], object] = lambda _: None,
    ) -> None:
        """Show what `draw` returns; `scroll` gets the lines that the wheel goes down, `click` each click."""
        super().__init__(draw, name)
        self._scroll = scroll
        self._click = click

    def on_click(self, event: events.Click) -> None:
        """Pass the click on."""
        self._click(event)

    def on_mouse_scroll_down(self) -> None:
        """Go down."""
        self._scroll(WHEEL)

    def on_mouse_scroll_up(self) -> None:
        """Go up."""
        self._scroll(-WHEEL)


class LobbyScreen(Screen[None]):
    """What a person sees of a server besides the board."""

    def __init__(
        self, host: ServerHost, table: TableApp, orders: ServerOrders, show_board: Callable[[], object]
    ) -> None:
        """Show the lobby of a table on a server; `show_board` goes to the board."""
        super().__init__()
        self.host = host
        self.table = table
        self.orders = orders
        self.list = LobbyList(self.host)
        self.chat = ChatLog(self.host.session.lobby.lines)
        self._list = ScrolledCanvas(self._draw_list, "list", self._go, self._click_list)
        self._tabs = ScrolledCanvas(self._draw_tabs, "tabs", self._scroll_chat, self._click_tab)
        self._chat = ScrolledCanvas(self._draw_chat, "chat", self._scroll_chat)
        self._sentence = CanvasWidget(self._draw_sentence, "lobby-sentence")
        self._keys = KeysWidget(self._labels, lambda: table.colours, self.press, "lobby-keys")
        self._search = LineInput(
            self._end_search, self._close_input, "search", max_length=LONGEST_NAME, placeholder="part of a name"
        )
        self._search_kept = ""
        """What is searched for, once it is not being typed any more."""
        self.talk = TalkLine(orders.say, self._close_input)
        self._commands: dict[str, Callable[[], object]] = {
            "up": partial(self._go, -1),
            "down": partial(self._go, 1),
            "pageup": partial(self._go, -PAGE),
            "pagedown": partial(self._go, PAGE),
            "home": partial(self._go, -MANY),
            "end": partial(self._go, MANY),
            "enter": self._do_usual,
            "x": self._decline,
            "i": self._invite,
            "w": partial(self._ask_of_player, "watch"),
            "g": partial(self._ask_of_player, "gag"),
            "b": partial(self._ask_of_player, "blind"),
            "m": self._open_talk,
            "/": self._open_search,
            "o": self.list.change_sort,
            "p": self.list.change_shown,
            "c": self.chat.change_kinds,
            ",": partial(self.chat.scroll, WHEEL),
            ".": partial(self.chat.scroll, -WHEEL),
            "r": partial(orders.order, "ready"),
            "a": self._change_away,
            "e": orders.leave_match,
            "n": partial(orders.order, "connect"),
            "escape": show_board,
            "h": lambda: table.push_screen(HelpScreen(help_texts.LOBBY)),
            "l": table.change_colours,
            "q": table.action_leave,
        }

    def compose(self) -> ComposeResult:
        """Put the widgets on the screen."""
        with Container(id="lobby"):
            yield self._list
            with Vertical(id="talk"):
                yield self._tabs
                yield self._chat
        yield self._sentence
        yield self._search
        yield self.talk
        yield self._keys

    def on_resize(self, event: events.Resize) -> None:
        """Put the chat beside the list where there is room."""
        self.set_class(event.size.width >= WIDE, "wide")

    def redraw(self) -> None:
        """Show the lobby as it is now."""
        for widget in (self._list, self._tabs, self._chat, self._sentence, self._keys):
            widget.redraw()

    # -- what is shown ------------------------------------------------------------------------------------------

    def _draw_list(self, width: int, height: int) -> Canvas:
        return self.list.draw(width, height, self.table.colours)

    def _draw_chat(self, width: int, height: int) -> Canvas:
        return self.chat.draw(width, height, self.table.colours)

    def _draw_tabs(self, width: int, height: int) -> Canvas:
        colours = self.table.colours
        canvas = Canvas(width, height, colours.frame)
        for name, columns in self._tab_columns().items():
            chosen = name == self.chat.kinds
            text = f"[{name}]" if chosen else f" {name} "
            canvas.write(columns.start, 0, text, colours.frame + Style(bold=True) if chosen else colours.frame)
        return canvas

    @staticmethod
    def _tab_columns() -> dict[str, range]:
        found, x = {}, 1
        for name in KINDS:
            found[name] = range(x, x + len(name) + 2)
            x += len(name) + 3
        return found

    def _draw_sentence(self, width: int, height: int) -> Canvas:
        canvas, table = Canvas(width, height, self.table.colours.screen), self.table
        if table.prompt or table.notice:
            canvas.write(0, 0, table.prompt.text if table.prompt else table.notice, table.colours.prompt)
        else:
            canvas.write(0, 0, self.orders.status, table.colours.strong)
        return canvas

    def _labels(self) -> list[KeyLabel]:
        host, lobby = self.host, self.host.session.lobby
        if host.ended:
            return [KeyLabel("n", "connect again"), *self._board_label(), *ALWAYS]
        if not host.online:
            return [*self._board_label(), *ALWAYS]
        labels = self._row_labels(self.list.chosen)
        labels += [KeyLabel("/", "search"), KeyLabel("o", "order"), KeyLabel("c", "chat")]
        if not host.session.playing:
            labels += [KeyLabel("r", "no invitations" if lobby.ready else "allow invitations")]
            labels.append(KeyLabel("a", "back" if lobby.away else "away"))
        return [*labels, *self._board_label(), *self.orders.leave_labels, *ALWAYS]

    def _board_label(self) -> list[KeyLabel]:
        return [KeyLabel("escape", "board")] if self.table.model is not None else []

    def _row_labels(self, row: Row | None) -> list[KeyLabel]:
        """Return what can be done with a row."""
        if row is None:
            return [KeyLabel("m", "message")]
        lobby, playing, labels = self.host.session.lobby, self.host.session.playing, list[KeyLabel]()
        match row.about:
            case ReceivedInvitation():
                labels = [KeyLabel("enter", "accept"), KeyLabel("x", "decline")]
            case SavedMatchLine() if row.there:
                labels = [KeyLabel("enter", "resume")]
            case PlayerLine(state="playing") if not playing:
                labels = [KeyLabel("w", "watch")]
            case PlayerLine() if not playing:
                labels = [KeyLabel("i", "invite")]
        labels.append(KeyLabel("m", "message"))
        if isinstance(row.about, PlayerLine):
            labels.append(KeyLabel("g", "ungag" if row.name in lobby.gagged else "gag"))
            labels.append(KeyLabel("b", "unblind" if row.name in lobby.blinded else "blind"))
        return labels

    # -- inputs -------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Do what a key means."""
        if is_free(self.focused, event):
            self.press(key_of(event))

    def press(self, key: str) -> None:
        """Do what a key means, wherever it came from."""
        self.table.notice = ""
        key = {"f1": "h", "?": "h", "tab": "down", "shift+tab": "up"}.get(key, key if len(key) > 1 else key.lower())
        if not self.table.answer(key):
            self._commands.get(key, lambda: None)()
        self.table.show()

    def _go(self, rows: int) -> None:
        self.list.go(rows)
        self.table.show()

    def _click_list(self, event: events.Click) -> None:
        if self.list.click(event.y):
            self.press("enter")
        self.table.show()

    def _scroll_chat(self, lines: int) -> None:
        self.chat.scroll(-lines)
        self.table.show()

    def _click_tab(self, event: events.Click) -> None:
        for name, columns in self._tab_columns().items():
            if event.x in columns:
                self.chat.change_kinds(name)
        self.table.show()

    def _close_input(self) -> None:
        self.list.search = self._search_kept
        self._sentence.display = True
        self.table.show()

    # -- what is asked for --------------------------------------------------------------------------------------

    def _do_usual(self) -> None:
        """Accept, resume, watch or invite."""
        row = self.list.chosen
        match row and row.about:
            case ReceivedInvitation(name=name):
                self.orders.order("join", name=name)
            case SavedMatchLine(name=name):
                self.orders.order("invite", name=name, length=None)
            case PlayerLine(state="playing", name=name):
                self.orders.order("watch", name=name)
            case PlayerLine():
                self._invite()

    def _decline(self) -> None:
        row = self.list.chosen
        if row is not None and isinstance(row.about, ReceivedInvitation):
            self.orders.order("decline", name=row.name)

    def _invite(self) -> None:
        row = self.list.chosen
        if row is not None and not self.host.session.playing:
            self.orders.invite(row.name)

    def _ask_of_player(self, order: str) -> None:
        row = self.list.chosen
        if row is not None:
            self.orders.order(order, name=row.name)

    def _change_away(self) -> None:
        if self.host.session.lobby.away:
            self.orders.order("back")
        else:
            self._open_talk([AWAY])

    def _open_talk(self, recipients: list[Recipient] | None = None) -> None:
        row = self.list.chosen
        self._sentence.display = False
        self.talk.open(recipients or recipients_of(self.host, row.name if row else None))

    def _open_search(self) -> None:
        self._sentence.display = False
        self._search.open(self.list.search)

    def on_input_changed(self) -> None:
        """Search while the name is typed."""
        if self._search.display:
            self.list.search = self._search.value.strip()
            self.table.show()

    def _end_search(self, text: str) -> None:
        self._search_kept = text.strip()
