"""The bot on servers written independently of this project: recorded matches, and live ones if a server is given.

BaldLies gives no time in line `1`, no name in line `2`, and says `home` for `off`. TigerGammon leaves the flag "was
doubled" set and does not announce the opponent's dances. JIBS doubles apostrophes, writes bars with the wrong sign,
sends a board before the play that it shows, rolls for both players, and announces later games after their first board.
To play on a server of your own choice on this machine, set FIBSBOT_SERVER to its HOST:PORT.
"""

import asyncio
import os
import secrets
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from click.testing import CliRunner

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse_command
from fibs_protocol.stream import MessageReader
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import Difference, TrackedMatch
from fibsbot.cli import main
from fibsbot.fibs_numbering import play_from_fibs
from fibsbot.records.session_log import Received, Sent, read_session_log
from fibsbot.replay.captures import read_captures
from fibsbot.replay.events import DifferenceFound, MatchEnded
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.strategies.loader import load
from fibsbot.transcript import Gap
from tests.bot.live_bots import play_session, settings
from tests.patience import SOON

DATA: Final = Path(__file__).parent.parent / "data/bot"
LOGS: Final = tuple(sorted(DATA.glob("*.jsonl")))
SERVER: Final = os.environ.get("FIBSBOT_SERVER", "")
GAME_WORDS: Final = ("board:", "rolls", "moves", "doubles", "accept", "reject", "resign", "wins", "score", "join")


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def conversation(request: pytest.FixtureRequest) -> list[m.Message | c.Command]:
    """Return the messages of the server and the commands of the bot in order."""
    return list(said(request.param))


def said(path: Path) -> Iterator[m.Message | c.Command]:
    """Read a session log."""
    reader = MessageReader()
    for record in read_session_log(path):
        if isinstance(record, Received):
            reader.receive_data(record.data)
            while (item := reader.next_message()) is not None:
                yield item.message
        elif isinstance(record, Sent):
            try:
                yield parse_command(record.data.decode().strip())
            except CommandError:
                continue  # an answer to a prompt: guest, a password


def test_all_servers_were_recorded() -> None:
    assert ["baldlies", "jibs", "tigergammon"] == [path.stem for path in LOGS]


def test_everything_about_the_game_is_understood(conversation: list[m.Message | c.Command]) -> None:
    unknown = [message.text for message in conversation if isinstance(message, m.Unknown)]
    assert [] == [text for text in unknown if text.startswith(GAME_WORDS) or text[:1] in string.digits]
    assert not [message for message in conversation if isinstance(message, m.RefusedBoard)]


def test_the_game_is_tracked_without_a_difference(conversation: list[m.Message | c.Command]) -> None:
    differences: list[Difference] = []
    track = TrackedMatch("bot_a")
    boards = 0
    for item in conversation:
        if isinstance(item, c.Move):
            assert track.direction is not None
            track = evolve(track, own_play=play_from_fibs(item.moves, track.direction))
        elif isinstance(item, m.Message):
            track = apply_message(track, item)
            differences += track.differences
            boards += isinstance(item, m.Board)
    assert [] == differences
    assert boards > 50


def test_no_command_of_the_game_was_refused_and_a_match_was_finished(
    conversation: list[m.Message | c.Command], request: pytest.FixtureRequest
) -> None:
    jibs = "jibs" in request.node.name
    refusals = [message for message in conversation if isinstance(message, m.Refusal)]
    assert refusals == ([m.CommandNotImplemented("show saved")] if jibs else [])
    assert len([message for message in conversation if isinstance(message, m.MatchWon)]) == 1
    commands = {c.Login, c.Invite, c.Move, c.Join, *([] if jibs else [c.Roll, c.Double, c.Bye])}
    assert commands <= set(map(type, conversation))


def test_only_one_server_sent_contradictory_boards(
    conversation: list[m.Message | c.Command], request: pytest.FixtureRequest
) -> None:
    repaired = [message for message in conversation if isinstance(message, m.Board) and message.repaired]
    assert bool(repaired) is ("jibs" in request.node.name)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_replay_of_the_recorded_match_has_no_gap_and_no_difference(path: Path) -> None:
    happenings = list(events_of_capture(read_captures([path])))
    assert [] == [it for it in happenings if isinstance(it, DifferenceFound)]
    (ended,) = (it.transcript for it in happenings if isinstance(it, MatchEnded))
    entries = [entry for game in ended.games for entry in game.entries]
    assert all(game.result for game in ended.games)
    assert [] == [entry for entry in entries if isinstance(entry, Gap)]


def test_every_line_of_a_server_with_garbled_wordings_is_understood() -> None:
    result = CliRunner().invoke(main, ["parse", "--unknown", str(DATA / "jibs.jsonl")])
    assert (0, "") == (result.exit_code, result.output)


def new_name() -> str:
    """Return a new random name."""
    return "t_" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(8))


@pytest.mark.skipif(not SERVER, reason="FIBSBOT_SERVER does not name an independent server on this machine")
async def test_two_bots_finish_a_match_on_a_live_server() -> None:
    host, _, port = SERVER.partition(":")
    assert host in {"127.0.0.1", "localhost"}, "tests never reach beyond this machine"
    names = new_name(), new_name()
    guest = settings(int(port), names[0], None, register=True)
    inviter = settings(int(port), names[1], None, invite=names[0], register=True, length=3)
    async with asyncio.timeout(SOON):
        results = await asyncio.gather(play_session(guest, load("heuristic")), play_session(inviter, load("heuristic")))
    assert [1, 1] == [result.counters.matches for result in results]
    assert [0, 0] == [result.counters.refusals for result in results]
