"""Configuration files: their sections and settings, how they are read, checked and documented."""

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
