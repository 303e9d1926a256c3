"""Answers about users and the server (specification: "General Info", "FIBS Info")."""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message

# -- pip count, whois, ratings, server --------------------------------------------------------------------------------


@frozen
class PipCounts(Message):
    """`Pipcounts: You 123   X 167`"""

    player1: str
    pips1: int
    player2: str
    pips2: int


@frozen
class WhoisStart(Message):
    """`Information about X:`"""

    name: str


@frozen
class WhoisLogin(Message):
    """`  Last login:  Friday, January 10 12:12 EST from host`"""

    time: str
    host: str


@frozen
class WhoisLogout(Message):
    """`  Last logout: Friday, January 10 13:15 EST`"""

    time: str


@frozen
class WhoisIdle(Message):
    """`  Still logged in. 10:04 minutes idle.`"""

    seconds: int


@frozen
class WhoisNotLoggedIn(Message):
    """`  Not logged in right now.`"""


@frozen
class WhoisPlaying(Message):
    """`  X is playing with Y.`"""

    name: str
    opponent: str


@frozen
class WhoisNotPlaying(Message):
    """`  X is ready to play, watching Y, not playing.`"""

    name: str
    ready: bool
    watching: str | None


@frozen
class WhoisRating(Message):
    """`  Rating: 1418.61 Experience: 23`"""

    rating: float
    experience: int


@frozen
class WhoisEmail(Message):
    """`  Email address: a@b`; None for `  No email address.`"""

    address: str | None


@frozen
class WhoisUnknown(Message):
    """`No information found on user X.`"""

    name: str


@frozen
class RatingsHeader(Message):
    """` rank name            rating    Experience`"""


@frozen
class RatingListed(Message):
    """`    1 NIHILIST        2295.11     7274`"""

    rank: int
    name: str
    rating: float
    experience: int
    starred: bool = False
    """Whether there is an asterisk before the rank, as in the answer to `ratings X`."""


@frozen
class LastStart(Message):
    """`The 20 last logins/logouts:`"""

    count: int


@frozen
class LastListed(Message):
    """`Wed 11:08 UTC: X drops connection.`"""

    time: str
    text: str


@frozen
class ServerVersion(Message):
    """`** Version 2.071 (Linux) ...`"""

    text: str


@frozen
class ServerPort(Message):
    """`The server is running on port 4321.`"""

    port: int


@frozen
class PanicSaved(Message):
    """`Your game was saved in the panic file.`"""


@frozen
class TimezonesListed(Message):
    """`Africa/Abidjan, Africa/Accra,`: zones that the server knows, after one that it does not."""

    names: tuple[str, ...]


# -- statistics of the server -----------------------------------------------------------------------------------------


@frozen
class AverageHeader(Message):
    """`Time (UTC)  average min max    Time (UTC)  average min max`: the head of `average`."""


@frozen
class AverageListed(Message):
    """`00:00-00:59 115.1    72 153    12:00-12:59  72.0    55 100`: users logged in, two hours of the day per line."""

    period1: str
    average1: float
    """Number of users, one decimal."""
    least1: int
    most1: int
    period2: str
    average2: float
    least2: int
    most2: int


@frozen
class DicetestStart(Message):
    """`*** running dice test:`"""


@frozen
class DicetestLine(Message):
    """A line between the first and the last of the dice test, recognised only by its context."""

    text: str


@frozen
class DicetestEnd(Message):
    """`Done.`"""


@frozen
class StatStart(Message):
    """`The server is running since Tue Dec 31 21:17:01 UTC.`: first line of `stat`."""

    since: str


@frozen
class StatLine(Message):
    """A line between the first and the last of `stat`, recognised only by its context."""

    text: str


@frozen
class StatEnd(Message):
    """`0 ratings saved. reset log 5896 times.`: last line of `stat`."""

    ratings: int
    resets: int
