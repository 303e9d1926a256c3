"""Match commands: invite, join, leave; resuming saved matches.

Specification: "Invite", "Join", "Leave". At the end are the messages that name the game, if it is not backgammon.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message
from fibs_protocol.words import UNLIMITED, Departure, Toggle
from fibsbot.games import GAMES, UnknownGameError, load_ruleset
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import Seat, Stage
from fibsbot.server import flows, game_commands, game_flow, laws, watchers
from fibsbot.server.accounts import LISTED_EXPERIENCE, SHORT_MATCH
from fibsbot.server.audience import match_views, send_boards
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.pair_match import PairMatch
from fibsbot.server.ruleset_match import load_match, new_ruleset_match
from fibsbot.server.server_match import ServerMatch, new_match, update_laws
from fibsbot.server.users import PendingInvitation, User
from fibsbot.server.world import CommandHandlers, World
from fibsbot.text import one_line

MAX_LENGTH: Final = 999
"""Points of the longest match."""

HANDLERS: Final = CommandHandlers()


# -- invite ---------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Invite, c.InviteToGame, c.InviteByLaws)
def invite(world: World, user: User, command: c.Invite) -> None:
    """Invite another user. An invitation never expires, but a user has only one at a time."""
    if user.match is not None:
        raise CommandError(m.YouArePlaying())
    if not user.ready:
        user.settings[Toggle.READY] = True
        world.show_status(user)
    guest = find_guest(world, user, command.name)
    saved = _unfinished(world, user.name, guest.name)
    length, agreed = command.length, None
    game = _ruleset_of(command.game).full_name if isinstance(command, c.InviteToGame) else None
    _check_invited(world, user, guest, game)
    if length is None:
        if saved is None:
            raise CommandError(m.NoSavedMatch(guest.name))
        old = load_match(saved)
        if old is not None:
            laws.check_knows(old, user, guest)
            _check_invited(world, user, guest, old.game)
        shown = laws.law_lines(old.agreed if old else None)
        hears = _resume_message(user.name, old.game if old else None)
        world.send(guest, hears, *shown, m.JoinHint(user.name))
        world.send(user, m.YouInvitedToResume(guest.name), *shown)
    else:
        _check_length(length)
        words = command.laws if isinstance(command, c.InviteByLaws) else None
        agreed = laws.agreed_laws(world, user, guest, words) if game is None else None
        if agreed is None and SHORT_MATCH < length < UNLIMITED and user.account.experience <= LISTED_EXPERIENCE:
            raise CommandError(m.NotExperienced())
        shown = laws.law_lines(agreed)
        world.send(guest, _invitation_message(user.name, length, game), *shown, m.JoinHint(user.name))
        if saved is not None:
            world.send(guest, m.SavedMatchWarning(_saved_length(saved)))
        world.send(user, _invited_message(guest.name, length, game), *shown)
    user.invitation = PendingInvitation(guest.name, length, agreed, game)
    if guest.away is not None:
        world.send(user, m.Unknown(""), m.UserIsAway(guest.name, guest.away))


def find_guest(world: World, user: User, name: str) -> User:
    """Return a user who can be invited. Raises CommandError for anybody else."""
    guest = world.named(name)
    if guest is user:
        raise CommandError(m.InviteSelf())
    if guest.busy:
        raise CommandError(m.AlreadyPlayingOther(guest.name, joining=False))
    if not guest.ready:
        raise CommandError(m.RefusesGames(guest.name))
    return guest


def _check_length(length: int) -> None:
    if length != UNLIMITED and not 1 <= length <= MAX_LENGTH:
        raise CommandError(m.InviteBadLength())


def _unfinished(world: World, name: str, other: str) -> SavedMatchRow | None:
    saved = world.database.match(name, other)
    return None if saved is None or saved.over else saved


def _saved_length(saved: SavedMatchRow) -> int:
    """Return the length of a saved match; of a corrupt one, UNLIMITED."""
    match = load_match(saved)
    return UNLIMITED if match is None else match.length


# -- join -----------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Join)
def join(world: World, user: User, command: c.Join) -> None:
    """Accept an invitation, or join the next game of the match."""
    if user.match is not None:
        if user.match.state.stage is not Stage.OVER:
            raise CommandError(m.TwoGamesAtOnce())
        _join_next_game(world, user, user.match)
        return
    if command.name is None:
        raise CommandError(m.JoinWho())
    host = world.find(command.name)
    if host is None:
        raise CommandError(m.CantFindPlayer(command.name))
    if host.busy:
        raise CommandError(m.AlreadyPlayingOther(host.name, joining=True))
    if not host.ready:
        raise CommandError(m.RefusesGames(host.name))
    invitation = host.invitation
    if invitation is None or invitation.name != user.name:
        raise CommandError(m.DidntInvite(host.name))
    _check_joins(host, user, invitation.game)
    host.invitation = user.invitation = None
    if invitation.length is None:
        _resume(world, host, user)
    else:
        _start(world, host, user, invitation.length, invitation)


def _join_next_game(world: World, user: User, match: PairMatch[Any]) -> None:
    seat = match.seat(user.name)
    match.joined.add(seat)
    if len(match.joined) < 2:
        world.send(user, m.WaitForJoin(match.names[seat.other]))
    else:
        flows.start_next_game(world, match)


def _start(world: World, host: User, guest: User, length: int, invitation: PendingInvitation) -> None:
    """Start a new match of the game, or by the laws, of the invitation; a saved one between the two is discarded."""
    last = world.database.match(host.name, guest.name)
    serial = last.serial + 1 if last else 1
    game = invitation.game
    match: PairMatch[Any] = (
        new_match(host, guest, length, serial, invitation.laws)
        if game is None
        else new_ruleset_match(host, guest, length, serial, _ruleset_of(game))
    )
    if world.dice.coin(match.key):
        match.swap_colours()
    _begin_playing(world, match, host, guest)
    world.send(guest, _you_joined(host.name, length, game))
    world.send(host, _opponent_joined(guest.name, length, game))
    _show_laws(world, match)
    _announce_match(world, match, _start_report(match, host.name, guest.name))
    flows.start_game(world, match)


def _resume(world: World, host: User, guest: User) -> None:
    """Resume the saved match; between two games, start the next one."""
    saved = _unfinished(world, host.name, guest.name)
    if saved is None:
        raise CommandError(m.DidntInvite(host.name))
    match = load_match(saved)
    if match is None:
        world.send(host, m.SavedMatchCorrupt())
        raise CommandError(m.SavedMatchCorrupt())
    laws.check_knows(match, host, guest)
    _check_joins(host, guest, match.game)
    _begin_playing(world, match, host, guest)
    world.send(guest, m.YouResumed(host.name))
    world.send(host, m.OpponentResumed(guest.name))
    _show_laws(world, match)
    if isinstance(match, ServerMatch):
        update_laws(match)
    for user in (host, guest):
        user.settings.begin_game()
    scores = match.state.scores
    for user in (host, guest):
        world.send(
            user,
            *(() if match.game is None else (m.ResumeGame(match.game),)),
            m.ResumeTurn(match.names[match.on_turn]),
            m.ResumeLength(match.length),
            *(m.ResumePoints(match.names[seat], scores[seat]) for seat in (Seat.A, Seat.B)),
        )
    _announce_match(world, match, _resume_report(match, host.name, guest.name))
    if match.between_games:
        flows.start_next_game(world, match, resumed=True)
        return
    if isinstance(match, ServerMatch):
        send_boards(world, match, except_for=partial(game_flow.asks_after_resume, world))
    _repeat_prompt(world, match)


def _show_laws(world: World, match: PairMatch[Any]) -> None:
    """Show both players and the watchers by which laws the match is played, if not by those of FIBS."""
    viewers = [view.user for view in match_views(world, match) if view.user.knows_laws]
    world.send_all(viewers, *laws.law_lines(match.agreed))


def _repeat_prompt(world: World, match: PairMatch[Any]) -> None:
    """Repeat the prompt that was open when the match was interrupted."""
    state = match.state
    if state.resignation is not None:
        game_commands.announce_resignation(world, match, state.resignation)
    elif state.answering is not None:
        game_commands.announce_double(world, match)
    elif isinstance(match, ServerMatch) and state.stage is Stage.MOVE:
        game_flow.offer_rethrow(world, match)
        world.send(match.users[state.turn], m.MovePrompt(match.can_move[state.turn]))
    else:
        flows.continue_game(world, match, skip_board=not world.quirks.board_after_resume)


def _begin_playing(world: World, match: PairMatch[Any], host: User, guest: User) -> None:
    # The end of watching is announced to the watched player's opponent, so it comes before anybody has the match.
    for user in (host, guest):
        watchers.stop_watching(world, user)
    for user in (host, guest):
        match.users[match.seat(user.name)] = user
        user.match = match
    world.mark_unsaved(match)
    world.show_status(host, guest)


def _announce_match(world: World, match: PairMatch[Any], message: m.Message) -> None:
    """Announce a match to its watchers, then to all users who want reports.

    Watchers whom a player has banned, or whose clients know no other laws or games, stop watching.
    """
    banned = {name for user in match.users.values() for name in user.blinded}
    for view in list(match_views(world, match)):
        if not view.is_watcher:
            continue
        is_shown = match.is_shown_to(view.user)
        if match.game is not None and not is_shown:
            world.send(view.user, m.WatchedWithoutGames(match.names[view.seat], match.game))
            watchers.stop_watching(world, view.user)
            continue
        world.send(view.user, message)
        if view.user.name in banned or not is_shown:
            host, guest = match.names
            world.send(view.user, m.CantWatchMatch(host, guest))
            watchers.stop_watching(world, view.user)
    game_flow.report_match(world, match, message)


# -- leave ----------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Leave)
def leave(world: World, user: User, command: c.Leave) -> None:  # noqa: ARG001 - all handlers are called alike
    """Leave the match."""
    if user.match is None:
        raise CommandError(m.NobodyToLeave())
    break_off(world, user, Departure.LEFT)


def break_off(world: World, user: User, how: Departure) -> None:
    """Interrupt a user's match, if there is one; it is saved and can be resumed."""
    match = user.match
    if match is None:
        return
    seat = match.seat(user.name)
    opponent = match.users[seat.other]
    world.mark_unsaved(match)
    world.save_matches()
    world.send(user, m.YouLeft() if how is Departure.LEFT else m.YourGameSaved(opponent.name))
    world.send(opponent, m.OpponentGone(user.name, how))
    for player in (user, opponent):
        player.match = None
    game_flow.report_match(world, match, m.MatchReportLeft(user.name, opponent.name))
    world.show_status(user, opponent)


# -- other games ----------------------------------------------------------------------------------------------------


def _ruleset_of(name: str) -> Ruleset:
    """Return the game that an invitation names. Raises CommandError if there is none, or no such option."""
    try:
        return load_ruleset(name)
    except UnknownGameError as error:
        if name.partition(":")[0] in GAMES:
            raise CommandError(m.UnknownLaws(one_line(error))) from None
        raise CommandError(m.UnknownGame(name)) from None


def _check_invited(world: World, inviter: User, guest: User, game: str | None) -> None:
    """Refuse an invitation to a game whose lines one of the players has not asked for, and tell the guest of it."""
    if game is None:
        return
    if not inviter.plays_games:
        raise CommandError(m.GamesOff())
    if not guest.plays_games:
        world.send(guest, m.InvitedWithoutGames(inviter.name, game))
        raise CommandError(m.GamesNotWanted(guest.name))


def _check_joins(host: User, guest: User, game: str | None) -> None:
    """Refuse to begin a match of another game if one of the two has turned games off since the invitation."""
    if game is None:
        return
    if not guest.plays_games:
        raise CommandError(m.GamesOff())
    if not host.plays_games:
        raise CommandError(m.GamesNotWanted(host.name))


def _invitation_message(name: str, length: int, game: str | None) -> Message:
    """Return what the invited user reads."""
    return m.Invitation(name, length) if game is None else m.GameInvitation(name, length, game)


def _invited_message(name: str, length: int, game: str | None) -> Message:
    """Return the answer to the user who has invited."""
    return m.YouInvited(name, length) if game is None else m.YouInvitedToGame(name, length, game)


def _resume_message(name: str, game: str | None) -> Message:
    """Return what the user reads who is invited to resume a match."""
    return m.ResumeInvitation(name) if game is None else m.GameResumeInvitation(name, game)


def _you_joined(name: str, length: int, game: str | None) -> Message:
    """Return what the user reads who has joined."""
    return m.YouJoined(name, length) if game is None else m.YouJoinedGame(name, length, game)


def _opponent_joined(name: str, length: int, game: str | None) -> Message:
    """Return what the user reads who has invited."""
    return m.OpponentJoined(name, length) if game is None else m.OpponentJoinedGame(name, length, game)


def _start_report(match: PairMatch[Any], host: str, guest: str) -> Message:
    """Return the report that a match begins."""
    if match.game is None:
        return m.MatchReportStart(host, guest, match.length)
    return m.GameReportStart(host, guest, match.length, match.game)


def _resume_report(match: PairMatch[Any], host: str, guest: str) -> Message:
    """Return the report that a match is resumed."""
    if match.game is None:
        return m.MatchReportResume(host, guest, match.length)
    return m.GameReportResume(host, guest, match.length, match.game)
