"""Where secrets come from: the first line of a file, a systemd credential, an environment variable.

No message shows any part of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"
"""The variable in which systemd passes the directory of the credentials."""
MAX_BYTES: Final = 4096
"""Maximum number of bytes that are read from a file."""


class MissingSecretError(Exception):
    """A source has no secret, or not one that can be used."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got


def secret_from_file(path: Path) -> str:
    """Return the first line of a file. Raises MissingSecretError."""
    try:
        with path.open("rb") as file:
            return _first_line(file.read(MAX_BYTES))
    except OSError as error:
        raise MissingSecretError("a file that can be read", error.strerror or type(error).__name__) from None


def secret_from_credential(name: str, environment: Mapping[str, str]) -> str:
    """Return the first line of a systemd credential. Raises MissingSecretError."""
    if not (folder := environment.get(CREDENTIALS)):
        raise MissingSecretError(f"a systemd credential, in the folder that ${CREDENTIALS} names", "no such variable")
    try:
        with Path(folder, name).open("rb") as file:
            return _first_line(file.read(MAX_BYTES))
    except (OSError, ValueError) as error:
        got = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        raise MissingSecretError(f"a systemd credential of this name in ${CREDENTIALS}", got) from None


def secret_from_variable(name: str, environment: Mapping[str, str]) -> str:
    """Return the value of an environment variable. Raises MissingSecretError."""
    if name not in environment:
        raise MissingSecretError("the name of a variable that is set", "one that is not")
    return environment[name]


def _first_line(data: bytes) -> str:
    return (data.decode("utf-8-sig", "replace").splitlines() or [""])[0]
