"""What the page tells of a stop, as data for its script: words are put together here, so that the script only shows."""

from __future__ import annotations

from typing import Any, Final

from fibsbot.draw.markup import clean
from fibsbot.match import CubeAction, Owner
from fibsbot.report.boards import Boards
from fibsbot.report.sheet import CLASSES, REBUILT, moment, plain_name, signed
from fibsbot.report.stops import Kind, MatchSheet, Stop
from fibsbot.rules.state import Seat
from fibsbot.strategies.judge import Chances, CubeValues
from fibsbot.study.model import Judged
from fibsbot.transcript import Transcript

DIGITS: Final = 3
"""Of equities."""
TIE: Final = 5e-4
"""What cannot be seen with so many digits."""


def match_data(match: MatchSheet) -> dict[str, Any]:
    """Return everything about a match that is not on the page already."""
    transcript = match.study.transcript
    names = plain_name(transcript, Seat.A), plain_name(transcript, Seat.B)
    boards = Boards(Seat.A if transcript.user is None else transcript.user, names)
    stops = [_stop(transcript, stop, boards) for stop in match.stops]
    return {"stops": stops, "pieces": boards.pieces, "names": names, "user": transcript.user}


def _stop(transcript: Transcript, stop: Stop, boards: Boards) -> dict[str, Any]:
    """Return what is told of a stop; whatever is empty is left out.

    key, told (a headline), verdict, grade, facts, notes, plays and cube (tables), ids, board, best (the board with the
    best play).
    """
    judged, state = stop.judged, stop.state
    made = stop.throw.play if stop.throw else None
    told = {
        "key": stop.key,
        "told": _headline(transcript, stop),
        "verdict": _verdict(stop),
        "grade": CLASSES[stop.grade] if stop.grade else "",
        "seat": None if stop.seat is None else int(stop.seat),
        "facts": _facts(stop),
        "notes": [REBUILT] if stop.step.entry.rebuilt else [],
        "plays": _plays(judged) if judged else [],
        "cube": _cube(transcript, stop),
        "resigning": _resigning(transcript, stop),
        "ids": stop.ids,
        "board": boards.add(state, stop.viewer, made or None) if state else "",
        "best": boards.add(state, stop.viewer, stop.best_play) if state and stop.best_play else "",
    }
    return {name: value for name, value in told.items() if value not in ("", [], {}, None)}


def _headline(transcript: Transcript, stop: Stop) -> str:
    words = clean(stop.words, 200)
    if stop.seat is None:
        return f"Gap: {words}"
    dice = f"{stop.throw.numbers}: " if stop.throw else ""
    return f"{plain_name(transcript, stop.seat)} {dice}{words}"


def _verdict(stop: Stop) -> str:
    judged = stop.judged
    if judged is None:
        return "" if stop.kind is Kind.GAP else "Not judged."
    if judged.decision.forced:
        return "The only legal play." if stop.throw and stop.throw.play else "No legal play."
    if judged.equity is None:
        return "Not judged."
    if judged.loss < TIE or not stop.best:
        return "The best play." if stop.throw else "Right."
    worse = f"{judged.loss:.{DIGITS}f} worse than {stop.best}"
    return f"{CLASSES[stop.grade].capitalize()}: {worse}." if stop.grade else f"{worse}."


def _facts(stop: Stop) -> list[list[str]]:
    facts = []
    if stop.judged and stop.judged.equity is not None:
        facts.append(["Equity", signed(stop.judged.equity)])
    if stop.luck is not None:
        facts.append(["Luck", signed(stop.luck)])
    if stop.step.entry.seconds is not None:
        facts.append(["Thought", f"{stop.step.entry.seconds:.1f} s"])
    if stop.step.entry.at is not None:
        facts.append(["At", moment(stop.step.entry.at, "%Y-%m-%d %H:%M:%S")])
    return facts


def _plays(judged: Judged) -> list[list[str | bool]]:
    """Return a row for each play: the play, the cells of COLUMNS, and whether it was made."""
    if not judged.options:
        return []
    best = judged.options[0].equity
    return [
        [
            it.text,
            *_cells(it.equity, signed(it.equity - best) if it.equity < best else "", it.plies, it.chances),
            it.text == judged.decision.text,
        ]
        for it in judged.options
    ]


COLUMNS: Final = ("Equity", "Loss", "Ply", "Win", "G", "BG", "Lose", "G", "BG")
"""What is said of each play and each action with the cube; chances in percent."""


def _cells(equity: float, loss: str, plies: int | None, chances: Chances | None) -> list[str | bool]:
    shown = [f"{100 * it:.1f}" for it in chances] if chances else [""] * 6
    return [signed(equity), loss, "" if plies is None else str(plies), *shown]


def _cube(transcript: Transcript, stop: Stop) -> dict[str, Any]:
    """Return a table of what can be done with the cube, and whose view it shows."""
    judged = stop.rolled if stop.throw else stop.judged
    if judged is None or judged.cube is None:
        return {}
    decision, cube = judged.decision, judged.cube
    doubles = decision.seat if decision.answer in {CubeAction.ROLL, CubeAction.DOUBLE} else decision.seat.other
    again = "redouble" if decision.state.owner is not Owner.CENTRED else "double"
    rows = {
        f"No {again}": cube.no_double,
        f"{again.capitalize()}, take": cube.double_take,
        f"{again.capitalize()}, pass": cube.double_pass,
    }
    made = _MADE.get(decision.answer) if isinstance(decision.answer, CubeAction) else None
    return {
        "seen": f"Seen by {plain_name(transcript, doubles)}",
        "right": _right(cube, again),
        "rows": [
            [
                label,
                # After a pass there is no game that has chances.
                *_cells(value, _behind(value, cube), cube.plies, None if place == _PASSED else cube.chances),
                place == made,
            ]
            for place, (label, value) in enumerate(rows.items())
        ],
    }


def _resigning(transcript: Transcript, stop: Stop) -> dict[str, Any]:
    """Return a table of what a resignation settles and of playing on, and whose view it shows."""
    judged = stop.judged
    if judged is None or judged.resigning is None:
        return {}
    it, offered = judged.resigning, stop.kind is Kind.RESIGNATION
    ending, going_on = ("Resign", "Play on") if offered else ("Accept", "Reject")
    best = max(it.settled, it.played_on)
    settled, played_on = (signed(value - best) if best - value >= TIE else "" for value in (it.settled, it.played_on))
    made = offered or judged.decision.answer is True
    return {
        "seen": f"Seen by {plain_name(transcript, judged.decision.seat)}",
        "right": going_on if settled else ending,
        "rows": [
            # A game that is over has no chances, and needs no looking ahead.
            [ending, *_cells(it.settled, settled, None, None), made],
            [going_on, *_cells(it.played_on, played_on, it.plies, it.chances), not made],
        ],
    }


_PASSED: Final = 2
"""Which row shows a double that is passed."""
_MADE: Final = {CubeAction.ROLL: 0, CubeAction.TAKE: 1, CubeAction.PASS: 2}
"""Which row shows what was done; a double is two of them."""


def _behind(value: float, cube: CubeValues) -> str:
    return "" if abs(value - cube.best) < TIE else signed(value - cube.best)


def _right(cube: CubeValues, again: str) -> str:
    """Say what is right on both sides."""
    answer = "take" if cube.double_take <= cube.double_pass else "pass"
    if cube.double > cube.no_double:
        return f"{again.capitalize()}, {answer}"
    if answer == "pass" and cube.no_double > cube.double_pass:
        return f"Too good to {again}, pass"
    return f"No {again}, {answer}"
