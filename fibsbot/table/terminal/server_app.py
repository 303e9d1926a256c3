"""A person's table on a server in a terminal: the board, what is said beside it, and the way to the lobby and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult

from fibsbot.table.remote_match import RemoteMatch
from fibsbot.table.server_host import ServerHost
from fibsbot.table.server_lobby import LineKind
from fibsbot.table.terminal import help as help_texts
from fibsbot.table.terminal.app import TableApp
from fibsbot.table.terminal.chat import TalkLine, line_in_words, recipients_of, wrapped
from fibsbot.table.terminal.keys import KeyLabel
from fibsbot.table.terminal.lobby_list import invitation_in_words
from fibsbot.table.terminal.lobby_screen import LobbyScreen
from fibsbot.table.terminal.panel import Aside
from fibsbot.table.terminal.server_orders import ServerOrders


class ServerTableApp(TableApp):
    """A table on a server, which begins in the lobby."""

    CSS: ClassVar = (
        TableApp.CSS
        + """
    #lobby { layout: vertical; height: 1fr; }
    #list { height: 1fr; }
    #talk { height: 1fr; }
    #tabs { height: 1; }
    #chat { height: 1fr; }
    .wide #lobby { layout: horizontal; }
    .wide #list { width: 1fr; height: 100%; }
    .wide #talk { width: 1fr; height: 100%; margin-left: 1; }
    #lobby-sentence { height: 1; }
    #lobby-keys { height: 2; }
    .talk { height: 1; }
    .talk-to { width: auto; color: $accent; }
    .talk LineInput { width: 1fr; }
    InviteScreen { align: center middle; }
    #invitation { width: 60; max-width: 100%; height: auto; max-height: 100%; padding: 0 1; border: round $primary; }
    #invitation .title { text-style: bold; }
    #invitation .row { height: auto; margin-top: 1; }
    #invitation .label { width: 8; }
    #invitation Button { margin-right: 2; }
    #invitation Select { width: 1fr; }
    #length { width: 8; margin-right: 2; background: $boost; }
    #note { margin-top: 1; color: $text-muted; }
    #fault { color: $warning; }
    """
    )
    leave_question = "Leave the table? The server saves the match."
    help_text = help_texts.ON_SERVER

    host: ServerHost

    def __init__(self, host: ServerHost, *, dark: bool = True) -> None:
        """Show a table on a server, in colours for a dark or a light terminal."""
        super().__init__(host, dark=dark)
        self.orders = ServerOrders(host, self)
        self.lobby = LobbyScreen(host, self, self.orders, self.show_board)
        self.talk = TalkLine(self.orders.say, self._close_talk)
        self._match_on: RemoteMatch | None = None
        """The match that was on when the table was shown the last time."""
        self.refused = ""
        """Why there was no login, which ends the table."""
        self._was_online = False
        self._last_line = 0
        """The number of the last line that was read out."""
        self._commands |= {
            "escape": self._show_lobby,
            "m": self._open_talk,
            "e": self.orders.leave_match,
            "n": self._play_again,
            "j": self._accept_invitation,
        }

    def compose(self) -> ComposeResult:
        """Put the widgets of the board on the screen, and the line in which something is said."""
        yield from super().compose()
        yield self.talk

    async def on_mount(self) -> None:
        """Begin in the lobby; what a table does first follows."""
        self.install_screen(self.lobby, "lobby")
        self._show_lobby()

    # -- what is shown ------------------------------------------------------------------------------------------

    def _show_now(self) -> None:
        self._was_online = self._was_online or self.host.online
        if self.host.ended and not self._was_online:
            self.refused = self.host.ended
            self.exit()
        self._follow_match()
        super()._show_now()
        if self.screen is self.lobby:
            self.lobby.redraw()

    def _follow_match(self) -> None:
        """Go to the board when a match begins or goes on."""
        match = self.host.model
        on = match if match is not None and not match.ended and not match.match_over else None
        if on is not None and on is not self._match_on:
            self.show_board()
        self._match_on = on

    def aside(self, width: int, height: int) -> Aside:
        """Return the last lines of the chat, and who invites the person."""
        lobby, notes = self.host.session.lobby, list[str]()
        for line in reversed(lobby.lines):
            if line.kind is LineKind.SHOUT:
                continue
            notes = [*wrapped(line, width), *notes]
            if len(notes) >= height // 3:
                break
        notes = notes[-(height // 3) :]
        return Aside(notes=[*notes, *map(invitation_in_words, lobby.invitations.values())][-height // 2 :])

    def more_labels(self) -> Sequence[KeyLabel]:
        """Return the keys for chat, leaving and the lobby."""
        match = self.host.model
        invitation = self._open_invitation
        again = match is not None and match.match_over and not match.watched and not self.host.session.playing
        return [
            *([KeyLabel("j", f"join {invitation}")] if invitation else []),
            *([KeyLabel("n", "play again")] if again else []),
            KeyLabel("m", "message"),
            *self.orders.leave_labels,
            KeyLabel("escape", "lobby"),
        ]

    def new_words(self) -> Sequence[str]:
        """Return what was said since the last time."""
        new = [line for line in self.host.session.lobby.lines if line.number > self._last_line]
        if new:
            self._last_line = new[-1].number
        return [line_in_words(line) for line in new]

    # -- ways ---------------------------------------------------------------------------------------------------

    def _show_lobby(self) -> None:
        if self.screen is self.screen_stack[0]:
            self.push_screen("lobby")
            self.show()

    def show_board(self) -> None:
        """Go back to the board, if there is a match on it."""
        if self.model is None:
            return
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.show()

    def action_leave(self) -> None:
        """Leave the table; asks first while a match is on."""
        if self.host.session.playing:
            super().action_leave()
        else:
            self.exit()

    # -- what is asked for --------------------------------------------------------------------------------------

    def _play_again(self) -> None:
        match = self.host.model
        if match is None or self._press_action("n"):
            return
        if match.match_over and not match.watched and not self.host.session.playing:
            self.orders.invite(match.opponent)

    @property
    def _open_invitation(self) -> str | None:
        """Who has invited the person last, to a match or to go on with one; None while a match is on."""
        invitations = self.host.session.lobby.invitations
        return None if self.host.session.playing or not invitations else [*invitations][-1]

    def _accept_invitation(self) -> None:
        name = self._open_invitation
        if name is not None:
            self.orders.order("join", name=name)

    def _open_talk(self) -> None:
        self.sentence.display = False
        self.talk.open(recipients_of(self.host, self._partner))

    @property
    def _partner(self) -> str | None:
        """The player who gets a tell while no match is on."""
        match = self.host.model
        return None if match is None or self.host.session.playing or self.host.watching else match.opponent

    def _close_talk(self) -> None:
        self.sentence.display = True
        self.show()
