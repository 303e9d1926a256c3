"""Where nothing can be written is said before any work is done."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, UserError, main
from fibsbot.cli.outputs import check_writable

MATCH = Path(__file__).parent.parent / "data/formats/mat/match.mat"


def refuse(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_a_file_or_folder_that_can_be_made_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "page.html")
    check_writable(tmp_path / "new" / "pages", parents=True)
    check_writable(tmp_path, parents=True)
    assert [] == list(tmp_path.iterdir())


def test_a_folder_that_is_missing_or_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(UserError, match=f"there is no folder {folder} for page.html"):
            check_writable(folder / "page.html")
    with pytest.raises(UserError, match="there is no folder"):
        check_writable(tmp_path / "file" / "pages", parents=True)


@pytest.mark.parametrize(
    "command",
    [
        ["report", str(MATCH), "-o", "page.html"],
        ["report", str(MATCH), "-o", "pages"],
        ["stats", "--luck", "--svg", "rating.svg"],
        ["soak", "--chaos", "--plot", "chaos.svg"],
    ],
    ids=" ".join,
)
def test_a_place_that_refuses_is_told_at_once(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No judge is asked, no store is looked for (there is none), and nobody plays."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr("fibsbot.cli.report.named_judge", lambda *_: pytest.fail("a judge is looked for"))
    result = CliRunner().invoke(main, command)
    assert (EXIT_USAGE, f"Error: cannot write {command[-1]}: Permission denied\n") == (result.exit_code, result.stderr)
