"""Find passwords. They are never part of a configuration, and no message here shows one.

A source named in the configuration must have the password; nothing else is tried. If several are named, the first of
these counts: file, credential, environment, keyring. If none is named, the systemd credential with the account's name
is used; a file's only account also finds its password in the credential `password`, and then in FIBSBOT_PASSWORD.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from attrs import field, frozen

from fibsbot.config.fields import ConfigProblem, ConfigProblemsError
from fibsbot.config.settings import AccountConfig
from fibsbot.redaction import hide_password

VARIABLE: Final = "FIBSBOT_PASSWORD"
"""The environment variable for the only account of a file, if it names no source."""
CREDENTIAL: Final = "password"
"""The credential for the only account of a file, if it names no source."""
CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"
"""The variable in which systemd passes the directory of the credentials."""
MAX_BYTES: Final = 4096
"""Number of bytes that are read of a file."""


@frozen
class FoundPassword:
    """A password that was found."""

    text: str = field(repr=False)
    source: str
    """Where it was found, in words."""


def find_password(
    account: AccountConfig, path: str = "account", *, alone: bool = True, environment: Mapping[str, str] = os.environ
) -> FoundPassword:
    """Find the password of an account. Raises ConfigProblemsError; `path` is the account's path in the file.

    `alone`: it is the only account of the file.
    """
    setting, look = _named(account, environment) or ("", _unnamed(account.name, alone=alone, environment=environment))
    try:
        found = look()
    except _NoPasswordError as error:
        problem = ConfigProblem(setting, error.expected, error.got)
        raise ConfigProblemsError([problem.prefixed(path)]) from None
    hide_password(found.text, account.name or "")
    return found


class _NoPasswordError(Exception):
    """A source has no password."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got


def _named(account: AccountConfig, environment: Mapping[str, str]) -> tuple[str, Callable[[], FoundPassword]] | None:
    """Return the setting that names a source, and a function that reads it; None if there is none."""
    if account.password_file is not None:
        return "password_file", partial(_from_file, account.password_file)
    if account.password_credential is not None:
        return "password_credential", partial(_from_credential, account.password_credential, environment)
    if account.password_env is not None:
        return "password_env", partial(_from_variable, account.password_env, environment)
    if account.password_keyring is not None:
        return "password_keyring", partial(_from_keyring, account.password_keyring, account.name or "")
    return None


def _unnamed(name: str | None, *, alone: bool, environment: Mapping[str, str]) -> Callable[[], FoundPassword]:
    """Return a function that reads the password from where it is by default."""
    for credential in [name, *([CREDENTIAL] if alone else [])]:
        if credential and CREDENTIALS in environment and os.access(Path(environment[CREDENTIALS], credential), os.F_OK):
            return partial(_from_credential, credential, environment)
    if alone and environment.get(VARIABLE):
        return partial(_from_variable, VARIABLE, environment)
    return partial(_not_found, f", or from the variable {VARIABLE}" if alone else "")


def _from_file(path: Path) -> FoundPassword:
    try:
        with path.open("rb") as file:
            text = _first_line(file.read(MAX_BYTES))
    except OSError as error:
        raise _NoPasswordError("a file that can be read", error.strerror or type(error).__name__) from None
    return FoundPassword(_checked(text, "in the first line of the file"), "a file")


def _from_credential(name: str, environment: Mapping[str, str]) -> FoundPassword:
    if not (folder := environment.get(CREDENTIALS)):
        raise _NoPasswordError(f"a systemd credential, in the folder that ${CREDENTIALS} names", "no such variable")
    try:
        with Path(folder, name).open("rb") as file:
            text = _first_line(file.read(MAX_BYTES))
    except (OSError, ValueError) as error:
        got = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        raise _NoPasswordError(f"a systemd credential of this name in ${CREDENTIALS}", got) from None
    return FoundPassword(_checked(text, "in the first line of the credential"), "a systemd credential")


def _from_variable(name: str, environment: Mapping[str, str]) -> FoundPassword:
    if name not in environment:
        raise _NoPasswordError("the name of a variable that is set", "one that is not")
    return FoundPassword(_checked(environment[name], "in the variable"), "an environment variable")


def _not_found(more: str) -> FoundPassword:
    settings = "password_file, password_credential, password_env, password_keyring"
    raise _NoPasswordError(f"a password from one of {settings}{more}", "none")


def _from_keyring(service: str, name: str) -> FoundPassword:
    try:
        import keyring  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        raise _NoPasswordError("the package keyring (pip install 'fibsbot[keyring]')", "none installed") from None
    try:
        text = keyring.get_password(service, name)
    except Exception as error:  # noqa: BLE001 - a backend may raise anything, and its text may show too much
        raise _NoPasswordError("a keyring that answers", type(error).__name__) from None
    if text is None:
        raise _NoPasswordError(f"a keyring with a password of {name!r} for this service", "none")
    return FoundPassword(_checked(text, "in the keyring"), "the keyring")


def _first_line(data: bytes) -> str:
    return (data.decode("utf-8", "replace").splitlines() or [""])[0]


def _checked(text: str, where: str) -> str:
    if not text.isascii() or not text.isprintable() or not text or " " in text:
        raise _NoPasswordError(
            f"a password without blanks, printable ASCII, {where}", "something else" if text else "nothing"
        )
    return text
