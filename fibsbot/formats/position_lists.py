"""Matches as lists of positions, one line per decision.

GNUbg IDs, XGIDs, or Snowie position lines; the last are also read. In every game: `positions`, lines with the game,
the board as `games.text` writes it, what is to be decided, and the score, separated by tabs.

Seat A is X in an XGID and player 1 in a GNUbg ID, so that the board keeps its orientation from line to line.

A Snowie line has 40 fields that end with semicolons, as GNU Backgammon 1.07 writes and reads them (`export position
snowietxt`): length of the match, Jacoby rule, variant, 1 without a match, who is on roll (0 or 1), both players'
names with the one on roll first, Crawford game, both scores, cube, its owner (1 on roll, -1 the other, 0 nobody),
then 26 cells in the order of our own `Position.points`: the other's bar, the points 1 to 24, the bar of the player on
roll; at the end two dice, 0 before the roll. It cannot represent a pending double or resignation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import frozen

from fibsbot.formats import Format, FormatError, expected, plain_text, single_line
from fibsbot.games.sides_text import format_sides, format_turn
from fibsbot.games.state_json import HIGHEST_CUBE
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id, parse_gnubg_id
from fibsbot.notation.position_ids import infer_post_crawford
from fibsbot.position import Flaw, Position
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Seat
from fibsbot.transcript import Decision, Transcript, decisions, walk

FIELD_COUNT: Final = 40
NAME_FIELDS: Final = (5, 6)
"""Places of the fields that are no numbers."""
LONGEST_POSITION_LINE: Final = 1000
"""Characters of a line that can be a position."""
_CELLS: Final = slice(12, 38)
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")


@frozen
class SnowiePosition:
    """A position line."""

    state: MatchState
    """Before the roll or with the dice, seen by the player on roll."""
    names: tuple[str, str] = ("", "")
    """Of the player on roll and of the other."""
    seat: Seat = Seat.A
    """Who is on roll."""


_XGID_IN_TEXT: Final = re.compile(r"(?i:XGID=)[-A-Oa-o]{26}(?::[-0-9DBR]{1,5}){9}")
_IDS_IN_TEXT: Final = re.compile(
    r"Position ID ?: +([A-Za-z0-9+/]{14})\b.{0,200}?Match ID +: +([A-Za-z0-9+/]{12})\b", re.DOTALL
)


def find_position(text: str) -> MatchState:
    """Return the first position in a text: an XGID, GNU Backgammon's two IDs, or a position line of Snowie.

    Position texts of eXtreme Gammon, BGBlitz and GNU Backgammon have one of them. Raises NotationError, FormatError.
    """
    text = plain_text(text)
    if xgid := _XGID_IN_TEXT.search(text):
        return Xgid.parse(xgid[0]).state()
    if ids := _IDS_IN_TEXT.search(text):
        return parse_gnubg_id(f"{ids[1]}:{ids[2]}")
    return next(iter_snowie(text)).state


def is_representable(state: MatchState) -> bool:
    """Whether a position line can say this: it can't, where a double or a resignation waits for its answer."""
    return state.phase in {Phase.ROLL, Phase.MOVE}


def write_snowie(position: SnowiePosition) -> str:
    """Return a position as a line. Raises ValueError where a double or a resignation waits for its answer."""
    state = position.state
    if not is_representable(state):
        raise ValueError(f"no position line can say what is {state.phase.value}")
    fields = (
        state.length,
        int(state.jacoby and not state.length),
        0,
        int(not state.length),
        position.seat.value,
        *(single_line(name.replace(";", ",")) for name in position.names),
        int(state.crawford),
        *state.score,
        state.cube,
        state.owner.value,
        *state.position.points,
        *(state.dice or (0, 0)),
    )
    return ";".join(map(str, fields)) + ";\n"


def read_snowie(text: str) -> SnowiePosition:
    """Read a single line. Raises FormatError."""
    found = list(iter_snowie(text))
    if len(found) != 1:
        raise expected("one position line", str(len(found)))
    return found[0]


def iter_snowie(text: str) -> Iterator[SnowiePosition]:
    """Yield the positions of a text, at least one. Raises FormatError."""
    lines = [(number, line) for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1) if line.strip()]
    if not lines:
        raise expected("a position line of Snowie", text[:40])
    for number, line in lines:
        yield _read_position(line.strip(), number)


def _read_position(line: str, place: int) -> SnowiePosition:
    fields = line[:LONGEST_POSITION_LINE].removesuffix(";").split(";")
    if len(fields) != FIELD_COUNT:
        raise expected(f"a position line of {FIELD_COUNT} fields, each with a semicolon behind it", line, place)
    numbers = [0 if index in NAME_FIELDS else _number(field, index, place) for index, field in enumerate(fields)]
    length, jacoby, _, _, seat, _, _, crawford, *score, cube, owner = numbers[:12]
    position = Position(tuple(numbers[_CELLS]))
    first, second = numbers[_CELLS.stop :]
    rolled = (first, second) != (0, 0)
    problems = {
        "expected a position of at most 15 checkers a side": position.status() is not Flaw.VALID,
        "expected two dice from 1 to 6, or 0 and 0": rolled and not all(1 <= die <= 6 for die in (first, second)),
        "expected 0 or 1 for the player on roll and a length of at least 0": seat not in {0, 1} or length < 0,
        "expected scores below the length of the match": min(score) < 0 or (length and max(score) >= length),
        f"expected a cube from 1 to {HIGHEST_CUBE}, owned by 1, -1 or 0": not 1 <= cube <= HIGHEST_CUBE
        or abs(owner) > 1,
    }
    for problem, there in problems.items():
        if there:
            raise FormatError(f"line {place}: {problem}")
    in_crawford = bool(crawford) and length > 1
    state = MatchState(
        board=position,
        length=length,
        score=(score[0], score[1]),
        cube=cube,
        owner=Owner(owner),
        crawford=in_crawford,
        post_crawford=infer_post_crawford(length, (score[0], score[1]), crawford=in_crawford),
        phase=Phase.MOVE if rolled else Phase.ROLL,
        dice=(first, second) if rolled else None,
        jacoby=bool(jacoby) and not length,
    )
    first_name, second_name = (single_line(fields[index]) for index in NAME_FIELDS)
    return SnowiePosition(state, (first_name, second_name), Seat(seat))


def _number(field: str, index: int, place: int) -> int:
    number = field.strip()  # of more characters than `int` passes over
    if not _NUMBER.fullmatch(number):
        raise expected(f"a number in field {index + 1} of a position line", field, place)
    return int(number)


def position_lines(transcript: Transcript, kind: Format) -> Iterator[str]:
    """Yield a line for each decision of a match, of both players, in their order.

    Plays, doubles and their answers; not resignations, of which these formats know nothing. A position that a format
    cannot say has no line. Raises TranscriptError where the match cannot have happened so.
    """
    write = _WRITERS[kind]
    for game in transcript.games:
        for step in walk(game):
            for decision in decisions(step):
                if isinstance(decision.answer, Level) or decision.state.phase is Phase.RESIGNED:
                    continue
                line = write(transcript, decision)
                if line:
                    yield line


def write_positions(transcript: Transcript, kind: Format) -> str:
    """Return all lines; see `positions`."""
    return "".join(position_lines(transcript, kind))


def _xgid(_: Transcript, decision: Decision) -> str:
    try:
        return f"{Xgid.of(decision.state, 1 if decision.seat is Seat.A else -1)}\n"
    except NotationError:
        return ""


def _gnubg_id(_: Transcript, decision: Decision) -> str:
    try:
        return f"{format_gnubg_id(decision.state, 1 if decision.seat is Seat.A else 0)}\n"
    except NotationError:
        return ""


def _snowie(transcript: Transcript, decision: Decision) -> str:
    if not is_representable(decision.state):
        return ""
    own, other = (single_line(transcript.players[seat].name) for seat in (decision.seat, decision.seat.other))
    return write_snowie(SnowiePosition(decision.state, (own, other), decision.seat))


def _of_any_game(_: Transcript, decision: Decision) -> str:
    state = decision.state
    asked = state.phase.value
    if state.phase is Phase.MOVE:
        asked = f"play {format_turn(state.todo) or ''.join(map(str, state.dice or ()))}"
    elif state.naming is not None:
        asked = f"{asked} {state.naming.name.lower()}"
    score = "{}-{}".format(*state.score) + (f" to {state.length}" if state.length else "")
    cube = f"cube {state.cube} {state.owner.name.lower()}"
    return "\t".join((state.rules.full_name, format_sides(state.sides), asked, score, cube)) + "\n"


_WRITERS: Final[Mapping[Format, Callable[[Transcript, Decision], str]]] = {
    Format.XGID: _xgid,
    Format.GNUBG_IDS: _gnubg_id,
    Format.SNOWIE: _snowie,
    Format.POSITIONS: _of_any_game,
}
