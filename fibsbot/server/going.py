"""Saying goodbye: bye and wave (specification: "Bye", "Wave")."""

from __future__ import annotations

from typing import Final

from fibsbot.server import presence
from fibsbot.server.handlers import Handlers
from fibsbot.server.texts import goodbye
from fibsbot.server.users import User
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.words import YOU, Departure, Toggle

HANDLERS: Final = Handlers()


@HANDLERS.on(c.Bye)
def bye(world: World, user: User, command: c.Bye) -> None:  # noqa: ARG001 - all handlers are called alike
    """Log out."""
    presence.log_out(world, user, Departure.LOGGED_OUT)
    world.tell(user, *goodbye())


@HANDLERS.on(c.Wave)
def wave(world: World, user: User, command: c.Wave) -> None:  # noqa: ARG001 - as above
    """Wave to everybody who hears shouts; the second time, log out."""
    again, user.waved = user.waved, True
    world.tell(user, m.Waves(YOU, again))
    others = (other for other in world.users.values() if other is not user and not other.settings[Toggle.SILENT])
    world.tell_all(others, m.Waves(user.name, again))
    if again:
        bye(world, user, c.Bye())
