"""`fibsbot explain-invite`: everything that speaks against a match, and what nobody knows."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result
from hypothesis import given

from fibsbot.cli import main
from fibsbot.policy import MatchRequest, Policy, reasons_to_refuse, unknown_facts
from fibsbot.records.store import StoreWriter
from tests.commands import fibsbot
from tests.policy.policy_examples import policies, requests

Explain: TypeAlias = Callable[..., Result]

POLICY = """
[account]
name = "marvin"
[policy]
lengths = ["1-9"]
min_rating = 1450
experience_per_point = 10
max_saved_games = 8
bots = false
block = ["zaphod", "arthur:from"]
"""
TOO_LITTLE = "For a match of 9 points I ask for an experience of at least 90; you have 45. I'd play you up to 4 points."


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explain:
    """Run the command in an empty folder, with this configuration file if there is one."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, config: str | None = None) -> Result:
        if config is not None:
            Path("bot.toml").write_text(config, encoding="utf-8")
            arguments = (*arguments, "--config", "bot.toml")
        return CliRunner().invoke(main, ["explain-invite", *arguments])

    return run


def test_without_settings_the_policy_is_the_default_one(explain: Explain) -> None:
    result = explain("ford", "25")
    assert (0, "ford gets a match of 25 points, unless the strategy refuses.\n") == (result.exit_code, result.output)
    result = explain("ford", "unlimited")
    assert 1 == result.exit_code
    assert [
        "ford is refused an unlimited match:",
        "  unlimited  I don't play unlimited matches. I play matches of 1 to 25 points.",
    ] == result.output.splitlines()


def test_all_that_speaks_against_a_match_is_listed(explain: Explain) -> None:
    result = explain("ford", "9", "--rating", "1423.45", "--experience", "45", "--saved-games", "9", config=POLICY)
    assert 1 == result.exit_code
    assert [
        "ford is refused a match of 9 points:",
        "  rating_low             I only play opponents rated at least 1450; your rating is 1423.45.",
        f"  experience_for_length  {TOO_LITTLE}",
        (
            "  saved_games            "
            "You have 9 saved games, and I only play opponents with at most 8. Please finish some first."
        ),
        "client not known: not checked",
        "not checked: earlier matches, as there is no store fibsbot.db",
    ] == result.output.splitlines()


def test_what_is_not_known_is_said(explain: Explain) -> None:
    result = explain("ford", "9", config=POLICY)
    assert 0 == result.exit_code
    assert [
        "rating not known: not checked",
        "experience not known: not checked",
        "client not known: not checked",
        "saved games not known: not checked",
    ] == result.output.splitlines()[1:5]


@pytest.mark.parametrize(
    ("arguments", "status", "first"),
    [
        (["ford", "9"], 0, "ford gets a match of 9 points, unless the strategy refuses."),
        (["ford", "1", "--outgoing"], 0, "ford may be invited to a match of 1 point."),
        (["zaphod", "9", "--outgoing"], 1, "zaphod is not invited to a match of 9 points:"),
        (["arthur", "9", "--outgoing"], 0, "arthur may be invited to a match of 9 points."),
        (["arthur", "9"], 1, "arthur is refused a match of 9 points:"),
        (["ford", "9", "--client", "fibsbot_0.2"], 1, "ford is refused a match of 9 points:"),
        (["GammonBot", "9", "--outgoing"], 0, "GammonBot may be invited to a match of 9 points."),
    ],
)
def test_lists_and_bots_depend_on_who_invites(explain: Explain, arguments: list[str], status: int, first: str) -> None:
    result = explain(*arguments, config=POLICY)
    assert (status, first) == (result.exit_code, result.output.splitlines()[0])


def test_the_same_as_json(explain: Explain) -> None:
    result = explain("ford", "30", "--rating", "1500", "--json", config=POLICY)
    assert 1 == result.exit_code
    row = json.loads(result.output)
    assert [{"code": "length", "sentence": "I only play matches of 1 to 9 points."}] == row["reasons"]
    assert (False, 30, 1500.0, ["experience", "client", "saved_games"]) == (
        *(row["accepted"], row["length"], row["rating"], row["not_known"]),
    )


OTHERS = """
[account]
name = "marvin"
[policy]
lengths = ["1-9"]
games = ["plakoto", "chouette"]
laws = ["1931 point"]
"""


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["9", "--game", "plakoto"], "gets a match of 9 points of plakoto, unless the strategy refuses."),
        (["9", "--game", "fevga"], "is refused a match of 9 points of fevga:"),
        (["9", "--game", "fevga", "--outgoing"], "may be invited to a match of 9 points of fevga."),
        (["30", "--game", "Chouette"], "gets a chouette, unless the strategy refuses."),
        (["3", "--laws", "1931 point"], "gets a match of 3 points by laws 1931 point, unless the strategy refuses."),
        (["3", "--laws", "modern"], "is refused a match of 3 points by laws modern:"),
        (["3", "--laws", "modern", "--outgoing"], "may be invited to a match of 3 points by laws modern."),
    ],
)
def test_other_games_and_laws_are_explained(explain: Explain, arguments: list[str], answer: str) -> None:
    result = explain("ford", *arguments, config=OTHERS)
    assert f"ford {answer}" == result.output.splitlines()[0]
    assert ("refused" in answer) == result.exit_code


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--game", "plakotto"], "Invalid value for '--game': expected a game such as plakoto, got 'plakotto'"),
        (["--laws", "of the jungle"], "expected laws such as 1931, 1970, modern, fibs, got 'of'"),
        (["--game", "fevga", "--laws", "1931"], "expected --game or --laws, got both"),
    ],
)
def test_games_and_laws_that_there_are_not_are_usage_errors(explain: Explain, arguments: list[str], error: str) -> None:
    result = explain("ford", "3", *arguments, config=OTHERS)
    assert 2 == result.exit_code
    assert error in result.output


# -- several accounts -----------------------------------------------------------------------------------------------

TWO = """
[policy]
lengths = ["1-9"]
[[account]]
name = "marvin"
[[account]]
name = "eddie"
[account.policy]
lengths = ["3"]
"""


def test_each_account_has_its_own_policy(explain: Explain) -> None:
    assert [0, 0, 1] == [
        explain("ford", "5", *which, config=TWO).exit_code
        for which in ((), ("--account", "marvin"), ("--account", "eddie"))
    ]
    assert "not checked: earlier matches, as --account is missing" in explain("ford", "5", config=TWO).output
    none = explain("ford", "5", config='policy.lengths = ["5"]').output
    assert "not checked: earlier matches, as the settings name no account" in none


# -- what the store knows -------------------------------------------------------------------------------------------


def write_matches(folder: Path, opponent: str, *hours_ago: float) -> None:
    """Write matches of marvin with an opponent into the store of a folder, the first one first."""
    writer = StoreWriter(folder / "fibsbot.db")
    now = dt.datetime.now(dt.UTC)
    known = {"rating": 1623.45, "experience": 57, "client": "JavaFIBS"}
    for hours in hours_ago:
        begun = now - dt.timedelta(hours=hours, minutes=5)
        started = {"opponent": opponent, "length": 1, "resumed": False, **known}
        writer.put("marvin", "logged_in", {"name": "marvin"}, begun)
        writer.put("marvin", "match_started", started, begun)
        ended = {"opponent": opponent, "length": 1, "won": True, "score": [1, 0]}
        writer.put("marvin", "match_ended", ended, now - dt.timedelta(hours=hours))
    assert writer.close()


@pytest.fixture
def store(tmp_path: Path) -> None:
    """Make a store in which ford and marvin have played twice today and once before."""
    write_matches(tmp_path, "ford", 80.0, 3.0, 0.2)


@pytest.mark.usefixtures("store")
def test_what_the_store_remembers_is_used(explain: Explain) -> None:
    strict = POLICY + "cool_down = 3600\nmax_per_day = 2\n"
    result = explain("ford", "9", "--saved-games", "0", config=strict)
    assert 1 == result.exit_code
    lines = result.output.splitlines()
    assert ["experience_for_length", "cool_down", "max_per_day"] == [line.split()[0] for line in lines[1:4]]
    assert lines[2].endswith("I can play you again in 48 minutes.")
    expected = "from fibsbot.db: rating 1623.45, experience 57, client JavaFIBS, last match 13 minutes ago, 2 matches"
    assert [f"{expected} in 24 hours"] == lines[4:]


@pytest.mark.usefixtures("store")
def test_matches_with_all_bots_are_counted_together(explain: Explain, tmp_path: Path) -> None:
    write_matches(tmp_path, "gnubot", 50.0, 2.0)
    policy = '[account]\nname = "marvin"\n[policy]\nbot_pause = 10800\nmax_bots_per_day = 1\n'
    lines = explain("GammonBot", "1", config=policy).output.splitlines()
    assert ["GammonBot", "bot_pause", "max_bots_per_day", "from"] == [line.split()[0] for line in lines]
    assert lines[2].endswith("I've played 1 match with bots in the last 24 hours; the rest of my time is for people.")
    assert lines[3].startswith("from fibsbot.db: last match with a bot ")
    assert lines[3].endswith(" ago, 1 match with bots in 24 hours")
    assert 0 == explain("ford", "1", config=policy).exit_code


@pytest.mark.usefixtures("store")
def test_options_go_before_what_the_store_remembers(explain: Explain) -> None:
    options = ("--rating", "1700", "--experience", "400", "--client", "x", "--saved-games", "3")
    result = explain("ford", "9", *options, config=POLICY)
    assert 0 == result.exit_code
    assert ["from fibsbot.db: last match 13 minutes ago, 2 matches in 24 hours"] == result.output.splitlines()[1:]


@pytest.mark.usefixtures("store")
def test_of_a_stranger_the_store_knows_nothing(explain: Explain) -> None:
    result = explain("trillian", "9", "--rating", "1500", "--experience", "90", "--saved-games", "0", config=POLICY)
    assert (0, ["client not known: not checked"]) == (result.exit_code, result.output.splitlines()[1:])


def test_a_store_that_cannot_be_read_is_no_error(explain: Explain) -> None:
    Path("fibsbot.db").write_bytes(b"this is no database, but it is long enough to be taken for one" * 99)
    result = explain("ford", "9", "--json", config=POLICY)
    assert 0 == result.exit_code
    assert "fibsbot.db" in json.loads(result.output)["trouble"]


def test_without_a_store_nothing_is_remembered(explain: Explain) -> None:
    assert "the settings name no store" in explain("ford", "9", config=POLICY + "[service]\nstore = false\n").output


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["f0rd", "5"], "expected letters and underscores, at most 20, got 'f0rd'"),
        (["ford", "0"], "expected points from 1 to 99, or unlimited, got '0'"),
        (["ford", "100"], "expected points from 1 to 99, or unlimited, got '100'"),
        (["ford", "-5"], "No such option"),
        (["ford", "five"], "expected points from 1 to 99, or unlimited, got 'five'"),
        (["ford", "5", "--rating", "good"], "'--rating': 'good' is not a"),
        (["ford", "5", "--saved-games", "-1"], "-1 is not in the range x>=0"),
        (
            ["ford", "5", "--account", "eddie"],
            "no configuration file: expected the name of an account (none)",
        ),
    ],
)
def test_wrong_arguments_are_refused(explain: Explain, arguments: list[str], text: str) -> None:
    result = explain(*arguments)
    assert 2 == result.exit_code
    assert text in result.output


def test_a_wrong_argument_is_reported_in_one_line() -> None:
    result = fibsbot("explain-invite", "ford", "five")
    assert (2, 1) == (result.returncode, len(result.stderr.splitlines())), result.stderr


@pytest.mark.slow
def test_wrong_settings_are_told_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('[policy]\nlengths = ["0"]\nbots = "no"\n', encoding="utf-8")
    result = fibsbot("explain-invite", "ford", "5", "--config", str(tmp_path / "bot.toml"))
    assert (78, 2) == (result.returncode, len(result.stderr.splitlines())), result.stderr
    result = fibsbot("explain-invite", "ford", "5", "--config", str(tmp_path / "nothing.toml"))
    assert (78, 1) == (result.returncode, len(result.stderr.splitlines())), result.stderr


# -- what is not known ----------------------------------------------------------------------------------------------


@given(policies(), requests())
def test_to_know_more_changes_nothing_where_nothing_is_called_unknown(policy: Policy, request: MatchRequest) -> None:
    fields: dict[str, Any] = {
        "rating": 0.0,
        "experience": 0,
        "client": "fibsbot_1",
        "saved_games": 99,
        "own_rating": 0.0,
    }
    unknown = {name for name in fields if getattr(request, name) is None}
    missing = set(unknown_facts(policy, request))
    assert missing <= unknown
    filled = MatchRequest(
        **{
            name: fields[name] if name in unknown - missing else getattr(request, name)
            for name in MatchRequest.__annotations__
        }
    )
    if request.direction.value == "theirs":
        assert reasons_to_refuse(policy, request) == reasons_to_refuse(policy, filled)


@pytest.mark.parametrize("rating", ["nan", "inf"])
def test_a_rating_that_is_no_number_is_refused_in_one_line(explain: Explain, rating: str) -> None:
    result = explain("ford", "5", "--rating", rating)
    expected = f"Error: Invalid value for '--rating': expected a number, got {rating}"
    assert (2, expected) == (result.exit_code, result.output.splitlines()[-1])
