"""A match that the bot played on BaldLies, a server written independently of this project (recorded, both ways).

That server differs: it gives no time in line `1` and no name in line `2`, says `home` for `off`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import evolve

from fibsbot.bot.track import Difference, Track
from fibsbot.bot.tracker import follow
from fibsbot.fibs import play_from_fibs
from fibsbot.records.session_log import Received, Sent, read_session_log
from protocol import commands as c
from protocol import messages as m
from protocol.grammar import parse_command
from protocol.stream import MessageReader

LOG: Final = Path(__file__).parent.parent / "data/bot/independent_server.jsonl"
PROSE: Final = (
    "                           ************************",
    "                           * Welcome to BaldLies! *",
    "Please login as guest if you do not have an account on this server.",
    "Thanks for using this server!",
)


def conversation() -> Iterator[m.Message | c.Command]:
    """Read what was said, in order: messages of the server, commands of the bot."""
    reader = MessageReader()
    for record in read_session_log(LOG):
        if isinstance(record, Sent):
            yield parse_command(record.data.decode().strip())
        elif isinstance(record, Received):
            reader.receive_data(record.data)
            while (item := reader.next_message()) is not None:
                yield item.message


def test_everything_but_prose_is_understood() -> None:
    assert set(PROSE) == {message.text for message in conversation() if isinstance(message, m.Unknown)}
    assert not [message for message in conversation() if isinstance(message, m.RefusedBoard)]


def test_the_game_is_followed_without_a_difference() -> None:
    differences: list[Difference] = []
    track = Track("bot_a")
    boards = 0
    for said in conversation():
        if isinstance(said, c.Move):
            assert track.direction is not None
            track = evolve(track, own_play=play_from_fibs(said.moves, track.direction))
        elif isinstance(said, m.Message):
            track = follow(track, said)
            differences += track.missed
            boards += isinstance(said, m.Board)
    assert [] == differences
    assert boards > 50


def test_no_command_was_refused_and_the_match_was_won() -> None:
    said = list(conversation())
    assert not [message for message in said if isinstance(message, m.Refusal)]
    assert [m.MatchWon("You", 5, 10, 0)] == [message for message in said if isinstance(message, m.MatchWon)]
    assert {c.Login, c.Invite, c.Roll, c.Move, c.Double, c.Accept, c.Join, c.Bye} <= set(map(type, said))
