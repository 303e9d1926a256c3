"""`fibsbot demo --game chouette`: a golden transcript, and players whose strategy or server fails.

`FIBSBOT_GOLDEN=write pytest tests/chouette/test_chouette_demo.py` updates the transcript; read the difference before
committing it.
"""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from rich.console import Console

from fibsbot.arena.demo import Display
from fibsbot.arena.match_board import BackgammonBoard
from fibsbot.chouette import demo
from fibsbot.chouette.demo import ChouetteError, ChouettePlayer, play_chouette
from fibsbot.chouette.rules import start, withdraw
from fibsbot.cli import UserError, main
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.server.server import Server
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy
from fibsbot.strategies.random_play import RandomStrategy
from tests.patience import SOON
from tests.server.tcp_clients import CHEAP

GOLDEN: Final = Path(__file__).parents[1] / "data" / "arena" / "chouette.golden"


@pytest.mark.slow
def test_a_chouette_of_four_is_shown_as_in_the_golden_file_and_its_log_can_be_replayed(tmp_path: Path) -> None:
    words = ["demo", "--game", "chouette", "--players", "4", "--games", "3", "--seed", "4"]
    strategies = ["--strategy", "heuristic", "--opponent-strategy", "random:2"]
    result = CliRunner().invoke(main, [*words, *strategies, "--log-dir", str(tmp_path)])
    assert 0 == result.exit_code, result.output
    text, _, last = result.output.rpartition("\n\n")
    (log,) = tmp_path.iterdir()
    assert f"The session log of alice is {log}. `fibsbot replay {log}` shows the games again.\n" == last
    replay = CliRunner().invoke(main, ["replay", "--strict", "-q", str(log)])
    assert "3 matches, 3 games, " in replay.output
    assert " 0 differences, 0 gaps" in replay.output
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.write_text(text + "\n")
    assert GOLDEN.read_text() == text + "\n"


def test_the_sheet_of_six_players_fits_into_80_columns() -> None:
    state = withdraw(start(demo.NAMES), "alice")
    screen = io.StringIO()
    Console(file=screen, width=80).print(demo.ChouetteSheet([state]).table())
    assert all(f" {name}" in screen.getvalue() for name in demo.NAMES)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--game", "chouette", "--length", "3"], "--length does not apply to --game chouette"),
        (["--players", "4"], "--players does not apply to --game backgammon"),
        (["--games", "4"], "--games does not apply to --game backgammon"),
        (["--game", "chouette", "--players", "7"], "7 is not in the range 3<=x<=6"),
        (["--game", "poker"], "expected a game such as"),
        (["--game", "plakoto", "--players", "4"], "--players does not apply to --game plakoto"),
        (["--game", "plakoto", "--no-cube"], "--cube/--no-cube does not apply to --game plakoto"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_a_line(words: list[str], error: str) -> None:
    result = CliRunner().invoke(main, ["demo", *words])
    assert 2 == result.exit_code
    assert error in (result.output or str(result.exception))


def test_a_chouette_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def fail(*_: object, **named: object) -> None:
        raise ExceptionGroup("tasks", [ChouetteError(f"no table for {named['games']} games")])

    monkeypatch.setattr(demo, "play", fail)
    words = ["demo", "--game", "chouette", "--strategy", "heuristic", "--log-dir", str(tmp_path)]
    result = CliRunner().invoke(main, words)
    assert isinstance(result.exception, SystemExit | UserError)
    assert "no table for 2 games; the session log" in (result.output or str(result.exception))


class Dropper(HeuristicStrategy):
    """A strategy that doubles when it can, passes every double, and sometimes fails."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Raise, so that the fallback has to play."""
        raise RuntimeError(f"{len(plays)} plays for {state.dice}")

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double."""
        return CubeAnswer(CubeAction.DOUBLE)

    def answer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - as above
        """Pass."""
        return CubeAnswer(CubeAction.PASS)


async def test_strategies_that_fail_cost_a_decision_and_every_game_settles_the_ledger() -> None:
    screen = io.StringIO()
    pairs = [(Dropper(), RandomStrategy(number)) for number in range(3)]
    display = Display(Console(file=screen, width=80), BackgammonBoard("alice", ""))
    sheet = await demo.play(display, pairs, games=4, seed=1, pause=0.0, log_path=None)
    assert 4 == len(sheet.games)
    for game in sheet.games:
        assert 0 == sum(game.ledger.values())
        assert game.over
    assert screen.getvalue().count(" doubles to 2.") == 4


async def test_a_command_that_the_server_refuses_ends_the_chouette_with_the_reason() -> None:
    async with Server(seed=1, limits=CHEAP) as server:
        players = [
            ChouettePlayer(name, "secret_word", HeuristicStrategy(), HeuristicStrategy(), 1, host)
            for name, host in (("alice", None), ("bob", "nobody"))
        ]
        with pytest.RaisesGroup(ChouetteError) as caught:
            await asyncio.wait_for(play_chouette(server, players), SOON)
    assert "the server refuses a command of bob" in str(caught.value.exceptions[0])


async def test_a_server_that_stops_ends_the_chouette() -> None:
    server = Server(seed=1, limits=CHEAP)
    await server.start()
    player = ChouettePlayer("alice", "secret_word", HeuristicStrategy(), HeuristicStrategy(), 1)
    await server.register(player.name, player.password)
    running = asyncio.create_task(player.run(server))
    await asyncio.wait_for(player.seated.wait(), SOON)
    await server.stop()
    with pytest.raises(ChouetteError, match="the server has closed the connection of alice"):
        await running
