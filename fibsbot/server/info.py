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

from fibsbot import __version__
from fibsbot.server import texts
from fibsbot.server.accounts import MIN_PASSWORD, Passwords
from fibsbot.server.settings import timezones
from fibsbot.server.users import User
from fibsbot.server.world import ClearScreen, CommandHandlers, World

HANDLERS: Final = CommandHandlers()

_ADDRESS: Final = re.compile(r"[!-~]{1,64}@[!-~]{1,64}")
ZONES_A_LINE: Final = 4


@HANDLERS.on(c.ToggleCommand)
def toggle(world: World, user: User, command: c.ToggleCommand) -> None:
    """Change a toggle, or list all."""
    settings = user.settings
    if command.toggle is None:
        world.tell(user, m.TogglesStart(), *(m.ToggleValue(one, settings[one]) for one in Toggle))
        return
    value = not settings[command.toggle]
    settings[command.toggle] = value
    world.tell(user, m.ToggleSet(command.toggle, value))
    if command.toggle is Toggle.READY:
        world.show_status(user)


@HANDLERS.on(c.SetCommand)
def set_variable(world: World, user: User, command: c.SetCommand) -> None:
    """Change a variable, tell it, or list all."""
    settings = user.settings
    if command.setting is None:
        listed = (m.SettingListed(one, settings.text(one)) for one in Setting)
        world.tell(user, m.SettingsStart(), *listed)
    elif command.value is None:
        world.tell(user, m.SettingIs(command.setting, settings.text(command.setting)))
    else:
        try:
            text = settings.change(command.setting, command.value)
        except CommandError as error:
            world.tell(user, error.refusal)
            if isinstance(error.refusal, m.BadTimezone):
                world.tell(user, *timezone_lines())
            return
        world.tell(user, m.SettingChanged(command.setting, text))


def timezone_lines() -> list[m.TimezonesListed]:
    """Return the names of all time zones, a few a line."""
    names = sorted(timezones())
    return [m.TimezonesListed(tuple(names[i : i + ZONES_A_LINE])) for i in range(0, len(names), ZONES_A_LINE)]


@HANDLERS.on(c.Save)
def save(world: World, user: User, command: c.Save) -> None:  # noqa: ARG001 - all handlers are called alike
    """Keep the settings for the next login."""
    world.save_settings(user)
    world.tell(user, m.SettingsSaved())


@HANDLERS.on(c.Address)
def address(world: World, user: User, command: c.Address) -> None:
    """Make an address known to others; nothing is ever sent to it."""
    if not _ADDRESS.fullmatch(command.address):
        raise CommandError(m.BadAddress(command.address))
    user.account.email = command.address
    world.store.save_accounts(user.account)
    world.tell(user, m.AddressSet(command.address))
    world.show_status(user)


async def change_password(world: World, user: User, passwords: Passwords, command: c.Password) -> None:
    """Give the account a new password; hashing it takes a while, during which others go on."""
    account = user.account
    if command.new != command.repeated:
        world.tell(user, m.PasswordsDiffer())
    elif not await passwords.verify(command.old, account.password):
        world.tell(user, m.WrongPassword())
    elif len(command.new) < MIN_PASSWORD:
        world.tell(user, m.PasswordTooShort())
    else:
        account.password = await passwords.hash(command.new)
        world.store.save_accounts(account)
        world.tell(user, m.PasswordChanged())


def server_time(now: float, zone: str) -> m.ServerTime:
    """Return the line that tells the time, in a user's zone and in UTC."""
    local = dt.datetime.fromtimestamp(int(now), zoneinfo.ZoneInfo(zone))
    return m.ServerTime(f"{local:%A, %B %d %H:%M:%S %Z}", local.astimezone(dt.UTC))


@HANDLERS.on(c.Time)
def time(world: World, user: User, command: c.Time) -> None:
    """Tell the time."""
    zone = command.zone or user.settings.timezone
    if zone not in timezones():
        world.tell(user, m.BadTimezone(zone), *timezone_lines())
        return
    world.tell(user, server_time(world.now(), zone))


@HANDLERS.on(c.Last)
def last(world: World, user: User, command: c.Last) -> None:  # noqa: ARG001 - all handlers are called alike
    """List the last logins and logouts."""
    zone = zoneinfo.ZoneInfo(user.settings.timezone)
    rows = (m.LastListed(f"{dt.datetime.fromtimestamp(time, zone):%a %H:%M %Z}", text) for time, text in world.last)
    world.tell(user, m.LastStart(len(world.last)), *rows)


@HANDLERS.on(c.Help)
def show_help(world: World, user: User, command: c.Help) -> None:
    """Show the help on a topic."""
    world.tell(user, *texts.help_on(command.topic))


@HANDLERS.on(c.Motd)
def motd(world: World, user: User, command: c.Motd) -> None:  # noqa: ARG001 - as above
    """Show the message of the day again."""
    world.tell(user, *texts.motd())


@HANDLERS.on(c.About)
def about(world: World, user: User, command: c.About) -> None:  # noqa: ARG001 - as above
    """Tell what this server is."""
    world.tell(user, *texts.about())


@HANDLERS.on(c.Average)
def average(world: World, user: User, command: c.Average) -> None:  # noqa: ARG001 - as above
    """Tell how many users were logged in, hour by hour."""
    rows = (m.AverageListed(*_hour(world, hour), *_hour(world, hour + 12)) for hour in range(12))
    world.tell(user, m.AverageHeader(), *rows)


def _hour(world: World, hour: int) -> tuple[str, float, int, int]:
    total, samples, fewest, most = world.counts.get(hour, (0, 0, 0, 0))
    return f"{hour:02d}:00-{hour:02d}:59", round(total / max(samples, 1), 1), fewest, most


@HANDLERS.on(c.Dicetest)
def dicetest(world: World, user: User, command: c.Dicetest) -> None:  # noqa: ARG001 - as above
    """Show the counts of all dice since the server's start."""
    world.tell(user, m.DicetestStart(), *map(m.DicetestLine, world.statistics.lines()), m.DicetestEnd())


@HANDLERS.on(c.Version)
def version(world: World, user: User, command: c.Version) -> None:  # noqa: ARG001 - as above
    """Tell which program runs here."""
    world.tell(user, m.ServerVersion(f"{__version__} (fibsbot)"))


@HANDLERS.on(c.Stat)
def stat(world: World, user: User, command: c.Stat) -> None:  # noqa: ARG001 - as above
    """Tell how the server is doing."""
    since = dt.datetime.fromtimestamp(world.started, dt.UTC)
    world.tell(
        user,
        m.StatStart(f"{since:%a %b %d %H:%M:%S} UTC"),
        m.StatLine(f"{world.traffic.sent} bytes sent."),
        m.StatLine(f"{world.traffic.received} bytes received."),
        m.StatLine(f"{world.store.count_users()} registered users."),
        m.StatEnd(world.traffic.ratings, 0),
        m.Unknown(""),
    )


@HANDLERS.on(c.Port)
def port(world: World, user: User, command: c.Port) -> None:  # noqa: ARG001 - as above
    """Tell the port."""
    world.tell(user, m.ServerPort(world.port))


@HANDLERS.on(c.Clear)
def clear(world: World, user: User, command: c.Clear) -> None:  # noqa: ARG001 - as above
    """Clear the screen of a terminal."""
    world.tell(user, ClearScreen())


@HANDLERS.on(c.Name)
def name(world: World, user: User, command: c.Name) -> None:  # noqa: ARG001 - as above
    """Refuse a new name to who has one."""
    raise CommandError(m.NameFixed())


@HANDLERS.on(c.Erase, c.ShutdownCommand)
def denied(world: World, user: User, command: c.Command) -> None:  # noqa: ARG001 - as above
    """Refuse what only administrators may do: this server has none among its users."""
    raise CommandError(m.PermissionDenied())


@HANDLERS.on(c.Login)
def login(world: World, user: User, command: c.Login) -> None:  # noqa: ARG001 - as above
    """Refuse to log in twice on one connection."""
    raise CommandError(m.UnknownCommand("login"))
