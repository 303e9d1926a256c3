"""`fibsbot new`: beginnings of somebody's own packages, written from templates."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

import click

from fibsbot.cli import UserError
from fibsbot.files import os_errors_as
from fibsbot.strategies.loader import available

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_TEMPLATES: Final = files("fibsbot.cli") / "templates"


@click.group()
def new() -> None:
    """Write the beginning of a package of your own."""


@new.command()
@click.argument("name")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder to write into; it must not exist, or be empty.  [default: fibsbot-NAME]",
)
def strategy(name: str, output: Path | None) -> None:
    """Write a package with a strategy: a class to change, a test of it, and what installs it.

    NAME is what `--strategy` takes once the package is installed: small letters, digits and dashes.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"expected a name of small letters, digits and dashes, such as look-out, got {name!r}")
    if any(installed.name == name for installed in available()):
        raise UserError(f"expected a new name, got {name!r}, which is the name of an installed strategy")
    project = f"fibsbot-{name}"
    module = project.replace("-", "_")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    folder = output or Path(project)
    written = {
        f"{module}.py": "module.py",
        f"test_{module}.py": "test_module.py",
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
    }
    names = {"name": name, "project": project, "module": module, "class_name": class_name}
    with os_errors_as(UserError, f"cannot write {folder}"):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UserError(f"expected a folder that is empty or does not exist, got {folder}")
        folder.mkdir(parents=True, exist_ok=True)
        for file, template in written.items():
            text = (_TEMPLATES / "strategy" / f"{template}.template").read_text(encoding="utf-8")
            (folder / file).write_text(Template(text).substitute(names), encoding="utf-8")
    click.echo(f"{folder}: {', '.join(written)}")
    click.echo(f"Try it:  fibsbot demo --strategy {folder / module}.py:{class_name}")
