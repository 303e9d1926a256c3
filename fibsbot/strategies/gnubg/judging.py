"""What gnubg says things are worth: its external mode tells no values, but the Python in it does (`witness.py`)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.scoring import Level, has_won, level_of
from fibsbot.strategies.foreign.child import Child
from fibsbot.strategies.foreign.errors import EndedError, EngineError
from fibsbot.strategies.foreign.revival import Revival
from fibsbot.strategies.gnubg.asking import Evaluation, with_a_cube_that_fits
from fibsbot.strategies.gnubg.options import GnubgOptions
from fibsbot.strategies.judge import Chances, CubeValues, PlayValue, PositionValue, all_chances, reversed_chances

MARK: Final = "=> "
VALUES: Final = 4
"""A row begins with what the best action, rolling, a taken and a passed double are worth to the player on roll."""
CHANCES: Final = 5
"""What may follow: the chances to win, to win a gammon and a backgammon, to lose a gammon and a backgammon."""
CHATTER: Final = 1000
"""Lines that gnubg may say before an answer."""
_WITNESS: Final = Path(__file__).with_name("witness.py")
_OWNERS: Final = {Owner.CENTRED: -1, Owner.PLAYER: 1, Owner.OPPONENT: 0}
Row: TypeAlias = list[float]


class Valuer:
    """A gnubg that values positions, kept running."""

    def __init__(self, program: str, options: GnubgOptions) -> None:
        """Start nothing yet."""
        self._options = options
        self._running = Revival(partial(_Witness, program))
        self._chances: dict[tuple[object, ...], float] = {}

    def value(self, state: MatchState) -> float:
        """Return what a position is worth before the throw."""
        return self._row(state)[0]

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the same with how far was looked, and the chances."""
        value, _, _, _, *chances = self._row(state, chances=True)
        return PositionValue(value, self._options.cube, all_chances(*chances))

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return what the cube actions are worth."""
        _, no_double, taken, passed, *chances = self._row(state, chances=True)
        return CubeValues(no_double, taken, passed, self._options.cube, all_chances(*chances))

    def value_plays(
        self, state: MatchState, plays: Sequence[Play], evaluate: Callable[[MatchState], Evaluation]
    ) -> Sequence[PlayValue]:
        """Return what each play is worth, and the chances that it leaves.

        `evaluate` is what the external mode says of a position before the throw: a hundred times as quick.
        """
        return [self._after(state, state.position.play(play), evaluate) for play in plays]

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return how likely the match is won once this game has ended with so many points."""
        own, theirs = state.score[0] + max(points, 0), state.score[1] + max(-points, 0)
        if not state.length or not points:
            raise ValueError(f"expected points in a match of some length, got {points} in {state}")
        if own >= state.length or theirs >= state.length:
            return float(own >= state.length)
        key = (state.length, own, theirs, state.crawford, state.post_crawford)
        if key not in self._chances:
            self._chances[key] = self._asked_chance(state, points)
        return self._chances[key]

    def _asked_chance(self, state: MatchState, points: int) -> float:
        result = [_cube(evolve(state, cube=abs(points), owner=Owner.CENTRED)), math.copysign(1.0, points)]
        return self._ask({"plies": 0, "cubeful": True, "chances": False, "positions": [], "results": [result]})[1][0]

    def close(self) -> None:
        """End it."""
        self._running.close()

    def _after(self, state: MatchState, after: Position, evaluate: Callable[[MatchState], Evaluation]) -> PlayValue:
        """Return what the position after a play is worth to who made it."""
        plies = self._options.chequer
        if has_won(after):
            return PlayValue(self._won(state, after), plies, _won_chances(after))
        theirs = evolve(state, position=after, phase=Phase.ROLL, dice=None).swapped()
        value, chances = evaluate(theirs)
        equity = -(self._normalised(theirs, value) if state.length else value)
        return PlayValue(equity, plies, reversed_chances(chances))

    def _won(self, state: MatchState, after: Position) -> float:
        """Return what a game that is won is worth."""
        turned = state.owner is not Owner.CENTRED
        level = 1 if state.jacoby and not turned else int(level_of(after))
        return self._normalised(state, self.match_chance(state, level * state.cube)) if state.length else float(level)

    def _normalised(self, state: MatchState, chance: float) -> float:
        """Return a chance to win the match as an equity at the present cube."""
        win, loss = self.match_chance(state, state.cube), self.match_chance(state, -state.cube)
        return (2 * chance - win - loss) / (win - loss)

    def _row(self, state: MatchState, *, chances: bool = False) -> Row:
        position = [_board(state.position), _cube(state), int(state.jacoby)]
        cubeful = not state.cubeless
        depth = {"plies": self._options.cube, "cubeful": cubeful, "chances": chances}
        return self._ask({**depth, "positions": [position], "results": []})[0][0]

    def _ask(self, question: dict[str, Any]) -> tuple[list[Row], Row]:
        """Return rows, and chances to win the match."""
        deadline = time.monotonic() + self._options.deadline
        line = json.dumps(question)
        return self._running.ask(lambda it: _read(it.ask(line, deadline), question), deadline)


class _Witness:
    """One gnubg that runs `witness.py`."""

    def __init__(self, program: str, _deadline: float) -> None:
        self._child = Child([program, "-t", "-q", "-r", "-p", str(_WITNESS)], {"LC_ALL": "C", "LANGUAGE": "C"})

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.running

    def ask(self, line: str, deadline: float) -> str:
        """Return the answer to a question, without its mark."""
        try:
            self._child.tell(line)
            for _ in range(CHATTER):
                answer = self._child.lines.read(deadline)
                if answer.startswith(MARK):
                    return answer.removeprefix(MARK)
        except EndedError as error:
            raise EndedError(f"{error} ({self._child.epitaph()})") from None
        raise EngineError(f"said more than {CHATTER} lines and no answer")

    def close(self) -> None:
        """End it."""
        self._child.close()


def _won_chances(after: Position) -> Chances:
    """Return the chances of who has won."""
    level = level_of(after)
    return all_chances(1.0, float(level >= Level.GAMMON), float(level >= Level.BACKGAMMON), 0.0, 0.0)


def _read(answer: str, question: dict[str, Any]) -> tuple[list[Row], Row]:
    """Read an answer; raise EngineError unless it has as many rows, numbers in a row and chances as were asked for."""
    rows, chances = len(question["positions"]), len(question["results"])
    columns = VALUES + CHANCES if question["chances"] else VALUES
    try:
        values, found = json.loads(answer)
        numbers = [*found, *(number for row in values for number in row)]
        shape = (len(values), {len(row) for row in values} - {columns}, len(found))
    except (ValueError, TypeError):
        raise EngineError(f"expected values as JSON, got {answer[:80]!r}") from None
    if shape != (rows, set(), chances) or not all(isinstance(it, int | float) and math.isfinite(it) for it in numbers):
        raise EngineError(f"expected {rows} rows of {columns} numbers and {chances} chances, got {answer[:80]!r}")
    return values, found


def _board(position: Position) -> list[list[int]]:
    opponent = [max(-position.points[25 - point], 0) for point in range(1, 26)]
    return [opponent, [max(count, 0) for count in position.points[1:]]]


def _cube(state: MatchState) -> list[Any]:
    """Return the arguments of `gnubg.cubeinfo`; the player is gnubg's player 1."""
    state = with_a_cube_that_fits(state)
    score = [state.score[1], state.score[0]] if state.length else [0, 0]
    return [state.cube, _OWNERS[state.owner], 1, state.length, score, int(state.crawford)]
