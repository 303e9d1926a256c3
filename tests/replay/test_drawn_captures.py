"""Captures of telnet sessions with drawn boards only can be replayed."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from fibsbot.replay.captures import read_captures
from fibsbot.replay.events import DifferenceFound, MatchEnded
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.server.users import ClientMode
from fibsbot.transcript import Cube, Decision, Gap, Transcript, decisions, walk
from tests.server.simulated_world import ListedDice, Simulation

PERSON = Path(__file__).parents[1] / "data" / "server" / "person.txt"
PLAYED = ["8/3 6/3", "double", "take", "24/13", "8/4 6/4", "accept"]


def transcript_of(path: Path) -> Transcript:
    happenings = list(events_of_capture(read_captures([path])))
    assert not [it for it in happenings if isinstance(it, DifferenceFound)]
    (ended,) = (it for it in happenings if isinstance(it, MatchEnded))
    return ended.transcript


def made(transcript: Transcript) -> list[Decision]:
    return [it for game in transcript.games for step in walk(game) for it in decisions(step)]


def test_a_session_with_drawn_boards_is_replayed_with_typed_commands() -> None:
    transcript = transcript_of(PERSON)
    assert PLAYED == [it.text for it in made(transcript) if it.text != "roll"]
    assert (0, 2) == transcript.scores
    assert "robot" == transcript.players[1].name


def test_boards_of_style_2_are_replayed_as_those_of_style_1(tmp_path: Path) -> None:
    halves = itertools.cycle(("{numbers}\n{edge}", "{edge}\n{numbers}"))

    def in_style_2(edge: re.Match[str]) -> str:
        numbers = f"    {edge[1].replace('-', ' ')}".rstrip()
        return next(halves).format(numbers=numbers, edge=f"   +{'-' * 42}+{edge[2]}")

    text, count = re.subn(r"^   \+([-0-9]{42})\+(.*)$", in_style_2, PERSON.read_text(), flags=re.MULTILINE)
    assert count
    assert "    13 14 15 16 17 18       19 20 21 22 23 24\n   +---" in text
    capture = tmp_path / "person.txt"
    capture.write_text(text)
    assert transcript_of(PERSON).games == transcript_of(capture).games


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_without_typed_commands_the_drawn_boards_show_the_plays(tmp_path: Path, end: str) -> None:
    heard = re.sub(r"<< .*", "", PERSON.read_text())
    assert "<<" not in heard
    capture = tmp_path / "person.txt"
    capture.write_text(heard.replace("\n", end))
    transcript = transcript_of(capture)
    assert PLAYED[:5] == [it.text for it in made(transcript) if it.text != "roll"][:5]
    assert not [entry for game in transcript.games for entry in game.entries if isinstance(entry, Gap)]


def test_redoubles_are_allowed_where_the_lines_beside_drawn_boards_show_them(tmp_path: Path) -> None:
    simulation = Simulation(ListedDice((6, 4), (2, 1), (3, 1)))
    alice, bob = simulation.log_in("alice", ClientMode.TELNET), simulation.log_in("bob")
    lines: list[str] = []
    for user, said in (
        *((alice, "set boardstyle 1"), (alice, "set redoubles 2"), (bob, "set redoubles 2"), (bob, "toggle ready")),
        *((alice, "invite bob unlimited"), (bob, "join alice"), (alice, "move 1-7 1-5"), (bob, "double")),
        *((alice, "redouble"), (bob, "accept"), (bob, "roll"), (bob, "move 13-11 24-23"), (alice, "roll")),
        *((alice, "move 17-20 19-20"), (bob, "resign normal"), (alice, "accept")),
    ):
        simulation.say(user, said)
        lines += simulation.received(alice)
    capture = tmp_path / "alice.txt"
    capture.write_text("\n".join(lines))
    (game,) = transcript_of(capture).games
    assert game.whole
    assert ["double", "beaver", "take"] == [it.action.value for it in game.entries if isinstance(it, Cube)]
    assert 2 == game.start.laws.redoubles
    assert game.result is not None
    assert 4 == game.result.points
