"""What is allowed, but cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator

from fibsbot.config.settings import Config


def doubts(config: Config) -> tuple[str, ...]:
    """Return a sentence for each setting that is legal but useless."""
    return tuple(text for useless, text in _of_all(config) if useless)


def _of_all(config: Config) -> Iterator[tuple[bool, str]]:
    pauses = config.reconnect
    yield pauses.first > pauses.longest, "reconnect.first is above reconnect.longest: no pause grows"
