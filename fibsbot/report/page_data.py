"""The data of a page for its script: all texts are composed here, so that the script only displays them.

To save space, board pictures are split into pieces, each stored once; a board is a list of piece numbers,
`0-67 71 69-80`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from fibsbot.analysis.model import AnalysedDecision
from fibsbot.analysis.selection import GRADED
from fibsbot.drawing.markup import clean
from fibsbot.drawing.svg import Theme, ViewOptions, board_svg
from fibsbot.match import CubeAction, MatchState, Owner
from fibsbot.position import Play
from fibsbot.report.score_sheet import CLASSES, REBUILT, format_signed, format_time, plain_player_name
from fibsbot.report.timeline import MatchTimeline, TimelineEntry, TimelineKind
from fibsbot.rules.sides import START
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Chances, CubeValues
from fibsbot.text import predicate
from fibsbot.transcript import Transcript

_DESCRIPTION: Final = re.compile(r"<(title|desc)>.*?</\1>", re.DOTALL)
"""The page has this information beside the board."""
_PIECE: Final = re.compile(r"<[^/][^>]*>[^<]*(?:</[^>]*>)*")


class BoardPieces:
    """Boards of a match, always seen from the same side, as lists of pieces."""

    def __init__(self, seat: Seat, names: tuple[str, str]) -> None:
        """Draw boards with the player `seat` below; `names` are those of seat A and seat B."""
        self.below = seat
        self._names = names
        self._numbers: dict[str, int] = {}

    @property
    def pieces(self) -> list[str]:
        """All pieces, by their numbers."""
        return list(self._numbers)

    def add(self, state: MatchState, seat: Seat, play: Play | None = None) -> str:
        """Draw a decision of a player, and a play if given; return the numbers of its pieces."""
        view = ViewOptions(
            theme=Theme.PAGE, dark=seat is self.below, opponents_side=seat is not self.below, fixed_numbers=True
        )
        names = (self._names[seat], self._names[seat.other])
        picture = _DESCRIPTION.sub("", board_svg(state, view=view, play=play, names=names)).replace("\n", "")
        return " ".join(
            _number_ranges(self._numbers.setdefault(piece, len(self._numbers)) for piece in _PIECE.findall(picture))
        )


def _number_ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Yield ranges of consecutive numbers."""
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
"""Decimal places of equities."""
INVISIBLE_DIFFERENCE: Final = 5e-4
"""A difference that these digits do not show."""


def match_data(match: MatchTimeline) -> dict[str, Any]:
    """Return the data of a match that the script displays."""
    transcript = match.analysis.transcript
    names = plain_player_name(transcript, Seat.A), plain_player_name(transcript, Seat.B)
    boards = BoardPieces(Seat.A if transcript.user is None else transcript.user, names)
    entries = [_entry_data(transcript, entry, boards) for entry in match.entries]
    course = transcript.rules.course
    return {
        "entries": entries,
        "pieces": boards.pieces,
        "names": names,
        "user": transcript.user,
        "selective": match.selection != GRADED,
        "facing": [0, *map(course.facing, range(1, START + 1))],
    }


def _entry_data(transcript: Transcript, entry: TimelineEntry, boards: BoardPieces) -> dict[str, Any]:
    """Return the data of an entry; empty values are left out.

    key, data (a headline), verdict, grade, error (whether it is listed as one), facts, notes, plays and cube (tables),
    ids, board, best (the board with the best play), other (whether the points are numbered by the other player in its
    plays); of a listed error also question and plain (the board), for practice.
    """
    analysed, state = entry.analysed, entry.state
    data = {
        "key": entry.key,
        "headline": _headline(transcript, entry),
        "verdict": _verdict(entry),
        "grade": CLASSES[entry.grade] if entry.grade else "",
        "error": entry.listed or None,
        "seat": None if entry.seat is None else int(entry.seat),
        "facts": _facts(entry),
        "notes": _notes(entry),
        "plays": _plays(analysed) if analysed else [],
        "cube": _cube(transcript, entry),
        "resigning": _resigning(transcript, entry),
        "ids": entry.ids,
        "board": boards.add(state, entry.viewer, entry.made or None) if state else "",
        "best": boards.add(state, entry.viewer, entry.best_play) if state and entry.best_play else "",
        "other": True if state and entry.viewer is not boards.below else None,
        "question": _question(transcript, entry),
        "plain": boards.add(state, entry.viewer) if state and entry.listed else "",
    }
    return {name: value for name, value in data.items() if value not in ("", [], {}, None)}


def _headline(transcript: Transcript, entry: TimelineEntry) -> str:
    words = clean(entry.words, 200)
    if entry.seat is None:
        return f"Gap: {words}"
    dice, name = f"{entry.numbers}: " if entry.numbers else "", plain_player_name(transcript, entry.seat)
    return f"{name} {dice}{predicate(name, words)}"


_QUESTIONS: Final = {
    TimelineKind.NO_DOUBLE: "double, or roll?",
    TimelineKind.DOUBLE: "double, or roll?",
    TimelineKind.ANSWER: "take, or pass?",
    TimelineKind.RESIGNATION: "resign, or play on?",
    TimelineKind.SETTLEMENT: "accept, or reject?",
    TimelineKind.NAME: "what is to be named?",
}


def _question(transcript: Transcript, entry: TimelineEntry) -> str:
    """Return what the player had to decide; empty unless it is an error that is listed."""
    if not entry.listed or entry.seat is None:
        return ""
    asked = _QUESTIONS.get(entry.kind, f"{entry.numbers} to play")
    return f"{plain_player_name(transcript, entry.seat)}: {asked}"


def _verdict(entry: TimelineEntry) -> str:
    analysed = entry.analysed
    if analysed is None:
        return "" if entry.kind is TimelineKind.GAP else "Not analysed."
    if analysed.decision.forced:
        if entry.kind is TimelineKind.NAME:
            return "Nothing else can be named."
        return "The only legal play." if entry.made else "No legal play."
    if analysed.equity is None:
        return "Not analysed."
    if analysed.loss < INVISIBLE_DIFFERENCE or not entry.best:
        return "Right." if entry.made is None else "The best play."
    worse = f"{analysed.loss:.{DIGITS}f} worse than {entry.best}"
    return f"{CLASSES[entry.grade].capitalize()}: {worse}." if entry.grade else f"{worse}."


def _notes(entry: TimelineEntry) -> list[str]:
    """Return what is known of an entry besides: how it was seen, and what the analysis in the file says."""
    notes = [REBUILT] if entry.step.entry.rebuilt else []
    stored = entry.analysed.decision.stored if entry.analysed and not entry.analysed.decision.forced else None
    if stored is None:
        return notes
    worse = f"{stored.loss:.{DIGITS}f} worse than {clean(stored.best, 60)}"
    said = "the best" if stored.loss < INVISIBLE_DIFFERENCE else worse
    return [*notes, f"{clean(stored.by, 30)}, in the file: {said}."]


def _facts(entry: TimelineEntry) -> list[list[str]]:
    facts = []
    if entry.analysed and entry.analysed.equity is not None:
        facts.append(["Equity", format_signed(entry.analysed.equity)])
    if entry.luck is not None:
        facts.append(["Luck", format_signed(entry.luck)])
    if entry.step.entry.seconds is not None:
        facts.append(["Thought", f"{entry.step.entry.seconds:.1f} s"])
    if entry.step.entry.at is not None:
        facts.append(["At", format_time(entry.step.entry.at, "%Y-%m-%d %H:%M:%S")])
    return facts


def _plays(analysed: AnalysedDecision) -> list[list[str | bool]]:
    """Return a row for each play: its notation, the cells of COLUMNS, and whether it was made."""
    if not analysed.options:
        return []
    best = analysed.options[0].value.equity
    rows = ((option.text, option.value) for option in analysed.options)
    return [
        [
            text,
            *_cells(
                value.equity,
                format_signed(value.equity - best) if value.equity < best else "",
                value.plies,
                value.chances,
            ),
            text == analysed.decision.text,
        ]
        for text, value in rows
    ]


COLUMNS: Final = ("Equity", "Loss", "Ply", "Win", "G", "BG", "Lose", "G", "BG")
"""Columns of plays and cube actions; chances in percent."""


def _cells(equity: float, loss: str, plies: int | None, chances: Chances | None) -> list[str | bool]:
    shown = [f"{100 * chance:.1f}" for chance in chances] if chances else [""] * 6
    return [format_signed(equity), loss, "" if plies is None else str(plies), *shown]


def _cube(transcript: Transcript, entry: TimelineEntry) -> dict[str, Any]:
    """Return the table of cube actions, and for whom its values are."""
    analysed = entry.not_doubled if entry.roll else entry.analysed
    if analysed is None or analysed.cube is None:
        return {}
    decision, cube = analysed.decision, analysed.cube
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


def _resigning(transcript: Transcript, entry: TimelineEntry) -> dict[str, Any]:
    """Return the table of a resignation and of playing on, and for whom its values are."""
    analysed = entry.analysed
    if analysed is None or analysed.resigning is None:
        return {}
    values, offered = analysed.resigning, entry.kind is TimelineKind.RESIGNATION
    playing_on = values.played_on
    ending, going_on = ("Resign", "Play on") if offered else ("Accept", "Reject")
    best = max(values.settled, playing_on.equity)
    settled, played_on = (
        format_signed(value - best) if best - value >= INVISIBLE_DIFFERENCE else ""
        for value in (values.settled, playing_on.equity)
    )
    made = offered or analysed.decision.answer is True
    return {
        "seen": f"Seen by {plain_player_name(transcript, analysed.decision.seat)}",
        "right": going_on if settled else ending,
        "rows": [
            # After the end of a game there are no chances, and no plies.
            [ending, *_cells(values.settled, settled, None, None), made],
            [going_on, *_cells(playing_on.equity, played_on, playing_on.plies, playing_on.chances), not made],
        ],
    }


_PASS_ROW: Final = 2
"""Row of a double that is passed."""
_MADE_ROW: Final = {CubeAction.ROLL: 0, CubeAction.TAKE: 1, CubeAction.PASS: 2}
"""Row of the action; a double has two."""


def _cube_loss(value: float, cube: CubeValues) -> str:
    return "" if abs(value - cube.best) < INVISIBLE_DIFFERENCE else format_signed(value - cube.best)


def _correct_action(cube: CubeValues, again: str) -> str:
    """Return the correct actions of both players."""
    answer = "take" if cube.double_take <= cube.double_pass else "pass"
    if cube.double > cube.no_double:
        return f"{again.capitalize()}, {answer}"
    if answer == "pass" and cube.no_double > cube.double_pass:
        return f"Too good to {again}, pass"
    return f"No {again}, {answer}"
