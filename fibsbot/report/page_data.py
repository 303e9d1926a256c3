"""The data of a page for its script: texts are put together here, so that the script only displays.

Boards are kept small: the pictures of `fibsbot.draw.svg` are cut into pieces, which are kept once; a board is a row
of piece numbers, `0-67 71 69-80`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from fibsbot.analysis.model import AnalysedDecision
from fibsbot.draw.markup import clean
from fibsbot.draw.svg import Theme, ViewOptions, board_svg
from fibsbot.match import CubeAction, MatchState, Owner
from fibsbot.position import Play
from fibsbot.report.score_sheet import CLASSES, REBUILT, format_signed, format_time, plain_player_name
from fibsbot.report.timeline import EntryKind, MatchTimeline, TimelineEntry
from fibsbot.rules.state import Seat
from fibsbot.strategies.evaluator import Chances, CubeValues
from fibsbot.transcript import Transcript

_DESCRIPTION: Final = re.compile(r"<(title|desc)>.*?</\1>", re.DOTALL)
"""What the page itself tells of the board, beside it."""
_PIECE: Final = re.compile(r"<[^/][^>]*>[^<]*(?:</[^>]*>)*")


class BoardPieces:
    """The boards of a match, always seen from the same seat."""

    def __init__(self, seat: Seat, names: tuple[str, str]) -> None:
        """Seat a player below; `names` are those of seat A and seat B."""
        self._below = seat
        self._names = names
        self._numbers: dict[str, int] = {}

    @property
    def pieces(self) -> list[str]:
        """All pieces, in the order of their numbers."""
        return list(self._numbers)

    def add(self, state: MatchState, seat: Seat, play: Play | None = None) -> str:
        """Draw a decision of a player, with a play if there is one, and return the numbers of its pieces."""
        look = ViewOptions(theme=Theme.PAGE, dark=seat is self._below, above=seat is not self._below, fixed=True)
        names = (self._names[seat], self._names[seat.other])
        picture = _DESCRIPTION.sub("", board_svg(state, look=look, play=play, names=names)).replace("\n", "")
        return " ".join(
            _number_ranges(self._numbers.setdefault(it, len(self._numbers)) for it in _PIECE.findall(picture))
        )


def _number_ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Write numbers that follow each other as first and last."""
    first = last = -1
    for number in numbers:
        if number == last + 1 and first >= 0:
            last = number
            continue
        if first >= 0:
            yield _number_range(first, last)
        first = last = number
    if first >= 0:
        yield _number_range(first, last)


def _number_range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


DIGITS: Final = 3
"""Of equities."""
INVISIBLE_DIFFERENCE: Final = 5e-4
"""What cannot be seen with so many digits."""


def match_data(match: MatchTimeline) -> dict[str, Any]:
    """Return everything about a match that is not on the page already."""
    transcript = match.study.transcript
    names = plain_player_name(transcript, Seat.A), plain_player_name(transcript, Seat.B)
    boards = BoardPieces(Seat.A if transcript.user is None else transcript.user, names)
    stops = [_entry_data(transcript, stop, boards) for stop in match.stops]
    return {"stops": stops, "pieces": boards.pieces, "names": names, "user": transcript.user}


def _entry_data(transcript: Transcript, stop: TimelineEntry, boards: BoardPieces) -> dict[str, Any]:
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


def _headline(transcript: Transcript, stop: TimelineEntry) -> str:
    words = clean(stop.words, 200)
    if stop.seat is None:
        return f"Gap: {words}"
    dice = f"{stop.throw.numbers}: " if stop.throw else ""
    return f"{plain_player_name(transcript, stop.seat)} {dice}{words}"


def _verdict(stop: TimelineEntry) -> str:
    judged = stop.judged
    if judged is None:
        return "" if stop.kind is EntryKind.GAP else "Not judged."
    if judged.decision.forced:
        return "The only legal play." if stop.throw and stop.throw.play else "No legal play."
    if judged.equity is None:
        return "Not judged."
    if judged.loss < INVISIBLE_DIFFERENCE or not stop.best:
        return "The best play." if stop.throw else "Right."
    worse = f"{judged.loss:.{DIGITS}f} worse than {stop.best}"
    return f"{CLASSES[stop.grade].capitalize()}: {worse}." if stop.grade else f"{worse}."


def _facts(stop: TimelineEntry) -> list[list[str]]:
    facts = []
    if stop.judged and stop.judged.equity is not None:
        facts.append(["Equity", format_signed(stop.judged.equity)])
    if stop.luck is not None:
        facts.append(["Luck", format_signed(stop.luck)])
    if stop.step.entry.seconds is not None:
        facts.append(["Thought", f"{stop.step.entry.seconds:.1f} s"])
    if stop.step.entry.at is not None:
        facts.append(["At", format_time(stop.step.entry.at, "%Y-%m-%d %H:%M:%S")])
    return facts


def _plays(judged: AnalysedDecision) -> list[list[str | bool]]:
    """Return a row for each play: the play, the cells of COLUMNS, and whether it was made."""
    if not judged.options:
        return []
    best = judged.options[0].equity
    return [
        [
            it.text,
            *_cells(it.equity, format_signed(it.equity - best) if it.equity < best else "", it.plies, it.chances),
            it.text == judged.decision.text,
        ]
        for it in judged.options
    ]


COLUMNS: Final = ("Equity", "Loss", "Ply", "Win", "G", "BG", "Lose", "G", "BG")
"""What is said of each play and each action with the cube; chances in percent."""


def _cells(equity: float, loss: str, plies: int | None, chances: Chances | None) -> list[str | bool]:
    shown = [f"{100 * it:.1f}" for it in chances] if chances else [""] * 6
    return [format_signed(equity), loss, "" if plies is None else str(plies), *shown]


def _cube(transcript: Transcript, stop: TimelineEntry) -> dict[str, Any]:
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
    made = _MADE_ROW.get(decision.answer) if isinstance(decision.answer, CubeAction) else None
    return {
        "seen": f"Seen by {plain_player_name(transcript, doubles)}",
        "right": _correct_action(cube, again),
        "rows": [
            [
                label,
                # After a pass there is no game that has chances.
                *_cells(value, _cube_loss(value, cube), cube.plies, None if place == _PASS_ROW else cube.chances),
                place == made,
            ]
            for place, (label, value) in enumerate(rows.items())
        ],
    }


def _resigning(transcript: Transcript, stop: TimelineEntry) -> dict[str, Any]:
    """Return a table of what a resignation settles and of playing on, and whose view it shows."""
    judged = stop.judged
    if judged is None or judged.resigning is None:
        return {}
    it, offered = judged.resigning, stop.kind is EntryKind.RESIGNATION
    ending, going_on = ("Resign", "Play on") if offered else ("Accept", "Reject")
    best = max(it.settled, it.played_on)
    settled, played_on = (
        format_signed(value - best) if best - value >= INVISIBLE_DIFFERENCE else ""
        for value in (it.settled, it.played_on)
    )
    made = offered or judged.decision.answer is True
    return {
        "seen": f"Seen by {plain_player_name(transcript, judged.decision.seat)}",
        "right": going_on if settled else ending,
        "rows": [
            # A game that is over has no chances, and needs no looking ahead.
            [ending, *_cells(it.settled, settled, None, None), made],
            [going_on, *_cells(it.played_on, played_on, it.plies, it.chances), not made],
        ],
    }


_PASS_ROW: Final = 2
"""Which row shows a double that is passed."""
_MADE_ROW: Final = {CubeAction.ROLL: 0, CubeAction.TAKE: 1, CubeAction.PASS: 2}
"""Which row shows what was done; a double is two of them."""


def _cube_loss(value: float, cube: CubeValues) -> str:
    return "" if abs(value - cube.best) < INVISIBLE_DIFFERENCE else format_signed(value - cube.best)


def _correct_action(cube: CubeValues, again: str) -> str:
    """Say what is right on both sides."""
    answer = "take" if cube.double_take <= cube.double_pass else "pass"
    if cube.double > cube.no_double:
        return f"{again.capitalize()}, {answer}"
    if answer == "pass" and cube.no_double > cube.double_pass:
        return f"Too good to {again}, pass"
    return f"No {again}, {answer}"
