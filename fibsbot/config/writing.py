"""Write the sample file and the documentation of all settings from their definition."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any, Final

from fibsbot.config.declaring import sections_of, settings_of
from fibsbot.config.settings import Config

_HEAD: Final = "| setting | default | takes | meaning |\n|---|---|---|---|"
_INTRODUCTION: Final = """\
# Configuration

`fibsbot play --config FILE` reads a TOML file. `config/fibsbot.toml` shows every setting at its default; each may be
left out, and an option on the command line goes before the file. A setting that is unknown, or has a value that it
cannot take, stops the program with exit status 78 and a line such as

    server.port: expected a whole number from 1 to 65535, got 'abc'

for each. Nothing is converted silently: `"7"` and `7.0` are no whole numbers. Times are in seconds, lengths of matches
in points. This page and the sample are written by `python -m fibsbot.config` from the definition in
`fibsbot/config/settings.py`."""


def sample() -> str:
    """Return a file with every setting at its default; those that have none stand there as comments."""
    lines = ["# Every setting of fibsbot at its default. Each may be left out."]
    for name, section in sections_of(Config):
        lines += ["", "", f"# {section.__doc__}", f"[{name}]"]
        for setting in settings_of(section):
            unit = f", in {setting.about.unit}" if setting.about.unit else ""
            lines += ["", f"# {setting.about.help}", f"# Takes {setting.expected}{unit}."]
            missing = setting.default is None
            value = _toml(setting.about.example if missing else setting.default)
            lines.append(f"{'# ' if missing else ''}{setting.name} = {value}")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the documentation of all settings, in Markdown."""
    lines = [_INTRODUCTION]
    for name, section in sections_of(Config):
        lines += ["", f"## [{name}]", "", f"{section.__doc__}", "", _HEAD]
        for setting in settings_of(section):
            default = "" if setting.default is None else f"`{_toml(setting.default)}`"
            lines.append(f"| `{setting.name}` | {default} | {setting.expected} | {setting.about.help} |")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, enum.Enum):
        value = value.value
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
