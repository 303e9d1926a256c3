"""Start an engine, kill it when the process that wanted it has ended, and pass on the end of its stderr.

Run as a script, `launcher.py LIFELINE PROGRAM ARGUMENT...`, as the first process of a new session. The program gets
stdin and stdout as they are. LIFELINE is the reading end of a pipe that nobody writes to: when the process with the
other end closes it or ends, however it ends, the whole process group is killed. Only the last bytes that the program
writes to stderr are kept; they go to our stderr when the program has ended. The script imports nothing of fibsbot, and
nothing slow.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Final, NoReturn

CANNOT_RUN: Final = 127
"""Exit status if the program cannot be run, as in a shell."""
STDERR_KEPT: Final = 300
"""Bytes of stderr that are kept."""


def main() -> None:
    """Run the program until it ends or the lifeline is closed."""
    lifeline, program = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - the function takes no keyword
    threading.Thread(target=_watch_lifeline, args=(lifeline,), daemon=True).start()
    stderr, errors = os.pipe()
    try:
        child = os.posix_spawnp(program[0], program, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, errors, 2)])
    except OSError as error:
        _exit_with(CANNOT_RUN, f"cannot run {program[0]}: {error.strerror}".encode())
    for theirs in (0, 1, errors):  # the streams must end when the program ends
        os.close(theirs)
    tail = bytearray()
    reader = threading.Thread(target=_read_stderr, args=(stderr, tail), daemon=True)
    reader.start()
    _, status = os.waitpid(child, 0)
    reader.join(0.2)  # processes that the program has left behind may still hold the pipe
    code = os.waitstatus_to_exitcode(status)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    _exit_with(code if code >= 0 else 128 - code, bytes(tail))


def _exit_with(status: int, stderr_tail: bytes) -> NoReturn:
    os.write(2, stderr_tail)
    os._exit(status)


def _read_stderr(stderr: int, tail: bytearray) -> None:
    while chunk := os.read(stderr, 65_536):
        tail += chunk
        del tail[:-STDERR_KEPT]


def _watch_lifeline(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
