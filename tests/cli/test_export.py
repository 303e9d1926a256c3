"""`fibsbot export` and `fibsbot convert`: sources, destinations and messages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from fibsbot.cli import EXIT_USAGE, main
from fibsbot.formats import Format
from fibsbot.formats.conversion import READERS, WRITERS
from fibsbot.formats.mat import write_mat
from fibsbot.formats.sgf import write_sgf
from fibsbot.formats.transcript_json import write_json
from fibsbot.rules.state import Seat
from tests.formats.one_match import read_mat, read_sgf
from tests.formats.simulated_matches import simulate
from tests.records.store.recorder import Teller

MATCH: Final = simulate(18, 5)
OTHER: Final = simulate(3, 3)
LOG: Final = Path(__file__).parents[1] / "data" / "bot" / "baldlies.jsonl"
EXAMPLES: Final = Path(__file__).parents[1] / "data" / "formats" / "read"


def run(*arguments: object, stdin: str | None = None) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, list(map(str, arguments)), input=stdin)


def good(*arguments: object, stdin: str | None = None) -> str:
    """Run a command that succeeds; return what it printed."""
    result = run(*arguments, stdin=stdin)
    assert 0 == result.exit_code, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    """Run a command that has to be refused; return the error."""
    result = CliRunner().invoke(main, list(map(str, arguments)), standalone_mode=False)
    assert result.exception is not None
    assert EXIT_USAGE == getattr(result.exception, "exit_code", None), result.exception
    return str(result.exception)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with two matches."""
    path = tmp_path / "evening.json"
    path.write_text(write_json(MATCH) + write_json(OTHER))
    return path


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Return a file with one match."""
    path = tmp_path / "one.json"
    path.write_text(write_json(MATCH))
    return path


@pytest.mark.parametrize("kind", [it for it in Format if it.writable], ids=lambda kind: kind.value)
def test_every_format_is_printed(alone: Path, kind: Format) -> None:
    text = good("export", alone, "--format", kind.value)
    if kind in WRITERS:
        assert WRITERS[kind](MATCH) == text
    else:
        assert 2 == len(text.splitlines())


def test_a_session_log_becomes_a_file_of_another_program(tmp_path: Path) -> None:
    good("export", LOG, "-o", tmp_path / "match.sgf")
    match = read_sgf((tmp_path / "match.sgf").read_text())
    assert ["bot_a", "foe_a"] == [player.name for player in match.players]
    assert all(game.whole and game.result for game in match.games)
    assert match.winner is not None


@pytest.mark.parametrize("kind", [it for it in READERS if it.writable], ids=lambda kind: kind.value)
def test_one_format_becomes_another_by_their_names(tmp_path: Path, kind: Format) -> None:
    source = tmp_path / f"in{kind.extension}"
    source.write_text(WRITERS[kind](MATCH), encoding="utf-8")
    good("convert", source, tmp_path / "out.mat")
    read = read_mat((tmp_path / "out.mat").read_text(encoding="utf-8"))
    assert [game.result for game in MATCH.games] == [game.result for game in read.games]


def test_what_a_file_is_can_be_said(tmp_path: Path) -> None:
    source = tmp_path / "match.txt"
    source.write_text("Sent by mail\n" + write_sgf(MATCH))
    assert write_mat(read_sgf(write_sgf(MATCH))) == good("convert", source, "-", "--from", "sgf", "--to", "mat")


def test_the_standard_input_and_output_are_files_too() -> None:
    assert write_json(MATCH) == good("export", "-", "--format", "json", stdin=write_json(MATCH))
    assert write_mat(MATCH) == good("convert", "-", "-", "--to", "mat", stdin=write_json(MATCH))


def test_information_that_a_format_cannot_hold_is_reported_in_one_line(alone: Path) -> None:
    told = run("export", alone, "--format", "oldmoves").stderr
    assert "left out, as oldmoves cannot say it: times, ratings, when and where it was played\n" == told
    assert not run("export", alone, "--format", "json").stderr


def test_a_table_has_all_matches_and_json_has_them_too(file: Path) -> None:
    assert 3 == len(good("export", file, "--format", "csv").splitlines())
    assert write_json(MATCH) + write_json(OTHER) == good("export", file, "--format", "json")


def test_one_match_is_picked(file: Path) -> None:
    assert write_sgf(OTHER) == good("export", file, "--format", "sgf", "--match", 2)
    assert f"{file}: expected a match 3, got 2 matches in all" == refused(
        "export", file, "--format", "sgf", "--match", 3
    )


def test_several_matches_get_numbered_files(file: Path, tmp_path: Path) -> None:
    good("export", file, "-o", tmp_path / "out.sgf")
    assert [write_sgf(MATCH), write_sgf(OTHER)] == [(tmp_path / name).read_text() for name in ("out.sgf", "out-2.sgf")]


def test_a_folder_gets_a_file_a_match(file: Path, tmp_path: Path) -> None:
    good("convert", file, f"{tmp_path}/new/", "--to", "mat")
    assert ["evening-1.mat", "evening-2.mat"] == sorted(path.name for path in (tmp_path / "new").iterdir())


def test_several_matches_do_not_go_to_one_stream_that_holds_one(file: Path) -> None:
    told = "there are several matches: expected --match N, or a file or folder to write mat to"
    assert told == refused("export", file, "--format", "mat")


def test_a_file_that_is_there_is_kept(alone: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mat"
    target.write_text("precious")
    assert f"{target} already exists; --force replaces it" == refused("export", alone, "-o", target)
    assert "precious" == target.read_text()
    good("export", alone, "-o", target, "--force")
    assert write_mat(MATCH) == target.read_text()


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    source.write_text(write_json(MATCH) + write_json(OTHER)[:900])
    assert refused("export", source, "-o", tmp_path / "out.csv").startswith(f"{source}: line 2: expected JSON")
    assert [source] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "expected FILE, or a match of the store with --match, or the store with --store or --config"),
        (
            ("nothing.log", "--store", "x", "--format", "mat"),
            "expected FILE, or a store with --store or --config, got both",
        ),
        (("nothing.log", "--format", "mat"), "cannot read nothing.log: No such file or directory"),
        (
            ("/dev/null", "-o", "x.doc"),
            "expected --format, or a file name that ends in one of .mat, .sgf",
        ),
        (("/dev/null", "--format", "mat"), "/dev/null: expected "),
        (("--store", "/no/store", "--format", "mat"), "there is no store /no/store"),
    ],
)
def test_bad_input_is_reported_in_one_line(arguments: tuple[str, ...], told: str) -> None:
    assert refused("export", *arguments).startswith(told)


def test_a_capture_without_a_match_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "idle.txt"
    source.write_text("7 bob bob logs in.\n13 bob hello\n")
    assert f"{source}: expected a match, got 0 matches in all" == refused("export", source, "--format", "mat")


def test_an_unwritable_path_is_reported(alone: Path) -> None:
    assert refused("export", alone, "-o", "/dev/null/x.mat").startswith("cannot write /dev/null/x.mat: ")


# -- from the store ---------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with a complete match, and one of which only the result is known."""
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.start(length=1)
        bot.sheet(length=1)
        bot.enter("throw", 1, dice=(3, 1), play="8/5 6/5")
        bot.win_game()
        bot.end(length=1, score=(1, 0))
        bot.start("zaphod", length=1)
        bot.win_game()
        bot.end("zaphod", length=1, score=(1, 0))
    return path


def test_a_match_of_the_store_is_written(store: Path) -> None:
    values = json.loads(good("export", "--match", 1, "--store", store, "--format", "json"))
    assert ["marvin", "ford"] == [player["name"] for player in values["players"]]
    assert [[8, 5], [6, 5]] == values["games"][0]["entries"][0]["play"]


def test_the_store_is_found_by_the_settings(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "fibsbot.toml"
    config.write_text(f'[service]\nstore = "{store}"\n')
    text = good("export", "--match", 1, "--config", config, "--format", "mat")
    assert "marvin : 0" in text


def test_all_complete_matches_of_the_store_are_written(store: Path, tmp_path: Path) -> None:
    result = run("export", "--store", store, "--format", "json", "-o", f"{tmp_path}/all/")
    assert 0 == result.exit_code
    left_out = "left out: 1 match of which the store has results only\n"
    assert f"{left_out}match-1, game 1: the end of the game was not seen\n" == result.stderr
    assert ["match-1.json"] == [path.name for path in (tmp_path / "all").iterdir()]


def test_a_match_missing_from_the_store_is_reported(store: Path) -> None:
    assert "the store has no match 9" == refused("export", "--match", 9, "--store", store, "--format", "mat")
    assert "match 2" in refused("export", "--match", 2, "--store", store, "--format", "mat")


# -- as a program -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    many = tmp_path / "many.json"
    many.write_text(write_json(MATCH) * 20)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        result = subprocess.run(
            [sys.executable, "-m", "fibsbot", "export", str(many), "--format", "xgid"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert b"" == result.stderr


def test_hostile_names_reach_no_terminal(tmp_path: Path) -> None:
    players = (evolve(MATCH.players[0], name="\x1b]0;owned\x07=cmd"), evolve(MATCH.players[1], name="<script>"))
    source = tmp_path / "in.json"
    source.write_text(write_json(evolve(MATCH, players=players)))
    for kind in (it for it in Format if it.writable):
        text = good("export", source, "--format", kind.value)
        assert all(letter.isprintable() or letter in "\t\n" for letter in text), kind


def test_the_files_that_were_written_are_named(tmp_path: Path) -> None:
    source = tmp_path / "matches.json"
    source.write_text("".join(write_json(simulate(seed, 1)) for seed in (3, 4)))
    both = run("convert", source, tmp_path / "out.mat")
    assert f"{tmp_path}/out.mat: 1 match\n{tmp_path}/out-2.mat: 1 match\n" == both.stdout
    assert f"{tmp_path}/out.csv: 2 matches\n" == run("convert", source, tmp_path / "out.csv").stdout
    folder = run("export", source, "--format", "sgf", "-o", f"{tmp_path}/all/")
    assert [f"{tmp_path}/all/matches-{number}.sgf: 1 match" for number in (1, 2)] == folder.stdout.splitlines()
    again = run("convert", source, tmp_path / "out.mat")
    assert "out.mat already exists" in again.stderr
    assert not again.stdout


def test_what_a_file_does_not_say_well_is_named(tmp_path: Path) -> None:
    result = run("convert", EXAMPLES / "unreadable.mat", tmp_path / "out.json")
    assert 0 == result.exit_code
    assert [
        "unreadable-1, game 1: line 11: an illegal play",
        "unreadable-1, game 2: line 18: expected a play for the dice, or the end of the game after them, got '45:'",
        "unreadable-1, game 3: line 24: expected a legal play, got an illegal one",
    ] == result.stderr.splitlines()
    result = run("convert", EXAMPLES / "points.mat", tmp_path / "points.json")
    assert "points-1, game 1: points 2008, which no cube and level make\n" in result.stderr


# -- a deck for Anki --------------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a file with a match of alice, whose log it is."""
    path = tmp_path / "own.json"
    path.write_text(write_json(simulate(18, 3, games=1, names=("alice", "bob"), user=Seat.A)))
    return path


DECK: Final = ("--evaluator", "heuristic", "--jobs", 1)


def test_errors_become_a_deck_that_is_not_replaced_unasked(own: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "errors.apkg"
    assert re.fullmatch(rf"{target}: [0-9]+ cards from 1 match\n", good("export", own, "-o", target, *DECK))
    first = target.read_bytes()
    assert f"{target} already exists; --force replaces it" == refused("export", own, "-o", target, *DECK)
    good("export", own, "-o", target, "--force", *DECK)
    assert first == target.read_bytes()
    printed = run("export", own, "--format", "anki", "-o", "-", *DECK)
    assert first == printed.stdout_bytes
    with zipfile.ZipFile(target) as package:
        assert {"media", "collection.anki2"} <= {*package.namelist()}


def test_a_deck_has_the_errors_that_are_selected(own: Path, tmp_path: Path) -> None:
    def count(*options: object) -> int:
        return int(good("export", own, "-o", tmp_path / "x.apkg", "--force", *DECK, *options).split()[1])

    usual = count()
    assert count("--player", "bob") != usual == count("--player", "alice")
    assert count("--worse-than", 0) > usual > count("--worse-than", 0.3)


def test_a_match_of_which_nobody_says_whose_it_is_is_left_out_with_a_line(
    own: Path, alone: Path, tmp_path: Path
) -> None:
    result = run("export", own, alone, "-o", tmp_path / "x.apkg", *DECK)
    assert (1, "one.json, match 1 does not say whose it is: --player NAME does\n") == (result.exit_code, result.stderr)
    names = " and ".join(player.name for player in MATCH.players)
    said = f"expected --player NAME: the matches do not say whose they are, and were played by {names}"
    assert said == refused("export", alone, "-o", tmp_path / "y.apkg", *DECK)
    assert not (tmp_path / "y.apkg").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--format", "anki"), "expected -o FILE for a deck of Anki, or -o - for the standard output"),
        (("--format", "anki", "-o", "FOLDER"), "expected a file for the deck of Anki, got the folder "),
        (("-o", "x.apkg", "--worse-than", "9"), "expected an error to write, found none in 1 match (from 9)"),
        (("-o", "x.apkg", "--player", "eve"), "expected at least one match for --player eve, found none"),
        (("--format", "mat", "--player", "alice"), "expected --player with --format anki alone, got --format mat"),
        (("--format", "csv", "-j", "2"), "expected --jobs with --format anki alone, got --format csv"),
    ],
)
def test_what_cannot_become_a_deck_is_reported_in_one_line(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(tmp_path) if word == "FOLDER" else word for word in options]
    more = DECK[:2] if "mat" not in words and "csv" not in words else ()
    assert refused("export", own, *words, *more).startswith(told)
    assert not (tmp_path / "x.apkg").exists()


def test_other_formats_take_one_file(file: Path, alone: Path) -> None:
    assert "expected one FILE for mat, got 2" == refused("export", file, alone, "--format", "mat")
