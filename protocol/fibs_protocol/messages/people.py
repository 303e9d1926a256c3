"""Other users: chat, waiting, ignoring, watching (specification: "Chat and Settings For Other Players", "Watch")."""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message

# -- chat -------------------------------------------------------------------------------------------------------------


@frozen
class Heard(Message):
    """`** 3 users heard you.`; `** But nobody heard you.` for 0."""

    count: int


@frozen
class YouSayToYourself(Message):
    """`You say to yourself: text`"""

    text: str


@frozen
class NoMail(Message):
    """`There are no new messages for you.`"""


@frozen
class UserIsAway(Message):
    """`X is away: text`"""

    name: str
    text: str


@frozen
class YouAreAway(Message):
    """`You're away. Please type 'back'`"""


@frozen
class WelcomeBack(Message):
    """`Welcome back.`"""


@frozen
class NobodyAway(Message):
    """`None of the users is away.`"""


@frozen
class AwayListStart(Message):
    """`The following users are away:`"""


@frozen
class AwayListed(Message):
    """`X: text`: one user who is away, recognised only by the first line of the list."""

    name: str
    text: str


@frozen
class Waves(Message):
    """`X waves goodbye.`, `You wave goodbye.`"""

    name: str
    again: bool
    """Whether this is the second wave, which logs the user out."""


# -- waitfor, gag, blind ----------------------------------------------------------------------------------------------


@frozen
class WaitingForNobody(Message):
    """`You are not waiting for any players.`"""


@frozen
class WaitingFor(Message):
    """`You are waiting for X`"""

    name: str


@frozen
class WaitingForMany(Message):
    """`You are waiting for the following 2 players:`"""

    count: int


@frozen
class WaitingForNames(Message):
    """`  X , Y`: the awaited users, recognised only by the line before."""

    names: tuple[str, ...]


@frozen
class WillTellLogin(Message):
    """`** You'll receive a message when 'X' logs in.`"""

    name: str


@frozen
class AwaitedLoggedIn(Message):
    """`** FINALLY!!! X logs in.` (with three BELs)."""

    name: str


@frozen
class IsWaitingForYou(Message):
    """`** X is waiting for you to log in.`"""

    name: str


@frozen
class GagList(Message):
    """`** Gagged users: a,b`; none is the empty tuple."""

    names: tuple[str, ...]


@frozen
class GagSet(Message):
    """`** You gag X.` or `** You ungag X.`"""

    name: str
    value: bool


@frozen
class BlindList(Message):
    """`** Blinded users: a,b`; none is the empty tuple."""

    names: tuple[str, ...]


@frozen
class BlindSet(Message):
    """`** You blind X.` or `** You unblind X.`"""

    name: str
    value: bool


# -- watching ---------------------------------------------------------------------------------------------------------


@frozen
class YouWatch(Message):
    """`You're now watching X.`"""

    name: str


@frozen
class NothingInteresting(Message):
    """`X is not doing anything interesting.`"""

    name: str


@frozen
class YouStopWatching(Message):
    """`You stop watching X.`"""

    name: str


@frozen
class WatchesYou(Message):
    """`X is watching you.`"""

    name: str


@frozen
class StartsWatching(Message):
    """`X starts watching Y.`"""

    watcher: str
    player: str


@frozen
class StopsWatching(Message):
    """`X stops watching Y.`; Y is YOU for `X stops watching you.`"""

    watcher: str
    player: str


@frozen
class BansWatcher(Message):
    """`Y bans X from watching.`; X is YOU for `Y bans you from watching.`"""

    player: str
    watcher: str


@frozen
class WatchedGone(Message):
    """`X logs out.. You're not watching anymore.` and similar lines."""

    text: str
    """The line without its second sentence: `X drops connection.` and so on."""


@frozen
class YouLookGreat(Message):
    """`You look great.`: the answer to looking at oneself."""
