"""docs/reference/policy.md agrees with the rules."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import fields
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.policy import Lengths, MatchRequest, NamePattern, Policy
from fibsbot.policy.rules import RULES, RULES_FOR_SAVED_MATCHES

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "policy.md").read_text("utf-8")
TABLE: Final = re.findall(r"^\| `([a-z_]+)` \| (?:`([a-z_]+)`)? ?\| (.+) \|$", PAGE, re.MULTILINE)

POLICY: Final = Policy(
    accept=False,
    lengths=Lengths(((1, 7),)),
    min_rating=1450,
    max_rating=1900,
    experience_per_point=10,
    block=(NamePattern("ford"),),
    allow=(NamePattern("arthur"),),
    bots=False,
    people=False,
    max_saved_games=8,
    cool_down=1200,
    max_per_day=3,
)
EXAMPLES: Final[dict[str, tuple[Policy, dict[str, Any]]]] = {
    "finishing": (POLICY, {"finishing": True}),
    "paused": (POLICY, {"paused": True}),
    "bot": (POLICY, {"client": "fibsbot_0.2"}),
    "unlimited": (POLICY, {"length": 0}),
    "length": (POLICY, {"length": 9}),
    "laws": (POLICY, {"laws": "1931 point"}),
    "game": (Policy(games=("plakoto",)), {"game": "tabula"}),
    "rating_low": (POLICY, {"rating": 1423.45}),
    "rating_high": (POLICY, {"rating": 1976.54}),
    "rating_below": (
        Policy(min_rating_difference=-200, max_rating_difference=300),
        {"rating": 1400.0, "own_rating": 1612.34},
    ),
    "rating_above": (Policy(max_rating_difference=300), {"rating": 1976.54, "own_rating": 1612.34}),
    "bot_pause": (Policy(bot_pause=1200), {"client": "fibsbot_0.2", "since_bot": 300.0}),
    "max_bots_per_day": (Policy(max_bots_per_day=6), {"client": "fibsbot_0.2", "bots_today": 6}),
    "experience_low": (Policy(min_experience=50), {"experience": 45}),
    "experience_high": (Policy(max_experience=999), {"experience": 2396}),
    "experience_for_length": (POLICY, {"experience": 45}),
    "saved_games": (POLICY, {"saved_games": 12}),
    "cool_down": (POLICY, {"since_last": 300.0}),
    "max_per_day": (POLICY, {"matches_today": 3}),
}
"""The policy and request for which each rule refuses, if other than POLICY and the default request."""


def test_the_page_has_every_rule_in_its_order() -> None:
    assert list(RULES) == [code for code, _, _ in TABLE]


@pytest.mark.parametrize(("code", "setting", "sentence"), TABLE, ids=[code for code, _, _ in TABLE])
def test_each_sentence_of_the_page_is_that_of_its_rule(code: str, setting: str, sentence: str) -> None:
    policy, request = EXAMPLES.get(code, (POLICY, {}))
    assert sentence == RULES[code](policy, MatchRequest("ford", **{"length": 7, **request}))
    assert not setting or hasattr(policy, setting)


def test_the_page_names_every_setting() -> None:
    assert {field.name for field in fields(Policy)} == {setting for _, setting, _ in TABLE if setting}


def test_the_page_names_the_rules_for_saved_matches() -> None:
    saved = PAGE[PAGE.index("## Saved matches") :]
    assert [] == [code for code in RULES_FOR_SAVED_MATCHES if f"`{code}`" not in saved]


def test_the_page_shows_what_explain_invite_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = "min_rating = 1450\nexperience_per_point = 10\nmax_saved_games = 8\n"
    (tmp_path / "my.toml").write_text(f'[account]\nname = "marvin"\n[policy]\n{policy}', encoding="utf-8")
    ((command, output),) = re.findall(r"^```console\n\$ fibsbot (.*)\n((?:.*\n)*?)```", PAGE, re.MULTILINE)
    assert output == CliRunner().invoke(main, shlex.split(command)).output
