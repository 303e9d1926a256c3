"""What the README and the other pages promise."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import COMMANDS, main

ROOT: Final = Path(__file__).parent.parent
README: Final = (ROOT / "README.md").read_text()
COMMAND_PAGE: Final = (ROOT / "docs" / "reference" / "commands.md").read_text()
PAGES: Final = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "bench/README.md",
            "protocol/README.md",
        )
    ),
    *sorted(ROOT.glob("docs/**/*.md")),
]


def examples() -> list[tuple[str, str]]:
    """Find the commands with their output: blocks marked `console`."""
    blocks = re.findall(r"^```console\n\$ fibsbot (.*)\n((?:.*\n)*?)```", COMMAND_PAGE, re.MULTILINE)
    return [(command, output) for command, output in blocks]


@pytest.mark.parametrize(("command", "output"), examples())
def test_an_example_prints_what_the_page_shows(command: str, output: str) -> None:
    result = CliRunner().invoke(main, shlex.split(command))
    assert output == result.output


def test_there_are_examples() -> None:
    assert examples()


def test_the_settings_of_the_readme_are_those_of_the_sample_for_fibs() -> None:
    (shown,) = re.findall(r"^```toml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    sample = tomllib.loads((ROOT / "config" / "fibs.toml").read_text())
    tables = tomllib.loads(shown)
    assert tables == {name: {key: sample[name][key] for key in table} for name, table in tables.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed(name: str) -> None:
    assert f"| `fibsbot {name}" in COMMAND_PAGE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text())
    targets = [(page.parent / link if link else page, anchor) for link, anchor in links]
    assert [] == [str(target) for target, anchor in targets if not target.exists()]
    assert [] == [f"{target}#{anchor}" for target, anchor in targets if anchor and anchor not in anchors(target)]


def anchors(page: Path) -> list[str]:
    """Return the anchors of the headings of a page, as code forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_readme_of_bench_has_every_file() -> None:
    page = (ROOT / "bench" / "README.md").read_text()
    names = {path.name for path in (ROOT / "bench").rglob("*.py")} - {"__init__.py"}
    assert names == set(re.findall(r"`([a-z_]+\.py)`", page))


def test_the_laboratory_lists_its_pages() -> None:
    folder = ROOT / "docs" / "lab"
    listed = re.findall(r"^\| \[([a-z-]+\.md)\]\(\1\) \|", (folder / "README.md").read_text(), re.MULTILINE)
    assert sorted([*listed, "README.md"]) == sorted(path.name for path in folder.glob("*.md"))


def test_pages_that_the_sources_name_exist() -> None:
    folders = ("fibsbot", "protocol", "tests", "bench", "config")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named = {page for path in [*sources, *PAGES] for page in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text("utf-8"))}
    assert [] == sorted(page for page in named if not (ROOT / page).exists())
