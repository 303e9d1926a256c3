"""The engine's front: what it loads, what it answers, from several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fibsbot.engine.arrays import Board, boards_of
from fibsbot.engine.engine import Engine
from fibsbot.engine.network import Network, NetworkError
from fibsbot.engine.search import SearchLimits
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play, Position
from tests.engine.toy_engines import toy_engine, write_cards, write_networks
from tests.engine.toys import some_positions, toy_network


def test_networks_of_a_folder_are_used(tmp_path: Path) -> None:
    write_networks(tmp_path)
    engine = Engine.load(tmp_path, tables=False)
    assert "toys, no bear-off tables" == engine.name
    positions = some_positions(5, 1)
    assert (5, 6) == engine.evaluate(positions).shape
    assert (engine.evaluate(positions) == engine.evaluate(boards_of(positions))).all()


def drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def write(name: str, text: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).write_bytes(text)

    return damage


def other_shape(folder: Path) -> None:
    Network.new((4,), 1, 7).save(folder / "contact.npz")
    write_cards(folder)


def deep_pruner(folder: Path) -> None:
    Network.new((4, 4), 1, 196).save(folder / "pruner.npz")
    write_cards(folder)


def no_network(folder: Path) -> None:
    (folder / "pruner.npz").write_bytes(b"nothing")
    write_cards(folder)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (drop("cards.toml"), "expected networks with their cards"),
        (drop("contact.npz"), "expected a network in"),
        (write("contact.npz", b"x"), "the file is damaged"),
        (write("cards.toml", b"name = ["), "expected TOML"),
        (write("cards.toml", b"\xff"), "expected TOML"),
        (write("cards.toml", b"name = " + b"[" * 10_000), "nested too deep"),
        (write("cards.toml", b"name = " + b"1" * 5_000), "expected TOML"),
        (write("cards.toml", b"contact = 3"), "expected [contact] with the sha256"),
        (other_shape, "expected a network of 260 inputs"),
        (deep_pruner, "expected one hidden layer"),
        (no_network, "pruner.npz: expected"),
    ],
)
def test_networks_that_are_missing_or_damaged_are_reported_in_a_line(
    tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    write_networks(tmp_path)
    damage(tmp_path)
    with pytest.raises(NetworkError) as caught:
        Engine.load(tmp_path, tables=False)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_half_precision_is_enough(tmp_path: Path) -> None:
    write_networks(tmp_path)
    toy_network().save(tmp_path / "contact.npz", np.float16)
    write_cards(tmp_path)
    whole, half = toy_engine(), Engine.load(tmp_path, tables=False)
    positions = some_positions(50, 2)
    assert whole.evaluate(positions) == pytest.approx(half.evaluate(positions), abs=0.01)


def test_threads_do_not_disturb_each_other() -> None:
    engine = toy_engine()
    states = [MatchState(position, phase=Phase.MOVE, dice=(3, 1)) for position in some_positions(12, 3)]

    def equities(state: MatchState) -> list[float]:
        return [ranked.equity for ranked in engine.rank(state, limits=SearchLimits(1)).plays]

    alone = [equities(state) for state in states]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(equities, states * 3))
    for found, expected in zip(together, alone * 3, strict=True):
        assert expected == pytest.approx(found, abs=1e-5)


def test_what_is_asked_without_dice_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a state with dice"):
        toy_engine().rank(MatchState(Position.start()))


def test_positions_that_cannot_be_are_refused() -> None:
    crowded = Position((0, 16, *[0] * 23, 0))
    with pytest.raises(ValueError, match="expected a possible position, got one with TOO_MANY_CHECKERS"):
        toy_engine().analyse_cube(MatchState(crowded))
    with pytest.raises(ValueError, match="expected a possible position"):
        toy_engine().rank(MatchState(crowded, phase=Phase.MOVE, dice=(3, 1)))


@pytest.mark.parametrize(
    ("cells", "flaw"),
    [
        ((0, 16, *[0] * 22, -2, 0), "TOO_MANY_CHECKERS"),
        ((0, 2, *[0] * 22, -16, 0), "TOO_MANY_OPPONENT_CHECKERS"),
        ((0, *[127] * 24, 0), "TOO_MANY_CHECKERS"),
        ((0, *[-128] * 24, 0), "TOO_MANY_OPPONENT_CHECKERS"),
        ((1, 2, *[0] * 22, -2, 0), "BAR_SIGN"),
        ((0, 2, *[0] * 22, -2, -1), "BAR_SIGN"),
        ((0,) * 26, "BOTH_HAVE_WON"),
    ],
)
def test_the_impossible_is_not_evaluated_either(cells: tuple[int, ...], flaw: str) -> None:
    positions = [Position.start(), Position(cells)]
    for given in (positions, boards_of(positions)):
        with pytest.raises(ValueError, match=f"expected a possible position, got one with {flaw}: "):
            toy_engine().evaluate(given)


@pytest.mark.parametrize("move", [(23, 20), (24, 20), (8, -1), (8, 9), (30, 8), (24, 12)])
def test_plays_that_cannot_be_made_are_not_ranked(move: tuple[int, int]) -> None:
    """Of a move without a checker the engine had ranked a position in which the opponent had one more."""
    state = MatchState(Position.from_sides([0] * 7 + [8] + [0] * 16 + [0], [0] * 12 + [2] + [0] * 12), dice=(3, 1))
    with pytest.raises(ValueError, match="expected plays that can be made, got "):
        toy_engine().rank(state, [Play.of((8, 7)), Play.of(move)])
    assert toy_engine().rank(state, [Play.of((8, 7), (7, 4))], SearchLimits(0)).best.position.points[4] == 1


@pytest.mark.parametrize(("cube", "length"), [(0, 0), (-2, 5), (1, -1)])
def test_a_cube_or_a_length_that_does_not_exist_is_refused(cube: int, length: int) -> None:
    with pytest.raises(ValueError, match=f"expected a cube from 1 and a length from 0, got {cube} and {length}"):
        toy_engine().analyse_cube(MatchState(Position.start(), cube=cube, length=length))


@pytest.mark.parametrize("boards", [np.zeros((1, 26), np.int64), np.zeros((1, 25), np.int8), np.zeros(26, np.int8)])
def test_what_are_no_boards_is_refused(boards: Board) -> None:
    with pytest.raises(ValueError, match="expected boards of shape"):
        toy_engine().evaluate(boards)


def test_a_dance_is_ranked_as_the_only_play() -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)
    ranking = toy_engine().rank(MatchState(closed, phase=Phase.MOVE, dice=(6, 5)), limits=SearchLimits(1))
    assert [Play()] == [ranked.play for ranked in ranking.plays]


def test_warming_up_compiles_what_decisions_need() -> None:
    engine = toy_engine()
    engine.warm_up()
    assert engine.searcher.lookahead.evaluations > 0
