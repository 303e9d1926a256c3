"""Matches from other set-ups: kept where a format can say them, and said to be lost where not."""

from __future__ import annotations

import itertools
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import Format, FormatError
from fibsbot.formats.conversion import WRITERS, lost_details, read_matches
from fibsbot.formats.match_laws import named_setups, unusual_setup
from fibsbot.position import Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import MODERN, Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Entry, Game, Gap, Player, Resign, Throw, Transcript, walk
from tests.examples import examples
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


def shown(kind: Format, game: Game) -> list[Entry]:
    """Return the entries of a game as far as a format keeps them; `lost_details` names what it leaves out."""
    if kind is Format.JSON:
        return list(game.entries)
    entries: list[Entry] = []
    for entry, after in itertools.zip_longest(game.entries, game.entries[1:]):
        refused = isinstance(entry, Resign) and not entry.accepted
        unplayed = isinstance(entry, Throw) and entry.play is None
        repeated = unplayed and isinstance(after, Resign) and not after.accepted
        if not (repeated or (refused and kind is not Format.SGF) or (unplayed and kind is Format.OLDMOVES)):
            entries.append(entry)
    plain = [evolve(entry, at=None, seconds=None, equity=None, rebuilt=False) for entry in entries]
    # The order of two dice says who won the opening roll, which the seat does, too.
    return [evolve(it, dice=(max(it.dice), min(it.dice))) if isinstance(it, Throw) else it for it in plain]


@pytest.mark.parametrize("kind", [Format.MAT, Format.SGF, Format.OLDMOVES, Format.JSON], ids=lambda kind: kind.value)
@given(seed=st.integers(0, 10_000), length=st.sampled_from([0, 0, 1, 3]), name=st.sampled_from([*named_setups(), ""]))
@examples(12)
def test_the_entries_of_a_match_come_back_unless_the_loss_is_said(
    kind: Format, seed: int, length: int, name: str
) -> None:
    match = simulate(seed, length, setup=named_setups().get(name), names=("alice", "bob"))
    lost, read = lost_details(kind, match), read_again(kind, match)
    counted_once = "resigned gammons that the Jacoby rule counts once" in lost
    refused = any(isinstance(it, Resign) and not it.accepted for game in match.games for it in game.entries)
    assert (refused and kind in {Format.MAT, Format.OLDMOVES}) == ("resignations that were refused" in lost)
    assert len(match.games) == len(read.games)
    for written, found in zip(match.games, read.games, strict=True):
        one, other = shown(kind, written), shown(kind, found)
        if counted_once and isinstance(one[-1], Resign) and one[-1].accepted:
            one, other = one[:-1], other[:-1]
        else:
            assert written.result == found.result
        assert one == other
        laws, laws_found = written.start.laws, found.start.laws
        assert laws.jacoby == laws_found.jacoby or "the Jacoby rule" in lost
        assert laws.redoubles == laws_found.redoubles or any("beavers" in words for words in lost)


@pytest.mark.parametrize("kind", [Format.MAT, Format.OLDMOVES, Format.SGF], ids=lambda kind: kind.value)
def test_a_match_of_portes_without_an_opening_roll_is_kept_or_the_loss_is_said(kind: Format) -> None:
    """The winner of the opening throw rolls anew, and the winner of a game begins the next, with a double perhaps."""
    laws = evolve(MODERN, cube=False, crawford=False, triple=False)
    start = evolve(start_match(laws, 3), stage=Stage.ROLL, turn=Seat.B)
    entries = (
        Throw(seat=Seat.B, dice=(1, 1), play=Play.of((8, 7), (8, 7), (6, 5), (6, 5))),
        Resign(seat=Seat.A, level=Level.GAMMON, accepted=True),
    )
    games = (
        Game(1, start, entries, Result(Seat.B, 2, Level.GAMMON, Ending.RESIGNED)),
        Game(2, evolve(start, scores=(0, 2)), entries, Result(Seat.B, 2, Level.GAMMON, Ending.RESIGNED)),
    )
    match = Transcript((Player("alice"), Player("bob")), 3, games)
    (read,) = read_matches(kind, WRITERS[kind](match))
    said = "games that do not begin with an opening roll" in lost_details(kind, match)
    assert said == (kind is not Format.SGF)
    assert [() if said else it.entries for it in games] == [it.entries for it in read.games]
    assert kind is Format.OLDMOVES or match.scores == read.scores
