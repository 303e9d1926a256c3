"""The strategy `ubgi:COMMAND`: an engine that speaks UBGI, the Universal Backgammon Interface, as a child process.

The draft is 0.01 of 2025, by Øystein Schønning-Johansen. We send `ubgi`; the engine sends its name, author and
version, then `readyok`. Each position that we send, as XGID or as a raw board of FIBS, is answered by one line: a
play, a cube action, or nothing if no checker can move. `sorry` means that it has no answer. `stop` ends an
analysis, `quit` the engine.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from fibsbot.match import MatchState
from fibsbot.notation import NotationError, Xgid
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.child_process.engine_process import (
    ChildProcess,
    DeclinedError,
    EngineError,
    EngineExitedError,
    EngineTimeoutError,
    NotReadyError,
    RestartingEngine,
    SorryError,
    find_program,
)
from fibsbot.strategies.child_process.wire_format import AnswerT, TextStrategy, board_line, parse_word
from fibsbot.strategies.heuristic.strategy import is_beavered

__all__ = ["UbgiStrategy"]


START_TIMEOUT: Final = 60.0
"""Seconds that an engine may take to start. Decisions until then are lost, each after its own deadline."""
MAX_STARTUP_LINES: Final = 1000
"""Lines that it may write before it is ready."""
MAX_INFO_LINES: Final = 1000
"""Lines that begin with `info`, which engines write while they search, before an answer must come."""
READY: Final = "readyok"
SORRY: Final = "sorry"


class UbgiProcess:
    """A running engine that speaks UBGI."""

    def __init__(self, argv: Sequence[str], _deadline: float) -> None:
        """Start the engine without waiting until it is ready. Raises EngineError if that fails."""
        self._child = ChildProcess(argv)
        self._ready = False
        self._answer_pending = False
        """Whether it has not answered the last question yet."""
        self._startup_lines = 0
        self._started = time.monotonic()
        self._child.send("ubgi")

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.running

    def ask(self, position: str, deadline: float) -> str:
        """Return the engine's answer to a position.

        Raises:
            NotReadyError: it was not ready by the deadline (of `time.monotonic`), or too late to answer by then.
            SorryError: it has no answer.
            EngineError: it is late, or has ended.
        """
        in_time = self._ready
        try:
            self._wait_until_ready(deadline)
            if self._answer_pending:
                self._answer(deadline)
            self._child.lines.drain()
            self._child.send(position)
            self._answer_pending = True
            answer = self._answer(deadline)
        except EngineExitedError as error:
            raise self._child.with_exit_reason(error) from None
        except EngineTimeoutError:
            if self._answer_pending and not in_time:  # the answer is read before the next question
                raise NotReadyError("started during this decision, and gave no answer in the time left") from None
            raise
        if answer == SORRY:
            raise SorryError("is sorry")
        return answer

    def _answer(self, deadline: float) -> str:
        answer = self._child.lines.read(deadline).strip()
        for _ in range(MAX_INFO_LINES):
            if not answer.startswith("info "):
                break
            answer = self._child.lines.read(deadline).strip()
        self._answer_pending = False
        return answer

    def close(self) -> None:
        """Ask the engine to quit, then kill it."""
        self._child.close("stop\nquit")

    def _wait_until_ready(self, deadline: float) -> None:
        while not self._ready:
            try:
                line = self._child.lines.read(min(deadline, self._started + START_TIMEOUT)).strip()
            except EngineTimeoutError:
                if time.monotonic() < self._started + START_TIMEOUT:
                    raise NotReadyError("is not ready yet") from None
                raise
            self._startup_lines += 1
            if line == SORRY or self._startup_lines > MAX_STARTUP_LINES:
                raise EngineError(f"expected {READY}, got {line[:80]!r}")
            self._ready = line == READY


DEADLINE: Final = 20.0
"""Seconds for a decision, including the start of the engine."""
RESPONSES: Final = {"take": CubeAction.TAKE, "drop": CubeAction.PASS}


class UbgiStrategy(TextStrategy):
    """Ask the engine that a command starts and that speaks UBGI: `ubgi:COMMAND`.

    UBGI has no words for resignations and for beavers of our own doubles: the strategy `heuristic` decides those.
    """

    def __init__(self, command: str = "", *, deadline: float = DEADLINE) -> None:
        """Start nothing yet.

        Args:
            command: the engine's program and its arguments, with quotes as in a shell.
            deadline: seconds for a decision.

        Raises:
            ValueError: no command, or one whose quotes do not match.
            FileNotFoundError: there is no such program.
        """
        super().__init__()
        words = shlex.split(command)
        if not words:
            raise ValueError("expected a command after the name: ubgi:COMMAND")
        self.name = f"ubgi:{command}"
        self._argv = [find_program(words[0]), *words[1:]]
        self._deadline = deadline
        self._engine = RestartingEngine(partial(UbgiProcess, self._argv))
        self._formats: list[Callable[[MatchState], str]] = [_xgid, board_line]

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take or pass."""
        if is_beavered(state):
            return self._heuristic.answer_double(state)
        return CubeAnswer(self._decide(state, partial(parse_word, RESPONSES)))

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is enough."""
        return self._heuristic.accept_resignation(state)

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    def _decide(self, state: MatchState, parse: Callable[[str], AnswerT]) -> AnswerT:
        """Ask in the format that the engine knows: it must read one of the two, and may answer `sorry` to the other."""
        deadline = time.monotonic() + self._deadline
        try:
            return self._ask(self._formats[0](state), parse, deadline)
        except SorryError:
            answer = self._ask(self._formats[1](state), parse, deadline)
            self._formats.reverse()
            return answer

    def _ask(self, position: str, parse: Callable[[str], AnswerT], deadline: float) -> AnswerT:
        return self._engine.ask(lambda engine: parse(engine.ask(position, deadline)), deadline)


def _xgid(state: MatchState) -> str:
    try:
        return str(Xgid.of(state))
    except NotationError as error:
        raise DeclinedError(f"cannot be asked: {error}") from None
