"""`fibsbot replay` as text: golden files for what people and programs read, and what it fails for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import main
from fibsbot.formats.mat import write_mat
from fibsbot.formats.transcript_json import write_json
from fibsbot.strategies import DEFAULT_STRATEGY
from tests.commands import fibsbot
from tests.replay.sample_match import sample_transcript
from tests.replay.scripted_strategy import ScriptedStrategy

DATA: Final = Path(__file__).parent.parent / "data"
GOLDEN: Final = DATA / "cli"
WATCHED: Final = DATA / "protocol" / "session_watch.txt"
LIES: Final = DATA / "protocol" / "client_test_lines.txt"
"""Lines that belong to different matches: their boards contradict each other."""
TOTALS: Final = re.compile(
    r"\d+ files?, [\d.]+ MB, \d+ match(es)?, \d+ games?, [\d,]+ decisions?, \d+ differences?, \d+ gaps?"
    r"(, \d+ skipped)?; [\d.]+ s, [\d.]+ MB/s"
)


@pytest.fixture
def match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the paper match into a file of an empty folder that is then the current one; return its name."""
    monkeypatch.chdir(tmp_path)
    Path("match.json").write_text(write_json(sample_transcript()), encoding="utf-8")
    return "match.json"


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Copy the capture of a watched match into an empty folder that is then the current one; return its name."""
    monkeypatch.chdir(tmp_path)
    Path("watched.txt").write_bytes(WATCHED.read_bytes())
    return "watched.txt"


def replay(*arguments: str, data: bytes | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["replay", *arguments], input=data)


def rows(result: Result) -> list[dict[str, Any]]:
    """Return the JSON objects that were printed."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def check(name: str, text: str) -> None:
    """Compare with a golden file, or write it."""
    path = GOLDEN / name
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


# -- what is printed ------------------------------------------------------------------------------------------------


def test_a_move_list_of_a_match(match: str) -> None:
    result = replay(match)
    assert 0 == result.exit_code
    check("replay_match.golden", result.stdout)
    *notes, totals = result.stderr.splitlines()
    assert ["match.json: match 1, game 1, turn 4: 3 turns are missing"] == notes
    assert TOTALS.fullmatch(totals)


def test_a_move_list_of_a_capture(watched: str) -> None:
    result = replay(watched, "--start", "1/1/12")
    assert 0 == result.exit_code
    check("replay_watched.golden", result.stdout)


def test_the_objects_of_a_match(match: str) -> None:
    result = replay(match, "--json")
    assert 0 == result.exit_code
    check("replay_match.jsonl", result.stdout)
    assert 1 == len(result.stderr.splitlines())


def test_the_objects_of_a_capture(watched: str) -> None:
    result = replay(watched, "--json", "--start", "1/1/27")
    assert 0 == result.exit_code
    check("replay_watched.jsonl", result.stdout)


def test_what_a_strategy_would_have_done(match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.strategies.loader.load", lambda _: ScriptedStrategy())
    result = replay(match, "--strategy", "puppet", "--both")
    assert 0 == result.exit_code
    check("replay_decided.golden", result.stdout)


@pytest.mark.slow
def test_the_documentation_knows_every_kind_and_field(match: str, watched: str) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "replay.md").read_text()
    found = [row for file in (match, watched, str(LIES)) for row in rows(replay(file, "--json"))]
    found += rows(replay(match, "--json", "--strategy", "random", "--seed", "1"))
    assert [] == sorted({row["kind"] for row in found if f"`{row['kind']}`" not in page})
    assert [] == sorted({name for row in found for name in row if f"`{name}`" not in page})


def test_the_totals_stand_at_the_end_of_the_objects(match: str, watched: str) -> None:
    *_, last = rows(replay(match, watched, "--json"))
    assert ("total", 2, 0) == (last["kind"], last["files"], last["skipped"])
    files = [row for row in rows(replay(match, watched, "--json")) if row["kind"] == "file"]
    assert [match, watched] == [row["file"] for row in files]
    counts = ("matches", "games", "decisions", "differences", "gaps", "bytes")
    assert {name: sum(row[name] for row in files) for name in counts} == {name: last[name] for name in counts}


def test_quiet_tells_only_what_it_came_to(match: str) -> None:
    result = replay(match, "-q")
    assert (0, "") == (result.exit_code, result.stdout)
    assert ["file", "total"] == [row["kind"] for row in rows(replay(match, "-q", "--json"))]


def test_several_files_have_their_names_above_their_lists(match: str, watched: str) -> None:
    lines = replay(match, watched).stdout.splitlines()
    assert [f"== {match}", f"== {watched}"] == [line for line in lines if line.startswith("==")]


def test_the_standard_input_is_a_file_too() -> None:
    data = WATCHED.read_bytes()
    assert replay(str(WATCHED)).stdout == replay("-", data=data).stdout


def test_other_programs_matches_are_replayed(tmp_path: Path) -> None:
    path = tmp_path / "match.mat"
    path.write_text(write_mat(sample_transcript()), encoding="utf-8")
    result = replay(str(path))
    assert 0 == result.exit_code
    assert "31: 8/5 6/5" in result.stdout


# -- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_strict_fails_at_the_first_difference() -> None:
    result = fibsbot("replay", "--strict", "-q", str(LIES))
    assert 1 == result.returncode
    (line,) = result.stderr.splitlines()
    place = r"client_test_lines\.txt: byte \d+, match \d+, game \d+, turn \d+: \w+: ours .+, theirs .+"
    assert re.search(place, line)


def test_strict_is_content_with_a_capture_without_differences() -> None:
    result = replay("--strict", str(WATCHED))
    assert (0, replay(str(WATCHED)).stdout) == (result.exit_code, result.stdout)


def test_without_strict_differences_are_listed_at_the_end() -> None:
    result = replay(str(LIES))
    assert 0 == result.exit_code
    differences = [row for row in rows(replay("--json", str(LIES))) if row["kind"] == "difference"]
    assert len(differences) == sum(": ours " in line for line in result.stderr.splitlines())
    assert len(differences) == sum(line.startswith("  !!! byte ") for line in result.stdout.splitlines())


def test_in_a_folder_what_is_no_capture_is_skipped(match: str) -> None:
    Path("note").write_text("nothing that a server says\n", encoding="utf-8")
    result = replay(".", "-q")
    assert 0 == result.exit_code
    assert (
        "note: skipped: expected a session log or a capture, got a text without any line of a server" in result.stderr
    )
    assert "1 skipped" in result.stderr
    assert match in [row["file"] for row in rows(replay(".", "--json")) if row["kind"] == "file"]


def test_a_file_by_name_that_is_none_fails_after_the_others(match: str) -> None:
    Path("note").write_text("nothing that a server says\n", encoding="utf-8")
    result = replay("note", match)
    assert 2 == result.exit_code
    assert "note: expected a session log or a capture" in result.stderr
    assert "Match 1: marvin - ford" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["/no/such/file"], "cannot read /no/such/file: No such file or directory"),
        (["/dev/null"], "cannot read /dev/null: expected a session log or a capture, got an empty file"),
        ([], "Missing argument 'FILE...'."),
        (["WATCHED", "--start", "0/1"], "Invalid value for '--start': expected MATCH/GAME/TURN as in 2"),
        (["WATCHED", "--speed", "fast"], "Invalid value for '--speed': expected a number from 0, or"),
        (["WATCHED", "--speed", "nan"], "Invalid value for '--speed': expected a number from 0, or"),
        (["WATCHED", "--step"], "--step needs a terminal"),
        (["WATCHED", "--step", "--json"], "--step shows a live board, and cannot be combined with --json"),
        (["WATCHED", "--evaluator", "heuristic"], "--evaluator needs --strategy"),
        (["WATCHED", "--fail-above", "0"], "--fail-above needs --strategy"),
        (["WATCHED", "--strategy", "nosuch"], "no strategy is called 'nosuch'"),
        (["WATCHED", "--strategy", "random", "--evaluator", "random"], "strategy 'random' is not an evaluator"),
        (["WATCHED", "--strategy", "heuristic", "--both", "--player", "x"], "expected --player or --both, got both"),
    ],
)
def test_bad_input_is_told_with_status_2(arguments: list[str], text: str) -> None:
    result = replay(*(str(WATCHED) if it == "WATCHED" else it for it in arguments))
    assert 2 == result.exit_code
    assert f"Error: {text}" in result.stderr


@pytest.mark.slow
def test_bad_input_is_reported_in_one_line() -> None:
    result = fibsbot("replay", str(WATCHED), "--speed", "fast")
    assert (2, 1) == (result.returncode, len(result.stderr.splitlines())), result.stderr
    assert result.stderr.startswith("fibsbot replay: Invalid value for '--speed': expected a number from 0, or max")


def test_a_place_that_is_not_there_is_reported(match: str) -> None:
    result = replay(match, "--start", "1/7")
    assert 2 == result.exit_code
    assert "match.json: nothing happened at 1/7 or later; the last was at 1/2/2" in result.stderr


def test_control_characters_of_a_file_reach_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "evil\x1b[2J.json"
    path.write_text(write_json(sample_transcript(names=("\x1b]0;owned\x07", "<b>[red]\u202e"))), encoding="utf-8")
    for arguments in ((), ("--strategy", "random", "--seed", "1"), ("--json",)):
        result = replay(str(path), *arguments)
        assert 0 == result.exit_code
        assert all(line.isprintable() for line in result.output.splitlines())


# -- a strategy that is asked ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_match_that_was_only_watched_needs_to_know_whose_side() -> None:
    result = replay(str(WATCHED), "--strategy", "heuristic", "-q")
    assert 2 == result.exit_code
    assert result.stderr.endswith("the log does not say whose it is: expected --player NAME or --both\n")
    result = replay(str(WATCHED), "--strategy", "heuristic", "-q", "--player", "zaphod")
    assert 2 == result.exit_code
    assert result.stderr.endswith("no match has a player called 'zaphod'\n")
    found = rows(replay(str(WATCHED), "--strategy", "heuristic", "--json", "--both"))
    assert {"A", "B"} == {row["seat"] for row in found if row["kind"] == "asked"}
    found = rows(replay(str(WATCHED), "--strategy", "heuristic", "--json", "--player", "player_am"))
    assert {"player_am"} == {row["who"] for row in found if row["kind"] == "asked"}


@pytest.mark.slow
def test_chance_repeats_itself_with_a_seed(match: str, watched: str) -> None:
    def ask(*arguments: str) -> str:
        return replay(*arguments, "--strategy", "random", "--both", "--json", "--seed", "7", "-j", "1").stdout

    whole = ask(match, watched)
    assert whole == ask(match, watched)
    alone = ask(match).splitlines()[:-2]
    assert alone == whole.splitlines()[: len(alone)]


@pytest.mark.slow
def test_it_fails_above_a_mean_difference(match: str) -> None:
    asked = ("--strategy", "random", "--seed", "1", "--both", "-q", "--json")
    (total,) = [row for row in rows(replay(match, *asked)) if row["kind"] == "asked_total"]
    assert 0 < total["mean"]
    assert 0 == replay(match, *asked, "--fail-above", str(total["mean"] + 0.001)).exit_code
    result = replay(match, *asked, "--fail-above", str(total["mean"] - 0.001))
    assert 1 == result.exit_code
    assert f"the mean difference of {total['mean']:.4f} is above" in result.stderr


@pytest.mark.slow
def test_the_sum_is_that_of_the_decisions(match: str) -> None:
    found = rows(replay(match, "--strategy", "random", "--seed", "3", "--both", "--json"))
    asked = [row for row in found if row["kind"] == "asked"]
    (total,) = [row for row in found if row["kind"] == "asked_total"]
    assert len(asked) == total["asked"]
    assert sum(not row["same"] for row in asked) == total["different"]
    assert sum(abs(row["gain"] or 0.0) for row in asked) == pytest.approx(total["sum"], abs=1e-4)
    assert {"random"} == {row["strategy"] for row in asked}
    assert DEFAULT_STRATEGY == total["evaluator"]
