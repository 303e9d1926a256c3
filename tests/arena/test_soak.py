"""Long runs of matches, and their reports of problems."""

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.arena import soak
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import PlayAnswer, Strategy
from fibsbot.strategies.random_play import RandomStrategy


class Raising(RandomStrategy):
    """A strategy that never finds a play."""

    def choose_play(self, state: MatchState, plays: object) -> PlayAnswer:  # noqa: ARG002 - it ignores the question
        """Raise."""
        raise RuntimeError("no idea")


class Nonsense(RandomStrategy):
    """A strategy that answers with a play of another game."""

    def choose_play(self, state: MatchState, plays: object) -> PlayAnswer:  # noqa: ARG002 - it ignores the question
        """Answer nonsense."""
        return PlayAnswer(Play.of((24, 1)))


class Sleeping(RandomStrategy):
    """A slow strategy."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Sleep, then choose."""
        time.sleep(2)
        return super().choose_play(state, plays)


def played(plan: soak.SoakSettings, strategy: type[Strategy] = RandomStrategy) -> soak.SoakReport:
    """Run a soak of this strategy against a random one."""
    return asyncio.run(soak.run(plan, lambda number: (strategy(), RandomStrategy(number))))


@pytest.mark.slow
@pytest.mark.parametrize(("matches", "length", "pairs"), [(2, 1, 2), (1, 3, 1)])
def test_matches_of_any_length_are_finished_without_problems(matches: int, length: int, pairs: int) -> None:
    report = played(soak.SoakSettings(matches, length, seed=7, pairs=pairs))
    assert report.clean, report.as_dict()
    assert matches == report.finished
    assert report.boards > 30 * matches


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [Raising, Nonsense])
def test_a_bad_strategy_loses_decisions_but_no_match(strategy: type[Strategy]) -> None:
    report = played(soak.SoakSettings(1, 1, seed=3), strategy)
    assert (1, 0, 0, 0) == (report.finished, report.stuck, report.refusals, report.differences)
    assert 0 < report.fallbacks
    assert not report.clean


def test_a_stuck_pair_is_reported() -> None:
    report = played(soak.SoakSettings(1, 1, seed=1, stall=0.2), Sleeping)
    assert (0, 1) == (report.finished, report.stuck)
    assert "nobody has made a play for" in report.examples[-1]


@pytest.mark.slow
def test_each_pair_leaves_two_logs(tmp_path: Path) -> None:
    played(soak.SoakSettings(2, 1, seed=4, pairs=2, log_dir=tmp_path))
    assert ["bot_a.jsonl", "bot_b.jsonl", "foe_a.jsonl", "foe_b.jsonl"] == sorted(
        path.name for path in tmp_path.iterdir()
    )


@pytest.mark.slow
def test_the_command_prints_one_json_object_and_its_status_is_0_without_problems() -> None:
    result = CliRunner().invoke(main, ["soak", "--matches", "1", "--length", "1", "--strategy", "random", "--json"])
    report = json.loads(result.stdout)
    assert (0, True, 1) == (result.exit_code, report["clean"], report["finished"])


def test_a_length_that_no_bot_accepts_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["soak", "--matches", "1", "--length", "100"])
    assert EXIT_USAGE == result.exit_code
    assert "100 is not in the range 1<=x<=99" in result.stderr


def test_the_command_prints_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.cli.soak_matches.load", lambda _: Raising())
    monkeypatch.setattr("fibsbot.cli.soak_matches.first_fault", lambda *_: None)  # as if it failed in the match only
    result = CliRunner().invoke(main, ["soak", "--matches", "1", "--opponent-strategy", "random"])
    assert result.exit_code == 1
    assert "Not everything went well" in result.stdout
