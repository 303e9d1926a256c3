"""Analyses do not depend on chunks or the number of processes; an interrupt takes effect at once."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Final
from unittest.mock import create_autospec

import pytest
from attrs import evolve

from fibsbot.analysis import match_analysis
from fibsbot.analysis.luck import RollValues
from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser, analyse_match, analyse_matches, open_evaluator
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.match import ROLLS, CubeAction, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import CubeValues, PlayValue
from fibsbot.strategies.engine_strategy import EngineStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.loader import StrategyError
from fibsbot.transcript import Cube, Game, Player, Throw, Transcript, TranscriptError, walk
from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.pool import InProcessPool, LocalPool, PoolSession, WorkerPool
from tests.formats.simulated_matches import simulate

HEURISTIC: Final = HeuristicStrategy()


def opening(play: Play) -> Transcript:
    """Return a match with a single play."""
    game = Game(1, start_match(FIBS, 5), (Throw(seat=Seat.B, dice=(3, 1), play=play),))
    return Transcript((Player("anna"), Player("bert")), 5, (game,))


OPENING: Final = opening(Play.of((8, 5), (6, 5)))
ILLEGAL: Final = opening(Play.of((8, 4), (6, 5)))


def short(entries: int = 3) -> Transcript:
    """Return a match of two games, both unfinished."""
    match = simulate(11, 3, games=2)
    return evolve(match, games=tuple(evolve(game, entries=game.entries[:entries], result=None) for game in match.games))


@pytest.mark.slow
def test_an_analysis_in_chunks_equals_one_in_a_single_pass() -> None:
    match = short(2)
    unseen = evolve(match, games=())
    found = analyse_matches([match, unseen, match], "heuristic", pool=InProcessPool())
    assert [analyse_match(it, HEURISTIC) for it in (match, unseen, match)] == list(found)


def test_progress_counts_entries() -> None:
    match, ticks = short(6), []
    list(
        analyse_matches(
            [match], "heuristic", pool=InProcessPool(), luck=False, tick=lambda done, of: ticks.append((done, of))
        )
    )
    assert [(12, 12)] == ticks


@pytest.mark.parametrize("cores", [2, 4])
def test_processes_are_started_only_if_worthwhile(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(match_analysis, "usable_cores", lambda: cores)
    monkeypatch.setattr(match_analysis, "ENTRIES_PER_PROCESS", 4)
    asked: list[int] = []

    def start(pool: LocalPool, *_: object) -> AbstractContextManager[PoolSession]:
        asked.append(pool.jobs)
        raise WorkerLostError(None, 1)

    monkeypatch.setattr(LocalPool, "_open", start)
    assert isinstance(next(analyse_matches([short(3)], "heuristic", luck=False)), MatchAnalysis)
    assert asked == []
    with pytest.raises(StrategyError):
        next(analyse_matches([short(10)], "heuristic", luck=False))
    assert asked == [cores]


@pytest.mark.slow
def test_engine_analyses_do_not_depend_on_chunks() -> None:
    (game, _), evaluator = simulate(11, 3, games=2).games, EngineStrategy("1")
    steps = list(islice(walk(game), 5))
    whole = MatchAnalyser(evaluator)
    cut = [MatchAnalyser(EngineStrategy("1")).analyse_entry(step, luck=True) for step in steps]
    assert [whole.analyse_entry(step, luck=True) for step in steps] == cut


def test_an_illegal_game_fails_only_its_own_match() -> None:
    match = short()
    first, second = match.games
    wrong = evolve(second, entries=(Cube(seat=Seat.A, action=CubeAction.TAKE),))
    spoilt, other = analyse_matches(
        [evolve(match, games=(first, wrong)), match], "heuristic", pool=InProcessPool(), luck=False
    )
    assert isinstance(spoilt, TranscriptError)
    assert "game 2" in str(spoilt)
    assert isinstance(other, MatchAnalysis)


@pytest.mark.slow
def test_an_illegal_play_fails_only_its_own_match() -> None:
    first, second, third = analyse_matches([OPENING, ILLEGAL, OPENING], "heuristic", pool=InProcessPool())
    assert isinstance(first, MatchAnalysis)
    assert isinstance(second, TranscriptError)
    assert first == third == analyse_match(OPENING, HEURISTIC)


@pytest.mark.slow
def test_several_processes_give_the_same_analyses_as_one() -> None:
    matches = [*(simulate(seed, 1) for seed in range(3)), ILLEGAL]
    pools = (InProcessPool(), LocalPool(2))
    alone, together = (list(analyse_matches(iter(matches), "heuristic", luck=False, pool=pool)) for pool in pools)
    assert alone[:3] == together[:3]
    assert [str(it) for it in alone[3:]] == [str(it) for it in together[3:]]


class Infinite(HeuristicStrategy):
    """Gives every play but the first an infinite value, and the cube one that is no number."""

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:
        """Value the first play only."""
        first, *others = super().compare_plays(state, plays, made)
        return [first, *(evolve(it, equity=-math.inf) for it in others)]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Value nothing."""
        return evolve(super().value_cube(state), no_double=math.nan)


def test_an_evaluator_whose_values_are_not_finite_cannot_evaluate() -> None:
    with pytest.raises(AnalysisError, match=r"turn 1: heuristic cannot evaluate: .*expected finite values, got -inf"):
        analyse_match(OPENING, Infinite(), luck=False)
    (game,) = OPENING.games
    doubled = evolve(game, entries=(*game.entries, Cube(seat=Seat.A, action=CubeAction.DOUBLE)))
    with pytest.raises(AnalysisError, match=r"turn 2: heuristic cannot evaluate: .*expected finite values, got nan"):
        MatchAnalyser(Infinite()).analyse_entry(list(walk(doubled))[1], luck=False)


def test_a_strategy_that_is_not_an_evaluator_is_refused() -> None:
    with pytest.raises(StrategyError, match="'random' is not an evaluator"), open_evaluator("random"):
        pass
    with pytest.raises(StrategyError, match="'random' is not an evaluator"):
        next(analyse_matches([OPENING], "random"))


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, body: str) -> None:
    """Install an evaluator in a package on the path, where worker processes find it, too."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[fibsbot.strategies]\n{name} = {name}:Judge\n")
    (folder / f"{name}.py").write_text(
        "import os, pathlib, time\n"
        "from fibsbot.strategies.heuristic import HeuristicStrategy\n"
        "class Judge(HeuristicStrategy):\n"
        "    def value_plays(self, state, plays):\n"
        f"        {body}\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


@pytest.mark.slow
def test_an_evaluator_that_is_another_program_is_refused_on_other_machines() -> None:
    pool = create_autospec(WorkerPool, is_local=False)
    with pytest.raises(StrategyError, match="'gnubg' works on this machine only, without --scheduler"):
        next(analyse_matches([], "gnubg", pool=pool))


@pytest.mark.slow
def test_an_evaluator_that_ends_its_process_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, "fatal", "os._exit(9)")
    with pytest.raises(StrategyError, match="a process in which 'fatal' analysed has died"):
        list(analyse_matches([OPENING] * 2, "fatal", pool=LocalPool(2)))


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_the_evaluator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The evaluator would take a thousand seconds."""
    begun = tmp_path / "begun"
    install(monkeypatch, tmp_path, "pensive", f"pathlib.Path({str(begun)!r}).touch(); time.sleep(1000)")

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        list(analyse_matches([OPENING] * 2, "pensive", pool=LocalPool(2)))
    assert [] == multiprocessing.active_children()


class InfiniteRolls(HeuristicStrategy):
    """Gives one roll an infinite value, of all rolls together."""

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return values of which the first is infinite."""
        assert state.dice is None
        return [float("inf"), *[0.0] * (len(ROLLS) - 1)]


def test_luck_that_is_not_finite_is_no_luck() -> None:
    state = MatchState(Position.start(), length=7, phase=Phase.MOVE, dice=(3, 1))
    with pytest.raises(ValueError, match="expected finite values, got -inf"):
        RollValues(InfiniteRolls()).luck(state, opening=False)
