"""Keeps passwords out of everything that this process writes, shows or sends to people.

A password is registered for good (`hide_password`) or while it is used (`password_hidden`). All output then passes
`redact`, `redact_record` or a `StreamRedactor`: the program's log, the session log, the store, the
control socket, the web pages, systemd's status line, chat, standard output and standard error. Servers and opponents
may repeat a password anywhere: in quotes, within names and boards, in capitals, in the middle of an escaped text.

What is hidden, and what is not:

- A password of at least `SHORTEST` characters is replaced wherever its characters occur, in upper or lower case.
- A shorter one (`a`, `5`) occurs everywhere by chance, and hiding it there would reveal it. It is replaced in what we
  send, and where a text repeats it after the account's name, as in a login.
- A password that is part of the account's own name is not hidden within that name.
- Numbers that were read as numbers, such as a rating, are not text and stay.
"""

from __future__ import annotations

import contextlib
import html
import json
import operator
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from attrs import frozen

REDACTED: Final = "********"
"""Replacement for a password."""
SHORTEST: Final = 4
"""Minimum length of a password that is hidden wherever it occurs; FIBS accepts no shorter one."""
OWN_FIELDS: Final = frozenset({"answer", "command", "how", "kind", "phase", "play", "sheet", "state", "xgid"})
"""Fields of records whose values this program chooses, and reads again from the store: a password may be `double`."""

LONGEST: Final = 4096
"""Characters that a stream holds back at most."""

_CONTROL_BYTES: Final = r"(?:[\x00\x07]|\xff[\xf0-\xf9]|\xff[\xfb-\xfe].)*"
"""Control bytes and telnet commands that a server may send within a line, and that no reader sees."""
_INVISIBLE: Final = re.compile(_CONTROL_BYTES[:-1] + "+", re.DOTALL)


@frozen
class _Rules:
    """Search patterns for all registered passwords."""

    lowercase_passwords: tuple[str, ...] = ()
    """A text without any of them contains no password."""
    text: re.Pattern[str] | None = None
    """A match with something in the group `keep` stays, any other one is replaced."""
    received: re.Pattern[str] | None = None
    """The same for received text, which may contain invisible bytes."""

    def redacted(self, text: str, pattern: re.Pattern[str] | None) -> str:
        """Return a text without passwords."""
        return pattern.sub(lambda match: match["keep"] or REDACTED, text) if pattern else text

    def concern(self, text: str) -> bool:
        """Whether there may be a password in a text."""
        if not self.lowercase_passwords:
            return False
        lower = text.lower()
        return any(password in lower for password in self.lowercase_passwords)


_lock: Final = threading.Lock()
_passwords: Final[Counter[tuple[str, str]]] = Counter()
_rules = _Rules()


# -- which passwords ------------------------------------------------------------------------------------------------


def hide_password(password: str, name: str = "") -> None:
    """Hide a password for the rest of the process; `name` is the account's."""
    _register(password, name, 1)


@contextlib.contextmanager
def password_hidden(password: str, name: str = "") -> Iterator[None]:
    """Hide a password for as long as it is used."""
    _register(password, name, 1)
    try:
        yield
    finally:
        _register(password, name, -1)


def _register(password: str, name: str, times: int) -> None:
    global _rules  # noqa: PLW0603 - the registry of this process
    with _lock:
        before = set(_passwords)
        _passwords[password, name] += times
        if _passwords[password, name] <= 0:
            del _passwords[password, name]
        if before != set(_passwords):
            _rules = _build_rules(sorted(_passwords))


def _build_rules(registered: list[tuple[str, str]]) -> _Rules:
    """Return the rules for passwords and their accounts' names."""
    lowercase_passwords, within, anywhere, kept = set(), [], set(), set()
    for password, name in registered:
        spellings = _spellings(password) if password else set()
        if name:
            lowercase_passwords |= {f"{name} {spelling}".lower() for spelling in spellings}
            within += [rf"(?<={re.escape(name)} ){re.escape(spelling)}(?!\w)" for spelling in spellings]
        if len(password) >= SHORTEST:
            lowercase_passwords |= {spelling.lower() for spelling in spellings}
            anywhere |= spellings
            kept |= {name} if password.lower() in name.lower() else set()
    if not lowercase_passwords:
        return _Rules()
    longest_first = sorted(anywhere, key=lambda spelling: (-len(spelling), spelling))
    keep = f"(?P<keep>{'|'.join(map(re.escape, sorted(kept))) or '(?!)'})"
    received = [_CONTROL_BYTES.join(map(re.escape, spelling)) for spelling in longest_first]
    return _Rules(
        tuple(sorted(lowercase_passwords, key=len)),
        re.compile("|".join([*within, keep, *map(re.escape, longest_first)]), re.IGNORECASE),
        re.compile("|".join([*within, keep, *received]), re.IGNORECASE | re.DOTALL),
    )


def _spellings(password: str) -> set[str]:
    """Return the forms in which a password may occur: plain, quoted or escaped."""
    once = {password, repr(password)[1:-1], json.dumps(password)[1:-1], html.escape(password), quote(password, safe="")}
    return once | {json.dumps(spelling)[1:-1] for spelling in once} | {repr(spelling)[1:-1] for spelling in once}


# -- what leaves the process ----------------------------------------------------------------------------------------


def redact(text: str) -> str:
    """Return a text without passwords."""
    rules = _rules
    return rules.redacted(text, rules.text) if rules.concern(text) else text


def redact_record(value: Any) -> Any:
    """Return a value of a record without passwords, at any depth; what has none in it stays the same object.

    Keys stay, as do the values of `OWN_FIELDS`. An object that is no text, but shows a password, becomes a text.
    """
    if not _rules.lowercase_passwords or value is None or isinstance(value, bool | int | float):
        return value
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {key: item if key in OWN_FIELDS else redact_record(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            items = [redact_record(item) for item in value]
            return value if all(map(operator.is_, items, value)) else items
    shown = f"{value} {value!r}"
    return value if redact(shown) == shown else redact(str(value))


class StreamRedactor:
    """Removes passwords from received bytes, also if one is split over several reads."""

    def __init__(self) -> None:
        self._held = ""
        """The last bytes, if they may be the beginning of a password."""

    def take(self, data: bytes) -> str:
        """Return what is known to be no part of a password, as latin-1 text."""
        rules = _rules
        text = self._held + data.decode("latin-1")
        invisible = _INVISIBLE.search(text) is not None
        if invisible or rules.concern(text):
            text = rules.redacted(text, rules.received)
        keep = 0 if text.endswith("\n") else _partial_match_length(text, rules.lowercase_passwords, invisible=invisible)
        keep = keep if keep <= LONGEST else 0
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """Return the text held back: it might have been the beginning of a password."""
        held, self._held = self._held, ""
        return held


def _partial_match_length(text: str, lowercase_passwords: tuple[str, ...], *, invisible: bool) -> int:
    """Return how many characters at the end of a text may be the beginning of a password."""
    if not lowercase_passwords:
        return 0
    tail = text.lower()
    if invisible:
        tail = _INVISIBLE.sub("", tail)
    longest = max(_overlap(tail, password) for password in lowercase_passwords)
    if not invisible or not longest:
        return longest
    hidden_at = {at for match in _INVISIBLE.finditer(text) for at in range(*match.span())}
    seen = [at for at in range(len(text)) if at not in hidden_at]
    return len(text) - seen[-longest]


def _overlap(text: str, password: str) -> int:
    return next((n for n in range(min(len(text), len(password) - 1), 0, -1) if text.endswith(password[:n])), 0)
