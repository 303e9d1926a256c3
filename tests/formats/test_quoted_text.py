"""Matches that come from a mail or a web page."""

from __future__ import annotations

import pytest

from fibsbot.formats import Format, detect_format
from fibsbot.formats.conversion import WRITERS, read_matches, write_matches
from fibsbot.formats.mat import write_mat
from fibsbot.formats.position_lists import find_position
from fibsbot.notation import parse_state
from tests.formats.simulated_matches import simulate


@pytest.mark.parametrize("mark", ["> ", ">", ">> ", "> > ", " > "])
def test_a_quoted_mail_is_read_as_what_it_quotes(mark: str) -> None:
    text = write_mat(simulate(7, 3))
    quoted = "anna wrote:\n" + "".join(f"{mark}{line}\n" for line in text.splitlines())
    assert Format.MAT is detect_format(quoted)
    (plain,), (found,) = read_matches("mat", text), read_matches("mat", quoted)
    assert plain.games == found.games


@pytest.mark.parametrize("blank", ["\u00a0", "\u2007", "\u202f"])
def test_blanks_of_a_web_page_are_blanks(blank: str) -> None:
    text = write_mat(simulate(7, 3))
    copied = text.replace(" ", blank)
    assert Format.MAT is detect_format(copied)
    assert list(read_matches("mat", text)) == list(read_matches("mat", copied))


def test_a_name_may_begin_with_the_mark() -> None:
    match = simulate(7, 3, names=(">anna", ">"))
    for kind in (Format.MAT, Format.OLDMOVES):
        text = WRITERS[kind](match)
        assert [text] == list(write_matches(kind, read_matches(kind, text)))


def test_a_position_is_found_in_a_quoted_mail() -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
    assert parse_state(xgid) == find_position(f"> what would you play?\n>> {xgid}\n")
