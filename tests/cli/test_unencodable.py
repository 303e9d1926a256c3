"""Output to a terminal or a file whose encoding lacks characters."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.cli import replace_unencodable
from tests.commands import fibsbot_process

MATCH = "tests/data/formats/mat/match.mat"
SHORT = "tests/data/formats/mat/one_point.mat"
COMMAND = (sys.executable, "-m", "fibsbot")


def written(text: str, encoding: str) -> bytes:
    """Return the bytes of a text on a stream in this encoding, as commands write it."""
    content = io.BytesIO()
    file = io.TextIOWrapper(content, encoding=encoding)
    replace_unencodable(file)
    file.write(text)
    file.flush()
    return content.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13 ● ● ○", b"13 O O X"),
        ("ann \N{EN DASH} bob", b"ann - bob"),
        ("+0.01 ± 0.02", b"+0.01 ~ 0.02"),
        ("1500 ┤⣀⡠⠀", b"1500 |** "),
        ("אברהם", b"?????"),
        ("b\udcff.mat", b"b\xff.mat"),
    ],
)
def test_a_character_that_ascii_lacks_is_written_as_a_similar_one_of_its_width(text: str, expected: bytes) -> None:
    assert expected == written(text, "ascii")


def test_what_an_encoding_has_stays() -> None:
    assert "± é".encode("latin-1") == written("± é", "latin-1")
    assert "● אב".encode() + b"\xff" == written("● אב\udcff", "utf-8")


@pytest.mark.slow
def test_a_table_is_written_in_a_locale_that_lacks_its_signs() -> None:
    ended = fibsbot_process("analyse", MATCH, "--evaluator", "heuristic", "--no-luck", PYTHONIOENCODING="latin-1")
    assert (0, "") == (ended.returncode, ended.stderr)
    assert " - " in ended.stdout.splitlines()[0]


@pytest.mark.slow
def test_a_file_whose_name_is_no_text_can_be_written(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*COMMAND, "report", SHORT, "--evaluator", "heuristic", "--no-luck", "-o", bytes(tmp_path) + b"/\xff.html"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert (0, b"") == (ended.returncode, ended.stderr)
    assert ended.stdout.startswith(bytes(tmp_path) + b"/\xff.html: 1 match")
