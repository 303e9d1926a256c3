"""GNU Backgammon in its external mode: a server on a local port that answers one line with another.

Found by asking version 1.07.001:

- `set evaluation` decides how deep its answers look, and has to come before `external`, which never returns.
`version` is
  answered by four lines. An empty line is an error, one of some thousand characters kills it.
- After a board may follow `jacobyrule on`, `crawfordrule off`, `beavers on` and `resignation 2`. The Crawford game
is one in
  which somebody is a point away and "did Crawford" (token 51) is 0, unless `crawfordrule off` follows.
- While a double or resignation is pending the turn has to be the other side's: else it answers for the wrong player.
- `evaluation fibsboard BOARD plies N cube on` is answered by the chances of the player on roll (to win, to win a
gammon or
  backgammon, to lose one) and a sixth number: the cubeful equity at a cube of 1, or the chance to win the match.
- It takes the two scores for each other, but not when it answers a double. It displays them correctly (`set debug on`).
- A cube far above what wins the match kills it (512 in a match to 19).
- A hit is marked by `*`, no move is the empty line.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Final, NamedTuple, Self

from attrs import evolve, frozen

from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from fibsbot.strategies.child_process.process import ChildProcess, EngineError, EngineExitedError, LineReader
from fibsbot.strategies.child_process.wire_format import board_line
from fibsbot.strategies.evaluator import Chances, six_chances

MAX_PLIES: Final = 3
_PLIES: Final = ("plies", "chequer", "cube")


@frozen
class GnubgOptions:
    """How gnubg decides. Plies are counted as gnubg does: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    deadline: float = 20.0
    """Seconds for a decision, the start of the program included."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=2`, `chequer=2`, `cube=0` and `deadline=20` with commas between them.

        Raises ValueError.
        """
        values: dict[str, float] = {}
        for part in filter(None, text.split(",")):
            name, equals, number = part.partition("=")
            if not equals:
                name, number = "plies", part
            name = name.strip()
            if name == "deadline" and re.fullmatch(r" *[0-9]{1,5}(\.[0-9]{1,3})? *", number) and float(number) > 0:
                values[name] = float(number)
            elif name in _PLIES and re.fullmatch(rf" *[0-{MAX_PLIES}] *", number):
                values |= dict.fromkeys(("chequer", "cube") if name == "plies" else (name,), int(number))
            else:
                raise ValueError(
                    f"expected plies from 0 to {MAX_PLIES}, or plies=, chequer=, cube= and deadline= with commas "
                    f"between them, got {part!r}"
                )
        default = cls()
        return cls(
            chequer=int(values.get("chequer", default.chequer)),
            cube=int(values.get("cube", default.cube)),
            deadline=values.get("deadline", default.deadline),
        )


MAX_CUBE: Final = 1024
"""What it is told of higher cubes in an unlimited match, where the value plays no part; it stops at 4096."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,3}\.[0-9]{1,9}")
_ON_OFF: Final = ("off", "on")
_PROBE_STATE: Final = MatchState(Position.start(), length=3, score=(0, 2), post_crawford=True)


def decision_line(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the line that asks for a decision.

    `scores_swapped` says whether this gnubg takes the scores for each other (see `PROBE`).
    """
    line = f"{_board(state, scores_swapped=scores_swapped)} beavers {_ON_OFF[state.redoubles > 0]}"
    return f"{line} resignation {state.resignation}" if state.phase is Phase.RESIGNED else line


def evaluation_line(state: MatchState, plies: int, *, scores_swapped: bool) -> str:
    """Return the line that asks what a position is worth before the throw."""
    board = _board(state, scores_swapped=scores_swapped)
    return f"evaluation fibsboard {board} plies {plies} cube {_ON_OFF[not state.cubeless]}"


def _board(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the board, with the rules that it does not tell."""
    state = with_capped_cube(state)
    if scores_swapped and state.phase is not Phase.DOUBLED:
        state = evolve(state, score=state.score[::-1])
    return f"{board_line(state)} jacobyrule {_ON_OFF[state.jacoby]} crawfordrule {_ON_OFF[state.crawford]}"


PROBE: Final = f"evaluation fibsboard {board_line(_PROBE_STATE)} crawfordrule off plies 0 cube on"
"""Asks for the chances of one who is 0-2 behind in a match to 3."""


def swaps_scores(answer: str) -> bool:
    """Return what the answer to `PROBE` tells: whether who is behind is said to be ahead. Raises EngineError."""
    return parse_evaluation(answer).value > 0.5


class Evaluation(NamedTuple):
    """What is answered to `evaluation`."""

    value: float
    """Points at a cube of 1, or the chance to win the match."""
    chances: Chances
    """Of the player on roll."""


def parse_evaluation(answer: str) -> Evaluation:
    """Read the six numbers that are answered to `evaluation`; raise EngineError where they are none."""
    numbers = answer.split()
    if len(numbers) != 6 or not all(map(_NUMBER.fullmatch, numbers)):
        raise EngineError(f"expected six numbers, got {answer[:80]!r}")
    *chances, value = map(float, numbers)
    return Evaluation(value, six_chances(*chances))


def with_capped_cube(state: MatchState) -> MatchState:
    """Return a decision that is the same, with a cube no higher than what wins the match for either."""
    enough = 1 << (max(state.away) - 1).bit_length() if state.length else MAX_CUBE
    return evolve(state, cube=min(state.cube, enough))


ADDRESS: Final = "127.0.0.1"
_FLAGS: Final = ("-t", "-q", "-r")
"""On a terminal, without sounds, without the settings of whoever runs us."""
_CONNECT_INTERVAL: Final = 0.02
"""Seconds between attempts to connect while it starts."""
_ERROR: Final = "Error: "


class GnubgProcess:
    """A gnubg that answers; made by starting it, which takes about 0.3 s."""

    def __init__(self, program: str, options: GnubgOptions, deadline: float, *, cubeful: bool) -> None:
        """Start it and see that it answers before the deadline (of `time.monotonic`); raise EngineError otherwise."""
        self._child = ChildProcess([program, *_FLAGS], {"LC_ALL": "C", "LANGUAGE": "C"})
        self._socket = socket.socket()
        self._lines = LineReader(self._socket.fileno())
        port = _free_port()
        try:
            for command in (
                f"set evaluation chequerplay evaluation plies {options.chequer}",
                f"set evaluation cubedecision evaluation plies {options.cube}",
                f"set evaluation chequerplay evaluation cubeful {'on' if cubeful else 'off'}",
                f"external {ADDRESS}:{port}",
            ):
                self._child.tell(command)
            self._connect(port, deadline)
            self._tell("version")
            while not self._lines.read(deadline).startswith("Software: "):
                pass
            self._scores_swapped = swaps_scores(self.ask(PROBE, deadline))
        except EngineError as error:
            raise self._ended(error) from None

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.running

    def decide(self, state: MatchState, deadline: float) -> str:
        """Return the answer to a decision; raise EngineError where there is none."""
        return self.ask(decision_line(state, scores_swapped=self._scores_swapped), deadline)

    def evaluate(self, state: MatchState, plies: int, deadline: float) -> Evaluation:
        """Return what a position is worth before the throw."""
        return parse_evaluation(self.ask(evaluation_line(state, plies, scores_swapped=self._scores_swapped), deadline))

    def ask(self, line: str, deadline: float) -> str:
        """Return the answer to one line, without blanks around it; raise EngineError where there is none."""
        try:
            self._child.lines.drain()
            self._lines.drain()
            self._tell(line)
            answer = self._lines.read(deadline).strip()
        except EngineError as error:
            raise self._ended(error) from None
        if answer.startswith(_ERROR):
            raise EngineError(f"refuses the question: {answer.removeprefix(_ERROR)}")
        return answer

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._child.close()

    def _connect(self, port: int, deadline: float) -> None:
        """Connect as soon as it listens."""
        while self._socket.connect_ex((ADDRESS, port)):
            if time.monotonic() > deadline:
                raise EngineError("did not start in time")
            self._child.lines.drain()
            time.sleep(_CONNECT_INTERVAL)

    def _tell(self, line: str) -> None:
        try:
            self._socket.sendall(f"{line}\n".encode("ascii"))
        except OSError:
            raise EngineExitedError("ended") from None

    def _ended(self, error: EngineError) -> EngineError:
        """End it; return the error, with how the program ended where it did that by itself."""
        words = self._child.epitaph() if isinstance(error, EngineExitedError) else ""
        self.close()
        return EngineExitedError(f"{error} ({words})") if words else error


def _free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port
