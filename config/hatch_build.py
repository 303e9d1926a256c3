"""Build hook: a wheel for the platform that FIBSBOT_WHEEL names has its library of kernels; any other has none.

`make wheels` sets the variable, once for each platform whose library `make kernels` has built.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):
    """Puts a library into the wheel and names the wheel after its platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what is built; FIBSBOT_WHEEL is `library tag`, such as `linux-x86_64 manylinux_2_17_x86_64`."""
        wanted = os.environ.get("FIBSBOT_WHEEL")
        if not wanted or version == "editable":
            return
        platform, tag = wanted.split()
        folder = Path(self.root, "fibsbot/engine/kernels")
        found = sorted(folder.glob(f"{platform}-*"))
        if len(found) != 1:
            sys.exit(f"expected a library for {platform} in {folder}, found {len(found)}; `make kernels` builds it")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"][str(found[0])] = f"fibsbot/engine/kernels/{found[0].name}"
