"""The page about the server names every option and every bound, its docstring every file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import attrs

import fibsbot.server
from fibsbot.cli.serve import serve
from fibsbot.server.limits import ServerLimits
from fibsbot.server.world import Quirks

PAGE: Final = (Path(__file__).parent.parent.parent / "docs" / "reference" / "server.md").read_text()


def test_every_option_of_serve_is_documented() -> None:
    names = [option for parameter in serve.params for option in parameter.opts]
    assert [] == [name for name in names if f"| `{name}` |" not in PAGE]


def test_every_bound_is_documented_with_its_default() -> None:
    rows = {
        cells[1].strip(" `"): cells[2]
        for line in PAGE.splitlines()
        if len(cells := line.split("|")) == 5 and "`" in cells[1]
    }
    for bound in attrs.fields(ServerLimits):
        written = f"{bound.default:,.0f}".replace(",", "") if bound.name != "send_buffer" else "1 MiB"
        assert written in rows[bound.name].replace(",", "")


def test_every_quirk_is_documented() -> None:
    assert [] == [quirk.name for quirk in attrs.fields(Quirks) if f"Quirks({quirk.name}=" not in PAGE]


def test_every_file_is_documented() -> None:
    files = Path(fibsbot.server.__file__).parent.glob("*.py")
    described = fibsbot.server.__doc__ or ""
    assert [] == [path.name for path in files if path.name != "__init__.py" and f"    {path.name} " not in described]
