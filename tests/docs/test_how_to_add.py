"""The pages "Add a ..." are true: what they add works as they say."""

from __future__ import annotations
import __future__

import re
from pathlib import Path
from typing import Any, Final

import attrs
import click
import pytest
from click.testing import CliRunner

from fibs_protocol import messages as m
from fibs_protocol.grammar.templates import Wording, hears, says
from fibs_protocol.lazy_attrs import frozen
from fibsbot import games
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState
from fibsbot.rules import game
from fibsbot.rules.state import Seat
from fibsbot.setting import setting
from tests.formats.simulated_matches import simulate

PAGES: Final = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(name: str) -> list[str]:
    """Return the Python of a page."""
    return re.findall(r"^```python\n(.*?)^```", (PAGES / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(text: str, **known: Any) -> dict[str, Any]:
    """Run the Python of a page, in a module that begins as all of ours do; return its names."""
    names = {"__name__": "page", **known}
    exec(compile(text, "page", "exec", __future__.annotations.compiler_flag, dont_inherit=True), names)  # noqa: S102 - our own page
    return names


def test_a_wording_is_read_as_the_page_says() -> None:
    wording, message, own = blocks("add-a-wording.md")
    heard: Wording[m.Message] = eval(wording, {"m": m, "hears": hears})  # noqa: S307 - our own page
    assert m.OpponentJoined("ford", 5) == heard.read("ford sits down for a 5 point match.")
    clock = run(message, frozen=frozen, Message=m.Message)["ClockRuns"]
    said: Wording[m.Message] = eval(own, {"ClockRuns": clock, "says": says})  # noqa: S307 - our own page
    assert "ford has 30 seconds." == said.write(clock("ford", 30))


def test_a_game_can_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = blocks("add-a-game.md")
    monkeypatch.setattr("fibsbot.games.plakoto.TAWULA", run(text)["RULES"], raising=False)
    monkeypatch.setitem(games._WHERE, "tawula", "fibsbot.games.plakoto:TAWULA")
    monkeypatch.setattr(games, "_LOADED", dict(games._LOADED))
    load_ruleset.cache_clear()
    state = game.roll_opening(game.start_match_of(load_ruleset("tawula"), 1), 3, 1)
    state = state if state.dice else game.roll(state, Seat.A, (3, 1))
    decision = MatchState.of(state, Seat.A)
    assert decision is not None
    assert len(decision.plays) > 1
    load_ruleset.cache_clear()


def test_a_command_prints_what_the_page_says() -> None:
    (text,) = blocks("add-a-command.md")
    command: click.Command = run(text)["pips"]
    start = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
    assert "167 167\n" == CliRunner().invoke(command, [start]).output
    assert "+0\n" == CliRunner().invoke(command, [start, "--difference"]).output
    refused = CliRunner().invoke(command, ["nonsense"])
    assert (2, 1) == (refused.exit_code, len(refused.output.splitlines()))


def test_a_format_writes_the_dice() -> None:
    (text,) = blocks("add-a-format.md")
    match = simulate(1, 1)
    lines = run(text)["write_dice"](match).splitlines()
    assert len(match.games) == len(lines)
    assert all(re.fullmatch("([1-6]{2} ?)+", line) for line in lines)


def test_a_setting_has_bounds() -> None:
    (text,) = blocks("add-a-setting.md")
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    settings = run(f"@frozen\nclass Settings:\n{indented}", frozen=attrs.frozen, setting=setting)["Settings"]
    assert settings().thanks is None
    assert "Thank you!" == settings("Thank you!").thanks
    with pytest.raises(ValueError, match="240"):
        settings("!" * 241)
