"""`**` lines that refuse a command outside a game, in the order of the specification."""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Refusal
from fibs_protocol.words import Setting

# -- log in -----------------------------------------------------------------------------------------------------------


@frozen
class UnknownCommand(Refusal):
    """`** Unknown command: 'x'`"""

    command: str


@frozen
class CommandNotImplemented(Refusal):
    """`** Not yet implemented: 'x'` (JIBS): a command that the server does not implement."""

    command: str


@frozen
class NameTaken(Refusal):
    """`** Please use another name. 'X' is already used by someone else.`"""

    name: str


@frozen
class NameInvalid(Refusal):
    """`** Your name may only contain letters and the underscore character _ .`"""


@frozen
class NoPasswordGiven(Refusal):
    """`** No password given. Please choose a new name`"""


# -- chat -------------------------------------------------------------------------------------------------------------


@frozen
class SilentRefusesShout(Refusal):
    """`** Please type 'toggle silent' again before you shout.`"""


@frozen
class NotWatchingOrPlaying(Refusal):
    """`** You're not watching or playing.`"""


@frozen
class NoSuchUser(Refusal):
    """`** There is no one called X` and its variants (`There's no one`, quotes, full stop)."""

    name: str


@frozen
class WontListen(Refusal):
    """`** X won't listen to you.`"""

    name: str


@frozen
class YouDontListen(Refusal):
    """`** You can't talk if you won't listen.`"""


@frozen
class SayOutsideGame(Refusal):
    """`** 'say' can't be used outside a game`"""


@frozen
class MailUnknownUser(Refusal):
    """`** Don't know user X.`"""

    name: str


@frozen
class MailUsage(Refusal):
    """`** usage: message <user> <text>`"""


@frozen
class WaitforUnknownUser(Refusal):
    """`** There is no user called 'X'.`"""

    name: str


@frozen
class WaitforPresent(Refusal):
    """`** 'X' is already logged in.`"""

    name: str


@frozen
class WaitforSelf(Refusal):
    """`** Look behind you. Maybe you are waiting there.`"""


@frozen
class GagSelf(Refusal):
    """`** You talk too much, don't you?`"""


@frozen
class BlindSelf(Refusal):
    """`** You can't read this message now, can you?`"""


# -- invite and join --------------------------------------------------------------------------------------------------


@frozen
class TellWhom(Refusal):
    """`** Tell whom?`: `tell`, `tellx` or `alert` without a name."""


@frozen
class InviteWho(Refusal):
    """`** invite who?`"""


@frozen
class RefusesGames(Refusal):
    """`** X is refusing games.`"""

    name: str


@frozen
class AlreadyPlayingOther(Refusal):
    """`** X is already playing with someone else.`, after `join` with `Error: ` before the name."""

    name: str
    joining: bool
    """Whether it answers `join` (True) or `invite`."""


@frozen
class InviteBadLength(Refusal):
    """`** The second argument to 'invite' has to be a number or the word 'unlimited'`"""


@frozen
class NotExperienced(Refusal):
    """`** You're not experienced enough to play a match of that length.`"""


@frozen
class NoSavedMatch(Refusal):
    """`** There's no saved match with X. Please give a match length.`"""

    name: str


@frozen
class YouArePlaying(Refusal):
    """`** You are already playing.`"""


@frozen
class InviteSelf(Refusal):
    """`** You can't invite yourself.`"""


@frozen
class InvitationPending(Refusal):
    """`** Please wait for your last invitation to be accepted.`"""


@frozen
class NotReady(Refusal):
    """`** Use 'toggle ready' first`"""


@frozen
class JoinWho(Refusal):
    """`** Error: Join who?`"""


@frozen
class DidntInvite(Refusal):
    """`** X didn't invite you.`"""

    name: str


@frozen
class CantFindPlayer(Refusal):
    """`** Error: can't find player X`"""

    name: str


@frozen
class SavedMatchCorrupt(Refusal):
    """`** ERROR: Saved match is corrupt. Please start another one.`"""


@frozen
class TwoGamesAtOnce(Refusal):
    """`** You can't play two games at once`"""


# -- watch, look, oldboard, oldmoves, away ----------------------------------------------------------------------------


@frozen
class WatchWho(Refusal):
    """`** Watch who?`"""


@frozen
class NoWatchAllowed(Refusal):
    """`** X doesn't want you to watch.`"""

    name: str


@frozen
class WatchSelf(Refusal):
    """`** Use a mirror to do that.`"""


@frozen
class WatchWhilePlaying(Refusal):
    """`** You can't watch another game while you're playing.`"""


@frozen
class CantWatchMatch(Refusal):
    """`** You can't watch the match between A and B.`"""

    player1: str
    player2: str


@frozen
class NotWatching(Refusal):
    """`** You're not watching.`"""


@frozen
class LookWho(Refusal):
    """`** Look at who?`"""


@frozen
class UserNotPlaying(Refusal):
    """`** X is not playing.`"""

    name: str


@frozen
class NoLookAllowed(Refusal):
    """`** X doesn't want you to look.`"""

    name: str


@frozen
class OldboardUsage(Refusal):
    """`** usage: oldboard <name>`"""


@frozen
class NoOldboard(Refusal):
    """`** There's no saved match with a player called 'X'.`"""

    name: str


@frozen
class NotWhilePlaying(Refusal):
    """`** You can't do this while playing.`"""


@frozen
class OldmovesUsage(Refusal):
    """`** usage: oldmoves <name>`"""


@frozen
class NoOldmoves(Refusal):
    """`** There is no saved game with X.`"""

    name: str


@frozen
class NotAway(Refusal):
    """`** You're not away.`"""


# -- settings and information -----------------------------------------------------------------------------------------


@frozen
class UnknownToggle(Refusal):
    """`** Don't know how to toggle x`"""

    argument: str


@frozen
class UnknownSetting(Refusal):
    """`** Invalid argument. Type 'help set'.`"""


@frozen
class BadSettingValue(Refusal):
    """`** Valid arguments are the numbers 1 to 3.` and similar lines for the other variables."""

    setting: Setting


@frozen
class BadSortwho(Refusal):
    """`** Unknown value 'x'. Try 'login', 'name', 'rating' or 'rrating'.`"""

    value: str


@frozen
class BadTimezone(Refusal):
    """`Can't find timezone 'x'. Try one of:`"""

    value: str


@frozen
class NoAddressGiven(Refusal):
    """`** You didn't give your address.`"""


@frozen
class BadAddress(Refusal):
    """`** 'x' is not an email address.`"""

    address: str


@frozen
class PasswordUsage(Refusal):
    """`** usage: password <old password>:<new password>:<new password>`"""


@frozen
class PasswordColonNote(Refusal):
    """`** NOTE: The character between the passwords is now a colon!`: second line of the usage."""


@frozen
class WrongPassword(Refusal):
    """`** Sorry. Old password not correct.`"""


@frozen
class PasswordsDiffer(Refusal):
    """`** Please give your new password twice.`"""


@frozen
class ShowWhat(Refusal):
    """`** show what?`"""


@frozen
class UnknownShow(Refusal):
    """`** Don't know how to show x`"""

    argument: str


@frozen
class WhoisWho(Refusal):
    """`** please give a name as an argument.`"""


@frozen
class RatingsOneName(Refusal):
    """`** Please use only one of the given names 'A' and 'B'.`"""

    name1: str
    name2: str


@frozen
class RatingsBadRange(Refusal):
    """`** invalid range from 20 to 15`"""

    first: int
    last: int


@frozen
class RatingsLongRange(Refusal):
    """`** range currently limited to 100.`"""


@frozen
class RatingsNotPositive(Refusal):
    """`** Please give a positive number after 'from'.`"""

    word: str
    """`from` or `to`."""


@frozen
class UseWhois(Refusal):
    """`** Please use the 'whois' command.`"""


@frozen
class ChouetteRefused(Refusal):
    """`** chouette: X is the captain and acts for the team` (our server's)."""

    reason: str


@frozen
class PermissionDenied(Refusal):
    """`** Permission denied`"""


@frozen
class NameFixed(Refusal):
    """`** You're not supposed to change your name.`"""
