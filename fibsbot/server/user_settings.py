"""A user's toggles and variables (specification: "Toggle", "Set"; docs/reference/protocol.md, pitfall 7)."""

from __future__ import annotations

import functools
import zoneinfo
from typing import Any, Final

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.errors import BadArgumentError
from fibs_protocol.words import Setting, Toggle

DEFAULT_ON: Final = frozenset(
    {
        Toggle.ALLOWPIP,
        Toggle.AUTOBOARD,
        Toggle.CRAWFORD,
        Toggle.DOUBLE,
        Toggle.MOREBOARDS,
        Toggle.NOTIFY,
        Toggle.TELNET,
    }
)
"""The toggles that are on for a new user. `automove` is not: clients send the play that the server would make."""

RESET_EACH_GAME: Final = {Toggle.DOUBLE: True, Toggle.GREEDY: False, Toggle.MOVES: False}
"""Toggles that every game resets; they are never saved."""

SORT_ORDERS: Final = ("login", "name", "rating", "rrating")


@define
class UserSettings:
    """All settings of one user."""

    on: set[Toggle] = field(factory=lambda: set(DEFAULT_ON))
    """The toggles that are on."""
    boardstyle: int = 1
    linelength: int = 0
    pagelength: int = 0
    redoubles: int | None = 0
    """Instant redoubles allowed in unlimited matches; None is unlimited."""
    sortwho: str = "login"
    timezone: str = "UTC"
    games: bool = False
    """Whether the client understands games other than backgammon."""

    def __getitem__(self, toggle: Toggle) -> bool:
        """Return whether a toggle is on."""
        return toggle in self.on

    def __setitem__(self, toggle: Toggle, value: bool) -> None:
        """Turn a toggle on or off."""
        (self.on.add if value else self.on.discard)(toggle)

    def begin_game(self) -> None:
        """Reset the toggles that every game resets."""
        for toggle, value in RESET_EACH_GAME.items():
            self[toggle] = value

    def text(self, setting: Setting) -> str:
        """Return a variable's value as the server writes it."""
        if setting is Setting.GAMES:
            return "on" if self.games else "off"
        if setting is Setting.REDOUBLES:
            return "unlimited" if self.redoubles is None else str(self.redoubles) if self.redoubles else "none"
        return str(getattr(self, setting.value))

    def change(self, setting: Setting, value: str) -> str:
        """Change a variable; return its value as the server writes it.

        Raises:
            BadArgumentError: with the server's refusal.
        """
        setattr(self, setting.value, _READERS[setting](setting, value))
        return self.text(setting)

    def to_json(self) -> dict[str, Any]:
        """Return the settings to save."""
        saved = {toggle.value: self[toggle] for toggle in Toggle if toggle not in RESET_EACH_GAME}
        return {"toggles": saved} | {setting.value: getattr(self, setting.value) for setting in Setting}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> UserSettings:
        """Read saved settings; missing ones keep their defaults."""
        settings = cls()
        for name, value in saved.get("toggles", {}).items():
            settings[Toggle(name)] = bool(value)
        for setting in Setting:
            if setting.value in saved:
                setattr(settings, setting.value, saved[setting.value])
        return settings


def _boardstyle(setting: Setting, value: str) -> int:
    if value not in ("1", "2", "3"):
        raise BadArgumentError(m.BadSettingValue(setting))
    return int(value)


def _size(setting: Setting, value: str) -> int:
    """Read a number of columns or lines; anything else counts as 0, as on FIBS."""
    if not (value.isdecimal() and value.isascii()):
        return 0
    if len(value) > 3:
        raise BadArgumentError(m.BadSettingValue(setting))
    return int(value)


def _redoubles(setting: Setting, value: str) -> int | None:
    if value in ("none", "unlimited"):
        return None if value == "unlimited" else 0
    if not (value.isdecimal() and value.isascii() and len(value) <= 2 and int(value)):
        raise BadArgumentError(m.BadSettingValue(setting))
    return int(value)


def _sortwho(setting: Setting, value: str) -> str:  # noqa: ARG001 - all readers are called alike
    if value not in SORT_ORDERS:
        raise BadArgumentError(m.BadSortwho(value))
    return value


def _timezone(setting: Setting, value: str) -> str:  # noqa: ARG001 - as above
    if value not in timezones():
        raise BadArgumentError(m.BadTimezone(value))
    return value


def _games(setting: Setting, value: str) -> bool:
    if value not in ("on", "off"):
        raise BadArgumentError(m.BadSettingValue(setting))
    return value == "on"


_READERS: Final = {
    Setting.BOARDSTYLE: _boardstyle,
    Setting.LINELENGTH: _size,
    Setting.PAGELENGTH: _size,
    Setting.REDOUBLES: _redoubles,
    Setting.SORTWHO: _sortwho,
    Setting.TIMEZONE: _timezone,
    Setting.GAMES: _games,
}


@functools.cache
def timezones() -> frozenset[str]:
    """Return the names of the time zones that this machine knows; UTC at least."""
    return frozenset(zoneinfo.available_timezones() | {"UTC"})
