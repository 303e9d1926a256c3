"""GNU Backgammon's own cube equities at 0-ply, given its own chances, are those of the model at its efficiency."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from fibsbot.engine.cube import OWNER_COLUMN, TURNED, CubeVerdict, Stakes
from fibsbot.match import MatchState, Owner
from fibsbot.notation.position_ids import parse_position_id
from tests.formats.gnubg import GNUBG, requires_gnubg
from tests.patience import SOON

POSITIONS: Final = ("4HPwATDgc/ABMA", "4LnDATDGTvCABQ", "M5vBABrgu8EDBA", "bvkEAwRudoiAQQ", "4PPgCQjg2+ABMA")
"""Positions with contact, for which gnubg takes the same efficiency throughout.

In none of them most wins are gammons: gnubg then cashes what is worth more played on, and the model doesn't.
"""
EFFICIENCY: Final = np.array([0.68, 0.68, 0.0])
MONEY: Final = (0, 0)
GAMES: Final = (
    (*MONEY, 1, False),
    (*MONEY, 2, False),
    (*MONEY, 1, True),
    (*MONEY, 2, True),
    (3, 3, 1, False),
    (4, 3, 1, False),
    (3, 2, 1, False),
    (2, 2, 2, False),
    (5, 5, 1, False),
    (7, 7, 1, False),
    (13, 9, 1, False),
    (22, 15, 2, False),
)
"""Points away of the player on roll and of the opponent, the cube (turned: the player's), the Jacoby rule.

At these scores nobody has nothing to lose at the next turn. There gnubg at 0-ply goes other ways than at more plies.
"""
_SCRIPT: Final = """
import gnubg, json
context = gnubg.evalcontext(1, 0, 1, 0, 0.0)
found = []
for position, length, score, cube, jacoby in json.load(open("asked.json")):
    gnubg.command("set jacoby " + ("on" if jacoby else "off"))
    board = gnubg.positionfromid(position)
    info = gnubg.cubeinfo(cube, -1 if cube == 1 else 0, 0, length, tuple(score), 0)
    info["jacoby"] = int(jacoby)
    found.append([gnubg.evaluate(board, info, context)[:5], gnubg.cfevaluate(board, info, context)[1:4]])
json.dump(found, open("found.json", "w"))
"""


def game_state(position: str, own: int, other: int, cube: int, *, jacoby: bool) -> MatchState:
    length = max(own, other)
    owner = Owner.PLAYER if cube > 1 else Owner.CENTRED
    score = (length - own, length - other)
    return MatchState(parse_position_id(position), length, score, cube=cube, owner=owner, jacoby=jacoby)


def ask_gnubg(states: list[tuple[str, MatchState]], folder: Path) -> list[tuple[list[float], list[float]]]:
    """Return gnubg's five chances and its equities of no double, double and take, double and pass."""
    assert GNUBG is not None
    asked = [(position, state.length, state.score, state.cube, state.jacoby) for position, state in states]
    (folder / "asked.json").write_text(json.dumps(asked))
    (folder / "script.py").write_text(_SCRIPT)
    subprocess.run(
        [GNUBG, "-t", "-q", "-p", "script.py"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=SOON,
        check=False,
    )
    return [(chances, equities) for chances, equities in json.loads((folder / "found.json").read_text())]


@requires_gnubg
@pytest.mark.slow
def test_equities_agree_with_gnubg(tmp_path: Path) -> None:
    states = [
        (position, game_state(position, own, other, cube, jacoby=jacoby))
        for own, other, cube, jacoby in GAMES
        for position in POSITIONS
    ]
    for (position, state), (five, theirs) in zip(states, ask_gnubg(states, tmp_path), strict=True):
        stakes = Stakes.of(state)
        held = stakes.no_double_values(np.array([*five[:3], 1 - five[0], *five[3:]]), EFFICIENCY)[0]
        ours = CubeVerdict.of(stakes, state.owner, held[OWNER_COLUMN[state.owner]], held[TURNED])
        equities = [ours.no_double, ours.double_take, ours.double_pass]
        assert pytest.approx(theirs, abs=2e-3) == equities, f"{position} at {state.away}, {five}"
