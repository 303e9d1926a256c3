"""Watching and looking: watch, unwatch, look, blind (specification: "Watch", "Unwatch", "Look"; `help blind`)."""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import YOU

from fibsbot.server.game_commands import watched_view
from fibsbot.server.users import MAX_NAMES, User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()


@HANDLERS.on(c.Watch)
def watch(world: World, user: User, command: c.Watch) -> None:
    """Watch another user's games, from now on until `unwatch`."""
    if user.table is not None:
        raise CommandError(m.WatchWhilePlaying())
    if user.watching is not None:
        world.tell(user, m.YouStopWatching(user.watching))
        stop_watching(world, user)
    if command.name is None:
        raise CommandError(m.WatchWho())
    player = world.find(command.name)
    if player is None:
        raise CommandError(m.NoSuchUser(command.name))
    if player is user:
        raise CommandError(m.WatchSelf())
    blocker = _banned_by(player, user)
    if blocker is not None:
        raise CommandError(m.NoWatchAllowed(player.name))
    user.watching = player.name
    world.watchers.setdefault(player.name, []).append(user)
    world.tell(user, m.YouWatch(player.name))
    if player.table is None:
        world.tell(user, m.NothingInteresting(player.name))
    world.tell(player, m.WatchesYou(user.name))
    if player.opponent is not None:
        world.tell(world.users[player.opponent], m.StartsWatching(user.name, player.name))
    world.show_status(user)


def _banned_by(player: User, user: User) -> User | None:
    """Return which of the players at a user's table does not want to be seen by another user."""
    players = player.table.users.values() if player.table is not None else (player,)
    return next((one for one in players if user.name in one.blinded), None)


def stop_watching(world: World, user: User) -> None:
    """End watching, if the user does, and tell those who were watched."""
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
        world.tell(player, m.StopsWatching(user.name, YOU))
        if player.opponent is not None:
            world.tell(world.users[player.opponent], m.StopsWatching(user.name, name))
    world.show_status(user)


@HANDLERS.on(c.Unwatch)
def unwatch(world: World, user: User, command: c.Unwatch) -> None:  # noqa: ARG001 - all handlers are called alike
    """End watching."""
    if user.watching is None:
        raise CommandError(m.NotWatching())
    world.tell(user, m.YouStopWatching(user.watching))
    stop_watching(world, user)


@HANDLERS.on(c.Look)
def look(world: World, user: User, command: c.Look) -> None:
    """Look at a game once; the players do not hear of it."""
    if command.name is None:
        raise CommandError(m.LookWho())
    player = world.find(command.name)
    if player is None:
        raise CommandError(m.NoSuchUser(command.name))
    if player is user:
        world.tell(user, m.YouLookGreat())
        return
    view = watched_view(world, user, player.name)
    if _banned_by(player, user) is not None:
        raise CommandError(m.NoLookAllowed(player.name))
    world.tell(user, view.board())


@HANDLERS.on(c.Blind)
def blind(world: World, user: User, command: c.Blind) -> None:
    """Ban another user from watching, or lift the ban."""
    if command.name is None:
        world.tell(user, m.BlindList(tuple(sorted(user.blinded))))
        return
    other = world.find(command.name)
    if other is user:
        raise CommandError(m.BlindSelf())
    if other is None and command.name not in user.blinded:
        raise CommandError(m.NoSuchUser(command.name))
    name = other.name if other is not None else command.name
    if name in user.blinded:
        user.blinded.remove(name)
        world.tell(user, m.BlindSet(name, value=False))
        return
    if len(user.blinded) >= MAX_NAMES:
        raise CommandError(m.PermissionDenied())
    user.blinded.add(name)
    world.tell(user, m.BlindSet(name, value=True))
    if other is not None and other.watching is not None and other.watching in (user.name, user.opponent):
        world.tell(other, m.BansWatcher(user.name, YOU))
        if user.opponent is not None:
            world.tell(world.users[user.opponent], m.BansWatcher(user.name, name))
        stop_watching(world, other)
