"""Lines of real servers, another client's tests and the specification: unknown ones are listed with the reason.

The list is tests/data/protocol/unknown.txt, with a part per source and a heading with the reason before the lines.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.stream import MessageReader

DATA = Path(__file__).parents[1] / "data" / "protocol"

PLACEHOLDERS = {
    "n": "3",
    "nn": "3",
    "nnn": "3",
    "a": "3",
    "b": "4",
    "c": "5",
    "ss": "04",
    "hh": "10",
    "message": "text",
    "msg": "text",
    "name": "someplayer",
    "value": "3",
    "num_value": "3",
    "str_value": "none",
    "ip_address": "10.0.0.1",
    "host_name": "somehost.com",
    "host": "somehost.com",
    "date": "Friday, January 10 12:12 EST",
    "rating": "1500.00",
    "experience": "23",
    "myself@myisp.com": "myself@myisp.com",
    "someuser": "someuser",
    "someaddress.com": "someaddress.com",
    "command": "frobnicate",
    "arg": "frobnicate",
    "invalid_command": "frobnicate",
    "bad_value": "frobnicate",
    "name last_login last_host": "someplayer 1 somehost.com",
    "from time message": "someplayer 1 text",
    "name message": "someplayer text",
    "name opponent watching ready away rating experience idle login hostname client email": (
        "someplayer - - 1 0 1500.00 23 4 5 somehost.com - -"
    ),
    "myself 2761": "myself 2761",
    "someplayer 187": "someplayer 187",
}
"""Replacements of the specification's placeholders."""
SERIES = {
    "<d> -<e ... j> -<k>": "8-5 6-5",
    "<a> -<b ... g> -<h>": "8-5 6-5",
    "<c> -<d ... i> -<j>": "8-5 6-5",
    "<c> o <... f> o": "6 o 5 o",
    "<a> o <... d> o": "6 o 5 o",
    " ,<...> ,<usern>": "",
}
"""The same for placeholders of several moves or names."""


def server_lines(name: str) -> Iterator[str]:
    """Yield the lines of a source as a server would send them."""
    for line in (DATA / name).read_text("ascii").splitlines():
        yield _completed(line) if name.startswith("spec") else line


def _completed(line: str) -> str:
    """Fill in placeholders, and restore the asterisks that were lost when the examples were extracted."""
    if line.startswith("* "):
        return f"**{line}"
    filled = line
    for series, value in SERIES.items():
        filled = filled.replace(series, value)
    if "usage:" not in line:
        filled = re.sub(r"<([^<>]+)>", _filling, filled)
    # The extraction added a blank after each placeholder.
    filled = re.sub(r"\0 (?=['.:,@]|-(?! ))", "", filled).replace("\0", "")
    if re.match(r" \S", line) and isinstance(parse(filled), m.Unknown):
        return f"**{filled}"
    return filled


def _filling(match: re.Match[str]) -> str:
    word = match[1]
    if re.fullmatch(r"another_user|user[12nx]?|usre2|user_id", word):
        return "someplayer\0"
    if re.fullmatch(r"-?[0-9.]+|myself|someplayer", word):
        return word + "\0"
    return PLACEHOLDERS[word] + "\0" if word in PLACEHOLDERS else match[0]


def unknown(name: str) -> list[str]:
    reader = MessageReader(banner=name.startswith("session"))
    reader.receive_data("".join(f"{line}\r\n" for line in server_lines(name)).encode("ascii"))
    reader.receive_data(b"")
    records = iter(reader.next_message, None)
    return [record.text.rstrip() for record in records if isinstance(record.message, m.Unknown | m.RefusedBoard)]


def listed(name: str) -> list[str]:
    """Return the listed lines of a source."""
    part = (DATA / "unknown.txt").read_text("ascii").split(f"=== {name}\n")[1]
    lines = itertools.takewhile(lambda line: not line.startswith("=== "), part.splitlines())
    return [line for line in lines if line and not line.startswith("--- ")]


@pytest.mark.parametrize("name", ["session_watch.txt", "client_test_lines.txt", "spec_example_lines.txt"])
def test_unknown_lines_are_listed_with_their_reason(name: str) -> None:
    assert listed(name) == unknown(name)
