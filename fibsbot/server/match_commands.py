"""Commands that begin and end matches: invite, join, leave; resuming saved matches.

Specification: "Invite", "Join", "Leave".
"""

from __future__ import annotations

from functools import partial
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import UNLIMITED, Departure, Toggle

from fibsbot.rules.game import Seat, Stage, next_game
from fibsbot.server import game_commands, game_flow, watchers
from fibsbot.server.accounts import LISTED_EXPERIENCE, SHORT_MATCH
from fibsbot.server.audience import match_views, send_boards
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.server_match import CorruptMatchError, ServerMatch, new_match, update_laws
from fibsbot.server.users import PendingInvitation, User
from fibsbot.server.world import CommandHandlers, World

MAX_LENGTH: Final = 999
"""Points of the longest match."""

HANDLERS: Final = CommandHandlers()


# -- invite ---------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Invite)
def invite(world: World, user: User, command: c.Invite) -> None:
    """Ask another user to play. An invitation waits for ever, but only one at a time."""
    if user.table is not None:
        raise CommandError(m.YouArePlaying())
    if not user.ready:
        user.settings[Toggle.READY] = True
        world.show_status(user)
    guest = _find_guest(world, user, command.name)
    saved = _unfinished(world, user.name, guest.name)
    length = command.length
    if length is None:
        if saved is None:
            raise CommandError(m.NoSavedMatch(guest.name))
        world.tell(guest, m.ResumeInvitation(user.name), m.JoinHint(user.name))
        world.tell(user, m.YouInvitedToResume(guest.name))
    else:
        _check_length(user, length)
        world.tell(guest, m.Invitation(user.name, length), m.JoinHint(user.name))
        if saved is not None:
            world.tell(guest, m.SavedMatchWarning(_saved_length(saved)))
        world.tell(user, m.YouInvited(guest.name, length))
    user.invitation = PendingInvitation(guest.name, length)
    if guest.away is not None:
        world.tell(user, m.Unknown(""), m.UserIsAway(guest.name, guest.away))


def _find_guest(world: World, user: User, name: str) -> User:
    guest = world.find(name)
    if guest is None:
        raise CommandError(m.NoSuchUser(name))
    if guest is user:
        raise CommandError(m.InviteSelf())
    if guest.table is not None:
        raise CommandError(m.AlreadyPlayingOther(guest.name, joining=False))
    if not guest.ready:
        raise CommandError(m.RefusesGames(guest.name))
    return guest


def _check_length(user: User, length: int) -> None:
    if length != UNLIMITED and not 1 <= length <= MAX_LENGTH:
        raise CommandError(m.InviteBadLength())
    if SHORT_MATCH < length < UNLIMITED and user.account.experience <= LISTED_EXPERIENCE:
        raise CommandError(m.NotExperienced())


def _unfinished(world: World, name: str, other: str) -> SavedMatchRow | None:
    saved = world.store.match(name, other)
    return None if saved is None or saved.over else saved


def _saved_length(saved: SavedMatchRow) -> int:
    """Return the length of a saved match; a corrupt one warns of an unlimited match."""
    try:
        return ServerMatch.from_saved(saved).length
    except CorruptMatchError:
        return UNLIMITED


# -- join -----------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Join)
def join(world: World, user: User, command: c.Join) -> None:
    """Accept an invitation, or go on to the next game of the match."""
    if user.table is not None:
        if user.table.state.stage is not Stage.OVER:
            raise CommandError(m.TwoGamesAtOnce())
        _join_next_game(world, user, user.table)
        return
    if command.name is None:
        raise CommandError(m.JoinWho())
    host = world.find(command.name)
    if host is None:
        raise CommandError(m.CantFindPlayer(command.name))
    if host.table is not None:
        raise CommandError(m.AlreadyPlayingOther(host.name, joining=True))
    if not host.ready:
        raise CommandError(m.RefusesGames(host.name))
    invitation = host.invitation
    if invitation is None or invitation.name != user.name:
        raise CommandError(m.DidntInvite(host.name))
    host.invitation = user.invitation = None
    if invitation.length is None:
        _resume(world, host, user)
    else:
        _start(world, host, user, invitation.length)


def _join_next_game(world: World, user: User, table: ServerMatch) -> None:
    seat = table.seat(user.name)
    table.joined.add(seat)
    if len(table.joined) < 2:
        world.tell(user, m.WaitForJoin(table.names[seat.other]))
    else:
        _start_next_game(world, table)


def _start_next_game(world: World, table: ServerMatch, *, resumed: bool = False) -> None:
    table.state = next_game(table.state)
    table.swap_colours()
    game_flow.start_game(world, table, resumed=resumed)


def _start(world: World, host: User, guest: User, length: int) -> None:
    """Begin a new match; a saved one between the two is discarded."""
    last = world.store.match(host.name, guest.name)
    serial = last.serial + 1 if last else 1
    table = new_match(host, guest, length, serial)
    if world.fixtures.dice.coin(table.key):
        table.swap_colours()
    _begin_playing(world, table, host, guest)
    world.tell(guest, m.YouJoined(host.name, length))
    world.tell(host, m.OpponentJoined(guest.name, length))
    _announce_match(world, table, m.MatchReportStart(host.name, guest.name, length))
    game_flow.start_game(world, table)


def _resume(world: World, host: User, guest: User) -> None:
    """Take up the saved match where it was left; between two games, begin the next one."""
    saved = _unfinished(world, host.name, guest.name)
    if saved is None:
        raise CommandError(m.DidntInvite(host.name))
    try:
        table = ServerMatch.from_saved(saved)
    except CorruptMatchError:
        world.tell(host, m.SavedMatchCorrupt())
        raise CommandError(m.SavedMatchCorrupt()) from None
    _begin_playing(world, table, host, guest)
    world.tell(guest, m.YouResumed(host.name))
    world.tell(host, m.OpponentResumed(guest.name))
    update_laws(table)
    for user in (host, guest):
        user.settings.begin_game()
    scores = table.state.scores
    for user in (host, guest):
        world.tell(
            user,
            m.ResumeTurn(table.names[table.on_turn]),
            m.ResumeLength(table.length),
            *(m.ResumePoints(table.names[seat], scores[seat]) for seat in (Seat.A, Seat.B)),
        )
    _announce_match(world, table, m.MatchReportResume(host.name, guest.name, table.length))
    if table.between_games:
        _start_next_game(world, table, resumed=True)
        return
    send_boards(world, table, unless=partial(game_flow.asks_after_resume, world))
    _repeat_prompt(world, table)


def _repeat_prompt(world: World, table: ServerMatch) -> None:
    """Say again what the match was waiting for when it was broken off."""
    state = table.state
    if state.resignation is not None:
        game_commands.announce_resignation(world, table, state.resignation)
    elif state.answering is not None:
        game_commands.announce_double(world, table)
    elif state.stage is Stage.MOVE:
        world.tell(table.users[state.turn], m.MovePrompt(table.can_move[state.turn]))
    else:
        game_flow.continue_game(world, table, asked=not world.fixtures.quirks.board_after_resume)


def _begin_playing(world: World, table: ServerMatch, host: User, guest: User) -> None:
    for user in (host, guest):
        watchers.stop_watching(world, user)
        table.users[table.seat(user.name)] = user
        user.table = table
    world.changed(table)
    world.show_status(host, guest)


def _announce_match(world: World, table: ServerMatch, message: m.MatchReportStart | m.MatchReportResume) -> None:
    """Tell about a match that begins; whoever is banned by one of the players can only hear of it."""
    banned = {name for user in table.users.values() for name in user.blinded}
    for view in list(match_views(world, table)):
        if not view.watched:
            continue
        world.tell(view.user, message)
        if view.user.name in banned:
            world.tell(view.user, m.CantWatchMatch(message.player1, message.player2))
            watchers.stop_watching(world, view.user)
    game_flow.report_match(world, table, message)


# -- leave ----------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Leave)
def leave(world: World, user: User, command: c.Leave) -> None:  # noqa: ARG001 - all handlers are called alike
    """Break a match off."""
    if user.table is None:
        raise CommandError(m.NobodyToLeave())
    break_off(world, user, Departure.LEFT)


def break_off(world: World, user: User, how: Departure) -> None:
    """End a user's match without an end, if there is one; it is saved and can be resumed."""
    table = user.table
    if table is None:
        return
    seat = table.seat(user.name)
    opponent = table.users[seat.other]
    world.changed(table)
    world.save()
    world.tell(user, m.YouLeft() if how is Departure.LEFT else m.YourGameSaved(opponent.name))
    world.tell(opponent, m.OpponentGone(user.name, how))
    for player in (user, opponent):
        player.table = None
    game_flow.report_match(world, table, m.MatchReportLeft(user.name, opponent.name))
    world.show_status(user, opponent)
