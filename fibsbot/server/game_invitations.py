"""Invitations to games other than backgammon: who can be invited, and the messages that name the game."""

from __future__ import annotations

from typing import Any

from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.games.ruleset import Ruleset
from fibsbot.server.pair_match import PairMatch
from fibsbot.server.users import User
from fibsbot.server.world import World


def ruleset_of(name: str) -> Ruleset:
    """Return the game that an invitation names. Raises CommandError if there is none, or no such option."""
    try:
        return load_ruleset(name)
    except UnknownGameError:
        raise CommandError(m.UnknownGame(name)) from None


def check_invited(world: World, inviter: User, guest: User, game: str | None) -> None:
    """Refuse an invitation to another game if one of the two cannot play it; the guest is told in one line."""
    if game is None:
        return
    if not inviter.plays_games:
        raise CommandError(m.GamesOff())
    if not guest.plays_games:
        world.send(guest, m.InvitedWithoutGames(inviter.name, game))
        raise CommandError(m.GamesNotWanted(guest.name))


def check_joins(host: User, guest: User, game: str | None) -> None:
    """Refuse to begin a match of another game if one of the two has turned games off since the invitation."""
    if game is None:
        return
    if not guest.plays_games:
        raise CommandError(m.GamesOff())
    if not host.plays_games:
        raise CommandError(m.GamesNotWanted(host.name))


def invitation(name: str, length: int, game: str | None) -> Message:
    """Return what the invited user reads."""
    return m.Invitation(name, length) if game is None else m.GameInvitation(name, length, game)


def invited(name: str, length: int, game: str | None) -> Message:
    """Return the answer to the user who has invited."""
    return m.YouInvited(name, length) if game is None else m.YouInvitedToGame(name, length, game)


def resume_invitation(name: str, game: str | None) -> Message:
    """Return what the user reads who is invited to resume a match."""
    return m.ResumeInvitation(name) if game is None else m.GameResumeInvitation(name, game)


def you_joined(name: str, length: int, game: str | None) -> Message:
    """Return what the user reads who has joined."""
    return m.YouJoined(name, length) if game is None else m.YouJoinedGame(name, length, game)


def opponent_joined(name: str, length: int, game: str | None) -> Message:
    """Return what the user reads who has invited."""
    return m.OpponentJoined(name, length) if game is None else m.OpponentJoinedGame(name, length, game)


def start_report(match: PairMatch[Any], host: str, guest: str) -> Message:
    """Return the report that a match begins."""
    if match.game is None:
        return m.MatchReportStart(host, guest, match.length)
    return m.GameReportStart(host, guest, match.length, match.game)


def resume_report(match: PairMatch[Any], host: str, guest: str) -> Message:
    """Return the report that a match is resumed."""
    if match.game is None:
        return m.MatchReportResume(host, guest, match.length)
    return m.GameReportResume(host, guest, match.length, match.game)
