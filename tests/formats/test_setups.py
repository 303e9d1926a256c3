"""Matches from other set-ups: kept where a format can say them, and said to be lost where not."""

from __future__ import annotations

from typing import Final

import pytest
from attrs import evolve

from fibsbot.formats import Format, FormatError
from fibsbot.formats.conversion import WRITERS, lost_details, read_matches
from fibsbot.formats.setups import named_setups, unusual_setup
from fibsbot.position import Position
from fibsbot.transcript import Gap, Transcript, walk
from tests.formats.gnubg import ask_gnubg, requires_gnubg
from tests.formats.simulated_matches import simulate

NAMELESS: Final = Position.from_sides(
    own=[0, 3, 0, 0, 0, 4, 0, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
    opponent=[0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
)
"""One that is not the same for both sides."""
SETUPS: Final = {**named_setups(), "nameless": NAMELESS}


def match_from(name: str, seed: int = 5) -> Transcript:
    """Return a match from a set-up; the laws are those that every format keeps."""
    return simulate(seed, 5, setup=SETUPS[name], names=("alice", "bob"))


def read_again(kind: Format, match: Transcript) -> Transcript:
    """Return a match as it is read after it has been written."""
    (read,) = read_matches(kind, WRITERS[kind](match))
    return read


def plays(match: Transcript) -> list[list[Position]]:
    """Return the positions of all games."""
    return [[step.after.position for step in walk(game)] for game in match.games]


@pytest.mark.parametrize("name", SETUPS)
@pytest.mark.parametrize("kind", [Format.MAT, Format.SGF, Format.JSON], ids=lambda kind: kind.value)
def test_a_set_up_is_kept(name: str, kind: Format) -> None:
    match = match_from(name)
    read = read_again(kind, match)
    assert {SETUPS[name]} == {unusual_setup(game.start) for game in read.games}
    assert [game.start.stage for game in match.games] == [game.start.stage for game in read.games]
    assert plays(match)[0] == plays(read)[0]
    assert match.scores == read.scores
    assert WRITERS[kind](read_again(kind, read)) == WRITERS[kind](read)
    assert "the set-up" not in lost_details(kind, match)


@pytest.mark.parametrize("name", SETUPS)
def test_oldmoves_says_that_the_set_up_is_lost_and_is_read_from_one_with_a_name(name: str) -> None:
    match = match_from(name)
    assert "the set-up" in lost_details(Format.OLDMOVES, match)
    read = read_again(Format.OLDMOVES, match)
    assert match.scores == read.scores
    assert not any(isinstance(entry, Gap) for game in read.games for entry in game.entries)
    if name == "nameless":
        assert not any(game.entries for game in read.games)
    else:
        assert plays(match)[0] == plays(read)[0]
        assert (f"line 1: read as {name}, as the plays are not legal from the usual set-up",) == read.remarks


@pytest.mark.parametrize("name", named_setups())
def test_a_mat_without_a_variation_is_read_from_the_set_up_that_makes_it_legal(name: str) -> None:
    match = match_from(name)
    text = WRITERS[Format.MAT](match).replace(f'; [Variation "{name}"]\n', "")
    (read,) = read_matches(Format.MAT, text)
    assert plays(match)[0] == plays(read)[0]
    assert (f"read as {name}, as its plays are not legal from the usual set-up",) == read.remarks


def test_variations_are_known_in_any_letters_and_unknown_ones_are_named() -> None:
    text = WRITERS[Format.MAT](match_from("NackGammon"))
    (read,) = read_matches(Format.MAT, text.replace("NackGammon", "nackgammon"))
    assert {SETUPS["NackGammon"]} == {unusual_setup(game.start) for game in read.games}
    with pytest.raises(FormatError, match="expected a match of backgammon, got one of 'Tapa'"):
        list(read_matches(Format.MAT, text.replace("NackGammon", "Tapa")))


def test_games_from_several_set_ups_keep_each_its_own() -> None:
    match = simulate(5, 9, names=("alice", "bob"))
    first = match_from("NackGammon").games[0]
    one = evolve(match, games=(evolve(match.games[0], result=None), evolve(first, number=2)))
    for kind in (Format.MAT, Format.SGF):
        text = WRITERS[kind](evolve(one, length=5))
        (read,) = read_matches(kind, text)
        assert [None, SETUPS["NackGammon"]] == [unusual_setup(game.start) for game in read.games], kind


@requires_gnubg
def test_gnubg_takes_nackgammon_in_sgf() -> None:
    text = WRITERS[Format.SGF](match_from("NackGammon"))
    assert "RU[Crawford:Nackgammon]" in text
    (found,) = ask_gnubg("sgf", [text])
    assert found.match["games"]
    assert "llegal" not in found.output
