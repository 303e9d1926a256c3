"""Accuracy of the cube model, given another engine's chances, against that engine's cube decisions at 4-ply.

Usage: bench_cube.py [EXAMPLES]
       bench_cube.py --gnubg

`data/cube_decisions.jsonl.gz` has 10,000 cube decisions at match scores, mostly close ones, from GNU Backgammon at
4-ply: its six chances and its equities of no double, double and take, double and pass. The model sees only the chances
and looks ahead nowhere; what a wrong action costs is reckoned by the reference's equities (PR is 500 times the mean
error). Nothing was fitted to this file.

With --gnubg, GNU Backgammon is asked the same at 0-ply, where nothing is looked ahead either. Its verdicts are
compared, and the model's from the chances that it finds there.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import evolve, frozen

from fibsbot.engine.arrays import other_side
from fibsbot.engine.cube import CubeVerdict, cube_verdict
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation.position_ids import parse_gnubg_id, position_id

DATA: Final = Path(__file__).parent / "data" / "cube_decisions.jsonl.gz"
KEYS: Final = (("no_double", "nd"), ("double_take", "dt"), ("double_pass", "dp"))
"""Names of the equities, ours and the file's."""


@frozen
class Compared:
    """A decision with the model's verdict and the reference's."""

    state: MatchState
    row: dict[str, Any]
    ours: CubeVerdict

    @property
    def theirs(self) -> CubeVerdict:
        """The verdict from the reference's own equities."""
        return CubeVerdict(self.row["nd"], self.row["dt"], self.row["dp"], self.state.owner)

    @property
    def double_error(self) -> float:
        """Cost of our choice of doubling or rolling, by the reference."""
        theirs = self.theirs
        return abs(theirs.no_double - theirs.double) if self.ours.action is not theirs.action else 0.0

    @property
    def take_error(self) -> float:
        """Cost of our answer, by the reference."""
        return abs(self.row["dt"] - self.row["dp"]) if self.ours.answer is not self.theirs.answer else 0.0


def compare() -> Iterator[Compared]:
    """Yield all decisions of the file."""
    with gzip.open(DATA, "rt") as file:
        rows = [row for row in map(json.loads, file) if "pos" in row]
    for row in rows:
        state = parse_gnubg_id(f"{row['pos']}:{row['match']}")
        chances = np.array(row["probs"])
        if state.phase is Phase.DOUBLED:  # all is seen by who has been doubled
            state, chances = state.swapped(), other_side(chances)
            row |= {key: -row[key] for _, key in KEYS}
        yield Compared(state, row, cube_verdict(state, chances))


def classes(it: Compared) -> Iterator[str]:
    """Yield the classes that a decision belongs to."""
    mine, theirs = it.state.away
    cube = it.state.cube
    yield "all"
    yield "first double" if it.state.owner is Owner.CENTRED else "redouble"
    yield "contact" if it.state.position.contact else "race"
    if 1 in (mine, theirs):
        yield "after Crawford"
    elif max(mine, theirs) <= 4:
        yield "both at most 4 away"
    elif min(mine, theirs) <= 4:
        yield "one at most 4 away"
    else:
        yield "both more than 4 away"
    if mine <= 2 * cube or theirs <= 2 * cube:
        yield "last cube for one"


def show(found: list[Compared], examples: int) -> None:
    """Print a table by class, and the worst differences."""
    by_class: dict[str, list[Compared]] = defaultdict(list)
    for it in found:
        for name in classes(it):
            by_class[name].append(it)
    print(f"{'':24}{'n':>6} {'words':>7} {'double':>7} {'take':>7} {'PR dbl':>7} {'PR take':>8}   |nd| |dt| |dp| off")
    for name, group in sorted(by_class.items(), key=lambda item: -len(item[1])):
        agreed = [same_words(it) for it in group]
        doubled = [it.ours.action is it.theirs.action for it in group]
        taken = [it.ours.answer is it.theirs.answer for it in group]
        off = [[getattr(it.ours, key) - it.row[short] for key, short in KEYS] for it in group]
        print(
            f"{name:24}{len(group):6} {np.mean(agreed):7.1%} {np.mean(doubled):7.1%} {np.mean(taken):7.1%}"
            f" {500 * np.mean([it.double_error for it in group]):7.2f}"
            f" {500 * np.mean([it.take_error for it in group]):8.2f}"
            f"   {np.abs(off).mean(axis=0).round(3)}  bias {np.mean(off, axis=0).round(3)}"
        )
    for it in sorted(found, key=lambda it: -it.double_error - it.take_error)[:examples]:
        row, ours = it.row, it.ours
        print(f"{row['pos']}:{row['match']} away {it.state.away} cube {it.state.cube} {it.state.owner.name}")
        print(f"  {row['probs']}")
        print(f"  {row['nd']:.3f} {row['dt']:.3f} {row['dp']:.3f} {row['proper']}")
        print(f"  {ours.no_double:.3f} {ours.double_take:.3f} {ours.double_pass:.3f} {ours.words}")


def same_words(it: Compared) -> bool:
    """Return whether verdicts agree on doubling and on the answer; optional ones agree with either."""
    if it.theirs.answer is not it.ours.answer:
        return False
    return it.theirs.action is it.ours.action or "Optional" in it.row["proper"]


GNUBG: Final = shutil.which("gnubg", path="/usr/games") or "gnubg"
_OWNER: Final = {Owner.CENTRED: -1, Owner.PLAYER: 0, Owner.OPPONENT: 1}
_SCRIPT: Final = """
import gnubg, json
context = gnubg.evalcontext(1, 0, 1, 0, 0.0)
found = []
for position, length, score, cube, owner in json.load(open("asked.json")):
    board, info = gnubg.positionfromid(position), gnubg.cubeinfo(cube, owner, 0, length, tuple(score), 0)
    found.append([gnubg.evaluate(board, info, context)[:5], gnubg.cfevaluate(board, info, context)[1:4]])
json.dump(found, open("found.json", "w"))
"""


def ask_gnubg(states: list[MatchState]) -> list[tuple[list[float], list[float]]]:
    """Return gnubg's five chances and three equities at 0-ply, seen by the player on roll."""
    asked = [[position_id(it.position), it.length, it.score, it.cube, _OWNER[it.owner]] for it in states]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "asked.json").write_text(json.dumps(asked))
        (Path(folder) / "script.py").write_text(_SCRIPT)
        subprocess.run(  # noqa: S603 - a program of the machine, with our own script
            [GNUBG, "-t", "-q", "-p", "script.py"],
            cwd=folder,
            env={**os.environ, "HOME": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return [(five, worths) for five, worths in json.loads((Path(folder) / "found.json").read_text())]


def against_gnubg() -> None:
    """Print the table for gnubg at 0-ply, and for the model with gnubg's chances."""
    found = list(compare())
    answers = ask_gnubg([it.state for it in found])
    print("gnubg at 0-ply")
    theirs = [CubeVerdict(rolled, taken, passed) for _, (rolled, taken, passed) in answers]
    show([evolve(it, ours=verdict) for it, verdict in zip(found, theirs, strict=True)], 0)
    print("the model, with gnubg's chances at 0-ply")
    chances = [np.array([*five[:3], 1 - five[0], *five[3:]]) for five, _ in answers]
    show([evolve(it, ours=cube_verdict(it.state, six)) for it, six in zip(found, chances, strict=True)], 0)


def main() -> None:
    """Print the table and the worst differences."""
    if sys.argv[1:] == ["--gnubg"]:
        against_gnubg()
    else:
        show(list(compare()), int(sys.argv[1]) if len(sys.argv) > 1 else 0)


if __name__ == "__main__":
    main()
