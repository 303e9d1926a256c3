"""Build the hooks of `[[notify]]`, with the addresses and tokens that the settings only name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fibsbot.config.secrets import (
    MissingSecretError,
    secret_from_credential,
    secret_from_file,
    secret_from_variable,
)
from fibsbot.config.settings import Config, ConfigProblem, ConfigProblemsError
from fibsbot.notify.settings import COMMAND_FORMATS, Hook, NotifyFormat, NotifySettings, is_web_address
from fibsbot.redaction import hide_password

SECRET_PART: Final = 8
"""Characters from which on the path of an address is hidden wherever it occurs."""


def notify_hooks(config: Config, environment: Mapping[str, str] = os.environ) -> tuple[Hook, ...]:
    """Return the hooks that have a receiver; their addresses are hidden from now on. Raises ConfigProblemsError."""
    hooks: list[Hook] = []
    problems: list[ConfigProblem] = []
    for path, name, settings in hook_paths(config):
        if any(hook.name == name for hook in hooks):
            problems.append(ConfigProblem(f"{path}.name", "another name than that of an earlier hook", repr(name)))
        elif settings.is_used:
            try:
                hooks.append(_hook(path, name, settings, environment))
            except ConfigProblemsError as error:
                problems += error.problems
    if problems:
        raise ConfigProblemsError(problems)
    return tuple(hooks)


def hook_paths(config: Config) -> Iterator[tuple[str, str, NotifySettings]]:
    """Yield each hook's path in the file, its name and its settings."""
    for number, settings in enumerate(config.notify, 1):
        yield f"notify[{number}]" if len(config.notify) > 1 else "notify", settings.name or str(number), settings


def _hook(path: str, name: str, settings: NotifySettings, environment: Mapping[str, str]) -> Hook:
    if (settings.format in COMMAND_FORMATS) < bool(settings.command) and not settings.names_address:
        expected = f"{' or '.join(form.value for form in NotifyFormat if form in COMMAND_FORMATS)} for a command"
        raise ConfigProblemsError([ConfigProblem(f"{path}.format", expected, settings.format.value)])
    if settings.format is NotifyFormat.MAIL and settings.names_address:
        raise ConfigProblemsError([ConfigProblem(f"{path}.format", "another format for an address", "mail")])
    url = settings.url or _secret(path, "url", settings, environment)
    if url is not None:
        if not is_web_address(url):
            expected = "an address that begins with http:// or https://, without a user"
            raise ConfigProblemsError([ConfigProblem(f"{path}.{_named(settings, 'url')}", expected, "something else")])
        _hide(url)
    token = _secret(path, "token", settings, environment)
    if token is not None:
        if not token.isascii() or not token.isprintable() or not token.strip():
            place = f"{path}.{_named(settings, 'token')}"
            raise ConfigProblemsError([ConfigProblem(place, "a token of printable ASCII", "something else")])
        hide_password(token)
    return Hook(name, settings, url, token)


def _sources(
    settings: NotifySettings, what: str, environment: Mapping[str, str]
) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the settings that name a place of the address or the token, and functions that read it."""
    values = {kind: getattr(settings, f"{what}_{kind}") for kind in ("file", "credential", "env")}
    if isinstance(values["file"], Path):
        yield f"{what}_file", partial(secret_from_file, values["file"])
    if values["credential"] is not None:
        yield f"{what}_credential", partial(secret_from_credential, values["credential"], environment)
    if values["env"] is not None:
        yield f"{what}_env", partial(secret_from_variable, values["env"], environment)


def _named(settings: NotifySettings, what: str) -> str:
    """Return the setting that names the address or the token."""
    return next((name for name, _ in _sources(settings, what, {})), what)


def _secret(path: str, what: str, settings: NotifySettings, environment: Mapping[str, str]) -> str | None:
    for setting, read in _sources(settings, what, environment):
        try:
            return read().strip()
        except MissingSecretError as error:
            raise ConfigProblemsError([ConfigProblem(f"{path}.{setting}", error.expected, error.got)]) from None
    return None


def _hide(url: str) -> None:
    """Hide an address, and what follows the host in it, in everything that leaves the process."""
    hide_password(url)
    parts = urlsplit(url)
    rest = parts.path.strip("/") + (f"?{parts.query}" if parts.query else "")
    if len(rest) >= SECRET_PART:
        hide_password(rest)
