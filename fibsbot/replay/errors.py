"""What can be wrong with a file that is to be replayed."""

from __future__ import annotations


class CaptureError(ValueError):
    """A file is no capture; the text is one line and says what was expected and what came."""
