"""Reads a game of a `.mat` file, row by row."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from attrs import define, evolve

from fibsbot.formats.building import HIGHEST_NUMBER, Building, resigned_level
from fibsbot.formats.errors import FormatError, expected
from fibsbot.formats.snowie import read_snowie
from fibsbot.match import CubeAction, Dice
from fibsbot.notation.plays import parse_play
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Game, Gap, Throw

_NUMBER: Final = re.compile(r"\s*[0-9]{1,6}\)")
_ACTION: Final = re.compile(
    r"(?P<dice>[1-6][1-6]):|\b(?:(?P<double>(?:re)?doubles?)|(?P<redouble>beavers?|raccoons?|otters?)"
    r"|(?P<take>takes?|accepts?)|(?P<drop>drops?|pass(?:es)?|rejects?)|(?P<win>wins?)|(?P<lose>loss(?:es)?|loses?)"
    r"|(?P<resign>resign(?:s|ed)?))\b",
    re.IGNORECASE,
)
_DANCED: Final = re.compile(
    r"(?:cannot|can't|can not)[ ]move|no[ ](?:moves?|plays?)|danc(?:e|es|ed)|-+|\(.*\)", re.IGNORECASE
)
_UNPLAYED: Final = re.compile(r"\?+")
_DUMP: Final = re.compile(r"\([^()]*;[^()]*\)")
"""A position, as gnubg and XG write it behind a play that is none; what is in it are no words of the row."""
_ILLEGAL: Final = re.compile(r"illegal play *(?:\((.*)\))?", re.IGNORECASE)
_SECOND: Final = re.compile(r"(?<=[ ])[0-9]{1,6}\)[ ]")
"""The number of a row that stands in the line of the one before."""
RIGHT_HALF: Final = 10
"""So many blanks before the only thing in a row say that it stands in its right half."""
RIGHT_WINS: Final = 20


@define
class GameReader:
    """A game as it is read, row by row."""

    building: Building
    gap: bool
    """Whether something is missing before its result."""
    jacoby_open: bool
    told: Result | None = None
    """What the file says of the end."""
    loser: Seat | None = None
    """Who has lost or resigned by a word in an own column."""
    lost_points: str = ""
    """What stands behind that word."""
    unplayed: tuple[int, str] | None = None
    """Line and text of a throw whose play was not seen, with which the game must come to its end."""
    problem: FormatError | None = None
    """Why the rest of the game could not be read."""
    miscounted: str = ""
    """What the file says of points that cannot be; empty if they can."""

    def row(self, line: str, number: int) -> None:
        """Take a line: what one player or both did, or who has won. What cannot be read costs the rest of the game."""
        masked = _DUMP.sub(lambda dump: "#" * len(dump[0]), line)
        numbered = _NUMBER.match(line)
        begins = [numbered.end() if numbered else 0]
        begins += [second.end() for second in _SECOND.finditer(masked, begins[0])]
        for begin, end in zip(begins, [*begins[1:], len(line)], strict=True):
            self._cells(line, masked[:end], begin, number, numbered=numbered is not None or begin > begins[0])

    def _cells(self, line: str, masked: str, begin: int, number: int, *, numbered: bool) -> None:
        """Take what stands in a line from one row's number up to where it ends or another begins."""
        actions = list(_ACTION.finditer(masked, begin))
        before = masked[begin : actions[0].start() if actions else None].strip()
        if before or not (actions or numbered):
            self._lose(expected("a row such as '1) 31: 8/5 6/5   42: 8/4 6/4'", line.strip(), number))
        ends = [*(action.start() for action in actions[1:]), len(masked)]
        for place, (action, end) in enumerate(zip(actions, ends, strict=False)):
            right = place > 0 or (numbered and action.start() - begin >= RIGHT_HALF)
            seat = Seat.B if right else Seat.A
            rest = _SECOND.sub("", line[action.end() : end] + " ").strip()
            try:
                self._act(action, rest, seat, number, numbered=numbered)
            except FormatError as error:
                self._lose(error)

    def _lose(self, error: FormatError) -> None:
        self.building.lose(error)
        self.problem = self.problem or error

    def _act(self, action: re.Match[str], rest: str, seat: Seat, line: int, *, numbered: bool) -> None:
        text = f"{action[0]} {rest}".strip()
        if action["win"]:
            self._win(Seat.B if action.start() >= RIGHT_WINS else Seat.A, rest, line)
            return
        if action["lose"]:  # where the row has no number, the word may stand in either column
            self.loser, self.lost_points = (seat, rest) if numbered else (None, "")
            return
        if self.building.lost:
            return
        if self.told or self.building.over:
            raise expected("the next game, as this one is over", text, line)
        if self.unplayed:
            self._missing_play(*self.unplayed)
        if action["dice"]:
            self._throw(seat, (int(action["dice"][0]), int(action["dice"][1])), rest, line)
        elif action["double"] or action["redouble"]:
            self._double(seat, text, line)
        elif action["take"] or action["drop"]:
            self.building.cube(seat, CubeAction.TAKE if action["take"] else CubeAction.PASS, line)

    def _missing_play(self, line: int, text: str) -> NoReturn:
        raise expected("a play for the dice, or the end of the game after them", text, line)

    def _throw(self, seat: Seat, dice: Dice, moves: str, line: int) -> None:
        building = self.building
        last = building.entries[-1] if building.entries else None
        if isinstance(last, Cube) and last.action is CubeAction.BEAVER and building.state.answering is not None:
            building.cube(building.state.answering, CubeAction.TAKE, line)  # gnubg and XG leave this out
        if illegal := _ILLEGAL.match(moves):
            building.add(_after_illegal(illegal[1] or "", building.state, seat, line), line)
            return
        play = self._play(seat, dice, moves, line)
        building.add(Throw(seat=seat, dice=dice, play=play), line)
        if play is None:
            self.unplayed = line, f"{dice[0]}{dice[1]}: {moves}".strip()

    def _play(self, seat: Seat, dice: Dice, moves: str, line: int) -> Play | None:
        """Return what was played; None where nothing was, although there was something to choose."""
        if _UNPLAYED.fullmatch(moves):
            return None
        position = self.building.state.position_for(seat)
        if moves and not _DANCED.fullmatch(moves):
            try:
                return parse_play(moves.replace("*", ""), position, dice, hits_are_marked=True)
            except RuleError as error:
                where = f"line {line}: game {self.building.number}, turn {self.building.state.turns + 1}"
                raise FormatError(f"{where}: {error}") from None
        plays = legal_plays(position, dice) or (Play(),)
        if len(plays) > 1 and moves:
            raise expected(f"a play for {dice[0]}-{dice[1]}, for which there are {len(plays)}", moves, line)
        return plays[0] if len(plays) == 1 else None

    def _double(self, seat: Seat, text: str, line: int) -> None:
        building = self.building
        building.cube(seat, CubeAction.DOUBLE, line)
        value = re.search("[0-9]{1,9}", text)
        offered = building.state.offered
        if not value or int(value[0]) == offered:
            return
        first = sum(isinstance(entry, Cube) for entry in building.entries) == 1
        factor, rest = divmod(int(value[0]), offered)
        if building.start.length or building.start.cube != 1 or not first or rest or factor & (factor - 1):
            raise expected(f"Doubles => {offered}", text, line)
        # The cube was not at 1 when the game began: ties in the opening throw had raised it.
        building.start = evolve(building.start, cube=factor)
        building.state = evolve(building.state, cube=factor, offered=factor * offered)

    def _win(self, winner: Seat, rest: str, line: int) -> None:
        """Take what is said of the end; where nothing else has ended the game, the loser has resigned."""
        building = self.building
        number = re.match("[0-9]{1,9}", rest)
        if self.told:
            raise expected("the next game, as this one is over", f"Wins {rest}", line)
        points = int(number[0]) if number else 0
        need = building.start.length - building.start.scores[winner] if building.start.length else HIGHEST_NUMBER
        level = resigned_level(min(points, need) or 1, building.state.cube)
        if building.over or self.gap or building.lost:
            possible = _can_count(points, 0 if building.lost or self.gap else building.state.cube, need)
        else:
            possible = _can_count(points, building.state.cube, need)
            exact = possible and points % building.state.cube == 0 and points <= 3 * building.state.cube
            building.resign(winner.other, Level(points // building.state.cube) if exact else level, line)
        found = building.state.result
        counted = points if possible else found.points if found else min(need, building.state.cube)
        if number and points != counted:
            self.miscounted = f"{points}, which no cube and level make"
        if found is None:
            self.told = Result(winner, counted, resigned_level(counted, 1), Ending.RESIGNED)
            return
        if self.jacoby_open and points == building.state.cube and found.level > 1 and building.state.owner is None:
            laws = evolve(building.start.laws, jacoby=True)
            building.start = evolve(building.start, laws=laws)
            building.state = evolve(building.state, laws=laws)
        self.told = evolve(found, points=counted)

    def finished(self) -> Game:
        """Return the game; what the file says of its end comes before what the rules make of it."""
        if self.loser is not None and not (self.told or self.building.over):
            self._win(self.loser.other, self.lost_points, 0)
        game = self.building.finished(self.told)
        return evolve(game, result=self.told) if self.told else game


def _can_count(points: int, cube: int, need: int) -> bool:
    """Whether a game can count so much with this cube; 0 is any cube.

    Some programs count no more than what the winner needs to win the match.
    """
    if points == need and points < (3 * cube or HIGHEST_NUMBER):
        return True
    if cube:
        return points in {level * cube for level in Level}
    odd = points & -points and points // (points & -points)
    return odd in {1, 3}


def _after_illegal(dump: str, state: GameState, seat: Seat, line: int) -> Gap:
    """Return the gap that a play leaves which could not be written, with the position after it.

    Raises FormatError where the file does not tell that position.
    """
    try:
        position = read_snowie(dump).state.position
    except FormatError:
        raise FormatError(f"line {line}: expected a legal play, got an illegal one") from None
    then = evolve(state, turn=seat.other, stage=Stage.ROLL, dice=None, position=position, turns=state.turns + 1)
    return Gap(reason=f"line {line}: an illegal play", then=then)
