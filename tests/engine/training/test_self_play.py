"""Games to learn from: what follows from their course is what a rollout along them would say."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of, cubeless_equity, position_of
from fibsbot.engine.network_evaluator import is_known
from fibsbot.engine.pruner import new_pruner_buffers
from fibsbot.engine.training.labels import (
    FIVE,
    GAMES_AT_ONCE,
    Labels,
    corrected,
    most_disputed,
    one_ply,
    play_games,
    targets,
)
from fibsbot.engine.training.random_positions import MOST_TEMPERATURE, Variety
from fibsbot.match import ROLLS
from fibsbot.position import Position
from tests.engine.toys import left_by, toy_teacher

pytestmark = pytest.mark.slow

TAME = Variety(wild=0, random=0, early=0)
COUNT = 40 * GAMES_AT_ONCE
TEACHER = toy_teacher(TAME)


@pytest.fixture(scope="module")
def tame() -> Labels:
    """Play games without any play at random."""
    return play_games(TEACHER, COUNT, 7)


def test_a_label_is_the_one_roll_lookahead_value(tame: Labels) -> None:
    assert (COUNT, 26) == tame.boards.shape
    assert not is_known(tame.boards, TEACHER.columns).any()
    some = slice(0, 200)
    ahead = one_ply(TEACHER.evaluator, new_pruner_buffers(TEACHER.pruner), tame.boards[some], TEACHER.filter).outcomes
    now = TEACHER.evaluator.evaluate(tame.boards[some])
    assert ahead[:, FIVE] == pytest.approx(tame.ahead[some], abs=1e-5)
    assert (ahead - now)[:, FIVE] == pytest.approx(tame.missed[some], abs=1e-5)


def test_who_follows_is_what_a_roll_leads_to(tame: Labels) -> None:
    games = 0
    for row in range(100):
        position = position_of(tame.boards[row])
        if tame.followed[row]:
            following = position_of(tame.boards[row + 1])
            assert following in {Position(it).swapped() for roll in ROLLS for it in left_by(position, roll)}
        elif row + 1 < COUNT:
            games += 1
            assert Position.start() == position_of(tame.boards[row + 1]), "the game has ended, or the lane"
    assert games > 1


def test_who_strays_is_not_followed() -> None:
    wild = play_games(toy_teacher(Variety(wild=1, random=1, early=0)), 640, 3)
    assert not wild.followed.any()
    early = play_games(toy_teacher(Variety(wild=0, random=0, early=1)), 640, 3)
    assert 0 < early.followed.mean() < 1


@pytest.mark.slow
def test_who_is_outplayed_plays_at_random_every_second_turn_at_the_beginning() -> None:
    labels = play_games(toy_teacher(Variety(wild=0, random=0, early=0, outplayed=1)), GAMES_AT_ONCE * 60, 3)
    starts = np.flatnonzero((labels.boards == boards_of([Position.start()])[0]).all(axis=1))
    strays = [np.flatnonzero(~labels.followed[start : start + 25]) for start in starts if start % 60 <= 30]
    assert any(len(turns) > 5 for turns in strays)
    for turns in strays:
        assert turns[0] < 2
        assert all(turn - turns[0] == 2 * place for place, turn in enumerate(turns))


def test_a_side_that_plays_by_a_softmax_often_makes_the_best_play_and_seldom_a_bad_one() -> None:
    soft = play_games(toy_teacher(Variety(wild=0, random=0, early=0, soft=1)), COUNT, 7)
    assert 0.1 < soft.followed.mean() < 0.95
    strays = lost = 0.0
    teacher = toy_teacher(TAME)
    for row in range(300):
        position = position_of(soft.boards[row])
        following = position_of(soft.boards[row + 1]).swapped()
        rolls = [roll for roll in ROLLS if following in {Position(it) for it in left_by(position, roll)}]
        if not soft.followed[row] and rolls and Position.start() != following.swapped():
            left = boards_of([Position(it).swapped() for it in left_by(position, rolls[0])])
            equities = -cubeless_equity(teacher.evaluator.evaluate(left))
            played = -cubeless_equity(teacher.evaluator.evaluate(boards_of([following.swapped()])))
            strays, lost = strays + 1, lost + float(equities.max() - played[0])
    assert strays > 10
    assert lost / strays < MOST_TEMPERATURE


def test_disputed_games_begin_with_disputed_positions_and_end_soon() -> None:
    teacher = toy_teacher(Variety(wild=0, random=0, early=0, disputed=1))
    labels = play_games(teacher, GAMES_AT_ONCE * 40, 3)
    disputed = {board.tobytes() for board in teacher.disputed}
    length = 0
    for board, followed in zip(labels.boards, labels.followed, strict=True):
        if length == 0:
            assert board.tobytes() in disputed
        length = length + 1 if followed else 0
        assert length < 16


def test_the_most_missed_are_those_with_the_largest_errors(tame: Labels) -> None:
    chosen = most_disputed(tame, 10)
    errors = np.abs(tame.missed @ np.array([2, 1, 1, -1, -1]))
    tenth = np.sort(errors)[-10]
    assert (10, 26) == chosen.shape
    large = {board.tobytes() for board in tame.boards[errors >= tenth]}
    assert {board.tobytes() for board in chosen} <= large


def test_the_seed_decides_which() -> None:
    one, same, other = (play_games(TEACHER, 300, seed) for seed in (5, 5, 6))
    for column in ("boards", "ahead", "missed", "followed"):
        assert np.array_equal(getattr(one, column), getattr(same, column))
    assert not np.array_equal(one.boards, other.boards)
    assert all(0 == len(part) for part in play_games(TEACHER, 0, 5))
    assert 7 == len(play_games(TEACHER, 7, 5).boards)


def test_without_a_trace_a_target_is_one_roll_ahead(tame: Labels) -> None:
    assert np.array_equal(tame.ahead, targets(tame, 0))


def test_a_trace_adds_what_was_missed_later_seen_by_the_same_side() -> None:
    boards = boards_of([Position.start()] * 3)
    ahead = np.array([[0.5, 0.2, 0.1, 0.3, 0.05]] * 3, np.float32)
    missed = np.array([[0, 0, 0, 0, 0], [0.1, 0.02, 0.03, -0.04, -0.05], [-0.2, -0.1, 0, 0, 0]], np.float32)
    half = targets(Labels(boards, ahead, missed, np.array([True, True, False])), 0.5)
    last = [0.5, 0.2, 0.1, 0.3, 0.05]
    middle = [0.5 + 0.1, 0.2, 0.1, 0.3 - 0.05, 0.05]
    first = [0.5 - 0.5 * 0.2, 0.2 + 0.5 * (-0.04 - 0.05), 0.1 + 0.5 * -0.05, 0.3 + 0.5 * 0.02, 0.05 + 0.5 * 0.03]
    assert [first, middle, last] == [pytest.approx(row) for row in half.tolist()]
    apart = targets(Labels(boards, ahead, missed, np.array([False, True, False])), 0.5)
    assert apart[0].tolist() == pytest.approx(ahead[0].tolist())


def test_with_a_whole_trace_targets_are_right_on_average(tame: Labels) -> None:
    """Whatever a network says: where games have ended, what it missed adds up to how they ended, the luck taken out."""
    ends = np.flatnonzero(~tame.followed)
    whole, none = targets(tame, 1), targets(tame, 0)
    rows = np.arange(ends[0] + 1)
    signs = np.where((ends[0] - rows) % 2 == 0, 1, -1)
    later = np.cumsum((signs * tame.missed[rows, 0])[::-1])[::-1]
    expected = none[rows, 0] + signs * (later - signs * tame.missed[rows, 0])
    assert whole[rows, 0] == pytest.approx(expected, abs=1e-4)


def test_labels_corrected_by_the_network_that_made_them_stay_as_they_are(tame: Labels) -> None:
    chances = tame.ahead - tame.missed
    same = corrected(tame, chances, chances)
    assert same.ahead == pytest.approx(tame.ahead)
    assert same.missed == pytest.approx(tame.missed)


def test_with_a_whole_trace_it_does_not_matter_which_network_corrects(tame: Labels) -> None:
    before = tame.ahead - tame.missed
    now = np.random.default_rng(1).random(before.shape, np.float32)
    other = corrected(tame, before, now)
    assert targets(other, 1.0) == pytest.approx(targets(tame, 1.0), abs=1e-4)
    assert targets(other, 0.5) != pytest.approx(targets(tame, 0.5), abs=1e-2)


def test_the_next_position_of_a_corrected_label_is_seen_by_the_other_side() -> None:
    zeros = np.zeros((3, 5), np.float32)
    followed = np.array([True, False, False])
    labels = Labels(np.zeros((3, 26), np.int8), zeros, zeros, followed)
    now = zeros.copy()
    now[1] = [0.5, 0.25, 0.125, 0.0625, 0.03125]
    found = corrected(labels, zeros, now)
    assert [-0.5, 0.0625, 0.03125, 0.25, 0.125] == found.ahead[0].tolist()
    assert [[0] * 5] * 2 == found.ahead[1:].tolist()
    assert (-now[1:]).tolist() == found.missed[1:].tolist()
