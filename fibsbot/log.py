"""Configuration of the program's own log; the bytes of a connection go to the session log instead.

The log goes to stderr, so that it never mixes with the output of a command. Tracebacks never show the values of
variables: one of them may be a password. Passwords in log lines are hidden (`redaction.py`).
"""

from __future__ import annotations

import enum
import logging
import sys
from typing import TYPE_CHECKING

from fibsbot.redaction import redact_record

if TYPE_CHECKING:
    from structlog.typing import Processor


class LogFormat(enum.Enum):
    """Format of the log."""

    CONSOLE = "console"
    """For people."""
    JSON = "json"
    """One JSON object per line, for programs."""


class LogLevel(enum.Enum):
    """Lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure_log(form: LogFormat = LogFormat.CONSOLE, level: LogLevel = LogLevel.INFO) -> None:
    """Configure the log of this process, to the current stderr."""
    import structlog  # noqa: PLC0415 - slow to import, and the settings need only the words above

    renderer: Processor
    if form is LogFormat.JSON:
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback, pad_event_to=0
        )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            lambda _, __, event: redact_record(event),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.name)),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
