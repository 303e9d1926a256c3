"""What a person asks a server for at a terminal, and what is said if that is impossible."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from fibsbot.table.server_host import ServerHost
from fibsbot.table.terminal.app import TableApp
from fibsbot.table.terminal.chat import Recipient
from fibsbot.table.terminal.invite_screen import InviteScreen
from fibsbot.table.terminal.keys import KeyLabel
from fibsbot.text import one_line

NOT_NOW: Final = "that is not possible now: there is no connection"


class ServerOrders:
    """What board and lobby of a table on a server have in common."""

    def __init__(self, host: ServerHost, table: TableApp) -> None:
        """Ask by `host`; `table` says what was wrong, and asks before a match is left."""
        self._host = host
        self._table = table

    @property
    def status(self) -> str:
        """What the connection does, and whom the person waits for."""
        lobby = self._host.session.lobby
        words = [f"{lobby.user}: {self._host.sentence}"]
        if self._host.online and not self._host.session.playing:
            words += [f"waiting for {lobby.invited}"] if lobby.invited else []
            words += ["away"] if lobby.away else []
            words.append("others may invite you" if lobby.ready else "nobody may invite you")
        return ", ".join(words)

    def order(self, address: str, **asked: Any) -> str:
        """Ask the server for something; return, and show, what was wrong, an empty text if nothing was."""
        try:
            fault = "" if self._host.request(address, asked) else NOT_NOW
        except ValueError as error:
            fault = one_line(error)
        if fault:
            self._table.warn(fault)
        return fault

    def say(self, recipient: Recipient, text: str) -> None:
        """Say something."""
        named = {"name": recipient.name} if recipient.name else {}
        self.order(recipient.order, text=text, **named)

    def invite(self, name: str) -> None:
        """Ask to what somebody is to be invited, and do it."""

        def invite(length: int, game: str, laws: str) -> str:
            return self.order("invite", name=name, length=length, game=game, laws=laws)

        if not isinstance(self._table.screen, InviteScreen):  # a key that was pressed twice
            self._table.push_screen(InviteScreen(name, invite))

    def leave_match(self) -> None:
        """Leave the match, which is asked about first, or stop watching."""
        if self._host.session.playing:
            self._table.confirm("Leave the match? The server saves it.", partial(self.order, "leave"))
        elif self._host.watching:
            self.order("unwatch")

    @property
    def leave_labels(self) -> list[KeyLabel]:
        """The key that leaves a match, if one is on."""
        if self._host.session.playing:
            return [KeyLabel("e", "leave match")]
        return [KeyLabel("e", "stop watching")] if self._host.watching else []
