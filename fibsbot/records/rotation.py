"""When a session log begins a new file, and how long old ones are kept."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge


@frozen
class Rotation:
    """Bounds of a session log's files."""

    max_bytes: int = field(default=64 * 2**20, validator=ge(2**16))
    """A file that would grow beyond this is closed and compressed, and a new one begun."""
    daily: bool = True
    """Whether a new file begins with each day, UTC."""
    keep_days: int = field(default=30, validator=ge(0))
    """Compressed files are removed after so many days; 0 keeps them for ever."""
    max_total_bytes: int = field(default=2**30, validator=ge(0))
    """The files of one log together: the oldest go first, also those that are younger than that; 0 does not limit them.

    So a server that floods us cannot fill the disk. The file that is being written is never removed.
    """
