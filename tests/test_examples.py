"""Every example runs as its first lines say."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp.test_utils import TestClient, TestServer

import fibs_protocol
import fibsbot as bg
from fibs_protocol import commands, messages
from fibs_protocol.words import YOU, Toggle
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load
from fibsbot.strategies.ubgi import UbgiStrategy
from fibsbot.testing import check_strategy, strategy_faults
from tests.patience import SOON

ROOT: Final = Path(__file__).parent.parent
EXAMPLES: Final = ROOT / "examples"


def names_of(file: str) -> dict[str, Any]:
    """Run an example as a module; return what it defines."""
    return runpy.run_path(str(EXAMPLES / file))


def test_every_example_is_on_the_page() -> None:
    listed = re.findall(r"^\| \[([\w.]+)\]\(\1\)", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted([*listed, "README.md"]) == sorted(path.name for path in EXAMPLES.glob("*.*"))


@pytest.mark.parametrize("name", ["lookout.py:Lookout", "pip_evaluator.py:PipEvaluator"])
def test_the_strategies_have_no_faults(name: str) -> None:
    check_strategy(load(f"{EXAMPLES}/{name}"), games=[])


def test_the_evaluator_prefers_hitting() -> None:
    board = bg.Board.from_id("XGID=-b----E-C---eE---c-e----B-:0:0:1:61:0:0:0:0:10")
    ranked = bg.rank(board, evaluator=f"{EXAMPLES}/pip_evaluator.py:PipEvaluator")
    assert ranked[0].loss == 0 <= ranked[-1].loss


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perl") is None, reason="Perl is not installed")
def test_the_engine_in_perl_makes_legal_plays() -> None:
    faults = strategy_faults(UbgiStrategy(f"perl {EXAMPLES / 'engine.pl'}"), games=[])
    assert faults == ()


async def test_the_client_lists_who_is_ready() -> None:
    ready_players = names_of("client.py")["ready_players"]
    async with Server() as server:
        for name in ("marvin", "ford"):
            await server.register(name, "secret-42")
        async with fibs_protocol.connect("127.0.0.1", "ford", "secret-42", port=server.port) as ford:
            ford.send(commands.ToggleCommand(Toggle.READY))
            async for message in ford:
                if isinstance(message, messages.WhoInfo) and message.ready:
                    break
            async with asyncio.timeout(SOON):
                found = await ready_players("127.0.0.1", "marvin", "secret-42", server.port)
    assert found == [("ford", (1500.0, 0))]


@pytest.mark.slow
async def test_the_players_play_a_match() -> None:
    play = names_of("player.py")["play"]
    async with Server(seed=4) as server, asyncio.timeout(SOON):
        for name in ("marvin", "ford", "zaphod"):
            await server.register(name, "secret-42")
        ford, zaphod = (
            fibs_protocol.connect("127.0.0.1", name, "secret-42", port=server.port) for name in ("ford", "zaphod")
        )
        waiting = asyncio.create_task(play(ford, length=3))
        async with fibs_protocol.connect("127.0.0.1", "marvin", "secret-42", port=server.port) as marvin:
            async for message in marvin:  # until ford can be invited
                if isinstance(message, messages.WhoInfo) and message.name == "ford" and message.ready:
                    break
        ends = await play(zaphod, "ford", 3), await waiting
    assert {YOU} < {end.winner for end in ends}
    assert min(end.winner_points for end in ends) >= 3


async def test_the_web_service_validates_and_draws() -> None:
    async with TestClient(TestServer(names_of("web_service.py")["app"])) as client:
        start = {"id": "4HPwATDgc/ABMA", "dice": "31"}
        legal = await (await client.get("/play", params={**start, "play": "8/5 6/5"})).json()
        assert (legal["legal"], bg.Board.from_id(legal["id"]).pips) == (16, (167, 163))
        for wrong in ({**start, "play": "24/18"}, {"id": "nonsense"}, {**start, "dice": "7x"}, {}):
            answer = await client.get("/play", params=wrong)
            assert answer.status == 400
            assert "\n" not in (await answer.json())["error"]
        assert "<svg" in await (await client.get("/board.svg", params=start)).text()


def test_the_notebook_runs_from_the_first_cell_to_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "tests/data/formats/mat/one_point.mat", tmp_path)
    monkeypatch.setenv("LOGS", str(tmp_path))
    cells = json.loads((EXAMPLES / "month_of_logs.ipynb").read_text())["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)  # noqa: S102 - as a notebook does
    assert names["worst"].loss > 0
    assert "middle game" in capsys.readouterr().out


@pytest.mark.slow
def test_the_recipe_learns_a_network(tmp_path: Path) -> None:
    call = "runpy.run_path(sys.argv[1])['train'](pathlib.Path(), 200)"
    script = f"import pathlib, runpy, sys; print({call})"
    done = subprocess.run(
        [sys.executable, "-c", script, str(EXAMPLES / "train_misere.py")],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "misere.npz"
    assert (tmp_path / "misere.npz").exists()
