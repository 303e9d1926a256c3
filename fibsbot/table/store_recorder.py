"""Puts a person's matches on a server into the match store, where `stats` finds them beside those of bots."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.bot.events_and_actions import Record
from fibsbot.records.session_log import utc_now
from fibsbot.records.store import StoreWriter
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.table.server_host import Recorder


class StoreRecorder(Recorder):
    """Records a session as the bot's service does."""

    def __init__(self, user: str, site: str, store: StoreWriter) -> None:
        """Record the matches of an account on a server (`site`)."""
        self._user = user
        self._site = site
        self._store = store
        self._matches = MatchRecorder(user, site, self._put)

    def _put(self, name: str, fields: Mapping[str, Any], at: datetime) -> None:
        self._store.put(self._user, name, fields, at)

    def on_message(self, message: Message) -> None:
        """Record what the server says about a match."""
        self._matches.on_message(message)

    def on_sent(self, command: Command) -> None:
        """Record what the person did in a match."""
        self._matches.on_sent(command)

    def on_record(self, record: Record) -> None:
        """Store a record."""
        more = {"server": self._site} if record.name == "server_feature" else {}
        self._put(record.name, {**record.fields, **more}, utc_now())
        self._matches.on_record(record)
