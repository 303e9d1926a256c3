"""Transcripts as rows: a match has the same digest in every format, and decisions are those of the rules core."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.archive.columns import boards_of_ids, columns_of, position_columns, position_ids
from fibsbot.archive.rows import MatchPlace, match_rows
from fibsbot.archive.tracking import track
from fibsbot.formats import Format
from fibsbot.formats.conversion import WRITERS, read_matches
from fibsbot.notation.position_ids import position_id
from fibsbot.position import BAR, Position
from fibsbot.rules.sides import Sides
from fibsbot.transcript import Transcript, decisions, walk
from tests.examples import examples
from tests.formats.simulated_matches import simulate

PLACE = MatchPlace("a file", 1, "mat")
FORMATS = (Format.MAT, Format.SGF, Format.OLDMOVES, Format.JSON)


def digest(match: Transcript) -> str:
    return match_rows(match, PLACE).digest


@pytest.mark.slow
@examples(12)
@given(seed=st.integers(0, 10_000))
def test_a_match_has_one_digest_in_all_formats(seed: int) -> None:
    match = simulate(seed)
    for kind in FORMATS:
        (read,) = read_matches(kind, WRITERS[kind](match))
        assert digest(match) == digest(read), kind


def test_another_roll_player_length_or_order_of_the_games_is_another_match() -> None:
    match = simulate(3, length=3, names=("alice", "bob"))
    carol = evolve(match.players[0], name="carol")
    others = [
        simulate(4, length=3, names=("alice", "bob")),
        evolve(match, players=(carol, match.players[1])),
        evolve(match, length=5),
        evolve(match, games=match.games[:-1]),
    ]
    assert len({digest(match), *map(digest, others)}) == 1 + len(others)


def test_the_digest_knows_neither_seats_nor_how_names_are_written() -> None:
    match = simulate(3, length=3, names=("Dr. No", "bob"))
    (read,) = read_matches(Format.MAT, WRITERS[Format.MAT](match))
    renamed = evolve(read, players=(evolve(read.players[0], name="dr_no"), read.players[1]))
    assert digest(match) == digest(renamed)


def test_two_players_of_one_name_are_told_apart_by_their_plays() -> None:
    one, other = (simulate(seed, length=1, names=("bot", "bot")) for seed in (1, 2))
    assert digest(one) != digest(other)


@examples(12)
@given(seed=st.integers(0, 10_000), gaps=st.booleans())
def test_the_decisions_are_those_of_the_rules_core(seed: int, gaps: bool) -> None:  # noqa: FBT001 - a property
    for game in simulate(seed, gaps=gaps).games:
        found = [decision for event in track(game) for decision in event.decisions]
        expected = [decision for step in walk(game) for decision in decisions(step)]
        assert [(it.state.position.points, it.seat, it.text) for it in expected] == [
            (it.cells, it.seat, it.action) for it in found
        ]
        assert [(it.step.turn, it.state.cube, it.state.owner) for it in expected] == [
            (it.turn, it.cube, it.owner) for it in found
        ]
        # An answer to a resignation has the dice on the board, which a strategy does not see.
        assert [it.state.dice or it.step.before.dice if it.state.resignation else it.state.dice for it in expected] == [
            it.dice for it in found
        ]


def test_positions_of_many_rows_are_those_of_one() -> None:
    rows = match_rows(simulate(5, length=5), PLACE)
    boards = np.array(rows.positions, np.int8)
    positions = [Position(cells) for cells in rows.positions if not isinstance(cells, Sides)]
    ids = position_ids(boards)
    assert [position_id(it) for it in positions] == ids.astype(str).tolist()
    assert boards.tolist() == boards_of_ids(ids).tolist()
    columns = position_columns(boards)
    assert [it.pips for it in positions] == columns["own_pips"].tolist()
    assert [it.opponent_off for it in positions] == columns["opponent_off"].tolist()
    assert [sum(it.points[19:]) - sum(n for n in it.points[19:] if n < 0) for it in positions] == columns[
        "own_back"
    ].tolist()
    held = [sum(1 << point - 1 for point in range(1, BAR) if it.points[point] > 1) for it in positions]
    assert held == columns["own_held"].tolist()


def test_numbers_that_a_file_invents_fit_into_the_columns() -> None:
    match = simulate(1, length=1)
    player = evolve(match.players[0], experience=10**30, rating=None, name="\ud800x")
    tables = columns_of([match_rows(evolve(match, players=(player, match.players[1])), PLACE)])
    assert [2**31 - 1] == tables["matches"]["experience_a"].tolist()
    assert ["?x"] == tables["matches"]["player_a"].tolist()
