"""What FIBS does and another server may lack; what is known to be lacking is not asked for again (docs/agent.md)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

from protocol import commands as c
from protocol.commands import Command


class Feature(enum.Enum):
    """Something that FIBS does."""

    RAWWHO = "rawwho"
    """Lists its users when asked to."""
    TIME = "time"
    """Answers `time` in a form that is known."""
    SAVED = "show saved"
    """Lists our saved matches in a form that is known."""
    SAVED_COUNT = "show savedcount"
    """Says how many saved matches somebody has."""
    BOARDSTYLE = "set boardstyle"
    """Answers `set boardstyle`."""
    SWITCHES = "toggle"
    """Answers `toggle`."""
    LEAVE = "leave"
    """Lets us leave a match."""
    ROLL = "roll"
    """Rolls by itself where nobody can double."""


_SHOWN: Final = {c.ShowWhat.SAVED: Feature.SAVED, c.ShowWhat.SAVEDCOUNT: Feature.SAVED_COUNT}
_KINDS: Final[dict[type[Command], Feature]] = {
    c.Rawwho: Feature.RAWWHO,
    c.Time: Feature.TIME,
    c.SetCommand: Feature.BOARDSTYLE,
    c.ToggleCommand: Feature.SWITCHES,
    c.Leave: Feature.LEAVE,
}


def feature_of(command: Command) -> Feature | None:
    """Return the feature that a command needs; None for what every server must have."""
    return _SHOWN.get(command.what) if isinstance(command, c.Show) else _KINDS.get(type(command))


def features(names: Iterable[str]) -> set[Feature]:
    """Return features by their names; those that this program does not know are left out."""
    known = set(names)
    return {feature for feature in Feature if feature.value in known}
