"""The worker's side of a Dask cluster: doing pieces, and the envelopes in which their results travel."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import hashlib
import os
import pickle
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import frozen

from fibsbot.text import describe_error
from fibsbot.workers.errors import WorkError
from fibsbot.workers.fingerprint import differing_parts, fingerprint

Envelope: TypeAlias = tuple[str, Any]
"""What a worker returns: `result` or `error` with pickled bytes, `refused` with a text."""


class RefusedError(WorkError):
    """A worker has refused a piece because its fingerprint is another one."""


def pass_on(shared: bytes) -> bytes:
    """Return what all pieces share: as the result of a task it is passed from worker to worker."""
    return shared


@frozen(eq=False)
class _State:
    """What was made of shared bytes in this process."""

    name: bytes
    shared: Any


_states: deque[_State] = deque()
_MOST_STATES: Final = 4
"""States that are kept, if several clients use a worker in turn."""
_at_work = threading.Lock()
"""Held while pieces are done: one at a time, even if the worker was started with more threads."""


def do_pieces(
    shared: bytes, payloads: list[bytes], theirs: Mapping[str, str], seconds: float
) -> tuple[float, list[Envelope]]:
    """Do pieces in a worker; return the seconds that they took, and their results.

    A worker that needs more than `seconds` for a piece ends, and its nanny starts another one.
    """
    if differing := differing_parts(fingerprint(), theirs):
        text = f"a worker on {socket.gethostname()} refuses the work: it has {differing}"
        return 0.0, [("refused", text)] * len(payloads)
    with _at_work:
        started = time.monotonic()
        envelopes = [_do_piece(shared, payload, seconds) for payload in payloads]
        return time.monotonic() - started, envelopes


def _do_piece(shared: bytes, payload: bytes, seconds: float) -> Envelope:
    with _time_limit(seconds):
        try:
            function, arguments = pickle.loads(payload)  # noqa: S301 - from our own client
            result = function(_state_of(shared), arguments)
            return "result", pickle.dumps(result)
        except Exception as error:  # noqa: BLE001 - the client raises it
            return "error", _pickled_error(error)


def _state_of(shared: bytes) -> Any:
    name = hashlib.sha256(shared).digest()
    for state in _states:
        if state.name == name:
            return state.shared
    while len(_states) >= _MOST_STATES:
        _close(_states.popleft())
    _states.append(_State(name, pickle.loads(shared)))  # noqa: S301 - from our own client
    return _states[-1].shared


def _close(state: _State) -> None:
    if hasattr(state.shared, "close"):
        state.shared.close()


@atexit.register
def _close_all() -> None:
    while _states:
        _close(_states.popleft())


def _pickled_error(error: Exception) -> bytes:
    """Return an error for the client; one that does not survive pickling becomes a WorkError with its text."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its class does
        return pickle.dumps(WorkError(describe_error(error)))
    return data


def open_envelope(envelope: Envelope) -> Any:
    """Return a result; raise what the piece has raised, or RefusedError."""
    kind, content = envelope
    if kind == "refused":
        raise RefusedError(content)
    opened = pickle.loads(content)  # noqa: S301 - from a worker of our own cluster
    if kind == "error":
        raise opened
    return opened


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer, even if it never returns to the interpreter."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
