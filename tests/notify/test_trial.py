"""`fibsbot check-config --try-notify` sends one notice to each hook and says how it was taken."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import main
from tests.notify.receiver import receiving

pytestmark = pytest.mark.slow


def check(path: Path, *options: str) -> Result:
    """Check a file."""
    return CliRunner().invoke(main, ["check-config", str(path), *options], env={"MARVINS_PASSWORD": "swordfish"})


async def test_each_hook_is_tried_and_no_address_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with receiving(lambda number: ("good", "refuses")[number]) as receiver:
        (tmp_path / "address").write_text(f"{receiver.url}\n")
        path = tmp_path / "bot.toml"
        path.write_text(f"""
            account = {{name = "marvin", password_env = "MARVINS_PASSWORD"}}
            bot.strategy = "random"
            [[notify]]
            name = "telephone"
            url_file = "address"
            [[notify]]
            name = "wall"
            url = "{receiver.url}"
            events = ["match_won"]
            [[notify]]
            command = ["{sys.executable}", "-c", "print(input())"]
        """)
        result = await asyncio.to_thread(check, path, "--try-notify")
    assert 1 == result.exit_code, result.output
    assert "secret" not in result.output
    assert ["telephone: delivered, status 200", "wall: not delivered, status 400", "3: delivered, status 0"] == [
        line.removeprefix("notice to ") for line in result.output.splitlines() if line.startswith("notice to ")
    ]
    assert "  notifies wall by a web address of match_won" in result.output.splitlines()
    assert ["trial", "trial"] == [json.loads(body)["event"] for body in receiver.bodies]


def test_a_file_without_hooks_has_nothing_to_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bot.toml"
    path.write_text('account = {name = "marvin", password_env = "MARVINS_PASSWORD"}\nbot.strategy = "random"')
    result = check(path, "--try-notify")
    assert 2 == result.exit_code
    assert "expected a hook to try, [[notify]] with url or command, got none" in result.output
