"""What can go wrong with an engine that is another program."""

from __future__ import annotations


class EngineError(Exception):
    """The engine failed: it was late or answered nonsense. It is ended, and started again for a later decision."""


class LateError(EngineError):
    """The engine gave no answer in time."""


class EndedError(EngineError):
    """The engine has ended by itself."""


class DeclinedError(EngineError):
    """There is no answer to this question, but nothing is wrong with the engine."""


class SorryError(DeclinedError):
    """The engine itself says that it has no answer."""


class NotReadyError(EngineError):
    """The engine still starts; it may be ready for the next decision."""
