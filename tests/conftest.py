"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=10)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(autouse=True)
def _unconfigured_log() -> Iterator[None]:
    """Forget how a command under test has set up this process's log."""
    yield
    structlog.reset_defaults()
