"""Ours as gnubg's external player: gnubg connects, sends boards, and plays what it is answered.

After `set player 1 external localhost:PORT` gnubg (1.07.001) sends one `board:` line for each decision of that player,
with a NUL after the end of the line, and takes one line as the answer. It trusts the answer: an illegal play is made, a
word that it does not expect ends its game. It never asks about resignations.

Its boards are not quite those of FIBS:

- The board is seen by gnubg's player 1, whoever decides; the turn is 1 if player 1 is on roll, -1 if player 0 is.
- Names and scores begin with player 0 if the one on roll decides, with player 1 if the other one does.
- Both pairs of dice are those of who is on roll.
- The counts of checkers on the bar are 0, those borne off are right; an unlimited match has the length 0.
- The last token is 0 in the Crawford game and 1 otherwise. Nothing tells of the Jacoby rule and of beavers.
- Who doubled may have had the cube; when gnubg beavers, it has it and the other one is on roll.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable
from typing import Final

import structlog
from attrs import evolve

from fibsbot.external.answering import Answerer, NoAnswerError
from fibsbot.match import MatchState, Owner
from fibsbot.strategies.foreign.boards import decision
from fibsbot.strategies.foreign.lines import LONGEST
from protocol.board import CHECKERS, PREFIX, TOKENS, BoardState
from protocol.errors import BoardError
from protocol.words import UNLIMITED, Colour

ADDRESS: Final = "127.0.0.1"
CONNECTIONS: Final = 16
"""So many may be open at the same time."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,4}")
_log = structlog.get_logger(__name__)


def state_of_board(line: str, *, jacoby: bool = True) -> MatchState:
    """Return the decision that gnubg asks for; raise ValueError where a line is no board of gnubg's.

    `jacoby` says whether the Jacoby rule is in force in unlimited matches.
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
    allowed, off, bar = (it if colour is Colour.O else it[::-1] for it in sides)
    fields: list[int] = [
        *(length or UNLIMITED, *scores, *cells),
        *(-asked if doubled else asked, *dice, 0, 0, cube, *allowed, doubled),
        *(colour, -colour, 0, 25, *off, *bar, 0, 0, post_crawford, 0),
    ]
    try:
        board = BoardState.from_line(f"{PREFIX}You:Opponent:{':'.join(map(str, map(int, fields)))}")
    except BoardError as error:
        raise ValueError(str(error)) from None
    state = decision(board)
    if not state.length:
        beavered = doubled and not holder
        return evolve(state, jacoby=jacoby, owner=Owner.PLAYER if beavered else state.owner)
    return evolve(state, crawford=state.crawford and not no_crawford)


def _numbers(line: str) -> list[int]:
    """Return the tokens behind the names."""
    tokens = line.strip("\0 \r\n").split(":")
    numbers = tokens[3:]
    if f"{tokens[0]}:" != PREFIX or len(tokens) != TOKENS or not all(map(_NUMBER.fullmatch, numbers)):
        raise ValueError(f"expected a board line of {TOKENS} tokens, got {line[:80]!r}")
    return list(map(int, numbers))


def listen(port: int) -> socket.socket:
    """Return a socket at this port, or any free one for 0, that only this machine reaches. Raises OSError."""
    return socket.create_server((ADDRESS, port))


class ExternalPlayer:
    """A server on this machine that answers gnubg's boards, one connection at a time or several."""

    def __init__(self, answerer: Answerer, *, jacoby: bool = True) -> None:
        """Answer with this answerer."""
        self._answerer = answerer
        self._jacoby = jacoby
        self._open = 0

    async def serve(self, listening: socket.socket, ready: Callable[[int], object]) -> None:
        """Serve on a socket that `listen` returned, until cancelled; `ready` is told its port."""
        server = await asyncio.start_server(self._serve, sock=listening, limit=LONGEST)
        async with server:
            ready(listening.getsockname()[1])
            await server.serve_forever()

    def answer(self, line: str) -> str:
        """Return the answer to one line; never raises because of what the line says."""
        try:
            return self._answerer.answer(state_of_board(line, jacoby=self._jacoby))
        except (ValueError, NoAnswerError) as error:
            _log.warning("no answer", line=line[:300], reason=str(error))
            return f"Error: {error}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._open >= CONNECTIONS:
            writer.close()
            return
        self._open += 1
        _log.info("connected", connections=self._open)
        try:
            while line := await reader.readline():
                if text := line.decode("utf-8", "replace").strip("\0 \r\n"):
                    writer.write(f"{self.answer(text)}\n".encode())
                    await writer.drain()
        except ValueError:  # a line that is too long
            writer.write(b"Error: expected a shorter line\n")
        except (ConnectionError, asyncio.CancelledError):
            pass  # we end, or gnubg has; asyncio's own callback trips over a task that was cancelled
        finally:
            self._open -= 1
            _log.info("disconnected", connections=self._open)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
