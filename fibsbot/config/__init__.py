"""Every setting: one declarative definition (`settings.py`); files are read and written from it."""

from fibsbot.config.reading import ConfigProblem, ConfigProblemsError, load_config, parse_config
from fibsbot.config.settings import Config

__all__ = ["Config", "ConfigProblem", "ConfigProblemsError", "load_config", "parse_config"]
