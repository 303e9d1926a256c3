"""What all web pages of ours share: a server that answers this machine alone, and what it keeps away."""

from typing import Final

HOST: Final = "127.0.0.1"
"""Address at which web servers listen."""
