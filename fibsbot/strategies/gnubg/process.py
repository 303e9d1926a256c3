"""One gnubg in its external mode: a server on a port of this machine that answers one line with another.

What was found by asking version 1.07.001: `set evaluation` decides how deep its answers look, and has to come before
`external`, which never returns. `version` answers four lines. An empty line is an error, one of some thousand
characters kills it. `asking.py` says what its questions are like.
"""

from __future__ import annotations

import socket
import time
from typing import Final

from fibsbot.match import MatchState
from fibsbot.strategies.foreign.child import Child
from fibsbot.strategies.foreign.errors import EndedError, EngineError
from fibsbot.strategies.foreign.lines import Lines
from fibsbot.strategies.gnubg.asking import PROBE, Evaluation, evaluation, question, swaps_scores, value_question
from fibsbot.strategies.gnubg.options import GnubgOptions

ADDRESS: Final = "127.0.0.1"
_FLAGS: Final = ("-t", "-q", "-r")
"""On a terminal, without sounds, without the settings of whoever runs us."""
_RETRY: Final = 0.02
"""Seconds between attempts to connect while it starts."""
_ERROR: Final = "Error: "


class GnubgProcess:
    """A gnubg that answers; made by starting it, which takes about 0.3 s."""

    def __init__(self, program: str, options: GnubgOptions, deadline: float, *, cubeful: bool) -> None:
        """Start it and see that it answers before the deadline (of `time.monotonic`); raise EngineError otherwise."""
        self._child = Child([program, *_FLAGS], {"LC_ALL": "C", "LANGUAGE": "C"})
        self._socket = socket.socket()
        self._lines = Lines(self._socket.fileno())
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
        return self.ask(question(state, scores_swapped=self._scores_swapped), deadline)

    def evaluate(self, state: MatchState, plies: int, deadline: float) -> Evaluation:
        """Return what a position is worth before the throw."""
        return evaluation(self.ask(value_question(state, plies, scores_swapped=self._scores_swapped), deadline))

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
            time.sleep(_RETRY)

    def _tell(self, line: str) -> None:
        try:
            self._socket.sendall(f"{line}\n".encode("ascii"))
        except OSError:
            raise EndedError("ended") from None

    def _ended(self, error: EngineError) -> EngineError:
        """End it; return the error, with how the program ended where it did that by itself."""
        words = self._child.epitaph() if isinstance(error, EndedError) else ""
        self.close()
        return EndedError(f"{error} ({words})") if words else error


def _free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port
