"""The base classes of all messages."""

from __future__ import annotations

import re

import attrs

from fibs_protocol.lazy_attrs import frozen


@attrs.frozen(slots=False)
class Message:
    """The base class of messages: one logical line of a server."""

    @classmethod
    def kind(cls) -> str:
        """Return the kind's name as logs and JSON write it: `WhoInfo` is `who_info`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@frozen
class Refusal(Message):
    """A `**` line which says that a command was not carried out."""


@frozen
class Unknown(Message):
    """A line that no wording of the grammar matches, unchanged except for trailing blanks."""

    text: str
