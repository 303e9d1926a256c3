"""Ours as a UBGI engine: see `fibsbot/strategies/ubgi/process.py` for what is said.

Whatever comes, every line that is not understood is answered by `sorry`, and nothing but `quit` or the end of the input
ends it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import BinaryIO, Final

import structlog

from fibsbot import __version__
from fibsbot.external.answering import Answerer, NoAnswerError
from fibsbot.match import MatchState
from fibsbot.notation import NotationError, Xgid
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.foreign.boards import state_of_line
from fibsbot.strategies.foreign.lines import LONGEST
from protocol.board import PREFIX as BOARD

AUTHOR: Final = "the authors of fibsbot"
SORRY: Final = "sorry"
_log = structlog.get_logger(__name__)


class UbgiEngine:
    """Answers lines; made without loading anything, as the draft wants it."""

    def __init__(self, load: Callable[[], Sequence[Strategy]]) -> None:
        """Load the strategies, the first of which plays, when they are needed."""
        self._load = load
        self._strategies: Sequence[Strategy] | None = None

    def answers(self, line: str) -> list[str]:
        """Return the lines that answer one line."""
        match line.strip():
            case "ubgi":
                (first, *_) = self._ready()
                return [f"id name fibsbot {first.name}", f"id author {AUTHOR}", f"id version {__version__}", "readyok"]
            case "" | "stop":  # nothing is ever under way when a line is read
                return []
            case position:
                return [self._answer(position)]

    def close(self) -> None:
        """Close what was loaded."""
        for strategy in self._strategies or ():
            strategy.close()

    def _ready(self) -> Sequence[Strategy]:
        if self._strategies is None:
            self._strategies = self._load()
        return self._strategies

    def _answer(self, position: str) -> str:
        try:
            return Answerer(self._ready()).answer(_state(position))
        except (ValueError, NoAnswerError) as error:  # a NotationError is a ValueError
            _log.info("sorry", line=position[:200], reason=str(error))
            return SORRY


def _state(position: str) -> MatchState:
    if position.startswith(BOARD):
        return state_of_line(position)
    state = Xgid.parse(position).state()
    if state.position.over:
        raise NotationError("expected a position in which the game is not over")
    return state


def serve(engine: UbgiEngine, source: BinaryIO, target: BinaryIO) -> None:
    """Answer the lines of one stream on another, until `quit` or the end of either."""
    while line := source.readline(LONGEST):
        if not line.endswith(b"\n") and len(line) == LONGEST:
            _skip(source)
            answers = [SORRY]
        else:
            text = line.decode("utf-8", "replace")
            if text.strip() == "quit":
                return
            answers = engine.answers(text)
        try:
            target.write("".join(f"{answer}\n" for answer in answers).encode())
            target.flush()
        except BrokenPipeError:
            with contextlib.suppress(BrokenPipeError):
                target.close()  # else Python would try once more to write what is left, and complain
            return


def _skip(source: BinaryIO) -> None:
    """Read on to the end of a line that is too long."""
    while (rest := source.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass
