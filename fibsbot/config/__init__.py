"""Configuration files: their sections and settings, how they are read, checked and documented.

The modules:

    settings.py  the sections of a file, how they are declared, and the problems that it can have
    parser.py    reads a file
    checks.py    warns of what is valid but probably a mistake, and checks paths
    build.py     makes the settings of each account's run, with its password; applies a changed file
    secrets.py   where passwords and addresses are read from
    hooks.py     makes the hooks of [[notify]], with their addresses
    document.py  writes the sample file and docs/reference/configuration.md: python -m fibsbot.config.document

This package itself imports the sections alone, as their defaults are in help texts; reading a file takes more.
"""

from fibsbot.config.settings import Config, ConfigProblem, ConfigProblemsError
from fibsbot.service.settings import UnknownAccountError

__all__ = [
    "Config",
    "ConfigProblem",
    "ConfigProblemsError",
    "UnknownAccountError",
]
