"""config/fibs.toml is what it says: valid, without anything doubtful, and different from the defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from fibsbot.config import Config
from fibsbot.config.checks import config_warnings
from fibsbot.config.parser import config_from_tables
from fibsbot.config.settings import sections_of

ROOT: Final = Path(__file__).parent.parent.parent
SAMPLE: Final = (ROOT / "config" / "fibs.toml").read_text(encoding="utf-8")
OPTIONAL: Final = re.sub(r"^# (\[|\w+ = )", r"\1", SAMPLE, flags=re.MULTILINE)
"""The sample with every setting that it shows in a comment."""


@pytest.mark.parametrize("text", [SAMPLE, OPTIONAL], ids=["as it is", "with all that it offers"])
def test_the_sample_for_fibs_gives_no_warning(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("password.txt").touch(mode=0o600)
    config = config_from_tables(tomllib.loads(text))
    assert () == config_warnings(config)
    assert ("fibs.com", ["mybot"]) == (config.server.host, [account.name for account in config.accounts])


def test_it_has_no_setting_that_is_the_default_anyway() -> None:
    defaults: dict[str, Any] = {part.name: getattr(Config(), part.attribute, None) for part in sections_of(Config)}
    tables = tomllib.loads(OPTIONAL)
    same = [
        f"{name}.{key}"
        for name, table in tables.items()
        for key, value in table.items()
        if name != "account" and getattr(defaults[name], key) == value
    ]
    assert [] == same


def test_every_setting_has_its_reason() -> None:
    lines = SAMPLE.splitlines()
    before = dict(zip(lines[1:], lines[:-1], strict=True))
    settings = [line for line in lines if re.match(r"\w+ = ", line)]
    told = [line for line in settings if before[line].startswith("# ") or before[line] in settings]
    assert set(settings) - set(told) == {'host = "fibs.com"'}
