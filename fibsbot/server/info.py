"""Commands about the server and the user's own settings: time, help, statistics; toggle, set, address, password.

Specification: "FIBS Info", "Settings Commands", "Other Commands".
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import Setting, Toggle
from fibsbot.server import texts
from fibsbot.server.accounts import MIN_PASSWORD, PASSWORD_NOT_ASCII, Passwords
from fibsbot.server.user_settings import timezones
from fibsbot.server.users import User
from fibsbot.server.world import ClearScreen, CommandHandlers, World
from fibsbot.version import __version__

HANDLERS: Final = CommandHandlers()

_ADDRESS: Final = re.compile(r"[!-~]{1,64}@[!-~]{1,64}")
ZONES_A_LINE: Final = 4


@HANDLERS.on(c.ToggleCommand)
def toggle(world: World, user: User, command: c.ToggleCommand) -> None:
    """Change a toggle, or list all."""
    settings = user.settings
    if command.toggle is None:
        world.send(user, m.TogglesStart(), *(m.ToggleValue(one, settings[one]) for one in Toggle))
        return
    value = not settings[command.toggle]
    settings[command.toggle] = value
    world.send(user, m.ToggleSet(command.toggle, value))
    if command.toggle is Toggle.READY:
        world.show_status(user)


@HANDLERS.on(c.SetCommand)
def set_variable(world: World, user: User, command: c.SetCommand) -> None:
    """Change a variable, show it, or list all."""
    settings = user.settings
    if command.setting is Setting.GAMES and command.value == "off" and _sees_other_game(world, user):
        raise CommandError(m.GamesInUse())
    if command.setting is None:
        listed = (m.SettingListed(one, settings.text(one)) for one in Setting)
        world.send(user, m.SettingsStart(), *listed)
    elif command.value is None:
        world.send(user, m.SettingIs(command.setting, settings.text(command.setting)))
    else:
        try:
            text = settings.change(command.setting, command.value)
        except CommandError as error:
            world.send(user, error.refusal)
            if isinstance(error.refusal, m.BadTimezone):
                world.send(user, *timezone_lines())
            return
        world.send(user, m.SettingChanged(command.setting, text))


def _sees_other_game(world: World, user: User) -> bool:
    """Return whether a client plays or watches a game other than backgammon."""
    player = world.users.get(user.watching or "")
    match = user.match if player is None else player.match
    return user.clip and match is not None and match.game is not None


def timezone_lines() -> list[m.TimezonesListed]:
    """Return the names of all time zones, a few per line."""
    names = sorted(timezones())
    return [m.TimezonesListed(tuple(names[i : i + ZONES_A_LINE])) for i in range(0, len(names), ZONES_A_LINE)]


@HANDLERS.on(c.Save)
def save(world: World, user: User, command: c.Save) -> None:  # noqa: ARG001 - all handlers are called alike
    """Save the settings for the next login."""
    world.save_settings(user)
    world.send(user, m.SettingsSaved())


@HANDLERS.on(c.Address)
def address(world: World, user: User, command: c.Address) -> None:
    """Set the address that others see; nothing is ever sent to it."""
    if not _ADDRESS.fullmatch(command.address):
        raise CommandError(m.BadAddress(command.address))
    user.account.email = command.address
    world.database.save_accounts(user.account)
    world.send(user, m.AddressSet(command.address))
    world.show_status(user)


async def change_password(
    world: World, user: User, passwords: Passwords, command: c.Password, *, is_ascii: bool
) -> None:
    """Change the password of the account; it is hashed in another thread, while other users go on.

    `is_ascii`: whether the new one was typed without other characters, which the command has as `?`.
    """
    account = user.account
    if command.new != command.repeated:
        world.send(user, m.PasswordsDiffer())
    elif not await passwords.verify(command.old, account.password):
        world.send(user, m.WrongPassword())
    elif not is_ascii:
        world.send(user, PASSWORD_NOT_ASCII)
    elif len(command.new) < MIN_PASSWORD:
        world.send(user, m.PasswordTooShort())
    else:
        account.password = await passwords.hash(command.new)
        world.database.save_accounts(account)
        world.send(user, m.PasswordChanged())


def server_time(now: float, zone: str) -> m.ServerTime:
    """Return the message with the time, in a user's zone and in UTC."""
    local = dt.datetime.fromtimestamp(int(now), zoneinfo.ZoneInfo(zone))
    return m.ServerTime(f"{local:%A, %B %d %H:%M:%S %Z}", local.astimezone(dt.UTC))


@HANDLERS.on(c.Time)
def time(world: World, user: User, command: c.Time) -> None:
    """Show the time."""
    zone = command.zone or user.settings.timezone
    if zone not in timezones():
        world.send(user, m.BadTimezone(zone), *timezone_lines())
        return
    world.send(user, server_time(world.now(), zone))


@HANDLERS.on(c.Last)
def last(world: World, user: User, command: c.Last) -> None:  # noqa: ARG001 - all handlers are called alike
    """List the last logins and logouts."""
    zone = zoneinfo.ZoneInfo(user.settings.timezone)
    rows = (
        m.LastListed(f"{dt.datetime.fromtimestamp(time, zone):%a %H:%M %Z}", text) for time, text in world.recent_logins
    )
    world.send(user, m.LastStart(len(world.recent_logins)), *rows)


@HANDLERS.on(c.Help)
def show_help(world: World, user: User, command: c.Help) -> None:
    """Show the help on a topic."""
    world.send(user, *texts.help_on(command.topic))


@HANDLERS.on(c.Motd)
def motd(world: World, user: User, command: c.Motd) -> None:  # noqa: ARG001 - as above
    """Show the message of the day again."""
    world.send(user, *texts.motd())


@HANDLERS.on(c.About)
def about(world: World, user: User, command: c.About) -> None:  # noqa: ARG001 - as above
    """Show what this server is."""
    world.send(user, *texts.about())


@HANDLERS.on(c.Average)
def average(world: World, user: User, command: c.Average) -> None:  # noqa: ARG001 - as above
    """Show the average number of users, hour by hour."""
    rows = (m.AverageListed(*_hour(world, hour), *_hour(world, hour + 12)) for hour in range(12))
    world.send(user, m.AverageHeader(), *rows)


def _hour(world: World, hour: int) -> tuple[str, float, int, int]:
    total, samples, fewest, most = world.users_by_hour.get(hour, (0, 0, 0, 0))
    return f"{hour:02d}:00-{hour:02d}:59", round(total / max(samples, 1), 1), fewest, most


@HANDLERS.on(c.Dicetest)
def dicetest(world: World, user: User, command: c.Dicetest) -> None:  # noqa: ARG001 - as above
    """Show the statistics of all rolls since the server's start."""
    world.send(user, m.DicetestStart(), *map(m.DicetestLine, world.statistics.lines()), m.DicetestEnd())


@HANDLERS.on(c.Version)
def version(world: World, user: User, command: c.Version) -> None:  # noqa: ARG001 - as above
    """Show the program and its version."""
    world.send(user, m.ServerVersion(f"{__version__} (fibsbot)"))


@HANDLERS.on(c.Stat)
def stat(world: World, user: User, command: c.Stat) -> None:  # noqa: ARG001 - as above
    """Show the counters of the server."""
    since = dt.datetime.fromtimestamp(world.started, dt.UTC)
    world.send(
        user,
        m.StatStart(f"{since:%a %b %d %H:%M:%S} UTC"),
        m.StatLine(f"{world.traffic.sent} bytes sent."),
        m.StatLine(f"{world.traffic.received} bytes received."),
        m.StatLine(f"{world.database.count_users()} registered users."),
        m.StatEnd(world.traffic.ratings, 0),
        m.Unknown(""),
    )


@HANDLERS.on(c.Port)
def port(world: World, user: User, command: c.Port) -> None:  # noqa: ARG001 - as above
    """Show the port."""
    world.send(user, m.ServerPort(world.port))


@HANDLERS.on(c.Clear)
def clear(world: World, user: User, command: c.Clear) -> None:  # noqa: ARG001 - as above
    """Clear the screen of a terminal."""
    world.send(user, ClearScreen())


@HANDLERS.on(c.Erase, c.ShutdownCommand)
def denied(world: World, user: User, command: c.Command) -> None:  # noqa: ARG001 - as above
    """Refuse commands for administrators: this server has none among its users."""
    raise CommandError(m.PermissionDenied())


@HANDLERS.on(c.Login, c.Password)
def refuse(world: World, user: User, command: c.Command) -> None:  # noqa: ARG001 - as above
    """Refuse to log in twice on one connection; `password` never comes here, see `dispatch.password_command`."""
    raise CommandError(m.UnknownCommand(command.kind()))
