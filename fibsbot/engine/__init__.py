"""Engine: move generator, features, networks, bear-off tables, match equity, cube, search, rollouts and training.

Commands that need no engine do not import its modules: numpy takes a moment to load, and so do the kernels.
"""

import os
from typing import Final

from fibsbot.version import __version__

MAX_TRIALS: Final = 1_000_000
"""Games of a rollout at most."""
DEFAULT_TRIALS: Final = 144
"""Games by which a close decision is rolled out at most."""

MAX_PLIES: Final = 4
"""The deepest search that may be asked for: each ply takes about thirty times as long."""

BLAS_THREADS: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS")
"""Environment variables that BLAS libraries read when numpy loads them."""


def engine_details(networks: str, *effort: str) -> str:
    """Return an engine in words: its version and effort, such as `2-ply`, and after a semicolon its networks."""
    return f"{', '.join((f'fibsbot {__version__}', *effort))}; {networks}"


def short_details(details: str) -> str:
    """Return such details without the networks, which only JSON and notes in a file need."""
    return details.partition(";")[0]


class EngineUnavailableError(ImportError):
    """The engine cannot run on this machine or in this environment; the text is one line."""


# Matrices of a few rows are not worth a second thread: on a busy machine the threads wait for each other and take more
# than ten times the processor time. Parallel work is done by processes. Variables that are set are left unchanged.
for _name in BLAS_THREADS:
    os.environ.setdefault(_name, "1")
