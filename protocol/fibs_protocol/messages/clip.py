"""CLIP 1 to 20: the numbered lines of the client protocol (specification: "CLIP Messages")."""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message


@frozen
class Welcome(Message):
    """`1 name last_login last_host`: the first line after a login."""

    name: str
    last_login: int
    """Seconds since 1970 UTC."""
    last_host: str


@frozen
class OwnInfo(Message):
    """`2 ...`: our own toggles and settings, the second line after a login."""

    name: str
    allowpip: bool
    autoboard: bool
    autodouble: bool
    automove: bool
    away: bool
    bell: bool
    crawford: bool
    double: bool
    experience: int
    greedy: bool
    moreboards: bool
    moves: bool
    notify: bool
    rating: float
    """Rating, two decimals."""
    ratings: bool
    ready: bool
    redoubles: int | None
    """Instant redoubles allowed in unlimited matches; 0 is "none", None is "unlimited"."""
    report: bool
    silent: bool
    timezone: str


@frozen
class MotdStart(Message):
    """`3`: the message of the day begins."""


@frozen
class MotdLine(Message):
    """A line between `3` and `4`, recognised only by its context."""

    text: str


@frozen
class MotdEnd(Message):
    """`4`: the message of the day ends."""


@frozen
class WhoInfo(Message):
    """`5 ...`: the state of one user."""

    name: str
    opponent: str | None
    watching: str | None
    ready: bool
    away: bool
    rating: float
    """Rating, two decimals."""
    experience: int
    idle: int
    """Seconds."""
    login: int
    """Seconds since 1970 UTC."""
    host: str
    client: str | None
    email: str | None


@frozen
class WhoEnd(Message):
    """`6`: the end of a list of `5` lines. Not every list has one."""


@frozen
class LoggedIn(Message):
    """`7 name text`: a user logged in."""

    name: str
    text: str
    """The line that a telnet user would see: `X logs in.`, `X just registered and logs in.` and so on."""


@frozen
class LoggedOut(Message):
    """`8 name text`: a user logged out, for whatever reason."""

    name: str
    text: str
    """The line that a telnet user would see: `X logs out.`, `X drops connection.` and so on."""


@frozen
class MailReceived(Message):
    """`9 from time text`: a user left a message for us."""

    name: str
    time: int
    """Seconds since 1970 UTC."""
    text: str


@frozen
class MailDelivered(Message):
    """`10 name`: the message we left was delivered at once."""

    name: str


@frozen
class MailSaved(Message):
    """`11 name`: the message we left is saved until its addressee logs in."""

    name: str


@frozen
class Says(Message):
    """`12 name text`: a private message to us."""

    name: str
    text: str


@frozen
class Shouts(Message):
    """`13 name text`: a message to all users."""

    name: str
    text: str


@frozen
class Whispers(Message):
    """`14 name text`: a message to the watchers of a match."""

    name: str
    text: str


@frozen
class Kibitzes(Message):
    """`15 name text`: a message to the players and watchers of a match."""

    name: str
    text: str


@frozen
class YouSay(Message):
    """`16 text`: the echo of our `tell` or `say`.

    After `tell` the text begins with the name of the addressee, after `say` it does not;
    the line itself does not show which of the two it was.
    """

    text: str


@frozen
class YouShout(Message):
    """`17 text`: the echo of our `shout`."""

    text: str


@frozen
class YouWhisper(Message):
    """`18 text`: the echo of our `whisper`."""

    text: str


@frozen
class YouKibitz(Message):
    """`19 text`: the echo of our `kibitz`."""

    text: str


@frozen
class Alert(Message):
    """`20 name text`: an alert (CLIP 1009)."""

    name: str
    text: str
