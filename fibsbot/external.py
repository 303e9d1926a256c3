"""Our strategies as an engine for other programs: by UBGI on stdin and stdout, and as gnubg's external player over TCP.

UBGI is described in `fibsbot/strategies/ubgi.py`. An invalid line is answered by `sorry`; only `quit` or the end of the
input ends the engine.

After `set player 1 external localhost:PORT` gnubg (1.07.001) sends one `board:` line for each decision of that
player, with a NUL after the end of the line, and takes one line as the answer. It trusts the answer: an illegal play
is made, an unexpected word ends its game. It never asks about resignations. Its boards are not quite those of FIBS:

- The board is always seen by gnubg's player 1; the turn is 1 if player 1 is on roll, -1 if player 0 is.
- Names and scores begin with player 0 if the one on roll decides, with player 1 if the other one does.
- Both pairs of dice are those of the player on roll.
- The counts of checkers on the bar are 0, those borne off are right; an unlimited match has the length 0.
- The last token is 0 in the Crawford game and 1 otherwise. Nothing says whether the Jacoby rule and beavers are on.
- Who doubled may have had the cube; when gnubg beavers, it has it and the other one is on roll.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import BinaryIO, Final, cast

import structlog
from attrs import evolve

from fibs_protocol.board import CHECKERS, PREFIX, TOKENS, BoardState
from fibs_protocol.board import PREFIX as BOARD
from fibs_protocol.errors import BoardError
from fibs_protocol.words import UNLIMITED, Colour
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.notation import NotationError, Xgid
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.child_process.engine_process import MAX_LINE
from fibsbot.strategies.child_process.wire_format import decision_of_board, format_steps, state_of_line
from fibsbot.strategies.pool import close_strategy_in_time
from fibsbot.strategies.questions import (
    PlayQuestion,
    Question,
    RollQuestion,
    StrategyFailedError,
    TakeQuestion,
    ask_strategy,
)
from fibsbot.version import __version__

CUBE_WORDS: Final = {
    CubeAction.ROLL: "roll",
    CubeAction.DOUBLE: "double",
    CubeAction.TAKE: "take",
    CubeAction.PASS: "drop",
    CubeAction.BEAVER: "take",
}
"""The words of engines for cube actions. Neither protocol has a word for a beaver: it is a take."""

_log = structlog.get_logger(__name__)


class NoAnswerError(Exception):
    """No strategy has an answer."""


class Answerer:
    """Answers decisions with the words of engines: by the first strategy, or by the next one if that fails."""

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        """Ask these strategies in their order; the caller closes them."""
        self._strategies = strategies

    def answer(self, state: MatchState) -> str:
        """Return the answer to a decision; an empty text if no checker can move.

        Raises NoAnswerError if every strategy fails, ValueError if there is nothing to decide.
        """
        question: Question
        match state.phase:
            case Phase.MOVE:
                if state.dice is None:
                    raise ValueError("expected dice for a play")
                plays = legal_plays(state.position, state.dice)
                if len(plays) < 2:
                    return format_steps(plays[0] if plays else Play())
                question = PlayQuestion(state, plays)
            case Phase.ROLL:
                question = RollQuestion(state, state.may_double, resign_to=0)
            case Phase.DOUBLED:
                question = TakeQuestion(state)
            case Phase.RESIGNED:
                raise ValueError("expected a play or a cube action to decide on, not a resignation")
        answer = self._ask(question)
        return format_steps(answer.play) if isinstance(answer, PlayAnswer) else CUBE_WORDS[answer.action]

    def _ask(self, question: Question) -> PlayAnswer | CubeAnswer:
        for strategy in self._strategies:
            try:
                answer = ask_strategy(strategy, question)
            except StrategyFailedError as error:
                _log.warning("strategy failed", strategy=strategy.name, fault=str(error))
            else:
                assert isinstance(answer, PlayAnswer | CubeAnswer)  # noqa: S101 - for the type checker
                return answer
        raise NoAnswerError("no strategy has an answer")


ADDRESS: Final = "127.0.0.1"
MAX_CONNECTIONS: Final = 16
"""Maximum number of open connections."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,4}")


def state_of_board(line: str, *, jacoby: bool = True) -> MatchState:
    """Return the decision that gnubg asks for. Raises ValueError if the line is not a board of gnubg's.

    `jacoby` says whether unlimited matches use the Jacoby rule.
    """
    numbers = _numbers(line)
    length, first, second = numbers[:3]
    cells, turn = numbers[3:29], numbers[29]
    dice, cube, may_double, opponent_may_double, doubled = numbers[30:32], *numbers[34:38]
    doubled = int(doubled and dice == [0, 0])
    post_crawford, no_crawford = numbers[48:50]
    holder = may_double if turn == 1 else opponent_may_double
    asked = -turn if doubled and holder else turn
    colour = Colour.O if asked == 1 else Colour.X
    scores = (first, second) if (asked == turn) == (asked == -1) else (second, first)
    o_off, x_off = (CHECKERS - sum(max(side * n, 0) for n in cells) for side in (1, -1))
    sides = ((may_double, opponent_may_double), (o_off, x_off), (cells[25], -cells[0]))
    allowed, off, bar = (side if colour is Colour.O else side[::-1] for side in sides)
    fields: list[int] = [
        *(length or UNLIMITED, *scores, *cells),
        *(-asked if doubled else asked, *dice, 0, 0, cube, *allowed, doubled),
        *(colour, -colour, 0, 25, *off, *bar, 0, 0, post_crawford, 0),
    ]
    try:
        board = BoardState.from_line(f"{PREFIX}You:Opponent:{':'.join(map(str, map(int, fields)))}")
    except BoardError as error:
        raise ValueError(str(error)) from None
    state = decision_of_board(board)
    if not state.length:
        beavered = doubled and not holder
        return evolve(state, jacoby=jacoby, owner=Owner.PLAYER if beavered else state.owner)
    return evolve(state, crawford=state.crawford and not no_crawford)


def _numbers(line: str) -> list[int]:
    """Return the numbers after the names."""
    tokens = line.strip("\0 \r\n").split(":")
    numbers = tokens[3:]
    if f"{tokens[0]}:" != PREFIX or len(tokens) != TOKENS or not all(map(_NUMBER.fullmatch, numbers)):
        raise ValueError(f"expected a board line of {TOKENS} tokens, got {line[:80]!r}")
    return list(map(int, numbers))


def listen_locally(port: int) -> socket.socket:
    """Return a socket that listens on this local port, or on any free one for 0. Raises OSError."""
    return socket.create_server((ADDRESS, port))


class ExternalPlayer:
    """A local server that answers gnubg's boards, on several connections at once."""

    def __init__(self, answerer: Answerer, *, jacoby: bool = True) -> None:
        """Answer by this answerer."""
        self._answerer = answerer
        self._jacoby = jacoby
        self._open: set[asyncio.Task[None]] = set()
        self._asking = asyncio.Lock()

    async def serve(self, listening: socket.socket, ready: Callable[[int], object]) -> None:
        """Serve on a socket of `listen_locally` until cancelled; `ready` is called with its port."""
        server = await asyncio.start_server(self._serve, sock=listening, limit=MAX_LINE)
        try:
            ready(listening.getsockname()[1])
            await asyncio.Event().wait()  # `serve_forever` ends only when gnubg hangs up, from Python 3.12 on
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def answer(self, line: str) -> str:
        """Return the answer to a line; an invalid line raises nothing."""
        try:
            return self._answerer.answer(state_of_board(line, jacoby=self._jacoby))
        except (ValueError, NoAnswerError) as error:
            _log.warning("no answer", line=line[:300], reason=str(error))
            return f"Error: {error}"

    async def _answer_in_thread(self, line: str) -> str:
        """Return the answer to a line; a strategy that hangs delays neither a signal nor the end."""
        async with self._asking:  # strategies answer one question at a time
            answered: Future[str] = Future()
            answered.set_running_or_notify_cancel()
            threading.Thread(target=self._answer_to, args=(line, answered), daemon=True).start()
            return await asyncio.wrap_future(answered)

    def _answer_to(self, line: str, answered: Future[str]) -> None:
        try:
            answered.set_result(self.answer(line))
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is awaited
            answered.set_exception(error)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MAX_CONNECTIONS:
            writer.close()
            return
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._open.add(task)
        _log.info("connected", connections=len(self._open))
        try:
            while line := await reader.readline():
                if text := line.decode("utf-8", "replace").strip("\0 \r\n"):
                    writer.write(f"{await self._answer_in_thread(text)}\n".encode())
                    await writer.drain()
        except ValueError:  # a line that is too long
            writer.write(b"Error: expected a shorter line\n")
        except (ConnectionError, asyncio.CancelledError):
            pass  # we end, or gnubg does; asyncio's own callback fails for a task that was cancelled
        finally:
            self._open.discard(task)
            _log.info("disconnected", connections=len(self._open))
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


AUTHOR: Final = "the authors of fibsbot"
SORRY: Final = "sorry"


class UbgiEngine:
    """An engine that answers lines of UBGI; strategies are loaded when they are needed, as the draft demands."""

    def __init__(self, load: Callable[[], Sequence[Strategy]]) -> None:
        """Use the strategies that `load` returns: the first decides, the others are fallbacks."""
        self._load = load
        self._strategies: Sequence[Strategy] | None = None

    def answers(self, line: str) -> list[str]:
        """Return the answer to a line, as lines."""
        match line.strip():
            case "ubgi":
                (first, *_) = self._ready()
                return [f"id name fibsbot {first.name}", f"id author {AUTHOR}", f"id version {__version__}", "readyok"]
            case "" | "stop":  # nothing is being computed when a line is read
                return []
            case position:
                return [self._answer(position)]

    def close(self) -> None:
        """Close the loaded strategies."""
        for strategy in self._strategies or ():
            close_strategy_in_time(strategy, strategy.name)

    def _ready(self) -> Sequence[Strategy]:
        if self._strategies is None:
            self._strategies = self._load()
        return self._strategies

    def _answer(self, position: str) -> str:
        try:
            return Answerer(self._ready()).answer(_parse_position(position))
        except (ValueError, NoAnswerError) as error:  # a NotationError is a ValueError
            _log.info("sorry", line=position[:200], reason=str(error))
            return SORRY


def _parse_position(position: str) -> MatchState:
    if position.startswith(BOARD):
        return state_of_line(position)
    state = Xgid.parse(position).state()
    if state.position.over:
        raise NotationError("expected a position in which the game is not over")
    return state


def serve_ubgi(engine: UbgiEngine, source: BinaryIO, target: BinaryIO) -> None:
    """Answer the lines of a stream on another, until `quit` or the end of either.

    Raises OSError if an answer cannot be written.
    """
    while line := source.readline(MAX_LINE):
        if not line.endswith(b"\n") and len(line) == MAX_LINE:
            _skip_line(source)
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
                target.close()  # else Python would try to write the rest at exit, and print an error
            return


def _skip_line(source: BinaryIO) -> None:
    """Skip the rest of a line that is too long."""
    while (rest := source.readline(MAX_LINE)) and not rest.endswith(b"\n"):
        pass
