"""`fibsbot analyse`: tables and errors of matches, as text and as JSON."""

from __future__ import annotations

import datetime as dt
import json
import re
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from fibsbot.analysis.selection import KINDS
from fibsbot.analysis.skill import SkillLevel
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.cli.options import engine_name
from fibsbot.engine import DEFAULT_TRIALS
from fibsbot.formats.mat import write_mat
from fibsbot.formats.transcript_json import write_json
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import CHANCE_NAMES
from fibsbot.transcript import Game, Player, Resign, Throw, Transcript, walk
from tests.cli.engine.runner import check
from tests.commands import fibsbot
from tests.records.store.recorder import Teller
from tests.replay.sample_match import sample_transcript

HEADS: Final = ("name", "pr", "decisions", "loss", "play_loss", "cube_loss")


@pytest.fixture
def match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the sample match into a file in an empty current directory; return its name."""
    monkeypatch.chdir(tmp_path)
    Path("match.mat").write_text(write_mat(sample_transcript()), encoding="utf-8")
    return "match.mat"


def analyse(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["analyse", "--evaluator", "heuristic", *arguments], env={"COLUMNS": "80"})


@pytest.mark.slow
def test_output_as_text(match: str) -> None:
    result = analyse(match, "--errors", "3")
    assert (0, "") == (result.exit_code, result.stderr)
    check("analyse", result.stdout)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "odd.mat"
    path.write_text(
        " 3 point match\n\n Game 1\n alice : 0     bob : 0\n  1) 31: 8/5 6/5     66: 24/20\n      Wins 1 point\n"
    )
    result = analyse(str(path))
    assert 0 == result.exit_code
    assert result.stderr.startswith(f"{path}, match 1, game 1: line 5: ")
    assert 1 == len(result.stderr.splitlines())


def test_rollouts_are_by_the_engine_and_have_a_number_of_games(match: str) -> None:
    for words, text in (
        (["--rollout"], "expected --rollout with the evaluator engine, got it with 'heuristic'"),
        (["--trials", "72"], "expected --trials with --rollout, got it without"),
    ):
        result = analyse(match, *words)
        assert (EXIT_USAGE, f"Error: {text}\n") == (result.exit_code, result.stderr)
    assert "engine" == engine_name("evaluator", "engine")
    assert "engine:rollout" == engine_name("evaluator", "engine", rollout=DEFAULT_TRIALS)
    assert "engine:1,rollout,trials=72" == engine_name("evaluator", "engine", 1, 72)


def errors_of(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(it["game"], it["turn"], it["kind"], it["player"], it["loss"]) for it in row["errors"]]


def test_errors_are_selected_and_figures_are_those_of_the_match(match: str) -> None:
    def row(*options: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(analyse(match, "--no-luck", "--json", *options).stdout)
        return found

    every = row("--worse-than", "0")
    name = every["players"][0]["name"]
    own = row("--player", name, "--worse-than", "0.05")
    assert every["players"] == own["players"]
    wanted = [it for it in errors_of(every) if it[3] == name and it[4] >= 0.05]
    assert 0 < len(wanted) < len(every["errors"])
    assert wanted == errors_of(own)
    assert {("match.mat, match 1", 1)} == {(it["match"], it["number"]) for it in own["errors"]}
    parts = [errors_of(row("--worse-than", "0", "--kind", kind)) for kind in KINDS]
    assert sorted(errors_of(every)) == sorted(chain(*parts))
    assert [] == row("--player", name, "--worse-than", "5")["errors"]


def test_a_list_of_selected_errors_says_what_is_selected(match: str) -> None:
    result = analyse(
        match, match, "--no-luck", "--kind", "double", "--kind", "take", "--worse-than", "0", "--errors", "1"
    )
    assert (0, "") == (result.exit_code, result.stderr)
    check("analyse_selected", result.stdout)


def test_a_day_selects_matches_and_those_without_one_are_counted(match: str) -> None:
    dated = evolve(sample_transcript(), started=dt.datetime(2026, 10, 1, 9, tzinfo=dt.UTC))
    Path("dated.json").write_text(write_json(dated), encoding="utf-8")
    undated = evolve(sample_transcript(), started=None, tags={})
    Path(match).write_text(write_mat(undated), encoding="utf-8")
    result = analyse("dated.json", match, "--no-luck", "--json", "--since", "2026-10-01")
    assert 0 == result.exit_code
    assert ["dated.json, match 1"] == [json.loads(line)["match"] for line in result.stdout.splitlines()]
    assert "left out by --since: 1 match without a date, such as match.mat, match 1" == result.stderr.splitlines()[-1]
    result = analyse("dated.json", match, "--since", "2026-10-02")
    assert EXIT_USAGE == result.exit_code
    assert "for --since 2026-10-02, found none that can be analysed; 1 match without a date" in result.stderr


def test_a_player_of_the_store_is_either_side(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.log_in(1500.0, 0)
        for opponent in ("ford", "arthur"):
            bot.start(opponent, 5)
            bot.sheet(f"s{opponent}", opponent)
            bot.enter("throw", 1, f"s{opponent}", dice="31", play="8/5 6/5")
            bot.save(opponent, 5)
    for player, count in {"marvin": 2, "ford": 1, "trillian": 0}.items():
        result = analyse("--store", str(path), "--no-luck", "--json", "--player", player)
        assert count == len(result.stdout.splitlines())
    result = analyse("--store", str(path), "--match", "1", "--player", "arthur")
    assert EXIT_USAGE == result.exit_code
    assert "expected at least one match for --match 1 and --player arthur" in result.stderr


def test_several_matches_are_summed_up_by_player(match: str) -> None:
    result = analyse(match, match, "--no-luck", "--errors", "0")
    assert (0, "") == (result.exit_code, result.stderr)
    check("analyse_several", result.stdout)


@pytest.mark.slow
def test_programs_get_every_error_in_its_order(match: str) -> None:
    (line,) = analyse(match, "--json").stdout.splitlines()
    row = json.loads(line)
    assert "heuristic" == row["evaluator"]
    assert 2 == len(row["players"])
    assert all(set(HEADS) < set(it) for it in row["players"])
    for player in row["players"]:
        kinds = player["cube_errors"].values()
        assert pytest.approx(sum(it["loss"] for it in kinds), abs=1e-5) == player["cube_loss"]
        assert all((it["count"] > 0) is (it["loss"] > 0) for it in kinds)
        counted = player["unforced_plays"] + player["cube_decisions"]
        lost = player["play_loss"] + player["cube_loss"]
        assert pytest.approx(lost, abs=1e-4) == player["error_rate"] * counted
        assert player["level"] in {it.value for it in SkillLevel}
        assert 2050 >= player["estimated_rating"]
    graded = sum(it["doubtful"] + it["errors"] + it["blunders"] for it in row["players"])
    assert graded == len(row["errors"]) > 0
    places = [(it["game"], it["turn"]) for it in row["errors"]]
    assert sorted(places) == places
    assert all(it["loss"] >= 0.02 for it in row["errors"])


def test_errors_by_resigning_say_their_ply_and_the_chances_of_both(tmp_path: Path) -> None:
    start = start_match(FIBS, 3)
    opening = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
    refused, accepted = (Resign(seat=Seat.B, level=Level.GAMMON, accepted=it) for it in (False, True))
    entries = (opening, refused, accepted)
    *_, last = walk(Game(1, start, entries))
    game = Game(1, start, entries, last.after.result)
    path = tmp_path / "match.json"
    path.write_text(write_json(Transcript((Player("ann"), Player("bob")), 3, (game,))), encoding="utf-8")
    errors = json.loads(analyse(str(path), "--no-luck", "--json").stdout)["errors"]
    assert ["resignation", "settlement", "resignation"] == [it["kind"] for it in errors]
    offer, answer, _ = (it["resigning"] for it in errors)
    assert set(CHANCE_NAMES) == set(offer["chances"]) == set(answer["chances"])
    assert (0, 0) == (offer["plies"], answer["plies"])
    assert offer["chances"]["win"] == answer["chances"]["lose"]
    assert pytest.approx(errors[0]["loss"], abs=2e-6) == offer["played_on"] - offer["settled"]
    assert pytest.approx(errors[1]["loss"], abs=2e-6) == answer["settled"] - answer["played_on"]
    text = analyse(str(path), "--no-luck").stdout
    assert f"resigning {offer['settled']:+.3f}" in text
    assert f"accepting {answer['settled']:+.3f}" in text
    for row in (offer, answer):
        own, theirs = ([f"{row['chances'][it]:.3f}" for it in names] for names in (CHANCE_NAMES[:3], CHANCE_NAMES[3:]))
        assert f"0-ply playing on {row['played_on']:+.3f}  {' '.join(own)} - {' '.join(theirs)}" in text


def test_without_luck_nothing_is_said_of_it(match: str) -> None:
    assert "luck" not in analyse(match, "--no-luck").stdout
    row = json.loads(analyse(match, "--no-luck", "--json").stdout)
    assert not [name for it in row["players"] for name in it if "luck" in name]


def test_a_match_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.log_in(1500.0, 0)
        bot.start("ford", 5)
        bot.sheet("s1", "ford")
        bot.enter("throw", 1, "s1", dice="31", play="8/5 6/5")
        bot.save("ford", 5)
    row = json.loads(analyse("--store", str(path), "--match", "1", "--no-luck", "--json").stdout)
    assert ("match 1", 5, ["marvin", "ford"]) == (row["match"], row["length"], [it["name"] for it in row["players"]])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "expected FILE, or a match of the store with --match"),
        (["/no/such/file"], "cannot read /no/such/file"),
        (["--store", "/no/such/store"], "there is no store /no/such/store"),
        (["match.mat", "--plies", "1"], "expected --plies with the evaluator engine, got it with 'heuristic'"),
        (["match.mat", "--evaluator", "random"], "strategy 'random' is not an evaluator"),
        (["match.mat", "--match", "7"], "expected at least one match for --match 7, found none that can be analysed"),
        (
            ["match.mat", "--player", "nobody"],
            "match for --player nobody, found none that can be analysed; there are matches of ford and marvin",
        ),
    ],
)
def test_errors_are_reported_in_one_line(match: str, arguments: list[str], text: str) -> None:
    assert Path(match).exists()
    result = analyse(*arguments)
    assert EXIT_USAGE == result.exit_code
    assert text in result.stderr


@pytest.mark.slow
def test_no_figure_is_cut_in_a_narrow_terminal(match: str) -> None:
    def figures(columns: int) -> list[str]:
        done = fibsbot("analyse", match, "--evaluator", "heuristic", "--errors", "0", COLUMNS=str(columns))
        lines = done.stdout.splitlines()
        assert max(map(len, lines)) <= columns
        table = lines[next(number for number, line in enumerate(lines) if line.startswith("──")) :]
        return re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?(?: %)?", "\n".join(table))

    wide = figures(80)
    assert 35 == len(wide)
    assert wide == figures(36)


@pytest.mark.slow
def test_totals_that_are_too_wide_for_a_terminal_are_not_cut(match: str) -> None:
    first = sample_transcript().games[0]
    short = evolve(sample_transcript(), games=(evolve(first, entries=first.entries[:2], result=None),))
    Path(match).write_text(write_mat(short), encoding="utf-8")

    def last_row(columns: int) -> list[str]:
        arguments = (match, match, "--evaluator", "heuristic", "--errors", "0")
        done = fibsbot("analyse", *arguments, COLUMNS=str(columns))
        return done.stdout.splitlines()[-1].split()

    wide = last_row(80)
    assert 6 == len(wide)
    assert [wide] * 3 == [last_row(columns) for columns in (24, 40, 60)]


def test_an_id_is_not_wrapped_in_a_narrow_terminal(match: str) -> None:
    done = fibsbot("analyse", match, "--evaluator", "heuristic", "--no-luck", "--errors", "3", COLUMNS="30")
    ids = [line.strip() for line in done.stdout.splitlines() if "XGID=" in line]
    assert 2 == len(ids)
    assert all(re.fullmatch(r"XGID=\S{26}(:[^:\s]+){9}", it) for it in ids)


def test_a_match_of_the_standard_input(match: str) -> None:
    arguments = ["analyse", "-", "--evaluator", "heuristic", "--no-luck", "--json"]
    shown = CliRunner().invoke(main, arguments, input=Path(match).read_bytes()).stdout
    assert json.loads(analyse(match, "--no-luck", "--json").stdout.replace("match.mat", "-")) == json.loads(shown)


def test_files_that_cannot_be_read_are_skipped_and_listed_at_the_end_and_folders_are_taken(match: str) -> None:
    Path("evening").mkdir()
    Path("evening/second.mat").write_text(Path(match).read_text("utf-8"), encoding="utf-8")
    Path("evening/notes.txt").write_text("nothing", encoding="utf-8")
    result = analyse("missing.mat", "evening", match, "--no-luck", "--json")
    assert 1 == result.exit_code
    assert ["evening/second.mat, match 1", "match.mat, match 1"] == [
        json.loads(line)["match"] for line in result.stdout.splitlines()
    ]
    missing, notes = result.stderr.splitlines()
    assert "skipped: cannot read missing.mat: No such file or directory" == missing
    assert notes.startswith("skipped: evening/notes.txt: expected a session log or a capture")


@pytest.mark.usefixtures("match")
def test_without_any_file_that_can_be_read_nothing_is_analysed() -> None:
    Path("notes.txt").write_text("nothing", encoding="utf-8")
    result = analyse("missing.mat", "notes.txt")
    assert (EXIT_USAGE, "") == (result.exit_code, result.stdout)
    assert "cannot read missing.mat: No such file or directory, and 1 more file" in result.stderr
