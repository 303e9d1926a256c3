"""A bot that plays backgammon unattended on FIBS and servers that speak its protocol."""

from typing import Final

__version__: Final = "0.1.0"
