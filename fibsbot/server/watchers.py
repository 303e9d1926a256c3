"""Watchers: watch, unwatch, look, blind (specification: "Watch", "Unwatch", "Look"; `help blind`)."""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import YOU
from fibsbot.server import laws
from fibsbot.server.audience import watched_view
from fibsbot.server.users import User, toggle_name
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()


@HANDLERS.on(c.Watch)
def watch(world: World, user: User, command: c.Watch) -> None:
    """Watch another user's games, from now on until `unwatch`."""
    if user.busy:
        raise CommandError(m.WatchWhilePlaying())
    if user.watching is not None:
        world.send(user, m.YouStopWatching(user.watching))
        stop_watching(world, user)
    if command.name is None:
        raise CommandError(m.WatchWho())
    player = world.named(command.name)
    if player is user:
        raise CommandError(m.WatchSelf())
    blocker = _banned_by(player, user)
    if blocker is not None:
        raise CommandError(m.NoWatchAllowed(player.name))
    laws.check_knows(player.match, user)
    if _plays_unknown_game(world, user, player):
        return
    user.watching = player.name
    world.watchers.setdefault(player.name, []).append(user)
    world.send(user, m.YouWatch(player.name))
    if player.match is None:
        world.send(user, m.NothingInteresting(player.name))
    else:
        world.send(user, *laws.law_lines(player.match.agreed))
    world.send(player, m.WatchesYou(user.name))
    if player.opposing_user is not None:
        world.send(player.opposing_user, m.StartsWatching(user.name, player.name))
    world.show_status(user)


def _plays_unknown_game(world: World, user: User, player: User) -> bool:
    """Return whether a player plays a game that the user's client has not asked for, and say so in one line."""
    match = player.match
    if match is None or match.game is None or match.is_shown_to(user):
        return False
    world.send(user, m.WatchedWithoutGames(player.name, match.game))
    return True


def _banned_by(player: User, user: User) -> User | None:
    """Return the player of a user's match, or the idle user, who has banned another user from watching."""
    players = player.match.users.values() if player.match is not None else (player,)
    return next((one for one in players if user.name in one.blinded), None)


def stop_watching(world: World, user: User) -> None:
    """Stop watching, if the user watches anybody, and notify the players."""
    name = user.watching
    if name is None:
        return
    user.watching = None
    watchers = world.watchers[name]
    watchers.remove(user)
    if not watchers:
        del world.watchers[name]
    player = world.users.get(name)
    if player is not None:
        world.send(player, m.StopsWatching(user.name, YOU))
        if player.opposing_user is not None:
            world.send(player.opposing_user, m.StopsWatching(user.name, name))
    world.show_status(user)


@HANDLERS.on(c.Unwatch)
def unwatch(world: World, user: User, command: c.Unwatch) -> None:  # noqa: ARG001 - all handlers are called alike
    """Stop watching."""
    if user.watching is None:
        raise CommandError(m.NotWatching())
    world.send(user, m.YouStopWatching(user.watching))
    stop_watching(world, user)


@HANDLERS.on(c.Look)
def look(world: World, user: User, command: c.Look) -> None:
    """Look at a game once, without the players' knowledge."""
    if command.name is None:
        raise CommandError(m.LookWho())
    player = world.named(command.name)
    if player is user:
        world.send(user, m.YouLookGreat())
        return
    view = watched_view(world, user, player.name)
    if _banned_by(player, user) is not None:
        raise CommandError(m.NoLookAllowed(player.name))
    if _plays_unknown_game(world, user, player):
        return
    world.send(user, view.board())


@HANDLERS.on(c.Blind)
def blind(world: World, user: User, command: c.Blind) -> None:
    """Ban another user from watching, or lift the ban."""
    if command.name is None:
        world.send(user, m.BlindList(tuple(sorted(user.blinded))))
        return
    name, other = world.named_for_list(user, user.blinded, command.name, m.BlindSelf())
    banned = toggle_name(user.blinded, name)
    world.send(user, m.BlindSet(name, value=banned))
    if banned and other is not None and other.watching is not None and other.watching in (user.name, user.opponent):
        world.send(other, m.BansWatcher(user.name, YOU))
        if user.opposing_user is not None:
            world.send(user.opposing_user, m.BansWatcher(user.name, name))
        stop_watching(world, other)
