"""What happens around the matches: prompts, settings, lists, watching, reports, going away."""

from __future__ import annotations

import datetime as dt

from attrs import frozen

from protocol.messages.base import Message
from protocol.words import Setting, Toggle

# -- log in, registration, log out ----------------------------------------------------------------------------------


@frozen
class LoginPrompt(Message):
    """`login: `, without a newline. A second one says that the login failed."""


@frozen
class PasswordPrompt(Message):
    """`password: `, without a newline."""


@frozen
class CommandPrompt(Message):
    """`> `, without a newline: the prompt of a telnet user."""


@frozen
class NewPasswordPrompt(Message):
    """`Please give your password: `, without a newline (registration)."""


@frozen
class RetypePasswordPrompt(Message):
    """`Please retype your password: `, without a newline (registration)."""


@frozen
class PasswordsDifferPrompt(Message):
    """`** The two passwords were not identical. Please give them again. Password: `, without a newline."""


@frozen
class ServerTime(Message):
    """`Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )`: in the banner, and the answer to `time`."""

    local: str
    """The first half, in the user's time zone, as written."""
    utc: dt.datetime


@frozen
class AlreadyLoggedIn(Message):
    """`** Warning: You are already logged in.`"""


@frozen
class GuestWelcome(Message):
    """`Welcome to FIBS. You just logged in as guest.`"""


@frozen
class NameChosen(Message):
    """`Your name will be X`"""

    name: str


@frozen
class NoPasswordHint(Message):
    """`Type in no password and hit Enter/Return if you want to change it now.`"""


@frozen
class PasswordTooShort(Message):
    """`Minimal password length is 4 characters.`"""


@frozen
class Registered(Message):
    """`You are registered.`"""


@frozen
class BeginnerHint(Message):
    """`Type 'help beginner' to get started.`"""


@frozen
class Goodbye(Message):
    """`Goodbye.`: the first line after `bye`."""


@frozen
class ConnectionTimedOut(Message):
    """`Connection timed out.`: the server closes an idle connection."""


@frozen
class RestartNotice(Message):
    """`*** ATTENTION ! FIBS will restart in 60 seconds` (with a BEL), or `... will shut down in ...`."""

    restart: bool
    """Whether the server comes back."""
    delay: str
    """The rest of the line, such as `60 seconds`."""


@frozen
class Shutdown(Message):
    """`** System administrator causes shutdown. FIBS is terminating.`"""


@frozen
class GamesWillBeSaved(Message):
    """`** All running games will be saved.`"""


# -- toggles, settings and the account ------------------------------------------------------------------------------


@frozen
class ToggleSet(Message):
    """`** You're now ready to invite or join someone.` and the other 33 answers to `toggle`."""

    toggle: Toggle
    value: bool


@frozen
class TogglesStart(Message):
    """`The current settings are:`"""


@frozen
class ToggleValue(Message):
    """`allowpip        YES`"""

    toggle: Toggle
    value: bool


@frozen
class SettingsStart(Message):
    """`Settings of variables:`"""


@frozen
class SettingListed(Message):
    """`boardstyle: 3`"""

    setting: Setting
    value: str


@frozen
class SettingIs(Message):
    """`Value of 'boardstyle' is 3`"""

    setting: Setting
    value: str


@frozen
class SettingChanged(Message):
    """`Value of 'boardstyle' set to 3.`"""

    setting: Setting
    value: str


@frozen
class SettingsSaved(Message):
    """`Settings saved.`"""


@frozen
class AddressSet(Message):
    """`Your email address is 'a@b'.`"""

    address: str


@frozen
class PasswordChanged(Message):
    """`Password changed.`"""


# -- chat -----------------------------------------------------------------------------------------------------------


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
    """`X: text`: one user who is away; only the line that begins the list tells it from others."""

    name: str
    text: str


@frozen
class Waves(Message):
    """`X waves goodbye.`, `You wave goodbye.`"""

    name: str
    again: bool
    """Whether it is the second wave, which logs out."""


# -- waitfor, gag, blind --------------------------------------------------------------------------------------------


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
    """`  X , Y`: whom we wait for; only the line before tells it from others."""

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


# -- watching -------------------------------------------------------------------------------------------------------


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
    """`X logs out.. You're not watching anymore.` and its kin."""

    text: str
    """The line without its second sentence: `X drops connection.` and so on."""


@frozen
class YouLookGreat(Message):
    """`You look great.`: the answer to looking at oneself."""


# -- reports (toggle `report`) --------------------------------------------------------------------------------------


@frozen
class MatchReportStart(Message):
    """`A and B start a 5 point match.`"""

    player1: str
    player2: str
    length: int


@frozen
class MatchReportResume(Message):
    """`A and B are resuming their 13-point match.`"""

    player1: str
    player2: str
    length: int


@frozen
class MatchReportEnd(Message):
    """`A wins a 5 point match against B  5-2 .`"""

    winner: str
    loser: str
    length: int
    winner_points: int
    loser_points: int


@frozen
class MatchReportLeft(Message):
    """`A has left the game with B.`"""

    player: str
    opponent: str


# -- saved matches and other lists ----------------------------------------------------------------------------------


@frozen
class SavedStart(Message):
    """`  opponent          matchlength   score (your points first)`"""


@frozen
class SavedMatch(Message):
    """`**X                3                1 -  2`: one saved match."""

    name: str
    stars: int
    """Asterisks before the name: 0 absent, 1 or 2 logged in or ready (the sources disagree which is which)."""
    length: int
    own_points: int
    opponent_points: int


@frozen
class NoSavedGames(Message):
    """`no saved games.`"""


@frozen
class SavedCount(Message):
    """`X has 12 saved games.`, `X has no saved games.`"""

    name: str
    count: int


@frozen
class GamesStart(Message):
    """`List of games:`"""


@frozen
class GameListed(Message):
    """`A               -               B (1 point match 0-0)`"""

    player1: str
    player2: str
    length: int
    points1: int
    points2: int


@frozen
class WatchersStart(Message):
    """`Watching players:`"""


@frozen
class WatcherListed(Message):
    """`X is watching Y.`"""

    watcher: str
    player: str


@frozen
class NoWatchers(Message):
    """`Watching players: none.`"""


@frozen
class MaxLogins(Message):
    """`max_logins is 500 (maximum: 510)`"""

    current: int
    maximum: int


@frozen
class WhoHeader(Message):
    """`No  S  username        rating   exp login  idle from`: the head of the telnet user's list."""


@frozen
class WhereIs(Message):
    """`X from 192.168.143.5`"""

    name: str
    address: str


@frozen
class WhereHost(Message):
    """`(somehost.com)`: second line of `where`."""

    host: str


# -- pip count, whois, ratings, server ------------------------------------------------------------------------------


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
    """Whether an asterisk stands before the rank, as in the answer to `ratings X`."""


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


# -- statistics of the server ---------------------------------------------------------------------------------------


@frozen
class AverageHeader(Message):
    """`Time (UTC)  average min max    Time (UTC)  average min max`: the head of `average`."""


@frozen
class AverageListed(Message):
    """`00:00-00:59 115.1    72 153    12:00-12:59  72.0    55 100`: users logged in, two hours of the day a line."""

    period1: str
    average1: float
    """Users, one decimal."""
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
    """A line between the dice test's first and last; only the reader's context tells it from others."""

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
    """A line between the first and the last of `stat`; only the reader's context tells it from others."""

    text: str


@frozen
class StatEnd(Message):
    """`0 ratings saved. reset log 5896 times.`: last line of `stat`."""

    ratings: int
    resets: int
