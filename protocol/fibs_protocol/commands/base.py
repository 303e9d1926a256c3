"""The base class of commands."""

from __future__ import annotations

import re

import attrs


@attrs.frozen(slots=False)
class Command:
    """The base class of commands: one line that a client sends."""

    @classmethod
    def kind(cls) -> str:
        """Return the kind's name as logs and JSON write it: `InviteResume` is `invite_resume`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
