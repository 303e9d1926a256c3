"""The file of a match at the table, and `--position`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.cli.table import MatchFile, path_of
from fibsbot.formats.transcript_json import iter_json
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.model import Action
from fibsbot.table.set_up import read_position
from fibsbot.transcript import Transcript

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"


def written(path: Path) -> Transcript:
    (transcript,) = iter_json(path.read_text(encoding="utf-8"))
    return transcript


def play(match: BotMatch) -> None:
    while match.moves:
        match.act(Action.MOVE, (match.moves[0].move.source,))
    assert match.act(Action.DONE)


def test_what_is_taken_back_goes_from_the_file_and_each_match_has_its_own(tmp_path: Path) -> None:
    start = read_position(OPENING, BACKGAMMON, BACKGAMMON.laws)
    match = BotMatch(BACKGAMMON, start.laws, 3, ("you", "bot"), Random(1), start)
    file = MatchFile(path_of(match, tmp_path), pytest.fail)
    file.write(match)
    assert not file.path.exists()
    play(match)
    file.write(match)
    first = file.path
    assert written(first).games == match.transcript.games
    match.take_back()
    file.write(match)
    assert not written(first).games[0].entries
    for move in ((24, 21), (6, 5)):
        assert match.act(Action.MOVE, move)
    assert match.act(Action.DONE)
    file.write(match)
    assert written(first).games == match.transcript.games

    again = match.again(Random(2))
    file.write(again)
    play(again)
    file.write(again)
    assert file.path != first
    assert written(file.path).games == again.transcript.games
    assert written(first).games == match.transcript.games


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--position", "hello"), "--position: expected an XGID"),
        (("--game", "plakoto", "--position", OPENING), "--position: expected two rows"),
        (("--game", "tabula", "--position", "24:15 23 / 25:15"), "--position: expected 15 checkers, got 16"),
    ],
)
def test_a_wrong_position_is_refused_in_a_line(arguments: tuple[str, ...], fault: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["table", "--output", str(tmp_path), *arguments])
    assert result.exit_code == 2
    assert fault in result.output
    assert len(result.output.splitlines()) == 1
