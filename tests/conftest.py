"""What all tests share."""

import gc
import importlib.util
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterator, MutableMapping
from typing import Any, Final, NoReturn

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.hidden_passwords import forget_passwords

# What is imported and collected stays: a search for garbage in it finds none, and takes a quarter of the time.
gc.disable()

settings.register_profile("default", deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=4)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=400)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Hundreds of programs are started. Where bytecode is not kept, each of them compiles all that it imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a user may have set for a terminal, or for bots of their own, is not what the tests are about.
for name in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
for name in ("FIBSBOT_CONTROL", "FIBSBOT_PASSWORD"):
    os.environ.pop(name, None)

# Memory that is given back to the system and taken again costs a fortieth of the time. Read by processes that this one
# starts, those that run the tests among them.
os.environ |= {"MALLOC_TRIM_THRESHOLD_": str(2**29), "MALLOC_MMAP_THRESHOLD_": str(2**25)}

# What a script starts in the background ignores Ctrl-C, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

FORKED: Final = importlib.import_module("tests.forked") if importlib.util.find_spec("fcntl") else None
"""Missing on Windows, where no process can be forked."""
if FORKED:
    FORKED.fork_workers()

UNIX_MODULE: Final = re.compile(r"ModuleNotFoundError: .*\b(fcntl|grp|pty|pwd|resource|termios|tty)\b")
"""A module that only Unix has, and that an import failed for."""
FIRST: Final = ["cluster", "compiles_games", "opened", "browser"]
"""Fixtures that take seconds to start, and a marker; their tests run first, in this order."""
LOGGED: Final[deque[MutableMapping[str, Any]]] = deque(maxlen=1000)
"""What a test has logged last. Only that of a failed test is formatted: a sixth of the time of live matches."""


def keep_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> NoReturn:
    """Keep what is logged, and print nothing."""
    LOGGED.append(event)
    raise structlog.DropEvent


structlog.configure(processors=[keep_event])


@pytest.fixture(scope="session", autouse=True)
def _state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what stores on servers spill, in this process and those that tests start, out of the user's home."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _default_log() -> Iterator[None]:
    """Forget how a command under test has set up this process's log, and which passwords it hides."""
    LOGGED.clear()
    yield
    structlog.reset_defaults()
    structlog.configure(processors=[keep_event])
    forget_passwords()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what a failed test has logged."""
    report = yield
    if report.failed and LOGGED:
        report.sections.append(("Log", "\n".join(map(repr, LOGGED))))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip what needs Unix on other systems."""
    report = yield
    if report.failed and (missing := UNIX_MODULE.search(report.longreprtext)):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: needs {missing[1]}, which this system does not have")
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a cluster, a browser or compiled code in a row, so that one process makes it."""

    def place(item: pytest.Item) -> int:
        names = {*getattr(item, "fixturenames", ()), *(it.name for it in item.iter_markers())}
        return min((number for number, name in enumerate(FIRST) if name in names), default=len(FIRST))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Search for garbage seldom, and never in what was imported and collected: a tenth of the time.

    And share compiled SQL and what engines read, where any of the tests needs some.
    """
    if FORKED and "fibsbot.records.store.database" in sys.modules:
        importlib.import_module("tests.compiled_statements").share()
    if "fibsbot.engine.engine" in sys.modules:
        importlib.import_module("tests.shared_reading").share()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_unconfigure() -> None:
    """Stop the process that programs were forked from, if there is one."""
    if FORKED:
        FORKED.stop()
