"""The strategy `gnubg`, which asks GNU Backgammon in its external mode. It is an evaluator as well.

The external mode has only some of the values of positions, plays and cube actions, so for those gnubg is asked in its
own Python, too (`bridge.py`).
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.laws import Level, has_won, win_level
from fibsbot.strategies.base import (
    Chances,
    CubeAction,
    CubeAnswer,
    CubeValues,
    PlayValue,
    PositionValue,
    reversed_chances,
    six_chances,
)
from fibsbot.strategies.child_process.engine_process import (
    ChildProcess,
    EngineError,
    EngineExitedError,
    RestartingEngine,
)
from fibsbot.strategies.child_process.wire_format import AnswerT, TextStrategy, parse_word
from fibsbot.strategies.gnubg.external_mode import (
    Evaluation,
    GnubgOptions,
    GnubgProcess,
    gnubg_command,
    is_cubeful,
    with_capped_cube,
)
from fibsbot.strategies.heuristic.strategy import is_beavered

ANSWER_MARK: Final = "=> "
VALUE_COLUMNS: Final = 4
"""A row begins with the values of the best action, of rolling, of a double taken and of one passed."""
CHANCE_COLUMNS: Final = 5
"""Then, if wanted, the chances to win, to win a gammon and a backgammon, to lose a gammon and a backgammon."""
MAX_LINES_BEFORE_ANSWER: Final = 1000
"""Lines that gnubg may write before an answer."""
_BRIDGE: Final = Path(__file__).with_name("bridge.py")
_OWNERS: Final = {Owner.CENTRED: -1, Owner.PLAYER: 1, Owner.OPPONENT: 0}
Row: TypeAlias = list[float]


class GnubgValues:
    """A gnubg process that values positions; it is started when it is needed."""

    def __init__(self, program: str, options: GnubgOptions) -> None:
        """Start nothing yet."""
        self._options = options
        self._engine = RestartingEngine(partial(_BridgeProcess, program))
        self._chances: dict[tuple[object, ...], float] = {}

    def value(self, state: MatchState) -> float:
        """Return the value of a position before the roll."""
        return self._row(state)[0]

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value of a position before the roll, with plies and chances."""
        value, _, _, _, *chances = self._row(state, chances=True)
        return PositionValue(value, self._options.cube, six_chances(*chances))

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of the cube actions."""
        _, no_double, taken, passed, *chances = self._row(state, chances=True)
        return CubeValues(no_double, taken, passed, self._options.cube, six_chances(*chances))

    def value_plays(
        self, state: MatchState, plays: Sequence[Play], evaluate: Callable[[MatchState], Evaluation]
    ) -> Sequence[PlayValue]:
        """Return the value of each play, with the chances after it.

        `evaluate` asks the external mode for the value of a position before the roll: a hundred times as fast.
        """
        return [self._after(state, state.position.play(play), evaluate) for play in plays]

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost."""
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
        result = [_cubeinfo_arguments(evolve(state, cube=abs(points), owner=Owner.CENTRED)), math.copysign(1.0, points)]
        return self._ask({"plies": 0, "cubeful": True, "chances": False, "positions": [], "results": [result]})[1][0]

    def close(self) -> None:
        """End the process."""
        self._engine.close()

    def _after(self, state: MatchState, after: Position, evaluate: Callable[[MatchState], Evaluation]) -> PlayValue:
        """Return the value of a position to the player whose play led to it."""
        plies = self._options.chequer
        if has_won(after):
            return PlayValue(self._won(state, after), plies, _won_chances(after))
        theirs = evolve(state, board=after, phase=Phase.ROLL, dice=None).swapped()
        value, chances = evaluate(theirs)
        equity = -(self._normalised(theirs, value) if state.length else value)
        return PlayValue(equity, plies, reversed_chances(chances))

    def _won(self, state: MatchState, after: Position) -> float:
        """Return the value of a won game."""
        cube_turned = state.owner is not Owner.CENTRED
        level = 1 if state.jacoby and not cube_turned else int(win_level(after))
        return self._normalised(state, self.match_chance(state, level * state.cube)) if state.length else float(level)

    def _normalised(self, state: MatchState, chance: float) -> float:
        """Return a match winning chance as a normalised equity."""
        win, loss = self.match_chance(state, state.cube), self.match_chance(state, -state.cube)
        return (2 * chance - win - loss) / (win - loss)

    def _row(self, state: MatchState, *, chances: bool = False) -> Row:
        position = [_board_argument(state.position), _cubeinfo_arguments(state), int(state.jacoby)]
        depth = {"plies": self._options.cube, "cubeful": is_cubeful(state), "chances": chances}
        return self._ask({**depth, "positions": [position], "results": []})[0][0]

    def _ask(self, question: dict[str, Any]) -> tuple[list[Row], Row]:
        """Return the rows of the positions and the match winning chances of the results."""
        deadline = time.monotonic() + self._options.deadline
        line = json.dumps(question)
        return self._engine.ask(lambda program: _parse_answer(program.ask(line, deadline), question), deadline)


class _BridgeProcess:
    """A gnubg process that runs `bridge.py`."""

    def __init__(self, program: str, _deadline: float) -> None:
        self._child = ChildProcess(gnubg_command(program, "-p", str(_BRIDGE)), {"LC_ALL": "C", "LANGUAGE": "C"})

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.running

    def ask(self, line: str, deadline: float) -> str:
        """Send a question and return the answer without its mark."""
        try:
            self._child.send(line)
            for _ in range(MAX_LINES_BEFORE_ANSWER):
                answer = self._child.lines.read(deadline)
                if answer.startswith(ANSWER_MARK):
                    return answer.removeprefix(ANSWER_MARK)
        except EngineExitedError as error:
            raise self._child.with_exit_reason(error) from None
        raise EngineError(f"said more than {MAX_LINES_BEFORE_ANSWER} lines and no answer")

    def close(self) -> None:
        """End the process."""
        self._child.close()


def _won_chances(after: Position) -> Chances:
    """Return the chances of the player who has won."""
    level = win_level(after)
    return six_chances(1.0, float(level >= Level.GAMMON), float(level >= Level.BACKGAMMON), 0.0, 0.0)


def _parse_answer(answer: str, question: dict[str, Any]) -> tuple[list[Row], Row]:
    """Parse an answer. Raises EngineError unless its rows, columns and chances are as many as were asked for."""
    rows, chances = len(question["positions"]), len(question["results"])
    columns = VALUE_COLUMNS + CHANCE_COLUMNS if question["chances"] else VALUE_COLUMNS
    try:
        values, found = json.loads(answer)
        numbers = [*found, *(number for row in values for number in row)]
        shape = (len(values), {len(row) for row in values} - {columns}, len(found))
    except (ValueError, TypeError):
        raise EngineError(f"expected values as JSON, got {answer[:80]!r}") from None
    if shape != (rows, set(), chances) or not all(
        isinstance(number, int | float) and math.isfinite(number) for number in numbers
    ):
        raise EngineError(f"expected {rows} rows of {columns} numbers and {chances} chances, got {answer[:80]!r}")
    return values, found


def _board_argument(position: Position) -> list[list[int]]:
    opponent = [max(-position.points[25 - point], 0) for point in range(1, 26)]
    return [opponent, [max(count, 0) for count in position.points[1:]]]


def _cubeinfo_arguments(state: MatchState) -> list[Any]:
    """Return the arguments of `gnubg.cubeinfo`; the player on roll is gnubg's player 1."""
    state = with_capped_cube(state)
    score = [state.score[1], state.score[0]] if state.length else [0, 0]
    return [state.cube, _OWNERS[state.owner], 1, state.length, score, int(state.crawford)]


RESPONSES: Final = {"take": CubeAction.TAKE, "drop": CubeAction.PASS, "beaver": CubeAction.BEAVER}
RESIGNATION_ANSWERS: Final = {"accept": True, "reject": False}
_EXTRA_PATH: Final = "/usr/games:/usr/local/games"
"""Searched after PATH: that of daemons seldom has the folders of games."""


class GnubgStrategy(TextStrategy):
    """Ask GNU Backgammon, which must be installed; `gnubg:2` looks 2 plies ahead."""

    def __init__(self, options: str = "", *, program: str = "gnubg") -> None:
        """Start nothing yet.

        Args:
            options: see `GnubgOptions.parse`.
            program: the program, by name or path.

        Raises:
            ValueError: the options are invalid.
            FileNotFoundError: gnubg is not installed.
        """
        super().__init__()
        self.name = f"gnubg:{options}" if options else "gnubg"
        self._options = GnubgOptions.parse(options)
        path = shutil.which(program) or shutil.which(program, path=_EXTRA_PATH)
        if path is None:
            raise FileNotFoundError(f"there is no program called {program!r}: is GNU Backgammon installed?")
        # The evaluation of plays is set when gnubg starts, so matches without a cube need another process.
        self._engines = {
            cubeful: RestartingEngine(partial(GnubgProcess, path, self._options, cubeful=cubeful))
            for cubeful in (True, False)
        }
        self._values = GnubgValues(path, self._options)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take, pass or beaver."""
        if is_beavered(state):
            return self._answer_beaver(state)
        action = self._decide(state, partial(parse_word, RESPONSES))
        return CubeAnswer(CubeAction.TAKE if action is CubeAction.BEAVER and not state.redoubles else action)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is enough."""
        return self._decide(state, partial(parse_word, RESIGNATION_ANSWERS))

    def close(self) -> None:
        """End all processes."""
        for engine in self._engines.values():
            engine.close()
        self._values.close()

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return self._values.value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        return self._values.value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return the value of each play."""
        return [compared.equity for compared in self.compare_plays(state, plays, plays[0])] if plays else []

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> Sequence[PlayValue]:  # noqa: ARG002
        """Return the value of each play, all searched equally deep."""
        return self._values.value_plays(state, plays, partial(self._evaluate, plies=self._options.chequer))

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        return self._values.value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost."""
        return self._values.match_chance(state, points)

    # -- asking ---------------------------------------------------------------------------------------------------

    def _answer_beaver(self, state: MatchState) -> CubeAnswer:
        """Answer a beaver of our own double: a pass loses half of the new stake, so a take may lose as much."""
        rolling = evolve(state, phase=Phase.ROLL, cube=2 * state.cube, owner=Owner.OPPONENT)
        equity = 2 * self._evaluate(rolling, self._options.cube).value
        return CubeAnswer(CubeAction.TAKE if equity >= -1 else CubeAction.PASS, max(equity, -1.0))

    def _decide(self, state: MatchState, parse: Callable[[str], AnswerT]) -> AnswerT:
        return self._ask(lambda process, deadline: parse(process.decide(state, deadline)), cubeful=is_cubeful(state))

    def _evaluate(self, state: MatchState, plies: int) -> Evaluation:
        return self._ask(lambda process, deadline: process.evaluate(state, plies, deadline))

    def _ask(self, ask: Callable[[GnubgProcess, float], AnswerT], *, cubeful: bool = True) -> AnswerT:
        deadline = time.monotonic() + self._options.deadline
        return self._engines[cubeful].ask(lambda process: ask(process, deadline), deadline)
