"""Generate the sample configuration file and the documentation of all settings from their declarations.

Run as a script in the project's folder, it writes config/fibsbot.toml and docs/reference/configuration.md.
"""

from __future__ import annotations

import enum
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any, Final

from fibsbot.config.settings import Config, Section, SettingField, sections_of, settings_of
from fibsbot.policy import Lengths

WIDTH: Final = 100
"""Columns of the sample's comments."""
_SEPARATOR: Final = f"# {'-' * (WIDTH - 2)}"
_BEGINNING: Final = """\
# All settings of fibsbot with their defaults. Each may be left out; those that are commented out
# have no default, and show an example. Bounds are given in brackets. Times are in seconds; paths
# are relative to the directory in which the program is started, or begin with ~.
#
# fibsbot check-config FILE    validates a file, and shows what it will do
# fibsbot run --config FILE    runs all its accounts until stopped
# fibsbot play --config FILE   runs one of them; its options override the file
"""
_SEVERAL: Final = {
    "account": "For several accounts write [[account]] for each; there is an example at the end of this file.",
    "notify": "For several hooks write [[notify]] for each. One without url and command does nothing.",
}
_END: Final = """\
Two accounts in one process, in place of [account] above. An account may have sections of its own, such as
[account.policy], with the settings that differ for it. There `false` removes a value that holds for all."""
TWO_ACCOUNTS: Final = """\
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
"""An example with two accounts."""


# -- the sample -----------------------------------------------------------------------------------------------------


def sample_file() -> str:
    """Return a file with every setting at its default; settings without a default are commented out."""
    lines = [_BEGINNING]
    for section in sections_of(Config):
        lines += [
            "",
            _SEPARATOR,
            *_comment(_description(section)),
            *_comment(_SEVERAL.get(section.name, "")),
            _SEPARATOR,
        ]
        lines.append(f"[{section.name}]")
        for setting in settings_of(section.cls):
            lines += ["", *_comment(_explanation(setting)), _line(setting)]
        lines.append("")
    lines += ["", _SEPARATOR, *_comment(_END), _SEPARATOR]
    lines += [f"# {line}".rstrip() for line in TWO_ACCOUNTS.splitlines()]
    return "\n".join(lines) + "\n"


def _description(section: Section) -> str:
    return inspect.cleandoc(section.cls.__doc__ or "")


def _line(setting: SettingField) -> str:
    missing = setting.default is None
    return f"{'# ' if missing else ''}{setting.name} = {_toml(setting.info.example if missing else setting.default)}"


def _explanation(setting: SettingField) -> str:
    """Return the help of a setting, with an example and its bounds if needed."""
    info = setting.info
    parts = [info.help]
    if info.example is not None and setting.default is not None:
        parts.append(f"For example {_unbreakable(_toml(info.example))}.")
    if bounds := _bounds(setting):
        parts.append(_unbreakable(f"[{bounds}]") if len(bounds) < WIDTH // 2 else f"[{bounds}]")
    if setting.optional and setting.default is not None:
        parts.append(_unbreakable("[false for none]"))
    return " ".join(parts)


def _bounds(setting: SettingField) -> str:
    """Return the bounds of a setting in a few words; nothing if they are obvious."""
    info = setting.info
    if issubclass(setting.type, enum.Enum):
        return info.expected or " or ".join(f'"{choice.value}"' for choice in setting.type)
    if info.max_length is not None:
        return f"at most {info.max_length} characters"
    parts = []
    if info.above is not None:
        parts.append(f"above {info.above:.10g}")
    if info.minimum is not None:
        parts.append(f"{info.minimum:.10g}" if info.maximum is not None else f"at least {info.minimum:.10g}")
    if info.maximum is not None:
        parts.append(f"to {info.maximum:.10g}")
    if parts and info.unit and info.unit != "seconds":
        parts.append(info.unit)
    return " ".join(parts)


_NO_BREAK: Final = "\N{NO-BREAK SPACE}"


def _unbreakable(text: str) -> str:
    """Return a text that is not broken across the lines of a comment."""
    return text.replace(" ", _NO_BREAK)


def _comment(text: str) -> list[str]:
    """Return the lines of a comment."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += textwrap.wrap(
            paragraph,
            WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _toml(value: Any) -> str:
    match value:
        case enum.Enum():
            return _toml(value.value)
        case Lengths():
            return _toml(value.to_words())
        case tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case float() if value.is_integer():
            return str(int(value))
        case bool() | int() | float():
            return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)


# -- the page -------------------------------------------------------------------------------------------------------

_TABLE_HEAD: Final = "| setting | default | accepts | meaning |\n|---|---|---|---|"
_INTRODUCTION: Final = Path(__file__).with_name("introduction.md")


def settings_page() -> str:
    """Return the documentation of all settings, in Markdown."""
    parts = list(sections_of(Config))
    names = [f"`{part.name}`" for part in parts if part.per_account]
    introduction = _INTRODUCTION.read_text(encoding="utf-8").rstrip()
    lines = [introduction.replace("SECTIONS", f"{', '.join(names[:-1])} and {names[-1]}")]
    for section in parts:
        lines += ["", f"## [{section.name}]", "", _description(section), "", _TABLE_HEAD]
        lines += [_row(setting) for setting in settings_of(section.cls)]
    return "\n".join(lines) + "\n"


def _row(setting: SettingField) -> str:
    default = "" if setting.default is None else f"`{_toml(setting.default)}`"
    mark = " †" if setting.info.needs_restart else ""
    return f"| `{setting.name}`{mark} | {default} | {setting.expected} | {setting.info.help} |"


if __name__ == "__main__":
    Path("config/fibsbot.toml").write_text(sample_file(), encoding="utf-8")
    Path("docs/reference/configuration.md").write_text(settings_page(), encoding="utf-8")
