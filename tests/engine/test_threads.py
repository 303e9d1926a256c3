"""The engine works on one thread, without anything that the user must set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fibsbot.engine import BLAS_THREADS
from tests.patience import SOON

ROOT = Path(__file__).parents[2]
ASK = """
import os
import fibsbot.engine
import numpy as np
square = np.ones((512, 512), np.float32)
square @ square
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts the threads of Linux")
def test_matrix_products_start_no_threads() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in BLAS_THREADS}
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SOON, check=True)
    assert "1" == done.stdout.strip()
