"""The strategy `engine`, with an untrained network: it answers all questions by the engine's values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from fibsbot.engine.arrays import Boards, Outcomes
from fibsbot.engine.engine import Engine, Networks, load_networks
from fibsbot.engine.search import SearchLimits
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import Evaluator, Opponent, Strategy
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.loader import StrategyError, check, load
from tests.engine.toy_engines import pip_engine, toy_engine, write_networks
from tests.engine.toys import some_positions, toy_pruner

RACE = Position.from_sides(own=[2, 2, 2, 2, 2, 2] + [0] * 19, opponent=[3, 3, 3, 0, 0, 0] + [0] * 19)


CLOSED_OUT = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)


@pytest.fixture
def strategy() -> EngineStrategy:
    return EngineStrategy("1", engine=pip_engine())


def test_it_is_a_strategy_and_an_evaluator_that_answers_every_question(strategy: EngineStrategy) -> None:
    assert isinstance(strategy, Strategy)
    assert isinstance(strategy, Evaluator)
    assert () == check(strategy)
    assert () == check(EngineStrategy("0", engine=toy_engine()))
    strategy.close()


def test_missing_networks_are_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_from(folder: Path = tmp_path) -> Networks:
        return load_networks(folder)

    monkeypatch.setattr(Engine, "load", load_from)
    with pytest.raises(StrategyError, match="expected networks with their cards") as caught:
        load("engine")
    assert "\n" not in str(caught.value)


def test_it_plays_by_the_networks_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_networks(tmp_path)
    monkeypatch.setattr("fibsbot.engine.engine.load_tables", lambda **_: None)
    strategy = load(f"engine:0,networks={tmp_path}")
    state = MatchState(Position.start())
    expected = toy_engine().analyse_cube(state, SearchLimits(0)).equity
    assert expected == pytest.approx(strategy.offer_double(state).equity or 0.0, abs=1e-4)


def test_it_plays_by_the_bundled_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_networks(tmp_path)
    engine = Engine.load(tmp_path, tables=False)
    monkeypatch.setattr(Engine, "load", lambda: engine)
    strategy = load("engine:0")
    assert "engine:0" == strategy.name
    state = MatchState(Position.start(), phase=Phase.MOVE, dice=(6, 5))
    plays = legal_plays(state.position, (6, 5))
    best = engine.rank(state, plays, SearchLimits(0)).best
    assert (best.play, best.equity) == (
        strategy.choose_play(state, plays).play,
        strategy.choose_play(state, plays).equity,
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", EngineOptions(2, 2)),
        ("0", EngineOptions(0, 0)),
        ("plies=3,cube=1", EngineOptions(3, 1)),
        ("chequer=1, cube=0", EngineOptions(1, 0)),
        ("time=1.5", EngineOptions(4, 4, 1.5)),
        ("2,time=0.25", EngineOptions(2, 2, 0.25)),
        ("rollout", EngineOptions(2, 2, rollout=True)),
        ("1,rollout,time=3", EngineOptions(1, 1, 3.0, rollout=True)),
        ("rollout,trials=72,seed=5,threads=2", EngineOptions(rollout=True, trials=72, seed=5, threads=2)),
        ("1,networks=/some where", EngineOptions(1, 1, None, Path("/some where"))),
    ],
)
def test_options_set_plies_and_time(text: str, options: EngineOptions) -> None:
    assert options == EngineOptions.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "x",
        "rollout,trials=0",
        "rollout,trials=1000001",
        "time=0",
        "time=x",
        "plies=9",
        "deep=2",
        "time=1e3",
        "networks=",
        "=",
        "٣",
    ],
)
def test_invalid_options_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected plies from 0 to 4"):
        EngineStrategy(text)


@pytest.mark.parametrize("text", ["trials=72", "2,threads=2"])
def test_options_of_rollouts_need_rollouts(text: str) -> None:
    with pytest.raises(ValueError, match="with rollout, got it without"):
        EngineStrategy(text)


def test_plays_are_valued_as_they_are_chosen(strategy: EngineStrategy) -> None:
    for position in some_positions(10, 6):
        state = MatchState(position, length=5, phase=Phase.MOVE, dice=(4, 2))
        plays = legal_plays(position, (4, 2))
        if len(plays) < 2:
            continue
        values = strategy.value_plays(state, plays)
        chosen = strategy.choose_play(state, plays)
        assert max(values) == pytest.approx(values[plays.index(chosen.play)], abs=1e-6)


def test_the_play_made_and_the_best_are_compared_at_the_same_depth(strategy: EngineStrategy) -> None:
    (position,) = some_positions(1, 6)
    state = MatchState(position, length=5, phase=Phase.MOVE, dice=(4, 2))
    plays = legal_plays(position, (4, 2))
    worst = min(zip(plays, strategy.value_plays(state, plays), strict=True), key=lambda it: it[1])[0]
    values = dict(zip(plays, strategy.compare_plays(state, plays, worst), strict=True))
    best = max(values.values(), key=lambda it: it.equity)
    assert best.plies == values[worst].plies == 1
    for value in values.values():
        assert value.equity <= best.equity
        assert value.chances is not None
        assert 1 == pytest.approx(value.chances[0] + value.chances[3], abs=1e-5)


def test_cubes_are_valued_as_they_are_turned(strategy: EngineStrategy) -> None:
    for position in some_positions(10, 7):
        state = MatchState(position, length=5)
        values = strategy.value_cube(state)
        offer = strategy.offer_double(state)
        assert values.best == pytest.approx(offer.equity or 0.0, abs=1e-9)
        assert (values.double >= values.no_double) == (offer.action is CubeAction.DOUBLE)
        assert values.best == pytest.approx(strategy.value(state), abs=1e-9)
        value = strategy.value_position(state)
        assert (values.plies, values.chances) == (value.plies, value.chances)
        assert values.best == pytest.approx(value.equity, abs=1e-9)
        response = strategy.answer_double(evolve(state.swapped(), phase=Phase.DOUBLED))
        assert (values.double_take > values.double_pass) == (response.action is CubeAction.PASS)
        assert -values.double == pytest.approx(response.equity or 0.0, abs=1e-9)


def test_a_bad_double_is_beavered_if_that_is_allowed(strategy: EngineStrategy) -> None:
    state = MatchState(RACE, phase=Phase.DOUBLED, redoubles=1).swapped()
    assert CubeAction.BEAVER is strategy.answer_double(state).action
    taken = strategy.answer_double(evolve(state, redoubles=0))
    assert CubeAction.TAKE is taken.action
    assert strategy.answer_double(state).equity == pytest.approx(2 * (taken.equity or 0.0))


def test_a_beaver_of_our_double_is_answered_as_the_player_on_roll(strategy: EngineStrategy) -> None:
    """We have doubled, to 2, and were beavered: the cube goes to 4 if we take, and is the opponent's."""
    lost = MatchState(RACE, phase=Phase.DOUBLED, cube=2, owner=Owner.PLAYER)
    reading = pip_engine().analyse_cube(evolve(lost, phase=Phase.ROLL), SearchLimits(1))
    answer = strategy.answer_double(lost)
    assert max(reading.double_take, -1.0) == pytest.approx(answer.equity or 0.0, abs=1e-6)


def test_a_first_double_of_a_cube_raised_automatically_is_no_beaver(strategy: EngineStrategy) -> None:
    doubled = MatchState(RACE, phase=Phase.DOUBLED, cube=2, redoubles=1).swapped()
    first = strategy.answer_double(evolve(doubled, redoubled=False))
    assert first == strategy.answer_double(evolve(doubled, cube=1))
    assert first != strategy.answer_double(evolve(doubled, redoubled=True))
    assert strategy.answer_double(evolve(doubled, redoubled=True)) == strategy.answer_double(doubled)


class Decided:
    """Holds games to be won by who has fewer checkers left, with a gammon where the other has not begun."""

    name = "decided"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return chances that are 0 or 1, or even where both have as many checkers."""
        own, theirs = np.maximum(boards, 0).sum(axis=1), np.maximum(-boards, 0).sum(axis=1)
        win = np.sign(theirs - own) / 2 + 0.5
        lose = 1 - win
        return np.stack([win, win * (theirs == 15), 0 * win, lose, lose * (own == 15), 0 * win], 1).astype(np.float32)


CLOSED_OUT = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)


@pytest.fixture
def certain() -> EngineStrategy:
    return EngineStrategy("1", engine=Engine(Decided(), toy_pruner()))


def test_only_certainly_lost_games_are_resigned(certain: EngineStrategy) -> None:
    gone = Position.from_sides(own=[0, 0, 0, 0, 0, 14] + [0] * 19, opponent=[1] + [0] * 24)
    assert 1 == certain.resign(MatchState(gone))
    gammon = Position.from_sides(own=[0] * 12 + [15] + [0] * 12, opponent=[1] + [0] * 24)
    assert 2 == certain.resign(MatchState(gammon, length=7))
    assert 1 == certain.resign(MatchState(gammon, length=7, score=(0, 6), post_crawford=True))
    assert 0 == certain.resign(MatchState(Position.start()))


def test_a_resignation_is_accepted_if_nothing_more_can_be_won(certain: EngineStrategy) -> None:
    won = Position.from_sides(own=[1] + [0] * 24, opponent=[0] * 12 + [15] + [0] * 12)
    state = MatchState(won, phase=Phase.RESIGNED, length=7, owner=Owner.OPPONENT, cube=2)
    assert [False, True, True] == [certain.accept_resignation(evolve(state, resignation=it)) for it in (1, 2, 3)]


def test_chances_after_a_game_are_those_of_the_table(strategy: EngineStrategy) -> None:
    state = MatchState(Position.start(), length=3)
    assert 1 == strategy.match_chance(state, 4)
    assert 0 == strategy.match_chance(state, -3)
    assert 0.5 < strategy.match_chance(state, 1) == pytest.approx(1 - strategy.match_chance(state, -1))


def test_every_invitation_is_accepted(strategy: EngineStrategy) -> None:
    assert None is strategy.accept_invitation(Opponent("ford"), 7)


@pytest.mark.parametrize("plies", ["0", "1"])
def test_rolls_have_the_values_of_their_best_plays(plies: str) -> None:
    strategy = EngineStrategy(plies, engine=toy_engine())
    positions = some_positions(3 if plies == "0" else 1, 4)
    for position in positions if plies == "1" else [*positions, Position.start(), RACE, CLOSED_OUT]:
        state = MatchState(position, length=5, score=(2, 3), phase=Phase.MOVE)
        best = []
        for high in range(1, 7):
            for low in range(1, high + 1):
                thrown = evolve(state, dice=(high, low))
                plays = legal_plays(position, (high, low)) or (Play(),)
                best.append(max(strategy.value_plays(thrown, plays)))
        assert best == strategy.value_rolls(state)
