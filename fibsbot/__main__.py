"""Entry point of the `fibsbot` script and of `python -m fibsbot`: ready for Ctrl-C before anything slow is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

from fibsbot.early_signals import note_early_signals

_INTERRUPTED: Final = 128 + signal.SIGINT


def main() -> int:
    """Run the command line; return the exit status, that of an interrupted command on Ctrl-C during the imports."""
    note_early_signals()
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where whoever started us has SIGINT ignored
        signal.signal(signal.SIGINT, _exit)
    from fibsbot.cli import run_command_line  # noqa: PLC0415 - takes a tenth of a second

    signal.signal(signal.SIGINT, handler)
    try:
        return run_command_line()
    except KeyboardInterrupt:  # before the command has begun, or after it
        return _INTERRUPTED


def _exit(_number: int, _frame: FrameType | None) -> None:
    """End at once: an exception would be printed where Python ignores it, as in callbacks of the import system."""
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
