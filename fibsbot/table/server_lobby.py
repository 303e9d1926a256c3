"""What a person sees of a server besides a match: who is there, invitations, saved matches, and what people say.

Plain data for every face, without I/O. What others type stays text: faces show it as such.
"""

from __future__ import annotations

import enum
import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, Self

from attrs import asdict, define, frozen

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.messages import Message
from fibs_protocol.words import Departure, Toggle
from fibsbot.bot.context import on
from fibsbot.bot.players import Players
from fibsbot.fibs_numbering import length_from_fibs

MAX_LINES: Final = 300
"""Lines of chat and notices that are kept."""
MAX_LENGTH: Final = 500
"""Characters of a line that are kept: no server of FIBS' protocol sends longer ones."""
MAX_INVITATIONS: Final = 50
MAX_SAVED: Final = 1000
"""Saved matches that are kept; FIBS allows a few dozen."""

_INVITATION_REFUSED: Final = (
    *(m.RefusesGames, m.AlreadyPlayingOther, m.InviteBadLength, m.NotExperienced, m.NoSavedMatch, m.NoSuchUser),
    *(m.GamesNotWanted, m.UnknownGame, m.UnknownLaws, m.KnowsNoLaws),
)


class LineKind(enum.Enum):
    """Where a line was said, or that it is a notice."""

    TELL = "tell"
    """To one person; `say` is a tell to the opponent."""
    KIBITZ = "kibitz"
    """To the players and watchers of a match."""
    WHISPER = "whisper"
    """To the watchers of a match."""
    SHOUT = "shout"
    """To everybody."""
    NOTICE = "notice"
    """Nobody has said it: what has happened, or what the server says."""


@frozen
class ChatLine:
    """A line of chat, or a notice."""

    number: int
    """Counted from 1 over the whole run."""
    kind: LineKind
    name: str
    """Who has said it; empty for a notice."""
    text: str
    own: bool = False
    """Whether the person has said it."""


@define
class ReceivedInvitation:
    """An invitation to the person."""

    name: str
    length: int | None
    """Points, 0 for unlimited; None to resume a saved match."""
    game: str | None = None
    """The game's name with its options, if it is not backgammon."""
    laws: str = ""
    """Other laws than those of FIBS, in plain words."""
    discards: bool = False
    """Whether joining would discard a saved match with this player."""


@frozen
class SavedMatchLine:
    """A saved match of the person."""

    name: str
    length: int
    """Points, 0 for unlimited."""
    score: tuple[int, int]
    """The person's points first."""
    game: str | None = None


@frozen
class PlayerLine:
    """A player who is there."""

    name: str
    rating: float
    experience: int
    state: str
    """What the player does: ready, playing, watching, busy, away."""
    other: str | None
    """Whom the player plays or watches."""
    client: str | None

    @classmethod
    def of(cls, info: m.WhoInfo) -> Self:
        """Return the line of a player, with one word for what the player does."""
        if info.opponent is not None:
            state = "playing"
        elif info.watching is not None:
            state = "watching"
        elif info.away:
            state = "away"
        else:
            state = "ready" if info.ready else "busy"
        other = info.opponent or info.watching
        return cls(info.name, info.rating, info.experience, state, other, info.client)


class ServerLobby:
    """Follows what a server says to a person outside of a game.

    It outlives connections; `begin_connection` forgets what only one of them knows.
    """

    def __init__(self, user: str) -> None:
        """Begin with nothing known."""
        self.user = user
        self.lines: deque[ChatLine] = deque(maxlen=MAX_LINES)
        self.gagged: set[str] = set()
        self.blinded: set[str] = set()
        self.players: Players | None = None
        """Those of the connection."""
        self.invitations: dict[str, ReceivedInvitation] = {}
        self.invited: str | None = None
        """Whom the person has invited, while nothing has come of it."""
        self.saved: dict[str, SavedMatchLine] = {}
        self.ready: bool | None = None
        """Whether the person can be invited, as far as it is known."""
        self.away = False
        self.resume_with: str | None = None
        """The opponent of a match that a lost connection has broken off, until it goes on."""
        self._numbers: Iterator[int] = itertools.count(1)
        self._last_invitation: str | None = None
        """Whose invitation the lines that belong to one follow."""
        self._agreed_game: str | None = None

    def begin_connection(self, players: Players) -> None:
        """Begin with a new connection and its list of players."""
        self.players = players
        self.invitations, self.invited, self.saved = {}, None, {}
        self._last_invitation = None
        self.away = False

    # -- chat and notices -----------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Add a notice."""
        self._add(LineKind.NOTICE, "", text)

    def _add(self, kind: LineKind, name: str, text: str, *, own: bool = False) -> None:
        self.lines.append(ChatLine(next(self._numbers), kind, name, text[:MAX_LENGTH], own))

    @on(m.Says, m.Alert)
    def _on_says(self, message: m.Says | m.Alert) -> None:
        self._add(LineKind.TELL, message.name, message.text)

    @on(m.Kibitzes)
    def _on_kibitzes(self, message: m.Kibitzes) -> None:
        self._add(LineKind.KIBITZ, message.name, message.text)

    @on(m.Whispers)
    def _on_whispers(self, message: m.Whispers) -> None:
        self._add(LineKind.WHISPER, message.name, message.text)

    @on(m.Shouts)
    def _on_shouts(self, message: m.Shouts) -> None:
        self._add(LineKind.SHOUT, message.name, message.text)

    @on(m.YouSay, m.YouKibitz, m.YouWhisper, m.YouShout)
    def _on_own_line(self, message: m.YouSay | m.YouKibitz | m.YouWhisper | m.YouShout) -> None:
        kinds = {m.YouSay: LineKind.TELL, m.YouKibitz: LineKind.KIBITZ, m.YouWhisper: LineKind.WHISPER}
        self._add(kinds.get(type(message), LineKind.SHOUT), self.user, message.text, own=True)

    @on(m.MailReceived)
    def _on_mail(self, message: m.MailReceived) -> None:
        self._add(LineKind.TELL, message.name, message.text)

    @on(
        *(m.UserIsAway, m.YouAreAway, m.WelcomeBack, m.YouWatch, m.YouStopWatching, m.WatchedGone, m.WatchesYou),
        *(m.StartsWatching, m.StopsWatching, m.NothingInteresting, m.BansWatcher, m.AwaitedLoggedIn),
        *(m.ChouetteNews, m.ChouetteTable, m.ChouettePass, m.ChouetteCaptain, m.ChouetteInvitation),
        *(m.ChouetteResult, m.ChouetteLedger, m.ChouetteLeft, m.ChouetteDropout, m.WatchedWithoutGames),
        *(m.RestartNotice, m.Shutdown, m.GamesWillBeSaved, m.MatchWon, m.PipCounts),
    )
    def _on_notice(self, message: Message) -> None:
        if isinstance(message, m.YouAreAway | m.WelcomeBack):
            self.away = isinstance(message, m.YouAreAway)
        self.note(write(message))

    def on_refusal(self, message: Message) -> None:
        """Show that the server has refused what the person asked for."""
        if isinstance(message, _INVITATION_REFUSED):
            self.invited = None
        self.note(write(message).removeprefix("** "))

    # -- settings ---------------------------------------------------------------------------------------------------

    @on(m.OwnInfo)
    def _on_own_info(self, message: m.OwnInfo) -> None:
        self.ready, self.away = message.ready, message.away

    @on(m.ToggleSet, m.ToggleValue)
    def _on_toggle(self, message: m.ToggleSet | m.ToggleValue) -> None:
        if message.toggle is Toggle.READY:
            self.ready = message.value

    @on(m.WhoInfo)
    def _on_who(self, message: m.WhoInfo) -> None:
        if message.name == self.user:
            self.ready, self.away = message.ready, message.away

    @on(m.GagSet)
    def _on_gag(self, message: m.GagSet) -> None:
        (self.gagged.add if message.value else self.gagged.discard)(message.name)
        self.note(write(message).removeprefix("** "))

    @on(m.BlindSet)
    def _on_blind(self, message: m.BlindSet) -> None:
        (self.blinded.add if message.value else self.blinded.discard)(message.name)
        self.note(write(message).removeprefix("** "))

    # -- who is there ---------------------------------------------------------------------------------------------

    @on(m.LoggedIn)
    def _on_logged_in(self, message: m.LoggedIn) -> None:
        if self.players is not None:
            self.players.logged_in(message.name)

    @on(m.LoggedOut)
    def _on_logged_out(self, message: m.LoggedOut) -> None:
        if self.players is not None:
            self.players.logged_out(message.name)
        self.invitations.pop(message.name, None)
        if self.invited == message.name:
            self.invited = None

    # -- invitations and saved matches ----------------------------------------------------------------------------

    @on(m.Invitation, m.GameInvitation, m.ResumeInvitation, m.GameResumeInvitation)
    def _on_invitation(self, message: Message) -> None:
        match message:
            case m.Invitation(name=name, length=length):
                invitation = ReceivedInvitation(name, length_from_fibs(length))
            case m.GameInvitation(name=name, length=length, game=game):
                invitation = ReceivedInvitation(name, length_from_fibs(length), game)
            case m.GameResumeInvitation(name=name, game=game):
                invitation = ReceivedInvitation(name, None, game)
            case m.ResumeInvitation(name=name):
                invitation = ReceivedInvitation(name, None)
            case _:
                return
        self.invitations.pop(name, None)
        if len(self.invitations) < MAX_INVITATIONS:
            self.invitations[name] = invitation
        self._last_invitation = name

    @on(m.SavedMatchWarning)
    def _on_warning(self, _: m.SavedMatchWarning) -> None:
        if invitation := self.invitations.get(self._last_invitation or ""):
            invitation.discards = True

    def note_laws(self, words: str) -> None:
        """Note the laws of the last invitation."""
        if invitation := self.invitations.get(self._last_invitation or ""):
            invitation.laws = words

    @on(m.YouInvited, m.YouInvitedToGame, m.YouInvitedToResume)
    def _on_invited(self, message: m.YouInvited | m.YouInvitedToGame | m.YouInvitedToResume) -> None:
        self.invited = message.name
        self.note(write(message).removeprefix("** "))

    @on(m.SavedStart, m.NoSavedGames)
    def _on_saved_list(self, _: Message) -> None:
        self.saved = {}

    @on(m.SavedMatch, m.SavedGameMatch)
    def _on_saved(self, row: m.SavedMatch | m.SavedGameMatch) -> None:
        if len(self.saved) < MAX_SAVED:
            game = row.game if isinstance(row, m.SavedGameMatch) else None
            score = (row.own_points, row.opponent_points)
            self.saved[row.name] = SavedMatchLine(row.name, length_from_fibs(row.length), score, game)

    @on(m.NoSavedMatch)
    def _on_no_match(self, message: m.NoSavedMatch) -> None:
        self.saved.pop(message.name, None)

    # -- what matches are told ------------------------------------------------------------------------------------

    def agreed_length(self, name: str, *, resumed: bool, ours: bool) -> int | None:  # noqa: ARG002 - see MatchLobby
        """Return None: a person plays any match that begins, and leaves it if it is not what was agreed."""
        return None

    def agreed_game(self, name: str, *, ours: bool) -> str | None:  # noqa: ARG002 - as above
        """Return the game of the match that begins."""
        return self._agreed_game

    @on(m.OpponentJoinedGame, m.YouJoinedGame)
    def _on_joined_game(self, message: m.OpponentJoinedGame | m.YouJoinedGame) -> None:
        self._agreed_game = message.game

    def match_started(self, opponent: str) -> None:
        """Forget all invitations."""
        self.invitations, self.invited = {}, None
        self.resume_with = None
        self.note(f"You play {opponent}.")

    def match_ended(self, opponent: str) -> None:
        """Forget a saved match that was played to its end."""
        self.saved.pop(opponent, None)

    def match_saved(
        self,
        opponent: str,
        length: int | None,
        *,
        wrong_length: bool,  # noqa: ARG002 - see MatchLobby
        unwanted: bool,  # noqa: ARG002
        how: Departure | None,  # noqa: ARG002
    ) -> None:
        """Note that a match was broken off; the server has saved it."""
        self.saved.setdefault(opponent, SavedMatchLine(opponent, length or 0, (0, 0)))

    # -- for a face -----------------------------------------------------------------------------------------------

    @property
    def player_lines(self) -> list[PlayerLine]:
        """Everybody who is there, the person as well."""
        return [] if self.players is None else [PlayerLine.of(info) for info in self.players.users.values()]

    def as_dict(self) -> dict[str, Any]:
        """Return everything in JSON types: players by name, lines by number."""
        return {
            "user": self.user,
            "ready": self.ready,
            "away": self.away,
            "players": {line.name: _as_dict(line) for line in self.player_lines},
            "invitations": [asdict(invitation) for invitation in self.invitations.values()],
            "invited": self.invited,
            "saved": [asdict(saved) for saved in self.saved.values()],
            "gagged": sorted(self.gagged),
            "blinded": sorted(self.blinded),
            "lines": {
                line.number: {"kind": line.kind.value, "name": line.name, "text": line.text, "own": line.own}
                for line in self.lines
            },
        }


def _as_dict(line: PlayerLine) -> dict[str, Any]:
    fields = asdict(line)
    fields["with"] = fields.pop("other")
    return fields
