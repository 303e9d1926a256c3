"""Reads configurations that tests have as text."""

from __future__ import annotations

import tomllib

from fibsbot.config import Config
from fibsbot.config.parser import config_from_tables


def parse_config(text: str) -> Config:
    """Return the configuration in a text. Raises TOMLDecodeError, ConfigProblemsError."""
    return config_from_tables(tomllib.loads(text))
