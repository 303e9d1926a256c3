"""The section `[[notify]]` of a configuration: whom to notify of what, and how. Imports nothing slow."""

from __future__ import annotations

import datetime as dt
import enum
import re
from pathlib import Path
from typing import Final

from attrs import field, frozen

from fibsbot.setting import seconds, setting


class NotifyEvent(enum.StrEnum):
    """Something that an operator may want to hear of."""

    REFUSED = "refused"
    """The server refused the password."""
    REPLACED = "replaced"
    """Somebody else logged in under the account's name."""
    STUCK = "stuck"
    """The server cannot continue a match, which was given up."""
    CRASHED = "crashed"
    """A run of an account crashed and is started again."""
    HANGING = "hanging"
    """An account shows no activity in time."""
    SERVER_GONE = "server_gone"
    """There has been no connection for `gone_after`."""
    STORAGE = "storage"
    """The disk is full, or records cannot be written for another reason."""
    LIST = "list"
    """A list of players of `[lists]` could not be read for `gone_after`."""
    BACK = "back"
    """What one of the last four reported is over."""
    MATCH_WON = "match_won"
    MATCH_LOST = "match_lost"
    RATING = "rating"
    """The account's rating has passed one of `ratings`."""
    SUMMARY = "summary"
    """The day's matches, at `summary_at`."""
    TRIAL = "trial"
    """A trial message of `fibsbot check-config --try-notify`; every hook gets it."""


ALARMS: Final = (
    NotifyEvent.REFUSED,
    NotifyEvent.REPLACED,
    NotifyEvent.STUCK,
    NotifyEvent.CRASHED,
    NotifyEvent.HANGING,
    NotifyEvent.SERVER_GONE,
    NotifyEvent.STORAGE,
    NotifyEvent.LIST,
    NotifyEvent.BACK,
)
"""The events that something is wrong, or right again."""
_CHOICES: Final = tuple(event for event in NotifyEvent if event is not NotifyEvent.TRIAL)


class NotifyFormat(enum.StrEnum):
    """What a receiver expects."""

    JSON = "json"
    """The notice as a JSON object."""
    NTFY = "ntfy"
    """The text as the body, title and priority as headers, as ntfy takes them."""
    DISCORD = "discord"
    """A Discord webhook."""
    MATRIX = "matrix"
    """A room of Matrix, whose address ends with `/send/m.room.message`."""
    TEXT = "text"
    """Plain text: the title, an empty line, the text."""
    MAIL = "mail"
    """An e-mail for `sendmail`, whose recipients are arguments of the command."""


COMMAND_FORMATS: Final = frozenset({NotifyFormat.JSON, NotifyFormat.TEXT, NotifyFormat.MAIL})
"""The formats that a command can read."""
_TIME: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_ADDRESS: Final = re.compile(r"https?://[^/?#\s@]+(?:[/?]\S*)?", re.IGNORECASE)


def is_web_address(text: str) -> bool:
    """Return whether a text is an http or https address without a user's name and password."""
    return text.isascii() and text.isprintable() and _ADDRESS.fullmatch(text) is not None


def time_zone(name: str) -> dt.tzinfo:
    """Return a time zone by its name. Raises ValueError if this machine does not know it."""
    if name == "UTC":
        return dt.UTC  # which needs no data base of time zones
    import zoneinfo  # noqa: PLC0415 - few configurations need it

    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise ValueError(f"expected a time zone that this machine knows, got {name!r}") from None


def _is_zone(name: str) -> bool:
    try:
        time_zone(name)
    except ValueError:
        return False
    return True


@frozen
class NotifySettings:
    """A hook: events, and the web address or the command that is notified of them. There may be several.

    An address often contains a secret, and is never shown. If several places are given for it, the first counts.
    """

    name: str | None = setting(
        None,
        "Name of the hook in the log, and of the file that keeps what is not delivered; by default its number.",
        example="telephone",
        expected="a name of letters, digits, - and _, at most 40",
        check=lambda text: re.fullmatch(r"[A-Za-z0-9_-]{1,40}", text),
    )
    events: tuple[NotifyEvent, ...] = setting(
        ALARMS,
        "Events to notify of; those not in the default are `match_won`, `match_lost`, `rating` and `summary`.",
        expected=" or ".join(f'"{event}"' for event in _CHOICES),
        check=lambda event: event is not NotifyEvent.TRIAL,
    )
    url: str | None = setting(
        None,
        "Address to which each notice is sent, by POST.",
        example="https://ntfy.sh/a-name-that-nobody-guesses",
        expected="an address that begins with http:// or https://, without a user",
        check=is_web_address,
        secret=True,
    )
    url_file: Path | None = setting(
        None, "File with the address in its first line.", example="/etc/fibsbot/notify", secret=True
    )
    url_credential: str | None = setting(
        None, "Name of the systemd credential with the address.", example="notify", secret=True
    )
    url_env: str | None = setting(None, "Environment variable with the address.", example="NOTIFY_URL", secret=True)
    token_file: Path | None = setting(
        None,
        "File with an access token in its first line.",
        example="/etc/fibsbot/token",
        secret=True,
    )
    token_credential: str | None = setting(
        None, "Name of the systemd credential with the access token.", example="token", secret=True
    )
    token_env: str | None = setting(
        None, "Environment variable with the access token.", example="NOTIFY_TOKEN", secret=True
    )
    command: tuple[str, ...] = setting(
        (),
        "Command to run for each notice, and its arguments; no shell reads them. It gets the notice on standard input,"
        " and in variables that begin with FIBSBOT_.",
        example=("sendmail", "-i", "zaphod@example.org"),
        blanks=True,
    )
    format: NotifyFormat = setting(NotifyFormat.JSON, "What the receiver expects.")
    ratings: tuple[float, ...] = setting(
        (), "Ratings to be notified of when the account's own passes them, up or down.", example=(1600.0, 1700.0)
    )
    gone_after: float = seconds(
        3600.0,
        "Time without a connection after which the server counts as gone, and a list of players as unreadable.",
        above=0,
    )
    summary_at: str | None = setting(
        None,
        "Time of the daily summary.",
        example="08:00",
        expected="a time from 00:00 to 23:59",
        check=_TIME.fullmatch,
    )
    timezone: str = setting(
        "UTC",
        "Time zone of `summary_at`.",
        example="Europe/Berlin",
        expected="a time zone such as UTC or Europe/Berlin",
        check=_is_zone,
    )
    timeout: float = seconds(20.0, "Time that a delivery may take.", above=0)
    keep: int = setting(
        200,
        "Notices that may wait for the receiver; of more, the oldest that are no alarms are dropped first.",
        minimum=1,
        maximum=10_000,
    )

    @property
    def time_of_summary(self) -> dt.time | None:
        """When the daily summary is due; None: never."""
        return None if self.summary_at is None else dt.time.fromisoformat(self.summary_at)

    @property
    def names_address(self) -> bool:
        """Whether the hook has a web address, wherever that is."""
        return any(place is not None for place in (self.url, self.url_file, self.url_credential, self.url_env))

    @property
    def is_used(self) -> bool:
        """Whether the hook has a receiver."""
        return self.names_address or bool(self.command)


@frozen
class Hook:
    """A hook with everything that the settings only name."""

    name: str
    settings: NotifySettings
    url: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
