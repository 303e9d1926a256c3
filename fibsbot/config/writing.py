"""Write the sample file and the documentation of all settings from their definition."""

from __future__ import annotations

import enum
import json
import textwrap
from typing import Any, Final

from fibsbot.config.declaring import Setting, sections_of, settings_of
from fibsbot.config.settings import Config
from fibsbot.policy import Lengths

WIDTH: Final = 100
"""Columns of the sample."""
_RULE: Final = "# " + "-" * (WIDTH - 2)
_HEAD: Final = "| setting | default | takes | meaning |\n|---|---|---|---|"
_BEGINNING: Final = """\
# Every setting of fibsbot at its default: each may be left out, and what is commented out has no
# value. What has a value and shall have none gets `false`, where it can be left without.
#
#     fibsbot check-config FILE    tells everything that is wrong with a file, and what it will do
#     fibsbot run --config FILE    plays, until it is told to stop
#
# Times are in seconds. What each setting takes stands in brackets."""
_SEVERAL: Final = "# For several accounts write [[account]] once for each instead; an example is at the end."
_END: Final = f"""\
{_RULE}
# Two accounts in one process. Each may have sections of its own, [account.policy] and so on, whose
# settings go before those above: in them stands only what differs. Put this in place of [account].
{_RULE}
"""
EXAMPLE: Final = """\
[[account]]
name = "marvin"
password_file = "/etc/fibsbot/marvin"

[account.policy]
lengths = ["1-9", "11"]
min_rating = 1500

[[account]]
name = "zaphod"
password_env = "ZAPHODS_PASSWORD"

[account.bot]
strategy = "random"

[account.seek]
after = 600
"""
"""Two accounts."""


def sample() -> str:
    """Return a file with every setting at its default; those that have none stand there as comments."""
    lines = [_BEGINNING]
    for section in sections_of(Config):
        lines += ["", "", _RULE, *_comment(section.table.__doc__ or ""), *([_SEVERAL] if section.many else []), _RULE]
        lines.append(f"[{section.name}]")
        for setting in settings_of(section.table):
            lines += ["", *_comment(_explained(setting)), _line(setting)]
    lines += ["", "", _END.rstrip(), *(f"# {line}".rstrip() for line in EXAMPLE.splitlines())]
    return "\n".join(lines) + "\n"


def _line(setting: Setting) -> str:
    missing = setting.default is None
    value = setting.about.example if missing else setting.default
    return f"{'# ' if missing else ''}{setting.name} = {_toml(value)}"


def _explained(setting: Setting) -> str:
    """Return what a setting is about, with an example and its bounds where they are needed."""
    about = setting.about
    parts = [about.help]
    if about.example is not None and setting.default is not None:
        parts.append(f"For example {_toml(about.example)}.")
    bounds = _bounds(setting)
    if setting.optional and setting.default is not None:
        bounds = f"{bounds}, or false" if bounds else "or false"
    if bounds:
        parts.append(f"[{bounds}]")
    return " ".join(parts)


def _bounds(setting: Setting) -> str:
    """Return the values that a setting takes, in few words; nothing where that goes without saying."""
    about = setting.about
    if issubclass(setting.kind, enum.Enum):
        return ", ".join(f'"{choice.value}"' for choice in setting.kind)
    if setting.kind is Lengths:
        return 'such as ["1-9", "11", "unlimited"]'
    if about.longest is not None:
        return f"at most {about.longest} characters"
    unit = f" {about.unit}" if about.unit else ""
    if about.most is not None:
        return f"{'above 0' if about.least is None else f'{about.least:.10g}'} to {about.most:.10g}{unit}"
    return "" if about.least is None else f"from {about.least:.10g}{unit}"


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )


def _toml(value: Any) -> str:
    match value:
        case enum.Enum():
            return _toml(value.value)
        case Lengths():
            return _toml(value.words())
        case tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case bool() | int() | float():
            return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)


# -- the page -------------------------------------------------------------------------------------------------------

INTRODUCTION: Final = """\
# Configuration

`fibsbot play --config FILE` reads a TOML file. `config/fibsbot.toml` shows every setting at its default; each may be
left out, and an option on the command line goes before the file. A setting that is unknown, or has a value that it
cannot take, stops the program with exit status 78 and a line such as

    server.port: expected a whole number from 1 to 65535, got 'abc'

for each. Nothing is converted silently: `"7"` and `7.0` are no whole numbers. Times are in seconds, lengths of matches
in points. This page and the sample are written by `python -m fibsbot.config` from the definition in
`fibsbot/config/settings.py`."""


def page() -> str:
    """Return the documentation of all settings, in Markdown."""
    lines = [INTRODUCTION]
    for section in sections_of(Config):
        lines += ["", f"## [{section.name}]", "", f"{section.table.__doc__}", "", _HEAD]
        lines += [_row(setting) for setting in settings_of(section.table)]
    return "\n".join(lines) + "\n"


def _row(setting: Setting) -> str:
    default = "" if setting.default is None else f"`{_toml(setting.default)}`"
    return f"| `{setting.name}` | {default} | {setting.expected} | {setting.about.help} |"
