"""Sessions: log in, log out, shut down; the commands bye and wave."""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.words import YOU, Departure, Toggle
from fibsbot.server import match_commands, watchers
from fibsbot.server.accounts import Account
from fibsbot.server.texts import goodbye, motd
from fibsbot.server.user_settings import UserSettings
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import CommandHandlers, World

_DEPARTURES: Final = {
    Departure.LOGGED_OUT: "{} logs out.",
    Departure.DROPPED: "{} drops connection.",
    Departure.TIMED_OUT: "Connection with {} timed out.",
    Departure.RECONNECTED: "Closed old connection with user {}.",
    Departure.NETWORK_ERROR: "Network error with {}.",
}


def log_in(  # noqa: PLR0913 - all that is known about a login
    world: World, account: Account, mode: ClientMode, host: str, client: str | None = None, *, new: bool = False
) -> User:
    """Log in a user whose password was verified; close an older connection (docs/reference/protocol.md, pitfall 4)."""
    now = world.now()
    old = world.users.get(account.name)
    if old is not None:
        account = old.account
        log_out(world, old, Departure.RECONNECTED)
    settings = UserSettings.from_json(account.settings.to_json())
    user = User(account, mode, host, client, int(now), settings, world.elapsed())
    world.users[user.name] = user
    world.max_users = max(world.max_users, len(world.users))
    if old is not None:
        world.send(user, m.AlreadyLoggedIn())
    if user.clip:
        world.send(user, m.Welcome(account.name, account.last_login, account.last_host), user.own_info())
    account.last_login, account.last_host = int(now), host
    world.database.save_accounts(account)
    world.send(user, *motd())
    for sender, time, text in world.database.take_mail(user.name):
        user.mail.append(m.MailReceived(sender, time, text))
    world.send(user, *user.mail)
    if user.clip:
        world.send(user, *(other.who_info(world.elapsed()) for other in world.users.values()), m.WhoEnd())
    how = "just registered and logs in." if new else "logs in again." if old is not None else "logs in."
    _announce(world, user, f"{user.name} {how}")
    world.table_hooks.come_back(world, user)
    return user


def _announce(world: World, user: User, text: str) -> None:
    """Announce a login to all other users."""
    world.recent_logins.append((world.now(), text))
    message, status, end = m.LoggedIn(user.name, text), user.who_info(world.elapsed()), m.WhoEnd()
    for other in world.users.values():
        if other is user:
            continue
        if other.settings[Toggle.NOTIFY]:
            world.send(other, message)
        if other.clip:
            world.send(other, status, end)
        if user.name in other.waiting_for:
            other.waiting_for.discard(user.name)
            world.send(other, m.AwaitedLoggedIn(user.name))
            world.send(user, m.IsWaitingForYou(other.name))


def log_out(world: World, user: User, how: Departure) -> None:
    """Log a user out, for any reason; a running match is saved."""
    if world.users.get(user.name) is not user:
        return
    text = _DEPARTURES[how].format(user.name)
    try:
        _leave_all(world, user, how, text)
    finally:  # whatever fails: nobody could log in to the account of a user who stayed
        del world.users[user.name]
    user.account.last_logout = int(world.now())
    world.database.save_accounts(user.account)
    world.recent_logins.append((world.now(), text))
    world.disconnecting.append(user)
    if world.closing:
        return
    message = m.LoggedOut(user.name, text)
    world.send_all((other for other in world.users.values() if other.settings[Toggle.NOTIFY]), message)


def _leave_all(world: World, user: User, how: Departure, text: str) -> None:
    """End a user's match and watching, and that of the user's watchers."""
    if user.table is not None:
        world.table_hooks.go_away(world, user, how)
    match_commands.break_off(world, user, how)
    watchers.stop_watching(world, user)
    user.invitation = None
    for watcher in world.watchers.pop(user.name, ()):
        watcher.watching = None
        world.send(watcher, m.WatchedGone(text))
        world.show_status(watcher)


def shut_down(world: World) -> None:
    """Announce the end of the server and log everybody out; every match is saved."""
    users = list(world.users.values())
    world.send_all(users, m.Shutdown(), m.GamesWillBeSaved())
    world.closing = True
    for user in users:
        log_out(world, user, Departure.LOGGED_OUT)


HANDLERS: Final = CommandHandlers()


@HANDLERS.on(c.Bye)
def bye(world: World, user: User, command: c.Bye) -> None:  # noqa: ARG001 - all handlers are called alike
    """Log out."""
    log_out(world, user, Departure.LOGGED_OUT)
    world.send(user, *goodbye())


@HANDLERS.on(c.Wave)
def wave(world: World, user: User, command: c.Wave) -> None:  # noqa: ARG001 - as above
    """Wave to all users who hear shouts; the second time, log out."""
    again, user.waved = user.waved, True
    world.send(user, m.Waves(YOU, again))
    others = (other for other in world.users.values() if other is not user and not other.settings[Toggle.SILENT])
    world.send_all(others, m.Waves(user.name, again))
    if again:
        bye(world, user, c.Bye())
