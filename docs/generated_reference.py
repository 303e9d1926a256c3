"""What the reference takes from the program itself: commands and options, messages of the protocol, the library's API.

Each function of `GENERATORS` writes Markdown for the page that names it (`docs/conf.py`).
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs
import click

import fibs_protocol
import fibsbot
import fibsbot.testing
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar.messages import WORDINGS
from fibs_protocol.grammar.templates import Wording
from fibsbot.cli import COMMANDS

_EXAMPLES: Final = Path(__file__).parent.parent / "examples"
_EXAMPLE: Final = re.compile(r"^\| \[([\w.]+)\]\(\1\) \| (.*) \| `(.*)` \|$", re.MULTILINE)
"""A row of the table in their README: the file, what it is, the command."""
_LANGUAGES: Final = {".py": "python", ".ipynb": "python", ".pl": "perl"}
_NAME: Final = re.compile(r"[A-Za-z]\w+")
_CODE: Final = re.compile(r"(`[^`]*`)")
_MARKUP: Final = re.compile(r"`[^`]*`|^ .*$|[*|]|_\b", re.MULTILINE)
"""What a docstring holds that reStructuredText reads differently: code, examples, signs."""
_MESSAGE_MODULES: Final = (
    "login",
    "clip",
    "people",
    "information",
    "matches",
    "game",
    "refusals",
    "game_refusals",
    "other_games",
    "chouettes",
)
"""In the order in which a client meets them."""
_COMMAND_MODULES: Final = ("people", "information", "matches")
_LIBRARY_RESULTS: Final = {
    "fibsbot.library.evaluations": (
        "BoardValue",
        "RatedPlays",
        "RatedPlay",
        "RatedCube",
        "RatedRollout",
        "RatedCandidate",
    ),
    "fibsbot.library.pictures": ("Picture",),
    "fibsbot.library.matches": ("AnalysedMatch", "MatchErrors", "MatchError", "ErrorsByKind", "UnreadableFileWarning"),
    "fibsbot.analysis.model": ("PlayerStatistics", "CubeErrors", "ErrorSum"),
}
"""Classes of what the library's functions return or warn of."""
_STRATEGY_PARTS: Final = {
    "fibsbot.strategies.base": (
        "Strategy",
        "PlayAnswer",
        "CubeAnswer",
        "CubeAction",
        "Opponent",
        "PlaysGames",
        "NamesNumbers",
        "RejectsRolls",
        "Evaluator",
        "EvaluatorOfGames",
        "CubeValues",
        "DetailedEvaluator",
        "PlayValue",
        "PositionEvaluator",
        "PositionValue",
        "RollEvaluator",
    ),
    "fibsbot.testing": tuple(fibsbot.testing.__all__),
    "fibsbot.match": ("MatchState",),
    "fibsbot.position": ("Position", "Move"),
}
"""What a strategy has to do with: its methods and answers, its tests, what it is asked about."""
_PROTOCOL_PARTS: Final = {
    "fibs_protocol.grammar": ("parse", "write", "parse_command", "write_command", "write_telnet", "holds_free_text"),
    "fibs_protocol.stream": ("MessageReader",),
    "fibs_protocol.lines": ("LineSplitter",),
    "fibs_protocol.board": ("BoardState",),
    "fibs_protocol.table_state": ("TableState",),
    "fibs_protocol.session": ("Session",),
}
"""What the protocol's package is used by, besides the names that it offers itself."""


def plain(text: str) -> str:
    """Return text of the program as Markdown: signs that would be markup are escaped outside of code."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>|\[\]])", r"\\\1", part) for part in parts)


# -- commands ---------------------------------------------------------------------------------------------------------


def commands() -> str:
    """Return a section for each command, with its usage, help and options."""
    lines: list[str] = []
    for name, (place, _) in COMMANDS.items():
        module, _, attribute = place.partition(":")
        lines += _command(getattr(importlib.import_module(module), attribute), ("fibsbot", name), 3)
    return "\n".join(lines)


def _command(command: click.Command, names: Sequence[str], level: int) -> Iterator[str]:
    """Yield the section of a command, and those of its subcommands."""
    context = click.Context(command, info_name=" ".join(names))
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f"{'#' * level} {' '.join(names)}", "", f"`{' '.join(names)} {usage}`", "")
    yield from _help(command.help or "")
    records = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
    rows = [(option, told) for option, told in records if told]
    if rows:
        yield from ("| option | meaning |", "|---|---|")
        yield from (f"| {_option(option)} | {plain(told)} |" for option, told in rows)
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _command(below, (*names, name), level + 1)


def _option(text: str) -> str:
    """Return the names of an option as code in a cell of a table."""
    return f"`{text.replace('|', chr(92) + '|')}`"


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; those that click does not wrap are blocks."""
    for paragraph in inspect.cleandoc(text).partition("\f")[0].split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b\n"), "```", "")
        elif paragraph:
            yield from (plain(paragraph), "")


# -- the protocol -----------------------------------------------------------------------------------------------------


def messages() -> str:
    """Return all messages of servers: fields, example, the wordings that are written, and those of other servers."""
    wordings: dict[type, list[Wording[Any]]] = {}
    for wording in WORDINGS:
        wordings.setdefault(wording.cls, []).append(wording)
    modules = [importlib.import_module(f"fibs_protocol.messages.{name}") for name in _MESSAGE_MODULES]
    lines = [_imports("from fibs_protocol import messages", modules, m.Message), ""]
    for module in modules:
        lines += _kinds(module, m.Message, lambda kind: _wordings(wordings.get(kind, [])))
    return "\n".join(lines)


def client_commands() -> str:
    """Return all commands of clients: the word that is sent, fields, example."""
    modules = [importlib.import_module(f"fibs_protocol.commands.{name}") for name in _COMMAND_MODULES]
    lines = [_imports("from fibs_protocol import commands", modules, c.Command), ""]
    for module in modules:
        lines += _kinds(module, c.Command, lambda _: ())
    return "\n".join(lines)


def _imports(first: str, modules: Sequence[ModuleType], base: type[attrs.AttrsInstance]) -> str:
    """Return how the classes below are imported, and the types of their fields that are the protocol's own."""
    found: dict[str, set[str]] = {}
    for module in modules:
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, base)]
        types = {_type_name(it.type) for kind in kinds for it in attrs.fields(kind)}
        for name in {name for annotation in types for name in _NAME.findall(annotation)}:
            home = getattr(vars(module).get(name), "__module__", "")
            if home.startswith("fibs_protocol."):
                home = "fibs_protocol.commands" if home.startswith("fibs_protocol.commands.") else home
                found.setdefault(home, set()).add(name)
    imports = [first, *(f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(found.items()))]
    return "\n".join(["```python", *imports, "```"])


def _kinds(module: ModuleType, base: type[attrs.AttrsInstance], more: Callable[[type], Iterable[str]]) -> Iterator[str]:
    """Yield the section of a module: its classes, each with fields, docstring and more."""
    title, _, _ = (module.__doc__ or "").partition("\n")
    yield from (f"### {plain(re.sub(r' ?[(]specification.*', '', title).rstrip('.'))}", "")
    for name, kind in vars(module).items():
        if isinstance(kind, type) and issubclass(kind, base) and kind.__module__ == module.__name__:
            fields = ", ".join(f"{it.name}: {_type_name(it.type)}" for it in attrs.fields(kind))
            yield from (f"`{name}({fields})`", f": {_sentence(kind.__doc__)}")
            yield from (f"  {line}" for line in more(kind))
            yield ""


def _type_name(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _sentence(docstring: str | None) -> str:
    """Return a docstring as one paragraph."""
    return plain(" ".join(inspect.cleandoc(docstring or "").split()))


def _wordings(wordings: Sequence[Wording[Any]]) -> Iterator[str]:
    """Yield a line for each wording, unless there is but one, without fields, which the docstring has."""
    if (
        len(wordings) == 1
        and not wordings[0].slots
        and wordings[0].template.strip() in _sentence(wordings[0].cls.__doc__)
    ):
        return
    if wordings:
        yield ""
    for wording in wordings:
        writer = "" if wording.spoken else f"{wording.server or 'other servers'}: "
        yield f"- {writer}`` {wording.template} ``"


# -- the API ----------------------------------------------------------------------------------------------------------


def library() -> str:
    """Return what `import fibsbot` offers, as Sphinx documents it."""
    own = {"fibsbot": [name for name in fibsbot.__all__ if not name.startswith("_")]}
    return f"## fibsbot\n\n{_documented(own)}\n## What its functions return\n\n{_documented(_LIBRARY_RESULTS)}"


def strategies() -> str:
    """Return what a strategy has to do with, as Sphinx documents it."""
    return _documented(_STRATEGY_PARTS)


def protocol_library() -> str:
    """Return what `fibs_protocol` offers, as Sphinx documents it."""
    return _documented({"fibs_protocol": fibs_protocol.__all__, **_PROTOCOL_PARTS})


def _documented(names: Mapping[str, Sequence[str]]) -> str:
    lines = ["```{eval-rst}"]
    for module, found in names.items():
        for name in found:
            kind = getattr(importlib.import_module(module), name)
            if isinstance(kind, ModuleType):
                continue
            directive = "function"
            if isinstance(kind, type):
                directive = "exception" if issubclass(kind, BaseException) else "class"
            lines += [f".. auto{directive}:: {module}.{name}", ""]
    return "\n".join([*lines, "```", ""])


def as_rst(lines: Sequence[str]) -> list[str]:
    """Return the lines of a docstring, which has code in single backticks, as reStructuredText."""
    return _MARKUP.sub(_as_rst, "\n".join(lines)).split("\n")


def _as_rst(found: re.Match[str]) -> str:
    """Return code with the backticks it needs there, an indented line as it is, and a sign that is no markup."""
    if found[0].startswith("`"):
        return f"`{found[0]}`"
    return found[0] if found[0].startswith(" ") else f"\\{found[0]}"


# -- the examples -----------------------------------------------------------------------------------------------------


def examples() -> str:
    """Return a section for each example: what it is, how it is run, its text."""
    lines: list[str] = []
    for name, about, command in _EXAMPLE.findall((_EXAMPLES / "README.md").read_text(encoding="utf-8")):
        text = (_EXAMPLES / name).read_text(encoding="utf-8")
        language = _LANGUAGES[Path(name).suffix]
        if name.endswith(".ipynb"):
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
            text = "\n\n".join("".join(cell["source"]) for cell in cells)
        count = len(text.splitlines())
        lines += [f"## {name}", "", f"{about[0].upper()}{about[1:]}; {count} lines. Run it by `{command}`.", ""]
        lines += [f"```{language}", text.rstrip("\n"), "```", ""]
    return "\n".join(lines)


GENERATORS: Final[Mapping[str, Callable[[], str]]] = {
    "commands": commands,
    "messages": messages,
    "client_commands": client_commands,
    "library": library,
    "strategies": strategies,
    "protocol_library": protocol_library,
    "examples": examples,
}
"""What pages can ask for, by the word in `<!-- generated: WORD -->`."""
