"""The file of a duel: a line of settings, then a line a pair. A run that was killed goes on from it."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final, Self

import cattrs
from attrs import asdict

from fibsbot.arena.duel.plan import DuelError, Plan
from fibsbot.arena.duel.tally import Pair

KIND: Final = "fibsbot duel 1"
"""What the first line calls itself; another number when the lines change their meaning."""
LONGEST: Final = 1 << 20
"""Bytes of a line; nothing that we write is nearly as long."""
MOST: Final = 1e9
"""No figure of a pair is larger."""
LAST_CLASS: Final = 1000
"""No time is in a class beyond this one, in either direction."""
_converter: Final = cattrs.Converter(forbid_extra_keys=True)


class Record:
    """A file of results, open for more. One process at a time holds it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Go on with a file that `open` has read."""
        self._path = path
        self._file = file

    @classmethod
    def open(cls, path: Path, plan: Plan, take: Callable[[Pair], None]) -> Self:
        """Open a file or begin it, and hand on the pairs that it holds; half a line at its end is cut off.

        Raises DuelError where it is no file of this plan, cannot be read or written, or is held by another process.
        """
        try:
            file = path.open("a+b")
        except OSError as error:
            raise DuelError(f"cannot open {path}: {error.strerror}") from None
        with contextlib.ExitStack() as held:
            held.callback(file.close)
            _lock(path, file)
            _read(path, file, plan, take)
            held.pop_all()
        return cls(path, file)

    def add(self, pair: Pair) -> None:
        """Append a pair; it is in the file when this returns. Raises DuelError where it cannot be written."""
        row = asdict(pair)
        try:
            self._file.write(_line(row))
            self._file.flush()
        except OSError as error:
            raise DuelError(f"cannot write {self._path}: {error.strerror}") from None

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):  # what could not be written has been told
            self._file.close()


def _lock(path: Path, file: IO[bytes]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DuelError(f"another duel writes {path}") from None
    except OSError as error:
        raise DuelError(f"cannot lock {path}: {error.strerror}") from None


def _read(path: Path, file: IO[bytes], plan: Plan, take: Callable[[Pair], None]) -> None:
    header = _line({"kind": KIND, **plan.settings()})
    try:
        file.seek(0)
        first = file.readline(LONGEST)
        if not first.endswith(b"\n") and header.startswith(first):  # new, or killed at its very first line
            file.truncate(0)
            file.write(header)
            file.flush()
            return
        _check_header(path, first, plan)
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), b""), 2):
            if not line.endswith(b"\n") and len(line) < LONGEST:
                file.truncate(file.tell() - len(line))
                break
            take(_pair(f"{path}:{number}", line))
    except OSError as error:
        raise DuelError(f"cannot read {path}: {error.strerror}") from None


def _check_header(path: Path, line: bytes, plan: Plan) -> None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.pop("kind", None) != KIND:
        raise DuelError(f"expected a file of a duel or none, got {path}")
    wanted = plan.settings()
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            held, asked = (json.dumps(it.get(name)) for it in (found, wanted))
            raise DuelError(f"{path} holds a duel of other settings: its {name} is {held[:80]}, now it is {asked[:80]}")


def _pair(place: str, line: bytes) -> Pair:
    try:
        row = json.loads(line, parse_constant=_no_number)
        pair = _converter.structure(row, Pair)
    except (ValueError, TypeError, KeyError, RecursionError, cattrs.BaseValidationError):
        raise DuelError(f"{place}: expected a pair of a duel, got {line[:60].decode(errors='replace')!r}") from None
    if not _possible(pair):
        raise DuelError(f"{place}: expected a pair with possible figures, got {line[:60].decode(errors='replace')!r}")
    return pair


def _possible(pair: Pair) -> bool:
    """Whether a pair's figures can be reckoned with; nobody else writes them, but anybody might."""
    figures = (*pair.results, *(pair.luck or ()), *(it.loss for it in pair.performances))
    counts = [pair.number, pair.games]
    for it in pair.performances:
        counts += [it.faults, it.judged, *it.plays.classes.values(), *it.others.classes.values()]
    classes = (number for it in pair.performances for times in (it.plays, it.others) for number in times.classes)
    return (
        all(abs(it) < MOST for it in figures)
        and all(0 <= it < MOST for it in counts)
        and all(abs(it) <= LAST_CLASS for it in classes)
    )


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"
