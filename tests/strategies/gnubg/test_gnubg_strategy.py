"""gnubg as a child process: it gets exactly the decision that is asked."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.notation import format_play
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.child_process.engine_process import EngineError
from fibsbot.strategies.gnubg import GnubgStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.loader import StrategyError, check, load
from tests.engines import descendants, executable, gone, play_whole_matches
from tests.examples import examples
from tests.formats.gnubg import GNUBG, requires_gnubg
from tests.hypothesis_strategies import match_states
from tests.patience import SOON

pytestmark = pytest.mark.slow

START: Final = MatchState(Position.start(), length=5)


@requires_gnubg
def test_it_passes_the_check(gnubg: GnubgStrategy) -> None:
    assert () == check(gnubg)


@requires_gnubg
def test_it_needs_no_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "missing" / "home"))
    strategy = GnubgStrategy("0")
    assert CubeAction.ROLL is strategy.offer_double(START).action
    assert abs(strategy.value(START)) < 0.5
    strategy.close()


@requires_gnubg
@pytest.mark.parametrize(
    ("dice", "play"), [((3, 1), "8/5 6/5"), ((4, 2), "8/4 6/4"), ((6, 1), "13/7 8/7"), ((5, 3), "8/3 6/3")]
)
def test_it_makes_the_standard_opening_plays(gnubg: GnubgStrategy, dice: tuple[int, int], play: str) -> None:
    state = evolve(START, phase=Phase.MOVE, dice=dice)
    assert play == format_play(gnubg.choose_play(state, legal_plays(state.position, dice)).play, state.position)


@requires_gnubg
@examples(30)
@given(match_states())
def test_every_decision_gets_a_possible_answer(gnubg: GnubgStrategy, state: MatchState) -> None:
    match state.phase:
        case Phase.MOVE:
            assert state.dice is not None
            plays = legal_plays(state.position, state.dice)
            assert not plays or gnubg.choose_play(state, plays).play in plays
        case Phase.ROLL:
            assert gnubg.offer_double(state).action in {CubeAction.ROLL, CubeAction.DOUBLE}
        case Phase.DOUBLED:
            allowed = {CubeAction.TAKE, CubeAction.PASS} | ({CubeAction.BEAVER} if state.redoubles else set())
            assert gnubg.answer_double(state).action in allowed
        case Phase.RESIGNED:
            assert gnubg.accept_resignation(state) in {True, False}


def courses(count: int) -> Iterator[MatchState]:
    """Yield typical states before a roll, at all kinds of scores; doubling is legal in all of them."""
    heuristic, chance = HeuristicStrategy(), random.Random(3)
    position = Position.start()
    while count:
        length = chance.choice([0, 3, 5, 7, 9])
        score = (chance.randrange(length), chance.randrange(length)) if length else (0, 0)
        cube = chance.choice([1, 1, 2])
        state = MatchState(
            position,
            length=length,
            score=score,
            cube=cube,
            owner=Owner.CENTRED if cube == 1 else Owner.PLAYER,
            post_crawford=length - 1 in score,
            jacoby=not length and chance.random() < 0.5,
        )
        if state.may_double:
            yield state
            count -= 1
        dice = (chance.randint(1, 6), chance.randint(1, 6))
        moving = evolve(state, phase=Phase.MOVE, dice=dice)
        if plays := legal_plays(position, dice):
            wild = chance.random() < 0.3
            play = chance.choice(plays) if wild else heuristic.choose_play(moving, plays).play
            position = position.play(play)
        position = Position.start() if position.over else position.swapped()


REFERENCE: Final = """
import json
import gnubg
told = []
gnubg.command("set beavers 0")
for asked in json.load(open("asked.json")):
    cube = gnubg.cubeinfo(asked["cube"], asked["owner"], 1, asked["length"], asked["scores"], 0)
    cube["jacoby"] = asked["jacoby"]
    context = dict(cubeful=1, plies=0, deterministic=1, noise=0.0, prune=0)
    board = asked["board"]
    values = gnubg.cfevaluate(board, cube, context)[:4]
    moves = gnubg.findbestmove(board, cube, context, asked["dice"])
    told.append([values, moves])
json.dump(told, open("told.json", "w"))
"""


def witnessed(states: Sequence[MatchState], dice: Sequence[tuple[int, int]], folder: Path) -> list[Any]:
    """Return the answers of gnubg's own Python module: values of the cube actions, and the numbers of the best move."""
    assert GNUBG is not None
    asked = []
    for state, throw in zip(states, dice, strict=True):
        points = state.position.points
        opponent = [max(-points[25 - point], 0) for point in range(1, 26)]
        asked.append(
            {
                "board": [opponent, [max(count, 0) for count in points[1:]]],
                "cube": state.cube,
                "owner": -1 if state.owner is Owner.CENTRED else 1,
                "length": state.length,
                "scores": state.score[::-1],
                "jacoby": int(state.jacoby),
                "dice": throw,
            }
        )
    (folder / "asked.json").write_text(json.dumps(asked))
    (folder / "witness.py").write_text(REFERENCE)
    run = [GNUBG, "-t", "-q", "-r", "-p", "witness.py"]
    subprocess.run(run, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SOON, check=False)
    told: list[Any] = json.loads((folder / "told.json").read_text())
    return told


@requires_gnubg
def test_it_decides_as_gnubg_does_at_every_score(gnubg: GnubgStrategy, tmp_path: Path) -> None:
    states = list(courses(300))
    asked = same = 0
    chance = random.Random(5)
    dice = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in states]
    for state, throw, ((_, wait, taken, passed), moves) in zip(
        states, dice, witnessed(states, dice, tmp_path), strict=True
    ):
        if abs(min(taken, passed) - wait) > 1e-4:
            doubles = gnubg.offer_double(state).action is CubeAction.DOUBLE
            assert (min(taken, passed) > wait) == doubles, state
        if abs(taken - passed) > 1e-4:
            takes = gnubg.answer_double(evolve(state.swapped(), phase=Phase.DOUBLED)).action is CubeAction.TAKE
            assert (taken <= passed) == takes, state
        plays = legal_plays(state.position, throw)
        if len(plays) > 1:
            best = state.position.play(Play.of(*zip(moves[::2], moves[1::2], strict=True)))
            moving = evolve(state, phase=Phase.MOVE, dice=throw)
            same += best == state.position.play(gnubg.choose_play(moving, plays).play)
            asked += 1
    assert same > 0.98 * asked  # two plays may be worth the same


@requires_gnubg
def test_a_resignation_is_answered_by_the_score(gnubg: GnubgStrategy) -> None:
    gammonish = Position((0, 3, 3, 3, 0, 0, 0, 0, 0, 0, -4, -4, -4, -3, *(0,) * 12))
    resigned = MatchState(gammonish, length=3, phase=Phase.RESIGNED, resignation=1, post_crawford=True)
    assert gnubg.accept_resignation(evolve(resigned, score=(2, 0)))
    assert not gnubg.accept_resignation(evolve(resigned, score=(0, 2)))
    assert gnubg.accept_resignation(evolve(resigned, score=(0, 2), resignation=3))


@requires_gnubg
def test_a_beaver_of_our_own_double_is_taken_unless_the_double_was_absurd(gnubg: GnubgStrategy) -> None:
    beavered = MatchState(Position.start(), cube=2, owner=Owner.PLAYER, phase=Phase.DOUBLED)
    assert CubeAction.TAKE is gnubg.answer_double(beavered).action
    lost = Position((0, *(0,) * 12, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0))
    assert CubeAction.PASS is gnubg.answer_double(evolve(beavered, board=lost)).action


@requires_gnubg
def test_a_lost_game_is_resigned(gnubg: GnubgStrategy) -> None:
    lost = Position((0, *(0,) * 12, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0))
    assert 2 == gnubg.resign(evolve(START, board=lost))
    assert 0 == gnubg.resign(START)


def engines() -> set[int]:
    """Return the gnubg processes among our descendants."""
    found = set()
    for pid in descendants():
        with contextlib.suppress(OSError):
            found |= {pid} if Path(f"/proc/{pid}/comm").read_text().strip() == "gnubg" else set()
    return found


@requires_gnubg
def test_a_match_without_a_cube_has_a_gnubg_process_of_its_own(gnubg: GnubgStrategy) -> None:
    moving = evolve(START, phase=Phase.MOVE, dice=(6, 4), length=0)
    plays = legal_plays(moving.position, (6, 4))
    assert gnubg.choose_play(moving, plays).play in plays
    before = engines()
    assert gnubg.choose_play(evolve(moving, cubeless=True), plays).play in plays
    assert len(engines() - before) <= 1
    assert 2 <= len(engines())


@requires_gnubg
def test_no_decision_is_lost_if_gnubg_is_killed_between_two() -> None:
    strategy = GnubgStrategy("0")
    others = engines()
    for _ in range(3):
        assert CubeAction.ROLL is strategy.offer_double(START).action
        (pid,) = engines() - others
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
    strategy.close()
    strategy.close()


@requires_gnubg
def test_a_gnubg_that_hangs_costs_the_deadline_and_is_replaced() -> None:
    strategy = GnubgStrategy("0")
    others = engines()
    assert CubeAction.ROLL is strategy.offer_double(START).action
    (pid,) = engines() - others
    os.kill(pid, signal.SIGSTOP)
    patient = strategy._options
    strategy._options = evolve(patient, deadline=0.7)
    began = time.monotonic()
    with pytest.raises(EngineError, match="gave no answer in time"):
        strategy.offer_double(START)
    assert 0.6 < time.monotonic() - began < patient.deadline
    strategy._options = patient
    assert gone(pid)
    assert CubeAction.ROLL is strategy.offer_double(START).action
    strategy.close()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 7", r"ended \(exit status 7\)"),
        ("echo no weights >&2; exit 1", r"ended \(exit status 1: no weights\)"),
        ("sleep 3600", "did not start in time"),
        ("yes", "more than 1048576 bytes unasked|did not start in time"),
        ("echo welcome", r"ended \(exit status 0\)"),
    ],
)
def test_another_program_costs_no_more_than_the_deadline(tmp_path: Path, script: str, reason: str) -> None:
    program = executable(tmp_path / "gnubg", f"#!/bin/sh\n{script}\n")
    deadline = 0.5 if "in time" in reason else 60
    strategy = GnubgStrategy(f"0,deadline={deadline}", program=program)
    before = descendants()
    began = time.monotonic()
    with pytest.raises(EngineError, match=reason):
        strategy.offer_double(START)
    assert time.monotonic() - began < SOON
    strategy.close()
    assert gone(*(descendants() - before))


IMPOSTOR: Final = """#!{python} -IS
import socket, sys, time
for line in sys.stdin:
    if line.startswith("external "):
        port = int(line.split(":")[1])
        break
server = socket.create_server(("127.0.0.1", port))
connection, _ = server.accept()
answers = {answers!r}
for line in connection.makefile("r"):
    answer = answers.pop(0) if answers else None
    if answer is None:
        time.sleep(3600)
    connection.sendall(answer)
"""
VERSION: Final = b"Interface: 2\nRFBF: 0\nEngine: 1.00\nSoftware: 9\n"
CHANCES: Final = b"0.5 0.1 0.0 0.1 0.0 0.3\n".replace(b".5", b".500")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([], "gave no answer in time"),
        ([b"what?\n"], "gave no answer in time"),
        ([VERSION, b"Error: syntax error\n"], "refuses the question: syntax error"),
        ([VERSION, b"0.5 0.5\n"], "expected six numbers, got '0.5 0.5'"),
        ([VERSION, CHANCES, b"Error: badly formed board\n"], "refuses the question: badly formed board"),
        ([VERSION, CHANCES, b"perhaps\n"], "expected roll or double, got 'perhaps'"),
        ([VERSION, CHANCES, b"\n"], "expected roll or double, got ''"),
        ([VERSION, CHANCES, b"x" * 100_000], "sent a line of more than 16384 bytes"),
        ([VERSION, CHANCES, b"\xff\xfe\n"], "expected roll or double"),
        ([VERSION, CHANCES, b"rol"], "gave no answer in time"),
    ],
)
def test_nonsense_on_the_socket_is_an_error(tmp_path: Path, answers: list[bytes], reason: str) -> None:
    program = executable(tmp_path / "gnubg", IMPOSTOR.format(python=sys.executable, answers=answers))
    deadline = 2 if "in time" in reason else 60
    strategy = GnubgStrategy(f"0,deadline={deadline}", program=program)
    with pytest.raises(EngineError, match=reason):
        strategy.offer_double(START)
    strategy.close()


def test_a_missing_gnubg_is_reported() -> None:
    with pytest.raises(StrategyError, match="expected plies from 0 to 3"):
        load("gnubg:fast")
    with pytest.raises(FileNotFoundError, match="there is no program called 'no-gnubg': is GNU Backgammon installed"):
        GnubgStrategy(program="no-gnubg")


@requires_gnubg
def test_it_plays_whole_matches(gnubg: GnubgStrategy) -> None:
    play_whole_matches(gnubg, 7, 4)
