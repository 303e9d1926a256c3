"""Files of other programs that have no match in a format of ours are named, with what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.cli.export import convert
from fibsbot.formats import FormatError, describe_foreign
from fibsbot.formats.mat import write_mat
from fibsbot.formats.transcript_json import write_json
from fibsbot.match import CubeAction
from fibsbot.replay.match_files import find_format, load_transcripts
from fibsbot.rules.state import Ending, Stage
from fibsbot.transcript import Cube, walk
from tests.formats.gnubg import GNUBG, requires_gnubg
from tests.formats.simulated_matches import simulate

XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:41:0:0:0:5:10"
FILES: Final = {
    "match.tmg": (b"MatchId: 12\nPlayer1: a\n", "a match of TrueMoneygames: convert it with GNU Backgammon"),
    "match.sgg": (b"  alice vs. bob\r\n", "a match of GamesGrid: convert it with GNU Backgammon"),
    "position.txt": (
        f"{XGID}\n\nX:alice   O:bob\n".encode(),
        "a position text of eXtreme Gammon or BGBlitz: `fibsbot sh",
    ),
    "below.txt": (
        f" +-24-23-+\n | O    |\n Position: {XGID}\n".encode(),
        "a position text with an XGID: `fibsbot show",
    ),
    "matches.zip": (b"PK\x03\x04", "a zip file: unpack it, or add it to an archive"),
    "matches.tar": (b"a.mat".ljust(257, b"\0") + b"ustar\x0000", "a tar file: unpack it, or add it to an archive"),
    "matches.7z": (b"7z\xbc\xaf\x27\x1c\0\4", "a compressed file: unpack it"),
    "fibsbot.db": (b"SQLite format 3\0", "a store or another database: name a store with --store"),
    "plays.parquet": (b"PAR1\x15", "a table of an archive: "),
    "match.html": (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE html>", "a web page: export the match as .mat"),
    "match.pdf": (b"%PDF-1.7\n", "a document or a picture: no match"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_foreign_file_is_named_with_what_to_do(name: str, tmp_path: Path) -> None:
    content, told = FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert describe_foreign(content).startswith(told)
    with pytest.raises(FormatError, match=r"^expected a match, got a"):
        list(load_transcripts(path))
    result = CliRunner().invoke(convert, [str(path), str(tmp_path / "out.sgf")])
    assert 2 == result.exit_code
    assert f"{path}: expected a match, got {told}" in result.output


def test_a_snowie_line_is_named_whatever_the_names(tmp_path: Path) -> None:
    path = tmp_path / "position.snowie"
    path.write_text(
        "5;0;0;0;0;a b;Zoë;0;0;0;1;0;0;-2;0;0;0;0;5;0;3;0;0;0;-5;5;0;0;0;-3;0;-5;0;0;0;0;2;0;4;1;\n", "utf-8"
    )
    with pytest.raises(FormatError, match="a position line of Snowie: `fibsbot show FILE` shows it"):
        find_format(path)


def test_matches_and_captures_are_not_foreign(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    for content in (write_json(simulate(3, 3)), "Welcome to FIBS.\nalice vs. bob\nXGID=nothing\n", "", "\0\1\2"):
        path.write_text(content)
        find_format(path)


@pytest.mark.parametrize("name", ["position.txt", "below.txt", "snowie", "gnubg"])
def test_a_position_text_is_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    ids = "GNU Backgammon  Position ID: 4HPwATDgc/ABMA\n                 Match ID   : cAmgAAAAAAAE\n"
    line = "5;0;0;0;0;a b;bob;0;0;0;1;0;0;-2;0;0;0;0;5;0;3;0;0;0;-5;5;0;0;0;-3;0;-5;0;0;0;0;2;0;4;1;\n"
    path.write_bytes(FILES[name][0] if name in FILES else (line if name == "snowie" else ids).encode())
    result = CliRunner().invoke(main, ["show", str(path)])
    assert 0 == result.exit_code, result.output
    assert "XGID=-b----E-C---eE---c-e----B-:0:0:" in result.output


def test_a_text_without_a_position_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing\n")
    result = CliRunner().invoke(main, ["show", str(path)])
    assert 2 == result.exit_code
    assert f"{path}: line 1: expected a position line" in result.output


# -- formats that are only read ---------------------------------------------------------------------------------------

READ: Final = Path(__file__).parents[1] / "data" / "formats" / "read"


def test_an_analysis_as_text_is_read_with_doubles_beavers_and_resignations() -> None:
    (match,) = load_transcripts(READ / "analysis.txt")
    assert ["anna k", "bob"] == [player.name for player in match.players]
    assert [(0, 0), (0, 4), (4, 4)] == [game.start.scores for game in match.games]
    assert all(game.whole for game in match.games)
    assert [Ending.RESIGNED, Ending.RESIGNED, Ending.DROPPED] == [it.result.how for it in match.games if it.result]
    assert [4, 4, 1] == [game.result.points for game in match.games if game.result]
    cube = [entry.action for entry in match.games[1].entries if isinstance(entry, Cube)]
    assert [CubeAction.DOUBLE, CubeAction.BEAVER, CubeAction.TAKE] == cube


def test_each_file_of_an_analysis_is_a_game_of_its_match(tmp_path: Path) -> None:
    games = (READ / "analysis.txt").read_text("utf-8").split("The score ")[1:]
    path = tmp_path / "match_002.txt"
    path.write_text(f"The score {games[1]}")
    (match,) = load_transcripts(path)
    assert [(2, (0, 4))] == [(game.number, game.start.scores) for game in match.games]


def test_a_turn_that_is_missing_in_an_analysis_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "match.txt"
    path.write_text((READ / "analysis.txt").read_text("utf-8").replace("* bob moves 8/4 6/4\n", "", 1))
    (match,) = load_transcripts(path)
    (gap,) = (entry.reason for entry in match.games[0].entries if hasattr(entry, "reason"))
    assert gap.endswith(": a turn is missing")
    assert match.games[0].result is not None
    assert match.games[1].whole


@requires_gnubg
@pytest.mark.parametrize(("seed", "length"), [(18, 5), (3, 3), (7, 0), (21, 1)])
def test_what_gnubg_writes_as_text_is_the_match_that_it_read(seed: int, length: int, tmp_path: Path) -> None:
    match = simulate(seed, length)
    (tmp_path / "match.mat").write_text(write_mat(match), "utf-8")
    (tmp_path / "commands").write_text('set confirm new off\nimport mat "match.mat"\nexport match text "out.txt"\n')
    with (tmp_path / "commands").open("rb") as commands:
        subprocess.run(
            [str(GNUBG), "-t", "-q"], cwd=tmp_path, stdin=commands, check=True, capture_output=True, timeout=120
        )
    names = ["out.txt", *(f"out_{number:03}.txt" for number in range(2, len(match.games) + 1))]
    whole = tmp_path / "whole.txt"
    whole.write_bytes(b"".join((tmp_path / name).read_bytes() for name in names))
    (read,) = load_transcripts(whole)
    assert [game.result and game.result.points for game in match.games] == [
        game.result and game.result.points for game in read.games
    ]
    for one, other in zip(match.games, read.games, strict=True):
        assert other.whole
        boards = [
            [step.after.position for step in walk(game) if step.after.stage is Stage.ROLL] for game in (one, other)
        ]
        assert boards[0] == boards[1]
