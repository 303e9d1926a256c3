"""One engine that speaks UBGI, the Universal Backgammon Interface (draft 0.01 of 2025 by Øystein Schønning-Johansen).

We say `ubgi`; the engine tells its name, author and version, then `readyok`. Whenever we send a position, as XGID or as
a raw board of FIBS, it answers with one line: a play, a cube action, or nothing where no checker can move. `sorry`
means that it has no answer. `stop` ends an analysis, `quit` the engine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from fibsbot.strategies.foreign.child import Child
from fibsbot.strategies.foreign.errors import EndedError, EngineError, LateError, NotReadyError, SorryError

STARTING: Final = 60.0
"""Seconds that an engine may take to get ready. Decisions until then are lost, each after its own deadline."""
GREETINGS: Final = 1000
"""Lines that it may say before it is ready."""
CHATTER: Final = 1000
"""Lines that begin with `info`, as engines like to say while they think, before an answer has to come."""
READY: Final = "readyok"
SORRY: Final = "sorry"


class UbgiProcess:
    """An engine that was started and greeted."""

    def __init__(self, argv: Sequence[str], _deadline: float) -> None:
        """Start it and do not wait for it to be ready; raise EngineError where that fails."""
        self._child = Child(argv)
        self._ready = False
        self._owes = False
        """Whether it was asked and has not answered."""
        self._greetings = 0
        self._started = time.monotonic()
        self._child.tell("ubgi")

    @property
    def running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.running

    def ask(self, position: str, deadline: float) -> str:
        """Return the engine's answer to a position.

        Raises:
            NotReadyError: it has not got ready by the deadline (of `time.monotonic`), or too late to answer by then.
            SorryError: it has no answer.
            EngineError: it is late, or gone.
        """
        in_time = self._ready
        try:
            self._await_ready(deadline)
            if self._owes:
                self._answer(deadline)
            self._child.lines.drain()
            self._child.tell(position)
            self._owes = True
            answer = self._answer(deadline)
        except EndedError as error:
            raise EndedError(f"{error} ({self._child.epitaph()})") from None
        except LateError:
            if self._owes and not in_time:  # the start took what time it had; the answer is waited for next time
                raise NotReadyError("got ready too late for this decision") from None
            raise
        if answer == SORRY:
            raise SorryError("is sorry")
        return answer

    def _answer(self, deadline: float) -> str:
        answer = self._child.lines.read(deadline).strip()
        for _ in range(CHATTER):
            if not answer.startswith("info "):
                break
            answer = self._child.lines.read(deadline).strip()
        self._owes = False
        return answer

    def close(self) -> None:
        """End it, politely at first."""
        self._child.close("stop\nquit")

    def _await_ready(self, deadline: float) -> None:
        while not self._ready:
            try:
                line = self._child.lines.read(min(deadline, self._started + STARTING)).strip()
            except LateError:
                if time.monotonic() < self._started + STARTING:
                    raise NotReadyError("is not ready yet") from None
                raise
            self._greetings += 1
            if line == SORRY or self._greetings > GREETINGS:
                raise EngineError(f"expected {READY}, got {line[:80]!r}")
            self._ready = line == READY
