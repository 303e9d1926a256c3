"""What all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

from fibsbot import redaction
from tests import forked

# What is imported and collected stays: a search for garbage in it finds none, and takes a quarter of the time.
gc.disable()

settings.register_profile("default", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=4)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=400)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Hundreds of programs are started. Where bytecode is not kept, each of them compiles all that it imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a script starts in the background ignores Ctrl-C, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


forked.fork_workers()


@pytest.fixture(autouse=True)
def _unconfigured_log() -> Iterator[None]:
    """Forget how a command under test has set up this process's log, and which passwords it hides."""
    yield
    structlog.reset_defaults()
    redaction.forget_passwords()


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of every search for garbage: a sixteenth of the time."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Stop the process that programs were forked from, if there is one."""
    forked.stop()
