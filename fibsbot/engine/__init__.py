"""Evaluation: generator, inputs, networks, bear-off tables, match equity, cube, search, and how they are trained.

Nothing in here is imported by a command that needs no engine: numpy and llvmlite take a moment to load.
"""

import os
from typing import Final

MAX_PLIES: Final = 4
"""How deep a search may be told to look: each ply takes about thirty times as long."""

BLAS_THREADS: Final = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS")
"""Environment variables that BLAS libraries read when numpy loads them."""

# Matrices of a few rows are not worth a second thread: on a busy machine the threads wait for each other and take more
# than ten times the processor time. Parallel work is done by processes. Whoever sets a variable is left alone.
for _name in BLAS_THREADS:
    os.environ.setdefault(_name, "1")
