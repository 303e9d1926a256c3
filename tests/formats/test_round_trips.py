"""What is true of every format: written, read and written again it is the same, and no text breaks a reader.

`FIBSBOT_GOLDEN=write pytest tests/formats/test_round_trips.py` writes the golden files anew; read the difference first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot import __version__
from fibsbot.formats import Format, FormatError, detect_format
from fibsbot.formats.conversion import NOT_REPRESENTED, READERS, WRITERS, lost_details, read_matches, write_matches
from fibsbot.formats.position_lists import SnowiePosition, iter_snowie, write_snowie
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending, Result, Seat
from fibsbot.transcript import Game, Player, RejectedRoll, Resign, Throw, Transcript, TranscriptError, walk
from tests.examples import examples
from tests.formats.simulated_matches import AUTOMATIC, REJECTING, simulate, transcripts

DATA: Final = Path(__file__).parents[1] / "data" / "formats"
GOLDEN: Final = {
    "three_points": lambda: simulate(202, 3),
    "beavers": lambda: simulate(9, 0, games=2),
    "gaps": lambda: simulate(5, 7, gaps=True, finished=False),
    "automatic_doubles": lambda: simulate(4, 0, games=3, laws=AUTOMATIC),
}
MATCHES: Final = (Format.SGF, Format.OLDMOVES, Format.JSON)
EVERY_READER: Final[dict[Format, Callable[[str], Iterable[Any]]]] = {**READERS, Format.SNOWIE: iter_snowie}


def again(kind: Format, text: str) -> str:
    """Read a text and write what was read."""
    if kind is Format.SNOWIE:
        return "".join(map(write_snowie, iter_snowie(text)))
    return "".join(write_matches(kind, read_matches(kind, text)))


def bears(kind: Format, text: str) -> None:
    """See that a reader returns what can be walked through and written, or says what is wrong in a line."""
    try:
        found = list(EVERY_READER[kind](text))
    except FormatError as error:
        found = []
        told = str(error)
    else:
        told = "a match" * bool(found)
    assert told
    assert "\n" not in told
    assert len(told) < 400
    for match in found:
        if isinstance(match, SnowiePosition):
            write_snowie(match)
        else:
            bears_writing(match)


def bears_writing(match: Transcript) -> None:
    """See that every writer takes what a reader has returned."""
    for game in match.games:
        list(walk(game))
    for write in WRITERS.values():
        write(match)


@pytest.mark.parametrize("kind", [*MATCHES, Format.SNOWIE, Format.XGID, Format.GNUBG_IDS], ids=lambda kind: kind.value)
@pytest.mark.parametrize("name", GOLDEN)
def test_files_look_as_they_always_did(name: str, kind: Format) -> None:
    path = DATA / f"{name}{kind.extension}"
    text = WRITERS[kind](GOLDEN[name]())
    shown = text.replace(f"AP[fibsbot:{__version__}]", "AP[fibsbot:0]")
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown
    assert kind not in EVERY_READER or text == again(kind, text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*MATCHES, Format.SNOWIE], ids=lambda kind: kind.value)
@given(match=transcripts())
@examples(20)
def test_writing_reading_and_writing_again_gives_the_same(kind: Format, match: Transcript) -> None:
    text = WRITERS[kind](match)
    if text:
        assert text == again(kind, text)


@pytest.mark.parametrize("kind", [*MATCHES, Format.MAT], ids=lambda kind: kind.value)
def test_rejected_first_rolls_come_back_and_the_roll_after_one_may_be_a_double(kind: Format) -> None:
    entries = (
        RejectedRoll(seat=Seat.A, dice=(2, 1)),
        Throw(seat=Seat.A, dice=(3, 3), play=Play.of((8, 5), (8, 5), (6, 3), (6, 3))),
        RejectedRoll(seat=Seat.B, dice=(4, 1)),
        Throw(seat=Seat.B, dice=(6, 2), play=Play.of((24, 18), (13, 11))),
        Resign(seat=Seat.A, level=Level.SINGLE, accepted=True),
    )
    game = Game(1, start_match(REJECTING, 0), entries, Result(Seat.B, 4, Level.SINGLE, Ending.RESIGNED))
    text = WRITERS[kind](Transcript((Player("alice"), Player("bob")), 0, (game,)))
    (match,) = read_matches(kind, text)
    assert (game,) == match.games
    assert text == again(kind, text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*MATCHES, Format.SNOWIE], ids=lambda kind: kind.value)
@given(match=transcripts(odd_names=False), cut=st.floats(0, 1), junk=st.text(max_size=4), gone=st.integers(0, 9))
@examples(20)
def test_a_text_that_is_damaged_or_breaks_off_is_read_or_refused(
    kind: Format, match: Transcript, cut: float, junk: str, gone: int
) -> None:
    text = WRITERS[kind](match)
    place = round(cut * len(text))
    bears(kind, text[:place])
    bears(kind, text[:place] + junk + text[place + gone :])


@pytest.mark.parametrize("kind", EVERY_READER, ids=lambda kind: kind.value)
@given(text=st.text())
@example("")
@example("\ufeff")
@example("(" * 5000)
@example("[" * 100_000)
@example("(;GM[6]" + "C[x]" * 1000)
@example("(;GM[6]MI[length:99999999999999999999][game:-1])")
@example("Score is 999999999-0 in a 1 point match.\na is X - b is O\n\nX: wins\n")
@example("Score is 0-0 in a 3 point match.\n" + "a is X - " * 1000 + "b is O\n")
@example('{"fibsbot_transcript":1}')
@example(";" * 10_000)
def test_no_text_breaks_a_reader(kind: Format, text: str) -> None:
    bears(kind, text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*READERS, Format.SNOWIE], ids=lambda kind: kind.value)
def test_a_huge_line_is_refused_soon(kind: Format) -> None:
    for piece in ("a", "(", "[", "X: (6 5) ", " is X - ", "1;", "{}", "\\", "W[31hefe]", "(;GM[6];W[double]"):
        with pytest.raises(FormatError):
            list(EVERY_READER[kind](piece * (300_000 // len(piece))))


@pytest.mark.parametrize("kind", [*MATCHES, Format.MAT], ids=lambda kind: kind.value)
def test_a_format_is_detected_by_the_beginning_of_the_file(kind: Format) -> None:
    text = WRITERS[kind](simulate(3, 3))
    assert kind is detect_format(text[:4096], "nothing.txt")
    assert kind is detect_format("\ufeff\n" + text[:4096])
    assert kind is detect_format("", f"x/Match{kind.extension.upper()}")


@pytest.mark.parametrize("comment", ["", '; [Site "FIBS"]\n\n'])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_mat_is_known_and_read_below_a_box_or_words_of_any_kind(ending: str, comment: str) -> None:
    box = "+------------------+\n|  Club evening 7  |\n| our 3 point match|\n+------------------+\n\n"
    mat = WRITERS[Format.MAT](simulate(3, 3))
    above = (box + comment + mat[mat.index("3 point match") :].replace("match\n", "match\n" + comment, 1)).replace(
        "\n", ending
    )
    assert Format.MAT is detect_format(above[:4096], "evening.txt")
    assert [it.games for it in READERS[Format.MAT](mat)] == [it.games for it in READERS[Format.MAT](above)]
    assert detect_format(box + "A 3 point match\n\nGame 1 was long.\n", "evening.txt") is None


def test_other_texts_are_not_taken_for_matches() -> None:
    assert detect_format("Welcome to FIBS.\nScore is 0-0 in a 3 point match.\n", "capture.txt") is None
    assert detect_format("(;FF[4]GM[1]SZ[19];B[aa])".replace("FF[4]GM[1]", "KM[6]"), "") is None
    assert detect_format('{"kind":"header"}', "session.jsonl") is None
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert detect_format(readme, "README.md") is None


def test_only_details_that_a_match_has_are_reported_as_lost() -> None:
    match = simulate(18, 5)
    assert ["times", "the time of day"] == lost_details(Format.SGF, match)
    assert not lost_details(Format.JSON, match)
    assert {"times", "ratings"} <= set(lost_details(Format.OLDMOVES, match))
    bare = next(iter(read_matches(Format.OLDMOVES, WRITERS[Format.OLDMOVES](match))))
    assert not any(lost_details(kind, bare) for kind in NOT_REPRESENTED)
    for dated in (evolve(bare, site="FIBS"), evolve(bare, started=match.started)):
        assert "when and where it was played" in lost_details(Format.OLDMOVES, dated)


def test_several_matches_follow_each_other() -> None:
    two = [simulate(3, 3), simulate(4, 5)]
    for kind in (*MATCHES, Format.MAT):
        text = "".join(write_matches(kind, two))
        assert [match.length for match in two] == [match.length for match in read_matches(kind, text)], kind


def test_positions_of_an_illegal_match_are_rejected() -> None:
    match = simulate(3, 3)
    entries = match.games[0].entries[3:]
    broken = evolve(match, games=(evolve(match.games[0], entries=entries),))
    with pytest.raises(TranscriptError):
        WRITERS[Format.XGID](broken)
