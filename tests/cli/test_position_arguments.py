"""Positions as people copy them to the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import EXIT_USAGE, UserError, main
from fibsbot.cli.positions import read_state
from fibsbot.notation import parse_state

XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
GNUBG_ID: Final = "4HPwATDgc/ABMA:cAkAAAAAAAAE"
FORMS: Final = (
    '"{}"',
    "'{}'",
    "\u201c{}\u201d",
    "\u00ab\u202f{}\u202f\u00bb",
    "`{}`",
    "> {}",
    ">> {}",
    "<{}>",
    "({})",
    "{}.",
    "{},",
    "\u00a0{}\u00a0",
    "\ufeff{}\n",
    '> "{}",',
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("known", [XGID, GNUBG_ID, "4HPwATDgc/ABMA", XGID.removeprefix("XGID=")])
def test_what_comes_along_with_an_id_is_left_out(known: str, form: str) -> None:
    assert parse_state(known) == read_state(form.format(known))


@pytest.mark.parametrize("text", [XGID.replace("XGID", "xgid"), XGID.replace("=", " = "), XGID.replace(":31", ":\n31")])
def test_small_letters_and_blanks_make_no_difference(text: str, tmp_path: Path) -> None:
    assert parse_state(XGID) == read_state(text)
    path = tmp_path / "mail.txt"
    path.write_text(f"> look: {XGID.replace('XGID', 'xgid')}.\n", "utf-8")
    assert parse_state(XGID) == read_state(str(path))


@pytest.mark.parametrize("command", ["show", "legal", "eval", "best", "cube", "rollout"])
@pytest.mark.parametrize("text", ['"XGID=-b----E-C---eE---c-e----B-:0:0:1:37:0:0:0:3:10".', '> "what now?"', '""', ">"])
def test_what_is_no_position_is_refused_in_a_line(command: str, text: str) -> None:
    done = CliRunner().invoke(main, [command, text])
    assert EXIT_USAGE == done.exit_code
    (line,) = done.stderr.splitlines()
    assert "expected " in line
    if "XGID" not in text:
        assert text in line


def test_the_error_shows_the_field_without_the_marks() -> None:
    with pytest.raises(UserError, match="in field 5 of the XGID, got '37'"):
        read_state(f'> "{XGID.replace(":31:", ":37:")}".')
