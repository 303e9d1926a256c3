"""Standard error while the screen is drawn."""

import io

STANDARD_ERROR = 2


class NoErrorOutput(io.TextIOBase):
    """Shows nothing. Textual's own has no file descriptor, without which Python starts no worker processes."""

    def write(self, text: str) -> int:
        """Forget a text."""
        return len(text)

    def fileno(self) -> int:
        """Return the file descriptor that processes inherit."""
        return STANDARD_ERROR
