"""Settings and the account (specification: "Settings Commands")."""

from __future__ import annotations

import re
from typing import Final

from fibsbot.server.accounts import MIN_PASSWORD, Passwords
from fibsbot.server.handlers import Handlers
from fibsbot.server.settings import timezones
from fibsbot.server.users import User
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.errors import CommandError
from protocol.words import Setting, Toggle

HANDLERS: Final = Handlers()

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
