"""The command `rules`, and `legal`, `show` and `perft` with `--game`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import main
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import format_sides, parse_sides
from fibsbot.games.state_json import state_from_json
from fibsbot.rules.errors import CubeRefusal
from fibsbot.rules.game import start_match_of
from fibsbot.rules.general_plays import perft
from fibsbot.rules.laws import LAWS
from fibsbot.rules.permissions import refusal_to_double
from fibsbot.rules.state import Seat

ROOT: Final = Path(__file__).parents[2]
GOLDEN: Final = ROOT / "tests" / "data" / "cli"
XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:10"


def run(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("name", ["plakoto:exception", "swedish", "hyper"])
def test_the_page_of_a_game_matches_the_golden_file(name: str) -> None:
    path, result = GOLDEN / f"rules_{name.partition(':')[0]}.golden", run("rules", name)
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.write_text(result.stdout, encoding="ascii")
    assert path.read_text(encoding="ascii") == result.stdout


@pytest.mark.parametrize("name", GAMES)
def test_the_page_of_a_game_has_everything_that_the_ruleset_says(name: str) -> None:
    rules = load_ruleset(name)
    page = " ".join(run("rules", name).stdout.split())
    sentences = (rules.title, rules.source, *rules.readings, *(option.sentence for option in rules.options))
    expected = [*sentences, *(f"{option.name}:" for option in rules.options)]
    assert [] == [sentence for sentence in expected if " ".join(sentence.split()) not in page]
    trailer = start_match_of(rules, 3, (2, 0), begins=Seat.B)
    in_crawford = refusal_to_double(trailer, Seat.B) is CubeRefusal.CRAWFORD
    assert rules.laws.cube == in_crawford == ("A match has a Crawford game" in page)


def test_rules_without_a_game_lists_all_games_with_their_options() -> None:
    lines = run("rules").stdout.splitlines()
    assert ["backgammon", "chouette", *GAMES] == [line.split()[0] for line in lines]
    for name, line in zip(GAMES, lines[2:], strict=True):
        assert all(option.name in line for option in load_ruleset(name).options)


def test_backgammon_and_chouette_have_pages_too() -> None:
    page = run("rules", "backgammon").stdout
    assert "   +13-14-15-16-17-18-------19-20-21-22-23-24-+ X: opponent\n" in page
    assert [] == [name for name in LAWS if f"- {name}: " not in page]
    assert "Ties are cast again" in run("rules", "Chouette").stdout


def test_the_documentation_lists_all_games_with_their_options() -> None:
    page = (ROOT / "docs/reference/games.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \| (.*) \|$", page, re.MULTILINE)
    expected = [
        (name, rules.title, ", ".join(f"`{option.name}`" for option in rules.options) or "none")
        for name, rules in ((name, load_ruleset(name)) for name in GAMES)
    ]
    assert expected == rows


def test_texts_state_the_number_of_games_besides_backgammon() -> None:
    wording = re.compile(r"\b(\d+) (?:other \[?tables games|games of its family)|lists the (\d+) games")
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    stated = [
        (file.name, int(found[1] or found[2])) for file in files for found in wording.finditer(file.read_text("utf-8"))
    ]
    pages = {"README.md", "CHANGELOG.md", "commands.md", "games.md", "index.md", "library.md", "server.md"}
    assert pages == {name for name, _ in stated}
    assert [] == [(name, number) for name, number in stated if number != len(GAMES)]


def test_every_sentence_of_the_variations_names_tests_that_exist_or_is_no_law() -> None:
    rows = (ROOT / "docs/reference/games.md").read_text().split("## The sentences of the variations", 1)[1]
    cells = re.findall(r"^\| [A-Z].*\| (.*) \|$", rows, re.MULTILINE)
    existing = {
        name
        for file in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    named = [set(re.findall(r"`(test_\w+)`", cell)) for cell in cells]
    assert [] == [cell for cell, names in zip(cells, named, strict=True) if not names and cell != "no law"]
    assert set() == set().union(*named) - existing
    assert len(cells) > 60


def test_legal_prints_each_play_with_the_position_after_it() -> None:
    result = run("legal", "24:15 / 24:15", "--game", "fevga", "--dice", "55")
    assert ["24/19 24/9   24:13 19 9 / 24:15", "24/4         24:14 4 / 24:15"] == sorted(result.stdout.splitlines())
    assert run("legal", "--game", "fevga", "--dice", "55").stdout == result.stdout


def test_legal_gives_json_with_a_position_for_each_play() -> None:
    found = json.loads(run("legal", "--game", "tabula", "--dice", "642", "--json").stdout)
    assert ("tabula", [6, 4, 2], [6, 4, 2]) == (found["game"], found["dice"], found["numbers"])
    moves = [[25, 19], [25, 21], [25, 23]]
    assert [{"play": "hand/23 hand/21 hand/19", "moves": moves, "position": "25:12 23 21 19 / 25:15"}] == found["plays"]


def test_legal_says_that_a_turn_has_more_parts() -> None:
    result = run("legal", "--game", "gioul", "--dice", "55")
    assert all("/" in line for line in result.stdout.splitlines())
    assert "several parts: 5 5 5 5, then 6 6 6 6. These are the plays of the first one" in result.stderr
    assert "cannot move\n" == run("legal", "24 2:14 / 24:13 5 3", "--game", "gioul", "--dice", "42").stdout


@pytest.mark.parametrize(
    ("game", "dice", "own", "marks", "count"),
    [
        ("russian1", "53", "25:13 22 20 throws=1", "started", 8),
        ("russian1", "33", "20 1:14 throws=1", "started", 1),
        ("swedish", "21", "24:10 14:4 13 throws=5", "released,five_left", 6),
        ("swedish", "21", "24:10 14:5 throws=5", "five_left", 4),
    ],
)
def test_what_the_checkers_show_need_not_be_marked(game: str, dice: str, own: str, marks: str, count: int) -> None:
    marked = run("legal", f"{own} marks={marks} / 24:15", "--game", game, "--dice", dice)
    assert marked.stdout == run("legal", f"{own} / 24:15", "--game", game, "--dice", dice).stdout
    assert count == len(marked.stdout.splitlines())


def test_legal_lists_the_plays_of_a_later_part() -> None:
    following = run("legal", "--game", "gioul", "--dice", "55", "--play", "24/19(4);")
    alone = run("legal", "24:11 19:4 / 24:15", "--game", "gioul", "--dice", "66")
    assert alone.stdout == following.stdout
    named = run("legal", "--game", "acey-deucey", "--dice", "21", "--play", "hand/24 hand/23; name 5;")
    assert "hand/20(4)   25:9 24 23 20:4 / 25:15\n" == named.stdout


@pytest.mark.parametrize(
    ("game", "dice", "play", "message"),
    [
        ("gioul", "55", "24/18(4);", "24/18"),
        ("acey-deucey", "21", "hand/24 hand/23;", "expected 'name N' for the double to play, then ;"),
        ("acey-deucey", "21", "hand/24 hand/23; name;", "expected 'name N' for the double to play, then ;, got 'name'"),
        ("acey-deucey", "21", "hand/24 hand/23; name 9;", "the double to play, one of 1, 2, 3, 4, 5, 6, got 9"),
        ("acey-deucey", "21", "hand/24 hand/23; name 5; hand/20(4);", "nothing is left to play"),
        ("tapa", "21", "24/22 24/23; 24/22;", "nothing is left to play after 24/22 24/23"),
        ("tapa", "21", "24/22 24/23;", "nothing is left to play after 24/22 24/23"),
    ],
)
def test_legal_says_in_a_line_why_a_later_part_cannot_be_listed(game: str, dice: str, play: str, message: str) -> None:
    result = run("legal", "--game", game, "--dice", dice, "--play", play)
    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "law"),
    [
        (("--game", "plakoto", "--dice", "61", "--play", "24/20 24/23"), "a number that was rolled"),
        (("--game", "narde", "--dice", "61", "--play", "24/18 24/23"), "only one checker leaves the head in a turn"),
        (("--game", "tabula", "--dice", "661", "--play", "hand/19/18"), "enters before any other moves"),
        ((XGID, "--play", "24/23 8/2"), "a number that was rolled"),
    ],
)
def test_legal_names_the_law_that_a_play_breaks(arguments: tuple[str, ...], law: str) -> None:
    result = run("legal", *arguments)
    assert (2, "") == (result.exit_code, result.stdout)
    assert law in result.stderr
    assert 1 == result.stderr.count("\n")


@pytest.mark.parametrize("play", ["hand/24 hand/23", "hand/24 hand/23;"])
def test_legal_with_a_play_needs_dice(play: str) -> None:
    result = run("legal", "--game", "acey-deucey", "--play", play)
    assert (2, "") == (result.exit_code, result.stdout)
    assert "expected --dice as in --dice 65, got none" in result.stderr


def test_legal_prints_a_legal_play_alone() -> None:
    assert "8/5 6/5\n" == run("legal", XGID, "--play", "6/5 8/5").stdout
    result = run("legal", "--game", "nackgammon", "--dice", "31", "--play", "6/5, 8-5")
    assert result.stdout.startswith("8/5 6/5   24:2 23:2")


def test_show_draws_a_position_and_its_facts() -> None:
    text = "13:11 7:2 24 6 pinned=6 / 12 23:9 19:3 7 24 pinned=12"
    lines = run("show", text, "--game", "plakoto", "--dice", "61").stdout.splitlines()
    assert "   BAR: O-0 X-0   OFF: O-0 X-0  player rolled 6 1." in lines
    assert "   decision  player to play 6-1" in lines
    assert "   position  24 13:11 7:2 6 pinned=6 / 24 23:9 19:3 12 7 pinned=12" in lines


def test_show_gives_json_with_the_state_of_the_game() -> None:
    found = json.loads(run("show", "--game", "hyper", "--dice", "21", "--json").stdout)
    facts = {name: found.pop(name) for name in ("game", "pips")}
    assert {"game": "hyper", "pips": [69, 69]} == facts
    assert "24 23 22 / 24 23 22" == found["position"] == format_sides(state_from_json(found).sides)


def test_show_draws_a_picture_of_a_position_and_a_play(tmp_path: Path) -> None:
    picture = ("--svg", "-o", str(tmp_path / "tapa.svg"), "--light", "--names", "marvin", "ford")
    result = run("show", "--game", "tapa", "--dice", "65", "--play", "24/13", *picture)
    assert (0, "") == (result.exit_code, result.output)
    assert "<title>marvin plays 6-5: 24/13</title>" in (tmp_path / "tapa.svg").read_text()


def test_perft_counts_the_positions_of_a_game() -> None:
    lines = run("perft", "--game", "tapa", "--depth", "2").stdout.splitlines()
    assert [["1", "59"], ["2", "3,474"]] == [line.split()[:2] for line in lines[1:]]
    rules, text = load_ruleset("tapa"), "24 2:14 / 24:15"
    found = json.loads(run("perft", text, "--game", "tapa", "--depth", "1", "--json").stdout)
    assert perft(rules, 1, parse_sides(text, rules)) == found["positions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rules", "ludo"), "expected a game such as"),
        (("rules", "plakoto:exeption"), "expected exception after plakoto:, got 'exeption'"),
        (("show", "--game", "ludo"), "expected a game such as"),
        (("show", "24:15", "--game", "tapa"), "expected two rows of checkers"),
        (("show", "24:16 / 24:15", "--game", "tapa"), "expected numbers up to 15"),
        (("show", "24:15 / 1:15", "--game", "tapa"), "expected pinned=... where both sides are"),
        (
            ("show", "24:15 / 1:15", "--game", "portes"),
            "expected no point with checkers of both sides, got both on 24 / 1",
        ),
        (("show", "--game", "tapa", "--dice", "77"), "expected --dice with 2 digits"),
        (("show", "--game", "tapa", "--play", "24/23"), "expected --svg with --play"),
        (("show", "--game", "tapa", "--svg", "--play", "24/23"), "expected --dice as in --dice 65, got none"),
        (("show", XGID, "--dice", "31"), "expected --dice with --game"),
        (("show",), "Missing argument 'XGID|POSITION'"),
        (("legal",), "Missing argument 'XGID|POSITION'"),
        (("legal", "--game", "tabula"), "expected --dice as in --dice 654, got none"),
        (("legal", "--game", "tabula", "--dice", "61"), "expected --dice with 3 digits"),
        (("legal", "--game", "tapa", "--dice", "61", "--play", "hello"), "expected moves such as"),
        (("perft", "24:15 / 24:15"), "expected --game with a position"),
        (("perft", "--game", "tapa", "-j", "2"), "expected --jobs without --game"),
    ],
)
def test_mistakes_are_reported_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
