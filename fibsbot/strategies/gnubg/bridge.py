"""Answer questions about values, as a script that gnubg runs in its own Python.

Questions come on stdin, answers go to stdout, one JSON value per line.

A question is `{"plies": 0, "cubeful": true, "chances": true, "positions": [...], "results": [...]}`. A position is
`[board, cube, jacoby]`: both sides' checkers on points 1 to 24 and the bar, the opponent's first, and the arguments
of `gnubg.cubeinfo`. Its answer has the values of the best action, of rolling, of a double that is taken and of one
that is passed, to the player on roll; with `chances` followed by that player's chances to win, to win at least a
gammon, to win a backgammon, to lose at least a gammon and to lose a backgammon. A result is `[cube, equity]`, its
answer the chance to win the match. An answer begins with `=> `, because gnubg itself writes to stdout, too.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import gnubg  # type: ignore[import-not-found]  # exists only inside gnubg


def answer(question: dict[str, Any]) -> list[list[Any]]:
    """Return the values of the positions, and the chances of the results."""
    context = {
        "cubeful": int(question["cubeful"]),
        "plies": question["plies"],
        "deterministic": 1,
        "noise": 0.0,
        "prune": 1,
    }
    values = []
    for board, cube, jacoby in question["positions"]:
        information = {**gnubg.cubeinfo(*cube), "jacoby": jacoby}
        evaluated: tuple[float, ...] = ()
        if question["chances"] or not context["cubeful"]:
            evaluated = gnubg.evaluate(board, information, context)
        if context["cubeful"]:
            row = list(gnubg.cfevaluate(board, information, context)[:4])
        else:
            row = [evaluated[5]] * 3 + [1.0]
        values.append([*row, *evaluated[:5]] if question["chances"] else row)
    chances = [gnubg.eq2mwc(equity, gnubg.cubeinfo(*cube)) for cube, equity in question["results"]]
    return [values, chances]


gnubg.command("set beavers 0")
for line in sys.stdin:
    sys.stdout.write(f"=> {json.dumps(answer(json.loads(line)))}\n")
    sys.stdout.flush()
