"""Reads one game of a `.mat` file, row by row; see mat_reader.py."""

from __future__ import annotations

import re
from typing import Final

from attrs import define, evolve

from fibsbot.formats import FormatError, expected
from fibsbot.formats.checked_game import CheckedGame, resigned_level
from fibsbot.formats.position_lists import read_snowie
from fibsbot.games.state_json import HIGHEST_NUMBER
from fibsbot.match import CubeAction, Dice
from fibsbot.position import Play
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Gap, Throw

_ROW_NUMBER: Final = re.compile(r"\s*[0-9]{1,6}\)")
_ACTION: Final = re.compile(
    r"(?P<dice>[1-6][1-6]):|\b(?:(?P<double>(?:re)?doubles?)|(?P<redouble>beavers?|raccoons?|otters?)"
    r"|(?P<take>takes?|accepts?)|(?P<drop>drops?|pass(?:es)?|rejects?)|(?P<win>wins?)|(?P<lose>loss(?:es)?|loses?)"
    r"|(?P<resign>resign(?:s|ed)?))\b",
    re.IGNORECASE,
)
_NO_MOVE: Final = re.compile(
    r"(?:cannot|can't|can not)[ ]move|no[ ](?:moves?|plays?)|danc(?:e|es|ed)|-+|\(.*\)", re.IGNORECASE
)
_UNPLAYED: Final = re.compile(r"\?+")
_POSITION_DUMP: Final = re.compile(r"\([^()]*;[^()]*\)")
"""A position, as gnubg and XG write it after an illegal play; it is not part of the row's words."""
_ILLEGAL: Final = re.compile(r"illegal play *(?:\((.*)\))?", re.IGNORECASE)
_MOVE: Final = r"(?:bar|off|[0-9]{1,2})(?:[/-](?:bar|off|[0-9]{1,2})\*?)+(?:\([2-4]\))?"
_PLAY_AND_REST: Final = re.compile(
    rf"({_MOVE}(?:[ ]+{_MOVE}){{0,15}}|(?:cannot|can't|can not)[ ]move|no[ ](?:moves?|plays?)|\?+)[ ]+(.*)",
    re.IGNORECASE,
)
"""A play and what stands to its right."""
_OTHER_MOVE: Final = re.compile(r"[0-9r][/-]|[/-][0-9bo]", re.IGNORECASE)
"""A part of a move, which belongs to the play before it."""
_SECOND_ROW_NUMBER: Final = re.compile(r"(?<=[ ])[0-9]{1,6}\)[ ]")
"""The number of a row in the line of the row before it."""
RIGHT_HALF: Final = 10
"""Blanks before the only action of a row that put it into the right half."""
RIGHT_WINS: Final = 20
"""The column from which "Wins" is in the right half."""


@define
class MatGameReader:
    """A game that is being read row by row."""

    checked: CheckedGame
    gap: bool
    """Whether there is a gap before its result."""
    jacoby_unknown: bool
    rejected: list[tuple[Seat, Dice]]
    """The first rolls that were rejected, by our own note; each comes before the roll of its player that follows."""
    left: Seat = Seat.A
    """The player of the left column."""
    loser: Seat | None = None
    """The player who lost or resigned, by a word in the player's column."""
    lost_points: str = ""
    """The text after that word."""
    unplayed: tuple[int, str] | None = None
    """Line and text of a roll whose play was not seen; it must be the last one of the game."""
    unknown: FormatError | None = None
    """The error for a word that is none of the format, if nothing has come after it: it may end the game."""
    invalid_points: str = ""
    """The impossible points in the file; empty if they are possible."""

    def row(self, line: str, number: int) -> None:
        """Process a line: the actions of one or both players, or the winner. An error costs the rest of the game."""
        self.checked.line = number
        masked = _POSITION_DUMP.sub(lambda dump: "#" * len(dump[0]), line)
        numbered = _ROW_NUMBER.match(line)
        begins = [numbered.end() if numbered else 0]
        begins += [second.end() for second in _SECOND_ROW_NUMBER.finditer(masked, begins[0])]
        for begin, end in zip(begins, [*begins[1:], len(line)], strict=True):
            self._cells(line, masked[:end], begin, numbered=numbered is not None or begin > begins[0])

    def _cells(self, line: str, masked: str, begin: int, *, numbered: bool) -> None:
        """Process a part of a line: a row from its number up to the next row's number."""
        actions = list(_ACTION.finditer(masked, begin))
        before = masked[begin : actions[0].start() if actions else None].strip()
        if before and numbered:
            self._take_unknown(before)
        elif before or not (actions or numbered):
            self.checked.give_up(self._expected("a row such as '1) 31: 8/5 6/5   42: 8/4 6/4'", line.strip()))
        ends = [*(action.start() for action in actions[1:]), len(masked)]
        for place, (action, end) in enumerate(zip(actions, ends, strict=False)):
            right = place > 0 or (numbered and action.start() - begin >= RIGHT_HALF)
            seat = self.left.other if right else self.left
            rest = _SECOND_ROW_NUMBER.sub("", line[action.end() : end] + " ").rstrip()
            rest, unknown = _split_unknown(rest) if action["dice"] and end == len(masked) else (rest.strip(), "")
            try:
                self._act(action, rest, seat, numbered=numbered)
            except FormatError as error:
                self.checked.give_up(self.unknown or error)
            if action["dice"]:
                self.unknown = None
            if unknown:
                self._take_unknown(unknown)

    def _expected(self, what: str, got: str) -> FormatError:
        return expected(what, got, self.checked.line)

    @property
    def _over(self) -> bool:
        """Whether the game is over, by its entries or by what the file says."""
        return self.checked.over or self.checked.stated is not None

    def _take_unknown(self, word: str) -> None:
        """Process an unknown word, such as `Concedes`; it ends the game unless a legal action follows."""
        if not self._over:
            self.unknown = self._expected("a roll, a cube action or the result", word)

    def _act(self, action: re.Match[str], rest: str, seat: Seat, *, numbered: bool) -> None:
        text = f"{action[0]} {rest}".strip()
        if action["win"]:
            self._win(self.left.other if action.start() >= RIGHT_WINS else self.left, rest)
            return
        if action["lose"]:  # where the row has no number, the word may stand in either column
            self.loser, self.lost_points = (seat, rest) if numbered else (None, "")
            return
        if self.checked.problem:
            return
        if self._over:
            raise self._expected("the next game, as this one is over", text)
        if self.unplayed:
            line, roll = self.unplayed
            raise expected("a play for the dice, or the end of the game after them", roll, line)
        self._reject_rolls(before=seat if action["dice"] else None)
        if action["dice"]:
            self._throw(seat, (int(action["dice"][0]), int(action["dice"][1])), rest)
        elif action["double"] or action["redouble"]:
            self._double(seat, text)
        elif action["take"] or action["drop"]:
            self.checked.cube(seat, CubeAction.TAKE if action["take"] else CubeAction.PASS)

    def _reject_rolls(self, *, before: Seat | None = None) -> None:
        """Add the rejected rolls that come before a player's roll, or before anything else."""
        while self.rejected and before in {None, self.rejected[0][0]}:
            self.checked.reject_roll(*self.rejected.pop(0))

    def _throw(self, seat: Seat, dice: Dice, moves: str) -> None:
        checked = self.checked
        last = checked.entries[-1] if checked.entries else None
        if isinstance(last, Cube) and last.action is CubeAction.BEAVER and checked.state.answering is not None:
            checked.cube(checked.state.answering, CubeAction.TAKE)  # gnubg and XG leave this out
        if illegal := _ILLEGAL.match(moves):
            checked.add(_after_illegal(illegal[1] or "", checked.state, seat, checked.line))
            return
        play = self._play(seat, dice, moves)
        checked.add(Throw(seat=seat, dice=dice, play=play))
        if play is None:
            self.unplayed = checked.line, f"{dice[0]}{dice[1]}: {moves}".strip()

    def _play(self, seat: Seat, dice: Dice, moves: str) -> Play | None:
        """Return what was played; None where nothing was, although there was something to choose."""
        if _UNPLAYED.fullmatch(moves):
            return None
        if moves and not _NO_MOVE.fullmatch(moves):
            return self.checked.read_play(seat, dice, moves.replace("*", ""))
        plays = legal_plays(self.checked.state.position_for(seat), dice) or (Play(),)
        if len(plays) > 1 and moves:
            raise self._expected(f"a play for {dice[0]}-{dice[1]}, for which there are {len(plays)}", moves)
        return plays[0] if len(plays) == 1 else None

    def _double(self, seat: Seat, text: str) -> None:
        checked = self.checked
        checked.cube(seat, CubeAction.DOUBLE)
        value = re.search("[0-9]{1,9}", text)
        offered = checked.state.offered
        if not value or int(value[0]) == offered:
            return
        first = sum(isinstance(entry, Cube) for entry in checked.entries) == 1
        factor, rest = divmod(int(value[0]), offered)
        if checked.start.length or checked.start.cube != 1 or not first or rest or factor & (factor - 1):
            raise self._expected(f"Doubles => {offered}", text)
        # The cube was not at 1 when the game began: ties in the opening roll had raised it.
        checked.correct(cube=factor)
        checked.state = evolve(checked.state, offered=factor * offered)

    def _win(self, winner: Seat, rest: str) -> None:
        """Process the result; if nothing else has ended the game, the loser has resigned."""
        checked = self.checked
        number = re.match("[0-9]{1,9}", rest)
        if checked.stated:
            raise self._expected("the next game, as this one is over", f"Wins {rest}")
        points = int(number[0]) if number else 0
        need = checked.start.length - checked.start.scores[winner] if checked.start.length else HIGHEST_NUMBER
        level = resigned_level(min(points, need) or 1, checked.state.cube)
        if checked.over or self.gap or checked.problem:
            possible = _is_possible_count(points, 0 if checked.problem or self.gap else checked.state.cube, need)
        else:
            possible = _is_possible_count(points, checked.state.cube, need)
            exact = possible and points % checked.state.cube == 0 and points <= 3 * checked.state.cube
            checked.resign(winner.other, Level(points // checked.state.cube) if exact else level)
        found = checked.state.result
        if found is not None and found.how is Ending.DROPPED:
            possible = points in {found.points, min(found.points, need)}
        counted = points if possible else found.points if found else min(need, checked.state.cube)
        if number and points != counted:
            self.invalid_points = f"{points}, which no cube and level make"
        if found is None:
            checked.stated = Result(winner, counted, resigned_level(counted, 1), Ending.RESIGNED)
            return
        if self.jacoby_unknown and points == checked.state.cube and found.level > 1 and checked.state.owner is None:
            checked.correct(laws=evolve(checked.start.laws, jacoby=True))
        checked.stated = evolve(found, points=counted)

    def end(self) -> None:
        """End the game, where the file has nothing more of it."""
        if self.loser is not None and not self._over:
            self._win(self.loser.other, self.lost_points)
        if self.unknown and not self._over:
            self.checked.give_up(self.unknown)


def _split_unknown(text: str) -> tuple[str, str]:
    """Split what follows a roll into its play and what stands to the right of it, in the other player's column."""
    words = text.strip()
    if len(text) - len(words) >= RIGHT_HALF:
        return "", words
    found = _PLAY_AND_REST.fullmatch(words)
    if found is None or _OTHER_MOVE.search(found[2]):
        return words, ""
    return found[1], found[2]


def _is_possible_count(points: int, cube: int, need: int) -> bool:
    """Whether a game can count these points with this cube; 0 is any cube.

    Some programs count no more than what the winner needs to win the match.
    """
    if points == need and points < (3 * cube or HIGHEST_NUMBER):
        return True
    if cube:
        return points in {level * cube for level in Level}
    odd = points & -points and points // (points & -points)
    return odd in {1, 3}


def _after_illegal(dump: str, state: GameState, seat: Seat, line: int) -> Gap:
    """Return the gap for an illegal play, with the position after it.

    Raises FormatError if the file does not have that position.
    """
    try:
        position = read_snowie(dump).state.position
    except FormatError:
        raise FormatError(f"line {line}: expected a legal play, got an illegal one") from None
    then = evolve(state, turn=seat.other, stage=Stage.ROLL, dice=None, board=position, turns=state.turns + 1)
    return Gap(reason=f"line {line}: an illegal play", then=then)
