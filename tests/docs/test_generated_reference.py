"""The reference that is generated has everything: each option, each message and wording, each name of the library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

import fibs_protocol
import fibsbot
from docs.generated_reference import GENERATORS, as_rst, plain
from fibs_protocol.grammar.messages import WORDINGS
from fibsbot import testing
from fibsbot.cli import COMMANDS, main
from fibsbot.strategies import base

DOCS: Final = Path(__file__).parents[2] / "docs"


def commands(command: click.Command, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a command and all commands below it, with their names."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*names, name))


def test_every_command_and_option_is_listed() -> None:
    sections = dict(re.findall(r"^#+ (fibsbot .*)\n\n([^#]*)", GENERATORS["commands"](), re.MULTILINE))
    for names, command in commands(main, ("fibsbot",)):
        if len(names) > 1:
            section = sections.pop(" ".join(names))
            options = [name for option in command.params for name in option.opts if name.startswith("--")]
            shown = [name for option in command.params if not getattr(option, "hidden", False) for name in option.opts]
            assert [] == [name for name in options if name in shown and name not in section]
    assert {} == sections
    assert len(COMMANDS) > 30


def test_every_message_is_listed_with_every_wording() -> None:
    text = GENERATORS["messages"]()
    assert [] == [wording for wording in WORDINGS if wording.template.strip() not in text]
    assert [] == [wording.cls for wording in WORDINGS if f"\n`{wording.cls.__name__}(" not in text]
    assert {"BaldLies", "JIBS", "TigerGammon"} == {wording.server for wording in WORDINGS if wording.server}
    assert "\n`Invite(name: str, length: int | None)`\n: `invite X 5`" in GENERATORS["client_commands"]()


def test_the_imports_of_messages_and_commands_are_those_of_the_package() -> None:
    for name, example in (("messages", "BoardState"), ("client_commands", "FibsMove")):
        (imports,) = re.findall(r"^```python\n(.*?)^```", GENERATORS[name](), re.DOTALL | re.MULTILINE)
        names: dict[str, object] = {}
        exec(imports, names)  # noqa: S102 - as a reader does
        assert example in names


def test_every_example_is_shown_whole() -> None:
    text, folder = GENERATORS["examples"](), DOCS.parent / "examples"
    for path in folder.glob("*.*"):
        if path.name != "README.md":
            assert f"\n## {path.name}\n" in f"\n{text}"
            assert path.suffix == ".ipynb" or path.read_text(encoding="utf-8") in text


def test_every_name_of_the_library_is_documented() -> None:
    text = GENERATORS["library"]() + GENERATORS["strategies"]() + GENERATORS["protocol_library"]()
    names = [f"fibsbot.{name}" for name in fibsbot.__all__ if not name.startswith("_")]
    names += [f"fibsbot.testing.{name}" for name in testing.__all__]
    names += [
        f"fibsbot.strategies.base.{name}" for name in base.__all__ if getattr(getattr(base, name), "_is_protocol", 0)
    ]
    names += [f"fibs_protocol.{name}" for name in fibs_protocol.__all__]
    functions = re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.MULTILINE)
    assert [] == [name for name in names if name not in functions]


def test_pages_ask_only_for_what_is_generated() -> None:
    asked = [name for page in DOCS.rglob("*.md") for name in re.findall("<!-- generated: (.*) -->", page.read_text())]
    assert sorted(GENERATORS) == sorted(asked)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [("a `b*` c*", r"a `b*` c\*"), ("<name> [default: 3]", r"\<name\> \[default: 3\]"), ("`a\nb`", "`a\nb`")],
)
def test_signs_outside_of_code_are_no_markup(text: str, markdown: str) -> None:
    assert markdown == plain(text)


def test_a_docstring_becomes_restructured_text() -> None:
    assert ["Take ``x*`` and y\\*,", "    as_it_is*", "``a", "b``."] == as_rst(
        ["Take `x*` and y*,", "    as_it_is*", "`a", "b`."]
    )
