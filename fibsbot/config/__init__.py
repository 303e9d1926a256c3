"""Every setting: one declarative definition (`settings.py`); files are read and written from it."""

from fibsbot.config.fields import ConfigProblem, ConfigProblemsError
from fibsbot.config.parser import load_config, parse_config
from fibsbot.config.settings import Config, UnknownAccountError

__all__ = [
    "Config",
    "ConfigProblem",
    "ConfigProblemsError",
    "UnknownAccountError",
    "load_config",
    "parse_config",
]
