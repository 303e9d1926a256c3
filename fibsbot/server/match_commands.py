"""Match commands: invite, join, leave; resuming saved matches.

Specification: "Invite", "Join", "Leave". Where two messages stand side by side, the second one names a game other than
backgammon.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message
from fibs_protocol.words import UNLIMITED, Departure, Toggle
from fibsbot.games import GAMES, UnknownGameError, load_other_game
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import Seat, Stage
from fibsbot.server import game_commands, game_flow, laws, watchers
from fibsbot.server.accounts import LISTED_EXPERIENCE, SHORT_MATCH
from fibsbot.server.audience import match_views, send_boards
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.saved_match import game_name
from fibsbot.server.users import PendingInvitation, ServerMatch, User, new_match, update_laws
from fibsbot.server.world import CommandHandlers, World
from fibsbot.text import one_line

MAX_LENGTH: Final = 999
"""Points of the longest match."""

HANDLERS: Final = CommandHandlers()

_AnyMessage: TypeAlias = Callable[..., Message]


# -- invite ---------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Invite)
def invite(world: World, user: User, command: c.Invite) -> None:
    """Invite another user to a match of backgammon."""
    _invite(world, user, command)


@HANDLERS.on(c.InviteToGame)
def invite_to_game(world: World, user: User, command: c.InviteToGame) -> None:
    """Invite another user to a match of a game that is named."""
    _invite(world, user, command, name=command.game)


@HANDLERS.on(c.InviteByLaws)
def invite_by_laws(world: World, user: User, command: c.InviteByLaws) -> None:
    """Invite another user to a match of backgammon by other laws than those of FIBS."""
    _invite(world, user, command, words=command.laws)


def _invite(
    world: World, user: User, command: c.Invite, *, name: str = BACKGAMMON.name, words: str | None = None
) -> None:
    """Invite another user to a match of the game of a name, by laws in words.

    An invitation never expires, but a user has only one at a time.
    """
    if user.busy:
        raise CommandError(m.YouArePlaying())
    if not user.ready:
        user.settings[Toggle.READY] = True
        world.show_status(user)
    guest = find_guest(world, user, command.name)
    saved = _unfinished(world, user.name, guest.name)
    length, agreed = command.length, None
    rules = _ruleset_of(name)
    game = game_name(rules)
    _check_invited(world, user, guest, game)
    if length is None:
        if saved is None:
            raise CommandError(m.NoSavedMatch(guest.name))
        old = ServerMatch.from_saved(saved)
        if old is not None:
            laws.check_knows(old, user, guest)
            _check_invited(world, user, guest, old.game)
        shown = laws.law_lines(old.agreed if old else None)
        hears = _naming(old.game if old else None, m.ResumeInvitation, m.GameResumeInvitation, user.name)
        world.send(guest, hears, *shown, m.JoinHint(user.name))
        world.send(user, m.YouInvitedToResume(guest.name), *shown)
    else:
        _check_length(length)
        agreed = laws.agreed_laws(world, user, guest, words) if game is None else None
        if agreed is None and SHORT_MATCH < length < UNLIMITED and user.account.experience <= LISTED_EXPERIENCE:
            raise CommandError(m.NotExperienced())
        shown = laws.law_lines(agreed)
        hears = _naming(game, m.Invitation, m.GameInvitation, user.name, length)
        world.send(guest, hears, *shown, m.JoinHint(user.name))
        if saved is not None:
            world.send(guest, m.SavedMatchWarning(_saved_length(saved)))
        world.send(user, _naming(game, m.YouInvited, m.YouInvitedToGame, guest.name, length), *shown)
    user.invitation = PendingInvitation(guest.name, length, agreed, rules)
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
    match = ServerMatch.from_saved(saved)
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
    _check_joins(host, user, game_name(invitation.rules))
    host.invitation = user.invitation = None
    if invitation.length is None:
        _resume(world, host, user)
    else:
        _start(world, host, user, invitation.length, invitation)


def _join_next_game(world: World, user: User, match: ServerMatch) -> None:
    seat = match.seat(user.name)
    match.joined.add(seat)
    if len(match.joined) < 2:
        world.send(user, m.WaitForJoin(match.names[seat.other]))
    else:
        game_flow.start_next_game(world, match)


def _start(world: World, host: User, guest: User, length: int, invitation: PendingInvitation) -> None:
    """Start a new match of the game, or by the laws, of the invitation; a saved one between the two is discarded."""
    last = world.database.match(host.name, guest.name)
    serial = last.serial + 1 if last else 1
    match = new_match(host, guest, length, serial, rules=invitation.rules, agreed=invitation.laws)
    if world.dice.coin(match.key):
        match.swap_colours()
    _begin_playing(world, match, host, guest)
    introduce_players(world, match)
    _show_laws(world, match)
    facts = host.name, guest.name, match.length
    _announce_match(world, match, _naming(match.game, m.MatchReportStart, m.GameReportStart, *facts))
    game_flow.start_game(world, match)


def introduce_players(world: World, match: ServerMatch) -> None:
    """Tell both players whom they play, as at the beginning of a match."""
    host, guest = match.users[Seat.A], match.users[Seat.B]
    world.send(guest, _naming(match.game, m.YouJoined, m.YouJoinedGame, host.name, match.length))
    world.send(host, _naming(match.game, m.OpponentJoined, m.OpponentJoinedGame, guest.name, match.length))


def _resume(world: World, host: User, guest: User) -> None:
    """Resume the saved match; between two games, start the next one."""
    saved = _unfinished(world, host.name, guest.name)
    if saved is None:
        raise CommandError(m.DidntInvite(host.name))
    match = ServerMatch.from_saved(saved)
    if match is None:
        world.send(host, m.SavedMatchCorrupt())
        raise CommandError(m.SavedMatchCorrupt())
    laws.check_knows(match, host, guest)
    _check_joins(host, guest, match.game)
    _begin_playing(world, match, host, guest)
    world.send(guest, m.YouResumed(host.name))
    world.send(host, m.OpponentResumed(guest.name))
    _show_laws(world, match)
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
    facts = host.name, guest.name, match.length
    _announce_match(world, match, _naming(match.game, m.MatchReportResume, m.GameReportResume, *facts))
    if match.between_games:
        game_flow.start_next_game(world, match, resumed=True)
        return
    if match.lines.boards_at_once:
        send_boards(world, match, except_for=partial(game_flow.asks_after_resume, world))
    _repeat_prompt(world, match)


def _show_laws(world: World, match: ServerMatch) -> None:
    """Show both players and the watchers by which laws the match is played, if not by those of FIBS."""
    viewers = [view.user for view in match_views(world, match) if view.user.knows_laws]
    world.send_all(viewers, *laws.law_lines(match.agreed))


def _repeat_prompt(world: World, match: ServerMatch) -> None:
    """Repeat the prompt that was open when the match was interrupted."""
    state = match.state
    if state.resignation is not None:
        game_commands.announce_resignation(world, match, state.resignation)
    elif state.answering is not None:
        game_commands.announce_double(world, match)
    elif state.stage is Stage.MOVE and not match.lines.plays_at_start:
        game_flow.offer_rethrow(world, match)
        game_flow.ask(world, match)
    else:
        game_flow.continue_game(world, match, skip_board=not world.quirks.board_after_resume)


def _begin_playing(world: World, match: ServerMatch, host: User, guest: User) -> None:
    # The end of watching is announced to the watched player's opponent, so it comes before anybody has the match.
    for user in (host, guest):
        watchers.stop_watching(world, user)
    for user in (host, guest):
        match.users[match.seat(user.name)] = user
        user.match = match
    world.mark_unsaved(match)
    world.show_status(host, guest)


def _announce_match(world: World, match: ServerMatch, message: Message) -> None:
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
            world.send(view.user, m.CantWatchMatch(*match.names))
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
        return BACKGAMMON if name.lower() == BACKGAMMON.name else load_other_game(name)
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


def _naming(game: str | None, plain: _AnyMessage, naming_game: _AnyMessage, *facts: str | int) -> Message:
    """Return a message about a match; if it is not of backgammon, the one that also names its game."""
    return plain(*facts) if game is None else naming_game(*facts, game)
