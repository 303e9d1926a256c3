"""Starts an engine and ends it when we are gone, however we went; keeps the end of its stderr.

Run as a script, `launcher.py LIFELINE PROGRAM ARGUMENT...`, as the first process of a new session. The program gets
stdin and stdout as they are. LIFELINE is the reading end of a pipe that nobody writes to: it ends when the process
that holds the other end ends or closes it; then the whole process group is killed. What the program writes to stderr
is discarded but for its end, which goes to our stderr when the program has ended. Imports nothing of fibsbot, and
nothing that takes long.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Final, NoReturn

CANNOT_RUN: Final = 127
"""Exit status where the program cannot be run, as that of a shell."""
STDERR_KEPT: Final = 300
"""Bytes of stderr that are kept."""


def main() -> None:
    """Run the program until it ends or nobody wants it any more."""
    lifeline, program = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - the function takes no keyword
    threading.Thread(target=_watch_lifeline, args=(lifeline,), daemon=True).start()
    complaints, errors = os.pipe()
    try:
        child = os.posix_spawnp(program[0], program, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, errors, 2)])
    except OSError as error:
        _exit_with(CANNOT_RUN, f"cannot run {program[0]}: {error.strerror}".encode())
    for theirs in (0, 1, errors):  # the end of the program has to be the end of its streams
        os.close(theirs)
    kept = bytearray()
    reader = threading.Thread(target=_read_stderr, args=(complaints, kept), daemon=True)
    reader.start()
    _, status = os.waitpid(child, 0)
    reader.join(0.2)  # what the program has left behind may still hold the pipe
    code = os.waitstatus_to_exitcode(status)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    _exit_with(code if code >= 0 else 128 - code, bytes(kept))


def _exit_with(status: int, last_words: bytes) -> NoReturn:
    os.write(2, last_words)
    os._exit(status)


def _read_stderr(complaints: int, kept: bytearray) -> None:
    while chunk := os.read(complaints, 65_536):
        kept += chunk
        del kept[:-STDERR_KEPT]


def _watch_lifeline(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
