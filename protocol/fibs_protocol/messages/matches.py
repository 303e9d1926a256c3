"""Messages about matches: invitations, saved matches, reports, ratings, lists of moves.

Specification: "Invite", "Join", "Start or Resume a Match", "End of a Match", "Oldmoves".
"""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message
from fibs_protocol.words import Colour, Dice, FibsMove

# -- invitations and the start of a match -----------------------------------------------------------------------------


@frozen
class Invitation(Message):
    """`X wants to play a 5 point match with you.`"""

    name: str
    length: int
    """Points; UNLIMITED for an unlimited match."""


@frozen
class ResumeInvitation(Message):
    """`X wants to resume a saved match with you.`"""

    name: str


@frozen
class JoinHint(Message):
    """`Type 'join X' to accept.`: the second line of an invitation."""

    name: str


@frozen
class MatchLaws(Message):
    """`The match is played by laws 1931 point (the laws of 1931; the Point Game).`: other laws than those of FIBS.

    It comes with an invitation, when a match starts or is resumed, and to a watcher (only this project's server).
    """

    words: str
    """As `invite` takes them."""
    text: str
    """The same in plain words."""


@frozen
class LawsKnown(Message):
    """`You will be shown invitations to matches by other laws.`: the answer to `laws on`."""

    known: bool


@frozen
class SavedMatchWarning(Message):
    """`WARNING: Don't accept if you want to continue the saved 3 point match!`: joining would discard it."""

    length: int


@frozen
class YouInvited(Message):
    """`** You invited X to a 3 point match.`"""

    name: str
    length: int


@frozen
class YouInvitedToResume(Message):
    """`** You invited X to resume a saved match.`"""

    name: str


@frozen
class OpponentJoined(Message):
    """`** Player X has joined you for a 3 point match.`: our invitation was accepted."""

    name: str
    length: int


@frozen
class YouJoined(Message):
    """`** You are now playing a 3 point match with X`: we accepted an invitation."""

    name: str
    length: int


@frozen
class OpponentResumed(Message):
    """`X has joined you. Your running match was loaded.`"""

    name: str


@frozen
class YouResumed(Message):
    """`You are now playing with X. Your running match was loaded.`"""

    name: str


@frozen
class ResumeTurn(Message):
    """`turn: X.`: first line of a resumed match's synopsis."""

    player: str


@frozen
class ResumeLength(Message):
    """`match length: 5` or `unlimited matchlength`: second line of the synopsis."""

    length: int


@frozen
class ResumePoints(Message):
    """`points for X: 1`: third and fourth line of the synopsis."""

    player: str
    points: int


# -- the rating calculation (toggle `ratings`) ------------------------------------------------------------------------


@frozen
class RatingStart(Message):
    """`rating calculation:`"""


@frozen
class RatingDifference(Message):
    """`rating difference D=155.634835`"""

    difference: float


@frozen
class RatingLength(Message):
    """`match length      N=3`"""

    length: int


@frozen
class RatingExperience(Message):
    """`Experience: A 2761 - B 187`"""

    player1: str
    experience1: int
    player2: str
    experience2: int


@frozen
class RatingUpset(Message):
    """`Probability that underdog wins: Pu=1/(10^(D*sqrt(N)/2000)+1)=0.423029`"""

    probability: float


@frozen
class RatingProbability(Message):
    """`P=0.423029 is 1-Pu if underdog wins and Pu if favorite wins`"""

    probability: float


@frozen
class RatingFactor(Message):
    """`K=max(1 , -Experience/100+5) for A: 1.000000`"""

    name: str
    factor: float


@frozen
class RatingChange(Message):
    """`change for A: 4*K*sqrt(N)*P=2.930831`"""

    name: str
    change: float
    """Points; negative for the loser, whose line reads `-4*K*sqrt(N)*P=`."""


# -- the list of moves (`oldmoves`, toggle `moves`) -------------------------------------------------------------------


@frozen
class MovesScore(Message):
    """`Score is 2-2 in a 3 point match.`: first line of a list of moves."""

    points1: int
    points2: int
    length: int


@frozen
class MovesColours(Message):
    """`A is X - B is O`: second line of a list of moves."""

    x: str
    o: str


@frozen
class MovesPlay(Message):
    """`O: (5 1) 13-8 24-23`, or `O: (4 4) can't move` when there are no moves."""

    colour: Colour
    dice: Dice
    moves: tuple[FibsMove, ...]


@frozen
class MovesAction(Message):
    """`X: doubles`, `O: accepts`, `X: wins` and other actions that are not rolls."""

    colour: Colour
    text: str


# -- reports (toggle `report`) ----------------------------------------------------------------------------------------


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


# -- saved matches and other lists ------------------------------------------------------------------------------------


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
    """`No  S  username        rating   exp login  idle from`: the header of the telnet user's list."""


@frozen
class WhereIs(Message):
    """`X from 192.168.143.5`"""

    name: str
    address: str


@frozen
class WhereHost(Message):
    """`(somehost.com)`: second line of `where`."""

    host: str
