"""Configuration files: their sections and settings, how they are read, checked and documented.

The modules:

    settings.py  the sections of a file, and the settings of an account in it
    fields.py    each section and setting by its declaration; problems of a file
    parser.py    reads a file
    checks.py    warns of what is valid but probably a mistake, and checks paths
    passwords.py finds the password of an account
    build.py     makes the settings of each account's run; applies a changed file
    document.py  writes the sample file and docs/configuration.md
"""

from fibsbot.config.fields import ConfigProblem, ConfigProblemsError
from fibsbot.config.parser import load_config, parse_config
from fibsbot.config.settings import Config
from fibsbot.service.settings import UnknownAccountError

__all__ = [
    "Config",
    "ConfigProblem",
    "ConfigProblemsError",
    "UnknownAccountError",
    "load_config",
    "parse_config",
]
