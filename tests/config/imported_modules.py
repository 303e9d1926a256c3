"""A process that imports modules and prints all that are loaded then.

    python -m tests.config.imported_modules MODULE ...

Those that were loaded before it was forked are among them.
"""

from __future__ import annotations

import importlib
import sys


def main(*names: str) -> None:
    """Print the name of each module, on a line of its own."""
    for name in names:
        importlib.import_module(name)
    sys.stdout.write("\n".join(sys.modules))
