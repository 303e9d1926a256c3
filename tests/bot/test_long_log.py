"""Rotation of the session log during a match: the files together contain the whole session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.stream import MessageReader
from fibsbot.records.finished_logs import FinishedLogs, finished_files
from fibsbot.records.session_log import Received, read_session_log
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load
from tests.bot.live_bots import CHEAP, play_session, settings
from tests.patience import SOON
from tests.records.log_clock import rotation

pytestmark = pytest.mark.slow

MATCHES = 2
"""A single match of random players may be over before a file is full."""


async def test_received_bytes_continue_from_file_to_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FinishedLogs, "sweep_in_background", FinishedLogs.sweep)
    path = tmp_path / "marvin.jsonl"
    async with Server(seed=9, limits=CHEAP) as server, asyncio.timeout(SOON):
        marvin = evolve(settings(server.port, "marvin", path, matches=MATCHES), rotation=rotation(max_bytes=2**16))
        ford = settings(server.port, "ford", None, invite="marvin", length=5, matches=MATCHES)
        await asyncio.gather(play_session(marvin, load("random")), play_session(ford, load("random")))
    files = [*(file.path for file in finished_files(path)), path]
    assert 2 <= len(files)
    reader = MessageReader()
    for file in files:
        for record in read_session_log(file):
            if isinstance(record, Received):
                reader.receive_data(record.data)
    said = list(iter(reader.next_message, None))
    assert MATCHES == sum(isinstance(each.message, m.MatchWon) for each in said)
    assert not [each.text for each in said if isinstance(each.message, m.RefusedBoard)]
