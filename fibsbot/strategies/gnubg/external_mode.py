"""GNU Backgammon in its external mode: a server on a local port that answers one line with another.

Observed with version 1.07.001:

- `set evaluation` sets the plies of its answers, and must come before `external`, which never returns. `version` is
  answered by four lines. An empty line is an error; one of some thousand characters crashes it.
- A board may be followed by `jacobyrule on`, `crawfordrule off`, `beavers on` and `resignation 2`. A game is the
  Crawford game if a player is a point away and "did Crawford" (token 51) is 0, unless `crawfordrule off` follows.
- While a double or resignation is pending, the turn must be the other side's; else it answers for the wrong player.
- `evaluation fibsboard BOARD plies N cube on` is answered by the chances of the player on roll (to win, to win a gammon
  or backgammon, to lose one) and a sixth number: the cubeful equity at a cube of 1, or the chance to win the match.
- It swaps the two scores, except when it answers a double. It displays them correctly (`set debug on`).
- A cube far above what wins the match crashes it (512 in a match to 19).
- A hit is marked by `*`; no move is an empty line.
"""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from typing import Final, NamedTuple, Self

from attrs import evolve, frozen

from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from fibsbot.strategies.base import Chances, six_chances
from fibsbot.strategies.child_process.engine_process import ChildProcess, EngineError, EngineExitedError, LineReader
from fibsbot.strategies.child_process.wire_format import board_line
from fibsbot.strategies.engine_options import split_options

MAX_PLIES: Final = 3


@frozen
class GnubgOptions:
    """How far gnubg looks ahead, and for how long. Plies are counted as by gnubg: 0 is the network alone."""

    chequer: int = 2
    """Plies for plays."""
    cube: int = 2
    """Plies for the cube and for resignations."""
    deadline: float = 20.0
    """Seconds for a decision, including the start of the program."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2`, or `plies=2`, `chequer=2`, `cube=0` and `deadline=20` with commas between them.

        Raises ValueError.
        """
        options = cls()
        for option in split_options(text):
            if option.name == "deadline" and option.seconds():
                options = evolve(options, deadline=option.seconds())
            elif plies := option.plies(MAX_PLIES):
                options = evolve(options, **plies)
            else:
                raise ValueError(
                    f"expected plies from 0 to {MAX_PLIES}, or plies=, chequer=, cube= and deadline= with commas "
                    f"between them, got {option.text!r}"
                )
        return options


MAX_CUBE: Final = 1024
"""Sent in place of a higher cube in an unlimited match, where the value makes no difference; gnubg allows 4096."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,3}\.[0-9]{1,9}")
_ON_OFF: Final = ("off", "on")
_PROBE_STATE: Final = MatchState(Position.start(), length=3, score=(0, 2), post_crawford=True)


def decision_line(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the line that asks for a decision.

    `scores_swapped` says whether this gnubg swaps the scores (see `PROBE`).
    """
    line = f"{_board(state, scores_swapped=scores_swapped)} beavers {_ON_OFF[state.redoubles > 0]}"
    return f"{line} resignation {state.resignation}" if state.phase is Phase.RESIGNED else line


def evaluation_line(state: MatchState, plies: int, *, scores_swapped: bool) -> str:
    """Return the line that asks for the value of a position before the roll."""
    board = _board(state, scores_swapped=scores_swapped)
    return f"evaluation fibsboard {board} plies {plies} cube {_ON_OFF[is_cubeful(state)]}"


def _board(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the board, with the rules that a board line cannot express."""
    state = with_capped_cube(state)
    if scores_swapped and state.phase is not Phase.DOUBLED:
        state = evolve(state, score=state.score[::-1])
    return f"{board_line(state)} jacobyrule {_ON_OFF[state.jacoby]} crawfordrule {_ON_OFF[state.crawford]}"


PROBE: Final = f"evaluation fibsboard {board_line(_PROBE_STATE)} crawfordrule off plies 0 cube on"
"""Asks for the chances of a player who is 0-2 behind in a match to 3."""


def swaps_scores(answer: str) -> bool:
    """Return whether the answer to `PROBE` takes the player who is behind to be ahead. Raises EngineError."""
    return parse_evaluation(answer).value > 0.5


class Evaluation(NamedTuple):
    """An answer to `evaluation`."""

    value: float
    """Points at a cube of 1, or the chance to win the match."""
    chances: Chances
    """Of the player on roll."""


def parse_evaluation(answer: str) -> Evaluation:
    """Parse the six numbers of an answer to `evaluation`. Raises EngineError if there are no six numbers."""
    numbers = answer.split()
    if len(numbers) != 6 or not all(map(_NUMBER.fullmatch, numbers)):
        raise EngineError(f"expected six numbers, got {answer[:80]!r}")
    *chances, value = map(float, numbers)
    return Evaluation(value, six_chances(*chances))


def is_cubeful(state: MatchState) -> bool:
    """Whether gnubg, which knows no limit of the cube, is to count with it: not without one, nor at its limit."""
    return state.crawford or state.cube_turns


def with_capped_cube(state: MatchState) -> MatchState:
    """Return an equivalent decision, with a cube no higher than wins the match for either player."""
    enough = 1 << (max(state.away) - 1).bit_length() if state.length else MAX_CUBE
    return evolve(state, cube=min(state.cube, enough))


ADDRESS: Final = "127.0.0.1"
_FLAGS: Final = ("-t", "-q", "-r")
"""In a terminal, without sounds, without the user's gnubg settings."""
_READ_ONLY: Final = "/proc"
"""A folder in which nobody can make anything."""
_CONNECT_INTERVAL: Final = 0.02
"""Seconds between attempts to connect while gnubg starts."""
_ERROR: Final = "Error: "


def gnubg_command(program: str, *arguments: str) -> list[str]:
    """Return the command that starts gnubg.

    It makes a folder in the home directory, and ends where it cannot, as in a service of systemd: then it gets another.
    """
    try:
        (Path.home() / ".gnubg").mkdir(exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return [program, *_FLAGS, "--prefsdir", _READ_ONLY, *arguments]
    return [program, *_FLAGS, *arguments]


class GnubgProcess:
    """A running gnubg in external mode; it takes about 0.3 s to start."""

    def __init__(self, program: str, options: GnubgOptions, deadline: float, *, cubeful: bool) -> None:
        """Start gnubg. Raises EngineError unless it answers before the deadline (of `time.monotonic`)."""
        self._child = ChildProcess(gnubg_command(program), {"LC_ALL": "C", "LANGUAGE": "C"})
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
                self._child.send(command)
            self._connect(port, deadline)
            self._send("version")
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
        """Return the answer to a decision. Raises EngineError if there is none."""
        return self.ask(decision_line(state, scores_swapped=self._scores_swapped), deadline)

    def evaluate(self, state: MatchState, plies: int, deadline: float) -> Evaluation:
        """Return the value of a position before the roll."""
        return parse_evaluation(self.ask(evaluation_line(state, plies, scores_swapped=self._scores_swapped), deadline))

    def ask(self, line: str, deadline: float) -> str:
        """Send a line and return the answer without surrounding blanks. Raises EngineError if there is none."""
        try:
            self._child.lines.drain()
            self._lines.drain()
            self._send(line)
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

    def _send(self, line: str) -> None:
        try:
            self._socket.sendall(f"{line}\n".encode("ascii"))
        except OSError:
            raise EngineExitedError("ended") from None

    def _ended(self, error: EngineError) -> EngineError:
        """End gnubg; return the error, with the reason if gnubg had ended itself."""
        if isinstance(error, EngineExitedError):
            error = self._child.with_exit_reason(error)
        self.close()
        return error


def _free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port
