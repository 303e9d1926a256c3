"""Build hook: a wheel with a library of kernels, for one platform, if FIBSBOT_KERNELS asks for it; else without.

`make wheels` sets the variable to `LIBRARY TAG`: the path of a library, and the tag of the wheel, such as
`manylinux_2_17_x86_64`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):
    """Puts a library into the wheel and names the wheel after its platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what is built."""
        wanted = os.environ.get("FIBSBOT_KERNELS")
        if wanted and version != "editable":
            library, tag = wanted.split()
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{tag}"
            build_data["force_include"][library] = f"fibsbot/engine/kernels/{Path(library).name}"
